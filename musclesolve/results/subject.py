"""The person in a result."""

from __future__ import annotations

import xarray as xr

from musclesolve.dynamics.model import STANDARD_GRAVITY


def body_weight(result: xr.Dataset) -> float:
    """Weight of the subject [N]."""
    return float(result.attrs["subject_mass_kg"]) * STANDARD_GRAVITY

"""The subject and the choices of a result."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from musclesolve.constants import STANDARD_GRAVITY


def body_weight(result: xr.Dataset) -> float:
    """Weight of the subject [N]."""
    return float(result.attrs["subject_mass_kg"]) * STANDARD_GRAVITY


def identity(result: xr.Dataset) -> str:
    """Who, which trial and with what choices, in a line for the margin of a figure."""
    given = result.attrs
    parts = {
        "": given.get("subject"),
        "trial ": Path(str(given["trial_file"])).name if "trial_file" in given else None,
        "cost ": given.get("cost"),
        "solver ": given.get("solver"),
        "muscles ": Path(str(given["muscle_database"])).name if "muscle_database" in given else None,
        "strength factor ": f"{given['strength_factor']:g}" if "strength_factor" in given else None,
    }
    return ",  ".join(f"{label}{value}" for label, value in parts.items() if value)

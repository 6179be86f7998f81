"""The uncertainty of a result: every number of a peak is of the frame whose time stands beside it."""

from __future__ import annotations

from typing import Any

import xarray as xr

from musclesolve.results.dataset.result_quantities import body_weight
from musclesolve.results.tables.uncertainty_summary import Peak, peak


def uncertainty_document(found: xr.Dataset) -> dict[str, Any]:
    """Samples, and the peaks in stance of contact forces [body weights] and muscle forces [N]."""
    given, weight = found.attrs, body_weight(found)
    return {
        "samples": given["samples"],
        "failed_samples": given["failed_samples"],
        "seed": given["seed"],
        "without_contributions": given["without_contributions"] or None,
        "contact_force_peaks_body_weights": {
            name: _peak(peak(found, "contact_force", name), weight)
            for name in map(str, found["joint"].values)
        },
        "muscle_force_peaks_n": {
            name: _peak(peak(found, "muscle_force", name), 1.0) for name in map(str, found["muscle"].values)
        },
    }


def _peak(at: Peak | None, unit: float) -> dict[str, Any] | None:
    if at is None:
        return None
    shares = None
    if at.shares is not None:
        shares = dict(zip(at.shares["source"].values.tolist(), at.shares.values.tolist(), strict=True))
    value, mean, sd = (number / unit for number in (at.value, at.mean, at.sd))
    return {"time_s": at.time, "value": value, "mean": mean, "sd": sd, "shares_of_variance": shares}

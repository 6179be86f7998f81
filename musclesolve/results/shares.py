"""What the sources of error contribute, over a whole recording and at a peak."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve.results import frames


def spread_by_source(found: xr.Dataset, name: str) -> xr.DataArray:
    """Share of each source in the variance of a quantity, summed over the frames with a valid nominal solution.

    Each frame counts with the variance of its samples, which is parted by the first-order shares.

    Args:
        found: of `uncertainty`, with contributions.
        name: "muscle_force" or "contact_force".

    Returns:
        (source, muscle or joint); 0 where nothing varies.
    """
    variance, share = found[f"{name}_sd"] ** 2, found[f"{name}_contribution"]
    last = str(share.dims[-1])
    known = _valid(found, last) & np.isfinite(share.isel(source=0).values) & np.isfinite(variance.values)
    weight = variance.where(xr.DataArray(known, dims=variance.dims), 0.0)
    total = weight.sum("time")
    summed = (share.fillna(0.0) * weight).sum("time")
    return (summed / total.where(total > 0.0)).fillna(0.0).transpose("source", last)


def shares_at_peak(found: xr.Dataset, joint: str) -> xr.DataArray:
    """Share of each source in the variance of a contact force where that is largest without errors, (source,).

    Args:
        found: of `uncertainty`, with contributions.
        joint: such as "hip_r"; it has a frame with a valid nominal solution.
    """
    nominal = found["contact_force"].where(_valid(found, "joint")).sel(joint=joint)
    return found["contact_force_contribution"].sel(joint=joint).isel(time=int(nominal.argmax("time")))


def _valid(found: xr.Dataset, over: str) -> np.ndarray:
    """(T, muscles or joints) which frames have a valid nominal solution, `over` the muscles or joints."""
    return np.stack([frames.valid(found, str(each)[-1]) for each in found[over].values], axis=1)

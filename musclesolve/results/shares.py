"""What the sources of error contribute over a whole recording."""

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
    failed = np.stack([frames.failed(found, str(each)[-1]) for each in found[last].values], axis=1)
    known = ~failed & np.isfinite(share.isel(source=0).values) & np.isfinite(variance.values)
    weight = variance.where(xr.DataArray(known, dims=variance.dims), 0.0)
    total = weight.sum("time")
    summed = (share.fillna(0.0) * weight).sum("time")
    return (summed / total.where(total > 0.0)).fillna(0.0).transpose("source", last)

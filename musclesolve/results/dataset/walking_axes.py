"""Vectors of a result, which are along the axes of the laboratory: along the walking direction, and their magnitude."""

from __future__ import annotations

import numpy as np
import xarray as xr

AXES = ["x", "y", "z"]


def along_heading(result: xr.Dataset, vector: xr.DataArray) -> xr.DataArray:
    """Return a vector over time and axis with x along the walking direction, y to its left, z up.

    Without the variable ``heading`` x of the laboratory is the walking direction.
    """
    if "heading" not in result:
        return vector
    angle = result["heading"]
    cosine, sine = np.cos(angle), np.sin(angle)
    x, y, z = (vector.sel(axis=axis, drop=True) for axis in AXES)
    rotated = xr.concat([x * cosine + y * sine, y * cosine - x * sine, z], vector["axis"])
    return rotated.transpose(*vector.dims).assign_attrs(vector.attrs)


def magnitude(vector: xr.DataArray) -> xr.DataArray:
    """Magnitude of a vector over its dimension axis; NaN where a component is."""
    size: xr.DataArray = (vector**2).sum("axis", skipna=False) ** 0.5
    return size

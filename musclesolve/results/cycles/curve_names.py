"""The single curves of a variable over the movement cycle, and their names."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import xarray as xr

PERCENT = "percent"
OF_MEANS = ("subject", "group", "condition", PERCENT)
"""Dimensions of a curve itself; those besides tell the curves of a variable apart."""


def curves_of(variable: xr.DataArray) -> Iterator[tuple[str, xr.DataArray]]:
    """Every curve of a variable with its name: "knee_flexion", "knee z", "soleus r"; its dimensions are of `OF_MEANS`.

    A variable without further dimensions is one curve, named like the variable.
    """
    others = [str(dim) for dim in variable.dims if dim not in OF_MEANS]
    if not others:
        yield str(variable.name), variable
        return
    for labels in itertools.product(*(variable[dim].values.tolist() for dim in others)):
        where = dict(zip(others, labels, strict=True))
        yield " ".join(map(str, labels)), variable.sel(where, drop=True)


def shown(units: str) -> tuple[float, str]:
    """Factor and unit in which a quantity is shown: angles in degrees, everything else as it is."""
    return (180.0 / math.pi, units.replace("rad", "deg")) if "rad" in units.split("/")[0] else (1.0, units)

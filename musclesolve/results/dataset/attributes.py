"""Attributes of a dataset as lists of text and as numbers, whatever NetCDF made of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr


def texts(value: object) -> list[str]:
    """An attribute that holds texts: a list, or one text with a line for each (as NetCDF likes it); none of None."""
    if value is None:
        return []
    if isinstance(value, str):
        return value.splitlines()
    return [str(each) for each in np.atleast_1d(np.asarray(value, dtype=object)).tolist()]


def listed(data: xr.Dataset, name: str) -> list[str]:
    """The texts of the attribute of a name, none where there is no such attribute."""
    return texts(data.attrs.get(name))


def number(data: xr.Dataset, name: str) -> float | None:
    """An attribute that holds a finite number; None where there is none."""
    try:
        value = float(data.attrs[name])
    except (KeyError, TypeError, ValueError):
        return None
    return value if np.isfinite(value) else None


def text(data: xr.Dataset, name: str, default: str = "") -> str:
    """An attribute as text."""
    value = data.attrs.get(name)
    return default if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def trial_name(data: xr.Dataset) -> str:
    """The name of the file that a result was computed from, without suffix."""
    return Path(text(data, "trial_file").replace("\\", "/")).stem


def choice_name(data: xr.Dataset, name: str) -> str:
    """A choice that may be the path of a file: without its folder."""
    return text(data, name).replace("\\", "/").rpartition("/")[2]

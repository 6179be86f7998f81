"""Text that every file format can hold: names of files may contain bytes that are no characters."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import numpy as np
import xarray as xr

Value = TypeVar("Value")

_BYTE = re.compile(r"[\udc80-\udcff]")
_NEITHER = re.compile(r"[\x00\ud800-\udfff]")


def storable(value: Any) -> Any:
    r"""A text, or the texts of a list, with "\xff" for a byte that is no character; anything else as it is."""
    if isinstance(value, str):
        text = _BYTE.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", value)
        return _NEITHER.sub(lambda letter: f"\\u{ord(letter[0]):04x}", text)
    return [storable(part) for part in value] if isinstance(value, list | tuple) else value


def with_storable_texts(data: xr.Dataset) -> xr.Dataset:
    """A dataset whose attributes and texts can be written; the given one where they can."""
    data = data.assign_attrs({key: storable(value) for key, value in data.attrs.items()})
    changed = {
        name: variable.copy(
            data=np.reshape([storable(str(each)) for each in variable.values.flat], variable.shape)
        )
        for name, variable in data.variables.items()
        if variable.dtype.kind in "UO" and any(_NEITHER.search(str(each)) for each in variable.values.flat)
    }
    return data.assign(
        {name: each for name, each in changed.items() if name in data.data_vars}
    ).assign_coords({name: each for name, each in changed.items() if name in data.coords})

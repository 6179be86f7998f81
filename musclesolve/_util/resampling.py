"""Columns at other times, along straight lines between the samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def at_times(time: Array, columns: Array, new: Array) -> Array:
    """Return columns (T, k) of increasing times (T,) at other times (S,), (S, k); beyond the ends as at the ends."""
    return np.stack([np.interp(new, time, column) for column in columns.T], axis=-1)

"""Unbroken runs of a mask: contacts in forces, gaps in paths, frames of one kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def true_runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and one past the last index of every unbroken run of True in a mask (T,), in order."""
    padded = np.concatenate([[False], mask, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def long_enough(mask: NDArray[np.bool_], shortest: int) -> NDArray[np.bool_]:
    """Return a mask (T,) without its runs of fewer than so many samples."""
    long: NDArray[np.bool_] = np.zeros(mask.size, bool)
    for first, stop in true_runs(mask):
        long[first:stop] = stop - first >= shortest
    return long

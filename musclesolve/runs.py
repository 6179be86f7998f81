"""Unbroken runs of a mask: contacts in forces, gaps in paths, frames of one kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def true_runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and one past the last index of every unbroken run of True in a mask (T,), in order."""
    padded = np.concatenate([[False], mask, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))

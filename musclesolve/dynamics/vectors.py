"""Vectors over many frames."""

import numpy as np

from musclesolve._util.arrays import Array, Indices


def dot(a: Array, b: Array) -> Array:
    """Scalar products (...) of vectors (..., 3)."""
    return np.asarray(np.einsum("...x,...x->...", a, b))


def lines_of(q: Array, slots: Indices) -> Array:
    """Lines (T, ..., 3) between slots (..., 2) of q (T, N, 3); slot N is zero, the start of vectors."""
    padded = np.concatenate([q, np.zeros_like(q[:, :1])], axis=1)
    return padded.take(slots[..., 1], axis=1) - padded.take(slots[..., 0], axis=1)

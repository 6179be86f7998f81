"""Vectors by components, (3, ...): products of components are then products of contiguous arrays, without temporaries.

For a few hundred frames this is several times faster than `np.cross` and `np.einsum` over a last axis of three.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array


def components(vectors: Array) -> Array:
    """From (..., 3) to (3, ...)."""
    return np.ascontiguousarray(np.moveaxis(vectors, -1, 0))


def cross(a: Array, b: Array) -> Array:
    """Vector product of arrays of components, (3, ...)."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])

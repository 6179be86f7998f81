"""Vectors over many frames: by components, and in blocks of frames that stay in the processor's cache.

By components, (3, ...), products are products of contiguous arrays without temporaries: for a few hundred frames
several times faster than `np.cross` and `np.einsum` over a last axis of three.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve._util.long_arrays import BLOCK, blocks, long_array

Values = TypeVar("Values", AnyArray, tuple[AnyArray, ...])

MOST_FRAMES = 4096
"""Largest number of frames of which everything is held in memory together."""


def components(vectors: Array) -> Array:
    """Components (3, ...) of vectors (..., 3), in contiguous memory."""
    return np.ascontiguousarray(np.moveaxis(vectors, -1, 0))


def cross(a: Array, b: Array) -> Array:
    """Vector product of arrays of components, (3, ...)."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def dot(a: Array, b: Array) -> Array:
    """Scalar products (...) of vectors (..., 3)."""
    return np.asarray(np.einsum("...x,...x->...", a, b))


def lines_of(q: Array, slots: Indices) -> Array:
    """Lines (T, ..., 3) between slots (..., 2) of q (T, N, 3); slot N is zero, the start of vectors."""
    padded = np.concatenate([q, np.zeros_like(q[:, :1])], axis=1)
    return padded.take(slots[..., 1], axis=1) - padded.take(slots[..., 0], axis=1)


def in_blocks(function: Callable[..., Values], *arrays: AnyArray) -> Values:
    """Values of a function of arrays (T, ...) whose frames do not depend on each other, computed block by block.

    The work arrays of the function are then as small as a block, however long the motion is, and large values lie in a
    file (`musclesolve._util.long_arrays`). A function may return several arrays.
    """
    frames, whole = len(arrays[0]), list[AnyArray]()

    def unfilled(values: AnyArray) -> AnyArray:
        return long_array((frames, *values.shape[1:]), values.dtype)

    if frames <= BLOCK:
        return function(*(array[:] for array in arrays))
    for part in blocks(frames):
        values = function(*(array[part] for array in arrays))
        several: tuple[AnyArray, ...] = values if isinstance(values, tuple) else (values,)
        whole = whole or list(map(unfilled, several))
        for every, some in zip(whole, several, strict=True):
            every[part] = some
    return cast(Values, tuple(whole) if isinstance(values, tuple) else whole[0])

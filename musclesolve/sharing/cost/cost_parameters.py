"""Numbers of an expression: arrays with a frame axis in front, in tuples of any depth, and symbols of the same form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array

Parameters = tuple[Any, ...]
"""Arrays (T, ...) in tuples of any depth. An array may have up to two axes beside the frames."""

Shapes = tuple[Any, ...]
"""Shapes of the arrays in one frame, each ("shape", rows, columns), in tuples like those of the parameters."""

_SHAPE = "shape"


def arrays_of(parameters: Parameters) -> Iterator[Array]:
    """The arrays of nested tuples, one after the other."""
    for part in parameters:
        if isinstance(part, tuple):
            yield from arrays_of(part)
        else:
            yield part


def shapes_of(parameters: Parameters) -> Shapes:
    """The shapes of the arrays in one frame; hashable, so that compiled functions are found by them."""
    return tuple(
        shapes_of(part) if isinstance(part, tuple) else shape_of(part.shape[1:]) for part in parameters
    )


def shape_of(shape: tuple[int, ...]) -> Shapes:
    """The entry of `Shapes` for an array with the shape (), (j,) or (i, j) in one frame."""
    return (_SHAPE, *(*shape, 1, 1)[:2])


def parameter_symbols(symbol: Any, shapes: Shapes) -> Any:
    """Symbols of these shapes, in tuples as the parameters are; `symbol` is casadi.SX.sym or casadi.MX.sym."""
    return tuple(
        symbol("p", *part[1:]) if part[:1] == (_SHAPE,) else parameter_symbols(symbol, part)
        for part in shapes
    )


def columns(array: Array) -> Array:
    """The numbers of each frame in the order of CasADi, columns first: (T, ...) to (T, size)."""
    return (
        np.swapaxes(array, 1, 2).reshape(len(array), -1) if array.ndim == 3 else array.reshape(len(array), -1)
    )


def flat(parameters: Parameters, frames: int) -> Array:
    """All numbers of each frame one after the other, (T, P)."""
    parts = [columns(np.broadcast_to(array, (frames, *array.shape[1:]))) for array in arrays_of(parameters)]
    return np.concatenate([np.zeros((frames, 0)), *parts], axis=1)

"""The array types of the package, runs of a mask, columns at other times, statistics of known values, products."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key")
Value = TypeVar("Value")
Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]
AnyArray = NDArray[Any]
"""Numbers of any kind: whole, real, complex or truth values."""
UP: Array = np.array([0.0, 0.0, 1.0])
"""The direction up in the global frame."""
COMPLEX_STEP = 1e-30
"""Step h of a derivative f'(x) = Im f(x + ih) / h: without a difference, so that no error but round-off is left."""

ROUNDED = 1e-6
"""Share of a frame below which a duration is a whole number of frames."""


def contiguous(values: Any, kind: type = float) -> Any:
    """An array for compiled code: of one kind, in C order and writable; copied if necessary."""
    array: AnyArray = np.asarray(values, kind, order="C")
    return array if array.flags.writeable else array.copy()


def unchangeable(values: AnyArray) -> AnyArray:
    """A read-only array: itself if it is read-only and owns its numbers, else a copy."""
    if values.flags.owndata and not values.flags.writeable:
        return values
    copy = np.array(values)
    copy.flags.writeable = False
    return copy


def stretch(rows: Indices) -> slice | Indices:
    """Return a slice for numbers that follow each other, which selects without a copy, otherwise the numbers."""
    follow = len(rows) > 0 and bool((np.diff(rows) == 1).all())
    return slice(int(rows[0]), int(rows[-1]) + 1) if follow else rows


SAME_TIME = 1e-6
"""Difference below which two times are equal [s]."""


def slices(count: int, size: int) -> Iterator[slice]:
    """Slices of at most `size` that cover a count, at least one."""
    return (slice(first, first + size) for first in range(0, max(count, 1), size))


def true_runs(mask: Mask) -> list[tuple[int, int]]:
    """Return first and one past the last index of every unbroken run of True in a mask (T,), in order."""
    padded = np.concatenate([[False], mask, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def time_spans(mask: Mask, time: NDArray[Any]) -> tuple[tuple[float, float], ...]:
    """Return first and last time of every unbroken run of True in a mask (T,), of times (T,)."""
    return tuple((float(time[first]), float(time[stop - 1])) for first, stop in true_runs(mask))


def long_enough(mask: Mask, shortest: int) -> Mask:
    """Return a mask (T,) without its runs of fewer than `shortest` samples."""
    long: Mask = np.zeros(mask.size, bool)
    for first, stop in true_runs(mask):
        long[first:stop] = stop - first >= shortest
    return long


def at_times(time: Array, columns: Array, new: Array) -> Array:
    """Return columns (T, k) of increasing times (T,) at other times (S,), (S, k), linearly interpolated.

    Beyond the ends the values at the ends are used.
    """
    return np.stack([np.interp(new, time, column) for column in columns.T], axis=-1)


def nearest_times(times: Array, wanted: Array) -> Indices:
    """Return the numbers (k,) of the nearest of increasing times (T,) to other times (k,); the earlier of two."""
    after = np.searchsorted(times, wanted).clip(max=len(times) - 1)
    before = np.maximum(after - 1, 0)
    return np.where(times[after] - wanted < wanted - times[before], after, before)


def nearest_known(values: Array) -> Array:
    """Return values (T,) with the nearest finite value in place of NaN; zeros without any."""
    known = np.flatnonzero(np.isfinite(values))
    if not known.size:
        return np.zeros(values.size)
    return values[known[np.rint(np.interp(np.arange(values.size), known, np.arange(known.size))).astype(int)]]


def within(time: Array, first: float, last: float) -> Mask:
    """Mask (T,) of the times (T,) [s] from first to last, with a tolerance of a microsecond."""
    return np.asarray((time >= first - SAME_TIME) & (time <= last + SAME_TIME))


def greatest(values: Array) -> float:
    """The greatest finite value; NaN without any."""
    return (
        float(np.max(values, where=np.isfinite(values), initial=-np.inf))
        if np.isfinite(values).any()
        else np.nan
    )


def mean_of_known(values: Array, axis: int | tuple[int, ...] = 0) -> Array:
    """Mean over axes of the finite values; NaN without any."""
    finite = np.isfinite(values)
    count = finite.sum(axis=axis)
    return np.where(count > 0, np.where(finite, values, 0.0).sum(axis=axis) / np.maximum(count, 1), np.nan)


def sd_of_known(values: Array) -> Array:
    """Standard deviation (n - 1) over the first axis of the finite values; NaN for fewer than two."""
    finite = np.isfinite(values)
    count = finite.sum(axis=0)
    squares = np.where(finite, values - mean_of_known(values), 0.0) ** 2
    return np.where(count > 1, np.sqrt(squares.sum(axis=0) / np.maximum(count - 1, 1)), np.nan)


def median_of_known(values: Array) -> Array:
    """Median over the first axis of the finite values; NaN without any.

    The values of `np.median` and `np.nanmedian`, which take several times as long for small arrays.
    """
    finite, size = np.isfinite(values), len(values)
    if not size:
        return np.full(values.shape[1:], np.nan)
    if finite.all():
        middle = (size - 1) // 2, size // 2
        ordered = np.partition(values, middle, axis=0)
        return np.asarray(0.5 * (ordered[middle[0]] + ordered[middle[1]]))
    count = finite.sum(axis=0)
    ordered = np.sort(np.where(finite, values, np.inf), axis=0)
    places = np.stack([np.maximum(count - 1, 0) // 2, np.minimum(count // 2, size - 1)])
    pair = np.take_along_axis(ordered, places, axis=0)
    return np.where(count > 0, 0.5 * (pair[0] + pair[1]), np.nan)


_NEXT, _BEFORE = np.array([1, 2, 0]), np.array([2, 0, 1])
_FEW = 300  # largest count of numbers for which gathering the components is faster than slicing them


def vector_product(a: Array, b: Array) -> Array:
    """Vector product (..., 3) of vectors (..., 3), real or complex, in half the time of `np.cross` or less."""
    if max(a.size, b.size) <= _FEW:
        return np.asarray(a.take(_NEXT, -1) * b.take(_BEFORE, -1) - a.take(_BEFORE, -1) * b.take(_NEXT, -1))
    first = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    product = np.empty((*first.shape, 3), first.dtype)
    product[..., 0] = first
    product[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    product[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product


def split_named(vectors: Array, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Arrays (..., *shape) by name from vectors (..., D) of their concatenated elements."""
    ends = list(accumulate(map(prod, shapes.values())))
    parts = zip(shapes.items(), np.split(vectors, ends[:-1], axis=-1), strict=True)
    return {name: part.reshape(*vectors.shape[:-1], *shape) for (name, shape), part in parts}


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Key -> its values, both in the order of the pairs."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def equal_groups(*columns: Sequence[object]) -> list[Indices]:
    """Groups of the numbers of rows that are equal in every column, in the order of the first rows.

    An entry without hash, such as a user's object with arrays, is equal only to itself.
    """
    rows = enumerate(zip(*columns, strict=True))
    return [np.array(group) for group in grouped((tuple(map(_key, row)), k) for k, row in rows).values()]


def _key(thing: object) -> Hashable:
    try:
        hash(thing)
    except TypeError:
        return id(thing)
    return thing


def dot(a: Array, b: Array) -> Array:
    """Scalar products (...) of vectors (..., 3)."""
    return np.asarray(np.einsum("...x,...x->...", a, b))


def by_name(names: Sequence[str], values: Array) -> dict[str, Array]:
    """Split values (T, n, ...) of n points or joints into arrays (T, ...) by the name of each."""
    return {name: values[:, k] for k, name in enumerate(names)}


def largest_size(array: Array) -> Array:
    """The largest size (...) of numbers (T, ...) over all frames; 0 where there is no number."""
    largest, least = (reduce(array.real, axis=0, initial=0.0) for reduce in (np.fmax.reduce, np.fmin.reduce))
    return np.asarray(np.maximum(largest, -least))


def unit(vector: Array) -> Array:
    """Return vectors (..., 3) scaled to length one; NaN, with a warning, for vectors of length zero."""
    return np.asarray(vector / np.sqrt(np.vecdot(vector, vector))[..., None])


def unit_or_zero(rows: Array) -> Array:
    """Return vectors (..., n) scaled to length one; vectors of length zero stay zero."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-300))


UNUSUAL = 0.2
"""Largest change of a segment's length by marker noise, as a share of the length."""


def horizontal(vector: Array) -> Array:
    """Return the horizontal part of vectors (..., 3), scaled to length one."""
    return unit(vector * [1.0, 1.0, 0.0])


def across(vector: Array, line: Array) -> Array:
    """Return the part of ``vector`` (..., 3) perpendicular to the unit vector ``line``, scaled to length one."""
    return unit(vector - np.vecdot(vector, line)[..., None] * line)


def frame(x: Array, y: Array) -> Array:
    """Return rotations (..., 3, 3) whose columns are x, y and x cross y, from perpendicular unit vectors (..., 3)."""
    return np.stack([x, y, vector_product(x, y)], axis=-1)


def correlated_products(series: Array, memory: int) -> Array:
    """Sum of the products of series (T, p) that are correlated over `memory` frames, (p, p).

    sum_k (1 - |k| / (L + 1)) sum_t x(t) x(t + k)' over lags |k| <= L frames (Newey & West 1987, Econometrica 55:703-8).
    """
    total = series.T @ series
    for lag in range(1, min(memory, len(series) - 1) + 1):
        across = series[lag:].T @ series[:-lag]
        total += (1.0 - lag / (memory + 1)) * (across + across.T)
    return np.asarray(total)


def covariance(patterns: Array, residual: Array, memory: int) -> tuple[Array, Array]:
    """Least squares of residuals (T, n) by patterns (T, n, p): estimate (p,) and its covariance (p, p).

    The residual is correlated over `memory` frames, and so is the score (`correlated_products`).
    """
    bend = np.einsum("tci,tcj->ij", patterns, patterns)
    score = np.einsum("tci,tc->ti", patterns, residual)
    inverse = np.linalg.pinv(bend)
    estimate = inverse @ score.sum(axis=0)
    score = np.einsum("tci,tc->ti", patterns, residual - patterns @ estimate)
    return estimate, inverse @ correlated_products(score, memory) @ inverse


def mean_length(vector: Array) -> float:
    """Return the mean length of vectors (T, 3) over the frames in which it is within a fifth of its median.

    A marker that jumps in some frames does not change the size of a segment.
    """
    length = np.linalg.norm(vector, axis=-1)
    usual = float(median_of_known(length))
    return float(mean_of_known(length[np.abs(length - usual) <= UNUSUAL * usual]))


def near_instants(time: Array, instants: Array, reach: float) -> Mask:
    """Return which frames of even times (T,) [s] are within a reach [s] of some instants (k,) [s]; whole frames."""
    if time.size < 2:
        return np.full(time.size, bool(instants.size))
    step = (time[-1] - time[0]) / (time.size - 1)
    frames = np.rint((instants - time[0]) / step).astype(np.int64)
    return near_frames(time.size, frames, int(np.ceil(reach / step - ROUNDED)))


def near_frames(count: int, frames: Iterable[int], reach: int) -> Mask:
    """Return which of so many frames are at most `reach` frames from some others, which may lie outside."""
    near = np.zeros(count, bool)
    for frame in frames:
        near[max(frame - reach, 0) : max(frame + reach + 1, 0)] = True
    return near

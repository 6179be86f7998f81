"""Checks of evenly sampled signals and of their cut-off frequencies."""

from __future__ import annotations

from collections.abc import Container

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve._util.message_text import as_text
from musclesolve.errors import InputError

FEWEST_FRAMES = 3


def checked_signal(signal: ArrayLike, rate_hz: float) -> Array:
    """Return a signal (T, ...) as numbers; gaps, too few frames and no sampling rate are refused."""
    check_number(rate_hz, "rate_hz", "a sampling rate above zero [Hz]", above=0.0)
    numbers = _real(signal, "signal")
    if numbers.ndim == 0 or len(numbers) < FEWEST_FRAMES or numbers.size == 0:
        problem = f"a signal of the shape {numbers.shape} is too little to filter"
        expected = f"an array (frames, ...) of at least {FEWEST_FRAMES} frames"
        remedy = "put the frames along the first axis"
        raise InputError(problem, code="too_few_frames", expected=expected, remedy=remedy)
    # A single gap would spoil the whole coordinate.
    lost = ~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)
    if lost.any():
        count = f"{lost.sum()} of {lost.size} frames"
        problem = f"the signal lacks a number in {count}, first in frame {lost.argmax()}"
        expected, remedy = "a signal without gaps", "fill the gaps, or take a stretch without them"
        raise InputError(problem, code="not_finite", expected=expected, remedy=remedy)
    return numbers


def checked_order(order: int, orders: Container[int], what: str, expected: str, remedy: str) -> int:
    """Return a whole number that is one of some."""
    number = _real(order, what)
    if number.ndim or float(number) not in orders:
        raise InputError(f"{as_text(order)} as {what}", code="bad_number", expected=expected, remedy=remedy)
    return int(number)


def checked_cutoffs(
    cutoff_hz: ArrayLike, shape: tuple[int, ...], rate_hz: float, lowest_hz: float = 0.0
) -> Array:
    """Return the cut-off frequencies (...) of the coordinates of a signal of this shape (T, ...) [Hz].

    Args:
        cutoff_hz: one for all, or one for every coordinate, broadcast over the axes after the first [Hz].
        lowest_hz: the lowest that the filter can take [Hz].
    """
    cutoffs = _real(cutoff_hz, "cut-off")
    try:
        every = np.broadcast_to(cutoffs, shape[1:])
    except ValueError:
        problem = f"cut-offs of the shape {cutoffs.shape} for coordinates of the shape {shape[1:]}"
        expected = "one cut-off for all coordinates, or one for each"
        raise InputError(problem, code="bad_shape", expected=expected) from None
    low = max(lowest_hz, lowest_carried(shape[0], rate_hz))
    wrong = every[~((every >= low) & (every < 0.5 * rate_hz))]
    if wrong.size:
        problem = f"a cut-off of {wrong[0]:g} Hz at {rate_hz:g} samples a second in {shape[0]} frames"
        expected = f"a cut-off from {low:.2g} Hz to below half the sampling rate"
        remedy = "walking needs about 6 Hz"
        raise InputError(problem, code="bad_number", expected=expected, remedy=remedy)
    return every


def lowest_carried(frames: int, rate_hz: float) -> float:
    """Return the cut-off of which half a period lasts as long as the signal [Hz].

    Mirrored in a point at either end, a signal has no slower part than that: a lower cut-off would leave nothing
    but the straight line between the first and the last sample.
    """
    return rate_hz / (2.0 * max(frames - 1, 1))


def _real(values: ArrayLike, what: str) -> Array:
    """Return real numbers."""
    try:
        given = np.asarray(values)
    except ValueError:
        given = np.asarray(None)
    if given.dtype.kind not in "iuf":
        text = as_text(values) if given.ndim == 0 else f"an array of {given.dtype}"
        raise InputError(f"{text} as {what}", code="not_numbers", expected="real numbers")
    return given.astype(float, copy=False)

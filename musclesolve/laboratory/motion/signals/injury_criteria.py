"""Injury criteria of an acceleration signal: severity index and head injury criterion (Silva 2003, 4.6, 4.7)."""

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_increasing, check_number
from musclesolve.constants import STANDARD_GRAVITY

EXPONENT = 2.5
"""Exponent of the acceleration in both criteria: the slope of the Wayne State tolerance curve in logarithmic scales."""


@dataclass(frozen=True)
class HeadInjury:
    """The head injury criterion: `value` [s], and `start` and `end` [s] of its window.

    Examples:
        >>> time = np.linspace(0.0, 0.1, 1001)
        >>> hit = ms.laboratory.head_injury_criterion(time, np.full(1001, 50.0 * 9.80665))
        >>> round(hit.end - hit.start, 3)               # the window [s]
        0.015
    """

    value: float
    start: float
    end: float


def severity_index(time: Array, acceleration: Array) -> float:
    """Severity index, SI = integral of a^2.5 dt with a in units of gravity (Gadd 1966; Silva 2003, 4.6).

    The acceleration is linear between its samples, and is integrated exactly.

    Args:
        time: (T,) [s], increasing.
        acceleration: (T,) its magnitude, or (T, 3) its components [m/s2].

    Raises:
        InputError: arrays that do not fit each other, or are not finite.

    Examples:
        >>> ms.laboratory.severity_index(np.array([0.0, 0.1]), np.full(2, 4.0 * 9.80665))     # 0.1 s * 4^2.5
        3.2
    """
    time, level = _signal(time, acceleration)
    before, after = level[:-1], level[1:]
    change = after - before
    steep = np.abs(change) > 1e-6 * np.maximum(before, after)
    power = EXPONENT + 1.0
    rising = (after**power - before**power) / (power * np.where(steep, change, 1.0))
    gained = np.diff(time) * np.where(steep, rising, (0.5 * (before + after)) ** EXPONENT)
    return float(np.cumsum(gained)[-1])


def head_injury_criterion(time: Array, acceleration: Array, window: float = 0.015) -> HeadInjury:
    """Head injury criterion, HIC = max over t1 < t2 of (t2 - t1) (mean of a from t1 to t2)^2.5 (Silva 2003, 4.7).

    a is in units of gravity. Windows begin and end at samples; windows of the greatest width begin or end at a sample.

    Args:
        time: (T,) [s], increasing.
        acceleration: (T,) its magnitude, or (T, 3) its components, of the head's center of mass [m/s2].
        window: greatest width [s]; 0.015 with a hard impact of the head, 0.036 without one.

    Raises:
        InputError: arrays that do not fit each other, or are not finite; a width that is not positive.

    Examples:
        >>> time = np.linspace(0.0, 0.1, 1001)
        >>> round(ms.laboratory.head_injury_criterion(time, np.full(1001, 50.0 * 9.80665)).value, 2)  # 0.015 s * 50^2.5
        265.17
    """
    window = check_number(window, "window", "a positive number of seconds", above=0.0)
    time, level = _signal(time, acceleration)
    velocity = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(time) * (level[1:] + level[:-1]))])
    # Windows of the greatest width within the signal that have a sample at either end.
    starts = np.concatenate([time, time - window])
    starts = starts[(starts >= time[0]) & (starts + window <= time[-1])]
    ends = starts + window
    gained = _velocity_at(time, level, velocity, ends) - _velocity_at(time, level, velocity, starts)
    best = _best(starts, ends, gained)
    for lag in range(1, len(time)):
        inside = time[lag:] - time[:-lag] <= window
        if not inside.any():
            break
        one = _best(time[:-lag][inside], time[lag:][inside], (velocity[lag:] - velocity[:-lag])[inside])
        best = max(best, one, key=lambda window: window.value)
    return best


def _signal(time: Array, acceleration: Array) -> tuple[Array, Array]:
    """Times, and the magnitude of the acceleration at them in units of gravity."""
    time = check_increasing(time, 2)
    shape = ("T",) if np.ndim(acceleration) == 1 else ("T", 3)
    vectors = check_array(acceleration, "acceleration", (len(time), *shape[1:]), axis=0, real=True)
    level = np.abs(vectors) if vectors.ndim == 1 else np.linalg.norm(vectors, axis=1)
    return time, level / STANDARD_GRAVITY


def _velocity_at(time: Array, level: Array, velocity: Array, at: Array) -> Array:
    """The integral of a signal, linear between its samples, from the first sample to times within it."""
    k = np.clip(np.searchsorted(time, at, side="right") - 1, 0, len(time) - 2)
    late = at - time[k]
    slope = (level[k + 1] - level[k]) / (time[k + 1] - time[k])
    return velocity[k] + late * (level[k] + 0.5 * slope * late)


def _best(start: Array, end: Array, gained: Array) -> HeadInjury:
    """The window of the largest criterion; zero without windows."""
    if not len(start):
        return HeadInjury(0.0, np.nan, np.nan)
    width = end - start
    value = width * (gained / width) ** EXPONENT
    k = int(np.argmax(value))
    return HeadInjury(float(value[k]), float(start[k]), float(end[k]))

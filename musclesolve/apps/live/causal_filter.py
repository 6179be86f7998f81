"""Position, velocity and acceleration of a signal from its past samples: the smoothing spline of the offline filter.

At every sample the natural spline of `smoothing_spline` is put through the last N samples and read a lag behind the
newest one. N, the rate, the cut-off and the lag do not change, so the three numbers are fixed sums over the window,

    x^(d)(t - lag) = sum_j W_dj y_j,   d = 0, 1, 2,

(`spline_weights`). What follows from the weights alone:

- Polynomials up to degree m - 1 (m the half order of the spline) pass exactly: the delay is the lag, not more.
- White noise of standard deviation s becomes noise of s |W_d| (`CausalFilter.noise_gain`).
- As the lag grows, the result tends to the result of the offline spline, whose gain is 1 / (1 + p s(w)), as the gain of
  the two passes of a Butterworth filter of order m. With less lag the noise is larger and later samples cannot correct
  the result.

A sample that was lost is left out of the spline: with the smoother S, g = S y, the missing samples M have the values
v = (I - S_MM)^-1 S_MO y_O that the spline through all others gives them. Across a long hole these values are a guess: a
heel strike in a hole of 0.08 s changed a muscle force by 480 N. While the weights of long holes M,
sum_M |W_dj| / sum_j |W_dj|, are more than `HOLE_SHARE`, the filter gives no result.
"""

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve.dynamics.kinematics.low_pass import smoothing_spline

HALF_ORDER = 3
"""Half order m of the spline: quintic, the lowest whose accelerations do not vanish at the newest sample."""
HOLE_SHARE = 0.25
"""Largest share of long holes in the weights: after holes of up to 0.2 s in the ground forces of two walks no muscle
force was off by more than 80 N, less than with a hole of three samples, which is bridged (150 N)."""
PERIODS = 3.0
"""Length of the window in periods of the cut-off: the weight of samples falls as exp(-0.58 w_c t), to 2e-5 at its end,
where w_c is 1.16 times the cut-off in radians a second (pole of 1 + (w / w_c)^6 nearest to the real axis)."""


def window_length(rate_hz: float, cutoff_hz: float) -> int:
    """Number N of samples in the window."""
    return max(round(PERIODS * rate_hz / cutoff_hz), 4 * HALF_ORDER) + 1


def spline_weights(rate_hz: float, cutoff_hz: float, lag: float) -> tuple[Array, Array]:
    """Weights of the samples of a window, oldest first.

    Args:
        rate_hz: samples a second.
        cutoff_hz: frequency at which the offline spline falls by 3 dB [Hz].
        lag: how far behind the newest sample the spline is read [s].

    Returns:
        W (3, N) for position, velocity [1/s] and acceleration [1/s2], and the smoother S (N, N), g = S y.
    """
    check_number(rate_hz, "rate_hz", "samples a second, above zero", above=0.0)
    check_number(cutoff_hz, "cutoff_hz", "a frequency above zero [Hz]", above=0.0)
    count = window_length(rate_hz, cutoff_hz)
    longest = (count - 1) / rate_hz
    lag = check_number(lag, "lag", f"a time from 0 to {longest:.3g} s, the window", least=0.0, most=longest)
    spline = smoothing_spline(np.eye(count), rate_hz, cutoff_hz, HALF_ORDER)
    curve = spline.curve()
    at = spline.time[-1] - lag
    return np.stack([curve(at), curve(at, 1), curve(at, 2)]), spline.position


class CausalFilter:
    """The spline of the last N samples of k signals that are sampled together.

    Args:
        signals: number k of signals.
        rate_hz, cutoff_hz, lag: as in `spline_weights`.
        longest: longest hole that is bridged [s].
        orders: highest derivative that is read.

    Attributes:
        lag: how far behind the newest sample results are [s].
        weights: W (3, N).
        noise_gain: (3,) standard deviation of position, velocity [1/s] and acceleration [1/s2] for white noise of
            standard deviation 1.
        ready: whether the window is full, the newest sample was not lost, at most half of the others were, and long
            holes have little weight.
    """

    def __init__(
        self,
        signals: int,
        rate_hz: float,
        cutoff_hz: float,
        lag: float,
        longest: float = np.inf,
        orders: int = 2,
    ) -> None:
        self.weights, self._smoother = spline_weights(rate_hz, cutoff_hz, lag)
        self.lag, self._longest = lag, longest * rate_hz + 1e-6
        size = np.abs(self.weights[: orders + 1])
        self._shares = size / size.sum(axis=1, keepdims=True)
        self.noise_gain: Array = np.linalg.norm(self.weights, axis=1)
        length = self.weights.shape[1]
        self._samples = np.zeros((length, signals))  # the newest one last
        self._missing = np.ones(length, bool)
        self.clear()

    def clear(self) -> None:
        """Forget all samples."""
        self._count, self.ready = 0, False

    def _is_ready(self) -> bool:
        missing = self._missing
        lost = np.count_nonzero(missing)
        if self._count < len(missing) or missing[-1] or 2 * lost > len(missing):
            return False
        if lost <= self._longest:
            return True
        edges = np.flatnonzero(np.diff(missing, prepend=False, append=False)).reshape(-1, 2)
        share = sum(self._shares[:, a:b].sum(axis=1) for a, b in edges if b - a > self._longest)
        return bool(np.max(share) <= HOLE_SHARE)

    def push(self, sample: ArrayLike | None) -> None:
        """Take the next sample (k,); None, or one with a number that is not finite, was lost."""
        values = None if sample is None else np.asarray(sample, dtype=float)
        missing = values is None or not np.isfinite(values).all()
        self._samples[:-1], self._missing[:-1] = self._samples[1:], self._missing[1:]
        self._samples[-1], self._missing[-1] = 0.0 if missing else values, missing
        self._count += 1
        self.ready = self._is_ready()

    def value(self) -> Array:
        """Position, velocity and acceleration (3, k) of the signals a lag behind the newest sample; NaN until ready."""
        samples, missing = self._samples, self._missing
        if not self.ready:
            return np.full((3, samples.shape[1]), np.nan)
        if missing.any():
            samples = samples.copy()
            rows = self._smoother[missing]
            rest = np.eye(len(rows)) - rows[:, missing]
            samples[missing] = np.linalg.solve(rest, rows[:, ~missing] @ samples[~missing])
        return np.asarray(self.weights @ samples)

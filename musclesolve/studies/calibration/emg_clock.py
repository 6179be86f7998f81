"""The offset between the clocks of EMG and motion, from how activations of least effort agree with envelopes.

With activation a_k(t) under a cost of effort, which does not use EMG, and the envelope e_k(t) of channel k,

    r_k(d) = Pearson correlation of a_k(t) and e_k(t - d),    R(d) = mean over channels of r_k(d),

the lag at which R is largest is common to all channels: the delay of activation behind EMG, 30 to 100 ms by
physiology, plus the offset of the clocks. The two cannot be separated by these data; the offset is
the lag less the delay that is assumed ([emg] delay_s). Its uncertainty comes from the bootstrap over the channels
(Efron 1979, Ann Stat 7:1-26): channels are drawn with replacement, and the best offset of each draw is sought. R has
several maxima where channels disagree, which leave-one-out estimates miss.
"""

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.laboratory.bodies.measured_activation import MeasuredActivation
from musclesolve.laboratory.motion.signals.emg_envelope import DELAY_STEP, delayed_correlations

FEWEST_CHANNELS = 3
"""Least number of channels for an uncertainty."""
DRAWS = 2000
"""Draws of the bootstrap."""


@dataclass(frozen=True, eq=False)
class SharedLag:
    """Agreement of curves with envelopes that are moved by D offsets from the present one.

    moved (D,) [s]; correlation (D, k) of k channels, NaN where it is not known; agreement (D,), the mean over the
    channels with a known value at all offsets; drawn (DRAWS,): the best offset of each draw of the bootstrap [s].
    """

    moved: Array
    correlation: Array
    agreement: Array
    drawn: Array
    channels: int  # that count

    @property
    def best(self) -> int:
        """Number of the offset with the best agreement."""
        return int(self.agreement.argmax())

    @property
    def at_end(self) -> bool:
        """Whether the offset is the first or the last one, and no estimate."""
        return self.best in (0, len(self.moved) - 1)


def shared_lag(measured: MeasuredActivation, time: Array, curves: Array, longest: float) -> SharedLag | None:
    """Try offsets up to `longest` [s] on either side; curves (T, k) at times (T,); None where no channel is known."""
    steps = max(1, round(longest / DELAY_STEP))
    moved = np.asarray(DELAY_STEP * np.arange(-steps, steps + 1), np.float64)
    correlation = delayed_correlations(time, curves, measured.time, measured.envelope, measured.delay + moved)
    known = np.isfinite(correlation).all(axis=0)
    count = int(known.sum())
    if count == 0:
        return None
    of_channels = correlation[:, known]
    # number of times that each channel is drawn, (DRAWS, k)
    drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1.0 / count), size=DRAWS)
    best = moved[(of_channels @ drawn.T).argmax(axis=0)]
    return SharedLag(moved, correlation, of_channels.mean(axis=1), best, count)

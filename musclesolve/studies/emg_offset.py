"""The offset between the clocks of EMG and motion, estimated from how activations agree with envelopes.

With activation a_k(t) under a cost of effort, which does not use EMG, and the envelope e_k(t) of channel k,

    r_k(d) = Pearson correlation of a_k(t) and e_k(t - d),    R(d) = mean over channels of r_k(d),

the lag at which R is largest is common to all channels: the delay of activation behind EMG, 30 to 100 ms by
physiology, plus the offset of the clocks. The two cannot be separated by these data; the offset is
the lag less the delay that is assumed ([emg] delay_s). Its uncertainty comes from the bootstrap over the channels
(Efron 1979, Ann Stat 7:1-26): channels are drawn with replacement, and the best offset of each draw is sought. R has
several maxima where channels disagree, which leave-one-out estimates miss. The activation of an informed sharing is not
used: it follows the present envelopes and would confirm any offset.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve._util.progress import Progress
from musclesolve.constants import BAND_95
from musclesolve.errors import input_error
from musclesolve.forces import prepare
from musclesolve.motion.signals.emg_envelope import DELAY_STEP, FEWEST_SAMPLES, delayed_correlations
from musclesolve.pipeline.emg_informed import follows_emg
from musclesolve.pipeline.measured_activation import MeasuredActivation
from musclesolve.pipeline.share import share
from musclesolve.recording.data import AnyTrial
from musclesolve.sharing.cost.cost_base import Cost

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


def emg_offset(
    trial: AnyTrial | str | Path,
    longest: float = 0.3,
    cost: str | Cost | None = None,
    side: str = "both",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Estimate the value of [emg] offset_s; nothing is changed.

    Args:
        trial: a trial with EMG, or the path of its file.
        longest: offsets from -longest to longest beside the present one are tried [s]; in a movement that repeats
            itself, less than half a cycle.
        cost: the effort; the trial file's unless given.
        side: "r", "l" or "both".
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        Dataset over offset [s] (values of [emg] offset_s) and channel: correlation (offset, channel) and agreement
        (offset), their mean. Attributes: offset_s, the best one; standard_error_s and interval_s, 95 % of the bootstrap
        over channels; present_offset_s; assumed_delay_s, which the lag holds beside the offset; at_end, whether the
        best one is at an end of the range, so that it is no estimate.

    Raises:
        InputError: no EMG, fewer than three channels with a correlation, too few frames with EMG at every offset, a
            cost that follows EMG, or whatever `run` refuses.
    """
    longest = check_number(
        longest, "the largest offset", "a number of seconds above zero", above=0.0, most=10.0
    )
    body = prepare(trial, cost, None, side, progress, emg_weight=0.0)
    measured = body.emg
    if measured is None or follows_emg(body.sharing.cost):
        problem = "the trial has no EMG" if measured is None else "the cost follows EMG by itself"
        raise input_error(
            "missing_argument" if measured is None else "conflict",
            where="trial" if measured is None else "cost",
            problem=f"{problem}: no offset of its clock can be estimated",
            expected="a trial with [emg.channels], and a cost of effort",
            remedy="add [emg] to the trial file, and choose knee_sparing_activation or another cost without EMG",
        )
    analysis = share(body, progress=progress)
    curves = measured.mean_activation(analysis.activation, body.muscles)
    found = shared_lag(measured, body.time, curves, longest)
    if found is None or found.channels < FEWEST_CHANNELS:
        channels = 0 if found is None else found.channels
        raise input_error(
            "too_few_frames",
            where="longest",
            problem=f"{channels} channels of EMG have a correlation at every offset up to {longest:g} s",
            expected=f"at least {FEWEST_CHANNELS}, with EMG in {FEWEST_SAMPLES} frames at every offset",
            remedy="try smaller offsets, or export EMG from before the motion to after it",
        )
    present = body.trial.emg.options.offset_s  # type: ignore[union-attr]
    offsets = present + found.moved
    best = found.best
    variables = {
        "correlation": (("offset", "channel"), found.correlation, {"units": "1"}),
        "agreement": (("offset",), found.agreement, {"units": "1", "long_name": "mean correlation"}),
    }
    attributes = {
        "cost": body.sharing.cost.label,
        "offset_s": float(offsets[best]),
        "standard_error_s": float(found.drawn.std()),
        "interval_s": np.quantile(present + found.drawn, BAND_95).tolist(),
        "present_offset_s": present,
        "assumed_delay_s": measured.delay,
        "at_end": int(found.at_end),
    }
    coordinates = {"offset": ("offset", offsets, {"units": "s"}), "channel": list(measured.channels)}
    return xr.Dataset(variables, coordinates, attributes)

"""EMG beside a cost of effort: its trade-off with the effort, and the offset between the clocks.

The trade-off shows effort against misfit over the weight of EMG, and the effect on predictions. With the effort f of a
cost and the misfit m = sum_followed (a_i - e_i)^2, every weight w minimizes f + w m, and the points (m, f) lie on a
convex curve of slope -w: a unit of misfit less costs w of effort. The curve does not show which point is right. Its
knee, the point farthest below the chord between the ends (Satopaa et al. 2011, Finding a "kneedle" in a haystack), is
reported and never chosen: it depends on the largest weight that is tried.

The offset between the clocks of EMG and motion follows from how activations agree with envelopes. With activation
a_k(t) under a cost of effort, which does not use EMG, and the envelope e_k(t) of channel k,

    r_k(d) = Pearson correlation of a_k(t) and e_k(t - d),    R(d) = mean over channels of r_k(d),

the lag at which R is largest is common to all channels: the delay of activation behind EMG, 30 to 100 ms by
physiology, plus the offset of the clocks. The two cannot be separated by these data; the offset is
the lag less the delay that is assumed ([emg] delay_s). Its uncertainty comes from the bootstrap over the channels
(Efron 1979, Ann Stat 7:1-26): channels are drawn with replacement, and the best offset of each draw is sought. R has
several maxima where channels disagree, which leave-one-out estimates miss. The activation of an informed sharing is not
used: it follows the present envelopes and would confirm any offset.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, greatest
from musclesolve._util.checks import check_number
from musclesolve._util.messages import Progress, no_progress
from musclesolve.constants import BAND_95
from musclesolve.errors import input_error
from musclesolve.laboratory.analysis.emg_informed import (
    MISFIT,
    followed_muscles,
    follows_emg,
    predicted_channels,
)
from musclesolve.laboratory.analysis.measured_activation import MeasuredActivation
from musclesolve.laboratory.analysis.run_options import check_consistent
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.motion.signals.emg_envelope import (
    DELAY_STEP,
    FEWEST_SAMPLES,
    delayed_correlations,
)
from musclesolve.laboratory.recording.command_settings import EMG_WEIGHTS
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.models.body import Analysis
from musclesolve.models.share import share
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_registry import Solver
from musclesolve.sharing.status import Status

MEANING = {
    "effort": ("unit of the cost", "effort of the followed legs, mean over the frames"),
    "emg_misfit": ("1", "sum over followed muscles of (activation - envelope)^2, mean over the frames"),
    "emg_rms": ("1", "root mean square over frames and followed muscles of activation - envelope"),
    "emg_correlation": ("1", "correlation of each channel while it alone is not followed with its envelope"),
    "emg_correlation_followed": ("1", "correlation of each followed channel with its envelope: no test"),
    "contact_peak": ("N", "largest contact force of each joint"),
    "reserve_frames": ("1", "leg-frames with a reserve"),
}


def emg_trade_off(
    trial: AnyTrial | str | Path,
    weights: Sequence[float] = EMG_WEIGHTS,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Effort and misfit to EMG over the weight of EMG-informed sharing, and predictions of channels left out.

    Args:
        trial: a trial with EMG, or the path of its file; its weight of EMG, if it has one, does not count here.
        weights: two or more, zero (the effort alone) or more, in units of the cost; sorted.
        cost: the effort; the trial file's unless given.
        solver: name of a solver, or a Solver; the trial file's unless given.
        side: "r", "l" or "both"; legs without any muscle that is followed do not count.
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        Dataset over weight, channel and joint: effort and emg_misfit (weight), means over the frames that are solved
        without a reserve at every weight; emg_rms (weight); emg_correlation (weight, channel) of each channel predicted
        while it alone is not followed; emg_correlation_followed (weight, channel), which is no test; contact_peak
        (weight, joint) [N] where loads are known; reserve_frames (weight). The attribute knee_weight is the weight at
        the knee of the curve of effort over misfit, NaN of a curve without one.

    Raises:
        InputError: a trial without EMG of a muscle that is analyzed, fewer than two weights, a cost that follows EMG by
            itself or to which nothing can be added, or whatever `run` refuses.
    """
    report = progress or no_progress
    tried = sorted(
        {check_number(w, "a weight of EMG", "zero or more", least=0.0, where="weights") for w in weights}
    )
    if len(tried) < 2:
        raise input_error(
            "missing_argument",
            where="weights",
            problem="a trade-off needs two weights or more",
            expected="different numbers of zero or more",
            remedy=f"leave them out: {', '.join(f'{weight:g}' for weight in EMG_WEIGHTS)}",
        )
    body = prepare(trial, cost, solver, side, report, emg_weight=0.0)
    check_consistent(body.trial, "a trade-off with EMG")
    effort = body.sharing.cost
    if follows_emg(effort):
        raise input_error(
            "conflict",
            where="cost",
            problem=f"the cost {effort.label} follows EMG by itself",
            expected="a cost of effort, which is weighed against EMG",
            remedy="choose knee_sparing_activation or another cost without EMG",
        )
    concerned = [place for place, part in enumerate(body.parts) if followed_muscles(part)]
    if body.emg is None or not concerned:
        raise input_error(
            "missing_argument",
            where="trial",
            problem="no muscle that is analyzed has measured EMG",
            expected="a trial with [emg.channels] of muscles of the analyzed legs",
            remedy="add [emg] to the trial file, or analyze the leg that was measured",
        )
    shared: list[Analysis] = []
    predicted: list[Array] = []
    for number, weight in enumerate(tried):
        report(f"weight {weight:g}", 0.7 + 0.28 * number / len(tried))
        informed = effort + weight * MISFIT if weight else effort
        shared.append(share(body, replace(body.sharing, cost=informed)))
        predicted.append(predicted_channels(shared[-1]))
    parts = [[analysis.parts[place] for place in concerned] for analysis in shared]
    # frames of each part without a reserve at any weight
    solved = ([of.solution.status == Status.SOLVED for of in same] for same in zip(*parts, strict=True))
    frames = [np.all(masks, axis=0) for masks in solved]
    reserves = [[(of.solution.status == Status.SOLVED_WITH_RESERVE).sum() for of in row] for row in parts]
    count, compared = sum(int(frame.sum()) for frame in frames), 0
    totals = np.zeros((len(tried), 2))
    for place, solved in enumerate(frames):
        known = np.isfinite(parts[0][place].part.emg[solved])  # type: ignore[index]
        compared += int(known.sum())
        for k, row in enumerate(parts):
            problem, activation = row[place].problem.frames(solved), row[place].solution.activation[solved]
            totals[k] += [term.value(problem, activation).sum() for term in (effort, MISFIT)]
    means = totals / count if count else np.full_like(totals, np.nan)
    agreement = [body.emg.agreement(body.time, analysis.activation, body.muscles)[0] for analysis in shared]
    left_out = [body.emg.agreement_of_channels(body.time, curves)[0] for curves in predicted]
    arrays: dict[str, tuple[tuple[str, ...], Array]] = {
        "effort": (("weight",), means[:, 0]),
        "emg_misfit": (("weight",), means[:, 1]),
        "emg_rms": (("weight",), np.sqrt(means[:, 1] * count / max(compared, 1))),
        "emg_correlation": (("weight", "channel"), np.stack(left_out)),
        "emg_correlation_followed": (("weight", "channel"), np.stack(agreement)),
        "reserve_frames": (("weight",), np.sum(reserves, axis=1)),
    }
    coords: dict[str, object] = {"weight": tried, "channel": list(body.emg.channels)}
    contacts = [[pair for part in solved for pair in part.contact_force.items()] for solved in parts]
    peaks = [{joint: greatest(np.linalg.norm(force, axis=1)) for joint, force in pairs} for pairs in contacts]
    if peaks[0]:
        coords["joint"] = list(peaks[0])
        arrays["contact_peak"] = (("weight", "joint"), np.array([list(peak.values()) for peak in peaks]))
    assert body.trial is not None
    attributes = {
        "trial_file": str(body.trial.path),
        "tendon": body.sharing.tendon,
        "cost": effort.label,
        "knee_weight": knee_weight(np.array(tried), means[:, 0], means[:, 1]),
        "frames": count,
        "followed_muscles": [name for place in concerned for name in followed_muscles(body.parts[place])],
    }
    variables = {
        name: (dims, values, {"units": MEANING[name][0], "long_name": MEANING[name][1]})
        for name, (dims, values) in arrays.items()
    }
    report("done", 1.0)
    return xr.Dataset(variables, coords, attributes)


def knee_weight(weights: Array, effort: Array, misfit: Array) -> float:
    """The weight (W,) at which effort over misfit, (W,) each, lies farthest below the chord between its ends.

    NaN where neither changes or no point between the ends lies below it.
    """
    paid, left = effort - effort[0], misfit - misfit[-1]
    if not (paid[-1] > 0.0 and left[0] > 0.0):
        return float("nan")
    below = 1.0 - paid / paid[-1] - left / left[0]
    best = int(np.argmax(below))
    return float(weights[best]) if below[best] > 1e-9 else float("nan")


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
    lag = shared_lag(measured, body.time, curves, longest)
    if lag is None or lag.channels < FEWEST_CHANNELS:
        channels = 0 if lag is None else lag.channels
        raise input_error(
            "too_few_frames",
            where="longest",
            problem=f"{channels} channels of EMG have a correlation at every offset up to {longest:g} s",
            expected=f"at least {FEWEST_CHANNELS}, with EMG in {FEWEST_SAMPLES} frames at every offset",
            remedy="try smaller offsets, or export EMG from before the motion to after it",
        )
    present = body.trial.emg.options.offset_s  # type: ignore[union-attr]
    offsets = present + lag.moved
    best = lag.best
    variables = {
        "correlation": (("offset", "channel"), lag.correlation, {"units": "1"}),
        "agreement": (("offset",), lag.agreement, {"units": "1", "long_name": "mean correlation"}),
    }
    attributes = {
        "cost": body.sharing.cost.label,
        "offset_s": float(offsets[best]),
        "standard_error_s": float(lag.drawn.std()),
        "interval_s": np.quantile(present + lag.drawn, BAND_95).tolist(),
        "present_offset_s": present,
        "assumed_delay_s": measured.delay,
        "at_end": int(lag.at_end),
    }
    coordinates = {"offset": ("offset", offsets, {"units": "s"}), "channel": list(measured.channels)}
    return xr.Dataset(variables, coordinates, attributes)

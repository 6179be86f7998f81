"""The cost that agrees best with the EMG of trials: `ms.sharing.fit_cost` on the legs of recordings.

Envelopes count a delay earlier than activation (`[emg] delay_s`), as for a cost that follows EMG.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve._util.messages import Progress, few, no_progress
from musclesolve.dynamics.kinematics.low_pass import low_pass
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.bodies.measured_activation import MeasuredActivation
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.motion.signals.emg_envelope import mirrored
from musclesolve.laboratory.recording.data import AnyTrial, Trial
from musclesolve.laboratory.recording.trial_settings import EmgSettings
from musclesolve.laboratory.trial.trial_file import ModelTrial, read_trial
from musclesolve.models.body_sharing import refuse_actuators, sharing_problem
from musclesolve.sharing.analysis.cost_fit import REACH, Agreement
from musclesolve.sharing.analysis.cost_fit import fit_cost as sharing_fit_cost
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem

RATE = 50.0
"""Frames a second that are used [Hz]: envelopes hold nothing faster, and a fit shares all frames often."""


@dataclass(frozen=True)
class EmgPart:
    """The problem of one leg, and the EMG of its channels.

    Attributes:
        trial: its name.
        side: of the leg.
        time: (T,) [s].
        problem: of T frames.
        emg: (T, C) envelopes a delay earlier.
        smoothing: (T, T) weights with which the low-pass of the envelopes smooths activation; None for envelopes that
            the file has, whose filter is not known.
        channels: names of channels -> names of muscles.
        stride: (T,) number of the stride of the leg, NaN outside of complete strides.
    """

    trial: str
    side: str
    time: Array
    problem: Problem
    emg: Array
    channels: Mapping[str, tuple[str, ...]]
    stride: Array
    smoothing: Array | None


def emg_parts(
    trials: AnyTrial | str | Path | Sequence[AnyTrial | str | Path],
    side: str = "both",
    delay: float | None = None,
    progress: Progress = no_progress,
) -> list[EmgPart]:
    """The problems of the legs of trials that have EMG, with their envelopes.

    delay: of activation behind the envelope [s], by default as in the trial file.

    Raises:
        InputError: a trial without EMG, elastic tendons, or whatever `run` refuses.
    """
    if delay is not None:
        delay = check_number(delay, "delay", "a delay from 0 to 0.5 s", least=0.0, most=0.5)
    parts, labels = [], by_label(trials)
    for place, (label, trial) in enumerate(labels.items()):
        progress(label, place / len(labels))
        if trial.emg is None:
            raise trial.document.error(
                "missing_key",
                "emg",
                problem="this trial file names no EMG, and a cost is fitted to EMG",
                expected="[emg] with a file, and [emg.channels] with the muscles of its channels",
                remedy="add [emg] to the trial file",
            )
        body = prepare(trial, REACH, None, side, emg_weight=0.0)
        if body.sharing.elastic:
            raise trial.document.fault(
                "conflict",
                ("muscles", "tendon"),
                "a cost is fitted frame by frame, and with elastic tendons frames depend on each other",
                "rigid tendons",
                'write tendon = "rigid" for this question',
            )
        measured, gait = body.emg, body.gait if isinstance(body, RecordedBody) else None
        assert measured is not None
        refuse_actuators(body.parts, "a cost from EMG")
        for part in body.parts:
            names = part.state.parameters.names
            if not any(set(of) <= set(names) for of in measured.muscles):
                continue
            time, own_side = part.time, part.sides[0]
            step = max(1, round(1.0 / (RATE * float(np.median(np.diff(time))))))
            frames = np.arange(0, len(time), step)
            envelope = measured.at(time[frames], measured.delay if delay is None else delay)
            electrodes = _electrodes(measured, names)
            # without a stated maximum an envelope is a share of the largest of its own trial
            own = {name: f"{name} in {label}" for name in measured.largest_counts if len(labels) > 1}
            stride = np.full(len(frames), np.nan)
            strides = [each for each in (gait.strides if gait else ()) if each.side == own_side]
            for number, each in enumerate(strides, start=1):
                stride[(time[frames] >= each.start) & (time[frames] < each.end)] = number
            parts.append(
                EmgPart(
                    label,
                    own_side,
                    time[frames],
                    sharing_problem(part.frames(frames), body.sharing),
                    np.stack([envelope[:, numbers[0]] for numbers in electrodes.values()], axis=1),
                    {
                        own.get(name, name): tuple(
                            dict.fromkeys(muscle for k in numbers for muscle in measured.muscles[k])
                        )
                        for name, numbers in electrodes.items()
                    },
                    stride,
                    None if trial.emg.options.processed else _smoothing(time[frames], trial.emg.options),
                )
            )
    if not parts:
        lost = _not_used(labels)
        raise input_error(
            "no_overlap",
            where="[emg.channels]",
            problem="no channel of EMG has numbers and muscles of an analyzed leg"
            + f"; not used: {few(lost, 4)}" * bool(lost),
            expected="channels of muscles that share moments",
        )
    return parts


def _not_used(trials: Mapping[str, AnyTrial]) -> list[str]:
    """Channels of trials that are not used, each with the reason."""
    return [
        f"{name} in {label} ({why})"
        for label, trial in trials.items()
        if trial.emg is not None
        for name, why in trial.emg.unusable.items()
    ]


def by_label(trials: AnyTrial | str | Path | Sequence[AnyTrial | str | Path]) -> dict[str, AnyTrial]:
    """A name for each trial, of its file."""
    return _labels([read_trial(given) for given in _listed(trials)])


def _listed(trials: Any) -> list[Any]:
    """The trials as a list; one trial stands for itself."""
    if isinstance(trials, str | Path | Trial | ModelTrial):
        return [trials]
    listed = list(trials) if isinstance(trials, Iterable) and not isinstance(trials, Mapping) else []
    if not listed:
        raise input_error(
            "missing_argument",
            where="fit_cost(trials=...)",
            problem="there is no trial",
            expected="trials, or paths of trial files",
        )
    return listed


def _labels(trials: Sequence[AnyTrial]) -> dict[str, AnyTrial]:
    """A name for each trial: of its file, with folders as far as names are alike."""
    paths = [trial.path.resolve() for trial in trials]
    for path in paths:
        if paths.count(path) > 1:
            raise input_error(
                "duplicate_name",
                where="fit_cost(trials=...)",
                problem=f"the trial {path.name} is given twice, and would count as two measurements",
                expected="each trial once",
            )
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.with_suffix("").parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            break
    return dict(zip(names, trials, strict=True))


def _smoothing(time: Array, options: EmgSettings) -> Array | None:
    """The weights (T, T) with which the low-pass of envelopes smooths frames at times (T,) [s] (`linear_envelope`)."""
    rate = 1.0 / float(np.median(np.diff(time)))
    if options.envelope_hz >= 0.5 * rate:
        return None
    longer, inside = mirrored(np.eye(len(time)), rate, options)
    return low_pass(longer, rate, options.envelope_hz, options.envelope_order)[inside]


def _electrodes(measured: MeasuredActivation, muscles: Sequence[str]) -> dict[str, list[int]]:
    """Name of each electrode -> the channels with its signal, of those that show some muscles.

    A signal that stands in the file under several names is one measurement of all their muscles.
    """
    electrodes: dict[str, list[int]] = {}
    for k, (name, of) in enumerate(zip(measured.channels, measured.muscles, strict=True)):
        if not set(of) <= set(muscles):
            continue
        signal = measured.envelope[:, k]
        for numbers in electrodes.values():
            if np.array_equal(measured.envelope[:, numbers[0]], signal, equal_nan=True):
                numbers.append(k)
                break
        else:
            electrodes[name] = [k]
    return electrodes


def fit_cost(
    trials: AnyTrial | str | Path | Sequence[AnyTrial | str | Path],
    family: str | Cost | Sequence[str | Cost] = "general_power",
    side: str = "both",
    delay: float | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Fit a cost to the EMG of trials of one person, and test it on channels and strides that it has not seen.

    See `ms.sharing.fit_cost`. A channel has one gain and offset in all trials if the trial files state its maximum
    (`[emg] maximum`), else one in each trial.

    Args:
        trials: one or several, from `read_trial`, or paths of trial files, with [emg] and rigid tendons.
        family: a cost whose options are fitted, "general_power" unless given; or costs whose weights are fitted.
        side: "r", "l" or "both".
        delay: of activation behind the envelope [s], by default as in the trial files.
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        Dataset over parameter, channel, cost, time and left_out: value, low and high (parameter), the parameters found
        and the ends of their 95 % intervals, infinite where the EMG does not bound them; agreement and missed (cost,
        channel), Pearson r and the share of the variance of the envelope that is not explained, on the data of the fit;
        left_out_agreement and left_out_missed (cost, left_out), on channels and strides that the fit has not seen, of
        the kind (left_out), "channel" or "stride"; envelope and fitted (frame, channel), trial, side and time (frame).
        Attributes: fitted_cost, by four digits, which `run --cost` takes, and sentences.

    Raises:
        InputError: a trial without EMG or with elastic tendons, or whatever `run` and `ms.sharing.fit_cost` refuse.
    """
    report = progress or no_progress
    labels = by_label(trials)
    parts = emg_parts([*labels.values()], side, delay, report)
    report("fit", 0.3)
    fit = sharing_fit_cost(
        [part.problem for part in parts],
        [part.emg for part in parts],
        [part.channels for part in parts],
        family,
        strides=[part.stride for part in parts],
        smoothing=[part.smoothing for part in parts],
    )
    report("intervals", 0.4)
    sentences = fit.sentences()
    if lost := _not_used(labels):
        sentences.insert(1, f"Channels that are not used: {', '.join(lost)}.")
    intervals = np.array([fit.interval(name) for name in fit.family.parameters]).reshape(-1, 2)
    beside, tests = fit.beside(), []
    for place, by in ((0.6, "channel"), (0.8, "stride")):
        report(f"without one {by}", place)
        try:
            tests.append((by, fit.left_out(by)))
        except InputError as error:
            sentences.append(f"No {by} is left out: {error.problem}.")
    cells = [entry for part in parts for entry in [(part.trial, part.side)] * len(part.time)]
    emg = fit.emg.emg
    arrays: dict[str, Any] = {
        "value": (("parameter",), fit.theta),
        "low": (("parameter",), intervals[:, 0]),
        "high": (("parameter",), intervals[:, 1]),
        "agreement": (("cost", "channel"), beside.correlation),
        "missed": (("cost", "channel"), beside.missed),
        "left_out_agreement": (
            ("cost", "left_out"),
            _joined([test.correlation for _, test in tests], beside),
        ),
        "left_out_missed": (("cost", "left_out"), _joined([test.missed for _, test in tests], beside)),
        "envelope": (("frame", "channel"), emg),
        "fitted": (("frame", "channel"), np.where(np.isfinite(emg), fit.predicted(), np.nan)),
    }
    coords = {
        "parameter": list(fit.family.parameters),
        "channel": list(fit.channels),
        "cost": list(beside.costs),
        "left_out": [_named(label, parts) for _, test in tests for label in test.of],
        "kind": (("left_out",), np.array([by for by, test in tests for _ in test.of], dtype=object)),
        "time": (("frame",), np.concatenate([part.time for part in parts])),
        "trial": (("frame",), [trial for trial, _ in cells]),
        "side": (("frame",), [of for _, of in cells]),
    }
    rounded = fit.family.make(np.array([float(f"{value:.4g}") for value in fit.theta]))
    return xr.Dataset(arrays, coords, {"fitted_cost": rounded.label, "sentences": "\n".join(sentences)})


def _named(label: str, parts: Sequence[EmgPart]) -> str:
    """The label of a stride with trial and side in the place of the number of the problem."""
    stride, _, number = label.partition(" of problem ")
    if not number:
        return label
    part = parts[int(number) - 1]
    return f"{stride} of {part.trial}, {part.side}"


def _joined(arrays: Sequence[Array], beside: Agreement) -> Array:
    return np.concatenate(arrays, axis=1) if arrays else np.empty((len(beside.costs), 0))

"""A recording through `Live`, sample by sample, and the result in the form of `run`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, Indices, nearest_known, stretch
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.checks import check_number
from musclesolve._util.messages import Progress, no_progress, with_sizes
from musclesolve._util.splines import spline_through
from musclesolve.apps.live.live import Frame, Live
from musclesolve.apps.live.stream import Sample
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.kinematics.pose_fit import Fit, Rest
from musclesolve.errors import input_error
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.bodies.mechanics import Mechanics
from musclesolve.laboratory.bodies.recorded_body import RecordedBody, recorded_body
from musclesolve.laboratory.checks.check import findings_of
from musclesolve.laboratory.motion.ground_reaction import GroundReaction
from musclesolve.laboratory.recording.data import SIDES, AnyTrial, Trial
from musclesolve.laboratory.results.dataset.assemble import assemble
from musclesolve.laboratory.results.finding import Finding, sorted_findings
from musclesolve.laboratory.results.plausibility import with_verdict
from musclesolve.models.body import EVERY
from musclesolve.models.body_sharing import share
from musclesolve.sharing.status import Status, is_solved

SAME_RATE = 1e-3
"""Difference below which two rates are equal, because the times of files are rounded."""


def samples(live: Live, trial: Trial, rate: float | None = None) -> Iterator[Sample]:
    """The samples of a recording at the times of its markers, each with the newest of every plate.

    Args:
        live: to which they go: names and order of markers, plates and EMG.
        trial: the recording.
        rate: samples a second; between its frames markers are interpolated by cubic splines, except beside a frame in
            which a marker is hidden. None: the rate of the recording.

    Raises:
        InputError: a recording without the markers, or with other plates than the stream of `live` has.
    """
    if missing := [name for name in live.markers if name not in trial.markers]:
        raise input_error(
            "missing_column",
            problem=f"{trial.markers.path} has no marker '{missing[0]}'",
            expected=f"the markers {', '.join(map(str, live.markers))}",
            remedy="replay a recording with the marker set of the trial file",
        )
    if len(trial.forces) != len(live.plates):
        raise input_error(
            "conflict",
            problem=f"{len(trial.forces)} plates in {trial.path}, {len(live.plates)} of the stream",
            expected="as many plates",
            remedy="make `Live` from this trial, or state its plates",
        )
    time = trial.markers.time
    markers = np.stack([trial.markers[name] for name in live.markers], axis=1)
    if rate is not None and abs(rate / trial.markers.rate - 1.0) > SAME_RATE:
        finer = time[0] + np.arange(int((time[-1] - time[0]) * rate + 1e-6) + 1) / rate
        markers = np.stack([_interpolated(time, path, finer) for path in np.swapaxes(markers, 0, 1)], axis=1)
        time = finer
    plates = np.full((len(time), len(trial.forces), 9), np.nan)
    for k, plate in enumerate(trial.forces):
        newest = np.searchsorted(plate.time, time + 1e-9, side="right") - 1
        measured = (newest >= 0) & (time <= plate.time[-1] + 1.0 / plate.rate)
        of_plate = np.concatenate([plate.force, plate.point, plate.moment], axis=1)
        plates[measured, k] = of_plate[newest[measured]]
    emg = None if live.body.emg is None or not live.channels else live.body.emg.at(time)
    for k in range(len(time)):
        yield Sample(float(time[k]), markers[k], plates[k], None if emg is None else emg[k])


def _interpolated(time: Array, position: Array, at: Array) -> Array:
    """Positions (S, 3) of a marker (T, 3) at times between its frames; NaN beside frames where it is hidden."""
    seen = np.isfinite(position).all(axis=1)
    if seen.sum() < 2:
        return np.full((len(at), 3), np.nan)
    values: Array = spline_through(time[seen], position[seen])(at)
    values[np.interp(at, time, (~seen).astype(float)) > 1e-9] = np.nan
    return values


class PassedFrames(Sequence[Frame]):
    """Frames of samples in their order: numbers (T, ...) of all by attribute, what else each frame holds by frame."""

    def __init__(self, live: Live, samples: Iterator[Sample], count: int) -> None:
        self.numbers, self._others = dict[str, AnyArray](), list[dict[str, Any]]()
        alike = dict[tuple[Any, ...], dict[str, Any]]()  # most frames hold the same
        for number, sample in enumerate(samples):
            values = dict(vars(live.step(*sample)))
            if not number:
                self.numbers = {
                    name: np.empty((count, *np.shape(value)), np.asarray(value).dtype)
                    for name, value in values.items()
                    if isinstance(value, float | np.ndarray)
                }
            for name, array in self.numbers.items():
                array[number] = values.pop(name)
            self._others.append(alike.setdefault(tuple(values.values()), values))

    def __len__(self) -> int:
        return len(self._others)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[k] for k in range(len(self))[place]]
        return Frame(**{name: array[place] for name, array in self.numbers.items()}, **self._others[place])


@dataclass(frozen=True, eq=False)
class Replay:
    """The frames of a recording that went through `live`, in the order of its samples.

    elapsed: time from the first sample to the last frame [s]. findings: what was wrong with the samples, in the words
    of `musclesolve check`.
    """

    live: Live
    frames: PassedFrames
    elapsed: float
    findings: tuple[Finding, ...] = ()

    __repr__ = with_sizes

    @property
    def seconds(self) -> Array:
        """(T,) time that each step took [s]."""
        return self.stacked("seconds")

    @property
    def sentence(self) -> str:
        """Speed of the replay and number of usable frames, in a sentence."""
        median, slowest = 1e3 * np.quantile(self.seconds, [0.5, 0.999])
        rate = len(self.frames) / self.seconds.sum()
        valid = int(is_solved(self.stacked("status")).all(axis=1).sum())
        return (
            f"Live: {len(self.frames)} frames, {valid} of them valid, {rate:.0f} frames a second; "
            f"{median:.2f} ms a frame (median), 99.9 % within {slowest:.2f} ms; {1e3 * self.live.lag:g} ms behind the "
            "newest sample."
        )

    def stacked(self, name: str, frames: slice | Indices = EVERY) -> Array:
        """A number or array of all frames, or of some, (T, ...)."""
        return self.frames.numbers[name][frames]

    @property
    def result(self) -> xr.Dataset:
        """The result of a replay with the variables of `run`: the live frames whose motion is known.

        Angles, moments, activations, forces, status and certificate are taken from the frames. What a frame does not
        hold (velocities of fibers, knee contacts, drawings) is computed from its coordinates and ground reactions by
        the functions that the frames were computed with. Gait events are taken from the recording.
        """
        live, body = self.live, self.live.body
        trial = body.trial
        known = np.isfinite(self.stacked("coordinates")).all(axis=1)
        chosen = np.flatnonzero(known & trial.inside(self.stacked("time"), *trial.time_range))
        frames = stretch(chosen)
        if not len(chosen):
            raise input_error(
                "too_few_frames",
                problem=f"no live frame of {trial.path} from {trial.time_range[0]:g} to "
                f"{trial.time_range[1]:g} s has a motion",
                expected="samples from before the time range on, with all needed markers",
                remedy="begin the recording earlier, or lower the lag",
            )
        time, coordinates, rates, second, wrench = (
            self.stacked(name, frames) for name in ("time", "coordinates", "rates", "accelerations", "wrench")
        )
        model, first = live.model, body.mechanics
        motion = motion_from(model, time, coordinates, rates, second)
        pushed = np.nan_to_num(wrench)
        reactions = list[GroundReaction]()
        for ground in first.reactions:
            k, heights = SIDES.index(ground.side), nearest_known(ground.center_of_pressure[:, 2])
            force, moment = pushed[:, k, :3], pushed[:, k, 3:]
            at = center_of_pressure(force, moment, np.interp(time, first.motion.time, heights))
            reactions.append(GroundReaction(ground.side, force, moment, at))
        joints = coordinates[:, : model.tree.joint_count]
        rest = Rest(joints, np.zeros_like(joints))
        shift = self.stacked("shift", frames)
        fit = Fit(coordinates, partial(getattr, motion, "q"), shift, first.fit.points, rest, first.fit.locked)
        placed, turned = (
            {name: motion.q[:, model.slot(name)] for name in names}
            for names in (first.measured.points, first.measured.directions)
        )
        measured = replace(first.measured, time=time, points=placed, directions=turned)
        mechanics = Mechanics(measured, model, fit, motion, reactions, first.predicted)
        block = _with_moments(recorded_body(trial, body.options, mechanics), live, frames, self)
        analysis = _with_solutions(share(block), frames, self)
        of_recording = [
            # live forces are predicted without the future, and have errors of their own in the findings of the samples
            entry
            for entry in findings_of(body, trial)
            if not (live.predicts and entry.code == "predicted_forces")
        ]
        stated = {(entry.code, entry.where.markers) for entry in of_recording}
        of_samples = [entry for entry in self.findings if (entry.code, entry.where.markers) not in stated]
        result = with_verdict(assemble(analysis, sorted_findings([*of_recording, *of_samples])))
        lost = int((self.stacked("status") == Status.INTERRUPTED).any(axis=1).sum())
        notes = [str(note) for note in np.atleast_1d(result.attrs.get("notes", []))]
        result.attrs["notes"] = [self.sentence, f"{lost} samples gave no frame.", *notes]
        result.attrs |= {"live_lag_s": live.lag, "live_cutoff_hz": live.cutoff}
        return result


def replay(
    trial: AnyTrial | str | Path,
    live: Live | None = None,
    rate: float | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Replay:
    """Pass every sample of a recording, in order, through `Live`.

    Args:
        trial: trial file of a recording, or the trial.
        live: through which they go; made of the trial with `settings` (arguments of `Live`) unless given.
        rate: samples a second, by the clock; None: the next sample as soon as one is done.
        progress: called with the name of the stage and the share of the work that is done.

    Returns:
        The frames with their times, and the `Live`.

    Raises:
        InputError: what `Live` or `samples` refuses; a rate that is not above zero.

    Examples:
        >>> played = ms.apps.live.replay(ms.data.reference_stride())
        >>> bool(played.frames[-1].valid.all())
        True
    """
    report = progress or no_progress
    if rate is not None:
        check_number(rate, "rate", "samples a second, above zero", above=0.0)
    report("preparation", 0.05)
    live = Live(trial, **settings) if live is None else live
    source = trial if isinstance(trial, Trial) else live.trial
    live.warm_up()
    count, begun = len(source.markers.time), perf_counter()

    def in_time() -> Iterator[Sample]:
        for number, sample in enumerate(samples(live, source)):
            if rate is not None:
                sleep(max(0.0, begun + number / rate - perf_counter()))
            if number % 100 == 0:
                report("live", 0.1 + 0.8 * number / count)
            yield sample

    return Replay(live, PassedFrames(live, in_time(), count), perf_counter() - begun, live.findings)


def _with_moments(block: RecordedBody, live: Live, frames: slice | Indices, replayed: Replay) -> RecordedBody:
    """The body with the moments of the frames, NaN where they were not measured."""
    moments = block.moments.copy()
    row = live.model.topology.dof_index
    moments[:, [row[dof] for dof in live.dofs]] = replayed.stacked("moment", frames)
    moments[:, live.model.tree.joint_count :] = replayed.stacked("pelvis_residual", frames)
    moved = [moments[:, [row[dof] for dof in part.dofs]] for part in block.parts]
    parts = tuple(replace(part, moment=moment) for part, moment in zip(block.parts, moved, strict=True))
    return replace(block, moments=moments, parts=parts, known_gait=live.body.gait)


def _with_solutions(
    analysis: MeasuredAnalysis, frames: slice | Indices, replayed: Replay
) -> MeasuredAnalysis:
    """The analysis with activations, forces, reserves, status and certificate of the frames."""
    activation, tension = (replayed.stacked(name, frames) for name in ("activation", "force"))
    of_sides: dict[str, Any] = {
        name: replayed.stacked(name, frames)
        for name in ("status", "gap", "moment_error", "cost", "cost_bound", "reserve")
    }
    parts = []
    for number, (part, columns) in enumerate(zip(analysis.parts, analysis.columns, strict=True)):
        solution = replace(
            part.solution,
            activation=activation[:, stretch(columns)],
            force=tension[:, stretch(columns)] - part.state.passive_force,
            **{name: values[:, number] for name, values in of_sides.items()},
        )
        parts.append(replace(part, solution=solution))
    return replace(analysis, parts=tuple(parts))

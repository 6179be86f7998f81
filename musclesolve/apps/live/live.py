"""Forces of muscles and joints while the subject moves, one frame after the other, computed as `run` computes them.

Constant data are computed before the first frame, as for a recording: the trial file gives subject, mapping and
standing trial, and from these follow posture, model, muscle paths and parameters. Then each sample takes three steps:

1. its markers show a pose, the nearest consistent one (`NearestPose`), from the pose of the sample before;
2. coordinates and ground reactions go through one causal filter (`causal_filter`), which gives positions, velocities
   and accelerations a fixed lag behind the sample;
3. inverse dynamics, muscle paths, sharing and joint reactions of that one frame, by the functions of the offline
   analysis, with its certificate. Without force plates the frame predicts its ground reactions (`FrameReactions`).

`Live.evaluate` is the third step alone: from the filtered coordinates and forces of an offline run it computes the
offline result. Missing samples are bridged for at most `bridge_ms`; unreliable values are NaN, with a status.

`SampleClock` chooses the samples of a stream to take, by their times alone. Samples belong to an even clock that starts
with the first of them: each to the slot that is a whole number of periods after the slot of the sample before, so that
a clock that runs a little fast or slow is followed. What comes twice, late or between two slots is refused; where
samples are lost for longer than is bridged, or refused one after the other because the clock itself has changed, the
next sample is a first one again. A step ahead of more than a second is believed when a second sample follows the first
one there: a single time that is far off is refused.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Mask, vector_product
from musclesolve._util.checks import check_array, check_choice, check_number
from musclesolve._util.messages import count_of, few
from musclesolve.apps.live.causal_filter import CausalFilter
from musclesolve.apps.live.group_frames import group_frames
from musclesolve.apps.live.marker_labels import MarkerLabels, with_right_labels
from musclesolve.apps.live.plate_sides import BareFeet, PlateSides
from musclesolve.apps.live.sample_poses import SamplePoses
from musclesolve.dynamics.inverse.force_balance import BALANCE_LIMIT, Support
from musclesolve.dynamics.inverse.newton_euler import distal_loads, generalized_loads
from musclesolve.dynamics.inverse.predicted_reactions import FrameReactions
from musclesolve.dynamics.kinematics.motion_derivatives import moving_bodies
from musclesolve.laboratory.bodies.emg_informed import follows_emg
from musclesolve.laboratory.bodies.mechanics import carries_foot
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.bodies.run_options import check_consistent, check_rigid
from musclesolve.laboratory.forces import prepare_recording, recording_of
from musclesolve.laboratory.recording.command_settings import LAG_MS
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, AnyTrial, Side, Trial
from musclesolve.laboratory.results.finding import Finding, Where, finding, sorted_findings
from musclesolve.models.muscle_pulls import MuscleJoints
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.scaling.scale_muscles import joined
from musclesolve.sharing.solver.kernel_problem import compile_kernel
from musclesolve.sharing.status import Status, is_solved

OFF_GRID = 0.25
"""Largest deviation of a sample from its time, as a share of a period; a sample farther off is refused."""

LONGEST_JUMP = 1.0
"""Step ahead above which a second sample has to confirm it [s]."""


class Taken(NamedTuple):
    """Treatment of a sample.

    slots: periods since the last accepted sample; 0 for a first one, and where unknown. anew: earlier samples are no
    longer of use. refusal: reason of a refusal, "" for an accepted sample.
    """

    slots: int = 0
    anew: bool = False
    refusal: str = ""


class SampleClock:
    """The slots of a stream.

    Args:
        rate: samples a second [Hz].
        bridge: longest time without samples after which a stream goes on [s].
    """

    def __init__(self, rate: float, bridge: float) -> None:
        self._rate, self._most = rate, bridge * rate
        self.clear()

    def clear(self) -> None:
        """The next sample is the first one."""
        self._newest, self._refused = np.nan, 0  # time of the newest taken [s]; how many since were refused
        self._ahead = np.nan  # time of the last refused one that came far ahead [s]

    def take(self, time: float) -> Taken:
        """Note the time of a sample [s], and say whether it is taken."""
        if not np.isfinite(time):
            return Taken(refusal="a sample without a time was refused")
        if self._refused > self._most:  # the clock has changed
            self.clear()
            self._newest = time
            return Taken(anew=True)
        slots, anew = 0, False
        if not np.isnan(self._newest):
            periods = (time - self._newest) * self._rate
            slots = round(periods)
            anew = slots - 1 > self._most + 1e-9
            if slots < 1:
                self._refused += 1
                return Taken(
                    refusal=f"the sample of {time:.4f} s came after the sample of {self._newest:.4f} s and was refused"
                )
            follows = self._ahead < time and round((time - self._ahead) * self._rate) - 1 <= self._most + 1e-9
            if anew and slots > LONGEST_JUMP * self._rate and not follows:
                self._ahead, self._refused = time, self._refused + 1
                return Taken(
                    refusal=f"the sample of {time:.4f} s came {time - self._newest:.4g} s after the last one and was "
                    "refused until another one follows it; times are read in seconds"
                )
            if not anew and abs(periods - slots) > OFF_GRID:
                self._refused += 1
                return Taken(
                    refusal=f"the sample of {time:.4f} s is not {self._rate:g} times a second and was refused"
                )
        self._newest, self._ahead, self._refused = time, np.nan, 0
        return Taken(slots, anew)


MOST_ENVELOPE = 5.0
"""An envelope of EMG of more times the maximum is in another unit, such as percent, or a disturbance."""


class StreamEmg:
    """Envelopes of k channels over time.

    Args:
        body: the trial with its channels; without any where the cost does not follow EMG.
        bridge: longest time between samples over which envelopes are interpolated [s].
    """

    def __init__(self, body: RecordedBody, bridge: float) -> None:
        self._emg = body.emg if follows_emg(body.options.sharing.cost) else None
        self.channels = () if self._emg is None else self._emg.channels
        self._muscles, self._bridge = body.muscles, bridge
        self._envelopes = deque[tuple[float, Array]]()  # with their times [s]

    def clear(self) -> None:
        """Forget all samples."""
        self._envelopes.clear()

    def take(self, time: float, emg: ArrayLike) -> list[str]:
        """Keep the envelopes (k,) of a sample; a note where one cannot be."""
        envelopes = check_array(emg, "emg", (len(self.channels),), finite=False, real=True)
        odd = np.abs(envelopes) > MOST_ENVELOPE
        # a new array: the caller may use its own for the next sample
        self._envelopes.append((time, np.where(odd, np.nan, envelopes)))
        those = [self.channels[k] for k in np.flatnonzero(odd)]
        return [f"EMG of {few(those)} is no share of the maximum, 0 to 1, and was left out"] if those else []

    def expected(self, at: float) -> tuple[Array | None, list[str]]:
        """Activations (N,) that EMG lets expect at a time [s], None without a cost that follows it; notes."""
        if self._emg is None:
            return None, []
        at -= self._emg.delay
        envelopes = self._envelopes
        while len(envelopes) > 1 and envelopes[1][0] <= at:
            envelopes.popleft()
        value = np.full(len(self.channels), np.nan)
        if len(envelopes) > 1 and envelopes[0][0] <= at:
            (first, low), (last, high) = envelopes[0], envelopes[1]
            if last - first <= self._bridge:
                value = low + (high - low) * (at - first) / (last - first)
        missing = [self.channels[k] for k in np.flatnonzero(np.isnan(value))]
        notes = [f"no EMG of {few(missing, 3)} came in time"] if missing else []
        if len(missing) == len(value):
            notes = ["no EMG came in time: forces follow the cost alone"]
        return self._emg.of_muscles(value[None], self._muscles)[0], notes


FILLING = "too few samples for the filter yet"
"""Note of a frame while the window of the filter is not full."""
NOT_CARRIED = (
    "the feet cannot supply what the motion requires: see whether a marker jumps, the floor is where the recording of "
    "the trial has it, or something else carries the body"
)
"""What a frame notes where ground reactions are predicted and the feet do not carry the body."""
UNBALANCED = "the ground forces do not balance the motion: see whether every plate measures, and its zero"
NOT_PLAUSIBLE = "a joint rotates implausibly fast, or a foot lies far from where it was measured"
"""What a frame of `INVALID_MOTION` notes."""
BRIDGED_FORCES = 1.0 / 30.0
"""Longest hole in ground forces that is bridged [s], for forces change faster than poses. Across a heel strike a muscle
force is then off by up to 9 % of the largest one, after a hole of 0.05 s by 16 %."""
PEAK_HALF_LIFE = 2.0
"""Half-life of the largest ground force, by which residuals are judged [s]."""


@dataclass(frozen=True, eq=False)
class Frame:
    """One frame: the values of `run`, in the order of the names of `Live`; NaN where unknown.

    time: of the frame [s], the lag before the time of the sample. coordinates, rates, accelerations: (K+6,) of the
    model [rad, m]; wrench (2, 6): ground reaction on the right and the left foot [N] and its moment about the global
    origin [N m]; angle, moment (M,) [rad, N m] over `dofs`; pelvis_residual (6,) [N, N m]; musculotendon_length (N,)
    [m], activation (N,), force (N,) [N] of the tendons over `muscles`; joint_reaction (J, 3) [N], global frame, over
    `joints`. status, gap, moment_error, cost, cost_bound (S,) over `sides`, reserve (S, m) [N m] of the shared degrees
    of freedom.
    seconds: time that the step took. shift (p,): how far the pose of the newest sample moved each measured point [m].
    notes: sentences on missing or corrected data. taken: treatment of the sample by its time. left_out: names of the
    markers of the newest sample that were off their places. faults: notes that say which markers are off, and why.
    """

    time: float
    coordinates: Array
    rates: Array
    accelerations: Array
    wrench: Array
    angle: Array
    moment: Array
    pelvis_residual: Array
    musculotendon_length: Array
    activation: Array
    force: Array
    joint_reaction: Array
    status: NDArray[np.int8]
    gap: Array
    moment_error: Array
    cost: Array
    cost_bound: Array
    reserve: Array
    seconds: float
    shift: Array
    notes: tuple[str, ...]
    taken: Taken
    left_out: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def valid(self) -> NDArray[np.bool_]:
        """(S,) which sides may be used: SOLVED or SOLVED_WITH_RESERVE."""
        return is_solved(self.status)

    @property
    def failed(self) -> bool:
        """Whether a leg whose forces were measured has no valid solution; not while the filter fills."""
        measured = self.status[self.status != Status.NOT_MEASURED]
        return self.notes != (FILLING,) and not is_solved(measured).all()


class Live:
    """Muscle and joint forces frame by frame, from past samples alone.

    Args:
        trial: trial file of a recording, or the trial. Static trial and mapping as offline; its motion shows the
            lengths of trunk and arms and which body carries which marker, its plates are the stream's.
        cost: name of a cost, or a Cost; the trial file's unless given.
        side: "r", "l" or "both".
        rate_hz: samples a second; the rate of the trial's markers unless given.
        lag_ms: how far results are behind the newest sample [ms].
        cutoff_hz: cut-off of the causal filter [Hz]; the trial file's unless given.
        bridge_ms: longest time that lost samples, or markers that only the motion shows, are bridged [ms].
        plates: of each plate of the stream "r", "l", or None where the foot is found contact by contact; the feet of
            the [[force]] tables of the trial unless given. None where the trial file has forces = "predicted".

    Attributes:
        dofs, muscles, joints, sides, shared: names in the order of a Frame.
        markers: names of the n markers of a sample. plates: feet of the P plates of a sample. channels: names of the k
            channels of EMG of a sample, where the cost follows EMG.
        body: the trial as `run` prepares it, with the labels right. marker_bodies: the body of the model on which each
            marker is. labels: whether the markers of the samples are where their labels say. predicts: whether ground
            reactions are predicted from the motion, because there are no plates. empty_plates: (P,) plates that show
            no load under a foot which stands where they have carried it, in the newest frame.

    Raises:
        InputError: a trial that cannot be analyzed or has elastic tendons, a motion that is not made consistent by the
            nearest pose; a rate, lag or cut-off that cannot be.

    Examples:
        >>> live = ms.apps.live.Live(ms.data.reference_stride(), side="r", lag_ms=25)
        >>> live.sides, live.dofs[3], len(live.muscles)
        (('r',), 'knee_flexion_r', 43)
    """

    optional: frozenset[str] = frozenset()  # of the markers, those that a stream need not have

    def __init__(
        self,
        trial: AnyTrial | str | Path,
        cost: str | None = None,
        side: str = "both",
        rate_hz: float | None = None,
        lag_ms: float = LAG_MS,
        cutoff_hz: float | None = None,
        bridge_ms: float = 50.0,
        plates: Sequence[Side | None] | None = None,
    ) -> None:
        recording = recording_of(trial, "live muscle forces")
        _check_live(recording, plates)
        self.trial, self.document = recording, recording.document
        recording, self._of_trial = with_right_labels(recording)
        self.body: RecordedBody = prepare_recording(recording, cost, None, side)
        self.dofs, self.muscles, self.joints = self.body.dofs, self.body.muscles, self.body.joints
        self.sides, self.shared = self.body.options.sides, self.body.options.dofs
        self.markers = recording.used_markers
        self.plates = tuple(plate.side for plate in recording.forces) if plates is None else tuple(plates)
        self.predicts = recording.settings.files.predicted
        self.rate = (
            recording.markers.rate
            if rate_hz is None
            else check_number(rate_hz, "rate_hz", "samples a second, above zero", above=0.0)
        )
        # the median of the cut-offs that the recording shows, or the one of the trial file
        stated_cutoff = self.body.mechanics.measured.filter.cutoff_hz
        self.cutoff = float(np.median(stated_cutoff)) if cutoff_hz is None else cutoff_hz
        self.lag = 1e-3 * check_number(lag_ms, "lag_ms", "milliseconds, zero or more", least=0.0)
        self.bridge = 1e-3 * check_number(bridge_ms, "bridge_ms", "milliseconds, zero or more", least=0.0)

        mechanics = self.body.mechanics
        self.model = mechanics.model
        self._poses = SamplePoses(recording, mechanics, self.rate, self.bridge)
        self.marker_bodies = self._poses.marker_bodies
        self.labels = MarkerLabels(recording, self.markers, self._poses.walk, self.rate, self._poses.moves)
        self._feet = np.array([self.model.body(f"foot_{side}") for side in SIDES])
        self._emg = StreamEmg(self.body, max(self.bridge, 1.5 / self.rate))
        self.channels = self._emg.channels
        self._beyond = np.array([carries_foot(self.model, side) for side in SIDES])
        self._dof_rows = np.array([self.model.dof(dof) for dof in self.dofs])
        self._weight = self.model.weight

        count = len(self.model.topology.dof_names)
        self._muscles = joined(self.body.placed)
        self._muscle_joints = MuscleJoints(self.model, self._muscles)
        self._muscle_rows = np.array([self.model.dof(dof) for dof in self._muscles.dof_names])
        rows_of_parts = [[self.model.dof(dof) for dof in part.dofs] for part in self.body.parts]
        self._feet_of_parts = np.array([self._beyond[:, rows].any(axis=1) for rows in rows_of_parts])
        self._together = group_frames(self.body.parts, self.body.sharing)
        self._coordinates = CausalFilter(count, self.rate, self.cutoff, self.lag, self.bridge)
        bridged = min(self.bridge, BRIDGED_FORCES)
        self._wrenches = tuple(CausalFilter(6, self.rate, self.cutoff, self.lag, bridged, 0) for _ in SIDES)
        self._assigned = PlateSides(self.plates, recording.unloaded_below, self._weight, self.rate)
        self._bare = BareFeet(recording, mechanics, self._poses.feet, self.rate)
        self._clock = SampleClock(self.rate, self.bridge)
        self._reactions = FrameReactions(self.model, mechanics.motion) if self.predicts else None
        self.clear()

    def __repr__(self) -> str:
        """Return a description of the stream in a line."""
        return (
            f"<Live {str(self.trial.path)!r}: {len(self.markers)} markers and {count_of(len(self.plates), 'plate')} at "
            f"{self.rate:g} Hz, {len(self.muscles)} muscles {1e3 * self.lag:g} ms behind>"
        )

    @property
    def stuck_plates(self) -> Mask:
        """Plates (P,) that have repeated the numbers of a load up to the newest sample."""
        return self._assigned.stuck

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings on the labels and places of the markers, of the trial and of all samples since `clear`."""
        return self.findings_since(0.0)

    def findings_since(self, start: float) -> tuple[Finding, ...]:
        """The findings, with times of samples that count from `start` [s], the time of a sample."""
        of_samples = [entry.since(start) for entry in self.labels.findings]
        exchanged = {entry.where.markers for entry in of_samples}
        # findings that the samples show, too, are reported once
        of_trial = [entry for entry in self._of_trial if tuple(sorted(entry.where.markers)) not in exchanged]
        if self.predicts:
            place = Where(self.trial.path, self.document.line("files", "forces"), "[files] forces")
            of_trial.append(finding("predicted_forces.live", "warning", {}, place))
        return sorted_findings([*of_trial, *of_samples])

    @property
    def noise_gain(self) -> Array:
        """(3,) deviation of coordinates, rates [1/s] and accelerations [1/s2] for white noise of deviation 1."""
        return self._coordinates.noise_gain

    @property
    def ground_heights(self) -> Array:
        """(2,) height of the ground under the right and the left foot [m], by the recording; 0 where it shows none."""
        under = {ground.side: ground.center_of_pressure[:, 2] for ground in self.body.mechanics.reactions}
        shown = [under.get(side, np.full(1, np.nan)) for side in SIDES]
        return np.array([np.nanmedian(event) if np.isfinite(event).any() else 0.0 for event in shown])

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Attribute of a Frame -> shape of its array of numbers."""
        coordinates, sides = (len(self.model.topology.dof_names),), (len(self.sides),)
        return {
            **dict.fromkeys(("coordinates", "rates", "accelerations"), coordinates),
            "wrench": (2, 6),
            **dict.fromkeys(("angle", "moment"), (len(self.dofs),)),
            "pelvis_residual": (6,),
            **dict.fromkeys(("musculotendon_length", "activation", "force"), (len(self.muscles),)),
            "joint_reaction": (len(self.joints), 3),
            **dict.fromkeys(("gap", "moment_error", "cost", "cost_bound"), sides),
            "reserve": (*sides, len(self.shared)),
        }

    def clear(self) -> None:
        """Forget all samples; the next one is the first."""
        self._clock.clear()
        # added to times of a clock that went back; newest time of `labels`
        self._later, self._labeled = 0.0, -np.inf
        self.labels.clear()
        self._forget()

    def _forget(self) -> None:
        """Restart with the sample that the clock has taken."""
        self.labels.begin_anew()
        self.empty_plates = np.zeros(len(self.plates), bool)
        self._poses.clear()
        self._bare.clear()
        self._emg.clear()
        for signal_filter in (self._coordinates, *self._wrenches):
            signal_filter.clear()
        self._peak_force = 0.0  # largest ground force of the last seconds, fading [N]
        # markers of the newest sample that were off, and why
        self._left_out, self._faults = tuple[str, ...](), tuple[str, ...]()
        if self._reactions is not None:
            self._reactions.clear()

    def warm_up(self) -> float:
        """Compile and load everything with a frame of the trial; returns how long that took [s]."""
        begun = perf_counter()
        compile_kernel()  # all of it: no frame of a session waits for what frames before it did not need
        motion, walk = self.body.mechanics.motion, self._poses.walk
        self.pose(walk[len(walk) // 2])
        middle = len(motion.time) // 2
        state = motion.coordinates[middle], motion.rates[middle], motion.second[middle]
        self.evaluate(motion.time[middle], *state, None if self.predicts else np.zeros((2, 6)))
        self.clear()
        return perf_counter() - begun

    def step(self, time: float, markers: ArrayLike, plates: ArrayLike, emg: ArrayLike | None = None) -> Frame:
        """The frame a lag behind a new sample.

        Args:
            time: of the sample [s]. A sample that does not come after the last one is refused.
            markers: positions (n, 3) [m] of `markers`, global frame (x forward, y left, z up); NaN where hidden.
            plates: (P, 9) of `plates`: force [N], its point of application [m] and the moment about that [N m], global
                frame, on the foot. NaN where not measured; the point may be anything while unloaded.
            emg: (k,) envelopes of `channels`, 1 at the maximum; NaN where not measured.

        Raises:
            InputError: arrays of another shape, or what is no number.
        """
        begun = perf_counter()
        time = float(check_array(time, "time", (), finite=False, real=True))
        markers = check_array(markers, "markers", (len(self.markers), 3), finite=False, real=True)
        plates = check_array(plates, "plates", (len(self.plates), 9), finite=False, real=True)
        taken = self._clock.take(time)
        if taken.refusal:
            return self._interrupted(time - self.lag, begun, (taken.refusal,), taken)
        if taken.anew:
            self._forget()
        else:
            for signal_filter in (self._coordinates, *self._wrenches) * (taken.slots - 1):
                signal_filter.push(None)
            if taken.slots > 1:
                self.labels.skip()
        if taken.anew and time + self._later <= self._labeled:  # the clock of the sender went back
            self._later = self._labeled + 1.0 / self.rate - time
        self._labeled = time + self._later
        markers = self.labels.mended(self._labeled, markers)
        self._left_out, self._faults = self.labels.left_out, self.labels.sentences
        notes = list(self._faults)
        if self.channels and emg is not None:
            notes += self._emg.take(time, emg)

        coordinates, feet, note = self._poses.take(time, markers)
        if note:
            self.labels.count_lost()
            notes += [note]
        wrench, note = self._assigned.wrenches(plates, feet)
        notes += [note] if note else []
        self._coordinates.push(coordinates)
        for one, row in zip(self._wrenches, wrench, strict=True):
            one.push(row)
        notes += [
            f"{FILLING}: forces on the {SIDE_NAMES[side]} foot"
            for side, one, row in zip(SIDES, self._wrenches, wrench, strict=True)
            if np.isfinite(row).all() and self._coordinates.ready and not one.ready
        ]
        if not self._coordinates.ready:
            return self._interrupted(time - self.lag, begun, (*notes, FILLING), taken)
        at = time - self.lag
        forces = (
            None
            if self.predicts
            else np.stack([one.value()[0] if one.ready else np.full(6, np.nan) for one in self._wrenches])
        )
        coordinates, rates, accelerations = self._coordinates.value()
        state = coordinates, rates, accelerations, forces
        expected, of_emg = self._emg.expected(at)
        plausible, notes = self._poses.plausible(at), [*notes, *of_emg]
        return self._frame(at, state, expected, plausible, begun, tuple(notes), taken)

    def evaluate(
        self,
        time: float,
        coordinates: Array,
        rates: Array,
        accelerations: Array,
        wrench: Array | None = None,
        expected: Array | None = None,
    ) -> Frame:
        """The frame of filtered coordinates and ground reactions, as `run` evaluates it.

        Args:
            time: of the frame [s].
            coordinates, rates, accelerations: (K+6,) of the model and their time derivatives [rad, m].
            wrench: (2, 6) force on the right and the left foot [N] and its moment about the global origin [N m]; NaN
                of a foot that was not measured. None: predicted, where the trial has no plates.
            expected: (N,) activations that EMG lets expect, for a cost that follows EMG; none were measured unless
                given.
        """
        begun = perf_counter()
        if expected is None:
            emg = np.full(len(self.muscles), np.nan) if self.channels else None
        else:
            emg = np.asarray(expected, float)
        if wrench is None and not self.predicts:
            wrench = np.full((2, 6), np.nan)
        state = coordinates, rates, accelerations, None if wrench is None else np.asarray(wrench, float)
        return self._frame(time, state, emg, None, begun, (), Taken())

    def pose(self, markers: ArrayLike, near: Array | None = None) -> tuple[Array, Array]:
        """The nearest consistent pose of one frame of markers.

        Args:
            markers: (n, 3) [m] of `markers`, all of them seen.
            near: (K+6,) a pose to start from, with which angles go on; None: from standing.

        Returns:
            Coordinates (K+6,) and how far each measured point was moved, (p,) [m].

        Raises:
            MuscleSolveError: no pose fits.
        """
        return self._poses.fitted(np.asarray(markers, float), near)[:2]

    def _frame(
        self,
        time: float,
        kinematics: tuple[Array, Array, Array, Array | None],
        expected: Array | None,
        plausible: Mask | None,
        begun: float,
        notes: tuple[str, ...],
        taken: Taken,
    ) -> Frame:
        """Everything of one frame; plausible (2,): feet whose samples were, None where nothing is known of samples.

        kinematics: coordinates, rates, accelerations, and the wrenches of the feet, None where they are predicted.
        """
        model, joints = self.model, self.model.tree.joint_count
        coordinates, rates, accelerations, wrench = kinematics
        motion, bodies = moving_bodies(
            model, np.array([time]), coordinates[None], rates[None], accelerations[None]
        )
        external = np.zeros((1, len(model.topology.bodies), 6))
        predicted = wrench is None
        if wrench is None:
            assert self._reactions is not None
            alone = generalized_loads(model, motion, distal_loads(model, bodies, external))[0, joints:]
            alone[3:] += vector_product(motion.origin[0], alone[:3])
            wrench = self._reactions.wrenches(motion, bodies, alone)
        known = np.asarray(np.isfinite(wrench).all(axis=1))
        external[0, self._feet] = pushed = np.where(known[:, None], wrench, 0.0)
        forces = distal_loads(model, bodies, external)
        moments = generalized_loads(model, motion, forces)
        fading = 0.5 ** (1.0 / (PEAK_HALF_LIFE * self.rate))
        self._peak_force = max(self._peak_force * fading, math.hypot(*(pushed[0, :3] + pushed[1, :3])))
        if plausible is not None and not predicted:
            lost = self._bare.unmeasured(motion.q[0], motion.qd[0], wrench, moments[0, joints + 2])
            bare = [SIDE_NAMES[side] for side, gone in zip(SIDES, lost & known, strict=True) if gone]
            self.empty_plates = self._assigned.empty(motion.q[0][self._poses.feet], lost & known)
            empty = [f"plate {k + 1} shows no load under a foot" for k in np.flatnonzero(self.empty_plates)]
            notes = (*notes, *(empty or [f"no plate carries the {side} foot" for side in bare]))
            known, wrench = known & ~lost, np.where(lost[:, None], np.nan, wrench)
        balanced = True
        if predicted:
            lacking, force = moments[:, joints:], pushed[:, :3].sum(axis=0)[None]
            if not Support.from_wrenches(motion.time, lacking, force, self._weight, None).carries[0]:
                balanced, notes = False, (*notes, NOT_CARRIED)
        elif known.all():
            limit = BALANCE_LIMIT * max(self._weight, self._peak_force)
            balanced = math.hypot(*moments[0, joints : joints + 3]) <= limit
        else:
            moments[:, self._beyond[~known].any(axis=0)] = np.nan
        state = muscle_state(model, self._muscles, motion)
        loads = self._muscle_joints.loads(motion, forces, state, bodies.rotation)
        sound = np.ones(2, bool) if plausible is None else plausible
        if not balanced and not predicted:
            notes = (*notes, UNBALANCED)
        if not sound.all():
            notes = (*notes, NOT_PLAUSIBLE)
        usable = (sound | ~self._feet_of_parts).all(axis=1) & balanced
        of_muscles = moments[0, self._muscle_rows]
        shared, first = [], 0
        for groups in self._together:
            mask = usable[first : first + groups.count]
            shared.append(groups.share(state, loads, of_muscles, mask, expected, self.body.sharing))
            first += groups.count
        parts, reactions = zip(*shared, strict=True)
        solutions = [part.solution for part in parts]
        return Frame(
            time=time,
            coordinates=coordinates,
            rates=rates,
            accelerations=accelerations,
            wrench=wrench,
            angle=coordinates[self._dof_rows],
            moment=moments[0, self._dof_rows],
            pelvis_residual=moments[0, joints:],
            musculotendon_length=state.musculotendon_length[0],
            activation=np.concatenate([solution.activation.ravel() for solution in solutions]),
            force=np.concatenate([part.tension.ravel() for part in parts]),
            joint_reaction=np.concatenate(reactions),
            status=np.concatenate([solution.status for solution in solutions]),
            gap=np.concatenate([solution.gap for solution in solutions]),
            moment_error=np.concatenate([solution.moment_error for solution in solutions]),
            cost=np.concatenate([solution.cost for solution in solutions]),
            cost_bound=np.concatenate([solution.cost_bound for solution in solutions]),
            reserve=np.concatenate([solution.reserve for solution in solutions]),
            **self._beside(begun, notes, taken),
        )

    def _beside(self, begun: float, notes: tuple[str, ...], taken: Taken) -> dict[str, Any]:
        """Attributes of a frame beside its results; begun: clock at the start of the step [s]."""
        said = {"notes": notes, "taken": taken, "left_out": self._left_out, "faults": self._faults}
        return {"seconds": perf_counter() - begun, "shift": self._poses.shift, **said}

    def _interrupted(self, time: float, begun: float, notes: tuple[str, ...], taken: Taken) -> Frame:
        """A frame without any known value."""
        unknown: dict[str, Any] = {name: np.full(shape, np.nan) for name, shape in self.shapes.items()}
        status = np.full(len(self.sides), Status.INTERRUPTED, np.int8)
        return Frame(time=time, **unknown, status=status, **self._beside(begun, notes, taken))


def _check_live(trial: Trial, plates: Sequence[Side | None] | None) -> None:
    """Refuse what is not known frame by frame, and plates of a session whose ground reactions are predicted."""
    if plates and trial.settings.files.predicted:
        raise trial.document.fault(
            "conflict",
            ("files", "forces"),
            f"the ground reactions of this trial are predicted, and {len(plates)} plates of the stream are stated",
            "no plates",
            "leave out --plate, or name the file of the forces in [files] forces",
        )
    for k, side in enumerate(plates or ()):
        if side is not None:
            check_choice(side, f"plates[{k}]", SIDES)
    check_rigid(trial, "live muscle forces")
    check_consistent(trial, "live analysis")
    for key, usual in {"method": "nearest", "derivatives": "constraints", "residual": "kept"}.items():
        stated = trial.settings.consistency[key]
        if stated != usual:
            raise trial.document.fault(
                "conflict",
                ("consistency", key),
                f'live muscle forces with {key} = "{stated}"',
                f'"{usual}", which a frame has by itself',
                f'write {key} = "{usual}", or leave it out',
            )

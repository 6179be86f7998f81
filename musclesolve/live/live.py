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
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Mask, mean_length, vector_product
from musclesolve._util.checks import check_array, check_choice, check_number
from musclesolve._util.message_text import few
from musclesolve.checking.case import Case
from musclesolve.checking.markers.body_distances import (
    labels_exchanged_at_crossings,
    labels_exchanged_between_gaps,
    labels_exchanged_throughout,
)
from musclesolve.checking.repair import Recorded
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.frame_reactions import FrameReactions
from musclesolve.dynamics.inverse.newton_euler import distal_loads, generalized_loads
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import moving_bodies
from musclesolve.dynamics.kinematics.pose_fit import NearestPose, Pose, fit_pose
from musclesolve.dynamics.rotations import angle_between, to_cardan
from musclesolve.errors import MuscleSolveError
from musclesolve.forces import prepare_recording, recording_of
from musclesolve.live.causal_filter import CausalFilter
from musclesolve.live.group_frames import group_frames
from musclesolve.live.marker_bridging import MarkerBodies
from musclesolve.live.marker_labels import MarkerLabels
from musclesolve.live.plate_sides import CARRIES, PlateSides
from musclesolve.live.sample_clock import SampleClock, Taken
from musclesolve.motion.anatomy.anatomy import Following, Seen, check_axes, measured_body
from musclesolve.motion.anatomy.functional_axes import with_functional_axes
from musclesolve.motion.anatomy.joint_centers import between
from musclesolve.motion.anatomy.landmark_positions import MarkerMap, filtered_markers, standing_trial
from musclesolve.motion.motion_plausibility import BALANCE_LIMIT, FOOT, FOOT_LIMIT, REACH, Support, jumps
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.scaling.scale_muscles import joined
from musclesolve.pipeline.emg_informed import follows_emg
from musclesolve.pipeline.mechanics import TIME_MARGIN, carries_foot
from musclesolve.pipeline.recorded_body import MuscleJoints, RecordedBody, group_loads
from musclesolve.pipeline.run_options import check_consistent, check_rigid
from musclesolve.recording.data import SIDE_NAMES, SIDES, AnyTrial, Side, Trial
from musclesolve.recording.plates.foot_contacts import EDGE, FAST, HIGH, IN_PLACE, LOW, SLOW, touch
from musclesolve.recording.schema import Document
from musclesolve.recording.trial.recording_checks import check_sides
from musclesolve.results.finding import Finding, Where, finding
from musclesolve.results.judgement import sorted_findings
from musclesolve.settings.live import LAG_MS
from musclesolve.sharing.kernel.compiled_solver import compile_kernel
from musclesolve.sharing.status import Status, is_solved

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
LEAST_ANGLE_RANGE = 0.35
"""A motion in which no angle of a leg changes by more than this [rad] does not show which body carries which marker."""
LACKING_LIFT = 0.1
"""Upward force, in body weights, that may be missing at the pelvis before a foot near the floor is taken to stand on
something that is not measured; residuals of good recordings are half of it (Hicks et al. 2015)."""
MOST_ENVELOPE = 5.0
"""An envelope of EMG of more times the maximum is in another unit, such as percent, or a disturbance."""
BELT_MEMORY = 1.0
"""Time with a loaded foot over which the velocity of a belt is averaged [s]; it may change."""
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
    `joints`. status, kkt_residual, cost (S,) over `sides`, reserve (S, m) [N m] of the shared degrees of freedom.
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
    kkt_residual: Array
    cost: Array
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


@dataclass
class _Past:
    """State of earlier samples that a sample needs."""

    coordinates: Array | None = None  # its pose (K+6,)
    # how far that moved each measured point (p,) [m]
    shift: Array = field(default_factory=lambda: np.zeros(0))
    step: Array | None = None  # how far it went since the sample before (K+6,)
    base: Array | None = None  # rotation of the pelvis in it (3, 3)
    joints: Array | None = None  # rotations of hips, knees and ankles in it (6, 3, 3)
    guessed_since: float | None = None  # since when a marker is where the motion alone puts it [s]
    not_plausible: Array = field(default_factory=lambda: np.full(2, -np.inf))  # last such sample by foot [s]
    peak_force: float = 0.0  # largest ground force of the last seconds, fading [N]
    # for how many frames each foot is down without a force
    down: Array = field(default_factory=lambda: np.zeros(2))
    # mean velocities of a loaded foot and of the pelvis [m/s], over so many frames and feet
    belt: Array = field(default_factory=lambda: np.zeros((2, 2)))
    loaded: float = 0.0
    left_out: tuple[str, ...] = ()  # markers of its sample that were off
    faults: tuple[str, ...] = ()  # and why
    unmeasured: Mask = field(default_factory=lambda: np.zeros(2, bool))  # whether its contact is on no plate
    envelopes: deque[tuple[float, Array]] = field(default_factory=deque)  # of EMG, with their times [s]

    def lose_pose(self) -> None:
        """Forget the pose: the next one is found without it."""
        self.coordinates = self.step = self.base = self.joints = None


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
        >>> live = ms.Live(ms.data.reference_stride(), side="r", lag_ms=25)
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
        self.trial = recording
        recording, self._of_trial = _with_right_labels(recording)
        self.body: RecordedBody = prepare_recording(recording, cost, None, side)
        self.dofs, self.muscles, self.joints = self.body.dofs, self.body.muscles, self.body.joints
        self.sides, self.shared = self.body.options.sides, self.body.options.dofs
        self.markers = recording.used_markers
        self.plates = tuple(plate.side for plate in recording.forces) if plates is None else tuple(plates)
        self.predicts = recording.settings.files.predicted
        with_emg = self.body.emg is not None and follows_emg(self.body.options.sharing.cost)
        self.channels = self.body.emg.channels if self.body.emg is not None and with_emg else ()
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
        self.model, measured, fit = mechanics.model, mechanics.measured, mechanics.fit
        standing, _ = with_functional_axes(recording, standing_trial(recording))
        walk = filtered_markers(recording, measured.filter, TIME_MARGIN)
        shown = (recording, recording.subject, recording.hip_regression, walk, standing)
        stance = measured_body(*shown, checked=False).stance
        self._map = MarkerMap.from_recording(recording, self.markers, standing)
        seen = Seen.from_markers(self._map, walk.position[:1])
        self._following = Following.from_posture(recording, recording.subject, stance, seen)
        hips = between(measured.points["hip_r"], measured.points["hip_l"])
        self._trunk = mean_length(measured.points["neck_base"] - hips)
        weights = recording.settings.consistency.weights
        self._targets = Targets.build(self.model, measured.points, measured.directions, weights).frames(
            slice(0, 1)
        )
        self._nearest = NearestPose.from_targets(self.model, self._targets)
        self._are_points = self._targets.slots < self.model.topology.point_count
        self._point_slots = self._targets.slots[self._are_points]
        pose = self._bodies(fit.q)
        of_legs = np.any([carries_foot(self.model, side) for side in SIDES], axis=0)[
            : self.model.tree.joint_count
        ]
        moves = bool(np.ptp(fit.coordinates[:, np.flatnonzero(of_legs)], axis=0).max() > LEAST_ANGLE_RANGE)
        self.marker_bodies = (
            MarkerBodies.from_poses(walk.position, *pose)
            if moves
            else MarkerBodies.from_standing(recording, self.model, walk.position, pose)
        )
        self.labels = MarkerLabels.from_trial(recording, self.markers, walk.position, self.rate, moves)
        self._feet_slots = np.array(
            [[self.model.slot(f"{end}_{side}") for end in ("heel", "toe")] for side in SIDES]
        )
        self._feet = np.array([self.model.body(f"foot_{side}") for side in SIDES])
        self._pelvis = self.model.rigid_bodies.slots[self.model.body("pelvis"), 0]
        self._foot_columns = np.array(
            [[fit.points.index(f"{part}_{side}") for part in FOOT] for side in SIDES]
        )
        chain = [f"{name}_{side}" for side in SIDES for name in ("thigh", "shank", "foot")]
        self._links = np.array([self.model.body(name) for name in ("pelvis", *chain)])
        self._beyond = np.array([carries_foot(self.model, side) for side in SIDES])
        self._dof_rows = np.array([self.model.dof(dof) for dof in self.dofs])
        self._weight, self._touch = self.model.mass.total * STANDARD_GRAVITY, touch(recording)

        count = len(self.model.topology.dof_names)
        self._muscles = joined(self.body.placed)
        self._muscle_joints = MuscleJoints.from_model(self.model, self._muscles)
        self._muscle_rows = np.array([self.model.dof(dof) for dof in self._muscles.dof_names])
        rows_of_parts = [[self.model.dof(dof) for dof in part.dofs] for part in self.body.parts]
        self._feet_of_parts = np.array([self._beyond[:, rows].any(axis=1) for rows in rows_of_parts])
        self._together = group_frames(self.body.parts, self.body.sharing)
        self._floor = _floor_heights(fit.q, measured.time, self._feet_slots)
        self._coordinates = CausalFilter(count, self.rate, self.cutoff, self.lag, self.bridge)
        bridged = min(self.bridge, BRIDGED_FORCES)
        self._wrenches = tuple(CausalFilter(6, self.rate, self.cutoff, self.lag, bridged, 0) for _ in SIDES)
        self._assigned = PlateSides(self.plates, recording.unloaded_below, self._weight, self.rate)
        self._clock, self._past = SampleClock(self.rate, self.bridge), _Past()
        self._later, self._labeled = (
            0.0,
            -np.inf,
        )  # added to times of a clock that went back; newest time of `labels`
        self._reactions = FrameReactions(self.model, mechanics.motion) if self.predicts else None
        self.empty_plates = np.zeros(len(self.plates), bool)

    @property
    def unloaded_below(self) -> float:
        """Vertical force under which a plate counts as unloaded [N]."""
        return self.trial.unloaded_below

    @property
    def stuck_plates(self) -> Mask:
        """Plates (P,) that have repeated the numbers of a load up to the newest sample."""
        return self._assigned.stuck

    @property
    def document(self) -> Document:
        """The trial file."""
        return self.trial.document

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings on the labels and places of the markers, of the trial and of all samples since `clear`."""
        return self.findings_since(0.0)

    def findings_since(self, start: float) -> tuple[Finding, ...]:
        """The findings, with times of samples that count from `start` [s], the time of a sample."""
        of_samples = [found.since(start) for found in self.labels.findings]
        exchanged = {found.where.markers for found in of_samples}
        # findings that the samples show, too, are reported once
        of_trial = [found for found in self._of_trial if tuple(sorted(found.where.markers)) not in exchanged]
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
            **dict.fromkeys(("kkt_residual", "cost"), sides),
            "reserve": (*sides, len(self.shared)),
        }

    def _bodies(self, q: Array) -> tuple[Array, Array]:
        """Rotation (T, B, 3, 3) and translation (T, B, 3) [m] of the bodies from standing, in poses q (T, N, 3)."""
        bodies = self.model.rigid_bodies
        rotation = bodies.rotation(q)
        return rotation, q[:, bodies.slots[:, 0]] - np.einsum("tbxy,by->tbx", rotation, bodies.origin)

    def clear(self) -> None:
        """Forget all samples; the next one is the first."""
        self._clock.clear()
        self._later, self._labeled = 0.0, -np.inf
        self.labels.clear()
        self._forget()

    def _forget(self) -> None:
        """Restart with the sample that the clock has taken."""
        self._past = _Past()
        self.labels.begin_anew()
        self.empty_plates[:] = False
        for signal_filter in (self._coordinates, *self._wrenches):
            signal_filter.clear()
        if self._reactions is not None:
            self._reactions.clear()

    def warm_up(self) -> float:
        """Compile and load everything with a frame of the trial; returns how long that took [s]."""
        begun = perf_counter()
        compile_kernel()  # all of it: no frame of a session waits for what frames before it did not need
        mechanics, motion = self.body.mechanics, self.body.mechanics.motion
        walk = filtered_markers(self.trial, mechanics.measured.filter, TIME_MARGIN)
        self.pose(walk.position[len(walk.time) // 2])
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
        past = self._past
        if taken.anew and time + self._later <= self._labeled:  # the clock of the sender went back
            self._later = self._labeled + 1.0 / self.rate - time
        self._labeled = time + self._later
        markers = self.labels.mended(self._labeled, markers)
        past.left_out, past.faults = self.labels.left_out, self.labels.sentences
        notes = list(past.faults)
        if self.channels and emg is not None:
            envelopes = check_array(emg, "emg", (len(self.channels),), finite=False, real=True)
            odd = np.abs(envelopes) > MOST_ENVELOPE
            if odd.any():
                those = few(name for name, each in zip(self.channels, odd, strict=True) if each)
                notes += [f"EMG of {those} is no share of the maximum, 0 to 1, and was left out"]
            # a new array: the caller may use its own for the next sample
            past.envelopes.append((time, np.where(odd, np.nan, envelopes)))

        coordinates, feet, note = self._sampled_pose(time, markers)
        if note:
            self.labels.count_lost()
            notes += [note]
        wrench, note = self._assigned.wrenches(plates, feet)
        notes += [note] if note else []
        self._coordinates.push(coordinates)
        for each, own in zip(self._wrenches, wrench, strict=True):
            each.push(own)
        notes += [
            f"{FILLING}: forces on the {SIDE_NAMES[side]} foot"
            for side, each, own in zip(SIDES, self._wrenches, wrench, strict=True)
            if np.isfinite(own).all() and self._coordinates.ready and not each.ready
        ]
        if not self._coordinates.ready:
            return self._interrupted(time - self.lag, begun, (*notes, FILLING), taken)
        at = time - self.lag
        forces = (
            None
            if self.predicts
            else np.stack([each.value()[0] if each.ready else np.full(6, np.nan) for each in self._wrenches])
        )
        plausible = at > past.not_plausible + REACH / self.rate
        coordinates, rates, accelerations = self._coordinates.value()
        state = coordinates, rates, accelerations, forces
        expected, note = self._expected(at)
        notes += [note] if note else []
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
        base = None if near is None else Pose.from_coordinates(near[None]).rotation[0]
        coordinates, residual, _ = self._fitted(np.asarray(markers, float), near, base)
        return coordinates, residual

    def _fitted(
        self, markers: Array, near: Array | None, base: Array | None
    ) -> tuple[Array, Array, tuple[Array, Array]]:
        """Return the coordinates as `pose` does, and natural coordinates (N, 3) and rotations of the bodies (B, 3, 3)
        of the pose.

        base (3, 3): rotation of the pelvis in the pose `near`.
        """
        followed = self._following.follow(Seen.from_markers(self._map, markers[None]), trunk=self._trunk)
        values = np.concatenate([followed.place, followed.direction], axis=1)
        nearest = self._nearest.at(values)
        if near is None or base is None:
            check_sides(self.trial, Seen.from_markers(self._map, markers[None]).moving)
            check_axes(self.trial, followed.directions)
            coordinates = fit_pose(self.model, nearest.targets).coordinates[0]
            pose = Pose.from_coordinates(coordinates[None])
        else:
            start = Pose(near[None, :-6], near[None, -6:-3], base[None])
            # Coordinates that the markers do not show stay unchanged.
            pose = nearest.going_on(start, 1.0 / self.rate).converge(start, 1e-8, 60)
            cardan = np.ravel(to_cardan(pose.rotation))
            coordinates = np.concatenate([pose.angles[0], pose.position[0], cardan])
            turns = np.round((coordinates - near) / (2.0 * np.pi))
            turns[-6:-3] = 0.0
            coordinates -= 2.0 * np.pi * turns
        (q,), (rotation,) = pose.placed(self.model)
        off = q[self._point_slots] - values[0, self._are_points]
        return coordinates, np.sqrt(np.vecdot(off, off)), (q, rotation)

    def _sampled_pose(self, time: float, markers: Array) -> tuple[Array | None, Array | None, str]:
        """Coordinates (K+6,) of a sample and the ends of its feet (2, 2, 3) [m], None where not known; a note."""
        past = self._past
        hidden = np.asarray(~np.isfinite(markers).all(axis=1))
        if hidden.any():
            if past.coordinates is None:
                return None, None, f"hidden: {self._named(hidden)}"
            step = np.zeros_like(past.coordinates) if past.step is None else past.step
            q, _ = Pose.from_coordinates((past.coordinates + step)[None]).placed(self.model)
            rotation, translation = self._bodies(q)
            markers, guessed = self.marker_bodies.filled(markers, rotation[0], translation[0])
            if not guessed.any():
                past.guessed_since = None
            else:
                past.guessed_since = time if past.guessed_since is None else past.guessed_since
                if time - past.guessed_since > self.bridge + 1e-9:
                    past.lose_pose()
                    return None, None, f"hidden for too long: {self._named(guessed)}"
        else:
            past.guessed_since = None
        try:
            coordinates, residual, (q, rotation) = self._fitted(markers, past.coordinates, past.base)
        except MuscleSolveError as error:
            past.lose_pose()
            return None, None, str(error)
        links = rotation[self._links]
        joints = _relative(links)
        if past.joints is not None and jumps(angle_between(past.joints, joints), 1.0 / self.rate).any():
            past.not_plausible[:] = time
        of_feet = residual[self._foot_columns]
        far = np.vecdot(of_feet, of_feet) > of_feet.shape[1] * FOOT_LIMIT**2
        past.not_plausible[far] = time
        past.step = None if past.coordinates is None else coordinates - past.coordinates
        past.coordinates, past.base, past.joints, past.shift = coordinates, links[0], joints, residual
        return coordinates, q[self._feet_slots], ""

    def _find_unmeasured(self, q: Array, qd: Array, wrench: Array, lacking: float) -> Mask:
        """Feet (2,) whose contact no plate measures, from poses and velocities (N, 3), wrenches (2, 6) and balance.

        A foot is one from `EDGE` after it has come down without a force, or as soon as it is near the floor while an
        upward force of `LACKING_LIFT` body weights is missing (`lacking` [N]), until it is in the air. Where the force
        on the other foot is not known there is no balance, and a zero force is not believed either near the floor.
        Speeds are relative to the belt, whose velocity the loaded feet show.
        """
        past = self._past
        known = np.isfinite(wrench[:, 2])  # a plate without numbers says nothing of its foot
        height = q[self._feet_slots, 2] - self._floor
        velocity = qd[self._feet_slots]
        for side in np.flatnonzero(known & (wrench[:, 2] > CARRIES * self._weight)):
            past.loaded = min(past.loaded + 1.0, BELT_MEMORY * self.rate)
            shown = velocity[side, np.argmin(height[side]), :2], qd[self._pelvis, :2]
            past.belt += (np.array(shown) - past.belt) / past.loaded
        belt, travel = past.belt
        if math.hypot(*travel) < IN_PLACE < math.hypot(*belt):
            velocity = velocity - np.append(belt, 0.0)
        speed = np.sqrt(np.vecdot(velocity, velocity))
        down = ((height < LOW) & (speed < SLOW)).any(axis=1)
        air = ((height > HIGH) | (speed > FAST)).all(axis=1)
        without = known & (np.abs(wrench[:, 2]) < self._touch)
        past.down = np.where(down & without, past.down + 1.0, 0.0)
        seen = past.down > EDGE * self.rate
        standing = past.unmeasured & ~air
        # a foot that is known to stand beside the plates explains what is missing
        if not known.all() or (lacking > LACKING_LIFT * self._weight and not standing.any()):
            seen = seen | without
        past.unmeasured = standing | (seen & ~air)
        return past.unmeasured

    def _named(self, which: Mask) -> str:
        return ", ".join(self.markers[k] for k in np.flatnonzero(which))

    def _expected(self, at: float) -> tuple[Array | None, str]:
        """Activations (N,) that EMG lets expect at a time [s], None without a cost that follows it; a note."""
        if not self.channels:
            return None, ""
        assert self.body.emg is not None
        at -= self.body.emg.delay
        envelopes = self._past.envelopes
        while len(envelopes) > 1 and envelopes[1][0] <= at:
            envelopes.popleft()
        value = np.full(len(self.channels), np.nan)
        if len(envelopes) > 1 and envelopes[0][0] <= at:
            (first, low), (last, high) = envelopes[0], envelopes[1]
            if last - first <= max(self.bridge, 1.5 / self.rate):
                value = low + (high - low) * (at - first) / (last - first)
        missing = [name for name, each in zip(self.channels, value, strict=True) if np.isnan(each)]
        note = f"no EMG of {few(missing, 3)} came in time" if missing else ""
        if len(missing) == len(value):
            note = "no EMG came in time: forces follow the cost alone"
        return self.body.emg.of_muscles(value[None], self.muscles)[0], note

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
        greatest = math.hypot(*(pushed[0, :3] + pushed[1, :3]))
        self._past.peak_force = max(self._past.peak_force * fading, greatest)
        if plausible is not None and not predicted:
            lost = self._find_unmeasured(motion.q[0], motion.qd[0], wrench, moments[0, joints + 2])
            bare = [SIDE_NAMES[side] for side, each in zip(SIDES, lost & known, strict=True) if each]
            self.empty_plates = self._assigned.empty(motion.q[0][self._feet_slots], lost & known)
            empty = [f"plate {k + 1} shows no load under a foot" for k in np.flatnonzero(self.empty_plates)]
            notes = (*notes, *(empty or [f"no plate carries the {side} foot" for side in bare]))
            known, wrench = known & ~lost, np.where(lost[:, None], np.nan, wrench)
        balanced = True
        if predicted:
            lacking, force = moments[:, joints:], pushed[:, :3].sum(axis=0)[None]
            support = Support.from_wrenches(motion.time, lacking, force, self._weight, None)
            if not support.carries[0]:
                balanced, notes = False, (*notes, NOT_CARRIED)
        elif known.all():
            limit = BALANCE_LIMIT * max(self._weight, self._past.peak_force)
            balanced = math.hypot(*moments[0, joints : joints + 3]) <= limit
        else:
            moments[:, self._beyond[~known].any(axis=0)] = np.nan
        state = muscle_state(model, self._muscles, motion)
        loads = group_loads(model, motion, forces, state, self._muscle_joints, bodies.rotation)
        sound = np.ones(2, bool) if plausible is None else plausible
        if not balanced and not predicted:
            notes = (*notes, UNBALANCED)
        if not sound.all():
            notes = (*notes, NOT_PLAUSIBLE)
        usable = (sound | ~self._feet_of_parts).all(axis=1) & balanced
        of_muscles = moments[0, self._muscle_rows]
        shared, first = [], 0
        for groups in self._together:
            own = usable[first : first + groups.count]
            shared.append(groups.share(state, loads, of_muscles, own, expected, self.body.sharing))
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
            kkt_residual=np.concatenate([solution.kkt_residual for solution in solutions]),
            cost=np.concatenate([solution.cost for solution in solutions]),
            reserve=np.concatenate([solution.reserve for solution in solutions]),
            seconds=perf_counter() - begun,
            shift=self._past.shift,
            notes=notes,
            taken=taken,
            left_out=self._past.left_out,
            faults=self._past.faults,
        )

    def _interrupted(self, time: float, begun: float, notes: tuple[str, ...], taken: Taken) -> Frame:
        """A frame without any known value."""
        return Frame(
            time=time,
            **{name: np.full(shape, np.nan) for name, shape in self.shapes.items()},
            status=np.full(len(self.sides), Status.INTERRUPTED, np.int8),
            seconds=perf_counter() - begun,
            shift=self._past.shift,
            notes=notes,
            taken=taken,
            left_out=self._past.left_out,
            faults=self._past.faults,
        )


def _relative(rotations: Array) -> Array:
    """Rotations (6, 3, 3) of hips, knees and ankles from the rotations of pelvis, thighs, shanks and feet (7, 3, 3)."""
    proximal = rotations[[0, 1, 2, 0, 4, 5]]
    return np.asarray(np.swapaxes(proximal, 1, 2) @ rotations[1:])


def _floor_heights(q: Array, time: Array, slots: NDArray[np.intp]) -> Array:
    """Heights (2, 2) [m] at which heels and toes rest in poses q (T, N, 3); slots (2, 2)."""
    height = q[:, slots, 2]
    speed = np.linalg.norm(np.gradient(q[:, slots], time, axis=0), axis=3)
    heights = np.empty(slots.shape)
    for place in np.ndindex(slots.shape):
        slow = speed[:, *place] < SLOW
        heights[place] = np.quantile(height[slow if slow.sum() > 5 else ..., *place], 0.25)
    return heights


def _with_right_labels(trial: Trial) -> tuple[Trial, tuple[Finding, ...]]:
    """Return the trial with exchanged labels of its recordings exchanged back, as `musclesolve check` finds them."""
    document = trial.document
    case = Case(document, Recorded(trial, trial.settings.laboratory))
    for check in (labels_exchanged_throughout, labels_exchanged_at_crossings, labels_exchanged_between_gaps):
        for found in list(check(case)):
            case = replace(case.repaired(found), findings=(*case.findings, found))
    return case.trial, case.findings


def _check_live(trial: Trial, plates: Sequence[Side | None] | None) -> None:
    """Refuse what is not known frame by frame, and plates of a session whose ground reactions are predicted."""
    if plates and trial.settings.files.predicted:
        raise trial.document.error(
            "conflict",
            "files",
            "forces",
            problem=f"the ground reactions of this trial are predicted, and {len(plates)} plates of "
            "the stream are stated",
            expected="no plates",
            remedy="leave out --plate, or name the file of the forces in [files] forces",
        )
    for k, side in enumerate(plates or ()):
        if side is not None:
            check_choice(side, f"plates[{k}]", SIDES)
    check_rigid(trial, "live muscle forces")
    check_consistent(trial, "live analysis")
    usual_values = {"method": "nearest", "derivatives": "constraints", "residual": "kept"}
    for key, usual in usual_values.items():
        stated = trial.settings.consistency[key]
        if stated != usual:
            raise trial.document.error(
                "conflict",
                "consistency",
                key,
                problem=f'live muscle forces with {key} = "{stated}"',
                expected=f'"{usual}", which a frame has by itself',
                remedy=f'write {key} = "{usual}", or leave it out',
            )

"""The body of a recording: the human of natural coordinates in motion, its muscles, and its measurements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, largest_size, slices
from musclesolve._util.checks import check_real_array
from musclesolve._util.messages import Progress, no_progress
from musclesolve._util.sides import ALL_SIDES, sides_of, with_side
from musclesolve.dynamics.inverse.newton_euler import DistalLoads, distal_loads, segment_motion
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.laboratory.bodies.measured_activation import MeasuredActivation, MeasuredFascicles
from musclesolve.laboratory.bodies.mechanics import Mechanics, carries_foot, measured_moments
from musclesolve.laboratory.bodies.run_options import Options, check_emg
from musclesolve.laboratory.motion.events.gait import Gait
from musclesolve.laboratory.motion.motion_plausibility import MotionValidity
from musclesolve.laboratory.recording.data import SIDES, Trial
from musclesolve.models.body import BLOCK, EVERY, LONG, Pulls, Sharing, SharingGroup, over_frames
from musclesolve.models.body_sharing import reads_all_frames
from musclesolve.models.knee import ContactSpacing
from musclesolve.models.muscle_pulls import MuscleJoints, MusclePulls
from musclesolve.muscles.muscle_state import MuscleState, ScaledState, muscle_state, zero_arms
from musclesolve.muscles.person import PersonMuscles
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles, served_dofs
from musclesolve.sharing.problem_arrays import chosen_frames


class WindowedParts(Sequence[SharingGroup]):
    """The parts of a long motion, which are made window by window; they are joined where all frames are needed at once.

    made: makes all `count` parts in some frames; pulls: the pulls at the joints of a part, by its number.
    """

    def __init__(
        self,
        made: Callable[[slice | Indices], tuple[SharingGroup, ...]],
        pulls: Callable[[int, slice | Indices], Pulls],
        frames: int,
        count: int,
    ) -> None:
        self.made, self.pulls, self.frames, self.parts = made, pulls, frames, count

    def __len__(self) -> int:
        return self.parts

    def __getitem__(self, place: Any) -> Any:
        return self.joined[place]

    @cached_property
    def largest_arms(self) -> list[Array]:
        """Size of the largest moment arm of each muscle about each shared degree of freedom, by part."""
        sizes = [
            [largest_size(part.state.moment_arm[:, part.rows]) for part in self.made(some)]
            for some in slices(self.frames, BLOCK)
        ]
        return [np.max(of_part, axis=0) for of_part in zip(*sizes, strict=True)]

    @cached_property
    def joined(self) -> tuple[SharingGroup, ...]:
        """The parts in all frames, without the pulls, which are made again where they are needed."""
        return joined_parts(self.made, self.frames, self.pulls)


@dataclass(frozen=True, eq=False)
class RecordedBody:
    """The subject of a trial up to the sharing of forces; see `Body`.

    moments (T, K+6): generalized forces [N m, N] of inverse dynamics, the last six the residual at the pelvis; NaN
    where a distal foot was not measured. parts: the groups of degrees of freedom that the muscles serve, on the
    analyzed sides; placed: the muscles of each part. dofs: of the joints, first the ones that muscles serve, right and
    left, then the others outward. joints: of the parts; for legs hip, knee and ankle. replaced:
    whether the moments were given in place of the ones of inverse dynamics. known_gait: events of another state of the
    trial, which hold here, too.
    """

    trial: Trial
    options: Options
    mechanics: Mechanics
    moments: Array
    validity: MotionValidity
    parts: Sequence[SharingGroup]
    placed: tuple[ScaledMuscles, ...]
    dofs: tuple[str, ...]
    joints: tuple[str, ...]
    emg: MeasuredActivation | None = None
    fascicles: MeasuredFascicles | None = None
    replaced: bool = False
    known_gait: Gait | None = None
    time: Array = field(init=False)
    sharing: Sharing = field(init=False)
    person: PersonMuscles | None = field(init=False)
    mass: float = field(init=False)
    stature: float = field(init=False)
    is_predicted: bool = field(init=False)
    kind: str = field(init=False, default="recording")

    def __post_init__(self) -> None:
        subject, options = self.trial.subject, self.options
        vars(self).update(time=self.mechanics.motion.time, mass=subject.mass, stature=subject.stature)
        predicted = self.trial.predicted_spans is not None
        vars(self).update(sharing=options.sharing, person=options.person, is_predicted=predicted)
        for part in () if isinstance(self.parts, WindowedParts) else self.parts:
            rows = [self.mechanics.model.dof(dof) for dof in part.dofs]
            if not np.array_equal(part.moment, self.moments[:, rows], equal_nan=True):
                raise input_error(
                    "conflict",
                    where="moments",
                    problem="the body and its parts have different moments",
                    expected="one array of moments for both",
                    remedy="make the body anew: recorded_body(trial, options, recorded, moments=moments)",
                )

    def frames(self, some: slice | Indices) -> "RecordedBody":
        """The body in some frames of the motion; landmarks, fit and events of the whole motion remain."""
        if isinstance(self.parts, WindowedParts):
            source = chosen_frames(None, len(self.time), some)
            parts = tuple(replace(part, source_frames=source) for part in self.parts.made(some))
            if reads_all_frames(self.sharing.cost):
                pairs = zip(parts, self.parts.largest_arms, strict=True)
                parts = tuple(replace(part, of_all_frames={"largest_arm": arm}) for part, arm in pairs)
        else:
            parts = tuple(part.frames(some, loaded=True) for part in self.parts)
        return replace(
            self,
            mechanics=self.mechanics.frames(some),
            moments=self.moments[some],
            validity=self.validity.frames(some),
            parts=parts,
            known_gait=self.gait,
        )

    @cached_property
    def gait(self) -> Gait:
        """Events and strides of the trial."""
        mechanics = self.mechanics
        return self.known_gait or Gait.from_trial(
            self.trial, mechanics.measured, *(mechanics.completed or ())
        )

    @cached_property
    def _rows(self) -> list[int]:
        return [self.mechanics.model.dof(dof) for dof in self.dofs]

    @property
    def angle(self) -> Array:
        """Angles (T, M) of the joint degrees of freedom `dofs` [rad]."""
        return self.mechanics.motion.coordinates[:, self._rows]

    @property
    def speed(self) -> Array:
        """Angular velocities (T, M) of the joint degrees of freedom `dofs` [rad/s]."""
        return self.mechanics.motion.speeds[:, self._rows]

    @property
    def moment(self) -> Array:
        """Net moments (T, M) of the joint degrees of freedom `dofs` [N m]."""
        return self.moments[:, self._rows]

    @cached_property
    def muscles(self) -> tuple[str, ...]:
        """Names of the muscles on the analyzed sides."""
        return tuple(name for muscles in self.placed for name in muscles.names)

    @property
    def contact_spacing(self) -> dict[str, ContactSpacing]:
        """Distance between the medial and lateral contact of each knee: as stated, or from its breadth and stature."""
        stature, widths = self.trial.subject.stature, self.mechanics.measured.knee_width
        spacings = {
            f"knee_{side}": ContactSpacing.from_size(
                self.trial.settings.knee.contact_spacing_m, width=widths.get(side), stature=stature
            )
            for side in SIDES
            if f"knee_{side}" in self.joints
        }
        return {name: spacing for name, spacing in spacings.items() if spacing is not None}

    def check(self, sharing: Sharing) -> None:
        """Refuse a cost that needs EMG where the trial has none."""
        check_emg(self.trial, sharing.cost)


def recorded_body(
    trial: Trial,
    options: Options,
    recorded: Mechanics,
    progress: Progress | None = None,
    moments: Array | None = None,
) -> RecordedBody:
    """Make the body of a recording: inverse dynamics, valid frames, and groups of muscles on the analyzed sides.

    moments (T, K+6): in place of the moments of inverse dynamics, for example without the moment of a brace [N m, N].
    Which frames are valid follows from the motion and the forces alone, whatever these moments are.
    """
    report = progress or no_progress
    report("inverse dynamics", 0.35)
    model, motion, wrenches = recorded.model, recorded.motion, recorded.wrenches
    replaced = moments is not None
    if moments is None:
        moments = measured_moments(trial, model, motion, wrenches)
    else:
        shape = motion.coordinates.shape
        moments = np.array(check_real_array(moments, "moments", f"{shape} [N m, N]", shapes=(shape,)))
    required = moments
    if replaced or recorded.change is not None:
        required = measured_moments(trial, model, recorded.unchanged, wrenches)
    validity = recorded.validity(required)
    fitted = {} if options.person is None else options.person.emg
    emg = (
        None
        if trial.emg is None
        else MeasuredActivation.from_emg(trial.emg, options.channels, options.sides, fitted)
    )
    placed = options.muscles(model)
    joints = [MuscleJoints(model, muscles) for muscles in placed]
    rows = [[model.dof(dof) for dof in muscles.dof_names] for muscles in placed]
    feet = {side: carries_foot(model, side) for side in SIDES}
    usable = [validity.with_feet(side for side in SIDES if feet[side][row].any()) for row in rows]

    def parts_in(frames: slice | Indices, progress: Progress = no_progress) -> tuple[SharingGroup, ...]:
        """Make all parts in some frames of the motion."""
        parts, moved = [], motion if frames is EVERY else motion.frames(frames)
        acting = [wrench if frames is EVERY else wrench.frames(frames) for wrench in wrenches]
        forces = distal_loads(model, segment_motion(model, moved), acting)
        for number, muscles in enumerate(placed):
            progress("muscle rows", 0.45 + 0.25 * number / len(placed))
            state = muscle_state(model, muscles, moved)
            expected = None if emg is None else emg.expected(moved.time, muscles.names)
            arrays = state, moments[frames], usable[number][frames], expected
            parts.append(sharing_group(options, model, moved, forces, *arrays, joints=joints[number]))
        return tuple(parts)

    def pulls_in(number: int, frames: slice | Indices) -> Pulls:
        """The pulls of one group of muscles at its joints in some frames."""
        moved = motion.frames(frames)
        return MusclePulls(joints[number], moved, muscle_state(model, placed[number], moved)).whole

    served = [dof for side in SIDES for dof in served_dofs(model.topology, options.database, side)]
    dofs = tuple(dict.fromkeys([*served, *(dof.name for dof in model.topology.dofs)]))
    parts: Sequence[SharingGroup]
    if len(motion.time) <= LONG:
        parts = parts_in(EVERY, report)
    else:
        parts = WindowedParts(parts_in, pulls_in, len(motion.time), len(placed))
    fascicles = None
    if trial.fascicles is not None:
        fascicles = MeasuredFascicles.from_fascicles(trial.fascicles, options.fascicles, options.sides)
        for muscles in placed:
            fascicles.check_unit(trial.document, muscles.parameters)
    names = tuple(dict.fromkeys(name for joint in joints for name in joint.served))
    computed = moments, validity, parts, placed, dofs, names
    return RecordedBody(trial, options, recorded, *computed, emg, fascicles, replaced)


def joined_parts(
    parts_in: Callable[[slice], tuple[SharingGroup, ...]],
    frames: int,
    pulls_in: Callable[[int, slice | Indices], Pulls],
) -> tuple[SharingGroup, ...]:
    """Join parts that are made window by window, without the muscle rows, which take more memory than all else.

    pulls_in: makes the pulls at the joints of a part, by its number, in some frames.
    """
    made, joined = parts_in(next(slices(frames, BLOCK))), []
    for number, part in enumerate(made):
        arm = zero_arms(frames, *part.state.moment_arm.shape[1:])
        arrays = _unfilled(part.state, frames)
        state = MuscleState(parameters=part.state.parameters, moment_arm=arm, **arrays)
        assert part.loads is not None
        loads = replace(part.loads, **_unfilled(part.loads, frames), pulls=partial(pulls_in, number))
        joined.append(replace(part, **_unfilled(part, frames), state=state, loads=loads))
    for block in slices(frames, BLOCK):
        for whole, part in zip(joined, parts_in(block) if block.start else made, strict=True):
            for owner, some in ((whole, part), (whole.state, part.state), (whole.loads, part.loads)):
                for name, values in over_frames(some).items():
                    crossed = (values != 0.0).any(axis=0) if name == "moment_arm" else ...
                    getattr(owner, name)[block][:, crossed] = values[:, crossed]
    return tuple(joined)


def _unfilled(owner: Any, frames: int) -> dict[str, Any]:
    """Arrays over all frames for the ones of a part, its state or its loads in some frames; no moment arms."""
    some = ((name, values) for name, values in over_frames(owner).items() if name != "moment_arm")
    return {name: np.empty((frames, *values.shape[1:]), values.dtype) for name, values in some}


def sharing_group(
    options: Options,
    model: Model,
    motion: Motion,
    forces: DistalLoads,
    state: ScaledState,
    moments: Array,
    usable: Mask,
    emg: Array | None = None,
    joints: MuscleJoints | None = None,
) -> SharingGroup:
    """Make a part of the body from one group of muscles; moments (T, K+6) of inverse dynamics.

    Other arguments as in `SharingGroup`. forces: on the bodies; joints: of these muscles, derived by default.
    """
    dofs = state.muscles.dof_names
    named = (with_side(stem, side) for side in ALL_SIDES for stem in options.dofs)
    rows = [model.dof(dof) for dof in dofs]
    return SharingGroup(
        sides=sides_of(dofs),
        dofs=dofs,
        shared=tuple(dof for dof in named if dof in dofs),
        state=state,
        moment=moments[:, rows],
        usable=usable,
        time=motion.time,
        loads=(joints or MuscleJoints(model, state.muscles)).loads(motion, forces, state),
        emg=emg,
        angle=motion.coordinates[:, rows],
        rate=motion.speeds[:, rows],
    )

"""The body of a recording: the human of natural coordinates in motion, its legs, and what was measured of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, contiguous
from musclesolve._util.progress import Progress, no_progress
from musclesolve.dynamics.inverse.newton_euler import DistalLoads, distal_loads, segment_motion
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.motion.events.gait import Gait
from musclesolve.motion.motion_plausibility import MotionValidity
from musclesolve.muscles.muscle_state import JoinedState, LegState, muscle_state
from musclesolve.muscles.placing.place_muscles import LEG_DOFS, JoinedLegs, LegMuscles
from musclesolve.pipeline.body import JointLoads, Part, Sharing
from musclesolve.pipeline.knee_contact import ContactSpacing
from musclesolve.pipeline.measured_activation import MeasuredActivation
from musclesolve.pipeline.measured_fascicles import MeasuredFascicles
from musclesolve.pipeline.mechanics import JOINTS, Mechanics, leg_moments, measured_moments
from musclesolve.pipeline.patella import Ligament, PatellarLever, lean_table, quadriceps
from musclesolve.pipeline.run_options import Options, check_emg
from musclesolve.recording.data import SIDES, Trial


@dataclass(frozen=True, eq=False)
class RecordedBody:
    """The subject of a trial up to the sharing of forces; see `Body`.

    moments (T, K+6): generalized forces [N m, N] of inverse dynamics, the last six the residual at the pelvis; NaN
    where a foot that they depend on was not measured. parts: the analysed legs.
    """

    trial: Trial
    options: Options
    mechanics: Mechanics
    moments: Array
    validity: MotionValidity
    gait: Gait
    parts: tuple[Part, ...]
    emg: MeasuredActivation | None = None
    fascicles: MeasuredFascicles | None = None

    @property
    def time(self) -> Array:
        """Times (T,) of the frames [s]."""
        return self.mechanics.motion.time

    @cached_property
    def dofs(self) -> tuple[str, ...]:
        """Joint degrees of freedom: right leg, left leg, then the rest from the pelvis outwards."""
        model = self.mechanics.model
        legs = [f"{dof}_{side}" for side in SIDES for dof in LEG_DOFS]
        joints = model.topology.dof_names[: model.tree.joint_count]
        return (*legs, *(name for name in joints if name not in legs))

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

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the muscles of the analysed legs."""
        return tuple(name for leg in self.legs for name in leg.muscles.names)

    @property
    def legs(self) -> tuple[LegState, ...]:
        """The muscles of the analysed legs along the motion."""
        return tuple(part.state for part in self.parts if isinstance(part.state, LegState))

    @property
    def joints(self) -> tuple[str, ...]:
        """Hip, knee and ankle of the analysed legs."""
        return tuple(f"{joint}_{side}" for side in self.options.sides for joint in JOINTS)

    @property
    def contact_spacing(self) -> dict[str, ContactSpacing]:
        """Distance of the medial and the lateral contact of each knee: as stated, or by its breadth and stature."""
        stature, widths = self.trial.subject.stature, self.mechanics.measured.knee_width
        found = {
            f"knee_{side}": ContactSpacing.of(
                self.trial.contact_spacing, width=widths.get(side), stature=stature
            )
            for side in SIDES
            if side in self.options.sides
        }
        return {name: spacing for name, spacing in found.items() if spacing is not None}

    @property
    def sharing(self) -> Sharing:
        """How the trial file, or the caller, wants the moments shared."""
        return self.options.sharing

    def check(self, sharing: Sharing) -> None:
        """Refuse a cost that needs EMG where the trial has none."""
        check_emg(self.trial, sharing.cost)


def recorded_body(
    trial: Trial, options: Options, recorded: Mechanics, progress: Progress | None = None
) -> RecordedBody:
    """Inverse dynamics, the frames that are valid, and each analysed leg."""
    report = progress or no_progress
    report("inverse dynamics", 0.35)
    model, motion = recorded.model, recorded.motion
    moments = measured_moments(trial, model, motion, recorded.wrenches)
    forces = distal_loads(model, segment_motion(model, motion), recorded.wrenches)
    validity = recorded.validity(moments)
    fitted = {} if options.person is None else options.person.emg
    emg = (
        None
        if trial.emg is None
        else MeasuredActivation.of(trial.emg, options.channels, options.sides, fitted)
    )
    parts = []
    for number, side in enumerate(options.sides):
        report("muscle rows", 0.45 + 0.25 * number / len(options.sides))
        state = muscle_state(model, options.muscles(model, side), motion)
        loads = leg_loads(model, motion, forces, state)
        expected = None if emg is None else emg.expected(motion.time, state.muscles.names)
        usable = validity.of_leg(side)
        parts.append(
            leg_part(options, state, loads, leg_moments(model, moments, side), usable, motion.time, expected)
        )
    gait = Gait.of(trial, recorded.measured)
    fascicles = None
    if trial.fascicles is not None:
        fascicles = MeasuredFascicles.of(trial.fascicles, options.fascicles, options.sides)
        for part in parts:
            fascicles.check_unit(trial.document, part.state.parameters)
    return RecordedBody(trial, options, recorded, moments, validity, gait, tuple(parts), emg, fascicles)


def leg_part(
    options: Options,
    state: LegState,
    loads: JointLoads,
    moment: Array,
    usable: Mask,
    time: Array,
    emg: Array | None = None,
) -> Part:
    """One leg as a part of the body; moment (T, 7) [N m] over `LEG_DOFS`, the rest as in `Part`."""
    side = state.muscles.side
    dofs, shared = (tuple(f"{dof}_{side}" for dof in names) for names in (LEG_DOFS, options.dofs))
    return Part((side,), dofs, shared, state, moment, usable, time, loads, emg)


@dataclass(frozen=True, eq=False)
class LegJoints:
    """Hip, knee and ankle of the legs that some muscles were placed on (J joints): all of `leg_loads` but the motion.

    dofs (J,): the first degree of freedom of each. beyond (J + K, G): the groups of nodes (`Paths.groups`) beyond each
    joint, then those that pull at the patella of each knee. heads (h,): muscles of the quadriceps. guided: joints
    where couples guide points and frames, with all their degrees of freedom, and the columns of `PathState.explicit`
    that belong to these, -1 for none. shanks (K,): the bodies beyond the knees; knees: their degrees of freedom, places
    among the joints and rows of the moment arms, (K,) each, and ligaments (K, 2), as compiled code takes them.
    """

    names: tuple[str, ...]
    dofs: Indices
    beyond: Mask
    heads: Indices
    guided: tuple[tuple[int, Indices, Indices], ...]
    shanks: Indices
    knees: tuple[Indices, Indices, Indices, Array]

    @classmethod
    def of(cls, model: Model, muscles: LegMuscles | JoinedLegs) -> LegJoints:
        """Those of a model with muscles on its legs."""
        names = {
            f"{joint}_{side}": f"{dof}_{side}" for side in muscles.sides for joint, dof in JOINTS.items()
        }
        every, paths = tuple(names), muscles.paths
        beyond = [paths.groups_on(model.distal_bodies(dof)) for dof in names.values()]
        guided, knees, places = [], list[Knee](), list[tuple[int, int, int]]()
        for side in muscles.sides:
            for stem in JOINTS:
                # the couples that guide points and frames: about each axis what L_MT changes with the bodies at rest
                dofs = [f"{dof}_{side}" for dof in LEG_DOFS if dof.startswith(stem)]
                rows = np.sort([model.dof(dof) for dof in dofs]).astype(np.intp)
                columns = paths.moved_by(rows, model.tree)[1]
                if (columns >= 0).any():
                    guided.append((every.index(f"{stem}_{side}"), rows, columns))
            # the heads pull at the patella, which is a frame of its own that moves with the knee, or a part of the
            # shank
            knee = Knee.of(model, side)
            frames = np.flatnonzero(paths.frames.dof == knee.dof)
            beyond.append(paths.groups_on(model.distal_bodies(names[f"knee_{side}"]), frames))
            knees.append(knee)
            arm = muscles.dof_names.index(f"knee_flexion_{side}")
            places.append((knee.dof, every.index(f"knee_{side}"), arm))
        first = np.array([model.joint(dof) for dof in names.values()])
        heads = quadriceps(muscles.parameters.names)
        shanks = np.concatenate([knee.shank for knee in knees])
        dof, joint, row = np.array(places, np.intp).T.copy()
        ligaments = np.stack([knee.ligament.size for knee in knees])
        found = (dof, joint, row, ligaments)
        return cls(every, first, np.stack(beyond), heads, tuple(guided), shanks, found)


def leg_loads(
    model: Model,
    motion: Motion,
    loads: DistalLoads,
    state: LegState | JoinedState,
    joints: LegJoints | None = None,
    rotation: Array | None = None,
) -> JointLoads:
    """Loads of hip, knee and ankle of the legs of a state; moments are about hip, knee and ankle center.

    loads: of the bodies and what acts on them; joints: of these muscles on this model; rotation (T, B, 3, 3): of the
    bodies from standing. These two are found unless given.
    """
    from musclesolve.muscles.paths.kernel.entry import COUPLES
    from musclesolve.pipeline.patella_kernel import THROUGH

    legs = LegJoints.of(model, state.muscles) if joints is None else joints
    path, count, tree = state.path, len(legs.names), model.tree
    centers = np.zeros((len(motion.q), len(legs.beyond), 3))
    centers[:, :count] = motion.q[:, tree.pivot[legs.dofs]]
    force, moment = loads.at(tree.child[legs.dofs], centers[:, :count])
    pull, about = path.pulls(legs.beyond, centers)
    axes = contiguous(motion.axes(tree))
    for joint, dofs, columns in legs.guided:
        COUPLES.load()(path.explicit, columns, contiguous(axes[:, dofs]), about[:, joint])
    # the patellar ligament in place of the quadriceps
    if rotation is None:
        turned = contiguous(model.rigid_bodies.subset(legs.shanks).rotation(motion.q))
    else:
        turned = contiguous(rotation[:, legs.shanks])
    moved = contiguous(motion.coordinates), axes, turned
    arms = contiguous(state.moment_arm)
    THROUGH.load()(legs.knees, lean_table(), moved, legs.heads, arms, pull, about, np.empty((3, 3)))
    knees = tuple(legs.names[joint] for joint in legs.knees[1])
    return JointLoads(legs.names, force, pull[:, :count], moment, about[:, :count], knees, pull[:, count:])


@dataclass(frozen=True, eq=False)
class Knee:
    """The flexion of a knee among the degrees of freedom, its shank among the bodies, and the patellar ligament."""

    dof: int
    shank: Indices
    ligament: Ligament

    @classmethod
    def of(cls, model: Model, side: str) -> Knee:
        """The knee of a side, "r" or "l"."""
        knee, ankle = (
            model.standing[model.tree.pivot[model.joint(f"{name}_{side}")]]
            for name in (JOINTS["knee"], JOINTS["ankle"])
        )
        ligament = Ligament.of(side, float(np.linalg.norm(ankle - knee)))
        return cls(model.dof(f"knee_flexion_{side}"), np.array([model.body(f"shank_{side}")]), ligament)

    def lever(self, model: Model, motion: Motion) -> PatellarLever:
        """The lever of the patella along a motion."""
        shank = model.rigid_bodies.subset(self.shank).rotation(motion.q)[:, 0]
        flexion, spin = motion.coordinates[:, self.dof], motion.axes(model.tree)[:, self.dof]
        return PatellarLever.of(self.ligament, flexion, shank[..., 2], shank[..., 1], spin)

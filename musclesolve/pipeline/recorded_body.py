"""The body of a recording: the human of natural coordinates in motion, its legs, and what was measured of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.progress import Progress, no_progress
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.newton_euler import SegmentMotion, joint_loads, segment_motion
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.motion.events.gait import Gait
from musclesolve.motion.motion_plausibility import MotionValidity
from musclesolve.muscles.muscle_state import JoinedState, LegState, muscle_state
from musclesolve.muscles.placing.place_muscles import LEG_DOFS
from musclesolve.pipeline.body import JointLoads, Part, Sharing
from musclesolve.pipeline.knee_contact import ContactSpacing
from musclesolve.pipeline.measured_activation import MeasuredActivation
from musclesolve.pipeline.measured_fascicles import MeasuredFascicles
from musclesolve.pipeline.mechanics import JOINTS, Mechanics, leg_moments, measured_moments
from musclesolve.pipeline.patella import Ligament, PatellarLever, quadriceps
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
    segments, validity = segment_motion(model, motion), recorded.validity(moments)
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
        loads = leg_loads(model, motion, segments, recorded.wrenches, state)
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


def leg_loads(
    model: Model,
    motion: Motion,
    segments: SegmentMotion,
    wrenches: list[Wrench],
    state: LegState | JoinedState,
) -> JointLoads:
    """Loads of hip, knee and ankle of the legs of a state; moments are about hip, knee and ankle center."""
    sides, path, muscles = state.muscles.sides, state.path, state.muscles
    names = {f"{joint}_{side}": f"{dof}_{side}" for side in sides for joint, dof in JOINTS.items()}
    net = joint_loads(model, motion, segments, wrenches, list(names.values()))
    axes = model.tree.axes(motion.q)
    centers = motion.q[:, model.tree.pivot[[model.joint(name) for name in names.values()]]]
    pull, about = path.pulls([model.distal_bodies(name) for name in names.values()], centers)
    across, moment_across = (
        {joint: np.array(values[:, k]) for k, joint in enumerate(names)} for values in (pull, about)
    )
    heads, moving, patella = quadriceps(state.parameters.names), set(path.moving_dofs.tolist()), {}
    for side in sides:
        for stem in JOINTS:
            # the couples that guide points and frames: about each axis what L_MT changes with the bodies at rest
            dofs = sorted(model.dof(f"{dof}_{side}") for dof in LEG_DOFS if dof.startswith(stem))
            if moving.isdisjoint(dofs):
                continue
            guided = [dof in moving for dof in dofs]
            couple = np.linalg.pinv(axes[:, dofs])[:, :, guided]
            own = np.isin(path.moving_dofs, dofs)
            moment_across[f"{stem}_{side}"] += path.explicit[:, :, own] @ couple.transpose(0, 2, 1)

        # the patellar ligament in place of the quadriceps; its heads pull at the patella, which is a frame of its own
        # that moves with the knee, or a part of the shank
        knee, dof = f"knee_{side}", model.dof(f"knee_flexion_{side}")
        frames = np.flatnonzero(muscles.paths.frames.dof == dof)
        at_patella = path.pull(model.distal_bodies(names[knee]), frames)[:, heads]
        lever = knee_lever(model, motion, side)
        arms = state.moment_arm[:, muscles.dof_names.index(f"knee_flexion_{side}"), heads, None]
        across[knee][:, heads] = arms * lever.force[:, None]
        moment_across[knee][:, heads] = arms * lever.moment[:, None]
        patella[knee] = np.zeros_like(across[knee])
        patella[knee][:, heads] = at_patella - across[knee][:, heads]
    return JointLoads(
        net={joint: net[name].force for joint, name in names.items()},
        across=across,
        net_moment={joint: net[name].moment for joint, name in names.items()},
        moment_across=moment_across,
        patella=patella,
    )


def knee_lever(model: Model, motion: Motion, side: str) -> PatellarLever:
    """The lever of the patella of one leg."""
    dof, shank = model.dof(f"knee_flexion_{side}"), np.array([model.body(f"shank_{side}")])
    _, left, up = np.moveaxis(model.rigid_bodies.subset(shank).rotation(motion.q)[:, 0], 2, 0)
    knee, ankle = (
        model.standing[model.tree.pivot[model.joint(f"{name}_{side}")]]
        for name in (JOINTS["knee"], JOINTS["ankle"])
    )
    ligament = Ligament.of(side, float(np.linalg.norm(ankle - knee)))
    return PatellarLever.of(ligament, motion.coordinates[:, dof], up, left, model.tree.axes(motion.q)[:, dof])

"""Mechanics of a recording: anatomy, model, consistent motion, ground reactions, inverse dynamics."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, near_frames, stretch
from musclesolve._util.sides import LEG_JOINTS, side_of
from musclesolve.dynamics.inverse.force_balance import Support, balance_limit, balanced
from musclesolve.dynamics.inverse.newton_euler import net_moments
from musclesolve.dynamics.inverse.predicted_reactions import soles
from musclesolve.dynamics.inverse.residual_reduction import MotionChange
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.kinematics.pose_fit import Fit
from musclesolve.dynamics.model.human_model import sized_body
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.dynamics.model.segment_inertia import SEGMENTS_PLACE, StatedSegment
from musclesolve.dynamics.model.topology import HUMAN, load_topology
from musclesolve.dynamics.rotations import angle_between
from musclesolve.errors import InputError
from musclesolve.laboratory.motion.anatomy.anatomy import Anatomy, Measured
from musclesolve.laboratory.motion.ground_reaction import GroundReaction
from musclesolve.laboratory.motion.motion_plausibility import (
    FOOT_LIMIT,
    INCONSISTENT,
    REACH,
    MotionValidity,
    MotionWarning,
    ambiguous_warnings,
    beside_marker_jumps,
    change_warnings,
    consistency_warnings,
    foot_residual,
    foot_warnings,
    jump_warnings,
    pose_warnings,
    sole_warnings,
    support_warnings,
    without_joint_jump,
)
from musclesolve.laboratory.recording.data import SIDES, Recording, Trial

TIME_MARGIN = 0.1
"""Margin of the motion before and after the time range, so that derivatives are accurate at its ends [s]."""


@dataclass(frozen=True)
class Mechanics:
    """The measured anatomy, the subject's model, the consistent motion and the ground reactions."""

    measured: Anatomy
    model: Model
    fit: Fit
    motion: Motion
    reactions: list[GroundReaction]
    predicted: bool = False
    """Whether the ground reactions are predicted from the motion."""
    completed: tuple[Array, list[GroundReaction]] | None = None
    """Where some reactions are predicted: times (T',) [s] of the motion with its margins, and ground reactions
    there.
    """
    change: MotionChange[Motion] | None = None
    """The change of the motion for a smaller residual; None where the motion was not changed."""

    def frames(self, some: slice | Indices) -> "Mechanics":
        """The motion and the ground reactions in a window of frames; landmarks and fit remain whole."""
        change = self.change
        if change is not None:
            change = replace(change, before=change.before.frames(some), change=change.change[some])
        reactions = [reaction.frames(some) for reaction in self.reactions]
        return replace(self, motion=self.motion.frames(some), reactions=reactions, change=change)

    @property
    def unchanged(self) -> Motion:
        """The measured motion, before any change for a smaller residual; tests of forces use this motion."""
        return self.motion if self.change is None else self.change.before

    @property
    def wrenches(self) -> list[Wrench]:
        """The ground reactions as forces on the model's feet."""
        return [Wrench(f"foot_{ground.side}", ground.force, ground.moment) for ground in self.reactions]

    def _turned(self, *names: str) -> Array:
        """Rotations of some bodies from the standing pose, (B, T, 3, 3)."""
        bodies = self.model.rigid_bodies.subset(np.array([self.model.body(name) for name in names]))
        turned = [bodies.rotation(some.q) for some in self.motion.windows()]
        return np.moveaxis(np.concatenate(turned), 1, 0)

    @cached_property
    def joint_rotations(self) -> dict[str, Array]:
        """Rotation of hip, knee and ankle of each leg between frames, (T-1,) [rad] by joint, such as "hip_r"."""
        rotations = {}
        for side in SIDES:
            chain = self._turned("pelvis", *(f"{name}_{side}" for name in ("thigh", "shank", "foot")))
            for joint, (proximal, distal) in zip(LEG_JOINTS, pairwise(chain), strict=True):
                rotations[f"{joint}_{side}"] = _rotation_between_frames(proximal, distal)
        return rotations

    @cached_property
    def hidden_rotations(self) -> dict[str, Array]:
        """Rotation of each upper arm in the thorax between frames, beyond the rotation of the lines of arm and forearm,
        (T-1,) [rad] by side.
        """
        rotations: dict[str, Array] = {}
        for side in SIDES:
            thorax, arm = self._turned("thorax", f"upper_arm_{side}")
            turned = _rotation_between_frames(thorax, arm)
            places = [self.model.slot(f"{name}_{side}") for name in ("shoulder", "elbow", "wrist")]
            ends = np.concatenate([some.q[:, places] for some in self.motion.windows()])
            lines = np.diff(ends, axis=1) @ thorax
            lines /= np.linalg.norm(lines, axis=2, keepdims=True)
            seen = 2.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(np.diff(lines, axis=0), axis=2), 1.0))
            rotations[side] = np.maximum(turned - seen.max(axis=1), 0.0)
        return rotations

    @property
    def marker_residual(self) -> Array:
        """Distance between the consistent motion and each measured point of `fit.points`, (T, n) [m]."""
        return self.fit.residual[self._analyzed]

    @cached_property
    def _analyzed(self) -> slice | Indices:
        """The frames of the motion among the measured ones."""
        return stretch(np.flatnonzero(np.isin(self.measured.time, self.motion.time)))

    @cached_property
    def fitted(self) -> Mask:
        """Mask (T,) of the frames whose pose and derivatives depend on no frame without a fitted pose."""
        # splines spread its error
        return ~near_frames(len(self.measured.time), self.fit.unfitted, REACH)[self._analyzed]

    @cached_property
    def constraint_violation(self) -> Array:
        """Largest violation of a constraint by the poses of the motion, (T,) [m, or a cosine]."""
        violation = self.model.constraints.violation
        return np.concatenate([np.abs(violation(some.q)).max(axis=1) for some in self.motion.windows()])

    @property
    def balance_limit(self) -> float:
        """Residual force at the pelvis up to which a frame is valid [body weights]."""
        total = np.sum([ground.force for ground in self.reactions], axis=0)
        return balance_limit(total, self.model.weight)

    def validity(self, moments: Array) -> MotionValidity:
        """Return the frames that can be shared among muscles, by the generalized forces (T, K+6) of inverse dynamics.

        The forces are the forces before any change: a change of the motion makes no unbalanced frame valid.
        """
        joints, weight = self.model.tree.joint_count, self.model.weight
        residual = np.linalg.norm(moments[:, joints : joints + 3], axis=1) / weight
        feet = {side: foot_residual(self.fit.points, self.marker_residual, side) for side in SIDES}
        steady: dict[str, Mask] = {side: self._steady(side) for side in SIDES}
        if self.predicted:  # from the motion of both legs
            steady = dict.fromkeys(steady, steady["r"] & steady["l"])
        return MotionValidity(
            steady=steady,
            foot_in_place={side: distance <= FOOT_LIMIT for side, distance in feet.items()},
            balanced=self.support.carries if self.predicted else balanced(residual, self.balance_limit),
            consistent=self.fitted & (self.constraint_violation <= INCONSISTENT),
        )

    def _steady(self, side: str) -> Mask:
        """Mask (T,) of the frames that no jump of a joint or a marker of one leg corrupts."""
        trial, time = self.measured.trial, self.motion.time
        rotations = {
            joint: turned for joint, turned in self.joint_rotations.items() if side_of(joint) == side
        }
        beside = beside_marker_jumps(trial, time, self.measured.filter.cutoff_hz.min(), side)
        return without_joint_jump(rotations, time) & ~beside

    @cached_property
    def support(self) -> Support:
        """Ground reactions supplied and lacking; a foot that was not measured counts as unloaded."""
        lacking = net_moments(self.model, self.motion, self.wrenches)[:, self.model.tree.joint_count :]
        force = sum((ground.force for ground in self.reactions), np.zeros((len(lacking), 3)))
        weight, cutoff = self.model.weight, float(self.measured.filter.cutoff_hz.min())
        return Support.from_wrenches(self.motion.time, lacking, force, weight, cutoff)

    def warnings(self, trial: Trial) -> list[MotionWarning]:
        """Return the warnings about an implausible motion of a trial, or implausible parts of it; causes first."""
        mapping, settings = trial.mapping, trial.settings
        method, tilt_deg = settings.consistency.method, settings.laboratory.tilt_deg
        time, of_prediction = self.motion.time, list[MotionWarning]()
        if self.predicted:  # feet that do not carry the body or slide, and a floor that is not level
            upward = {ground.side: ground.force[:, 2] / self.model.weight for ground in self.reactions}
            of_feet = np.stack([upward[side] for side in SIDES], axis=1)
            of_soles = sole_warnings(time, soles(self.model, self.motion), of_feet, tilt_deg)
            of_prediction = [*support_warnings(self.support), *of_soles]
        return [
            *consistency_warnings(self.constraint_violation, time),
            *pose_warnings(self.fitted, time),
            *jump_warnings(mapping, self.joint_rotations, time),
            *ambiguous_warnings(mapping, self.hidden_rotations, time, lambda: self.support.lacking_force),
            *foot_warnings(self.fit.points, self.marker_residual, time, method, self.predicted),
            *([] if self.change is None else change_warnings(self.change)),
            *of_prediction,
        ]


def _rotation_between_frames(proximal: Array, distal: Array) -> Array:
    """Rotation of a body relative to another one between frames, (T-1,) [rad], from rotations (T, 3, 3) of both."""
    relative = np.swapaxes(proximal, 1, 2) @ distal
    return angle_between(relative[:-1], relative[1:])


def subject_model(trial: Trial, measured: Anatomy | Measured, near: Model | None = None) -> Model:
    """Make the model of the subject of a trial from the measured standing geometry.

    near: a model of the same subject with hardly different offsets, whose joints were checked.
    """
    subject = trial.subject
    segments = {
        name: StatedSegment(segment.mass, segment.mass_factor, segment.center, segment.inertia)
        for name, segment in subject.segments.items()
    }
    size = subject.mass, subject.stature, subject.sex, measured.offsets, subject.shoe_mass
    try:
        kind = load_topology(subject.skeleton or HUMAN) if near is None else near.topology
        topology, standing, mass = sized_body(*size, None, segments, kind, subject.age)
        if near is not None:
            return near.resized(standing, mass, measured.pelvis_depth)
        return Model(topology, standing, mass, stature=subject.stature, pelvis_depth=measured.pelvis_depth)
    except InputError as error:
        if error.where != SEGMENTS_PLACE:
            raise
        raise trial.document.placed(error, "subject", SEGMENTS_PLACE) from None


def measured_moments(recording: Recording, model: Model, motion: Motion, wrenches: list[Wrench]) -> Array:
    """The generalized forces (T, K+6) of inverse dynamics where ground reactions are known, NaN elsewhere.

    The moments of a joint depend on the feet distal to it, the loads at the pelvis on both feet.
    """
    return known_moments(recording, model, motion, net_moments(model, motion, wrenches))


def known_moments(recording: Recording, model: Model, motion: Motion, moments: Array) -> Array:
    """Generalized forces (T, K+6) with NaN where they depend on unknown ground reactions."""
    measured = np.ones(moments.shape, bool)
    for side in SIDES:
        measured[np.ix_(~recording.known(side, motion.time), carries_foot(model, side))] = False
    return np.where(measured, moments, np.nan)


def carries_foot(model: Model, side: str) -> Mask:
    """Mask (K+6,) of the degrees of freedom proximal to a foot, the pelvis included."""
    beyond = model.tree.distal_frames[model.body(f"foot_{side}")] > 0.0
    return np.concatenate([beyond, np.ones(6, bool)])

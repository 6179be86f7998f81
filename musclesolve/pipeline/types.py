"""Records that the stages of the pipeline return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.kinematics.pose_fit import Fit
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import angle_between
from musclesolve.motion.anatomy.anatomy import Anatomy
from musclesolve.motion.events.gait import Gait
from musclesolve.motion.ground_reaction import GroundReaction
from musclesolve.motion.motion_plausibility import (
    MotionValidity,
    MotionWarning,
    balance_limit,
    consistency_warnings,
    foot_warnings,
    jump_warnings,
)
from musclesolve.muscles.leg_muscle_state import MuscleState
from musclesolve.pipeline.measured_activation import MeasuredActivation
from musclesolve.pipeline.run_options import Options
from musclesolve.pipeline.tendon_states import TendonStates
from musclesolve.recording.data import SIDES, Trial
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution

JOINTS = {"hip": "hip_flexion", "knee": "knee_flexion", "ankle": "ankle_dorsiflexion"}
"""Joints of a leg, each with the degree of freedom whose distal bodies are all that lies beyond the joint.

The rotation of the foot about the shank, ankle_adduction, would not do: half of the shank rotates with it.
"""


@dataclass(frozen=True)
class Mechanics:
    """The measured anatomy, the subject's model, the consistent motion and the ground reactions."""

    measured: Anatomy
    model: Model
    fit: Fit
    motion: Motion
    reactions: list[GroundReaction]

    @property
    def wrenches(self) -> list[Wrench]:
        """The ground reactions as forces on the model's feet."""
        return [Wrench(f"foot_{ground.side}", ground.force, ground.moment) for ground in self.reactions]

    @cached_property
    def joint_rotations(self) -> dict[str, Array]:
        """Angle by which hip, knee and ankle of each leg rotate between frames, (T-1,) [rad] by "hip_r"."""
        rotations = {}
        for side in SIDES:
            names = "pelvis", f"thigh_{side}", f"shank_{side}", f"foot_{side}"
            bodies = np.array([self.model.body(name) for name in names])
            chain = np.moveaxis(self.model.rigid_bodies.subset(bodies).rotation(self.motion.q), 1, 0)
            for joint, (proximal, distal) in zip(JOINTS, pairwise(chain), strict=True):
                relative = np.swapaxes(proximal, 1, 2) @ distal
                rotations[f"{joint}_{side}"] = angle_between(relative[:-1], relative[1:])
        return rotations

    @property
    def marker_residual(self) -> Array:
        """Distance of the consistent motion from each of `fit.points` in the frames of the motion, (T, n) [m]."""
        return self.fit.residual[np.isin(self.measured.time, self.motion.time)]

    @cached_property
    def constraint_violation(self) -> Array:
        """Largest violation of a constraint by the poses of the motion, (T,) [m, or a cosine]."""
        return np.asarray(np.abs(self.model.constraints.violation(self.motion.q)).max(axis=1))

    @property
    def balance_limit(self) -> float:
        """Residual force at the pelvis up to which a frame is valid [body weights]."""
        total = np.sum([ground.force for ground in self.reactions], axis=0)
        return balance_limit(total, self.model.mass.total * STANDARD_GRAVITY)

    def validity(self, moments: Array) -> MotionValidity:
        """Which frames can be shared among muscles, given the generalized forces (T, K+6) of inverse dynamics."""
        joints, weight = self.model.tree.joint_count, self.model.mass.total * STANDARD_GRAVITY
        residual = np.linalg.norm(moments[:, joints : joints + 3], axis=1) / weight
        motion = (self.joint_rotations, self.motion.time, self.fit.points, self.marker_residual)
        return MotionValidity.of(*motion, residual, self.balance_limit, self.constraint_violation)

    def warnings(self, mapping: Mapping[str, Mapping[str, float]], method: str) -> list[MotionWarning]:
        """Why the consistent motion, or a part of it, is not plausible; causes first."""
        time = self.motion.time
        return [
            *consistency_warnings(self.constraint_violation, time),
            *jump_warnings(mapping, self.joint_rotations, time),
            *foot_warnings(self.fit.points, self.marker_residual, time, method),
        ]


@dataclass(frozen=True)
class JointLoads:
    """Forces at the joints of a leg, as a function of tendon forces.

    contact = net + sum_m F_m sum_p dL_m/dr_p over the path points p on the far side: a muscle pulls each of its
    points with -F dL/dr, and the joint carries the reaction. Components forward, left and up.
    """

    net: dict[str, Array]  # force on the distal segment without muscle forces, (T, 3) [N] by joint
    across: dict[str, Array]  # the sums over the points, for one newton in each muscle, (T, n, 3) by joint

    def contact(self, tension: Array) -> dict[str, Array]:
        """Force on the distal segment with tendon forces (T, n) [N], (T, 3) [N] by joint."""
        return {
            joint: self.net[joint] + np.einsum("tm,tmx->tx", tension, across)
            for joint, across in self.across.items()
        }

    @property
    def matrix(self) -> Array:
        """All components below each other, (T, 3 x joints, n), for the forces of the contractile elements."""
        return np.concatenate([across.transpose(0, 2, 1) for across in self.across.values()], axis=1)

    def offset(self, passive_force: Array) -> Array:
        """The same components where muscles bear only passive forces (T, n) [N], (T, 3 x joints) [N]."""
        return np.concatenate(list(self.contact(passive_force).values()), axis=1)

    def names(self, side: str) -> tuple[str, ...]:
        """Of the components: knee_r_x for the one of the right knee that points forward."""
        return tuple(f"{joint}_{side}_{axis}" for joint in self.net for axis in "xyz")


@dataclass(frozen=True)
class LegMechanics:
    """Everything about a leg that the sharing needs and that does not depend on the cost."""

    state: MuscleState  # the n muscles along the motion
    loads: JointLoads  # forces at the joints by tendon forces
    moment: Array  # (T, 7) net joint moments over `LEG_DOFS` [N m]; NaN in frames that were not measured
    usable: Mask  # (T,) frames with a valid motion; the others are not shared
    time: Array  # (T,) [s]
    emg: Array | None = (
        None  # (T, n) activations that EMG lets expect, NaN where not measured; None without EMG
    )

    @property
    def side(self) -> str:
        """Of the leg: "r" or "l"."""
        return self.state.muscles.side


@dataclass(frozen=True)
class LegResult:
    """Muscles of one leg and the forces they share; force (T, 3) [N] at each joint without and with muscle forces.

    tendons: fibers and tendons as they were solved where tendons are elastic, None where they are rigid; notes: what a
    user should know of how they were.
    """

    side: str
    state: MuscleState
    problem: Problem
    solution: Solution
    net_reaction: dict[str, Array]
    contact_force: dict[str, Array]
    tendons: TendonStates | None = None
    notes: tuple[str, ...] = ()

    @property
    def dofs(self) -> tuple[str, ...]:
        """The shared degrees of freedom."""
        return self.problem.dof or ()


@dataclass(frozen=True)
class Prepared:
    """A trial up to the sharing of forces.

    The last six of the moments are the residual at the pelvis; NaN where a foot that they depend on was not measured.
    """

    trial: Trial
    options: Options
    mechanics: Mechanics
    moments: Array  # (T, K+6) generalized forces [N m, N] of inverse dynamics
    validity: MotionValidity
    gait: Gait
    legs: tuple[LegMechanics, ...]
    measured: MeasuredActivation | None = None


@dataclass(frozen=True)
class Analysis:
    """A prepared trial and the muscle forces of each analysed leg."""

    prepared: Prepared
    legs: tuple[LegResult, ...]

    @property
    def muscle_names(self) -> list[str]:
        """Of both legs, with side."""
        return [name for leg in self.legs for name in leg.state.muscles.names]

    @property
    def activation(self) -> Array:
        """(T, n) of both legs, NaN in frames without a valid solution."""
        return np.concatenate(
            [np.where(leg.solution.solved[:, None], leg.solution.activation, np.nan) for leg in self.legs],
            axis=1,
        )

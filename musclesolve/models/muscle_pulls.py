"""Loads of the joints that muscles serve: the net ones of inverse dynamics, and what each muscle adds to them.

A muscle pulls at the bodies beyond a joint; the quadriceps pulls at the shank through the patella. `JointLoads` sums
both for given tendon forces. The sharing of moments needs them only for costs of joint reactions.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, contiguous, grouped
from musclesolve._util.sides import SIDES, side_of
from musclesolve.dynamics.inverse.newton_euler import DistalLoads
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.models.body import JointLoads, Pulls
from musclesolve.models.knee import Ligament, PatellarLever, quadriceps
from musclesolve.muscles.muscle_state import ScaledState
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles


@dataclass(frozen=True, eq=False)
class MuscleJoints:
    """The joints (J) of the degrees of freedom that some muscles serve: all that their loads need except the motion.

    A joint is a pivot with the name of its point. Bodies distal to the first of its degrees of freedom in `dof_names`
    are distal to the joint. (For the ankle this is dorsiflexion: half of the shank rotates with ankle adduction.)

    muscles: of one group on the model; ligament: factor on the arm of the patellar ligaments. What the pulls of muscles
    need is found when it is first used.
    """

    model: Model
    muscles: ScaledMuscles
    ligament: float = 1.0

    @cached_property
    def served(self) -> dict[str, list[str]]:
        """Joint -> its degrees of freedom that muscles serve."""
        pivots = {dof.name: dof.pivot for dof in self.model.topology.dofs}
        return grouped((pivots[dof], dof) for dof in self.muscles.dof_names)

    @cached_property
    def dofs(self) -> Indices:
        """The first degree of freedom of each joint, (J,)."""
        return np.array([self.model.joint(dofs[0]) for dofs in self.served.values()])

    @cached_property
    def knees(self) -> dict[str, str]:
        """Joint -> its flexion, of knees: right, left."""
        flexions = (f"knee_flexion_{side}" for side in SIDES)
        return {name: dof for dof in flexions for name, dofs in self.served.items() if dof in dofs}

    @cached_property
    def at_knees(self) -> "Knees":
        """The knees with their ligaments."""
        model, joints, rows = self.model, [*self.served], self.muscles.dof_names
        standing, sides = model.standing, [side_of(dof) for dof in self.knees.values()]
        ends = [[standing[model.slot(f"{joint}_{side}")] for joint in ("knee", "ankle")] for side in sides]
        ligaments = [
            Ligament.from_shank_length(side, float(np.linalg.norm(ankle - knee)), self.ligament)
            for side, (knee, ankle) in zip(sides, ends, strict=True)
        ]
        return Knees(
            dof=np.array([model.dof(dof) for dof in self.knees.values()], np.intp),
            shank=np.array([model.body(f"shank_{side}") for side in sides], np.intp),
            joint=np.array([joints.index(name) for name in self.knees], np.intp),
            row=np.array([rows.index(dof) for dof in self.knees.values()], np.intp),
            ligament=Ligament(*np.array([[*one] for one in ligaments]).reshape(-1, 2).T[..., None]),
            heads=quadriceps(self.muscles.parameters.names),
        )

    @cached_property
    def beyond(self) -> Mask:
        """The groups of nodes (`Paths.groups`) distal to each joint, then those that pull at each patella, (J + K, G).

        The patella is a frame of its own that moves with the knee, or a part of the shank.
        """
        model, paths = self.model, self.muscles.paths
        of_joints = [paths.groups_on(model.distal_bodies(dofs[0])) for dofs in self.served.values()]
        frames = (np.flatnonzero(paths.frames.dof == dof) for dof in self.at_knees.dof)
        shanks = (model.distal_bodies(flexion) for flexion in self.knees.values())
        return np.stack([*of_joints, *map(paths.groups_on, shanks, frames)])

    @cached_property
    def guided(self) -> list[tuple[int, Indices, Indices]]:
        """Joints where couples guide points and frames, their degrees of freedom, and columns of `PathState.explicit`.

        A couple is the change of L_MT about each axis with the bodies at rest; its column is -1 for none.
        """
        guided = []
        for number, dofs in enumerate(self.served.values()):
            numbers = np.sort([self.model.dof(dof) for dof in dofs]).astype(np.intp)
            columns = self.muscles.paths.moved_by(numbers, self.model.tree)[1]
            if (columns >= 0).any():
                guided.append((number, numbers, columns))
        return guided

    def loads(
        self, motion: Motion, forces: DistalLoads, state: ScaledState, rotation: Array | None = None
    ) -> JointLoads:
        """The loads of the joints from the forces on the bodies and a state of the muscles, about the joint centers.

        rotation (T, B, 3, 3): of the bodies from standing, where it is known.
        """
        pivots = motion.q[:, self.model.tree.pivot[self.dofs]]
        force, moment = forces.at(self.model.tree.child[self.dofs], pivots)
        pulls = MusclePulls(self, motion, state, rotation)
        return JointLoads(tuple(self.served), force, moment, pulls, tuple(self.knees))


@dataclass(frozen=True, eq=False)
class MusclePulls:
    """Pulls of the muscles of a state at their joints, computed when they are needed; see `MuscleJoints.loads`."""

    joints: MuscleJoints
    motion: Motion
    state: ScaledState
    rotation: Array | None = None

    def __call__(self, frames: slice | Indices) -> Pulls:
        """The pulls in some frames."""
        return self.whole.frames(frames)

    @cached_property
    def whole(self) -> Pulls:
        """The pulls in all frames."""
        from musclesolve.muscles.paths.kernel.entry import COUPLES

        motion, joints, path, tree = self.motion, self.joints, self.state.path, self.joints.model.tree
        count = len(joints.served)
        centers = np.zeros((len(motion.q), len(joints.beyond), 3))
        centers[:, :count] = motion.q[:, tree.pivot[joints.dofs]]
        pull, about = path.pulls(joints.beyond, centers)
        axes = contiguous(motion.axes(tree))
        for joint, dofs, columns in joints.guided:
            COUPLES.load()(path.explicit, columns, contiguous(axes[:, dofs]), about[:, joint])
        if joints.knees:  # the patellar ligaments in place of the quadriceps
            knees, heads = joints.at_knees, joints.at_knees.heads
            at, at_patella = (slice(None), knees.joint[:, None], heads), pull[:, count:, heads]
            arms = self.state.moment_arm[:, knees.row[:, None], heads]
            pull[:, count:] = 0.0
            loads = knees.lever(joints.model, motion, self.rotation).loads(arms, at_patella)
            pull[at], about[at], pull[:, count:, heads] = loads
        return Pulls(pull[:, :count], about[:, :count], pull[:, count:])


class Knees(NamedTuple):
    """Flexions among the degrees of freedom, shanks, places among joints and rows of moment arms of K knees, (K,) each.

    ligament: of the patellas, with arrays (K, 1). heads: numbers of the heads of the quadriceps among the muscles.
    """

    dof: Indices
    shank: Indices
    joint: Indices
    row: Indices
    ligament: Ligament
    heads: Indices

    def lever(self, model: Model, motion: Motion, rotation: Array | None = None) -> PatellarLever:
        """The levers of the patellas along a motion, (T, K, 3) each; rotation (T, B, 3, 3): of bodies, if known."""
        if rotation is None:
            shank = model.rigid_bodies.subset(self.shank).rotation(motion.q)
        else:
            shank = rotation[:, self.shank]
        flexion, spin = motion.coordinates[:, self.dof], motion.axes(model.tree)[:, self.dof]
        return PatellarLever.from_flexion(self.ligament, flexion, shank[..., 2], shank[..., 1], spin)

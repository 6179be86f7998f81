"""The expanded system: no two bodies share a point or vector, so that joint reactions are multipliers.

A model whose bodies share points and vectors has no rows for its joints, and no multipliers that would be their
reactions (Silva 2003, 2.4.2). Here every body gets copies of its own, and the joints become rows: r_a - r_b = 0 for a
point that two bodies had in common (2.20), the same for a vector (2.21), and perpendicular vectors of two bodies in a
universal joint (2.3.3). A revolute joint so has six rows for five constraints; two bodies on two points, besides, can
pull at each other along the line. The multipliers then are those of minimum norm (2.88), and what is reported is the
force and moment of each joint's rows on its distal body, -Phi_q^T lambda, which is unique (corrections B5 and B10).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.inverse.expanded_model import ExpandedModel
from musclesolve.dynamics.inverse.external_wrenches import Wrench, check_frames
from musclesolve.dynamics.inverse.joint_couples import acting_bodies
from musclesolve.dynamics.inverse.lagrange_multipliers import actuated_moments
from musclesolve.dynamics.inverse.redundant_constraints import rigid_wrench
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.vectors import blocks
from musclesolve.errors import InputError

_BLOCK = 32  # Frames solved together; a frame of the expanded human takes a few megabytes


@dataclass(frozen=True)
class JointReactions:
    """What the distal body of each joint receives through its rows: point, force and moment about it, (T, J, 3).

    moments (T, K+6): net joint moments, which the actuators supply and the reactions do not contain.
    """

    joints: tuple[tuple[str, str], ...]
    point: Array
    force: Array
    moment: Array
    moments: Array

    def joint(self, distal: str) -> int:
        """Index of the joint before a body."""
        bodies = [names[0] for names in self.joints]
        if distal not in bodies:
            raise unknown_name(distal, "joint before a body", bodies)
        return bodies.index(distal)


def joint_reactions(
    expanded: ExpandedModel, motion: Motion, wrenches: list[Wrench], drivers: tuple[str, ...] = ()
) -> JointReactions:
    """Joint reactions and net joint moments from the multipliers of the expanded system (2.83, 2.86, 2.88).

    The motion is that of the original model. `drivers` are degrees of freedom with drivers; the others have couples.

    Raises:
        InputError: a model that is not expanded, a motion of another model, wrenches or drivers that do not fit.
    """
    if not isinstance(expanded, ExpandedModel):
        raise InputError(
            f"the model {expanded.topology.name!r} is not expanded",
            code="conflict",
            expected="a model in which no two bodies share points and vectors",
            remedy="joint_reactions(expand(model), motion, wrenches)",
        )
    check_frames(wrenches, len(motion.time))
    parts = []
    for block in blocks(len(motion.time), _BLOCK):
        some = expanded.motion(motion.frames(block))
        pushed = [wrench.frames(block) for wrench in wrenches]
        solved = actuated_moments(expanded, some, pushed, drivers)
        parts.append((*reactions_of(expanded, some.q, solved.constraint), solved.moments))
    return JointReactions(
        tuple(expanded.joint_rows), *(np.concatenate(part) for part in zip(*parts, strict=True))
    )


def reactions_of(expanded: ExpandedModel, q: Array, multipliers: Array) -> tuple[Array, Array, Array]:
    """Point, force and moment (T, J, 3) of every joint's rows on its distal body, from multipliers (T, c)."""
    topology, jacobian = expanded.topology, expanded.constraints.jacobian(q)
    found = []
    for (distal, proximal), rows in expanded.joint_rows.items():
        body = topology.bodies[topology.body_index[distal]]
        slots = np.array([topology.slot[name] for name in body.members])
        force = -np.einsum("trnx,tr->tnx", jacobian[:, rows][:, :, slots], multipliers[:, rows])
        about = q[:, _pivot(expanded, distal, proximal)]
        found.append((about, *rigid_wrench(q[:, slots], force, slots < topology.point_count, about)))
    point, force, moment = (np.stack(part, axis=1) for part in zip(*found, strict=True))
    return point, force, moment


def _pivot(expanded: ExpandedModel, distal: str, proximal: str) -> int:
    """Slot about which a joint's moment is taken: the pivot of its last degree of freedom."""
    joint = np.flatnonzero(acting_bodies(expanded)[1] == expanded.body(distal))
    if len(joint):
        return int(expanded.tree.pivot[joint[-1]])
    return next(
        expanded.slot(tie.distal_copy)
        for tie in expanded.ties
        if (tie.distal, tie.proximal) == (distal, proximal)
    )

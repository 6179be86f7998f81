"""The expanded system: no two bodies share a point or vector, so that joint reactions are multipliers.

A model whose bodies share points and vectors has no rows for its joints, and no multipliers that would be their
reactions (Silva 2003, 2.4.2). Here every body gets copies of its own, and the joints become rows: r_a - r_b = 0 for a
point that two bodies had in common (2.20), the same for a vector (2.21), and perpendicular vectors of two bodies in a
universal joint (2.3.3). A revolute joint so has six rows for five constraints; two bodies on two points, besides, can
pull at each other along the line. The multipliers then are those of minimum norm (2.88), and what is reported is the
force and moment of each joint's rows on its far body, -Phi_q^T lambda, which is unique (corrections B5 and B10).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.inverse.external_wrenches import Wrench, check_frames
from musclesolve.dynamics.inverse.joint_actuators import actuated_moments
from musclesolve.dynamics.inverse.joint_couples import acting_bodies
from musclesolve.dynamics.inverse.redundant_constraints import rigid_wrench
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.mechanism.constraint_rows import coincident
from musclesolve.dynamics.model.constraints import Constraints
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError

_BLOCK = 32
"""Frames solved together; a frame of the expanded human takes a few megabytes."""


@dataclass(frozen=True)
class Tie:
    """Two copies of one point or vector, of a body and of the one before it."""

    far: str
    near: str
    far_copy: str
    near_copy: str


@dataclass(frozen=True)
class ExpandedModel(Model):
    """A model in which every body has its own points and vectors, tied by constraint rows.

    source (N',): which coordinate of the original each one is a copy of.
    """

    source: AnyArray = field(default_factory=lambda: np.zeros(0, dtype=int))
    ties: tuple[Tie, ...] = ()
    crossed: tuple[Tie, ...] = ()

    def __post_init__(self) -> None:
        """The original was checked; here no two bodies share a pivot or an axis."""

    @cached_property
    def constraints(self) -> Constraints:
        """Rows of every body by itself, of perpendicular vectors, then of the ties."""
        rows = Constraints.build(self.topology, self.standing)
        pairs = [(tie.far_copy, tie.near_copy) for tie in self.ties]
        return rows.with_linear(*coincident(self.topology, pairs))

    def motion(self, motion: Motion) -> Motion:
        """The motion of the original by these coordinates."""
        if motion.q.shape[1] != self.original:
            raise InputError(
                f"a motion of {motion.q.shape[1]} points and vectors for {self.topology.name!r}, made from a model "
                f"with {self.original}",
                expected="the motion of the model that was expanded",
            )
        q, qd, qdd = (part[:, self.source] for part in (motion.q, motion.qd, motion.qdd))
        return replace(motion, q=q, qd=qd, qdd=qdd)

    @property
    def original(self) -> int:
        """How many points and vectors the original has."""
        return int(self.source.max(initial=-1)) + 1

    @cached_property
    def joint_rows(self) -> dict[tuple[str, str], list[int]]:
        """Constraint rows of each joint, by far and near body."""
        names = self.constraints.names
        first = len(names) - 3 * len(self.ties)
        rows: dict[tuple[str, str], list[int]] = {}
        for k, tie in enumerate(self.ties):
            rows.setdefault((tie.far, tie.near), []).extend(range(first + 3 * k, first + 3 * k + 3))
        for tie in self.crossed:
            one, other = tie.far_copy, tie.near_copy
            row = next(names.index(n) for n in (f"{one} . {other}", f"{other} . {one}") if n in names)
            rows.setdefault((tie.far, tie.near), []).append(row)
        return rows


@dataclass(frozen=True)
class JointReactions:
    """What the far body of each joint receives through its rows: point, force and moment about it, (T, J, 3).

    moments (T, K+6): net joint moments, which the actuators supply and the reactions do not contain.
    """

    joints: tuple[tuple[str, str], ...]
    point: AnyArray
    force: AnyArray
    moment: AnyArray
    moments: AnyArray

    def joint(self, far: str) -> int:
        """Index of the joint before a body.

        Raises:
            InputError: no joint leads to it.
        """
        bodies = [names[0] for names in self.joints]
        if far not in bodies:
            raise unknown_name(far, "joint before a body", bodies)
        return bodies.index(far)


def joint_reactions(
    expanded: ExpandedModel, motion: Motion, wrenches: list[Wrench], drivers: tuple[str, ...] = ()
) -> JointReactions:
    """Joint reactions and net joint moments from the multipliers of the expanded system (2.83, 2.86, 2.88).

    Args:
        expanded: from `expansion.expand`.
        motion: of the original model.
        wrenches: forces from outside.
        drivers: degrees of freedom led by drivers; the others have unknown couples.

    Raises:
        InputError: a model that is not expanded, a motion of another model, wrenches or drivers that do not fit.
    """
    if not isinstance(expanded, ExpandedModel):
        raise InputError(
            f"the model {expanded.topology.name!r} is not expanded",
            expected="a model in which no two bodies share points and vectors",
            remedy="joint_reactions(expand(model), motion, wrenches)",
        )
    check_frames(wrenches, len(motion.time))
    parts = []
    for start in range(0, len(motion.time), _BLOCK):
        keep = np.arange(start, min(start + _BLOCK, len(motion.time)))
        some = expanded.motion(motion.frames(keep))
        pushed = [Wrench(w.body, w.force[keep], w.moment[keep]) for w in wrenches]
        solved = actuated_moments(expanded, some, pushed, drivers)
        parts.append((*reactions_of(expanded, some.q, solved.constraint), solved.moments))
    return JointReactions(
        tuple(expanded.joint_rows), *(np.concatenate(part) for part in zip(*parts, strict=True))
    )


def reactions_of(
    expanded: ExpandedModel, q: AnyArray, multipliers: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Point, force and moment (T, J, 3) of every joint's rows on its far body, from multipliers (T, c)."""
    topology, jacobian = expanded.topology, expanded.constraints.jacobian(q)
    found = []
    for (far, near), rows in expanded.joint_rows.items():
        body = topology.bodies[topology.body_index[far]]
        slots = np.array([topology.slot[name] for name in body.members])
        force = -np.einsum("trnx,tr->tnx", jacobian[:, rows][:, :, slots], multipliers[:, rows])
        about = q[:, _pivot(expanded, far, near)]
        found.append((about, *rigid_wrench(q[:, slots], force, slots < topology.point_count, about)))
    point, force, moment = (np.stack(part, axis=1) for part in zip(*found, strict=True))
    return point, force, moment


def _pivot(expanded: ExpandedModel, far: str, near: str) -> int:
    """Slot about which a joint's moment is taken: the pivot of its last degree of freedom."""
    joint = np.flatnonzero(acting_bodies(expanded)[1] == expanded.body(far))
    if len(joint):
        return int(expanded.tree.pivot[joint[-1]])
    return next(expanded.slot(tie.far_copy) for tie in expanded.ties if (tie.far, tie.near) == (far, near))

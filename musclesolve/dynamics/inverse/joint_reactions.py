"""The expanded system: no two bodies share a point or vector, so that joint reactions are multipliers.

A model whose bodies share points and vectors has no rows for its joints, and no multipliers that would be their
reactions (Silva 2003, 2.4.2). Here every body gets copies of its own (Fig. 2.2, 2.3.3), and the joints become rows:
r_a - r_b = 0 for a point that two bodies had in common (2.20), the same for a vector (2.21), and perpendicular vectors
of two bodies in a universal joint (2.3.3). A revolute joint so has six rows for five constraints; two bodies on two
points, besides, can pull at each other along the line. The multipliers then are those of minimum norm (2.88), and what
is reported is the force and moment of each joint's rows on its distal body, -Phi_q^T lambda, which is unique
(corrections B5 and B10).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.inverse.external_wrenches import Wrench, check_frames
from musclesolve.dynamics.inverse.joint_couples import acting_bodies
from musclesolve.dynamics.inverse.lagrange_multipliers import actuated_moments, rigid_wrench
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints, coincident
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.topology import Direction, Dof, Point, Topology
from musclesolve.dynamics.vectors import blocks
from musclesolve.errors import InputError

_BLOCK = 32  # Frames solved together; a frame of the expanded human takes a few megabytes


@dataclass(frozen=True)
class RowReactions:
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
) -> RowReactions:
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
    return RowReactions(
        tuple(expanded.joint_rows), *(np.concatenate(part) for part in zip(*parts, strict=True))
    )


def reactions_of(expanded: ExpandedModel, q: Array, multipliers: Array) -> tuple[Array, Array, Array]:
    """Point, force and moment (T, J, 3) of every joint's rows on its distal body, from multipliers (T, c)."""
    topology, jacobian = expanded.topology, expanded.constraints.jacobian(q)
    child, parts = acting_bodies(expanded)[1], []
    for (distal, proximal), rows in expanded.joint_rows.items():
        body = topology.body_index[distal]
        slots = np.array([topology.slot[name] for name in topology.bodies[body].members])
        force = -np.einsum("trnx,tr->tnx", jacobian[:, rows][:, :, slots], multipliers[:, rows])
        # A joint's moment is taken about the pivot of its last degree of freedom; without any, about a shared point.
        if len(joint := np.flatnonzero(child == body)):
            pivot = int(expanded.tree.pivot[joint[-1]])
        else:
            tied = (t.distal_copy for t in expanded.ties if (t.distal, t.proximal) == (distal, proximal))
            pivot = expanded.slot(next(tied))
        about = q[:, pivot]
        parts.append((about, *rigid_wrench(q[:, slots], force, slots < topology.point_count, about)))
    point, force, moment = (np.stack(part, axis=1) for part in zip(*parts, strict=True))
    return point, force, moment


@dataclass(frozen=True)
class Tie:
    """Two copies of one point or vector, of a body and of the one before it."""

    distal: str
    proximal: str
    distal_copy: str
    proximal_copy: str


@dataclass(frozen=True)
class ExpandedModel(Model):
    """A model in which every body has its own points and vectors, tied by constraint rows.

    source (N',): which coordinate of the original each one is a copy of.
    """

    source: Indices = field(default_factory=lambda: np.zeros(0, dtype=int))
    ties: tuple[Tie, ...] = ()
    crossed: tuple[Tie, ...] = ()

    def __post_init__(self) -> None:
        """The original was checked; here no two bodies share a pivot or an axis."""

    @cached_property
    def constraints(self) -> Constraints:
        """Rows of every body by itself, of perpendicular vectors, then of the ties."""
        rows = Constraints.build(self.topology, self.standing)
        pairs = [(tie.distal_copy, tie.proximal_copy) for tie in self.ties]
        return rows.with_linear(*coincident(self.topology, pairs))

    def motion(self, motion: Motion) -> Motion:
        """The motion of the original by these coordinates."""
        if motion.q.shape[1] != self.original:
            raise InputError(
                f"a motion of {motion.q.shape[1]} points and vectors for {self.topology.name!r}, made from a model "
                f"with {self.original}",
                code="bad_shape",
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
        """Constraint rows of each joint, by distal and proximal body."""
        names = self.constraints.names
        first = len(names) - 3 * len(self.ties)
        rows: dict[tuple[str, str], list[int]] = {}
        for k, tie in enumerate(self.ties):
            rows.setdefault((tie.distal, tie.proximal), []).extend(range(first + 3 * k, first + 3 * k + 3))
        for tie in self.crossed:
            one, other = tie.distal_copy, tie.proximal_copy
            row = next(names.index(n) for n in (f"{one} . {other}", f"{other} . {one}") if n in names)
            rows.setdefault((tie.distal, tie.proximal), []).append(row)
        return rows


def expand(model: Model) -> ExpandedModel:
    """A model with copies of its points and vectors, so that no two bodies share one."""
    return _Expansion(model).build()


class _Expansion:
    """Copies of every point and vector, and where the joints take hold of them."""

    def __init__(self, model: Model) -> None:
        self.model, self.topology = model, model.topology
        self.members = [{*body.members} for body in self.topology.bodies]
        self.parent, self.child = acting_bodies(model)
        joints = zip(self.parent.tolist(), self.child.tolist(), strict=True)
        self.proximal = {distal: proximal for proximal, distal in joints}
        self.owner = dict(zip(self.topology.coordinate_names, model.tree.owner.tolist(), strict=True))

    def build(self) -> ExpandedModel:
        old, model = self.topology, self.model
        points = self._copies(lambda name: old.slot[name] < old.point_count)
        vectors = self._copies(lambda name: old.slot[name] >= old.point_count)
        source = np.array([old.slot[name] for name in (*points.values(), *vectors.values())])
        standing = model.standing[source]
        placed = tuple(
            Point(k, name, old.origin, tuple(standing[k].tolist()), "") for k, name in enumerate(points)
        )
        directions = {
            name: tuple(model.standing[old.slot[plain]].tolist()) for name, plain in vectors.items()
        }
        bodies = tuple(
            replace(
                body,
                points=tuple(self._copy(name, k) for name in body.points),
                vectors=tuple(self._copy(name, k) for name in body.vectors),
                extra=tuple(self._copy(name, k) for name in body.extra),
            )
            for k, body in enumerate(old.bodies)
        )
        crossed = tuple(self._crossed(one, other) for one, other in old.universal)
        universal = tuple((tie.distal_copy, tie.proximal_copy) for tie in crossed)
        dofs = tuple(self._dof(k, dof) for k, dof in enumerate(old.dofs))
        topology = Topology(
            f"{old.name}, expanded", old.root, old.origin, placed, directions, bodies, universal, dofs
        )
        expanded = {"topology": topology, "standing": standing, "source": source}
        kept = {part.name: getattr(model, part.name) for part in fields(Model) if part.name not in expanded}
        return ExpandedModel(**kept, **expanded, ties=self._ties(), crossed=crossed)

    def _copy(self, name: str, body: int) -> str:
        return name if self.owner[name] == body else f"{name}@{self.topology.bodies[body].name}"

    def _copies(self, wanted: Callable[[str], bool]) -> dict[str, str]:
        """Names of copies and of what they copy, the first holders' own before the others'."""
        held = [
            (name, body) for body, names in enumerate(self.members) for name in sorted(names) if wanted(name)
        ]
        held.sort(key=lambda item: (self.topology.slot[item[0]], self.owner[item[0]] != item[1]))
        return {self._copy(name, body): name for name, body in held}

    def _upward(self, body: int) -> list[int]:
        chain = [body]
        while chain[-1] in self.proximal:
            chain.append(self.proximal[chain[-1]])
        return chain

    def _ties(self) -> tuple[Tie, ...]:
        """Each copy tied to that of the nearest body towards the base that has one, else to the first holder's."""
        ties, bodies = [], self.topology.bodies
        for distal, names in enumerate(self.members):
            for name in sorted(names, key=self.topology.slot.__getitem__):
                if self.owner[name] != distal:
                    holders = [body for body in self._upward(distal)[1:] if name in self.members[body]]
                    proximal = holders[0] if holders else self.owner[name]
                    copies = self._copy(name, distal), self._copy(name, proximal)
                    ties.append(Tie(bodies[distal].name, bodies[proximal].name, *copies))
        return tuple(ties)

    def _crossed(self, one: str, other: str) -> Tie:
        """The two bodies of a universal joint: neighbors that have one of its vectors each."""
        bodies = self.topology.bodies
        for distal_name, proximal_name in ((one, other), (other, one)):
            for distal, proximal in self.proximal.items():
                if distal_name in self.members[distal] and proximal_name in self.members[proximal]:
                    copies = self._copy(distal_name, distal), self._copy(proximal_name, proximal)
                    return Tie(bodies[distal].name, bodies[proximal].name, *copies)
        distal, proximal = self.owner[one], self.owner[other]
        return Tie(bodies[distal].name, bodies[proximal].name, one, other)

    def _dof(self, index: int, dof: Dof) -> Dof:
        proximal = self._upward(int(self.parent[index]))
        beyond = [distal for distal in self.proximal if self.child[index] in self._upward(distal)]
        distal = [int(self.child[index]), *beyond]
        return replace(
            dof,
            axis=self._take(dof.axis, [distal[0], *proximal]),
            pivot=self._take((None, dof.pivot), [distal[0], *proximal])[1],
            reference=self._take(dof.reference, proximal),
            follower=self._take(dof.follower, distal),
        )

    def _take(self, direction: Direction, bodies: list[int]) -> Direction:
        """The copies of a direction in the first of the bodies that has it."""
        names = {name for name in direction if name}
        for body in bodies:
            if names and names <= self.members[body]:
                start, end = direction
                return (None if start is None else self._copy(start, body)), self._copy(end, body)
        return direction

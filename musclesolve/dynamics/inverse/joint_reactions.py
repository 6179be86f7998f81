"""The expanded system: no two bodies share a point or vector, so that joint reactions are multipliers.

A model whose bodies share points and vectors has no rows for its joints, so that no multipliers are their
reactions (Silva 2003, 2.4.2). Here every body gets copies of its own (Fig. 2.2, 2.3.3), and the joints become rows:
r_a - r_b = 0 for a point that two bodies had in common (2.20), the same for a vector (2.21), and perpendicular vectors
of two bodies in a universal joint (2.3.3). A revolute joint so has six rows for five constraints; two bodies on two
points, besides, can pull at each other along the line. The multipliers then have minimum norm (2.88). The result is the
force and moment of each joint's rows on its distal body, -Phi_q^T lambda, which is unique (corrections B5 and B10).
"""

from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.checks import check_type
from musclesolve._util.messages import check_known
from musclesolve.dynamics.inverse.lagrange_multipliers import acting_bodies, actuated_moments, rigid_wrench
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints, coincident
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.dynamics.model.rigid_body import Wrench, check_frames
from musclesolve.dynamics.model.topology import Direction, Point
from musclesolve.errors import input_error

_BLOCK = 32  # Frames solved together; a frame of the expanded human takes a few megabytes


@dataclass(frozen=True)
class RowReactions:
    """Reactions on the distal body of each joint through its rows: point, force and moment about the point, (T, J, 3).

    moments (T, K+6): net joint moments, which the actuators supply and the reactions do not contain.
    """

    joints: tuple[tuple[str, str], ...]
    point: Array
    force: Array
    moment: Array
    moments: Array

    def joint(self, distal: str) -> int:
        """Index of the joint on the proximal side of a body."""
        bodies = [names[0] for names in self.joints]
        check_known([distal], "joint before a body", bodies)
        return bodies.index(distal)


def joint_reactions(
    expanded: Model, motion: Motion, wrenches: list[Wrench], drivers: tuple[str, ...] = ()
) -> RowReactions:
    """Joint reactions and net joint moments from the multipliers of the expanded system (Silva 2003, 2.83, 2.86, 2.88).

    Args:
        expanded: the model, from `expand`.
        motion: motion of the original model over T frames.
        wrenches: external forces on its bodies.
        drivers: names of degrees of freedom with drivers; the others have couples.

    Returns:
        Point [m], force [N] and moment [N m] on the distal body of every joint, (T, J, 3) each, and the joint moments.

    Raises:
        InputError: a model that is not expanded, a motion of another model, wrenches or drivers that do not fit.

    Examples:
        >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> expanded = ms.dynamics.expand(stride.model)
        >>> reactions = ms.dynamics.joint_reactions(expanded, stride.motion(time), stride.wrenches(time))
        >>> np.allclose(reactions.moments[:, :38], stride.joint_moments(time), atol=1e-5)
        True
    """
    check_type(expanded, Model, "expanded", "a model, from expand()")
    if not isinstance(expanded, ExpandedModel):
        raise input_error(
            "conflict",
            problem=f"the model {expanded.topology.name!r} is not expanded",
            expected="a model in which no two bodies share points and vectors",
            remedy="joint_reactions(expand(model), motion, wrenches)",
        )
    check_frames(wrenches, len(check_type(motion, Motion, "motion", "a motion of the original model").time))
    parts = []
    for _, original, acting in motion.blocks(wrenches, _BLOCK):
        some = expanded.motion(original)
        solved = actuated_moments(expanded, some, acting, drivers)
        parts.append((*reactions_of(expanded, some.q, solved.constraint), solved.moments))
    return RowReactions(
        tuple(expanded.joint_rows), *(np.concatenate(part) for part in zip(*parts, strict=True))
    )


def reactions_of(expanded: "ExpandedModel", q: Array, multipliers: Array) -> tuple[Array, Array, Array]:
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
        """Skip the checks of a model: the original passed them, and no two bodies share a pivot or an axis here."""

    @cached_property
    def constraints(self) -> Constraints:
        """Rows of every separate body, of perpendicular vectors, then of the ties."""
        rows = Constraints.build(self.topology, self.standing)
        pairs = [(tie.distal_copy, tie.proximal_copy) for tie in self.ties]
        return rows.with_linear(*coincident(self.topology, pairs))

    def motion(self, motion: Motion) -> Motion:
        """A motion of the original model in the coordinates of the expanded one."""
        original = int(self.source.max(initial=-1)) + 1
        if motion.q.shape[1] != original:
            raise input_error(
                "bad_shape",
                problem=f"a motion of {motion.q.shape[1]} points and vectors for "
                f"{self.topology.name!r}, made from a model with {original}",
                expected="the motion of the model that was expanded",
            )
        q, qd, qdd = (part[:, self.source] for part in (motion.q, motion.qd, motion.qdd))
        return replace(motion, q=q, qd=qd, qdd=qdd)

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
    """Copy the points and vectors of a model so that no two bodies share one; rows that tie them carry joint reactions.

    Returns:
        The expanded model.

    Examples:
        >>> model = ms.dynamics.human_model()
        >>> expanded = ms.dynamics.expand(model)
        >>> len(expanded.standing) > len(model.standing)
        True
    """
    old, bodies, slot = check_model(model).topology, model.topology.bodies, model.topology.slot
    members = [{*body.members} for body in bodies]
    owner = dict(zip(old.coordinate_names, model.tree.owner.tolist(), strict=True))
    parent, child = (ends.tolist() for ends in acting_bodies(model))
    before = dict(zip(child, parent, strict=True))

    def copy(name: str, body: int) -> str:
        return name if owner[name] == body else f"{name}@{bodies[body].name}"

    def upward(body: int) -> list[int]:
        """The body and all bodies between it and the base, from the body on."""
        return [body, *upward(before[body])] if body in before else [body]

    def first_copy(direction: Direction, holders: list[int]) -> Direction:
        """The copies of a direction in the first of these bodies with this direction."""
        start, end = direction
        for body in holders:
            if end and {name for name in direction if name} <= members[body]:
                return (None if start is None else copy(start, body)), copy(end, body)
        return direction

    # Points, then vectors; the original on its first body before the copies on others.
    named_copies = [(name, body) for body, names in enumerate(members) for name in sorted(names)]
    named_copies.sort(key=lambda item: (slot[item[0]], owner[item[0]] != item[1]))
    source, names = np.array([slot[name] for name, _ in named_copies]), [copy(*item) for item in named_copies]
    standing = model.standing[source]
    layout, count = [tuple(place) for place in standing.tolist()], int((source < old.point_count).sum())
    points = tuple(Point(k, names[k], old.origin, layout[k], "") for k in range(count))

    # Each copy is tied to the copy of the nearest body toward the base that has the point, else to the first one.
    ties = []
    for distal, holds in enumerate(members):
        for name in sorted((name for name in holds if owner[name] != distal), key=slot.__getitem__):
            holders = [body for body in upward(distal)[1:] if name in members[body]]
            proximal = holders[0] if holders else owner[name]
            copies = copy(name, distal), copy(name, proximal)
            ties.append(Tie(bodies[distal].name, bodies[proximal].name, *copies))

    # The two bodies of a universal joint: neighbors that have one of its vectors each.
    crossed = []
    for pair in old.universal:
        distal, proximal, one, other = next(
            (
                (distal, proximal, one, other)
                for one, other in (pair, pair[::-1])
                for distal, proximal in before.items()
                if one in members[distal] and other in members[proximal]
            ),
            (owner[pair[0]], owner[pair[1]], *pair),
        )
        copies = copy(one, distal), copy(other, proximal)
        crossed.append(Tie(bodies[distal].name, bodies[proximal].name, *copies))

    dofs = []
    for k, dof in enumerate(old.dofs):
        near = upward(parent[k])
        far = [child[k], *(distal for distal in before if child[k] in upward(distal))]
        dofs.append(
            replace(
                dof,
                axis=first_copy(dof.axis, [child[k], *near]),
                pivot=first_copy((None, dof.pivot), [child[k], *near])[1],
                reference=first_copy(dof.reference, near),
                follower=first_copy(dof.follower, far),
            )
        )
    topology = replace(
        old,
        name=f"{old.name}, expanded",
        points=points,
        vectors=dict(zip(names[count:], layout[count:], strict=True)),
        bodies=tuple(
            replace(
                body,
                points=tuple(copy(name, k) for name in body.points),
                vectors=tuple(copy(name, k) for name in body.vectors),
                extra=tuple(copy(name, k) for name in body.extra),
            )
            for k, body in enumerate(bodies)
        ),
        universal=tuple((tie.distal_copy, tie.proximal_copy) for tie in crossed),
        dofs=tuple(dofs),
    )
    attributes = {field.name: getattr(model, field.name) for field in fields(Model)}
    laid = {"topology": topology, "standing": standing, "source": source}
    return ExpandedModel(**attributes | laid, ties=tuple(ties), crossed=tuple(crossed))

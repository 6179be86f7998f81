"""What is asked of a model definition: names that resolve, a tree of joints, pivots and axes that both bodies have."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from numbers import Real
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.names import similar, unknown_name
from musclesolve.dynamics.model.topology import BASE_DOFS, BODY_KINDS, Direction, Dof, Topology
from musclesolve.errors import InputError

_UNIT = 1e-6
"""A direction's length may differ from one by so much."""

_SQUARE = 1e-6
"""Largest cosine between a joint axis and the directions that drive it."""


def check_topology(topology: Topology, file: Path | None = None) -> None:
    """Refuse a definition whose parts do not fit together.

    Raises:
        InputError: says which point, vector, body or degree of freedom, and what is wrong with it.
    """
    _check_unique(topology, file)
    _check_layout(topology, file)
    _check_bodies(topology, file)
    _check_tree(topology, file)
    for dof in topology.dofs:
        _check_joint(topology, dof, file)


def _check_unique(topology: Topology, file: Path | None) -> None:
    kinds = {
        "points or vectors": [point.name for point in topology.points] + list(topology.vectors),
        "bodies": [body.name for body in topology.bodies],
        "degrees of freedom": list(topology.dof_names),
    }
    for kind, names in kinds.items():
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            taken = f"; {', '.join(BASE_DOFS)} are those of the base" if twice[0] in BASE_DOFS else ""
            raise InputError(
                f"two {kind} have the name {twice[0]!r}",
                code="duplicate_name",
                file=file,
                expected=f"one name each{taken}",
            )


def _check_layout(topology: Topology, file: Path | None) -> None:
    for point in topology.points:
        if not _triple(point.offset):
            raise InputError(
                f"the offset of point {point.name!r} is {point.offset!r}",
                code="bad_model",
                file=file,
                expected="three finite numbers [m]",
            )
    for name, direction in topology.vectors.items():
        length = float(np.linalg.norm(direction)) if _triple(direction) else float("nan")
        if not abs(length - 1.0) <= _UNIT:
            raise InputError(
                f"the direction of vector {name!r} is {direction!r}",
                code="bad_model",
                file=file,
                expected="three finite numbers, a unit vector",
                remedy=f"divide it by its length, {length:.9g}" if length > 0.0 else None,
            )
    placed = {topology.origin, *(point.name for point in topology.layout_order())}
    missing = [point for point in topology.points if point.name not in placed]
    if missing:
        near = similar(missing[0].parent, placed - {missing[0].parent})
        raise InputError(
            f"points {[point.name for point in missing]} hang from no placed point "
            f"({missing[0].name!r} from {missing[0].parent!r})",
            code="bad_model",
            file=file,
            expected=f"a chain from the origin {topology.origin!r}",
            remedy=f"did you mean {' or '.join(near)}?" if near else None,
        )


def _check_bodies(topology: Topology, file: Path | None) -> None:
    for body in topology.bodies:
        _check_names(topology, body.members, f"body {body.name!r}", file)
        if (len(body.points), len(body.vectors)) not in BODY_KINDS:
            raise InputError(
                f"body {body.name!r} has {len(body.points)} points and {len(body.vectors)} vectors",
                code="bad_model",
                file=file,
                expected="2 points and 2 vectors, 3 and 1, 2 and 1, 3 and 0, or 4 and 0",
            )
    used = {name for body in topology.bodies for name in body.members}
    idle = [name for name in topology.coordinate_names if name not in used]
    if idle:
        raise InputError(
            f"{', '.join(idle)}: of no body",
            code="bad_model",
            file=file,
            expected="points and vectors that some body has",
            remedy="name it among a body's points, vectors or extra, or leave it out",
        )
    for pair in topology.universal:
        _check_names(topology, pair, f"universal joint {list(pair)}", file)


def _check_names(topology: Topology, names: Iterable[str], where: str, file: Path | None) -> None:
    for name in names:
        if name not in topology.slot:
            raise unknown_name(name, "point or vector", topology.slot, f", which {where} uses", file)


def _check_tree(topology: Topology, file: Path | None) -> None:
    """Every body but the root is the child of one joint; what is no body has one joint in and one out."""
    bodies, into = topology.body_index, _joints_into(topology)
    if topology.root not in bodies:
        raise unknown_name(topology.root, "body", bodies, " to be the root", file)
    for child, joints in into.items():
        if len(joints) > 1 or child == topology.root:
            raise InputError(
                f"{child!r} is the child of {' and '.join(map(repr, joints))}"
                + (", but it is the root" if child == topology.root else ""),
                code="bad_model",
                file=file,
                expected="a tree: one joint before every body, none before the root",
                remedy="leave the joint out and close the loop by constraint rows",
            )
    for cross in (name for name in into if name not in bodies):
        out = [dof.name for dof in topology.dofs if dof.parent == cross]
        if len(out) != 1:
            near = similar(cross, bodies)
            raise InputError(
                f"{cross!r}, the child of {into[cross][0]!r}, is no body, and {len(out) or 'no'} joints go on from it",
                code="bad_model",
                file=file,
                expected="a body, or the massless cross of a universal joint, with one joint in and one out",
                remedy=f"did you mean {' or '.join(near)}?" if near else None,
            )
    for body in bodies:
        if body != topology.root and body not in into:
            raise InputError(
                f"no joint leads to body {body!r}",
                code="bad_model",
                file=file,
                expected=f"a degree of freedom or spherical joint with child = {body!r}",
            )


def _joints_into(topology: Topology) -> dict[str, list[str]]:
    """Joints by child; the three turns of a spherical joint count as one."""
    into: dict[str, list[str]] = {}
    balls: dict[tuple[str, str, str], int] = {}
    for dof in topology.dofs:
        if dof.fixed_axis is not None:
            key = dof.parent, dof.child, dof.pivot
            balls[key] = balls.get(key, 0) + 1
            if balls[key] % 3 != 1:
                continue
        into.setdefault(dof.child, []).append(dof.name)
    return into


def _check_joint(topology: Topology, dof: Dof, file: Path | None) -> None:
    where = f"degree of freedom {dof.name!r}"
    lines = [name for pair in (dof.axis, dof.reference, dof.follower) for name in pair if name]
    _check_names(topology, [*lines, dof.pivot], where, file)
    if dof.sign not in (-1, 1):
        raise InputError(
            f"{where} has the sign {dof.sign!r}", code="bad_model", file=file, expected="1 or -1"
        )
    if topology.slot[dof.pivot] >= topology.point_count:
        raise InputError(
            f"{where} has the pivot {dof.pivot!r}, a vector", code="bad_model", file=file, expected="a point"
        )
    sides = bodies_of_joint(topology, dof)
    for body in sides:
        _check_held(topology, dof.pivot, body, f"{where}: its pivot", file)
    # Of a universal joint each axis is of one body, the other end is the cross.
    for body, name in zip(sides, (dof.parent, dof.child), strict=True):
        if body == name and dof.fixed_axis is None:
            _check_held(topology, dof.axis, body, f"{where}: its axis", file)


def _check_held(topology: Topology, what: str | Direction, body: str, which: str, file: Path | None) -> None:
    members = topology.bodies[topology.body_index[body]].members
    names = [what] if isinstance(what, str) else [name for name in what if name]
    foreign = [name for name in names if name not in members]
    if foreign or not names:
        raise InputError(
            f"{which} {'->'.join(names)} is not of body {body!r}",
            code="bad_model",
            file=file,
            expected=f"some of {', '.join(members)}",
            remedy="let both bodies have it, as extra if need be",
        )


def bodies_of_joint(topology: Topology, dof: Dof) -> tuple[str, str]:
    """Bodies before and behind a degree of freedom; a massless cross is passed over to the next body."""
    parent, child = dof.parent, dof.child
    while parent not in topology.body_index:
        parent = next(other.parent for other in topology.dofs if other.child == parent)
    while child not in topology.body_index:
        child = next(other.child for other in topology.dofs if other.parent == child)
    return parent, child


def check_drivers(topology: Topology, standing: Array, file: Path | None = None) -> None:
    """Refuse directions to drive by that are not of the body that they are given for, or not perpendicular to the axis.

    Raises:
        InputError: says which degree of freedom.
    """
    padded = np.vstack([standing, np.zeros(3)])
    for dof in (dof for dof in topology.dofs if dof.fixed_axis is None):
        axis = _line(topology, padded, dof.axis)
        pairs = zip(bodies_of_joint(topology, dof), (dof.reference, dof.follower), strict=True)
        for body, direction in pairs:
            _check_held(topology, direction, body, f"degree of freedom {dof.name!r}: its driver's", file)
            line = _line(topology, padded, direction)
            if abs(axis @ line) > _SQUARE * float(np.linalg.norm(axis) * np.linalg.norm(line)):
                raise InputError(
                    f"degree of freedom {dof.name!r}: the direction {'->'.join(n for n in direction if n)} of its "
                    "driver is not perpendicular to its axis",
                    code="bad_model",
                    file=file,
                    expected="a direction of the parent and one of the child, both perpendicular to the axis",
                )


def _line(topology: Topology, padded: Array, direction: Direction) -> Array:
    start, end = topology.slots_of(direction)
    return padded[end] - padded[start]


def _triple(value: object) -> bool:
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != 3:
        return False
    return all(isinstance(part, Real) and isfinite(part) for part in value)

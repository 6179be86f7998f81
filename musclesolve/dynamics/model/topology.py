"""Topology of a model: points, vectors, bodies, degrees of freedom, by name; its definition in a file.

`check_topology` refuses a definition whose parts do not fit together: unknown names, joints that form no tree, pivots
and axes that are not on both bodies.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from muscle_db.similar_names import suggestion
from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import locate, read_text, toml_of
from musclesolve._util.checks import check_array, check_type
from musclesolve._util.messages import Names, as_text, check_known
from musclesolve.errors import InputError, file_error, input_error

Direction = tuple[str | None, str]
"""A direction in natural coordinates: (None, vector name), or (point name, point name), first to second."""

HUMAN = "inverse_human"
"""The bundled definition of a person in inverse dynamics."""
NO_DIRECTION: Direction = (None, "")
"""Placeholder of a spherical joint, which has no axis among the coordinates and no directions that drive it."""

BODY_KINDS = ((2, 2), (3, 1), (2, 1), (3, 0), (4, 0))
"""Allowed numbers of points and vectors of a body."""

BASE_DOFS = ("pelvis_tx", "pelvis_ty", "pelvis_tz", "pelvis_tilt", "pelvis_list", "pelvis_rotation")
"""Degrees of freedom of the base body, the pelvis of a subject, in every model."""


@dataclass(frozen=True)
class Point:
    """A point of the model, placed in the standing pose relative to another one."""

    number: int
    name: str
    parent: str
    offset: tuple[float, float, float]
    scale: str


@dataclass(frozen=True)
class RigidBody:
    """A rigid body, by its points and vectors: 2 and 2, 3 and 1, 2 and 1, 3 and 0, or 4 and 0.

    extra: further points and vectors of the body, each tied to the others by a linear combination (Silva 2003, 2.19).
    """

    number: int
    name: str
    points: tuple[str, ...]
    vectors: tuple[str, ...]
    segment: str
    share: float
    extra: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[str, ...]:
        """All points and vectors of the body."""
        return (*self.points, *self.vectors, *self.extra)


@dataclass(frozen=True)
class Dof:
    """One degree of freedom: the child rotates against the parent about `axis` by `sign` times the coordinate.

    A spherical joint is three degrees of freedom in a row with one child, each about a `fixed_axis`: a unit vector of
    the parent (its components in the standing pose). rest: an angle that the data do not determine is drawn to zero, or
    to its course by the whole motion (`straight_hinges`), as by a point on an arm of this length [m]. nominal: the axis
    is not an axis of the real joint, so that bones and ligaments bear a part of its moment; muscles do not share it
    unless requested.
    """

    name: str
    parent: str
    child: str
    axis: Direction
    sign: int
    pivot: str
    reference: Direction
    follower: Direction
    fixed_axis: tuple[float, float, float] | None = None
    rest: float = 0.0
    nominal: bool = False


@dataclass(frozen=True)
class Topology:
    """A tree of rigid bodies in natural coordinates; `dofs` lists the joint ones, parents before children.

    The positions by name (`slot`, `body_index`, `dof_index`, `joint_index`) refuse an unknown name with an InputError.
    """

    name: str
    root: str
    origin: str
    points: tuple[Point, ...]
    vectors: dict[str, tuple[float, float, float]]
    bodies: tuple[RigidBody, ...]
    universal: tuple[tuple[str, str], ...]
    dofs: tuple[Dof, ...]

    def __hash__(self) -> int:
        return hash((self.name, self.root, len(self.points), len(self.dofs)))

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the points, then of the unit vectors, in the order of the generalized coordinates (2.1)."""
        return tuple(point.name for point in self.points) + tuple(self.vectors)

    @cached_property
    def slot(self) -> Names:
        """Position of each point or vector among the generalized coordinates."""
        return Names(self.coordinate_names, "point or vector", self.name)

    @cached_property
    def body_index(self) -> Names:
        """Position of each body in `bodies`."""
        return Names((body.name for body in self.bodies), "body", self.name)

    @cached_property
    def dof_names(self) -> tuple[str, ...]:
        """The joint degrees of freedom, then the six of the base body."""
        return tuple(dof.name for dof in self.dofs) + BASE_DOFS

    @cached_property
    def dof_index(self) -> Names:
        """Position of each degree of freedom in `dof_names`."""
        return Names(self.dof_names, "degree of freedom", self.name)

    @cached_property
    def joint_index(self) -> Names:
        """Position of each joint degree of freedom in `dofs`."""
        return Names((dof.name for dof in self.dofs), "joint degree of freedom", self.name)

    def dofs_between(self, bodies: Iterable[str]) -> tuple[str, ...]:
        """The joint degrees of freedom between some bodies, from the base outward."""
        inner = {dof.child: dof.parent for dof in self.dofs}
        beyond = list[set[str]]()  # of each body the frames that move with it, up to the base
        for body in bodies:
            chain = {body}
            while body in inner:
                body = inner[body]
                chain.add(body)
            beyond.append(chain)
        moved = {name for chain in beyond for name in chain} - beyond[0].intersection(*beyond[1:])
        return tuple(dof.name for dof in self.dofs if dof.child in moved)

    @property
    def segments(self) -> tuple[str, ...]:
        """The anatomical segments, in the order of the bodies."""
        return tuple(dict.fromkeys(body.segment for body in self.bodies))

    @property
    def point_count(self) -> int:
        """Number of points; the slots after them are vectors."""
        return len(self.points)

    def slots_of(self, direction: Direction) -> tuple[int, int]:
        """The slots of start and end of a direction; a vector starts at the zero slot after all others."""
        (start, end), none = direction, len(self.coordinate_names)
        return (none if start is None else self.slot[start]), (self.slot[end] if end else none)

    @cached_property
    def layout_order(self) -> list[Point]:
        """The points, each after the point from which it is placed, without points placed from none."""
        placed, order, waiting = {self.origin}, [], list(self.points)
        while ready := [point for point in waiting if point.parent in placed]:
            order += ready
            placed |= {point.name for point in ready}
            waiting = [point for point in waiting if point not in ready]
        return order

    @cached_property
    def fits(self) -> bool:
        """True, checked once for all models of a topology; raises the InputError of `check_topology` otherwise."""
        check_topology(self)
        return True

    def standing_layout(
        self, scale: dict[str, float] | None = None, offsets: dict[str, np.ndarray] | None = None
    ) -> np.ndarray:
        """Points, then unit vectors, of a model in the standing pose.

        Args:
            scale: factor on the file's offsets by scale group, 1 where absent.
            offsets: measured offsets of points from their parents (3,) [m], or directions of vectors (3,), instead of
                the file's.

        Returns:
            (N, 3) [m].

        Raises:
            InputError: an offset that is not three finite numbers.

        Examples:
            >>> topology = ms.dynamics.load_topology("inverse_human")
            >>> len(topology.standing_layout()) == len(topology.coordinate_names)
            True
        """
        scale, offsets = scale or {}, offsets or {}
        measured = {
            name: check_array(value, f"the offset of {name!r}", (3,), axis=0)
            for name, value in offsets.items()
        }
        position = {self.origin: np.zeros(3)}
        for point in self.layout_order:
            step = measured.get(point.name, np.asarray(point.offset) * scale.get(point.scale, 1.0))
            position[point.name] = position[point.parent] + step
        rows = [position[point.name] for point in self.points]
        rows += [np.asarray(measured.get(name, direction), float) for name, direction in self.vectors.items()]
        return np.array(rows, dtype=float)


_UNIT = 1e-6  # Largest difference of a direction's length from one
_PERPENDICULAR = 1e-6  # Largest cosine between a joint axis and the directions that drive it


def check_topology(topology: Topology, file: Path | None = None) -> None:
    """Refuse a definition whose parts do not fit together.

    file: the file of the definition; with a file, drivers must also be perpendicular to the axes in its layout.
    """
    try:
        _check_parts(topology)
        _check_tree(topology)
        standing = topology.standing_layout()
        for dof in topology.dofs:
            _check_joint(topology, dof, None if file is None else np.vstack([standing, np.zeros(3)]))
    except InputError as fault:
        raise fault.moved(file) from None


def bodies_of_joint(topology: Topology, dof: Dof) -> tuple[str, str]:
    """Parent and child body of a degree of freedom; a massless cross is passed over to the next body."""
    parent, child = dof.parent, dof.child
    while parent not in topology.body_index:
        parent = next(other.parent for other in topology.dofs if other.child == parent)
    while child not in topology.body_index:
        child = next(other.child for other in topology.dofs if other.parent == child)
    return parent, child


def _check_parts(topology: Topology) -> None:
    """Check that names are used once, every point can be placed, and bodies have points and vectors that exist."""
    kinds = {
        "points or vectors": [point.name for point in topology.points] + list(topology.vectors),
        "bodies": [body.name for body in topology.bodies],
        "degrees of freedom": list(topology.dof_names),
    }
    for kind, names in kinds.items():
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            taken = f"; {', '.join(BASE_DOFS)} belong to the base" if twice[0] in BASE_DOFS else ""
            raise input_error(
                "duplicate_name",
                problem=f"two {kind} have the name {twice[0]!r}",
                expected=f"one name each{taken}",
            )

    for point in topology.points:
        if not _triple(point.offset):
            raise input_error(
                "bad_model",
                problem=f"the offset of point {point.name!r} is {point.offset!r}",
                expected="three finite numbers [m]",
            )
    for name, direction in topology.vectors.items():
        length = float(np.linalg.norm(direction)) if _triple(direction) else float("nan")
        if not abs(length - 1.0) <= _UNIT:
            raise input_error(
                "bad_model",
                problem=f"the direction of vector {name!r} is {as_text(direction)}",
                expected="three finite numbers, a unit vector",
                remedy=f"divide it by its length, {length:.9g}" if length > 0.0 else None,
            )
    placed = {topology.origin, *(point.name for point in topology.layout_order)}
    if missing := [point for point in topology.points if point.name not in placed]:
        raise input_error(
            "bad_model",
            problem=f"no chain of offsets leads to the points {[point.name for point in missing]} "
            f"({missing[0].name!r} is placed from {missing[0].parent!r})",
            expected=f"a chain from the origin {topology.origin!r}",
            remedy=suggestion(missing[0].parent, placed - {missing[0].parent}),
        )

    for body in topology.bodies:
        _check_names(topology, body.members, f"body {body.name!r}")
        if (len(body.points), len(body.vectors)) not in BODY_KINDS:
            raise input_error(
                "bad_model",
                problem=f"body {body.name!r} has {len(body.points)} points and {len(body.vectors)} vectors",
                expected="2 points and 2 vectors, 3 and 1, 2 and 1, 3 and 0, or 4 and 0",
            )
    used = {name for body in topology.bodies for name in body.members}
    if idle := [name for name in topology.coordinate_names if name not in used]:
        raise input_error(
            "bad_model",
            problem=f"{', '.join(map(str, idle))}: of no body",
            expected="points and vectors that some body has",
            remedy="name it among a body's points, vectors or extra, or leave it out",
        )
    for pair in topology.universal:
        _check_names(topology, pair, f"universal joint {list(pair)}")


def _check_tree(topology: Topology) -> None:
    """Check that every body but the root is the child of one joint, and a massless cross lies between two joints."""
    bodies = topology.body_index
    into: dict[str, list[str]] = {}
    spherical: dict[tuple[str, str, str], int] = {}
    for dof in topology.dofs:
        if dof.fixed_axis is not None:  # the three rotations of a spherical joint count as one
            key = dof.parent, dof.child, dof.pivot
            spherical[key] = spherical.get(key, 0) + 1
            if spherical[key] % 3 != 1:
                continue
        into.setdefault(dof.child, []).append(dof.name)
    check_known([topology.root], "body", bodies, " to be the root")
    for child, joints in into.items():
        if len(joints) > 1 or child == topology.root:
            root = ", but it is the root" if child == topology.root else ""
            raise input_error(
                "bad_model",
                problem=f"{child!r} is the child of {' and '.join(map(repr, joints))}{root}",
                expected="a tree: one joint before every body, none before the root",
                remedy="leave the joint out and close the loop by constraint rows",
            )
    for cross in (name for name in into if name not in bodies):
        out = [dof.name for dof in topology.dofs if dof.parent == cross]
        if len(out) != 1:
            raise input_error(
                "bad_model",
                problem=f"{cross!r}, the child of {into[cross][0]!r}, is not a body, and is the "
                f"parent of {len(out) or 'no'} joints",
                expected="a body, or the massless cross of a universal joint, with one joint in and one out",
                remedy=suggestion(cross, bodies),
            )
    for body in bodies:
        if body != topology.root and body not in into:
            raise input_error(
                "bad_model",
                problem=f"no joint leads to body {body!r}",
                expected=f"a degree of freedom or spherical joint with child = {body!r}",
            )


def _check_joint(topology: Topology, dof: Dof, layout: Array | None) -> None:
    """Check that both bodies have the pivot and the axis, and each its direction of the driver.

    layout (N+1, 3): positions with which directions are checked to be perpendicular to the axis; None: no such check.
    """
    where = f"degree of freedom {dof.name!r}"
    lines = [name for pair in (dof.axis, dof.reference, dof.follower) for name in pair if name]
    _check_names(topology, [*lines, dof.pivot], where)
    if dof.sign not in (-1, 1):
        raise input_error("bad_model", problem=f"{where} has the sign {dof.sign!r}", expected="1 or -1")
    if topology.slot[dof.pivot] >= topology.point_count:
        raise input_error(
            "bad_model", problem=f"{where} has the pivot {dof.pivot!r}, a vector", expected="a point"
        )
    bodies = bodies_of_joint(topology, dof)
    for body in bodies:
        _check_member(topology, dof.pivot, body, f"{where}: its pivot")
    if dof.fixed_axis is not None:
        return
    # Of a universal joint each axis is of one body, the other end is the cross.
    for body, name in zip(bodies, (dof.parent, dof.child), strict=True):
        if body == name:
            _check_member(topology, dof.axis, body, f"{where}: its axis")
    if layout is None:
        return
    axis, *drivers = (
        layout[end] - layout[start]
        for start, end in map(topology.slots_of, (dof.axis, dof.reference, dof.follower))
    )
    for body, direction, line in zip(bodies, (dof.reference, dof.follower), drivers, strict=True):
        _check_member(topology, direction, body, f"{where}: its driver's")
        if abs(axis @ line) > _PERPENDICULAR * float(np.linalg.norm(axis) * np.linalg.norm(line)):
            raise input_error(
                "bad_model",
                problem=f"{where}: the direction {'->'.join(map(str, (n for n in direction if n)))} "
                "of its driver is not perpendicular to its axis",
                expected="a direction of the parent and one of the child, both perpendicular to the axis",
            )


def _check_names(topology: Topology, names: Iterable[str], where: str) -> None:
    check_known(names, "point or vector", topology.slot, f", which {where} uses")


def _check_member(topology: Topology, what: str | Direction, body: str, which: str) -> None:
    members = topology.bodies[topology.body_index[body]].members
    names = [what] if isinstance(what, str) else [name for name in what if name]
    if not names or set(names) - set(members):
        raise input_error(
            "bad_model",
            problem=f"{which} {'->'.join(map(str, names))} is not of body {body!r}",
            expected=f"some of {', '.join(map(str, members))}",
            remedy="add it to both bodies, as extra if necessary",
        )


def _triple(value: object) -> bool:
    return isinstance(value, tuple | list | np.ndarray) and _TRIPLE.accepts(list(value))


_NEEDED = object()


@dataclass(frozen=True)
class _Key:
    """Rule for a key: the expected value in words, the test of a value, and the value where the file omits the key."""

    expected: str
    accepts: Callable[[Any], bool]
    default: Any = _NEEDED


def _number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _listed(accepts: Callable[[Any], bool], count: int | None = None) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, list) and len(value) == (count or len(value)) and all(map(accepts, value))
    )


def _arrow(value: Any) -> bool:
    return _text(value) and all(part.strip() for part in value.split("->")) and value.count("->") <= 1


_TEXT, _WHOLE = _Key("a text", _text), _Key("a whole number", lambda value: type(value) is int, None)
_NAMES = _Key("a list of names", _listed(_text))
_TRIPLE = _Key("three finite numbers", _listed(_number, 3))
_LINE = _Key('a vector, or two points as in "a -> b"', _arrow)
_TABLES = _Key("a list of tables", _listed(lambda value: isinstance(value, dict)))

_JOINT = {"number": _WHOLE} | dict.fromkeys(("name", "parent", "child", "pivot"), _TEXT)
_KEYS: dict[str, dict[str, _Key]] = {
    "model": {
        "name": _TEXT,
        "source": _Key("a text", _text, ""),
        "root": _TEXT,
        "origin": _TEXT,
        "point": _TABLES,
        "vector": replace(_TABLES, default=[]),
        "body": _TABLES,
        "universal": _Key("pairs of vectors", _listed(_listed(_text, 2)), []),
        "dof": replace(_TABLES, default=[]),
        "spherical": replace(_TABLES, default=[]),
    },
    "point": {
        "number": _WHOLE,
        "name": _TEXT,
        "from": _TEXT,
        "offset": _TRIPLE,
        "scale": _Key("a text", lambda value: isinstance(value, str), ""),
    },
    "vector": {"number": _WHOLE, "name": _TEXT, "direction": _TRIPLE},
    "body": {
        "number": _WHOLE,
        "name": _TEXT,
        "points": _NAMES,
        "vectors": _NAMES,
        "extra": replace(_NAMES, default=[]),
        "segment": _Key("a text", _text, None),
        "share": _Key("a number from 0 to 1", lambda value: _number(value) and 0.0 <= value <= 1.0, 1.0),
    },
    "dof": {
        **_JOINT,
        "axis": _LINE,
        "sign": _Key("1 or -1", lambda value: type(value) is int and value in (-1, 1)),
        "driver": _Key("a direction of the parent and one of the child", _listed(_arrow, 2)),
        "rest": _Key("a length [m], not negative", lambda value: _number(value) and value >= 0.0, 0.0),
        "nominal": _Key("true or false", lambda value: isinstance(value, bool), False),
    },
    "spherical": {
        **_JOINT,
        "axes": _Key(
            "three perpendicular unit vectors by the names of the rotations about them",
            lambda value: isinstance(value, dict) and _perpendicular(list(value.values())),
        ),
    },
}


def load_topology(name: str | Path = HUMAN) -> Topology:
    """Read a model definition; files of the same text give the same object.

    Args:
        name: of a bundled definition, "inverse_human" or "forward_human", or the path of a file.

    Returns:
        Points, vectors, bodies and degrees of freedom.

    Raises:
        InputError: the file is not a model definition; with the faulty entry.

    Examples:
        >>> len(ms.dynamics.load_topology("forward_human").bodies)
        12
    """
    check_type(name, str | Path, "name", "a bundled definition or a path")  # type: ignore[arg-type]
    path = locate(name, __package__, "definitions")
    return _parsed(read_text(path, "model definition"), path)


@lru_cache(maxsize=16)
def _parsed(text: str, path: Path) -> Topology:
    """Topology from the text of a file, parsed and checked once for each text.

    `number`, `scale`, `segment` (the body's name) and `share` (1) may be left out.
    """
    top = _read(toml_of(text), "model", 0, path)
    rows = {
        kind: [_read(entry, kind, k, path) for k, entry in enumerate(top[kind])]
        for kind in ("point", "vector", "body", "dof", "spherical")
    }
    vectors = {row["name"]: tuple(row["direction"]) for row in rows["vector"]}
    if len(vectors) < len(rows["vector"]):
        names = [row["name"] for row in rows["vector"]]
        twice = min(name for name in names if names.count(name) > 1)
        raise input_error("duplicate_name", file=path, problem=f"two vectors have the name {twice!r}")
    points = tuple(
        Point(row["number"], row["name"], row["from"], tuple(row["offset"]), row["scale"])
        for row in rows["point"]
    )
    bodies = tuple(
        RigidBody(
            **row
            | {"segment": row["segment"] or row["name"], "share": float(row["share"])}
            | {name: tuple(row[name]) for name in ("points", "vectors", "extra")}
        )
        for row in rows["body"]
    )
    dofs = []
    for row in rows["dof"]:
        lines: list[Direction] = []
        for line in (row["axis"], *row["driver"]):
            start, arrow, end = (part.strip() for part in line.partition("->"))
            lines.append((start, end) if arrow else (None, start))
        axis, reference, follower = lines
        joint = row["parent"], row["child"], axis, row["sign"], row["pivot"], reference, follower
        dofs.append(Dof(row["name"], *joint, rest=float(row["rest"]), nominal=row["nominal"]))
    for row in rows["spherical"]:  # three degrees of freedom, about perpendicular axes of the parent
        joint = row["parent"], row["child"], NO_DIRECTION, 1, row["pivot"], NO_DIRECTION, NO_DIRECTION
        dofs += [Dof(name, *joint, tuple(direction)) for name, direction in row["axes"].items()]

    # Each parent is reached before its children.
    root, ordered, waiting = top["root"], [], dofs
    reached = {root}
    while waiting:
        ready = [dof for dof in waiting if dof.parent in reached]
        if not ready:
            known = [*(body.name for body in bodies), *(dof.child for dof in dofs)]
            # a joint with an unknown parent is the cause; errors of joints beyond it follow from it
            lost = next((dof for dof in waiting if dof.parent not in known), waiting[0])
            parent = lost.parent
            near = "" if parent in known else suggestion(parent, known)
            raise file_error(
                "bad_model",
                path,
                f"no chain of joints leads from the root {root!r} to {parent!r}, the parent of {lost.name!r}",
                "joints that form a tree from the root on",
                near
                or f"name a body, or the child of another joint, as the parent of {lost.name!r}, or remove the joint",
            )
        ordered += ready
        reached |= {dof.child for dof in ready}
        waiting = [dof for dof in waiting if dof not in ready]
    universal = tuple((one, other) for one, other in top["universal"])
    topology = Topology(top["name"], root, top["origin"], points, vectors, bodies, universal, tuple(ordered))
    check_topology(topology, path)
    return topology


def _read(entry: Mapping[str, Any], kind: str, index: int, file: Path) -> dict[str, Any]:
    """One table with its defaults; refuses keys that are missing, unknown or against their rule."""
    keys = _KEYS[kind]
    where = "model definition" if kind == "model" else f"{kind} {entry.get('name', f'number {index + 1}')!r}"

    def wrong(key: str, /, **fields: Any) -> InputError:
        return input_error(key, file=file, where=where, **fields)

    for key_read in entry:
        if key_read not in keys:
            raise wrong(
                "unknown_key",
                problem=f"unknown key {as_text(key_read)}",
                expected=f"some of {', '.join(map(str, keys))}",
                remedy=suggestion(key_read, keys),
            )
    read = {}
    for name, key in keys.items():
        value = entry.get(name, key.default)
        if value is _NEEDED:
            raise wrong(
                "missing_key",
                problem=f"{name!r} is missing",
                expected=f"{name} = {key.expected}",
                remedy=f"add a line {name} = ...",
            )
        if name in entry and not key.accepts(value):
            raise wrong("bad_value", problem=f"{name} = {as_text(value)}", expected=key.expected)
        read[name] = value
    if "number" in keys and read["number"] is None:
        read["number"] = index + 1
    return read


def _perpendicular(axes: list[Any]) -> bool:
    if len(axes) != 3 or not all(map(_TRIPLE.accepts, axes)):
        return False
    matrix = np.array(axes, dtype=float)
    return np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)

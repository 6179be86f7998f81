"""What a model consists of, read from a data file: points, vectors, bodies, joints, degrees of freedom.

The file gives the standing pose, in which every angle is zero and every local frame is parallel to the global one.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

import numpy as np

from musclesolve.errors import InputError

Direction = tuple[str | None, str]
"""A direction in natural coordinates: (None, vector name), or (point name, point name), first to second."""

NO_DIRECTION: Direction = (None, "")
"""Stands where a spherical joint has neither an axis among the coordinates nor directions to drive it by."""


@dataclass(frozen=True)
class Point:
    """A point of the model, placed in the standing pose relative to another one."""

    number: int
    name: str
    parent: str
    offset: tuple[float, float, float]
    scale: str


@dataclass(frozen=True)
class Body:
    """A rigid body, by its points and vectors: 2 and 2, 3 and 1, 2 and 1, 3 and 0, or 4 and 0.

    extra: further points and vectors of it, each tied to the others by a linear combination (Silva 2003, 2.19).
    """

    number: int
    name: str
    points: tuple[str, ...]
    vectors: tuple[str, ...]
    segment: str
    share: float
    extra: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dof:
    """One degree of freedom: the child turns against the parent about `axis` by `sign` times the coordinate.

    A spherical joint is three of them in a row, with the same child; each has a `fixed_axis` instead, a unit vector of
    the parent (its components in the standing pose). rest: where the data cannot tell the angle, it is drawn to zero as
    by a point on an arm of this length [m].
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


@dataclass(frozen=True)
class Topology:
    """A tree of rigid bodies in natural coordinates; `dofs` lists the joint ones, parents before children."""

    name: str
    root: str
    origin: str
    points: tuple[Point, ...]
    vectors: dict[str, tuple[float, float, float]]
    bodies: tuple[Body, ...]
    universal: tuple[tuple[str, str], ...]
    dofs: tuple[Dof, ...]

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the points, then of the unit vectors, in the order of the generalized coordinates (2.1)."""
        return tuple(point.name for point in self.points) + tuple(self.vectors)

    @cached_property
    def slot(self) -> dict[str, int]:
        """Position of each point or vector among the generalized coordinates."""
        return {name: index for index, name in enumerate(self.coordinate_names)}

    @cached_property
    def body_index(self) -> dict[str, int]:
        """Position of each body in `bodies`."""
        return {body.name: index for index, body in enumerate(self.bodies)}

    @cached_property
    def frame_index(self) -> dict[str, int]:
        """Bodies, then the massless crosses of universal joints."""
        crosses = [dof.child for dof in self.dofs if dof.child not in self.body_index]
        return self.body_index | {name: len(self.bodies) + i for i, name in enumerate(crosses)}

    @cached_property
    def dof_names(self) -> tuple[str, ...]:
        """The joint degrees of freedom, then the six of the base body."""
        return tuple(dof.name for dof in self.dofs) + BASE_DOFS

    @property
    def point_count(self) -> int:
        """How many points there are; the slots behind them are vectors."""
        return len(self.points)

    def slots_of(self, direction: Direction) -> tuple[int, int]:
        """From-slot and to-slot of a direction; the from-slot of a vector is the zero slot behind all others."""
        (start, end), none = direction, len(self.coordinate_names)
        return (none if start is None else self.slot[start]), (self.slot[end] if end else none)


BODY_KINDS = ((2, 2), (3, 1), (2, 1), (3, 0), (4, 0))
"""How many points and vectors a body may have."""

BASE_DOFS = ("pelvis_tx", "pelvis_ty", "pelvis_tz", "pelvis_tilt", "pelvis_list", "pelvis_rotation")


def load_topology(name: str | Path = "inverse_human") -> Topology:
    """Read a model definition, bundled (by name) or a person's own (by path).

    Raises:
        InputError: the file is not a model definition; says which entry is at fault.
    """
    path = Path(name)
    if path.suffix != ".toml":
        path = Path(str(resources.files("musclesolve.dynamics") / "models" / f"{name}.toml"))
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as fault:
        raise InputError(f"cannot read the model definition: {fault}", file=path) from fault
    try:
        topology = _from_tables(raw)
    except (KeyError, TypeError, ValueError) as fault:
        raise InputError(f"not a model definition: {fault!r}", file=path) from fault
    _check(topology, path)
    return topology


def _from_tables(raw: dict) -> Topology:
    points = tuple(
        Point(p["number"], p["name"], p["from"], tuple(p["offset"]), p["scale"]) for p in raw["point"]
    )
    vectors = {v["name"]: tuple(v["direction"]) for v in raw["vector"]}
    bodies = tuple(
        Body(
            b["number"], b["name"], tuple(b["points"]), tuple(b["vectors"]), b["segment"], b["share"],
            tuple(b.get("extra", ())),
        )
        for b in raw["body"]
    )  # fmt: skip
    dofs = [
        Dof(
            d["name"], d["parent"], d["child"], _direction(d["axis"]), d["sign"], d["pivot"],
            _direction(d["driver"][0]), _direction(d["driver"][1]), rest=d.get("rest", 0.0),
        )
        for d in raw.get("dof", [])
    ]  # fmt: skip
    dofs += [dof for joint in raw.get("spherical", []) for dof in _spherical(joint)]
    universal = tuple((a, b) for a, b in raw.get("universal", []))
    ordered = _parents_first(dofs, raw["root"])
    return Topology(raw["name"], raw["root"], raw["origin"], points, vectors, bodies, universal, ordered)


def _spherical(joint: dict) -> list[Dof]:
    """The three degrees of freedom of a spherical joint, about perpendicular axes of the parent."""
    axes = np.array(list(joint["axes"].values()), dtype=float)
    if axes.shape != (3, 3) or not np.allclose(axes @ axes.T, np.eye(3), atol=1e-12):
        raise ValueError(
            f"the axes of the spherical joint {joint['name']!r} are not three perpendicular unit vectors"
        )
    return [
        Dof(
            name,
            joint["parent"],
            joint["child"],
            NO_DIRECTION,
            1,
            joint["pivot"],
            NO_DIRECTION,
            NO_DIRECTION,
            tuple(axis),
        )
        for name, axis in joint["axes"].items()
    ]


def _direction(text: str) -> Direction:
    start, arrow, end = text.partition("->")
    return (start.strip(), end.strip()) if arrow else (None, start.strip())


def _parents_first(dofs: list[Dof], root: str) -> tuple[Dof, ...]:
    """Order the joints so that each parent is reached before its children."""
    ordered: list[Dof] = []
    reached, waiting = {root}, list(dofs)
    while waiting:
        ready = [dof for dof in waiting if dof.parent in reached]
        if not ready:
            raise ValueError(f"no chain leads from {root!r} to {waiting[0].parent!r}")
        ordered += ready
        reached |= {dof.child for dof in ready}
        waiting = [dof for dof in waiting if dof not in ready]
    return tuple(ordered)


def _check(topology: Topology, path: Path) -> None:
    """Names must resolve, and bodies must be of a kind that the core knows."""
    known = set(topology.coordinate_names)
    for body in topology.bodies:
        unknown = {*body.points, *body.vectors, *body.extra} - known
        if unknown or (len(body.points), len(body.vectors)) not in BODY_KINDS:
            raise InputError(
                f"body {body.name!r} uses {sorted(unknown) or [*body.points, *body.vectors]}",
                file=path,
                expected="2 points and 2 vectors, 3 and 1, 2 and 1, 3 and 0, or 4 and 0, all of the file",
            )
    for dof in topology.dofs:
        used = {name for pair in (dof.axis, dof.reference, dof.follower) for name in pair if name}
        unknown = (used | {dof.pivot}) - known
        if unknown or dof.sign not in (-1, 1):
            raise InputError(
                f"degree of freedom {dof.name!r}: unknown {sorted(unknown)}, sign {dof.sign}", file=path
            )
    placed = {topology.origin}
    for point in _layout_order(topology):
        placed.add(point.name)
    missing = {p.name for p in topology.points} - placed
    if missing:
        raise InputError(f"points {sorted(missing)} hang from no placed point", file=path)


def _layout_order(topology: Topology) -> list[Point]:
    placed, order, waiting = {topology.origin}, [], list(topology.points)
    while ready := [point for point in waiting if point.parent in placed]:
        order += ready
        placed |= {point.name for point in ready}
        waiting = [point for point in waiting if point not in ready]
    return order


def standing_layout(
    topology: Topology,
    scale: dict[str, float] | None = None,
    offsets: dict[str, np.ndarray] | None = None,
) -> np.ndarray:
    """Points and vectors of one person in the standing pose.

    Args:
        topology: the model.
        scale: factor on the file's offsets by scale group (1 where absent).
        offsets: measured offsets of points from their parents [m], or directions of vectors; they win over the file.

    Returns:
        (N, 3): points [m], then unit vectors.
    """
    scale, offsets = scale or {}, offsets or {}
    position = {topology.origin: np.zeros(3)}
    for point in _layout_order(topology):
        step = offsets.get(point.name, np.asarray(point.offset) * scale.get(point.scale, 1.0))
        position[point.name] = position[point.parent] + step
    rows = [position[point.name] for point in topology.points]
    rows += [np.asarray(offsets.get(name, direction), float) for name, direction in topology.vectors.items()]
    return np.array(rows, dtype=float)

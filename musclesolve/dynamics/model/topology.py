"""What a model consists of: points, vectors, bodies, degrees of freedom, and the position of each by its name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.checks import check_array
from musclesolve._util.names import Names

Direction = tuple[str | None, str]
"""A direction in natural coordinates: (None, vector name), or (point name, point name), first to second."""

NO_DIRECTION: Direction = (None, "")
"""Stands where a spherical joint has neither an axis among the coordinates nor directions to drive it by."""

BODY_KINDS = ((2, 2), (3, 1), (2, 1), (3, 0), (4, 0))
"""How many points and vectors a body may have."""

BASE_DOFS = ("pelvis_tx", "pelvis_ty", "pelvis_tz", "pelvis_tilt", "pelvis_list", "pelvis_rotation")
"""The six of the base body, which is the pelvis of a subject; they have these names in every model."""


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

    @property
    def members(self) -> tuple[str, ...]:
        """All its points and vectors."""
        return (*self.points, *self.vectors, *self.extra)


@dataclass(frozen=True)
class Dof:
    """One degree of freedom: the child rotates against the parent about `axis` by `sign` times the coordinate.

    A spherical joint is three of them in a row, with the same child; each has a `fixed_axis` instead, a unit vector of
    the parent (its components in the standing pose). rest: where the data do not determine the angle, it is drawn to
    zero as by a point on an arm of this length [m].
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
    """A tree of rigid bodies in natural coordinates; `dofs` lists the joint ones, parents before children.

    The positions by name (`slot`, `body_index`, `frame_index`, `dof_index`) refuse an unknown name with an InputError.
    """

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
    def slot(self) -> Names:
        """Position of each point or vector among the generalized coordinates."""
        return Names(self.coordinate_names, "point or vector", self.name)

    @cached_property
    def body_index(self) -> Names:
        """Position of each body in `bodies`."""
        return Names((body.name for body in self.bodies), "body", self.name)

    @cached_property
    def frame_index(self) -> Names:
        """Bodies, then the massless crosses of universal joints."""
        crosses = [dof.child for dof in self.dofs if dof.child not in self.body_index]
        return Names(crosses, "body or cross", self.name, self.body_index)

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
        """The same of the joint ones alone."""
        return Names((dof.name for dof in self.dofs), "joint degree of freedom", self.name)

    @property
    def point_count(self) -> int:
        """How many points there are; the slots after them are vectors."""
        return len(self.points)

    def slots_of(self, direction: Direction) -> tuple[int, int]:
        """From-slot and to-slot of a direction; the from-slot of a vector is the zero slot after all others."""
        (start, end), none = direction, len(self.coordinate_names)
        return (none if start is None else self.slot[start]), (self.slot[end] if end else none)

    def layout_order(self) -> list[Point]:
        """The points, each after the one that it is placed from; without those that are placed from none."""
        placed, order, waiting = {self.origin}, [], list(self.points)
        while ready := [point for point in waiting if point.parent in placed]:
            order += ready
            placed |= {point.name for point in ready}
            waiting = [point for point in waiting if point not in ready]
        return order


def standing_layout(
    topology: Topology, scale: dict[str, float] | None = None, offsets: dict[str, np.ndarray] | None = None
) -> np.ndarray:
    """Points [m], then unit vectors, of one model in the standing pose, (N, 3).

    scale: factor on the file's offsets by scale group (1 where absent). offsets: measured offsets of points from their
    parents [m], or directions of vectors; they win over the file.

    Raises:
        InputError: an offset that is not three finite numbers.
    """
    scale, offsets = scale or {}, offsets or {}
    measured = {
        name: check_array(value, f"the offset of {name!r}", (3,), axis=0) for name, value in offsets.items()
    }
    position = {topology.origin: np.zeros(3)}
    for point in topology.layout_order():
        step = measured.get(point.name, np.asarray(point.offset) * scale.get(point.scale, 1.0))
        position[point.name] = position[point.parent] + step
    rows = [position[point.name] for point in topology.points]
    rows += [np.asarray(measured.get(name, direction), float) for name, direction in topology.vectors.items()]
    return np.array(rows, dtype=float)

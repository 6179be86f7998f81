"""Constraints: rigid bodies and universal joints by scalar products, extra points by linear combinations.

A scalar-product row is Phi = a . b - const with a and b differences of two slots of q (a unit vector is its slot minus
zero), so the Jacobian is linear in q and gamma = -2 da/dt . db/dt (Silva 2003, 2.13-2.18, Table 2.1).

A linear combination is three rows, Phi = sum_n w_n q_n - const, one for each global axis: its Jacobian is constant and
its gamma zero (2.19). It ties an extra point to the base of its body, or holds a point or vector in space.

Joints between bodies that share no points and vectors have rows of their own (2.3, Table 2.1):

    spherical joint   a point of each body in one place: `coincident` (2.20)
    revolute joint    such a point, and a vector of each body along the axis: `coincident` (2.20, 2.21)
    universal joint   a point of each in one place, and perpendicular vectors: `coincident`, `scalar_products` (2.13)
    ground            points and vectors that stay where they are: `fixed`

Bodies that share points and vectors need no rows: a revolute joint is a shared point and vector, see `topology.Dof`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, dot
from musclesolve._util.checks import check_array, check_type, one_or_several
from musclesolve._util.messages import check_known
from musclesolve.dynamics.model.rigid_body import RigidBodies, body_slots, lines_of
from musclesolve.dynamics.model.topology import Direction, Topology
from musclesolve.errors import input_error


@dataclass(frozen=True)
class Constraints:
    """Constraint rows (c): s scalar products, then the three rows of each of l linear combinations.

    first, second (s, 2): from- and to-slots; constant (s,). weights (l, N), target (l, 3) of the linear combinations.
    handed (b,): bodies whose mirror images satisfy all rows as well; triads (b, 3, 2): three lines of each; hand (b,):
    the determinant of these lines in the standing layout.

    In all methods q (T, N, 3) are natural coordinates [m, vectors 1], qd and qdd (T, N, 3) their derivatives.
    """

    names: tuple[str, ...]
    first: Indices
    second: Indices
    constant: Array
    size: int
    weights: Array
    target: Array
    handed: tuple[str, ...] = ()
    triads: Indices = field(default_factory=lambda: np.zeros((0, 3, 2), dtype=int))
    hand: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def build(cls, topology: Topology, standing: Array) -> "Constraints":
        """Rows of every body and universal joint; rows of points and vectors that bodies share appear once."""
        blank, q = blank_rows(topology), standing[None]
        rows = replace(blank, constant=blank.value(q)[0], hand=blank.handedness(q)[0])

        # Extra points and vectors are tied to the base of their body (2.19).
        extra = [(k, name) for k, body in enumerate(topology.bodies) for name in body.extra]
        if not extra:
            return rows
        rigid_bodies, weights = RigidBodies.build(topology, standing), np.zeros((len(extra), len(standing)))
        for row, (k, name) in zip(weights, extra, strict=True):
            slot = topology.slot[name]
            point = slot < topology.point_count
            c = rigid_bodies.inverse[k] @ (standing[slot] - point * rigid_bodies.origin[k])
            row[:] = rigid_bodies.combinations(topology, np.array([k]), np.array([[point - c[0], *c]]))[0]
            row[slot] -= 1.0
        names = [f"{name} in {topology.bodies[k].name}" for k, name in extra]
        return rows.with_linear(names, weights, np.zeros((len(extra), 3)))

    def with_linear(self, names: list[str], weights: Array, target: Array) -> Self:
        """The constraints with rows sum_n w_n q_n = target more, for each name (l,): weights (l, N), target (l, 3)."""
        rows = tuple(f"{name} [{axis}]" for name in names for axis in "xyz")
        return replace(
            self,
            names=self.names + rows,
            weights=np.vstack([self.weights, weights]),
            target=np.vstack([self.target, target]),
        )

    def value(self, q: Array) -> Array:
        """Phi (T, c) for q (T, N, 3) (2.13) [m2, m or 1]."""
        product = dot(lines_of(q, self.first), lines_of(q, self.second)) - self.constant
        return np.concatenate([product, (self.weights @ q - self.target).reshape(len(q), -1)], axis=1)

    def handedness(self, q: Array) -> Array:
        """Determinant (T, b) of three lines of each body whose mirror image satisfies the rows as well."""
        a, b, c = np.moveaxis(lines_of(q, self.triads), 2, 0)
        return dot(a, np.cross(b, c))

    def violation(self, q: Array) -> Array:
        """Return the violation of each row, as a length or a cosine, (T, c) [m or 1].

        A row |r_ij|^2 - L^2 divided by 2 L is the error of the length; the others are divided by both lengths.
        """
        violation = self.value(q)
        violation[:, : len(self.constant)] /= self._scale(lines_of(q, self.first), lines_of(q, self.second))
        return violation

    def rate_violation(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
        """Return the violations of (5.8) and (5.9) by velocities and accelerations: Phi_q qd and Phi_q qdd - gamma.

        Scaled as `violation`, (T, c) each [m/s and m/s2, or 1/s and 1/s2]: the rate at which a length changes, for
        example.
        """
        a, ad, add = (lines_of(x, self.first) for x in (q, qd, qdd))
        b, bd, bdd = (lines_of(x, self.second) for x in (q, qd, qdd))
        scale = self._scale(a, b)
        once = (dot(ad, b) + dot(a, bd)) / scale
        twice = (dot(add, b) + dot(a, bdd) + 2.0 * dot(ad, bd)) / scale
        linear = [(self.weights @ rate).reshape(len(q), -1) for rate in (qd, qdd)]
        return np.hstack([once, linear[0]]), np.hstack([twice, linear[1]])

    def _scale(self, a: Array, b: Array) -> Array:
        """Divisors (T, s) of the scalar products: 2 L for a line with itself, else the product of both lengths."""
        length = np.linalg.norm(a, axis=2) * np.linalg.norm(b, axis=2)
        same = (self.first == self.second).all(axis=1)
        return np.where(same, 2.0 * np.sqrt(length), length)

    def jacobian(self, q: Array) -> Array:
        """Phi_q (T, c, N, 3) (2.14, 2.15)."""
        rows = np.arange(len(self.constant))
        jacobian = np.zeros((len(q), len(self.names), self.size + 1, 3))
        jacobian[:, len(rows) :, : self.size] = np.kron(self.weights, np.eye(3)).reshape(-1, self.size, 3)
        for slots, other in ((self.first, self.second), (self.second, self.first)):
            factor = lines_of(q, other)
            jacobian[:, rows, slots[:, 1]] += factor
            jacobian[:, rows, slots[:, 0]] -= factor
        return jacobian[:, :, : self.size]

    def gamma(self, qd: Array) -> Array:
        """Right-hand side of Phi_q qdd = gamma, (T, c) (2.17); the right-hand side of the velocities, nu, is zero."""
        gamma = np.zeros((len(qd), len(self.names)), dtype=qd.dtype)
        gamma[:, : len(self.constant)] = -2.0 * dot(lines_of(qd, self.first), lines_of(qd, self.second))
        return gamma


@lru_cache(maxsize=8)
def blank_rows(topology: Topology) -> Constraints:
    """The rows of every body and universal joint, once each, with constants of zero: what no length changes."""
    # Lengths, angles and unit norms that keep a body rigid (Table 2.1): as many as it has coordinates, less six.
    pairs: list[tuple[Direction, Direction]] = []
    for body in topology.bodies:
        lines: list[Direction] = list(combinations(body.points, 2))
        axes: list[Direction] = [(None, vector) for vector in body.vectors]
        pairs += [(line, line) for line in (*lines, *axes)]
        pairs += combinations(axes, 2)
        pairs += [(line, axis) for axis in axes for line in lines[: len(body.points) - 1]]
    pairs += [((None, one), (None, other)) for one, other in topology.universal]
    once: dict[frozenset, tuple[Direction, Direction]] = {}
    for pair in pairs:
        once.setdefault(frozenset(map(frozenset, pair)), pair)
    full = [body for body in topology.bodies if len(body.points) + len(body.vectors) == 4]
    slots = [body_slots(body, topology.slot, len(topology.coordinate_names)) for body in full]
    return replace(
        scalar_products(topology, topology.standing_layout(), once.values()),
        constant=np.zeros(len(once)),
        handed=tuple(body.name for body in full),
        triads=np.array(slots, dtype=int).reshape(-1, 3, 2),
    )


def direction_text(direction: Direction) -> str:
    """Text of a direction for messages."""
    start, end = direction
    return end if start is None else f"({start}->{end})"


Linear = tuple[list[str], Array, Array]
"""Names (l,), weights (l, N) and targets (l, 3) of rows sum_n w_n q_n = target, for `Constraints.with_linear`."""


def scalar_products(
    topology: Topology, standing: Array, pairs: Iterable[tuple[Direction, Direction]]
) -> Constraints:
    """Rows a . b = const of pairs of directions, of one body or of several (Silva 2003, Table 2.1).

    Args:
        topology: points and vectors of the model.
        standing: (N, 3) [m] points, then unit vectors, in the standing pose, from which the constants are computed.
        pairs: two directions each: (None, "vector"), or ("point", "point") for a line.

    Returns:
        The rows.
    """
    pairs = list(pairs)
    first = np.array([topology.slots_of(a) for a, _ in pairs])
    second = np.array([topology.slots_of(b) for _, b in pairs])
    names, size = tuple(f"{direction_text(a)} . {direction_text(b)}" for a, b in pairs), len(standing)
    none = (np.zeros((0, size)), np.zeros((0, 3)))
    blank = Constraints(names, first, second, np.zeros(len(pairs)), size, *none)
    return replace(blank, constant=blank.value(standing[None])[0])


def coincident(topology: Topology, pairs: Iterable[tuple[str, str]]) -> Linear:
    """Rows that hold points in one place, a spherical joint, or vectors along each other (Silva 2003, 2.20, 2.21).

    Args:
        topology: points and vectors of the model.
        pairs: names of two points, or of two vectors, for each triple of rows.

    Returns:
        Names, weights and targets of the rows, for `Constraints.with_linear`.

    Examples:
        >>> model = ms.dynamics.human_model()
        >>> names, weights, target = ms.dynamics.coincident(model.topology, [("wrist_r", "wrist_l")])
        >>> names
        ['wrist_r = wrist_l']
    """
    check_type(topology, Topology, "topology", "points, bodies and joints, from load_topology()")
    pairs = list(check_type(pairs, Iterable, "pairs", "pairs of names"))
    for pair in pairs:
        two = pair if np.shape(pair) == (2,) else [str(pair)]
        check_known(two, "point or vector", topology.slot, f" in {topology.name!r}", where="pairs")
    weights = np.zeros((len(pairs), len(topology.coordinate_names)))
    for row, (one, other) in zip(weights, pairs, strict=True):
        row[topology.slots_of((None, one))[1]], row[topology.slots_of((None, other))[1]] = 1.0, -1.0
    return [f"{one} = {other}" for one, other in pairs], weights, np.zeros((len(pairs), 3))


def fixed(topology: Topology, standing: Array, names: Iterable[str]) -> Linear:
    """Rows that hold points and vectors at their standing positions: the ground.

    Args:
        topology: points and vectors of the model.
        standing: (N, 3) [m] points, then unit vectors, in the standing pose.
        names: of the points and vectors.

    Returns:
        Names, weights and targets of the rows, for `Constraints.with_linear`.

    Examples:
        >>> model = ms.dynamics.human_model()
        >>> rows = ms.dynamics.fixed(model.topology, model.standing, ["heel_r", "heel_l"])
        >>> len(model.constraints.with_linear(*rows).names) - len(model.constraints.names)
        6
    """
    check_type(topology, Topology, "topology", "points, bodies and joints, from load_topology()")
    names, known = list(one_or_several(names)), topology.coordinate_names
    check_known(names, "point or vector", topology.slot, f" in {topology.name!r}")
    standing = check_array(standing, "the pose", (len(known), 3), known, axis=0)
    slots = [topology.slot[name] for name in names]
    return [f"{name} fixed" for name in names], np.eye(len(standing))[slots], standing[slots]


def combination(
    topology: Topology, standing: Array, target: Direction, base: tuple[Direction, ...]
) -> Linear:
    """Rows that hold a direction as a linear combination of three others, as in the standing pose (Silva 2003, 2.19).

    Args:
        topology: points and vectors of the model.
        standing: (N, 3) [m] points, then unit vectors, in the standing pose.
        target: the direction: (None, "vector"), or ("point", "point") for the line from one to the other.
        base: three directions that span space.

    Returns:
        Names, weights and targets of the rows, for `Constraints.with_linear`.

    Raises:
        InputError: the three directions lie in one plane.
    """
    lines = np.zeros((4, len(standing) + 1))
    for line, direction in zip(lines, (target, *base), strict=True):
        start, end = topology.slots_of(direction)
        line[end] += 1.0
        line[start] -= 1.0
    lines = lines[:, :-1]
    axes = (lines @ standing)[1:].T
    if abs(np.linalg.det(axes)) < 1e-9 * np.prod(np.linalg.norm(axes, axis=0)):
        raise input_error(
            "bad_model", problem=f"combination of {list(base)}", expected="three directions that span space"
        )
    alpha = np.linalg.solve(axes, lines[0] @ standing)
    return [f"{direction_text(target)} combined"], (lines[0] - alpha @ lines[1:])[None], np.zeros((1, 3))

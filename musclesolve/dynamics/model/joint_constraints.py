"""Constraint rows of joints between bodies that share no points and vectors (Silva 2003, section 2.3, Table 2.1).

    spherical joint   a point of each body in one place: `coincident` (2.20)
    revolute joint    the same, and a vector of each along the axis: `coincident` (2.20, 2.21)
    universal joint   a point of each in one place, and perpendicular vectors: `coincident`, `scalar_products` (2.13)
    ground            points and vectors that stay where they are: `fixed`

Bodies that do share points and vectors need no rows for their joints: a revolute joint is a shared point and vector,
see `topology.Dof`; universal joints that share a point are in `rigid_body_constraints`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.rigid_body_constraints import Constraints, direction_text
from musclesolve.dynamics.model.topology import Direction, Topology
from musclesolve.errors import InputError

Linear = tuple[list[str], Array, Array]
"""Names (l,), weights (l, N) and targets (l, 3) of rows sum_n w_n q_n = target, for `Constraints.with_linear`."""


def scalar_products(
    topology: Topology, standing: Array, pairs: Iterable[tuple[Direction, Direction]]
) -> Constraints:
    """Rows a . b = const of pairs of directions, of one body or of several (Table 2.1)."""
    pairs = list(pairs)
    first = np.array([topology.slots_of(a) for a, _ in pairs])
    second = np.array([topology.slots_of(b) for _, b in pairs])
    names, size = tuple(f"{direction_text(a)} . {direction_text(b)}" for a, b in pairs), len(standing)
    none = (np.zeros((0, size)), np.zeros((0, 3)))
    blank = Constraints(names, first, second, np.zeros(len(pairs)), size, *none)
    return replace(blank, constant=blank.value(standing[None])[0])


def coincident(topology: Topology, pairs: Iterable[tuple[str, str]]) -> Linear:
    """Points in one place, a spherical joint (2.20), or vectors of one direction, as in a revolute joint (2.21)."""
    pairs = list(pairs)
    weights = np.zeros((len(pairs), len(topology.coordinate_names)))
    for row, (one, other) in zip(weights, pairs, strict=True):
        row[topology.slots_of((None, one))[1]], row[topology.slots_of((None, other))[1]] = 1.0, -1.0
    return [f"{one} = {other}" for one, other in pairs], weights, np.zeros((len(pairs), 3))


def fixed(topology: Topology, standing: Array, names: Iterable[str]) -> Linear:
    """Points and vectors that stay where they stand: the ground."""
    names = list(names)
    slots = [topology.slots_of((None, name))[1] for name in names]
    return [f"{name} fixed" for name in names], np.eye(len(standing))[slots], standing[slots]


def combination(
    topology: Topology, standing: Array, target: Direction, base: tuple[Direction, ...]
) -> Linear:
    """A direction as the combination of three directions that it is in the standing pose (2.19).

    Raises:
        InputError: the three lie in one plane.
    """
    lines = np.zeros((4, len(standing) + 1))
    for line, direction in zip(lines, (target, *base), strict=True):
        start, end = topology.slots_of(direction)
        line[end] += 1.0
        line[start] -= 1.0
    lines = lines[:, :-1]
    axes = (lines @ standing)[1:].T
    if abs(np.linalg.det(axes)) < 1e-9 * np.prod(np.linalg.norm(axes, axis=0)):
        raise InputError(
            f"combination of {list(base)}", code="bad_model", expected="three directions that span space"
        )
    alpha = np.linalg.solve(axes, lines[0] @ standing)
    return [f"{direction_text(target)} combined"], (lines[0] - alpha @ lines[1:])[None], np.zeros((1, 3))

"""Derivatives of the forces of a leg by small changes of its problem, exact for the solution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.derivatives.solution_derivatives import SolutionDerivatives, solution_derivatives
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution

Changes = dict[str, Array]

AT_ONCE = 4_000_000
"""Numbers of the largest array of changes at most."""

ARRAYS = (
    *("moment", "moment_arm", "force_capacity", "max_isometric_force", "fiber_velocity"),
    *("optimal_fiber_length", "reaction_matrix", "reaction_offset"),
)
"""What errors change of a problem."""


@dataclass(frozen=True)
class LegPoint:
    """The problem of a leg and its passive forces (T, n) [N]: what its forces depend on."""

    problem: Problem
    passive: Array


@dataclass(frozen=True)
class Response:
    """The forces of a leg and their derivatives."""

    base: LegPoint  # the leg without errors
    solution: Solution  # its forces
    derivatives: SolutionDerivatives  # of the solution

    @classmethod
    def of(cls, base: LegPoint, solution: Solution, cost: Cost) -> Response:
        """Differentiate the forces of a leg; InputError for a cost that has no derivatives."""
        return cls(base, solution, solution_derivatives(base.problem, solution, cost))

    def to_one(self, moved: LegPoint, step: float) -> tuple[Array, Array]:
        """Derivatives along an error that moves the leg by a step: muscle forces (1, T, n), contact (1, T, J) [N]."""
        before, after = self.base.problem, moved.problem
        changes = {name: (getattr(after, name) - getattr(before, name))[None] / step for name in ARRAYS}
        return self._along(changes, (moved.passive - self.base.passive)[None] / step)

    def to_each(self, moved: LegPoint, step: float) -> Iterator[tuple[Array, Array]]:
        """The same for an error of each muscle, some muscles at a time, given the leg with the errors of all.

        An error of one muscle changes only its own columns.
        """
        frames, moments, muscles = self.base.problem.moment_arm.shape
        some = max(1, AT_ONCE // (frames * moments * muscles))
        for first in range(0, muscles, some):
            yield self._of_muscles(moved, step, np.arange(first, min(first + some, muscles)))

    def _of_muscles(self, moved: LegPoint, step: float, chosen: Array) -> tuple[Array, Array]:
        before, after = self.base.problem, moved.problem

        def alone(difference: Array) -> Array:
            """(K, ..., n) with the column of one muscle each."""
            parts = np.zeros((len(chosen), *difference.shape))
            for k, muscle in enumerate(chosen):
                parts[k, ..., muscle] = difference[..., muscle] / step
            return parts

        def passive_part(name: str) -> Array:
            """(K, T, m): what the passive force of each muscle contributes to moments or contact forces."""
            old = getattr(before, name) * self.base.passive[:, None]
            part = getattr(after, name) * moved.passive[:, None] - old
            return np.moveaxis(part[:, :, chosen], 2, 0) / step

        own = [name for name in ARRAYS if name not in ("moment", "reaction_offset")]
        changes = {name: alone(getattr(after, name) - getattr(before, name)) for name in own}
        changes["moment"] = -passive_part("moment_arm")
        changes["reaction_offset"] = passive_part("reaction_matrix")
        return self._along(changes, alone(moved.passive - self.base.passive))

    def _along(self, changes: Changes, passive: Array) -> tuple[Array, Array]:
        """Derivatives of muscle forces (K, T, n) and sizes of contact forces (K, T, J) along K changes."""
        named = {f"d_{name}": change for name, change in changes.items()}
        force = self.derivatives.along(**named).force
        matrix, offset = self.base.problem.reaction_matrix, self.base.problem.reaction_offset
        assert matrix is not None and offset is not None  # every problem of the pipeline has them
        active = self.solution.force
        contact = offset + np.einsum("tcn,tn->tc", matrix, active)
        moved = (
            changes["reaction_offset"]
            + np.einsum("ktcn,tn->ktc", changes["reaction_matrix"], active)
            + np.einsum("tcn,ktn->ktc", matrix, force)
        )
        joints = contact.reshape(len(contact), -1, 3)
        size = np.linalg.norm(joints, axis=2)
        along = np.einsum("tjx,ktjx->ktj", joints, moved.reshape(len(moved), *joints.shape))
        return force + passive, along / np.where(size > 0.0, size, 1.0)

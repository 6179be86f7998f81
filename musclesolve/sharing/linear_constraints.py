"""Linear constraints as moments of further muscles, so that every solver of a Problem takes them.

A constraint l <= c . a + d <= u of a frame is one more moment row. A further muscle z without cost, 0 <= z <= 1, takes
up the room between the bounds,

    (c . a - (u - l) z) / h = (l - d) / h,

with the change h of c . a by the muscle that moves it most. A bound that is infinite, or out of reach, is put h beyond
the reach of c . a + d, where it is never active. The multiplier of the row is h mu, and so is a proof that the frame is
infeasible. Where moments have reserves, the rows of constraints have none: the weight of their reserves is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import SoftRows, Term
from musclesolve.sharing.problem import Problem


def with_constraints(
    problem: Problem, slope: Array, offset: Array, lower: Array, upper: Array, size: Array
) -> Problem:
    """The problem with a row and a muscle for each constraint; its capacities are one, its arms are A.

    Args:
        problem: of n muscles, T frames.
        slope: c, (T, j, n).
        offset: d, (T, j).
        lower: l, (T, j).
        upper: u, (T, j).
        size: h, (T, j).
    """
    ends = slope * problem.lower[:, None], slope * problem.upper[:, None]
    low = offset + np.minimum(*ends).sum(axis=2) - size
    high = offset + np.maximum(*ends).sum(axis=2) + size
    low = np.minimum(np.maximum(lower, low), upper)
    high = np.maximum(np.minimum(upper, high), low)
    frames, rows, muscles = slope.shape
    room = np.zeros((frames, rows, rows))
    np.einsum("tjj->tj", room)[...] = (low - high) / size
    matrix, moment = np.concatenate([slope / size[:, :, None], room], axis=2), (low - offset) / size
    hard = _wider(problem.moment_matrix, rows)
    weight = problem.reserve_weight
    return problem.with_arrays(
        moment_arm=np.concatenate([hard, matrix], axis=1),
        moment=np.concatenate([problem.moment, moment], axis=1),
        force_capacity=np.ones((frames, muscles + rows)),
        fiber_force_capacity=None,
        passive_force=None,
        max_isometric_force=np.ones(muscles + rows),
        lower=_wider(problem.lower, rows),
        upper=_wider(problem.upper, rows, 1.0),
        reserve_weight=None if weight is None else _wider(weight, rows, np.inf),
        single_frame=False,
        source_frames=None,
    )


def _by_muscle(method: str, beyond: float = 0.0) -> Any:
    """A method of `Cost` that gives arrays (T, n, ...): what the cost answers, and a number for further muscles."""

    def of_muscles(self: CostBeside, problem: Problem, *at: Array) -> Array:
        """See Cost."""
        part = self.part(problem)
        answer = getattr(self.cost, method)(part, *(activation[:, : part.n_muscles] for activation in at))
        return _wider(answer, problem.n_muscles - part.n_muscles, beyond, axes=answer.ndim - 1)

    return of_muscles


@dataclass(frozen=True, eq=False)
class CostBeside(Cost):
    """The cost of a problem for the problem of `with_constraints`, whose further muscles cost nothing."""

    cost: Cost
    problem: Problem  # without the further muscles, all frames

    name, label, needs, linear, quadratic = (  # type: ignore[assignment]
        property(attrgetter(f"cost.{word}")) for word in ("name", "label", "needs", "linear", "quadratic")
    )

    term_value, term_gradient, term_hessian_diagonal, term_hessian = map(
        _by_muscle, ("term_value", "term_gradient", "term_hessian_diagonal", "term_hessian")
    )
    largest_activation = _by_muscle("largest_activation", np.inf)

    def part(self, wide: Problem) -> Problem:
        """The frames of a wide problem without the further muscles."""
        every = np.array_equal(wide.frame_number, np.arange(self.problem.n_frames))
        return self.problem if every else self.problem.frames(wide.frame_number)

    def terms(self, problem: Problem) -> tuple[Term, ...] | None:
        """See Cost."""
        part = self.part(problem)
        further, parts = problem.n_muscles - part.n_muscles, self.cost.terms(part)
        return parts and tuple(
            replace(
                term,
                coefficient=_wider(term.coefficient, further),
                target=None if term.target is None else _wider(term.target, further),
            )
            for term in parts
        )

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """See Cost."""
        part = self.part(problem)
        rows, further = self.cost.soft_rows(part), problem.n_muscles - part.n_muscles
        return rows and replace(rows, matrix=_wider(rows.matrix, further))

    def fitted(self, problem: Problem) -> Cost:
        """See Cost; the cost is fitted already."""
        return self


def _wider(array: Array, further: int, value: float = 0.0, axes: int = 1) -> Array:
    """The array with a value at further places of its last axes."""
    width = [(0, 0)] * (array.ndim - axes) + [(0, further)] * axes
    return np.pad(array, width, constant_values=value)

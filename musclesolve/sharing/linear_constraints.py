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
    least, most = (np.where(slope > 0.0, *ends) for ends in _ends(problem))
    low, high = (
        offset + np.einsum("tjn,tjn->tj", slope, end) + way * size for way, end in ((-1, least), (1, most))
    )
    low = np.minimum(np.maximum(lower, low), upper)
    high = np.maximum(np.minimum(upper, high), low)
    frames, rows, muscles = slope.shape
    room = np.zeros((frames, rows, rows))
    np.einsum("tjj->tj", room)[...] = (low - high) / size
    matrix, moment = np.concatenate([slope / size[:, :, None], room], axis=2), (low - offset) / size
    hard = np.concatenate([problem.moment_matrix, np.zeros((frames, problem.n_dof, rows))], axis=2)
    weight = problem.reserve_weight
    return problem.numbered().with_arrays(
        moment_arm=np.concatenate([hard, matrix], axis=1),
        moment=np.concatenate([problem.moment, moment], axis=1),
        force_capacity=np.ones((frames, muscles + rows)),
        max_isometric_force=np.ones(muscles + rows),
        lower=_wider(problem.lower, rows, 0.0),
        upper=_wider(problem.upper, rows, 1.0),
        reserve_weight=None if weight is None else _wider(weight, rows, np.inf),
        single_frame=False,
        frame_number=np.arange(frames),
        whole_frames=frames,
    )


@dataclass(frozen=True, eq=False)
class CostBeside(Cost):
    """The cost of a problem for the problem of `with_constraints`, whose further muscles cost nothing."""

    cost: Cost
    problem: Problem  # without the further muscles, all frames

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the cost."""
        return self.cost.name

    @property
    def label(self) -> str:
        """The name of the cost with its options."""
        return self.cost.label

    @property
    def needs(self) -> frozenset[str]:
        """The abilities that the cost needs."""
        return self.cost.needs

    @property
    def linear(self) -> bool:
        """Return whether a linear program finds the optimum."""
        return self.cost.linear

    @property
    def quadratic(self) -> bool:
        """Return whether a quadratic program finds the optimum."""
        return self.cost.quadratic

    def _of(self, wide: Problem, activation: Array | None = None) -> tuple[Any, ...]:
        """The frames of a wide problem without the further muscles, and their activations if there are any."""
        assert wide.frame_number is not None
        number = wide.frame_number
        same = len(number) == self.problem.n_frames
        part = self.problem if same else self.problem.frames(number)
        return (part,) if activation is None else (part, activation[:, : part.n_muscles])

    def term_value(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.cost.term_value(*self._of(problem, activation))

    def term_gradient(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return _like(activation, self.cost.term_gradient(*self._of(problem, activation)))

    def term_hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return _like(activation, self.cost.term_hessian_diagonal(*self._of(problem, activation)))

    def term_hessian(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        inner = self.cost.term_hessian(*self._of(problem, activation))
        rows = activation.shape[1] - inner.shape[1]
        return np.pad(inner, ((0, 0), (0, rows), (0, rows)))

    def terms(self, problem: Problem) -> tuple[Term, ...] | None:
        """See Cost."""
        shape, found = problem.lower, self.cost.terms(*self._of(problem))
        return found and tuple(
            replace(
                term,
                coefficient=_like(shape, term.coefficient),
                target=None if term.target is None else _like(shape, term.target),
            )
            for term in found
        )

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """See Cost."""
        (part,) = self._of(problem)
        rows, further = self.cost.soft_rows(part), problem.n_muscles - part.n_muscles
        return rows and replace(rows, matrix=np.pad(rows.matrix, ((0, 0), (0, 0), (0, further))))

    def largest_activation(self, problem: Problem) -> Array:
        """See Cost."""
        return _like(problem.lower, self.cost.largest_activation(*self._of(problem)), np.inf)

    def fitted(self, problem: Problem) -> Cost:
        """See Cost; the cost is fitted already."""
        return self


def _ends(problem: Problem) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Activations (T, 1, n) at which rows of positive and of negative slope are least, and greatest."""
    lower, upper = problem.lower[:, None], problem.upper[:, None]
    return (lower, upper), (upper, lower)


def _wider(array: Array, columns: int, value: float) -> Array:
    return np.pad(array, ((0, 0), (0, columns)), constant_values=value)


def _like(wide: Array, array: Array, value: float = 0.0) -> Array:
    return _wider(array, wide.shape[1] - array.shape[1], value)

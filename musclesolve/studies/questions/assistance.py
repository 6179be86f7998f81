"""Torques that help: of an orthosis or exoskeleton at the joints of a part, chosen together with the activations.

A torque acts on the distal segment of a degree of freedom, positive as the joint moment, and its reaction on the
proximal one, so the muscles produce the rest:

    A a + sum_d e_d t_d = b,    low_d <= t_d <= high_d.

The optimal torques minimise the cost of the muscles: each is a column of the problem with a moment arm about its degree
of freedom alone and no cost but EFFORT times its square as a share of the largest one allowed, which decides where the
muscles do not care. The frame is solved once with these columns, and once more with the torques held, so that the
certificate of a result is that of its muscles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.pipeline.body import Sharing, SharingGroup
from musclesolve.pipeline.share import sharing_problem
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Power, SoftRows, Term
from musclesolve.sharing.problem import OPTIONAL, Problem
from musclesolve.sharing.solving import solve
from musclesolve.studies.questions.bounds import padded

EFFORT = 1e-6
"""Cost of a torque at its limit."""
Limits = Mapping[str, tuple[float, float]]
"""Degree of freedom -> least and greatest torque [N m]."""


@dataclass(frozen=True, eq=False)
class MusclesAlone(Cost):
    """The cost of the first n - count columns of a problem; the last ones, torques, cost EFFORT a^2 each."""

    base: Cost
    count: int

    name = "muscles_alone"

    @property
    def label(self) -> str:
        """The label of the cost of the muscles."""
        return self.base.label

    @property
    def needs(self) -> frozenset[str]:
        """What the cost of the muscles needs."""
        return self.base.needs

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the cost of the muscles is made of."""
        return self.base.data

    @property
    def quadratic(self) -> bool:
        """Whether the cost of the muscles has no term of a higher degree than the second."""
        return self.base.quadratic or self.base.linear

    @property
    def parameter_rows(self) -> int:  # type: ignore[override]
        """The rows of the cost of the muscles."""
        return self.base.parameter_rows

    def muscles(self, problem: Problem) -> Problem:
        """The problem without the columns of the torques."""
        count = problem.n_muscles - self.count
        arrays: dict[str, Any] = {
            name: None if (array := getattr(problem, name)) is None else array[..., :count]
            for name in ("force_capacity", "moment_arm", "lower", "upper", *OPTIONAL)
            if name != "reaction_offset"
        }
        return Problem(
            moment=problem.moment,
            max_isometric_force=problem.max_isometric_force[:count],
            reaction_offset=problem.reaction_offset,
            **arrays,
        )

    def value(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        own, torque = activation[:, : -self.count], activation[:, -self.count :]
        return self.base.value(self.muscles(problem), own) + EFFORT * (torque**2).sum(axis=1)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        own, torque = activation[:, : -self.count], activation[:, -self.count :]
        return np.hstack([self.base.gradient(self.muscles(problem), own), 2.0 * EFFORT * torque])

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        own, torque = activation[:, : -self.count], activation[:, -self.count :]
        curved = self.base.hessian_diagonal(self.muscles(problem), own)
        return np.hstack([curved, np.full_like(torque, 2.0 * EFFORT)])

    def terms(self, problem: Problem) -> tuple[Term, ...] | None:
        """See Cost."""
        own = self.base.terms(self.muscles(problem))
        if own is None:
            return None
        blank = np.zeros((problem.n_frames, self.count))
        padded = [
            replace(
                term,
                coefficient=np.hstack([term.coefficient, blank]),
                target=None if term.target is None else np.hstack([term.target, blank]),
            )
            for term in own
        ]
        torque = np.zeros(problem.force_capacity.shape)
        torque[:, -self.count :] = np.sqrt(EFFORT)
        return (*padded, Term(Power(2.0), torque))

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """See Cost."""
        rows = self.base.soft_rows(self.muscles(problem))
        if rows is None:
            return None
        blank = np.zeros((*rows.matrix.shape[:2], self.count))
        return replace(rows, matrix=np.concatenate([rows.matrix, blank], axis=2))

    def largest_activation(self, problem: Problem) -> Array:
        """See Cost."""
        own = self.base.largest_activation(self.muscles(problem))
        return np.hstack([own, np.full((len(own), self.count), np.inf)])

    def parameters(self, problem: Problem) -> Array:
        """See Cost."""
        own = self.base.parameters(self.muscles(problem))
        return np.concatenate([own, np.zeros((*own.shape[:2], self.count))], axis=2)

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        count = activation.shape[0] - self.count
        own = self.base.expression(casadi, activation[:count], parameters[:, :count])
        return own + EFFORT * casadi.sumsqr(activation[count:])


def optimal_torque(part: SharingGroup, sharing: Sharing, limits: Limits) -> tuple[Array, Array]:
    """Torques within limits that minimise the cost of the muscles of a part.

    Args:
        part: the part.
        sharing: with the cost and the solver.
        limits: of shared degrees of freedom of the part.

    Returns:
        Torques (T, shared) [N m], zero about the other degrees of freedom; NaN in frames without a solution. And the
        certificate (T,) of each frame, of muscles and torques together.
    """
    problem = sharing_problem(part, sharing)
    directions = [
        (part.shared.index(dof), sign, largest, max(sign * near, 0.0) / largest)
        for dof, (low, high) in limits.items()
        for sign, near, largest in ((1.0, low, high), (-1.0, high, -low))
        if largest > 0.0
    ]
    count, frames = len(directions), problem.n_frames
    columns = np.zeros((frames, problem.n_dof, count))
    for k, (row, sign, _, _) in enumerate(directions):
        columns[:, row, k] = sign
    largest = np.array([each[2] for each in directions])
    least = np.array([each[3] for each in directions])

    helped = Problem(**padded(problem, columns, largest, lower=least))
    solution = solve(helped, MusclesAlone(sharing.cost, count), sharing.solver, on_infeasible="reserve")
    torque = np.einsum("tmk,tk->tm", columns, solution.activation[:, -count:] * largest)
    return torque, solution.kkt_residual

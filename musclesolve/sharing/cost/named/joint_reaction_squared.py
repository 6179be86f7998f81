"""Sum of squared joint reactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve._util.message_text import as_text
from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_terms import SoftRows
from musclesolve.sharing.cost.power_sum import PowerSum, relative_force, relative_force_change
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange

Weights = Mapping[str, float] | tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class JointReactionSquared(PowerSum):
    """sum_k w_k R_k^2 + e sum_i (F_i / F0_i)^2 [N^2], R = reaction_matrix F + reaction_offset.

    Silva 2003 (6.6.2) names the sum of the squares of the total joint reactions. R are the components of the
    contact forces, muscle forces included; where several joints are listed, their squares add up. Assumes that
    recruitment spares the joints. Reactions alone do not determine the forces of all muscles (three rows for each
    joint, many more muscles), so a small effort e decides between those that load the joints alike.

    Args:
        weights: w for the reactions whose names contain all words of a key: `{"knee": 1}` all components of a knee,
            `{"knee": 1, "knee_x": 0}` without the one along x, `{"hip_r_z": 1}` a single one. The later entry
            counts. Reactions that are not named have none; without any entry all have the weight 1.
        effort: e [N^2]. At 1e4 N^2 a fully active muscle counts as much as a reaction of 100 N.

    Raises:
        InputError: a weight or the effort is not a number of zero or more.
    """

    weights: Weights = ()
    effort: float = 1e4

    name: ClassVar[str] = "joint_reaction_squared"
    formula: ClassVar[str] = "sum_k w_k R_k^2 + e sum_i (F_i / F0_i)^2, e = 1e4 N^2"
    source: ClassVar[str] = "Silva 2003, 6.6.2"
    data: ClassVar[tuple[str, ...]] = ("reaction_matrix", "reaction_offset")

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _pairs_of(self.name, self.weights))
        _check_weight(self.name, "the effort", self.effort)

    @property
    def _pairs(self) -> tuple[tuple[str, float], ...]:
        assert isinstance(self.weights, tuple)
        return self.weights

    @property
    def needs(self) -> frozenset[str]:
        """Terms for the effort, rows for the reactions."""
        return frozenset({"separable", "rows"})

    def coefficient(self, problem: Problem) -> Array:
        """sqrt(e) force_capacity_i / F0_i, (T, n) [N]."""
        return np.sqrt(self.effort) * relative_force(problem)

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """G = reaction_matrix * force_capacity, t = -reaction_offset, weight 2 w."""
        weight = self.component_weights(problem)
        used = weight > 0
        if not used.any():
            return None
        matrix = self.field(problem, "reaction_matrix")[:, used] * problem.force_capacity[:, None, :]
        target = -self.field(problem, "reaction_offset")[:, used]
        return SoftRows(matrix, target, np.broadcast_to(2.0 * weight[used], target.shape))

    def coefficient_change(self, problem: Problem, change: ProblemChange) -> Array:
        """sqrt(e) d(force_capacity_i / F0_i), (K, T, n) [N]."""
        return np.sqrt(self.effort) * relative_force_change(problem, change)

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """That of the effort, and d(f M^T W R) with the capacity f, M = reaction_matrix and W = 2 w, (K, T, n)."""
        weight, capacity = 2.0 * self.component_weights(problem)[:, None], problem.force_capacity
        matrix, offset = self.field(problem, "reaction_matrix"), self.field(problem, "reaction_offset")
        force = capacity * activation
        weighted = weight * (matrix @ force[..., None] + offset[..., None])
        stronger, moved = change.get("force_capacity"), np.asarray(change.get("reaction_offset"))[..., None]
        reaction_change = moved + matrix @ np.asarray(stronger * activation)[..., None]
        load = matrix.transpose(0, 2, 1) @ weighted
        if change.reaction_matrix is not None:
            reaction_change = reaction_change + change.reaction_matrix @ force[..., None]
            load_change = np.swapaxes(change.reaction_matrix, -1, -2) @ weighted
        else:
            load_change = np.zeros_like(load)
        load_change = load_change + matrix.transpose(0, 2, 1) @ (weight * reaction_change)
        rows = stronger * load[..., 0] + capacity * load_change[..., 0]
        return super().gradient_change(problem, activation, change) + rows

    def component_weights(self, problem: Problem) -> Array:
        """w, (k,), for the reactions of a problem.

        Raises:
            InputError: a name fits no reaction.
        """
        self.require(problem)
        names = problem.reaction or ()
        if not self._pairs:
            return np.ones(len(names))
        weight = np.zeros(len(names))
        for key, number in self._pairs:
            fits = [set(key.split("_")) <= set(name.split("_")) for name in names]
            if not any(fits):
                raise unknown_name(
                    key, "reaction", names, " in the problem", where=f"the weights of {self.name}"
                )
            weight[np.array(fits)] = number
        return weight


def _pairs_of(cost: str, weights: Weights) -> tuple[tuple[str, float], ...]:
    try:
        pairs = tuple(dict(weights).items())
    except (TypeError, ValueError) as error:
        fault = f"the weights of {cost} are {as_text(weights)}"
        expected = "names of reactions with a number each"
        raise InputError(fault, code="bad_type", expected=expected, remedy='{"knee": 1.0}') from error
    for key, weight in pairs:
        _check_weight(cost, f"the weight of {key!r}", weight)
    return tuple((str(key), float(weight)) for key, weight in pairs)


def _check_weight(cost: str, what: str, number: object) -> None:
    check_number(number, f"{what} of {cost}", "a number, zero or more", least=0.0, where=cost)

"""Sum of squared joint reactions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve.sharing.cost.cost_terms import SoftRows
from musclesolve.sharing.cost.sum_of_terms import (
    SumOfTerms,
    Weights,
    checked_weights,
    refuse_unfit_words,
    relative_force,
    weights_by_name,
)
from musclesolve.sharing.problem import Problem


@dataclass(frozen=True)
class JointReactionSquared(SumOfTerms):
    """Sum of squared joint reactions, with a little effort: sum_k w_k R_k^2 + e sum_i (F_i / F0_i)^2 [N^2], R =
    reaction_matrix F + reaction_offset.

    Silva 2003 (6.6.2) names the sum of the squares of the total joint reactions, without a formula: this is a
    reading. R are the components of the contact forces, muscle forces included; where several joints are listed,
    their squares add up. Assumes that recruitment spares the joints. Reactions alone do not determine the forces of
    all muscles (three rows for each joint, many more muscles), so a small effort e decides between muscles that load
    the joints alike.

    Args:
        weights: w for the reactions whose names contain all words of a key: `{"knee": 1}` all components of a knee,
            `{"knee": 1, "knee_x": 0}` without the component along x, `{"hip_r_z": 1}` a single one. Later entries
            override earlier ones. Other reactions have weight 0; without any entry all have weight 1.
        effort: e [N^2]. At 1e4 N^2 a fully active muscle counts as much as a reaction of 100 N.

    Raises:
        InputError: a weight or the effort is not a number of zero or more. `solve` and `run` refuse a key that fits no
            reaction of the body.
    """

    weights: Weights = ()
    effort: float = 1e4

    name = "joint_reaction_squared"
    formula = "sum_k w_k R_k^2 + e sum_i (F_i / F0_i)^2, e = 1e4 N^2"
    source = "Silva 2003, 6.6.2"
    works = ("silva_2003",)
    use = "the least contact force that is possible, as a bound"
    data = ("reaction_matrix", "reaction_offset")

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "weights", checked_weights(self.weights, self.name, "reactions", "knee", least=0.0)
        )
        expected = "a number, zero or more"
        check_number(self.effort, f"the effort of {self.name}", expected, least=0.0, where=self.name)

    @property
    def needs(self) -> frozenset[str]:
        """Abilities for a separable effort and for the soft rows of the reactions."""
        return frozenset({"separable", "rows"})

    def check_names(self, dofs: Sequence[str], muscles: Sequence[str], reactions: Sequence[str]) -> None:
        """See Cost; the reactions of a weight may be in another part. Without any reactions `fitted` refuses."""
        if reactions:
            refuse_unfit_words(self.weights, reactions, "reaction", self.name)

    def coefficient(self, problem: Problem) -> Array:
        """The coefficients sqrt(e) force_capacity_i / F0_i of the effort, (T, n) [N].

        Raises:
            InputError: the problem has no reactions: the effort alone is another cost.
        """
        self.fitted(problem)
        return np.sqrt(self.effort) * relative_force(problem)

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """The rows with G = reaction_matrix * force_capacity, t = -reaction_offset and the weights 2 w."""
        weight = self.component_weights(problem)
        weighted = weight > 0
        if not weighted.any():
            return None
        matrix = self.field(problem, "reaction_matrix")[:, weighted] * problem.force_capacity[:, None, :]
        target = -self.field(problem, "reaction_offset")[:, weighted]
        return SoftRows(matrix, target, np.broadcast_to(2.0 * weight[weighted], target.shape))

    def component_weights(self, problem: Problem) -> Array:
        """The weights w, (k,), for the reactions of a problem."""
        self.fitted(problem)
        names = problem.reaction or ()
        usual = np.zeros(len(names)) if self.weights else np.ones(len(names))
        return weights_by_name(self.weights, names, usual)

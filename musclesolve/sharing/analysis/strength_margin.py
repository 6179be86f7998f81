"""Strength margin: the least strength of some muscles with which the moments of a frame are still possible.

The strength s multiplies the maximum isometric force of the muscles in question, so their contractile and their passive
forces. With A = moment_arm * force_capacity at full strength and the passive moment p of these muscles, the frame is
possible if and only if some activation, lower <= a <= upper, gives

    sum_(others) A_i a_i + s sum_(weak) A_i a_i = b + (1 - s) p.

Whether it is possible is decided by the solver, with a proof in either case. A proof y of infeasibility (Farkas) at the
strength s excludes all strengths up to

    s' = (y . (b + p) - H_others) / (H_weak + y . p),    H = sum_i max(lower_i (A^T y)_i, upper_i (A^T y)_i),

where its inequality becomes an equality. So the search begins at s = 0, goes to s' of the proof found there, and ends
at the first strength that is possible: no smaller one is (Newton's method on a piecewise linear function; two to six
steps in practice). All frames are searched at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import input_error
from musclesolve.sharing.analysis.force_ranges import chosen_muscles
from musclesolve.sharing.arguments import check_problem
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

STEPS = 50
SAME = 1e-9
"""Proofs that exclude no more than this beyond the strength tried end the search."""


@dataclass(frozen=True, eq=False)
class StrengthMargin:
    """Least strength of some muscles.

    Attributes:
        strength: (T,) least factor on their maximum isometric force; 0 where the frame is possible without them, NaN
            where it is not possible at full strength, or undecided.
        proof: (T, m) the combination y of moments that excludes every smaller strength; NaN where `strength` is 0 or
            NaN.
    """

    strength: Array
    proof: Array

    @property
    def tightest(self) -> int:
        """The frame that needs the greatest strength.

        Raises:
            InputError: no frame is possible at full strength.
        """
        if np.isnan(self.strength).all():
            raise input_error("sharing.no_frame_possible", where="strength_margin")
        return int(np.nanargmax(self.strength))


def strength_margin(problem: Problem, muscles: Sequence[str]) -> StrengthMargin:
    """Least strength of some muscles together with which each frame is still possible, without reserves.

    Args:
        problem: its reserves are ignored; its passive forces, where there are any, shrink with the strength.
        muscles: names of the muscles that have this strength; the others keep theirs.

    Returns:
        Strengths (T,) from 0 to 1 [1], and their proofs; a problem of a single frame counts as one of T = 1.

    Raises:
        InputError: there is no muscle of that name, or no name at all.
    """
    weak = np.zeros(check_problem(problem).n_muscles, dtype=bool)
    weak[chosen_muscles(problem, muscles)] = True
    exact = problem.with_arrays(reserve_weight=None)
    frames, dofs = problem.moment.shape
    least, proof = np.full(frames, np.nan), np.full((frames, dofs), np.nan)
    tried = np.flatnonzero(solve(exact, "force_squared").status == Status.SOLVED)
    strength = np.zeros(len(tried))
    for _ in range(STEPS):
        if not tried.size:
            break
        part = exact.frames(tried)
        solution = solve(with_strength(part, np.where(weak, strength[:, None], 1.0)), "force_squared")
        possible = solution.status == Status.SOLVED
        least[tried[possible]] = strength[possible]
        beyond = _excluded(part, solution.infeasibility_proof, weak)
        further = (solution.status == Status.INFEASIBLE) & (beyond > strength + SAME)
        # a proof that excludes nothing more than itself is one at the edge, where the search ends
        edge = (solution.status == Status.INFEASIBLE) & ~further
        least[tried[edge]] = strength[edge]
        proof[tried[further]] = solution.infeasibility_proof[further]
        tried, strength = tried[further], np.minimum(beyond[further], 1.0)
    return StrengthMargin(least, np.where(np.isnan(least)[:, None], np.nan, proof))


def with_strength(problem: Problem, strength: ArrayLike) -> Problem:
    """The problem of muscles whose maximum isometric forces are multiplied by factors, (n,) or (T, n) [1].

    Contractile and passive forces change in proportion; the costs keep the maximum isometric forces of the problem.
    """
    factor = np.broadcast_to(np.asarray(strength, np.float64), problem.force_capacity.shape)
    changed: dict[str, Array] = {"force_capacity": np.ascontiguousarray(problem.force_capacity * factor)}
    if problem.passive_force is not None:
        lost = np.einsum("tmn,tn->tm", problem.moment_arm, (1.0 - factor) * problem.passive_force)
        changed |= {"passive_force": factor * problem.passive_force, "moment": problem.moment + lost}
    return problem.with_arrays(**changed)


def _excluded(problem: Problem, proof: Array, weak: Mask) -> Array:
    """The strength s' (T,) up to which proofs (T, m) exclude every strength of the weak muscles (n,)."""
    pull = problem.pull(proof)
    reach = np.maximum(pull * problem.lower, pull * problem.upper)
    demand = (proof * problem.moment).sum(axis=1)
    passive = np.zeros(len(demand))
    if problem.passive_force is not None:
        arms = np.einsum("tm,tmn->tn", proof, problem.moment_arm)
        passive = (arms * problem.passive_force)[:, weak].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (demand + passive - reach[:, ~weak].sum(axis=1)) / (reach[:, weak].sum(axis=1) + passive)

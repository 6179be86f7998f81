"""Passive forces as the cause: stretched fibers that give a moment which the other muscles cannot answer.

    least shortage, were passive forces smaller    minimise sum_k |s_k|    subject to A a - P r + s = b,   0 <= r <= 1

P = moment_arm * passive force; r_i is the part of the passive force of a muscle that is taken away. Which muscles they
are is read from the proof y of the shortage: those with y . P_i < 0 ask for what the others do not have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.sharing.linear_programme import minimise
from musclesolve.sharing.problem import Problem

MAIN_PART = 0.5
"""Passive forces are named as the cause where they make up at least this share of the shortage."""
_COUNTS = 1e-3
"""Muscles that ask for less than this share of what all of them do are not named."""


@dataclass(frozen=True, eq=False)
class PassiveCause:
    """Passive forces that oppose the moments of a frame.

    Args:
        muscles: their numbers, the one that asks for most first.
        dof: number of the degree of freedom at which they ask for most.
        moment: (signed) [N m], what they give there.
        needed: (signed) [N m], the net moment of that degree of freedom, passive and active together.
    """

    muscles: NDArray[np.intp]
    dof: int
    moment: float
    needed: float


def shortage_without(problem: Problem, passive: Array, frame: int) -> float:
    """Least sum of the sizes of the shortages [N m] if passive forces (moments (T, m, n)) could be smaller."""
    count, dofs = problem.n_muscles, problem.n_dof
    lower, upper = problem.lower[frame].tolist(), problem.upper[frame].tolist()
    found = minimise(
        np.concatenate([np.zeros(2 * count), np.ones(2 * dofs)]),
        np.hstack([problem.moment_matrix[frame], -passive[frame], np.eye(dofs), -np.eye(dofs)]),
        problem.moment[frame],
        [*zip(lower, upper, strict=True), *([(0.0, 1.0)] * count), *([(0.0, None)] * (2 * dofs))],
    )
    return float("inf") if found is None else float(found[0][2 * count :].sum())


def passive_cause(moment: Array, passive: Array, proof: Array) -> PassiveCause | None:
    """The passive forces that oppose a proof; None where none does.

    Args:
        moment: (m,) [N m], asked of the contractile elements.
        passive: (m, n) [N m], moments of the passive forces.
        proof: (m,) y of `diagnose`.
    """
    asked = -(proof @ passive)
    muscles = np.flatnonzero(asked > _COUNTS * max(float(np.maximum(asked, 0.0).sum()), np.finfo(float).tiny))
    if not muscles.size:
        return None
    muscles = muscles[np.argsort(-asked[muscles], kind="stable")]
    opposing = -(proof[:, None] * passive[:, muscles]).sum(axis=1)
    dof = int(opposing.argmax())
    given = float(passive[dof, muscles].sum())
    return PassiveCause(muscles, dof, given, float(moment[dof] + passive[dof].sum()))

"""Passive forces as the cause of infeasibility: stretched fibers whose moment the other muscles cannot balance.

    least shortage with smaller passive forces    minimise sum_k |s_k|    subject to A a - P r + s = b,   0 <= r <= 1

P = moment_arm * passive force; r_i is the removed part of the passive force of a muscle. The muscles in question follow
from the proof y of the shortage: those with y . P_i < 0 oppose it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.sharing.linear_programme import minimise
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

MAIN_PART = 0.5
"""Passive forces are named as the cause where they make up at least this share of the shortage."""
_NEGLIGIBLE = 1e-3  # muscles that oppose the proof by less than this share of all together are not named


@dataclass(frozen=True, eq=False)
class PassiveCause:
    """Passive forces that oppose the moments of a frame."""

    muscles: NDArray[np.intp]  # their numbers, the one that opposes most first
    dof: int  # number of the degree of freedom at which they oppose most
    moment: float  # of these passive forces there [N m], signed
    needed: float  # net moment of that degree of freedom, passive and active together [N m], signed


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


def solved_without(problem: Problem) -> bool:
    """Whether every frame of a problem is solved, without reserves, when its passive forces are left out."""
    if problem.passive_force is None:
        return False
    moment = problem.moment + np.einsum("tmn,tn->tm", problem.moment_arm, problem.passive_force)
    free = replace(problem, moment=moment, passive_force=None, reserve_weight=None)
    return bool((solve(free, "force_squared").status == Status.SOLVED).all())


def passive_cause(moment: Array, passive: Array, proof: Array) -> PassiveCause | None:
    """The passive forces, of moments (m, n) [N m], that oppose the proof y (m,) of a shortage; None where none does."""
    opposition = -(proof @ passive)
    muscles = np.flatnonzero(
        opposition > _NEGLIGIBLE * max(float(np.maximum(opposition, 0.0).sum()), np.finfo(float).tiny)
    )
    if not muscles.size:
        return None
    muscles = muscles[np.argsort(-opposition[muscles], kind="stable")]
    opposing = -(proof[:, None] * passive[:, muscles]).sum(axis=1)
    dof = int(opposing.argmax())
    moment_there = float(passive[dof, muscles].sum())
    return PassiveCause(muscles, dof, moment_there, float(moment[dof] + passive[dof].sum()))

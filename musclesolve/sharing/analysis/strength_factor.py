"""Stronger muscles as a remedy: the smallest factor on their strength that makes a frame feasible, verified by solving.

The strength of a muscle is its maximum isometric force. The force of the contractile element grows with it, the
passive force does not, so that a factor phi on some muscles turns

    A a = b    into    sum_i phi_i A_i a_i = b,

which has a solution from some factor on, or never. With u = phi a it is a linear programme in u and phi.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.linear_programme import minimise
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

_DECIMALS = (2, 3, 4)  # decimals of the factors that are tried; the fewest that suffice are reported


@dataclass(frozen=True, eq=False)
class Remedy:
    """A factor on the strength of some muscles that makes a frame feasible; the frame was solved with it."""

    factor: float  # more than one
    muscles: Mask  # (n,) whose strength it multiplies
    also_of_all: bool  # whether the same factor on the strength of all muscles suffices as well


def strengthened(problem: Problem, factor: Array) -> Problem:
    """The problem with strengths multiplied by factors (n,); its passive forces stay."""
    return replace(
        problem,
        force_capacity=problem.force_capacity * factor,
        max_isometric_force=problem.max_isometric_force * factor,
    )


def smallest_factor(problem: Problem, frame: int, chosen: Mask) -> float:
    """Smallest factor of one or more on the strength of the chosen muscles (n,); infinite if none suffices."""
    matrix, count = problem.moment_matrix[frame], problem.n_muscles
    if not chosen.any():
        return float("inf")
    lower, upper = problem.lower[frame], problem.upper[frame]
    select = np.eye(count)[chosen]
    limits = np.vstack([np.hstack([select, -upper[chosen, None]]), np.hstack([-select, lower[chosen, None]])])
    bounds = [
        (0.0, None) if inside else (lo, up) for lo, up, inside in zip(lower, upper, chosen, strict=True)
    ]
    found = minimise(
        np.append(np.zeros(count), 1.0),
        np.column_stack([matrix, np.zeros(problem.n_dof)]),
        problem.moment[frame],
        [*bounds, (1.0, None)],
        limits,
    )
    return float("inf") if found is None else float(found[0][-1])


def verified_remedy(problem: Problem, chosen: Mask, least: float) -> Remedy | None:
    """The roundest factor from `least` on, for the chosen muscles (n,), that makes a single frame feasible, if any."""
    every = np.ones_like(chosen)
    for factor in _rounded(least) if np.isfinite(least) else ():
        if _solved(problem, chosen, factor):
            return Remedy(factor, chosen, bool(chosen.all()) or _solved(problem, every, factor))
    return None


def _rounded(least: float) -> Iterator[float]:
    """Numbers of few decimals just above: a frame at the limit of its strength may not be solved yet."""
    for decimals in _DECIMALS:
        unit = 10.0**-decimals
        first = np.ceil(least / unit - 1e-6)
        tried = (round(float(step * unit), decimals) for step in (first, first + 1.0))
        yield from (factor for factor in tried if factor > 1.0)


def _solved(problem: Problem, chosen: Mask, factor: float) -> bool:
    stronger = replace(strengthened(problem, np.where(chosen, factor, 1.0)), reserve_weight=None)
    return bool((solve(stronger, "force_squared").status == Status.SOLVED).all())

"""Feasible ranges: the least and greatest force of every muscle with which the moments are met.

For each frame and muscle two linear programmes, minimise and maximise a_i subject to A a = b, lower <= a <= upper. All
frames of one muscle are solved at once by the interior-point method; frames that it leaves open go to HiGHS. Any lambda
bounds the least value from outside (weak duality),

    min a_i  >=  lambda . b + sum_j min(d_j lower_j, d_j upper_j),    d = e_i - A^T lambda,

so the distance between the value found and that bound certifies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.message_text import as_text
from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.sharing.arguments import check_problem, members
from musclesolve.sharing.cost.cost_terms import Terms, one_term
from musclesolve.sharing.kernel.constants import TERM_POWER
from musclesolve.sharing.linear_programme import minimise
from musclesolve.sharing.nearest_moments import NoCost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.batch import Batch
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

ACCURACY = 1e-6  # largest gap of the interior-point method, as a share of the width of the bounds
_ITERATIONS = 60


@dataclass(frozen=True, eq=False)
class ForceRange:
    """Ranges of muscle forces, (T, n) [N] each; NaN for frames and muscles without a solution.

    Attributes:
        least: smallest force; it is attained.
        greatest: largest force; it is attained.
        gap_least: how far below `least` the true end of the range could be at most.
        gap_greatest: how far above `greatest`.
    """

    least: Array
    greatest: Array
    gap_least: Array
    gap_greatest: Array

    @property
    def width(self) -> Array:
        """Greatest - least."""
        return self.greatest - self.least

    def drop_frame_axis(self) -> ForceRange:
        """The same for a single frame."""
        return ForceRange(*(getattr(self, f.name)[0] for f in fields(self)))


@dataclass(frozen=True)
class OneActivation(NoCost):
    """The activation of one muscle, or its negative: a linear cost."""

    muscle: int
    sign: float

    name: ClassVar[str] = "one_activation"

    def value(self, problem: Problem, activation: Array) -> Array:
        """(T,)."""
        return np.asarray(self.sign * activation[:, self.muscle])

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """(T, n)."""
        slope = np.zeros_like(activation)
        slope[:, self.muscle] = self.sign
        return slope

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """The one activation."""
        return one_term(TERM_POWER, 1.0, np.abs(self.gradient(problem, problem.lower))).scaled(self.sign)


def feasible_range(problem: Problem, muscles: Sequence[str] | None = None) -> ForceRange:
    """Least and greatest force of each muscle with which the muscles produce the moments, without reserves.

    Args:
        problem: its reserves are ignored.
        muscles: names of those wanted; all unless given, the others are NaN.

    Raises:
        InputError: there is no muscle of that name, or no name at all.
    """
    wanted = chosen_muscles(check_problem(problem), muscles)
    exact = replace(problem, reserve_weight=None)
    frames = np.flatnonzero(reachable(exact))
    found = ForceRange(*(np.full(problem.force_capacity.shape, np.nan) for _ in range(4)))
    if frames.size:
        part = exact.frames(frames)
        for muscle in wanted:
            capacity = part.force_capacity[:, muscle]
            for sign, end, gap in (
                (1, found.least, found.gap_least),
                (-1, found.greatest, found.gap_greatest),
            ):
                value, error = _least(part, OneActivation(muscle, float(sign)))
                end[frames, muscle], gap[frames, muscle] = sign * capacity * value, capacity * error
    return found.drop_frame_axis() if problem.single_frame else found


def chosen_muscles(problem: Problem, names: Sequence[str] | None) -> list[int]:
    """Indices of the muscles named, of all if none are."""
    known = problem.muscle or ()
    if names is None:
        return list(range(len(known)))
    wanted = [names] if isinstance(names, str) else members(names)
    if not wanted:
        fault = f"muscles is {as_text(names)}"
        expected = "one name or more; None stands for all"
        raise InputError(fault, code="missing_argument", where="muscles", expected=expected)
    for name in wanted:
        if not isinstance(name, str) or name not in known:
            raise unknown_name(name, "muscle", known)
    return [known.index(name) for name in wanted]


def reachable(problem: Problem) -> Mask:
    """(T,) whether some activation produces the moments: by certificate, or by HiGHS where there is none."""
    status = np.atleast_1d(solve(problem, "force_squared").status)
    within = status == Status.SOLVED
    for t in np.flatnonzero(np.isin(status, (Status.MAX_ITERATIONS, Status.SOLVER_FAILED))):
        within[t] = _highs(problem, int(t), np.zeros(problem.n_muscles)) is not None
    return within


def _least(problem: Problem, cost: OneActivation) -> tuple[Array, Array]:
    """Least value of a linear cost and how much less it could be at most, (T,) each; NaN without a solution."""
    attempt = Batch(max_iterations=_ITERATIONS).solve(problem, cost)
    slope = cost.gradient(problem, attempt.activation)
    value, gap = _bounded(problem, slope, attempt.activation, attempt.multiplier)
    width = (problem.upper - problem.lower)[:, cost.muscle]
    for t in np.flatnonzero(~(gap <= ACCURACY * width)):
        found = _highs(problem, int(t), slope[t])
        if found is None:
            value[t] = gap[t] = np.nan
            continue
        one = problem.frames(np.array([t]))
        value[t], gap[t] = (x[0] for x in _bounded(one, slope[t : t + 1], found[0][None], found[1][None]))
    return value, gap


def _bounded(problem: Problem, slope: Array, activation: Array, multiplier: Array) -> tuple[Array, Array]:
    """Value of a solution, and its distance from the bound by its multiplier plus its error in the moments."""
    matrix = problem.moment_matrix
    rest = slope - np.matmul(multiplier[:, None, :], matrix)[:, 0, :]
    bound = (multiplier * problem.moment).sum(axis=1)
    bound = bound + np.minimum(rest * problem.lower, rest * problem.upper).sum(axis=1)
    missed = np.matmul(matrix, activation[:, :, None])[:, :, 0] - problem.moment
    value = (slope * activation).sum(axis=1)
    return value, np.abs(value - bound) + (np.abs(multiplier) * np.abs(missed)).sum(axis=1)


def _highs(problem: Problem, frame: int, slope: Array) -> tuple[Array, Array] | None:
    """Activation and multipliers of one linear programme; None if the moments are out of reach."""
    bounds = list(zip(problem.lower[frame].tolist(), problem.upper[frame].tolist(), strict=True))
    return minimise(slope, problem.moment_matrix[frame], problem.moment[frame], bounds)

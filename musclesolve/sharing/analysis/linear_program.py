"""Least numbers of frames by linear programs, with two ends: one that is proved, one that is found.

The least number v for which activations within bounds that depend on v produce the moments (the strength of some
muscles, a torque, the activation of one muscle) is the optimum of a linear program, which a compiled simplex method
solves (kernel/simplex.py). What it returns is evaluated here, whatever its own accuracy:

    proved   a combination y of the moments whose Farkas margin, less its round-off, is above zero excludes v
             (certificate.farkas_margin). The margin is a concave function of v: where y excludes two numbers, it
             excludes all between them, and where the line through a positive and a negative margin is zero it excludes.
    found    activations within their bounds that miss the moments by r, which is no more than the round-off d of
             computing them. The multipliers lambda of the program state what that is worth, so that the number found is
             v + sum_k |lambda_k| (|r_k| + d_k).

Between the two lies the least number of the moments as given. Where a basic variable has no room for round-off, at
the edge of reach, moments as given and moments to round-off may differ in whether they can be produced at all: there
the number found holds for moments that differ by r.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.sharing.certificate import farkas_margin
from musclesolve.sharing.kernel.constants import UNIT_ROUNDING
from musclesolve.sharing.problem import Problem

BLOCK = 2000
"""Number of frames whose programs are in memory at once."""
STEPS = 6
"""Steps back, by more each time, from where the line is zero to a number at which the computed margin is above zero."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """Optima of linear programs.

    Attributes:
        x: (T, k) variables within their bounds; NaN where no optimum is found.
        multiplier: (T, m) of the equations; NaN where no optimum is found.
        proof: (T, m) a combination of the equations that no variables within their bounds satisfy, of frames that have
            no solution, or one within round-off alone; else NaN.
    """

    x: Array
    multiplier: Array
    proof: Array


def minimize(matrix: Array, right: Array, lower: Array, upper: Array, cost: Array) -> Optimum:
    """Minimize cost . x with matrix x = right, lower <= x <= upper in every frame.

    The matrix is (T, m, k), right is (T, m), the bounds, of which the upper ones may be infinite, and the cost are
    (T, k) or (k,); all others are finite. Equations that no variables satisfy to a unit in the last place are satisfied
    to the round-off of computing them, if any variables do.
    """
    frames, _, size = matrix.shape
    lower, upper, cost = (np.broadcast_to(each, (frames, size)) for each in (lower, upper, cost))
    (optimum,) = minimize_several(matrix, right, lower, upper, cost[None])
    return optimum


def minimize_several(
    matrix: Array, right: Array, lower: Array, upper: Array, costs: Array
) -> Iterator[Optimum]:
    """The optima for several costs (Q, T, k), each found from the optimum for the one before; see `minimize`.

    Costs (Q, 1, k) are the same in all frames.
    """
    count, (frames, rows, size) = len(costs), matrix.shape
    numbers = [np.full((count, frames, length), np.nan) for length in (size, rows, rows)]
    which = np.arange(frames)
    for units in (1.0, size + 8.0):
        if not which.size:
            break
        given = [array[which] for array in (matrix, right, lower, upper)]
        own = costs if costs.shape[1] == 1 else costs[:, which]
        x, multiplier, solved, infeasible = _solved(given, own, units)
        for array, found, where in zip(
            numbers, (x, multiplier, multiplier), (solved, solved, infeasible), strict=True
        ):
            array[:, which] = np.where(where[:, :, None], found, array[:, which])
        which = which[infeasible.any(axis=0)]
    for x, multiplier, proof in zip(*numbers, strict=True):
        yield Optimum(_meeting(matrix, right, lower, upper, x)[0], multiplier, proof)


def _solved(given: list[Array], costs: Array, units: float) -> tuple[Array, Array, Mask, Mask]:
    """Variables, multipliers, and which frames have an optimum or a proof of the contrary; the axis of costs first."""
    from musclesolve.sharing.kernel.simplex import INFEASIBLE, OPTIMAL, SIMPLEX

    count, (frames, rows, size) = len(costs), given[0].shape
    x, multiplier = np.empty((count, frames, size)), np.empty((count, frames, rows))
    claim, steps = np.empty((count, frames), np.int64), np.empty((count, frames), np.int64)
    table = [np.empty((rows, columns)) for columns in (size, size + rows, size + rows)]
    vectors = [np.empty(length) for length in 7 * [rows] + 6 * [size]]
    numbers = [np.empty(length, np.int64) for length in (size, rows, rows)]
    arrays = map(np.ascontiguousarray, (*given, costs))
    SIMPLEX.load()(*arrays, units, x, multiplier, claim, steps, *table, *vectors, *numbers)
    return x, multiplier, claim == OPTIMAL, claim == INFEASIBLE


def blocks(frames: Indices, most: int = BLOCK) -> list[Indices]:
    """Numbers of frames in blocks of at most so many."""
    return [frames[first : first + most] for first in range(0, len(frames), most)]


def with_columns(problem: Problem, arm: Array, capacity: Array, lower: Array, upper: Array) -> Problem:
    """The problem with c further columns: their arms (T, m, c), capacities and bounds (T, c).

    Only what the moments consist of has these columns: moment_arm, force_capacity, lower and upper.
    """
    further = {"moment_arm": arm, "force_capacity": capacity, "lower": lower, "upper": upper}
    old = {name: getattr(problem, name) for name in further}
    return problem.with_arrays(
        **{name: np.concatenate([old[name], array], axis=-1) for name, array in further.items()}
    )


def missed(problem: Problem, activation: Array) -> tuple[Array, Array]:
    """The moments that activations (T, n) miss, and the round-off of computing them, (T, m) [N m] each."""
    return _missed(problem.moment_matrix, problem.moment, activation)


def _missed(matrix: Array, right: Array, x: Array) -> tuple[Array, Array]:
    lacking = right - np.matmul(matrix, x[:, :, None])[:, :, 0]
    sizes = np.matmul(np.abs(matrix), np.abs(x)[:, :, None])[:, :, 0] + np.abs(right)
    return lacking, (x.shape[1] + 8) * UNIT_ROUNDING * sizes


def _meeting(matrix: Array, right: Array, lower: Array, upper: Array, x: Array) -> tuple[Array, Array, Array]:
    """Variables (T, k) that satisfy equations to round-off: those given, or changed a little by least squares.

    A basic variable that round-off puts beyond a bound is at the bound instead; others then have to move for it. Also
    what the equations lack, and the round-off of computing it, (T, m) each.
    """
    from scipy.optimize import lsq_linear

    x = np.clip(x, lower, upper)
    lacking, rounding = _missed(matrix, right, x)
    for _ in range(2):
        if not (left := np.flatnonzero((np.abs(lacking) > rounding).any(axis=1))).size:
            break
        for t in left:
            free, size = upper[t] > lower[t], np.where(rounding[t] > 0.0, rounding[t], 1.0)[:, None]
            unit = np.where(np.isfinite(upper[t]), upper[t] - lower[t], 1.0)[free]
            limits = [(bound[t] - x[t])[free] / unit for bound in (lower, upper)]
            if free.any():
                rows, short = matrix[t][:, free] * unit / size, lacking[t] / size[:, 0]
                with np.errstate(invalid="ignore", divide="ignore"):
                    x[t, free] += lsq_linear(rows, short, limits, method="bvls").x * unit
        x[left] = np.clip(x[left], lower[left], upper[left])
        lacking[left], rounding[left] = _missed(matrix[left], right[left], x[left])
    return x, lacking, rounding


@dataclass(frozen=True, eq=False)
class Ends:
    """Least numbers of frames between two ends.

    Attributes:
        found: (T,) with this number activations within their bounds produce the moments to round-off; else NaN.
        proved: (T,) every smaller number is impossible; NaN where `found` is.
        proof: (T, m) the combination of moments that proves it; NaN where `proved` is a bound or NaN.
    """

    found: Array
    proved: Array
    proof: Array


def ends_of(
    problem_at: Callable[[Array], Problem],
    optimum: Optimum,
    activation: Array,
    number: Array,
    least: Array,
    most: Array,
) -> Ends:
    """The two ends of least numbers (T,) from `least` to `most` (T,).

    problem_at: the problem at numbers (T,). optimum: of the program, the moments first among its equations.
    activation: (T, n), with which the problem is possible at `number`.
    """
    dofs = problem_at(least).n_dof
    multiplier, contrary = (array[:, :dofs] for array in (optimum.multiplier, optimum.proof))
    proved = _excluded(problem_at, multiplier, least, number)
    met, worth = _met(problem_at(number), activation, multiplier)
    if np.isfinite(contrary).any():
        bounded = np.isfinite(most)  # no number is too large where there is no end
        met &= ~(bounded & (farkas_margin(problem_at(np.where(bounded, most, least)), contrary) > 0.0))
    # where nothing is proved, a number that is round-off above the least possible one may be that one
    if (near := met & (proved <= least) & (number + worth > least)).any():
        near &= _met(problem_at(np.where(near, least, number)), activation, multiplier)[0]
    found = np.where(near, least, np.minimum(number + worth, most))
    proved, found = np.where(met, proved, np.nan), np.where(met, found, np.nan)
    return Ends(found, proved, np.where((proved > least)[:, None], multiplier, np.nan))


def _met(problem: Problem, activation: Array, multiplier: Array) -> tuple[Mask, Array]:
    """Whether activations close to those given (T, n) meet the moments to round-off, and what this is worth (T,)."""
    rows, bounds = (problem.moment_matrix, problem.moment), (problem.lower, problem.upper)
    _, lacking, rounding = _meeting(*rows, *bounds, activation)
    met = np.all(np.abs(lacking) <= rounding, axis=1)
    worth: Array = (np.abs(multiplier) * (np.abs(lacking) + rounding)).sum(axis=1)
    return met, worth


def _excluded(problem_at: Callable[[Array], Problem], proof: Array, start: Array, found: Array) -> Array:
    """The number (T,) nearest to `found` that proofs (T, m) exclude with all numbers from `start` on; or `start`."""
    margin, excluded = farkas_margin(problem_at(start), proof), np.array(start)
    if not (margin > 0.0).any():
        return excluded
    beyond = farkas_margin(problem_at(found), proof)
    excluded = np.where((margin > 0.0) & (beyond > 0.0), found, start)
    open_ = (margin > 0.0) & (beyond <= 0.0) & np.isfinite(beyond)
    for step in range(STEPS):
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(open_, margin / (margin - 2.0**step * beyond), 0.0)
        number = np.where(open_, start + (found - start) * share, start)
        further = open_ & (farkas_margin(problem_at(number), proof) > 0.0)
        excluded, open_ = np.where(further, number, excluded), open_ & ~further
        if not open_.any():
            break
    return excluded

"""Methods that Silva (2003) tried or names (6.6.3, 6.7), on frames of the bundled stride with his muscles and cost.

    python -m benchmarks.thesis_methods [--frames N] [--seconds S]

The thesis tried modified feasible directions, sequential linear and sequential quadratic programs of DOT, the SQP of
IMSL (45 s for 66 frames, DOT two hours), and moving asymptotes, which "did not produce any result". It names gradient
projection, genetic algorithms and the interior point of Herskovits. Every method starts each frame from activations of
a half, with the moments as equations. Its activations alone are judged: the moments that they miss, what they cost
beyond the optimum with certificate, and how far their forces are from its forces.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np
from rich.table import Table
from scipy.optimize import (
    LinearConstraint,
    OptimizeResult,
    differential_evolution,
    lsq_linear,
    minimize_scalar,
)

from benchmarks.arguments import command_line
from benchmarks.thesis_figures.optimizers import COST, judge, slp, sqp
from benchmarks.thesis_figures.study import SIDE, Study
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.data import reference_stride
from musclesolve.laboratory.forces import prepare_recording
from musclesolve.models.body_sharing import share
from musclesolve.sharing.solver.frame_program import FrameProgram
from musclesolve.sharing.status import Status

SLACK = 1e-8
"""Of the equations, in their scale, as pairs of inequalities."""
POPULATION = 5
"""Of the genetic algorithm, times the number of muscles; all else as SciPy has it."""

Method = Callable[[FrameProgram, float], Array]
"""Activations of a frame, within so many seconds."""


def nearest_feasible(form: FrameProgram) -> Array:
    """The feasible activations nearest to a half, (n,)."""
    stiff = np.vstack([1e4 * form.matrix, np.eye(form.muscles)])
    target = np.concatenate([1e4 * form.moment, np.full(form.muscles, 0.5)])
    return np.asarray(lsq_linear(stiff, target, (form.lower, form.upper), method="bvls").x)


def line_minimum(
    form: FrameProgram, x: Array, direction: Array, low: Array, high: Array, to_bound: bool = False
) -> Array:
    """The point of least cost from x along a direction before the first bound, or on it if `to_bound`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(direction > 0.0, (high - x) / direction, (low - x) / direction)
    room = np.where(np.abs(direction) > 1e-14, room, np.inf)
    most = min(float(np.maximum(room, 0.0).min()), 1e3 / float(np.abs(direction).max()))
    line = minimize_scalar(
        lambda s: form.value(x + s * direction),
        bounds=(0.0, most),
        method="bounded",
        options={"xatol": 1e-12},
    )
    # the search never reaches the end of its interval
    step = most if to_bound and form.value(x + most * direction) <= line.fun else line.x
    return np.clip(x + step * direction, low, high)


def feasible_directions(form: FrameProgram, seconds: float) -> Array:
    """Modified feasible directions (Vanderplaats 1984, a method of DOT), from the feasible point nearest to a half.

    The direction S of steepest descent that leaves no active constraint, min g.S with rows S = 0, S_i >= 0 at a lower
    and <= 0 at an upper bound and |S| <= 1, is the projection of -g on these S: -g less its nearest combination of
    the normals. Along S the cost is minimized up to the first bound.
    """
    x, low, high = nearest_feasible(form), form.lower, form.upper
    unit, end, small = np.eye(form.muscles), perf_counter() + seconds, np.inf
    while perf_counter() < end and small > 1e-9:
        slope = form.gradient(x)
        at_low, at_high = x - low <= 1e-9, high - x <= 1e-9
        normals = np.vstack([form.matrix, unit[at_low], -unit[at_high]]).T
        floor = np.concatenate(
            [np.full(len(form.matrix), -np.inf), np.zeros(normals.shape[1] - len(form.matrix))]
        )
        push = lsq_linear(normals, slope, (floor, np.inf), method="bvls", tol=1e-12).x
        direction = normals @ push - slope
        direction[(at_low & (direction < 0.0)) | (at_high & (direction > 0.0))] = 0.0  # round-off
        small = float(np.abs(direction).max())
        if small <= 1e-9:
            break
        x, before = line_minimum(form, x, direction, low, high), x
        if np.abs(x - before).max() <= 1e-13:
            break
    return x


def gradient_projection(form: FrameProgram, seconds: float) -> Array:
    """Gradient projection (Rosen 1960), from the feasible point nearest to a half.

    The direction is -g projected on the subspace tangent to the rows and the active bounds. Along it the cost is
    minimized up to the first bound, which becomes active. Where the projection vanishes, the active bound with the most
    negative multiplier is left.
    """
    x, low, high = nearest_feasible(form), form.lower, form.upper
    active, end, steps, small = np.zeros(form.muscles, bool), perf_counter() + seconds, 0, np.inf
    while perf_counter() < end:
        slope, at_low = form.gradient(x), x - low <= 1e-9
        active |= (at_low | (high - x <= 1e-9)) & (steps == 0)
        tangent = form.matrix * ~active
        rest = slope - form.matrix.T @ np.linalg.lstsq(tangent.T, slope * ~active, rcond=1e-12)[0]
        small = float(np.abs(rest * ~active).max())
        multiplier = np.where(active, np.where(at_low, rest, -rest), np.inf)  # of the active bounds
        if small <= 1e-9:
            if multiplier.min() >= -1e-9:
                return x
            active[multiplier.argmin()] = False
            continue
        x = line_minimum(form, x, -rest * ~active, low, high, to_bound=True)
        active |= (x - low <= 1e-12) | (high - x <= 1e-12)
        steps += 1
    return x


def interior_directions(form: FrameProgram, seconds: float) -> Array:
    """Feasible directions of an interior point (Herskovits 1998), of which the thesis names the technique (FDIPT).

    With bounds g(x) <= 0 and their multipliers l > 0, equations A x = b and a quasi-Newton matrix B of the Lagrangian,

        B d + A^T m + G^T l' = -f',    A d = b - A x,    l_i G_i d + g_i l'_i = 0

    gives a descent direction d0; the same matrix with -l on the right of the last line gives d1, which bends d0 into
    the inside: d = d0 + r d1 with r = min(|d0|^2, 0.3 d0.f' / |d1.f'|). Steps decrease f + c |A x - b|_1 (Armijo) and
    keep g < 0.
    """
    k, m, end = form.muscles, len(form.moment), perf_counter() + seconds
    held = np.flatnonzero(form.upper > form.lower)
    normal = np.vstack([-np.eye(k)[held], np.eye(k)[held]])
    ends = np.concatenate([-form.lower[held], form.upper[held]])
    x, bent, penalty, multiplier = np.full(form.muscles, 0.5), np.eye(k), 0.0, np.ones(len(ends))
    slope = form.gradient(x)
    for _ in range(500):
        inside, miss = normal @ x - ends, form.matrix @ x - form.moment
        # l' eliminated: l'_i = -l_i G_i d / g_i (d0), less a further l_i / g_i (d1)
        ratio = multiplier / -inside
        matrix = np.zeros((k + m, k + m))
        matrix[:k, :k] = bent + (normal.T * ratio) @ normal
        matrix[:k, k:], matrix[k:, :k] = form.matrix.T, form.matrix
        sides = np.zeros((k + m, 2))
        sides[:k, 0], sides[k:, 0], sides[:k, 1] = -slope, -miss, -normal.T @ ratio
        solved = np.linalg.lstsq(matrix, sides, rcond=1e-14)[0]
        first, second = solved[:k].T
        taken = ratio * (normal @ first)
        if max(np.abs(first).max(), np.abs(miss).max()) <= 1e-10:
            return x
        penalty = max(penalty, 2.0 * float(np.abs(solved[k:, 0]).max()))

        def merit(at: Array, penalty: float = penalty) -> float:
            return form.value(at) + penalty * float(np.abs(form.matrix @ at - form.moment).sum())

        fall = float(slope @ first) - penalty * float(np.abs(miss).sum())
        rise, size = float(slope @ second), float(first @ first)
        bend = size if rise <= 0.0 else min(size, 0.3 * abs(fall) / rise)
        direction, step, now = first + bend * second, 1.0, merit(x)
        while step > 1e-14 and not (
            (normal @ (x + step * direction) < ends).all()
            and merit(x + step * direction) <= now + 0.1 * step * fall
        ):
            step *= 0.7
        if step <= 1e-14 or perf_counter() > end:
            return x
        x, before = x + step * direction, slope
        slope = form.gradient(x)
        multiplier = np.maximum(taken, np.maximum(1e-12, 1e-6 * size))
        # BFGS as damped by Powell, since the Lagrangian of these linear constraints bends as the cost does
        along, turned = step * direction, slope - before
        pushed = bent @ along
        curvature, least = float(along @ turned), 0.2 * float(along @ pushed)
        if curvature < least:
            share = 4.0 * least / (5.0 * least - curvature)
            turned = share * turned + (1.0 - share) * pushed
        bent = (
            bent - np.outer(pushed, pushed) / (along @ pushed) + np.outer(turned, turned) / (along @ turned)
        )
    return x


def moving_asymptotes(form: FrameProgram, seconds: float, outer: bool) -> Array:
    """MMA of NLopt (Svanberg 2002); rows as pairs of inequalities, or in an augmented Lagrangian around it."""
    import nlopt

    def objective(x: Array, slope: Array) -> float:
        if slope.size:
            slope[:] = form.gradient(x)
        return form.value(x)

    def equations(result: Array, x: Array, slope: Array) -> None:
        result[:] = form.matrix @ x - form.moment
        if slope.size:
            slope[:] = form.matrix

    def pairs(result: Array, x: Array, slope: Array) -> None:
        miss = form.matrix @ x - form.moment
        result[:] = np.concatenate([miss - SLACK, -miss - SLACK])
        if slope.size:
            slope[:] = np.concatenate([form.matrix, -form.matrix])

    solver = inner = nlopt.opt(nlopt.LD_MMA, form.muscles)
    inner.set_ftol_rel(1e-12)
    inner.set_xtol_rel(1e-10)
    inner.set_maxeval(2000)
    if outer:
        solver = nlopt.opt(nlopt.AUGLAG_EQ, form.muscles)
        solver.set_local_optimizer(inner)
        solver.set_ftol_rel(1e-12)
        solver.add_equality_mconstraint(equations, np.full(len(form.moment), SLACK))
    else:
        solver.add_inequality_mconstraint(pairs, np.zeros(2 * len(form.moment)))
    solver.set_min_objective(objective)
    solver.set_lower_bounds(form.lower)
    solver.set_upper_bounds(form.upper)
    solver.set_maxtime(seconds)
    start = np.full(form.muscles, 0.5)
    try:
        return np.asarray(solver.optimize(start))
    except (RuntimeError, ValueError):  # NLopt's way to give up
        return start


def genetic(form: FrameProgram, seconds: float, penalty: float | None) -> Array:
    """SciPy's differential evolution; rows as such, or as a penalty on the squares of what they miss."""
    end = perf_counter() + seconds
    rows = LinearConstraint(form.matrix, form.moment, form.moment) if penalty is None else ()

    def value(x: Array) -> Array:
        """Return the values of many at once, (n, S) to (S,)."""
        cost = np.array([form.value(each) for each in x.T])
        if penalty is not None:
            cost += penalty * np.square(form.matrix @ x - form.moment[:, None]).sum(axis=0)
        return cost

    def late(intermediate_result: OptimizeResult) -> bool:
        return perf_counter() > end

    found = differential_evolution(
        value,
        np.stack([form.lower, form.upper], axis=1),
        popsize=POPULATION,
        maxiter=100_000,
        rng=np.random.default_rng(0),
        polish=False,
        constraints=rows,
        callback=late,
        vectorized=True,
        updating="deferred",
    )
    return np.asarray(found.x)


METHODS: dict[str, Method] = {
    "SQP (SciPy SLSQP)": lambda form, seconds: sqp(form),
    "SLP (HiGHS, limits on steps)": lambda form, seconds: slp(form),
    "modified feasible directions": feasible_directions,
    "gradient projection": gradient_projection,
    "interior point of Herskovits": interior_directions,
    "moving asymptotes (NLopt), pairs of inequalities": partial(moving_asymptotes, outer=False),
    "moving asymptotes (NLopt) in an augmented Lagrangian": partial(moving_asymptotes, outer=True),
    "genetic (SciPy), rows as constraints": partial(genetic, penalty=None),
    "genetic (SciPy), rows as penalties": partial(genetic, penalty=1e3),
}


def programs(count: int) -> list[tuple[FrameProgram, Array, float]]:
    """Frames of the stride, evenly over those with an optimum: program, forces of the optimum [N], its cost."""
    study = Study(reference_stride())
    (leg,) = share(prepare_recording(study.trial, side=SIDE)).parts
    solved = np.flatnonzero(leg.solution.status == Status.SOLVED)
    some = solved[np.linspace(0, len(solved) - 1, count).round().astype(int)]
    return [
        (
            FrameProgram(leg.problem.frames(np.array([t])), COST),
            leg.solution.force[t],
            float(leg.solution.cost[t]),
        )
        for t in some
    ]


def measured(
    method: Method, frames: list[tuple[FrameProgram, Array, float]], seconds: float
) -> dict[str, float]:
    """Largest miss of a moment [N m], largest excess of cost, largest difference of a force [N], seconds a frame."""
    rows, begin = [], perf_counter()
    for program, force, least in frames:
        activation = np.clip(method(program, seconds), program.lower, program.upper)
        _, miss, excess = judge(program, activation, least)
        off = np.abs(activation * program.problem.force_capacity[0] - force).max()
        rows.append((miss, excess, off))
    worst = np.max(np.array(rows), axis=0)
    spent = (perf_counter() - begin) / len(frames)
    return {"miss": worst[0], "excess": worst[1], "off": worst[2], "seconds": spent}


def main(frames: int, seconds: float) -> None:
    """Print a line for each method."""
    table = Table("method", "moment missed [N m]", "cost beyond the least", "force off [N]", "s a frame")
    cases = programs(frames)
    for name, method in METHODS.items():
        found = measured(method, cases, seconds)
        table.add_row(
            name,
            f"{found['miss']:.1e}",
            f"{found['excess']:.1e}",
            f"{found['off']:.3g}",
            f"{found['seconds']:.2g}",
        )
    console.print(table)


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--frames", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=5.0)
    main(**vars(parser.parse_args()))

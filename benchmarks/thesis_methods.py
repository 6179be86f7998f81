"""Methods of the kinds that the thesis tried or names, on one frame in either formulation; see thesis.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.optimize import (
    LinearConstraint,
    OptimizeResult,
    differential_evolution,
    linprog,
    lsq_linear,
    minimize,
    minimize_scalar,
)

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.solver.frame_program import FrameProgram

ALONE = 5.0  # seconds for one frame, for methods that may never end by themselves
SLACK = 1e-8  # of the equations, in their scale, as pairs of inequalities; 1e-2 to 1e-6 did no better in two frames
POPULATION = 5  # times the number of unknowns; all else as SciPy has it, nothing tuned


@dataclass(frozen=True)
class Form:
    """One frame: minimize the cost of the last n unknowns such that rows x = right and lower <= x <= upper.

    Unknowns before them are forces of constraint, in units that make their columns of length one.
    """

    program: FrameProgram
    rows: Array  # (r, k)
    right: Array  # (r,)

    @property
    def muscles(self) -> int:
        """The number n."""
        return self.program.muscles

    @property
    def unknowns(self) -> int:
        """The number k."""
        return self.rows.shape[1]

    @property
    def lower(self) -> Array:
        """(k,), infinite for forces."""
        return np.concatenate([np.full(self.unknowns - self.muscles, -np.inf), self.program.lower])

    @property
    def upper(self) -> Array:
        """(k,), infinite for forces."""
        return np.concatenate([np.full(self.unknowns - self.muscles, np.inf), self.program.upper])

    @property
    def start(self) -> Array:
        """Activations of a half, no forces."""
        x = np.zeros(self.unknowns)
        x[-self.muscles :] = 0.5
        return x

    def value(self, x: Array) -> float:
        """The scaled cost."""
        return self.program.value(x[-self.muscles :])

    def gradient(self, x: Array) -> Array:
        """Its slopes, (k,)."""
        slope = np.zeros(self.unknowns)
        slope[-self.muscles :] = self.program.gradient(x[-self.muscles :])
        return slope


@dataclass(frozen=True)
class Answer:
    """Unknowns, and whether the method says that it has converged."""

    x: Array
    claims: bool
    iterations: int


Method = Callable[[Form], Answer]


def sqp(form: Form, tolerance: float = 1e-12) -> Answer:
    """SciPy's SLSQP, as it comes, until the cost changes by less than a tolerance."""
    rows = {"type": "eq", "fun": lambda x: form.rows @ x - form.right, "jac": lambda x: form.rows}
    bounds = np.stack([form.lower, form.upper], axis=1)
    options = {"ftol": tolerance, "maxiter": 500}
    found = minimize(
        form.value,
        form.start,
        jac=form.gradient,
        method="SLSQP",
        bounds=bounds,
        constraints=rows,
        options=options,
    )
    return Answer(found.x, bool(found.success), int(found.nit))


def slp(form: Form) -> Answer:
    """Linear programs of the slopes, within limits on the step that grow and shrink; the first to where rows hold."""
    x, width, slope = form.start, 2.0, form.gradient(form.start)
    best, steps = np.inf, 0
    while width > 1e-7 and steps < 400:
        held = np.isfinite(form.lower)
        low = np.where(held, np.maximum(form.lower, x - width), -np.inf)
        high = np.where(held, np.minimum(form.upper, x + width), np.inf)
        step = linprog(slope, A_eq=form.rows, b_eq=form.right, bounds=np.stack([low, high], axis=1))
        steps += 1
        if step.x is None:
            return Answer(x, False, steps)
        value = form.value(step.x)
        if value < best:
            x, best, slope = step.x, value, form.gradient(step.x)
            width = min(2.0, 1.3 * width)
        else:
            width *= 0.5
    return Answer(x, width <= 1e-7, steps)


def nearest_feasible(form: Form) -> tuple[Array, Array, Array, Mask]:
    """The feasible point nearest to activations of a half, finite bounds, and which unknowns have bounds, (k,) each."""
    held = np.isfinite(form.lower)
    low, high = np.where(held, form.lower, -1e6), np.where(held, form.upper, 1e6)
    stiff = np.vstack([1e4 * form.rows, np.eye(form.unknowns)[held]])
    target = np.concatenate([1e4 * form.right, form.start[held]])
    return np.asarray(lsq_linear(stiff, target, (low, high), method="bvls").x), low, high, held


def line_minimum(
    form: Form, x: Array, direction: Array, low: Array, high: Array, to_bound: bool = False
) -> Array:
    """The point of least cost from x along a direction before the first bound, or on it if `to_bound`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(direction > 0.0, (high - x) / direction, (low - x) / direction)
    room = np.where(np.isfinite(form.lower) & (np.abs(direction) > 1e-14), room, np.inf)
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


def feasible_directions(form: Form) -> Answer:
    """Modified feasible directions (Vanderplaats 1984, a method of DOT), from the feasible point nearest to a half.

    The direction S of steepest descent that leaves no active constraint, min g.S with rows S = 0, S_i >= 0 at a lower
    and <= 0 at an upper bound and |S| <= 1, is the projection of -g on these S: -g less its nearest combination of
    the normals. Along S the cost is minimized up to the first bound.
    """
    x, low, high, held = nearest_feasible(form)
    unit, end, steps, small = np.eye(form.unknowns), perf_counter() + ALONE, 0, np.inf
    while perf_counter() < end and small > 1e-9:
        slope = form.gradient(x)
        at_low, at_high = held & (x - low <= 1e-9), held & (high - x <= 1e-9)
        normals = np.vstack([form.rows, unit[at_low], -unit[at_high]]).T
        floor = np.concatenate(
            [np.full(len(form.rows), -np.inf), np.zeros(normals.shape[1] - len(form.rows))]
        )
        push = lsq_linear(normals, slope, (floor, np.inf), method="bvls", tol=1e-12).x
        direction = normals @ push - slope
        small = float(np.abs(direction).max())
        if small <= 1e-9:
            break
        x, before = line_minimum(form, x, direction, low, high), x
        steps += 1
        if np.abs(x - before).max() <= 1e-13:
            break
    return Answer(x, small <= 1e-9, steps)


def gradient_projection(form: Form) -> Answer:
    """Gradient projection (Rosen 1960), from the feasible point nearest to a half.

    The direction is -g projected on the subspace tangent to the rows and the active bounds. Along it the cost is
    minimized up to the first bound, which becomes active. Where the projection vanishes, the active bound with the most
    negative multiplier is left.
    """
    x, low, high, held = nearest_feasible(form)
    active, end, steps, small = np.zeros_like(held), perf_counter() + ALONE, 0, np.inf
    while perf_counter() < end:
        slope, at_low = form.gradient(x), x - low <= 1e-9
        active |= held & (at_low | (high - x <= 1e-9)) & (steps == 0)
        tangent = form.rows * ~active
        rest = slope - form.rows.T @ np.linalg.lstsq(tangent.T, slope * ~active, rcond=1e-12)[0]
        small = float(np.abs(rest * ~active).max())
        multiplier = np.where(active, np.where(at_low, rest, -rest), np.inf)  # of the active bounds
        if small <= 1e-9:
            if multiplier.min() >= -1e-9:
                return Answer(x, True, steps)
            active[multiplier.argmin()] = False
            continue
        x = line_minimum(form, x, -rest * ~active, low, high, to_bound=True)
        active |= held & ((x - low <= 1e-12) | (high - x <= 1e-12))
        steps += 1
    return Answer(x, False, steps)


def interior_directions(form: Form) -> Answer:
    """Feasible directions of an interior point (Herskovits 1998), of which the thesis names the technique (FDIPT).

    With bounds g(x) <= 0 and their multipliers l > 0, equations A x = b and a quasi-Newton matrix B of the Lagrangian,

        B d + A^T m + G^T l' = -f',    A d = b - A x,    l_i G_i d + g_i l'_i = 0

    gives a descent direction d0; the same matrix with -l on the right of the last line gives d1, which bends d0 into
    the inside: d = d0 + r d1 with r = min(|d0|^2, 0.3 d0.f' / |d1.f'|). Steps decrease f + c |A x - b|_1 (Armijo) and
    keep g < 0.
    """
    k, m, end = form.unknowns, len(form.right), perf_counter() + ALONE
    held = np.flatnonzero(np.isfinite(form.lower) & (form.upper > form.lower))
    normal = np.vstack([-np.eye(k)[held], np.eye(k)[held]])
    ends = np.concatenate([-form.lower[held], form.upper[held]])
    x, bent, penalty, multiplier = form.start, np.eye(k), 0.0, np.ones(len(ends))
    slope = form.gradient(x)
    for steps in range(500):
        inside, miss = normal @ x - ends, form.rows @ x - form.right
        # l' eliminated: l'_i = -l_i G_i d / g_i (d0), less a further l_i / g_i (d1)
        ratio = multiplier / -inside
        matrix = np.zeros((k + m, k + m))
        matrix[:k, :k] = bent + (normal.T * ratio) @ normal
        matrix[:k, k:], matrix[k:, :k] = form.rows.T, form.rows
        sides = np.zeros((k + m, 2))
        sides[:k, 0], sides[k:, 0], sides[:k, 1] = -slope, -miss, -normal.T @ ratio
        solved = np.linalg.lstsq(matrix, sides, rcond=1e-14)[0]
        first, second = solved[:k].T
        taken = ratio * (normal @ first)
        if max(np.abs(first).max(), np.abs(miss).max()) <= 1e-10:
            return Answer(x, True, steps)
        penalty = max(penalty, 2.0 * float(np.abs(solved[k:, 0]).max()))

        def merit(at: Array, penalty: float = penalty) -> float:
            return form.value(at) + penalty * float(np.abs(form.rows @ at - form.right).sum())

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
            return Answer(x, False, steps)
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
    return Answer(x, False, 500)


def moving_asymptotes(algorithm: str, outer: bool) -> Method:
    """MMA or its relative CCSA of NLopt; rows as pairs of inequalities, or in an augmented Lagrangian around it."""

    def call(form: Form) -> Answer:
        import nlopt

        def objective(x: Array, slope: Array) -> float:
            if slope.size:
                slope[:] = form.gradient(x)
            return form.value(x)

        def equations(result: Array, x: Array, slope: Array) -> None:
            result[:] = form.rows @ x - form.right
            if slope.size:
                slope[:] = form.rows

        def pairs(result: Array, x: Array, slope: Array) -> None:
            miss = form.rows @ x - form.right
            result[:] = np.concatenate([miss - SLACK, -miss - SLACK])
            if slope.size:
                slope[:] = np.concatenate([form.rows, -form.rows])

        inner = nlopt.opt(getattr(nlopt, algorithm), form.unknowns)
        inner.set_ftol_rel(1e-12)
        inner.set_xtol_rel(1e-10)
        inner.set_maxeval(2000)
        solver = inner
        if outer:
            solver = nlopt.opt(nlopt.AUGLAG_EQ, form.unknowns)
            solver.set_local_optimizer(inner)
            solver.set_ftol_rel(1e-12)
            solver.add_equality_mconstraint(equations, np.full(len(form.right), SLACK))
        else:
            solver.add_inequality_mconstraint(pairs, np.zeros(2 * len(form.right)))
        solver.set_min_objective(objective)
        solver.set_lower_bounds(form.lower)
        solver.set_upper_bounds(form.upper)
        solver.set_maxtime(ALONE)
        try:
            x = solver.optimize(form.start)
        except (RuntimeError, ValueError):  # NLopt's way to give up
            return Answer(form.start, False, solver.get_numevals())
        converged = solver.last_optimize_result() in (1, 2, 3, 4)
        return Answer(x, converged, solver.get_numevals())

    return call


def genetic(penalty: float | None) -> Method:
    """SciPy's differential evolution; rows as such, or as a penalty on the squares of what they miss."""

    def call(form: Form) -> Answer:
        end = perf_counter() + ALONE
        bounds = np.stack([form.lower, form.upper], axis=1)
        rows = LinearConstraint(form.rows, form.right, form.right) if penalty is None else ()

        def value(x: Array) -> Array:
            """Return the values of many at once, (k, S) to (S,)."""
            cost = np.array([form.value(each) for each in x.T])
            if penalty is not None:
                cost += penalty * np.square(form.rows @ x - form.right[:, None]).sum(axis=0)
            return cost

        def late(intermediate_result: OptimizeResult) -> bool:
            return perf_counter() > end

        found = differential_evolution(
            value,
            bounds,
            popsize=POPULATION,
            maxiter=100_000,
            rng=np.random.default_rng(0),
            polish=False,
            constraints=rows,
            callback=late,
            vectorized=True,
            updating="deferred",
        )
        return Answer(found.x, bool(found.success), int(found.nit))

    return call


METHODS: dict[str, Method] = {
    "SQP (SciPy SLSQP)": sqp,
    "SLP (HiGHS, limits on steps)": slp,
    "modified feasible directions (projection)": feasible_directions,
    "gradient projection": gradient_projection,
    "feasible directions of an interior point": interior_directions,
    "MMA (NLopt), pairs of inequalities": moving_asymptotes("LD_MMA", outer=False),
    "CCSA (NLopt), pairs of inequalities": moving_asymptotes("LD_CCSAQ", outer=False),
    "MMA (NLopt) in an augmented Lagrangian": moving_asymptotes("LD_MMA", outer=True),
    "genetic (SciPy DE), rows as constraints": genetic(None),
    "genetic (SciPy DE), rows as penalties": genetic(1e3),
}
BOUNDED = ("genetic",)  # these draw their unknowns between bounds, which forces of constraint do not have

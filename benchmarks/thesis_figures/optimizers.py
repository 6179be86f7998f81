"""Figure 6.16: the forces of two muscles by two optimizers of the kinds that the source used, beside the optimum.

DNCONG is sequential quadratic programming, what the source took of DOT sequential linear programming. Their relatives
of today start every frame from activations of a half, with the muscles and the cost of the source. The optimum has a
certificate. What an answer costs beyond the optimum, and how far its forces are from the optimum's, says which of two
answers that meet the moments is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy.optimize import linprog, minimize

from benchmarks.thesis_figures.drawing import COLORS, Finding, key, mark_gaps, over_cycle, panels, plain
from benchmarks.thesis_figures.study import SIDE, Study
from musclesolve._util.arrays import Array
from musclesolve.laboratory.forces import prepare_recording
from musclesolve.laboratory.plotting.page.sheet import heading
from musclesolve.models.body_sharing import share
from musclesolve.sharing import certify
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.frame_program import FrameProgram, least_squares_multiplier
from musclesolve.sharing.status import Status

COST = find_cost("stress_cubed")


def sqp(program: FrameProgram, tolerance: float = 1e-12) -> Array:
    """Activations by SciPy's SLSQP, as it comes, until the cost changes by less than a tolerance."""
    rows = {
        "type": "eq",
        "fun": lambda x: program.matrix @ x - program.moment,
        "jac": lambda x: program.matrix,
    }
    bounds = np.stack([program.lower, program.upper], axis=1)
    options = {"ftol": tolerance, "maxiter": 500}
    start = np.full(program.muscles, 0.5)
    return np.asarray(
        minimize(
            program.value,
            start,
            (),
            "SLSQP",
            program.gradient,
            bounds=bounds,
            constraints=rows,
            options=options,
        ).x
    )


def slp(program: FrameProgram) -> Array:
    """Activations by linear programs of the slopes, within limits on the step that grow and shrink (HiGHS)."""
    x, width, best = np.full(program.muscles, 0.5), 2.0, np.inf
    for _ in range(400):
        bounds = np.stack(
            [np.maximum(program.lower, x - width), np.minimum(program.upper, x + width)], axis=1
        )
        step = linprog(program.gradient(x), A_eq=program.matrix, b_eq=program.moment, bounds=bounds).x
        if step is None or width <= 1e-7:
            break
        value = program.value(step)
        x, best, width = (step, value, min(2.0, 1.3 * width)) if value < best else (x, best, 0.5 * width)
    return x


def judge(program: FrameProgram, a: Array, least: float) -> tuple[float, float, float]:
    """Gap, largest miss of a moment [N m], and cost over the least one less 1, of activations alone."""
    problem = program.problem
    multiplier = least_squares_multiplier(
        program.matrix, program.gradient(a), a, program.lower, program.upper
    )
    multiplier = multiplier * program.scale / program.row
    gap = certify(problem, COST, a[None], np.zeros_like(problem.moment), multiplier[None]).gap
    miss = float(np.abs(problem.moment_matrix[0] @ a - problem.moment[0]).max())
    return float(gap[0]), miss, float(COST.value(problem, a[None])[0]) / least - 1.0


EARLY = 1e-3
METHODS: dict[str, Callable[[FrameProgram], Array]] = {
    "SQP": sqp,
    "SLP": slp,
    "SQP, stopped early": partial(sqp, tolerance=EARLY),
}
"""The last one stops as soon as the cost, 1 or so, changes by less than `EARLY` in a step."""
SHOWN = {"(a) gluteus minimus": "gluteus_minimus", "(b) soleus": "soleus"}
STYLES = ("--", ":", "-.")


@dataclass(frozen=True)
class Answers:
    """Forces of a method over the cycle (K, n) [N], NaN in frames without an optimum, and what its answers are worth.

    off: largest difference of a force from the optimum's [N]; miss: largest moment missed [N m]; excess: largest cost
    beyond the optimum's, relative to it; gap: median of the certificates.
    """

    force: Array
    off: float
    miss: float
    excess: float
    gap: float


@cache
def answers(study: Study, *methods: str) -> tuple[tuple[str, ...], Array, dict[str, Answers]]:
    """Names of the muscles, the optimum's forces over the cycle (K, n) [N], and the answers of some methods."""
    (leg,) = share(prepare_recording(study.trial, side=SIDE)).parts
    problem, solution = leg.problem, leg.solution
    frames = study.cycle.index[solution.status[study.cycle.index] == Status.SOLVED]
    optimum = np.where(
        (solution.status == Status.SOLVED)[:, None], solution.force + problem.passive_force, np.nan
    )
    found = {}
    for name in methods:
        force, judged = np.full_like(optimum, np.nan), []
        for t in frames:
            one = problem.frames(np.array([t]))
            program = FrameProgram(one, COST)
            activation = np.clip(METHODS[name](program), program.lower, program.upper)
            force[t] = activation * one.force_capacity[0] + one.passive_force[0]
            judged.append(judge(program, activation, float(COST.value(one, solution.activation[t][None])[0])))
        gap, miss, excess = np.array(judged).T
        found[name] = Answers(
            study.of_cycle(force),
            float(np.nanmax(np.abs(force - optimum))),
            float(miss.max()),
            float(excess.max()),
            float(np.median(gap)),
        )
    names = tuple(name.removesuffix(f"_{SIDE}") for name in problem.muscle)
    return names, study.of_cycle(optimum), found


def optimizers(study: Study) -> Finding:
    """Figure 6.16: gluteus minimus and soleus."""
    names, optimum, found = answers(study, *METHODS)
    figure, axes = panels(study, "Forces by several optimizers, same frames, same criterion", 2, 1, 0.62)
    apart = []
    for number, (panel, (title, beginning)) in enumerate(zip(axes[:, 0], SHOWN.items(), strict=True)):
        own = [k for k, name in enumerate(names) if name.startswith(beginning)]
        best = optimum[:, own].sum(axis=1)
        panel.plot(study.percent, best, color="black", linewidth=1.6, label="optimum, with certificate")
        for color, style, (name, each) in zip(COLORS, STYLES, found.items(), strict=False):
            force = each.force[:, own].sum(axis=1)
            panel.plot(study.percent, force, style, color=color, linewidth=1.3, label=name)
            apart.append(f"{title[4:]} {name} {plain(float(np.nanmax(np.abs(force - best))))}")
        heading(panel, title)
        panel.set_ylim(bottom=0.0)
        mark_gaps(panel, study, ~np.isfinite(best), "no optimum: these muscles\ncannot hold the moments")
        over_cycle(panel, study, "[N]", labeled=number == 1)
    key(axes[0, 0])
    solved = int(np.isfinite(optimum[:, 0]).sum())
    worth = "; ".join(
        f"{name}: forces within {plain(each.off)} N of the optimum's, moments missed by {each.miss:.0e} N m at "
        f"most, cost up to {plain(100 * each.excess)} % beyond it, gap {each.gap:.0e} (median)"
        for name, each in found.items()
    )
    text = f"{solved} frames that need no reserve. {worth}. Off the optimum [N]: {', '.join(apart)}."
    return Finding(figure, text)

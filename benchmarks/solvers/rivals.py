"""Rivals called in the leanest way: matrices made beforehand, and nothing timed but their own calls, one per frame.

They are spared what `solve` does for its solvers, such as scaling, removing dependent rows and certifying the
solutions, and are thus the fair measure of how fast frame by frame can be.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.certificate import kkt_residual
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, slope_size
from musclesolve.studies.benchmark.measure import (
    PATIENCE,
    Memory,
    NoResultError,
    Row,
    in_fresh_process,
    measure,
    seconds_of,
)

IPOPT = {
    **{"print_level": 0, "sb": "yes", "nlp_scaling_method": "none"},
    **{"tol": 1e-12, "compl_inf_tol": 1e-12, "bound_relax_factor": 0.0},
    **{"warm_start_init_point": "yes", "mu_init": 1e-6},
    **{"warm_start_bound_push": 1e-8, "warm_start_mult_bound_push": 1e-8},
}
"""Chosen from eight settings tried on sixty frames: with looser tolerances many answers miss a certificate of 1e-6, and
even with these a frame in a hundred may. Other settings may be faster."""


class Solutions(NamedTuple):
    """Activations (T, n), multipliers of the moments (T, m) and the mean number of iterations."""

    activation: Array
    multiplier: Array
    iterations: float


Run = Callable[[], Solutions]


@dataclass(frozen=True)
class Rival:
    """A rival.

    Attributes:
        summary: what it is.
        package: that has to be installed.
        quadratic: whether it takes only quadratic costs.
        prepare: makes the matrices of a problem without reserves and returns what is timed.
    """

    summary: str
    package: str
    quadratic: bool
    prepare: Callable[[Problem, Cost], Run]

    @property
    def installed(self) -> bool:
        """Whether the package is there."""
        return importlib.util.find_spec(self.package) is not None

    def fits(self, cost: Cost) -> bool:
        """Return whether the solver can minimize a cost."""
        return cost.quadratic and "rows" not in cost.needs if self.quadratic else cost.needs == {"separable"}


def _quadratic(problem: Problem, cost: Cost) -> list[tuple[Array, Array, Array, Array, Array]]:
    """H, f, A, upper and lower of every frame: bounds of the activations, then the moments."""
    bent = cost.hessian_diagonal(problem, problem.lower)
    slope = cost.gradient(problem, problem.lower) - bent * problem.lower
    upper = np.concatenate([problem.upper, problem.moment], axis=1)
    lower = np.concatenate([problem.lower, problem.moment], axis=1)
    return [
        (np.diag(bent[t]), slope[t], problem.moment_matrix[t].copy(), upper[t], lower[t])
        for t in range(problem.n_frames)
    ]


def _daqp_solutions(found: list[Any], problem: Problem) -> Solutions:
    dual = np.array([info["lam"] for _, _, _, info in found])
    return Solutions(
        np.clip([x for x, _, _, _ in found], problem.lower, problem.upper),
        -dual[:, problem.n_muscles :],
        float(np.mean([info["iterations"] for _, _, _, info in found])),
    )


def _daqp(problem: Problem, cost: Cost) -> Run:
    import daqp

    frames = _quadratic(problem, cost)
    kind = np.repeat(np.array([0, 5], np.int32), [problem.n_muscles, problem.n_dof])  # 5: an equality
    solve = daqp.solve
    return lambda: _daqp_solutions([solve(*frame, kind) for frame in frames], problem)


def _daqp_warm(problem: Problem, cost: Cost) -> Run:
    import daqp

    frames = _quadratic(problem, cost)
    kind = np.repeat(np.array([0, 5], np.int32), [problem.n_muscles, problem.n_dof])
    model = daqp.Model()
    model.setup(*frames[0], kind)

    def next_frame(frame: tuple[Array, ...]) -> Any:
        model.update(*frame)
        return model.solve()

    return lambda: _daqp_solutions([next_frame(frame) for frame in frames], problem)


def _ipopt(problem: Problem, cost: Cost) -> Run:
    """Each frame starts from the activations and multipliers of the one before."""
    import casadi

    dofs, muscles, numbers = problem.n_dof, problem.n_muscles, cost.parameters(problem)
    a, p = casadi.SX.sym("a", muscles), casadi.SX.sym("p", numbers.shape[1], muscles)
    rows, moment, scale = casadi.SX.sym("A", dofs, muscles), casadi.SX.sym("b", dofs), casadi.SX.sym("scale")
    symbols = casadi.vertcat(casadi.vec(p), casadi.vec(rows), moment, scale)
    program = {"x": a, "p": symbols, "f": scale * cost.expression(casadi, a, p), "g": rows @ a - moment}
    quiet: dict[str, Any] = {"print_time": False, "show_eval_warnings": False, "error_on_fail": False}
    solver = casadi.nlpsol("bare", "ipopt", program, quiet | {"ipopt": dict(IPOPT)})
    row = np.abs(problem.moment_matrix).max(axis=2)
    row = np.where(row > 0, row, 1.0)
    steepest = slope_size(problem, cost, load(problem)).max(axis=1)
    matrix = problem.moment_matrix / row[:, :, None]
    parameters = np.concatenate(
        [
            numbers.transpose(0, 2, 1).reshape(len(row), -1),
            matrix.transpose(0, 2, 1).reshape(len(row), -1),
            problem.moment / row,
            1.0 / steepest[:, None],
        ],
        axis=1,
    )
    upper = np.minimum(problem.upper, cost.largest_activation(problem))

    def run() -> Solutions:
        found, iterations = [], 0
        last = {"x0": 0.5 * (problem.lower[0] + upper[0]), "lam_x0": 0.0, "lam_g0": 0.0}
        for t in range(len(row)):
            bounds = {"lbx": problem.lower[t], "ubx": upper[t], "lbg": 0.0, "ubg": 0.0}
            answer = solver(p=parameters[t], **bounds, **last)
            last = {"x0": answer["x"], "lam_x0": answer["lam_x"], "lam_g0": answer["lam_g"]}
            iterations += solver.stats()["iter_count"]
            found.append(last)
        activation = np.array([each["x0"] for each in found])[:, :, 0]
        multiplier = -np.array([each["lam_g0"] for each in found])[:, :, 0] * steepest[:, None] / row
        return Solutions(np.clip(activation, problem.lower, upper), multiplier, iterations / len(row))

    return run


RIVALS: dict[str, Rival] = {
    "daqp, bare": Rival("daqp.solve, each frame anew", "daqp", True, _daqp),
    "daqp, bare, warm": Rival("daqp.Model, each frame from the one before", "daqp", True, _daqp_warm),
    "ipopt, bare": Rival(
        "casadi.nlpsol with parameters, each frame from the one before", "casadi", False, _ipopt
    ),
}
"""The rivals by name."""


def rows(name: str, problem: Problem, cost: str, budget: float) -> list[Row]:
    """Measure every rival that takes a cost, each in a process of its own, as `contest` does with solvers."""
    found = []
    for rival, record in RIVALS.items():
        if not record.fits(find_cost(cost)):
            continue
        row = Row(name, problem.n_dof, problem.n_muscles, cost, rival)
        if not record.installed:
            found.append(replace(row, remark=f"not installed ({record.package})"))
            continue
        try:
            figures = in_fresh_process(measured, problem, cost, rival, budget, limit=budget + PATIENCE)
            found.append(replace(row, **figures))
        except NoResultError as error:
            found.append(replace(row, remark=str(error)))
    return found


def measured(problem: Problem, cost: str, rival: str, budget: float) -> dict[str, Any]:
    """Measure the figures of a row in this process; the solutions are certified afterward."""
    memory, chosen, prepare = Memory(), find_cost(cost), RIVALS[rival].prepare
    first, _ = seconds_of(lambda: prepare(problem.frames(np.array([0])), chosen)())
    few = min(problem.n_frames, 20)
    seconds, _ = seconds_of(prepare(problem.frames(np.arange(few)), chosen))
    frames = int(np.clip(budget / 4.0 * few / seconds, 1, problem.n_frames))
    part = problem.frames(np.arange(frames))
    timing = measure(prepare(part, chosen), budget=budget / 2.0)
    found = timing.value
    residual = kkt_residual(part, chosen, found.activation, np.zeros_like(part.moment), found.multiplier)
    solved = int((residual <= TOLERANCE).sum())
    return {
        "frames": frames,
        "us_per_frame": 1e6 * min(timing.first, timing.best) / frames,
        "first_call_s": first,
        "solved": solved,
        "certificate": float(residual.max()),
        "iterations": found.iterations,
        "memory_mb": memory.grown(),
        "remark": "" if solved == frames else f"{frames - solved} frames miss 1e-6",
    }

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

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing import certify
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.cost.sum_of_terms import SumOfTerms
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, slope_size
from musclesolve.sharing.solver.qp_solvers import QuadraticProgram, scaled_frames
from musclesolve.studies.benchmark.measure import (
    PATIENCE,
    Memory,
    NoResultError,
    Row,
    in_fresh_process,
    measure,
    seconds_of,
)

QUIET: dict[str, Any] = {"print_time": False, "show_eval_warnings": False, "error_on_fail": False}
WARM = {
    **{"print_level": 0, "sb": "yes", "nlp_scaling_method": "none", "bound_relax_factor": 0.0},
    **{"warm_start_init_point": "yes", "mu_init": 1e-6},
    **{"warm_start_bound_push": 1e-8, "warm_start_mult_bound_push": 1e-8},
}
"""Options of Ipopt, chosen from eight settings tried on sixty frames: with looser tolerances than 1e-12 many answers
miss a certificate of 1e-6, and even so a frame in a hundred may. Other settings may be faster."""
TIGHT = 1e-12
DAQP_INFEASIBLE = -1


def nlpsol_options(name: str, tolerance: float) -> dict[str, Any]:
    """Options of a nonlinear solver of CasADi: its tolerances, no output, nothing else tuned."""
    silent = {"print_header": False, "print_iteration": False}
    quiet_qp = {"print_iter": False, "print_header": False, "error_on_fail": False}
    options: dict[str, dict[str, Any]] = {
        "ipopt": {"ipopt": {**WARM, "tol": tolerance, "compl_inf_tol": tolerance}},
        "fatrop": {
            "structure_detection": "none",
            "fatrop": {"print_level": 0, "tolerance": tolerance, "max_iter": 100},
        },
        "sqpmethod": {
            **silent,
            **{"print_status": False, "qpsol": "qrqp", "qpsol_options": quiet_qp},
            **{"tol_pr": tolerance, "tol_du": tolerance},
        },
        # its usual linear solver, MA27, is not in the wheel of CasADi
        "blocksqp": {**silent, "linsol": "ldl", "opttol": tolerance, "nlinfeastol": tolerance},
    }
    return QUIET | options[name]


class Solutions(NamedTuple):
    """Activations (T, n), multipliers of the moments (T, m), mean iterations, and frames called infeasible (T,)."""

    activation: Array
    multiplier: Array
    iterations: float
    infeasible: Mask


Run = Callable[[], Solutions]


@dataclass(frozen=True)
class Rival:
    """A rival.

    Attributes:
        summary: what it is.
        package: that has to be installed.
        quadratic: whether it takes only quadratic costs.
        prepare: makes the matrices of a problem without reserves, for a tolerance, and returns what is timed.
        leg: whether it belongs to the tables of the random leg.
    """

    summary: str
    package: str
    quadratic: bool
    prepare: Callable[[Problem, Cost, float], Run]
    leg: bool = True

    @property
    def installed(self) -> bool:
        """Whether the package is there."""
        return importlib.util.find_spec(self.package) is not None

    def fits(self, cost: Cost) -> bool:
        """Return whether the solver can minimize a cost."""
        simple = cost.needs == {"separable"} and isinstance(cost, SumOfTerms)
        return simple and (cost.quadratic or not self.quadratic)


def _quadratic(problem: Problem, cost: Cost) -> list[tuple[Array, Array, Array, Array, Array]]:
    """H, f, A, upper and lower of every frame: bounds of the activations, then the moments."""
    bent = cost.term_hessian_diagonal(problem, problem.lower)
    slope = cost.term_gradient(problem, problem.lower) - bent * problem.lower
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
        np.array([flag == DAQP_INFEASIBLE for _, _, flag, _ in found]),
    )


def _daqp(problem: Problem, cost: Cost, tolerance: float) -> Run:
    import daqp

    frames = _quadratic(problem, cost)
    kind = np.repeat(np.array([0, 5], np.int32), [problem.n_muscles, problem.n_dof])  # 5: an equality
    solve = daqp.solve
    return lambda: _daqp_solutions([solve(*frame, kind) for frame in frames], problem)


def _daqp_warm(problem: Problem, cost: Cost, tolerance: float) -> Run:
    import daqp

    frames = _quadratic(problem, cost)
    kind = np.repeat(np.array([0, 5], np.int32), [problem.n_muscles, problem.n_dof])
    model = daqp.Model()
    model.setup(*frames[0], kind)

    def next_frame(frame: tuple[Array, ...]) -> Any:
        model.update(*frame)
        return model.solve()

    return lambda: _daqp_solutions([next_frame(frame) for frame in frames], problem)


def _qp(name: str) -> Callable[[Problem, Cost, float], Run]:
    """A backend of qpsolvers on the scaled program, without the last Newton step of the registered solver."""

    def prepare(problem: Problem, cost: Cost, tolerance: float) -> Run:
        frames, size, unit, row = scaled_frames(problem, cost)
        backend, count = QuadraticProgram(name, tolerance), problem.n_muscles
        none = np.zeros(problem.n_frames, np.bool_)

        def run() -> Solutions:
            claims = [backend.call(frames.at(t)) for t in range(problem.n_frames)]
            whole = np.array([claim.x for claim in claims]) * unit
            dual = np.array([claim.multiplier for claim in claims]) * size / row
            iterations = float(np.mean([claim.iterations for claim in claims]))
            activation = np.clip(whole[:, :count], problem.lower, problem.upper)
            return Solutions(activation, dual[:, : problem.n_dof], iterations, none)

        return run

    return prepare


def _scales(problem: Problem, cost: Cost) -> tuple[Array, Array]:
    """The steepest slope of the cost, (T,), and the largest entries of the rows, (T, m)."""
    row = np.abs(problem.moment_matrix).max(axis=2)
    steepest = slope_size(problem, cost, load(problem)).max(axis=1)
    return np.where(steepest > 0, steepest, 1.0), np.where(row > 0, row, 1.0)


def _nlpsol(name: str) -> Callable[[Problem, Cost, float], Run]:
    """A solver of CasADi on one program with parameters; each frame from the frame before."""

    def prepare(problem: Problem, cost: Cost, tolerance: float) -> Run:
        import casadi

        assert isinstance(cost, SumOfTerms)
        dofs, muscles = problem.n_dof, problem.n_muscles
        a, c = casadi.SX.sym("a", muscles), casadi.SX.sym("c", muscles)
        rows, moment, scale = (
            casadi.SX.sym("A", dofs, muscles),
            casadi.SX.sym("b", dofs),
            casadi.SX.sym("scale"),
        )
        symbols = casadi.vertcat(c, casadi.vec(rows), moment, scale)
        sum_of_terms = casadi.sum1(cost.form.symbolic(c * a))
        program = {"x": a, "p": symbols, "f": scale * sum_of_terms, "g": rows @ a - moment}
        solver = casadi.nlpsol("bare", name, program, nlpsol_options(name, tolerance))
        steepest, row = _scales(problem, cost)
        matrix = problem.moment_matrix / row[:, :, None]
        parameters = np.concatenate(
            [
                np.broadcast_to(cost.coefficient(problem), problem.lower.shape),
                matrix.transpose(0, 2, 1).reshape(len(row), -1),
                problem.moment / row,
                1.0 / steepest[:, None],
            ],
            axis=1,
        )
        upper = np.minimum(problem.upper, cost.largest_activation(problem))

        def run() -> Solutions:
            found, iterations, infeasible = [], 0, np.zeros(len(row), np.bool_)
            cold: dict[str, Any] = {"x0": 0.5 * (problem.lower[0] + upper[0]), "lam_x0": 0.0, "lam_g0": 0.0}
            start = cold
            for t in range(len(row)):
                bounds = {"lbx": problem.lower[t], "ubx": upper[t], "lbg": 0.0, "ubg": 0.0}
                answer = solver(p=parameters[t], **bounds, **start)
                stats = solver.stats()
                start = {"x0": answer["x"], "lam_x0": answer["lam_x"], "lam_g0": answer["lam_g"]}
                found.append(start)
                infeasible[t] = stats.get("return_status") == "Infeasible_Problem_Detected"
                iterations += stats.get("iter_count", 0)
                if not stats["success"]:
                    start = cold
            activation = np.array([each["x0"] for each in found])[:, :, 0]
            multiplier = -np.array([each["lam_g0"] for each in found])[:, :, 0] * steepest[:, None] / row
            activation = np.clip(activation, problem.lower, problem.upper)
            return Solutions(activation, multiplier, iterations / len(row), infeasible)

        return run

    return prepare


RIVALS: dict[str, Rival] = {
    "daqp, bare": Rival("daqp.solve, each frame anew", "daqp", True, _daqp),
    "daqp, bare, warm": Rival("daqp.Model, each frame from the one before", "daqp", True, _daqp_warm),
    **{
        f"{name}, bare": Rival(
            "casadi.nlpsol with parameters, each frame from the one before",
            "casadi",
            False,
            _nlpsol(name),
            name == "ipopt",
        )
        for name in ("ipopt", "fatrop", "sqpmethod", "blocksqp")
    },
    **{
        f"{name}, bare": Rival(
            "qpsolvers, each frame anew, no last Newton step", package, True, _qp(name), False
        )
        for name, package in {
            **{"osqp": "osqp", "piqp": "piqp", "proxqp": "proxsuite"},
            **{"clarabel": "clarabel", "highs": "highspy", "quadprog": "quadprog"},
        }.items()
    },
}
"""The rivals by name."""


def rows(name: str, problem: Problem, cost: str, budget: float) -> list[Row]:
    """Measure every rival that takes a cost, each in a process of its own, as `contest` does with solvers."""
    found = []
    for rival, record in RIVALS.items():
        if not (record.leg and record.fits(find_cost(cost))):
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
    first, _ = seconds_of(lambda: prepare(problem.frames(np.array([0])), chosen, TIGHT)())
    few = min(problem.n_frames, 20)
    seconds, _ = seconds_of(prepare(problem.frames(np.arange(few)), chosen, TIGHT))
    frames = int(np.clip(budget / 4.0 * few / seconds, 1, problem.n_frames))
    part = problem.frames(np.arange(frames))
    fastest, found = measure(prepare(part, chosen, TIGHT), budget=budget / 2.0)
    proved = certify(part, chosen, found.activation, np.zeros_like(part.moment), found.multiplier)
    solved = int(proved.holds.sum())
    return {
        "frames": frames,
        "us_per_frame": 1e6 * fastest / frames,
        "first_call_s": first,
        "solved": solved,
        "gap": float(proved.gap.max()),
        "iterations": found.iterations,
        "memory_mb": memory.grown(),
        "remark": "" if solved == frames else f"{frames - solved} frames miss the certificate",
    }

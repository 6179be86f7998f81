"""Rivals called in the leanest way: matrices made beforehand, and nothing timed but their own calls, one per frame.

What `solve` does for its solvers beside that, such as scaling, clearing dependent rows away and certifying the
answers, they are spared. So they are the fair measure of how fast frame by frame can be.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, slope_size

IPOPT = {
    **{"print_level": 0, "sb": "yes", "nlp_scaling_method": "none"},
    **{"tol": 1e-12, "compl_inf_tol": 1e-12, "bound_relax_factor": 0.0},
    **{"warm_start_init_point": "yes", "mu_init": 1e-6},
    **{"warm_start_bound_push": 1e-8, "warm_start_mult_bound_push": 1e-8},
}
"""Chosen from eight settings tried on sixty frames: with looser tolerances many answers miss a certificate of 1e-6, and
even with these a frame in a hundred may. Other settings may be faster."""


class Answers(NamedTuple):
    """Activations (T, n), multipliers of the moments (T, m) and the mean number of iterations."""

    activation: Array
    multiplier: Array
    iterations: float


Run = Callable[[], Answers]


@dataclass(frozen=True)
class Bare:
    """A rival.

    Attributes:
        summary: what it is.
        package: that has to be installed.
        quadratic: whether it takes quadratic costs only.
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
        """Whether it can minimise that cost."""
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


def _daqp_answers(found: list[Any], problem: Problem) -> Answers:
    dual = np.array([info["lam"] for _, _, _, info in found])
    return Answers(
        np.clip([x for x, _, _, _ in found], problem.lower, problem.upper),
        -dual[:, problem.n_muscles :],
        float(np.mean([info["iterations"] for _, _, _, info in found])),
    )


def _daqp(problem: Problem, cost: Cost) -> Run:
    import daqp

    frames = _quadratic(problem, cost)
    kind = np.repeat(np.array([0, 5], np.int32), [problem.n_muscles, problem.n_dof])  # 5: an equality
    solve = daqp.solve
    return lambda: _daqp_answers([solve(*frame, kind) for frame in frames], problem)


def _daqp_warm(problem: Problem, cost: Cost) -> Run:
    import daqp

    frames = _quadratic(problem, cost)
    kind = np.repeat(np.array([0, 5], np.int32), [problem.n_muscles, problem.n_dof])
    model = daqp.Model()
    model.setup(*frames[0], kind)

    def next_frame(frame: tuple[Array, ...]) -> Any:
        model.update(*frame)
        return model.solve()

    return lambda: _daqp_answers([next_frame(frame) for frame in frames], problem)


def _ipopt(problem: Problem, cost: Cost) -> Run:
    """Each frame starts from the activations and multipliers of the one before."""
    import casadi

    dofs, muscles, numbers = problem.n_dof, problem.n_muscles, cost.parameters(problem)
    a, p = casadi.SX.sym("a", muscles), casadi.SX.sym("p", numbers.shape[1], muscles)
    rows, moment, scale = casadi.SX.sym("A", dofs, muscles), casadi.SX.sym("b", dofs), casadi.SX.sym("scale")
    symbols = casadi.vertcat(casadi.vec(p), casadi.vec(rows), moment, scale)
    programme = {"x": a, "p": symbols, "f": scale * cost.expression(casadi, a, p), "g": rows @ a - moment}
    quiet: dict[str, Any] = {"print_time": False, "show_eval_warnings": False, "error_on_fail": False}
    solver = casadi.nlpsol("bare", "ipopt", programme, quiet | {"ipopt": dict(IPOPT)})
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

    def run() -> Answers:
        found, iterations = [], 0
        last = {"x0": 0.5 * (problem.lower[0] + upper[0]), "lam_x0": 0.0, "lam_g0": 0.0}
        for t in range(len(row)):
            bounds = {"lbx": problem.lower[t], "ubx": upper[t], "lbg": 0.0, "ubg": 0.0}
            answer = solver(p=parameters[t], **bounds, **last)
            last = {"x0": answer["x"], "lam_x0": answer["lam_x"], "lam_g0": answer["lam_g"]}
            iterations += solver.stats()["iter_count"]
            found.append(last)
        activation = np.array([each["x0"] for each in found])[:, :, 0]
        price = -np.array([each["lam_g0"] for each in found])[:, :, 0] * steepest[:, None] / row
        return Answers(np.clip(activation, problem.lower, upper), price, iterations / len(row))

    return run


BARE: dict[str, Bare] = {
    "daqp, bare": Bare("daqp.solve, each frame anew", "daqp", True, _daqp),
    "daqp, bare, warm": Bare("daqp.Model, each frame from the one before", "daqp", True, _daqp_warm),
    "ipopt, bare": Bare(
        "casadi.nlpsol with parameters, each frame from the one before", "casadi", False, _ipopt
    ),
}
"""The rivals by name."""

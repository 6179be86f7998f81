"""Every solver finds the same optimum on frames of the recorded walk."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from packages import need_solver
from thorough import THOROUGH

from musclesolve import Problem, Status, costs, solve, solvers
from musclesolve.laboratory.forces import muscle_forces
from musclesolve.sharing import certify
from musclesolve.sharing.cost import ActivationPower, StressCubed

COSTS = {
    **{name: kind() for name, kind in costs().items()},
    "activation": ActivationPower(1.0),
    "mixed": StressCubed() + 1e3 * ActivationPower(3.0),
}


OWN = "batch"


SLOW = (
    {"trust-constr": 4, "slsqp": 2} if THOROUGH else {"trust-constr": 9, "slsqp": 8, "ipopt": 7, "cyipopt": 5}
)
"""Of the costs only every so many, others for each problem of the bank: all of them for one or another."""


QP = {"daqp", "quadprog", "osqp", "piqp", "proxqp", "clarabel", "highs"}


OURS = QP | {"batch", "ipopt", "cyipopt", "slsqp", "trust-constr", "linprog"}
"""A solver besides these, as by the recipe of CONTRIBUTING.md, may take seconds a frame: it is asked for one."""


FRAGILE = {"highs", "osqp", "piqp", "proxqp"}
"""Their methods miss the optimum of quadratic programs in some frames; the certificate has to tell which."""


MOSTLY = 0.75
"""Least share of frames that they answer; which ones depends on the processor and the version."""


@dataclass(frozen=True)
class Reference:
    """The least cost of every frame, NaN where it is infeasible, and what counts as nothing beside it."""

    cost: np.ndarray
    small: np.ndarray


_answers: dict[tuple[int, str], Reference] = {}


def reference(problem, name):
    """By the project's own solver, and by linprog where it cannot."""
    key = (id(problem), name)
    if key not in _answers:
        cost = COSTS[name]
        solver = OWN if solvers()[OWN].fits(cost) else "linprog"
        answer = solve(problem, cost, solver)
        assert np.isin(answer.status, (Status.SOLVED, Status.SOLVED_WITH_RESERVE, Status.INFEASIBLE)).all()
        width = np.abs(cost.value(problem, problem.lower + 0.1 * (problem.upper - problem.lower)))
        _answers[key] = Reference(objective(problem, cost, answer), 1e-9 + 1e-2 * width)
    return _answers[key]


def objective(problem, cost, answer):
    if problem.reserve_weight is None or "linear_program" in cost.needs:
        return answer.cost
    return answer.cost + 0.5 * (problem.reserve_weight * answer.reserve**2).sum(axis=1)


def examine(problem: Problem, name: str, solver: str) -> np.ndarray:
    """All that has to hold of an answer; returns which frames have one, or a proof that there is none."""
    cost, best = COSTS[name], reference(problem, name)
    answer = solve(problem, cost, solver)
    where = f"{name} by {solver}: {answer.status} {answer.gap}"
    # a frame without a certificate has no numbers either
    assert np.isnan(answer.activation[~answer.solved]).all() and np.isnan(answer.cost[~answer.solved]).all()
    possible = np.isfinite(best.cost)
    assert not (answer.solved & ~possible).any(), where
    assert not ((answer.status == Status.INFEASIBLE) & possible).any(), where
    good = np.flatnonzero(answer.solved)
    part = problem.frames(good)
    fresh = certify(
        part,
        cost,
        answer.activation[good],
        answer.reserve[good],
        answer.multiplier[good],
        None if answer.level_multiplier is None else answer.level_multiplier[good],
    )
    assert fresh.holds.all(), where
    within = (answer.activation[good] >= part.lower) & (answer.activation[good] <= part.upper)
    produced = np.einsum("tmn,tn->tm", part.moment_matrix, answer.activation[good]) + answer.reserve[good]
    miss = np.abs(produced - part.moment) / np.maximum(1.0, np.abs(part.moment))
    assert within.all() and (miss <= 1e-6).all(), where
    found, least = objective(problem, cost, answer)[good], best.cost[good]
    apart = np.abs(found - least) / np.maximum(np.abs(least), best.small[good])
    assert (apart <= 1e-6).all(), f"{where}: costs differ by {apart}"
    return answer.solved | (answer.status == Status.INFEASIBLE)


def every_cost(problem, solver, number=0):
    """The costs that the solver can take, on one problem, see SLOW; the share of frames that it answered."""
    record, step = need_solver(solver), SLOW.get(solver, 1)
    able = [name for name, cost in COSTS.items() if record.fits(cost, problem.reserve_weight is not None)]
    able = able[number % step :: step]
    assert able
    if solver not in OURS:
        problem, able = problem.frames(np.array([0])), able[:1]
    return np.mean([examine(problem, name, solver).mean() for name in able])


@pytest.fixture(scope="session")
def walk_problems(recorded_walk_trial):
    """Return the problems of the muscles of both legs in a run, on a few frames of the recorded walk."""
    seen = [part.problem for part in muscle_forces(recorded_walk_trial).parts]
    assert len(seen) == 2
    emg = np.where(np.arange(seen[0].n_muscles) % 2, 0.1, np.nan)
    return [
        replace(leg.frames(np.linspace(5, leg.n_frames - 5, 3).astype(int)), emg=np.tile(emg, (3, 1)))
        for leg in seen
    ]


@pytest.mark.in_part(4)
@pytest.mark.parametrize("solver", solvers())
def test_the_recorded_walk(walk_problems, solver):
    for leg in walk_problems[:1] if solver in SLOW or solver not in OURS else walk_problems:
        answered = every_cost(leg, solver)
        assert solver not in OURS or answered >= (MOSTLY if solver in FRAGILE else 1.0)

"""Quadratic costs: which they are, and who else is refused by solvers that take nothing but these."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from packages import need_solver
from refusals import refused
from sharing_cases import SMOOTH

import musclesolve as ms
from musclesolve import Status, solve, solvers
from musclesolve.sharing import certify
from musclesolve.sharing.cost import ActivationPower, ForceSquared, StressCubed
from musclesolve.sharing.solver.frame_program import Claim
from musclesolve.sharing.solver.qp_solvers import QuadraticProgram

QUADRATIC = [name for name, record in solvers().items() if "quadratic_program" in record.can]
COSTS = {name: ms.costs()[name]() for name in SMOOTH} | {
    "cube": ActivationPower(3.0),
    "line": ActivationPower(1.0),
    "square and line": ForceSquared() + 2.0 * ActivationPower(1.0),
    "square and cube": ForceSquared() + StressCubed(),
    "lines": ActivationPower(1.0) + 2.0 * ActivationPower(1.0),
    "twice": 2.0 * ForceSquared(),
}


PROGRAM = """
import sys
import musclesolve as ms
problem = ms.Problem([[0.1]], [1.0], [50.0], [50.0])
for name in sys.argv[1:]:
    assert ms.solve(problem, "force_squared", name).solved.all(), name
"""


def test_a_backend_prints_nothing():
    """In a process of their own, because some print once: `--json` prints a document on standard output."""
    names = [need_solver(name).name for name in QUADRATIC]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *names], capture_output=True, text=True, check=True)
    assert len(names) > 2 and done.stdout == ""


@pytest.mark.parametrize("name", COSTS)
def test_a_cost_is_quadratic_if_its_curvature_is_the_same_everywhere(name, make_leg):
    cost, problem = COSTS[name], make_leg(3)
    low, high = (cost.hessian(problem, np.full_like(problem.lower, share)) for share in (0.1, 0.6))
    bent = np.abs(high - low).max() > 1e-9 * np.abs(high).max()
    assert cost.quadratic == (not bent and not cost.linear)


@pytest.mark.parametrize("solver", QUADRATIC)
def test_other_costs_are_refused_by_name(solver, make_leg):
    need_solver(solver)
    for cost in ("stress_cubed", "square and cube"):
        given = COSTS[cost]
        with refused("unfit_solver", solver, given.name, "batch, ipopt"):
            solve(make_leg(1), given, solver)
    coupled = ms.sharing.expression_cost("coupled", lambda a: (a[0] + a[1]) ** 2, convex=True)
    with refused("unfit_solver", solver, "that couple muscles", "ipopt"):
        solve(make_leg(1), coupled, solver)


@pytest.mark.parametrize("solver", QUADRATIC)
@pytest.mark.parametrize("reserves", [False, True])
def test_sums_of_squares_and_lines_are_taken(solver, reserves, make_leg):
    cost, problem = COSTS["square and line"], make_leg(4, seed=2)
    if reserves:
        problem = replace(problem, moment=1.5 * problem.moment, reserve_weight=np.linspace(1.0, 1e6, 7))
    answer, own = solve(problem, cost, need_solver(solver).name), solve(problem, cost)
    assert answer.solved.all()
    np.testing.assert_array_equal(answer.status, own.status)
    np.testing.assert_allclose(answer.activation, own.activation, atol=1e-6)


@pytest.mark.parametrize("solver", QUADRATIC)
def test_they_are_silent(solver, make_leg, capfd):
    assert solve(make_leg(2), "force_squared", need_solver(solver).name).solved.all()
    assert capfd.readouterr() == ("", "")


class Wrong(QuadraticProgram):
    """A backend that claims a wrong result."""

    can = frozenset({"quadratic_program"})

    def call(self, frame):
        return Claim(frame.upper.copy(), np.zeros(len(frame.moment)), 1, Status.SOLVED)


def test_the_certificate_is_recomputed_whatever_a_backend_claims(make_leg):
    problem = make_leg(3)
    answer = solve(problem, "force_squared", Wrong("wrong"))
    assert (answer.status == Status.SOLVER_FAILED).all() and np.isnan(answer.activation).all()
    own = solve(problem, "force_squared")
    assert certify(problem, ForceSquared(), own.activation, own.reserve, own.multiplier).holds.all()

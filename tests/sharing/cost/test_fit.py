"""The costs that each solver takes, and the refusals of the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from packages import need_solver
from refusals import refused

from musclesolve import Status, costs, solve, solvers
from musclesolve.sharing.cost import ActivationPower
from musclesolve.sharing.solver import solver_registry as registry
from musclesolve.sharing.solver.batch import Batch


@pytest.mark.parametrize("solver", [name for name in solvers() if name != "linprog"])
def test_levels_are_refused_by_all_but_linprog(make_leg, solver):
    need_solver(solver)
    with refused("unfit_solver", solver, "min_max", "choose the solver linprog"):
        solve(make_leg(1), "min_max", solver)


def test_linprog_refuses_what_is_not_linear_and_lists_the_others(make_leg):
    with refused("unfit_solver", "batch, ipopt, cyipopt, slsqp, trust-constr"):
        solve(make_leg(1), "stress_cubed", "linprog")
    assert (solve(make_leg(2), ActivationPower(1.0), "linprog").status == Status.SOLVED).all()


@pytest.mark.parametrize(("on_infeasible", "weight"), [("reserve", None), ("report", 10.0)])
def test_linprog_refuses_a_linear_cost_with_reserves(make_leg, on_infeasible, weight):
    problem = replace(make_leg(1), reserve_weight=weight)
    with refused("unfit_solver", "linprog", "batch"):
        solve(problem, ActivationPower(1.0), "linprog", on_infeasible)


@dataclass(frozen=True)
class Custom:
    """A solver of the user, with the abilities that it declares."""

    name: str = "custom"
    can: frozenset[str] = frozenset({"separable"})

    def solve(self, problem, cost, warm_start=None):
        return Batch().solve(problem, cost)


def test_a_custom_solver_gets_the_costs_that_it_declares(make_leg):
    problem = make_leg(2)
    assert (solve(problem, "stress_cubed", Custom()).status == Status.SOLVED).all()
    with refused("unfit_solver", "custom"):
        solve(problem, "joint_reaction_squared", Custom())
    able = Custom(can=frozenset({"separable", "rows"}))
    assert (solve(problem, "joint_reaction_squared", able).status == Status.SOLVED).all()


def test_a_solver_without_multipliers_of_levels_proves_nothing(make_leg):
    careless = Custom(can=frozenset({"linear_program"}))
    answer = solve(make_leg(2), "min_max", careless)
    assert not answer.solved.any() and np.isnan(answer.activation).all()


def test_the_refusal_of_cyipopt_says_how_to_install_it(make_leg, monkeypatch):
    record = registry.REGISTRY["cyipopt"]
    absent = registry.SolverRecord(**(vars(record) | {"packages": ("no_such_package",)}))
    monkeypatch.setitem(registry.REGISTRY, "cyipopt", absent)
    with refused("missing_package", "pip install cyipopt-wheels", "conda install"):
        solve(make_leg(1), "stress_cubed", "cyipopt")


def test_every_cost_can_be_minimized():
    for kind in costs().values():
        assert any(record.fits(kind()) for record in solvers().values())

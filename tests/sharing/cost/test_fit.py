"""Which solver takes which cost, and the refusals of the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from musclesolve.sharing.cost.cost_registry import REGISTRY
from musclesolve.sharing.cost.named.power_costs import ActivationPower
from musclesolve.sharing.solver import solver_registry as registry
from musclesolve.sharing.solver.batch import Batch
from musclesolve.sharing.solver.solver_base import Attempt
from musclesolve.sharing.solver.solver_registry import solvers
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status


@pytest.mark.parametrize("solver", [name for name in solvers() if name != "linprog"])
def test_levels_are_refused_by_all_but_linprog(make_leg, solver):
    if not solvers()[solver].installed:
        pytest.skip(f"{solver} is not installed")
    with pytest.raises(registry.UnfitSolverError, match="one of linprog") as caught:
        solve(make_leg(1), "min_max", solver)
    assert solver in str(caught.value) and "solver='linprog'" in str(caught.value)


def test_linprog_refuses_what_is_not_linear_and_lists_the_others(make_leg):
    with pytest.raises(registry.UnfitSolverError, match="one of batch, ipopt, cyipopt, slsqp, trust-constr"):
        solve(make_leg(1), "stress_cubed", "linprog")
    assert (solve(make_leg(2), ActivationPower(1.0), "linprog").status == Status.SOLVED).all()


@pytest.mark.parametrize(("on_infeasible", "weight"), [("reserve", None), ("report", 10.0)])
def test_linprog_refuses_a_linear_cost_with_reserves(make_leg, on_infeasible, weight):
    problem = replace(make_leg(1), reserve_weight=weight)
    with pytest.raises(
        registry.UnfitSolverError, match=r"quadratic cost of reserves\n  expected: one of batch"
    ):
        solve(problem, ActivationPower(1.0), "linprog", on_infeasible)


@dataclass(frozen=True)
class Stranger:
    """A solver of one's own; what it can do is what it says."""

    name: str = "stranger"
    can: frozenset[str] = frozenset({"separable"})

    def solve(self, problem, cost, warm_start=None) -> Attempt:
        return Batch().solve(problem, cost)


def test_a_solver_of_ones_own_is_asked_for_what_it_says(make_leg):
    problem = make_leg(2)
    assert (solve(problem, "stress_cubed", Stranger()).status == Status.SOLVED).all()
    with pytest.raises(registry.UnfitSolverError, match="stranger"):
        solve(problem, "joint_reaction_squared", Stranger())
    able = Stranger(can=frozenset({"separable", "rows"}))
    assert (solve(problem, "joint_reaction_squared", able).status == Status.SOLVED).all()


def test_a_solver_without_prices_of_levels_proves_nothing(make_leg):
    careless = Stranger(can=frozenset({"linear_programme"}))
    answer = solve(make_leg(2), "min_max", careless)
    assert not answer.solved.any() and np.isnan(answer.activation).all()


def test_cyipopt_says_how_it_is_built(make_leg, monkeypatch):
    record = registry.REGISTRY["cyipopt"]
    absent = registry.SolverRecord(**(vars(record) | {"packages": ("no_such_package",)}))
    monkeypatch.setitem(registry.REGISTRY, "cyipopt", absent)
    with pytest.raises(registry.SolverNotInstalledError, match=r"python tools/build_cyipopt\.py"):
        solve(make_leg(1), "stress_cubed", "cyipopt")


def test_every_cost_can_be_minimised():
    for kind in REGISTRY.values():
        assert any(record.fits(kind()) for record in solvers().values())

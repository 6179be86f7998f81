"""Which costs and solvers go with elastic tendons, seen to before anything is computed."""

from __future__ import annotations

from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import Cost, single_costs
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.sharing.solver.solver_registry import find_solver

METHODS = {"batch": "structured", "ipopt": "collocation"}
"""What solves whole motions, by the solver of single frames that is asked for."""
_OF_RIGID = {
    "fiber_velocity": "fiber velocities, which are a part of the solution",
    "reaction_matrix": "joint reactions",
}
_REMEDY = 'or rigid tendons (tendon = "rigid")'


def motion_method(cost: Cost, solver: Solver) -> str:
    """The method for whole motions that goes with a solver: compiled ("batch"), or with Ipopt ("ipopt").

    Raises:
        InputError: see `motion_cost` and `motion_solver`.
    """
    motion_cost(cost)
    return METHODS[motion_solver(solver).name]


def motion_cost(cost: str | Cost) -> Cost:
    """The cost of that name, if elastic tendons can have it.

    Raises:
        InputError: a cost of what is not known before the motion is solved, or one that is not smooth, convex and
            separable.
    """
    found = find_cost(cost)
    problem = next((f"is one of {what}" for name, what in _OF_RIGID.items() if name in found.data), None)
    if problem is None and any(single.needs != {"separable"} for single in single_costs(found)):
        problem = "is not smooth, convex and a sum over muscles"
    if problem is None:
        return found
    raise InputError(
        f"the cost {found.label} {problem}: it cannot be used with elastic tendons",
        code="bad_cost",
        where="cost",
        expected="a smooth convex cost of forces or of activations",
        remedy=f"choose another cost, {_REMEDY}",
    )


def motion_solver(solver: str | Solver) -> Solver:
    """The solver of that name, if it has a method for whole motions.

    Raises:
        InputError: a solver of single frames alone.
    """
    found = find_solver(solver)
    if found.name in METHODS:
        return found
    known = " or ".join(METHODS)
    raise InputError(
        f"the solver {found.name} solves frames one by one, elastic tendons need whole motions",
        code="unfit_solver",
        where="solver",
        expected=known,
        remedy=f"choose {known}, {_REMEDY}",
    )

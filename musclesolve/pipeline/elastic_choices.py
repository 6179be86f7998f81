"""Which costs and solvers go with elastic tendons, seen to before anything is computed."""

from __future__ import annotations

from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_base import Solver

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
        InputError: a solver without such a method; a cost of what is not known before the motion is solved. Costs that
            are not smooth, convex and separable are refused where they are used (trajectory/motion_cost.py).
    """
    for name, what in _OF_RIGID.items():
        if name in cost.data:
            raise InputError(
                f"the cost {cost.label} is one of {what}: it cannot be used with elastic tendons",
                code="bad_cost",
                where="cost",
                expected="a smooth convex cost of forces or of activations",
                remedy=f"choose another cost, {_REMEDY}",
            )
    if solver.name not in METHODS:
        known = " or ".join(METHODS)
        raise InputError(
            f"the solver {solver.name} solves frames one by one, elastic tendons need whole motions",
            code="unfit_solver",
            where="solver",
            expected=known,
            remedy=f"choose {known}, {_REMEDY}",
        )
    return METHODS[solver.name]

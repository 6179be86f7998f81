"""Problems as arrays by name for the layers, a cost of a user, and the frames that have no solution."""

from __future__ import annotations

from typing import Any

import numpy as np
from sharing_cases import leg

import musclesolve as ms
from musclesolve.sharing.solver.batch import Batch

SHARP = Batch(tolerance=1e-12)
REQUIRED = ("moment_arm", "moment", "force_capacity", "max_isometric_force")


def _stress_fourth(activation: Any, force: Any, data: Any) -> Any:
    import casadi

    return casadi.sum1((force / data.max_isometric_force) ** 4) + 0.1 * casadi.sum1(activation**2)


OWN_COST = ms.sharing.expression_cost(
    "stress_fourth", _stress_fourth, uses=("max_isometric_force",), convex=True
)


def leg_arrays(*others: str) -> dict[str, Any]:
    """Three frames of a leg of 12 muscles, some of them at their bounds, as the four required arrays and others."""
    problem = leg(4, seed=3, effort=1.0, dofs=4, muscles=12)
    problem = problem.with_arrays(upper=0.8 * problem.upper, reserve_weight=np.full((4, 4), 1e4))
    return {
        name: np.array(getattr(problem, name)) for name in (*REQUIRED, "upper", "reserve_weight", *others)
    }


def half_unsolved() -> dict[str, Any]:
    """One moment, two muscles: solved, out of reach, not a number, solved."""
    return {
        "moment_arm": np.array([[0.1, 0.05]]),
        "moment": np.array([[6.0], [16.0], [np.nan], [9.0]]),
        "force_capacity": np.array([100.0, 100.0]),
        "max_isometric_force": np.array([100.0, 100.0]),
    }

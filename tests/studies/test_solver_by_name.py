"""The solver of a comparison may be a name."""

from __future__ import annotations

from typing import Any

import numpy as np

import musclesolve as ms

ARRAYS: dict[str, Any] = {
    "moment_arm": np.tile([[0.05, 0.03, -0.04]], (4, 1, 1)),
    "moment": np.array([[2.0], [10.0], [20.0], [150.0]]),
    "force_capacity": [1000.0, 500.0, 600.0],
    "max_isometric_force": [1000.0, 500.0, 600.0],
}


PROBLEM = ms.Problem(**ARRAYS)


def test_one_solver_may_be_a_name():
    both = ms.compare(PROBLEM, ["stress_cubed"], solvers="ipopt")
    assert both["solver"].values.tolist() == ["ipopt"]

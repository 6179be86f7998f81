"""Costs with numbers of single frames are compared on a whole problem and on a part of it."""

from __future__ import annotations

import numpy as np

import musclesolve as ms
from musclesolve.sharing import expression_cost
from musclesolve.studies.benchmark.measure import random_problem


def test_a_part_is_compared_as_the_whole():
    import casadi

    problem, which = random_problem(9, 3, 8), [7, 2]
    weight = np.linspace(1.0, 2.0, problem.force_capacity.size).reshape(problem.force_capacity.shape)
    cost = expression_cost(
        "weighted", lambda a, f, d: casadi.dot(d.w, a**2), frame_constants={"w": weight}, convex=True
    )
    whole, part = (
        ms.compare(one, [cost, "force_squared"])["activation"].values
        for one in (problem, problem.frames(which))
    )
    np.testing.assert_allclose(part, whole[:, which], atol=1e-7)
    np.testing.assert_allclose(whole[0], ms.solve(problem, cost, "ipopt").activation, atol=1e-7)

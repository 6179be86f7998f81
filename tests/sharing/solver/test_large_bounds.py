"""Upper bounds in the thousands: activations that are forces in other units."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve import Problem, Status, solve

MUSCLES, DOFS, FRAMES = 43, 7, 60


def large(kind: str, upper: float) -> Problem:
    """Moments of a leg at activations up to the bounds: any, at corners of what is possible, with few large bounds."""
    random = np.random.default_rng(1)
    arm = random.uniform(-0.06, 0.06, (FRAMES, DOFS, MUSCLES))
    strongest = random.uniform(100.0, 3000.0, MUSCLES)
    bound = np.full((FRAMES, MUSCLES), upper)
    if kind == "mixed":
        bound = 10.0 ** random.uniform(0.0, np.log10(upper), bound.shape)
    elif kind == "few":
        bound[random.random(bound.shape) < 0.7] = 1.0
    activation = bound * random.random(bound.shape)
    if kind == "corner":
        direction = random.normal(size=(FRAMES, DOFS))
        inside = 1.0 - 10.0 ** random.uniform(-6.0, -1.0, (FRAMES, 1))
        activation = inside * bound * (np.einsum("tm,tmn->tn", direction, arm) > 0)
    moment = np.einsum("tmn,tn->tm", arm * strongest, activation)
    return Problem(arm, moment, strongest, strongest, upper=bound)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("kind", ["all", "mixed", "few", "corner"])
@pytest.mark.parametrize("cost", ["force_squared", "stress_cubed"])
def test_they_are_solved_as_in_units_in_which_they_are_one(kind, cost):
    """Neither cost knows the unit of a: capacities times 4000 with bounds over 4000 are the same problem."""
    problem, unit = large(kind, 4000.0), 4000.0
    natural = Problem(
        problem.moment_arm,
        problem.moment,
        unit * problem.force_capacity,
        problem.max_isometric_force,
        upper=problem.upper / unit,
    )
    found, known = solve(problem, cost), solve(natural, cost)
    assert (found.status == Status.SOLVED).all() and (known.status == Status.SOLVED).all()
    np.testing.assert_allclose(found.cost, known.cost, rtol=1e-4)
    np.testing.assert_allclose(found.force, known.force, atol=1e-4 * known.force.max())

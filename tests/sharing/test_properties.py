from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sharing_cases import SMOOTH, equipped

from musclesolve import Problem, Status, costs, solve

fraction = st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0.0, 1.0))
QUICK = settings(max_examples=60, derandomize=True)


@st.composite
def feasible(draw):
    """Arms, capacities and activations of any kind; moments that these activations produce; a cost."""
    dofs, muscles = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    count = dofs * muscles
    pick = st.one_of(st.just(0.0), st.floats(-0.1, 0.1).map(lambda x: round(x, 4)))
    arm = np.array(draw(st.lists(pick, min_size=count, max_size=count))).reshape(dofs, muscles)
    some = {"min_size": muscles, "max_size": muscles}
    strongest = np.array(draw(st.lists(st.floats(1.0, 5000.0), **some)))
    capacity = strongest * np.array(draw(st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1.5)), **some)))
    activation = np.array(draw(st.lists(fraction, **some)))
    cost = draw(st.sampled_from(sorted(SMOOTH)))
    bare = Problem(arm, np.zeros(dofs), capacity, strongest)
    activation = np.minimum(activation, costs()[cost]().largest_activation(bare)[0])
    return equipped(Problem(arm, (arm * capacity) @ activation, capacity, strongest)), activation, cost


@QUICK
@given(feasible())
def test_whatever_some_activation_produces_is_solved(case):
    problem, activation, cost = case
    answer = solve(problem, cost)
    assert answer.status == Status.SOLVED, (answer.summary(), answer.gap)
    assert answer.gap <= 1e-9
    known = costs()[cost]().value(problem, activation[None])[0]
    assert answer.cost <= known * (1 + 1e-6) + 1e-6 * max(1.0, np.abs(answer.multiplier).sum())


@QUICK
@given(feasible(), st.floats(0.1, 10.0))
def test_units_of_force_and_cost_do_not_matter(case, unit):
    """Forces and moments in other units, arms the same: the activations stay."""
    problem, _, cost = case
    assume(cost != "joint_reaction_squared")  # its effort has the unit of a squared force
    bare = Problem(
        problem.moment_arm[0],
        unit * problem.moment[0],
        unit * problem.force_capacity[0],
        unit * problem.max_isometric_force,
    )
    other = equipped(bare)
    one, two = solve(problem, cost), solve(other, 7.0 * costs()[cost]())
    assert one.status == two.status == Status.SOLVED
    np.testing.assert_allclose(
        problem.moment_matrix[0] @ one.activation,
        problem.moment_matrix[0] @ two.activation,
        atol=1e-5 * max(1, 1 / unit) * np.maximum(1.0, np.abs(problem.moment)).max(),
    )

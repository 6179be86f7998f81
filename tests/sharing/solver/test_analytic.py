"""Problems whose answer can be written down."""

from __future__ import annotations

import numpy as np
import pytest
from sharing_cases import RESTING, SMOOTH, equipped

from musclesolve import Problem, Status, solve
from musclesolve.sharing.cost import SoftSaturation, StressCubed

SOLVERS = ["batch", "ipopt"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cost", SMOOTH)
def test_two_equal_muscles_share_equally(cost, solver):
    twins = equipped(Problem([[0.05, 0.05]], [30.0], [1000.0] * 2, [1000.0] * 2), alike=True)
    answer = solve(twins, cost, solver)
    assert answer.status == Status.SOLVED
    np.testing.assert_allclose(answer.activation, 0.3, atol=1e-7)
    np.testing.assert_allclose(answer.force, 300.0, atol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_three_muscles_at_one_joint(solver):
    """Least squares of the forces: F = r M / |r|^2, lambda = 2 M / |r|^2."""
    arm, moment = np.array([0.05, 0.03, 0.02]), 20.0
    answer = solve(Problem(arm[None], [moment], [900.0, 700.0, 800.0], [1000.0] * 3), "force_squared", solver)
    np.testing.assert_allclose(answer.force, arm * moment / (arm @ arm), rtol=1e-7)
    np.testing.assert_allclose(answer.multiplier, 2 * moment / (arm @ arm), rtol=1e-7)
    np.testing.assert_allclose(answer.cost, moment**2 / (arm @ arm), rtol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_antagonist_rests_and_a_weak_agonist_saturates(solver):
    """The weak muscle ends at its upper bound, the strong one does the rest, the antagonist nothing."""
    arm, capacity = [[0.05, 0.05, -0.04]], [1000.0, 100.0, 500.0]
    answer = solve(Problem(arm, [40.0], capacity, [1000.0] * 3), "force_squared", solver)
    np.testing.assert_allclose(answer.force, [700.0, 100.0, 0.0], atol=1e-3)
    assert answer.status == Status.SOLVED


def test_stress_cubed_shares_by_the_square_root_of_the_arm():
    """Two agonists: 3 sigma_bar^3 F^2 / F0^3 = lambda r, so F_1 / F_2 = sqrt(r_1 / r_2) (F0_1 / F0_2)^(3/2)."""
    arm, strongest = np.array([0.05, 0.04]), np.array([1000.0, 800.0])
    answer = solve(Problem(arm[None], [25.0], [900.0, 850.0], strongest), StressCubed())
    ratio = np.sqrt(arm[0] / arm[1]) * (strongest[0] / strongest[1]) ** 1.5
    assert answer.force[0] / answer.force[1] == pytest.approx(ratio, rel=1e-6)


@pytest.mark.parametrize(
    ("moment", "load"), [(10.0, (0.142, 0.091)), (30.0, (0.419, 0.283)), (50.0, (0.676, 0.506))]
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_soft_saturation_is_maximized(moment, load, solver):
    strongest = np.array([1000.0, 800.0])
    answer = solve(Problem([[0.05, 0.04]], [moment], strongest, strongest), "soft_saturation", solver)
    np.testing.assert_allclose(answer.force / strongest, load, atol=1e-3)


def test_soft_saturation_does_not_co_contract():
    strongest = np.array([1000.0, 800.0, 500.0])
    answer = solve(Problem([[0.05, 0.04, -0.03]], [10.0], strongest, strongest), "soft_saturation")
    np.testing.assert_allclose(answer.activation, [0.142, 0.091, 0.0], atol=1e-3)


def test_soft_saturation_stays_below_the_maximum_isometric_force():
    """An eccentric capacity above F0 does not help: beyond F0 the cost is not defined."""
    problem = Problem([[0.05, 0.05]], [99.9], [1300.0, 1300.0], [1000.0] * 2)
    assert (solve(problem, "soft_saturation").force <= 1000.0).all()
    assert solve(Problem([[0.05]], [55.0], [1300.0], [1000.0]), "soft_saturation").status == Status.INFEASIBLE
    assert solve(Problem([[0.05]], [55.0], [1300.0], [1000.0]), "force_squared").status == Status.SOLVED


def test_an_empty_domain_is_infeasible():
    """The lower bound alone exceeds F0 / capacity."""
    problem = Problem([[0.05]], [5.0], [1300.0], [1000.0], lower=0.9)
    assert solve(problem, SoftSaturation()).status == Status.INFEASIBLE


@pytest.mark.parametrize("solver", SOLVERS)
def test_reserves_share_with_the_muscles(solver):
    """One muscle and a reserve: 2 F = lambda r, w s = lambda, F r + s = M."""
    arm, moment, weight = 0.05, 20.0, 5.0
    answer = solve(
        Problem([[arm]], [moment], [1000.0], [1000.0], reserve_weight=weight), "force_squared", solver
    )
    multiplier = moment / (arm**2 / 2 + 1 / weight)
    np.testing.assert_allclose(answer.multiplier, multiplier, rtol=1e-7)
    np.testing.assert_allclose(answer.reserve, multiplier / weight, rtol=1e-7)
    np.testing.assert_allclose(answer.force, multiplier * arm / 2, rtol=1e-6)
    assert answer.status == Status.SOLVED_WITH_RESERVE


def test_a_reserve_that_is_not_needed_leaves_the_frame_solved():
    answer = solve(Problem([[0.05]], [20.0], [1000.0], [1000.0], reserve_weight=1e14), "force_squared")
    assert answer.status == Status.SOLVED and abs(answer.reserve[0]) < 2e-5


@pytest.mark.parametrize("cost", RESTING)
def test_nothing_to_do(cost):
    answer = solve(equipped(Problem([[0.05, -0.03]], [0.0], [1000.0] * 2, [1000.0] * 2)), cost)
    np.testing.assert_allclose(answer.activation, 0.0, atol=1e-5)
    assert answer.status == Status.SOLVED


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cost", SMOOTH)
def test_bounds_other_than_zero_and_one(cost, solver):
    """Two equal muscles, one held above its share, then both held where they are."""
    fields = ([[0.05, 0.05]], [30.0], [1000.0] * 2, [1000.0] * 2)
    high = solve(equipped(Problem(*fields, lower=[0.45, 0.01]), alike=True), cost, solver)
    np.testing.assert_allclose(high.activation, [0.45, 0.15], atol=1e-6)
    fixed = solve(equipped(Problem(*fields, lower=[0.2, 0.4], upper=[0.2, 0.4]), alike=True), cost, solver)
    np.testing.assert_allclose(fixed.activation, [0.2, 0.4], atol=1e-9)
    assert high.status == fixed.status == Status.SOLVED

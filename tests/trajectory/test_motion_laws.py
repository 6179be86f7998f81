"""Laws of solved motions: mechanics of tendon and fiber, energy, limits, scaling and symmetry."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from motion_cases import small_motion, small_muscles
from scipy.interpolate import CubicSpline

from musclesolve import costs
from musclesolve.muscles.hill_model import PassiveElement
from musclesolve.sharing import RateLimits
from musclesolve.trajectory import solve_motion
from musclesolve.trajectory.motion_problem import TimeBasis

DURATION = 0.19


@cache
def solved(frames: int = 20, cost: str = "activation_power", moments: int = 1):
    """Return the movement with more or fewer frames."""
    problem = small_motion(frames=frames, moments=moments, step=DURATION / (frames - 1))
    found = solve_motion(problem, cost)
    assert found.solved.all()
    return problem, found


CASES = [(20, "activation_power", 1), (20, "stress_cubed", 2), (40, "activation_volume", 2)]


@pytest.mark.parametrize("case", CASES)
def test_forces_give_the_moments_and_balance(case):
    problem, found = solved(*case)
    tension = found.force + found.passive_force
    produced = np.einsum("tkn,tn->tk", problem.moment_arm, tension)
    assert np.abs(produced - problem.moment).max() < 1e-5
    assert found.force == pytest.approx(found.activation * found.force_capacity, rel=1e-12)
    muscles = problem.muscles
    z = (found.tendon_length - muscles.rest) / muscles.stretch
    assert (
        np.abs(muscles.parameters.max_isometric_force * muscles.curves.tendon(z).value - tension).max() < 2e-3
    )
    assert np.abs(found.reserve).max() == 0.0


@pytest.mark.parametrize("case", CASES)
def test_activation_keeps_its_limits(case):
    problem, found = solved(*case)
    assert found.activation.min() >= 0.0 and found.activation.max() <= 1.0
    assert RateLimits().excess(found.activation, problem.time).max() < 1e-7
    free = solve_motion(replace(problem, limits=None), case[1])
    assert RateLimits().excess(free.activation, problem.time).max() > 1e-3  # so they are felt
    assert problem.weight @ free.cost < problem.weight @ found.cost


def test_lengths_add_up_and_their_rates_too():
    problem, found = solved(20, "stress_cubed", 2)
    along = found.fiber_length * found.cos_pennation
    assert found.tendon_length + along == pytest.approx(problem.musculotendon_length, abs=1e-6)
    basis = TimeBasis.from_times(problem.time)
    rate = basis.rates(basis.coefficients(found.tendon_length))
    expected = (problem.musculotendon_velocity - rate) * found.cos_pennation
    assert found.fiber_velocity == pytest.approx(expected, abs=1e-9)
    parameters = problem.muscles.parameters
    thickness = parameters.optimal_fiber_length * np.sin(parameters.pennation_angle)
    assert np.hypot(along, thickness) == pytest.approx(found.fiber_length, rel=1e-9)


def velocity_error(frames: int) -> float:
    """Root mean square miss of the derivative of the fiber length, away from the ends, over that of the velocity."""
    problem, found = solved(frames)
    inside = slice(frames // 8, -(frames // 8))
    slope = CubicSpline(problem.time, found.fiber_length)(problem.time, 1)
    miss = (slope - found.fiber_velocity)[inside]
    return float(np.sqrt(np.mean(miss**2) / np.mean(found.fiber_velocity[inside] ** 2)))


def test_fiber_velocity_is_the_derivative_of_the_fiber_length():
    errors = [velocity_error(frames) for frames in (20, 40, 80)]
    assert errors[0] < 2e-2 and errors[2] < 0.3 * errors[0], errors


def test_energy_of_a_tendon_is_its_force_over_its_elongation():
    problem, found = solved(20, "stress_cubed", 2)
    muscles, tension = problem.muscles, found.force + found.passive_force
    z = (found.tendon_length - muscles.rest) / muscles.stretch
    for i in range(4):
        at = np.linspace(muscles.start[i], z[:, i], 2001)
        force = (
            muscles.parameters.max_isometric_force[i]
            * muscles.curves.muscles(np.array([i])).tendon(at[:, :, None]).value
        )
        work = np.trapezoid(force[:, :, 0], muscles.rest[i] + muscles.stretch[i] * at, axis=0)
        assert found.tendon_energy[:, i] == pytest.approx(work, rel=1e-5, abs=1e-9)
    assert tension.max() > 100.0 and found.tendon_energy.max() > 0.1


def work_error(frames: int) -> float:
    """Work of the fibers, less what tendons store, less what the path delivers: over the turnover, by trapezoids."""
    problem, found = solved(frames, moments=2)
    outside = -(found.force + found.passive_force) * problem.musculotendon_velocity
    gained = found.tendon_energy[-1] - found.tendon_energy[0]
    miss = np.trapezoid(found.fiber_power - outside, problem.time, axis=0) - gained
    return float(np.abs(miss).sum() / np.trapezoid(np.abs(found.fiber_power), problem.time, axis=0).sum())


def test_fibers_work_on_tendons_and_on_the_skeleton():
    """To the error of the trapezoid rule: half a percent with ten frames, a twentieth of it with forty."""
    errors = [work_error(frames) for frames in (10, 20, 40)]
    assert errors[0] < 5e-3 and errors[1] < 0.4 * errors[0] and errors[2] < 0.4 * errors[1], errors


def test_the_skeleton_receives_what_the_moments_deliver():
    """Sum of tension times shortening of the path = sum of moment times angular velocity, here of the knee."""
    problem, found = solved(20)
    outside = -((found.force + found.passive_force) * problem.musculotendon_velocity).sum(axis=1)
    speed = -problem.musculotendon_velocity[:, 0] / problem.moment_arm[:, 0, 0]
    assert outside == pytest.approx(problem.moment[:, 0] * speed, abs=1e-5)


def test_stiffer_tendons_come_near_rigid_ones():
    problem = small_motion(family="millard_2013", load=0.5)
    rigid = solve_motion(
        replace(problem, muscles=small_muscles("millard_2013", elastic=False)), "stress_cubed"
    )
    apart = []
    for strain in (0.04, 0.01, 0.0025, 0.0006):
        found = solve_motion(replace(problem, muscles=small_muscles("millard_2013", strain)), "stress_cubed")
        assert found.solved.all()
        apart.append(float(np.sqrt(np.mean(np.square(found.activation - rigid.activation)))))
    assert all(later < 0.6 * before for before, later in pairwise(apart)), apart
    assert apart[-1] < 0.01


@pytest.mark.parametrize("cost", ["activation_power", "stress_cubed"])
def test_the_unit_of_the_cost_changes_nothing(cost):
    problem = small_motion(moments=2)
    found = solve_motion(problem, cost)
    for factor in (1e-6, 1e3):
        scaled = solve_motion(problem, factor * costs()[cost]())
        assert scaled.activation == pytest.approx(found.activation, abs=1e-6)
        assert scaled.cost == pytest.approx(factor * found.cost, rel=1e-5)
        assert scaled.multiplier == pytest.approx(
            factor * found.multiplier, rel=1e-3, abs=1e-4 * factor * np.abs(found.multiplier).max()
        )


@pytest.mark.parametrize("cost", ["activation_power", "stress_cubed"])
def test_twice_as_strong_muscles_share_twice_the_moments_alike(cost):
    problem = small_motion(moments=2)
    muscles, passive = problem.muscles.parameters, problem.muscles.parameters.passive
    strong = replace(
        muscles,
        max_isometric_force=2.0 * muscles.max_isometric_force,
        passive=PassiveElement(2.0 * passive.force, passive.at_zero, passive.at_one),
    )
    found = solve_motion(problem, cost)
    strong = replace(problem.muscles, parameters=strong)
    doubled = solve_motion(replace(problem, muscles=strong, moment=2.0 * problem.moment), cost)
    assert doubled.activation == pytest.approx(found.activation, abs=2e-6)
    assert doubled.tendon_energy == pytest.approx(2.0 * found.tendon_energy, abs=1e-4)


@pytest.mark.parametrize("cost", ["activation_power", "force_squared"])
def test_two_halves_of_a_muscle_share_equally(cost):
    problem = small_motion(moments=2)
    muscles, passive = problem.muscles.parameters, problem.muscles.parameters.passive
    doubled = problem.muscles.muscles(np.repeat(np.arange(4), 2))
    half = replace(
        doubled.parameters,
        names=tuple(f"{name}_{part}" for name in muscles.names for part in "ab"),
        max_isometric_force=np.repeat(0.5 * muscles.max_isometric_force, 2),
        passive=PassiveElement(*(np.repeat(part, 2) for part in (0.5 * passive.force, *passive[1:]))),
    )
    twins = replace(
        problem,
        muscles=replace(doubled, parameters=half),
        moment_arm=np.repeat(problem.moment_arm, 2, axis=2),
        musculotendon_length=np.repeat(problem.musculotendon_length, 2, axis=1),
        musculotendon_velocity=np.repeat(problem.musculotendon_velocity, 2, axis=1),
        lower=0.0,
        upper=1.0,
    )
    found, whole = solve_motion(twins, cost), solve_motion(problem, cost)
    assert found.solved.all()
    assert found.activation[:, ::2] == pytest.approx(found.activation[:, 1::2], abs=1e-6)
    assert found.activation[:, ::2] == pytest.approx(whole.activation, abs=1e-5)


def test_multiplier_is_the_derivative_of_the_cost_by_a_moment():
    problem, found = solved(20, "stress_cubed", 2)
    step, at = 1e-3, (9, 1)
    changed = []
    for sign in (-1.0, 1.0):
        moment = problem.moment.copy()
        moment[at] += sign * step
        other = solve_motion(replace(problem, moment=moment), "stress_cubed")
        changed.append(float(problem.weight @ other.cost))
    slope = (changed[1] - changed[0]) / (2.0 * step)
    assert problem.weight[9] * found.multiplier[at] == pytest.approx(slope, rel=1e-3)


def test_multipliers_of_limits_are_derivatives_of_the_cost():
    """By a limit that gives way a little: the activation may fall or rise by so much more."""
    problem, found = solved(20, "activation_power", 1)
    assert found.falling_multiplier.min() >= 0.0 and found.rising_multiplier.min() >= 0.0
    excess = (
        found.activation[1:] - problem.limits.reach(found.activation[:-1], np.diff(problem.time)[:, None])[0]
    )
    tight = found.falling_multiplier > 1e-3 * np.abs(found.multiplier).max()
    assert tight.any() and np.abs(excess[tight]).max() < 1e-6
    assert found.falling_multiplier[excess > 1e-3].max() < 1e-6 * found.falling_multiplier.max()

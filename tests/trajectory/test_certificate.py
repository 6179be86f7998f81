"""The certificate: zero at optima in closed form, derivatives of a Lagrangian coded directly, and it grows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motion_cases import small_motion, small_muscles

from musclesolve import costs
from musclesolve.muscles.elastic.elastic_muscles import LEAST_ALONG, positive_part
from musclesolve.sharing.rate_limits import ActivationLimits
from musclesolve.trajectory import MotionProblem
from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.certificate import Certifier, Misses, MotionAttempt
from musclesolve.trajectory.motion_problem import MotionCost, TimeBasis, equilibrium
from musclesolve.trajectory.solve_motion import static_start

COSTS = ["stress_cubed", "activation_power", "activation_volume", "soft_saturation"]


def misses(problem: MotionProblem, cost: str, found: MotionAttempt) -> Misses:
    return Certifier(problem, MotionCost.from_cost(problem, cost)).misses(found)


def nothing(problem: MotionProblem, **given: np.ndarray) -> MotionAttempt:
    """An attempt whose multipliers are zero but for those given."""
    zero = np.zeros_like(problem.musculotendon_length)
    usual = {
        "coordinate": zero,
        "activation": zero,
        "multiplier": np.zeros_like(problem.moment),
        "balance_multiplier": zero,
        "coordinate_multiplier": zero,
        "limit_multiplier": np.zeros((2, *zero[1:].shape)),
    }
    return MotionAttempt(**(usual | given), iterations=0, method="by hand")


def one_muscle(limits=None) -> MotionProblem:
    """The first muscle behind a rigid tendon, and the moments of its force at some activations."""
    whole = small_motion()
    muscles = small_muscles(elastic=False).muscles(np.array([0]))
    path = whole.musculotendon_length[:, :1], whole.musculotendon_velocity[:, :1]
    still = np.zeros((20, 1))
    state = equilibrium(muscles, *path, still, still)
    activation = 0.4 + 0.2 * np.sin(np.arange(20.0))[:, None]
    force = 1200.0 * (activation * state.capacity.value + state.passive.value)
    return replace(
        whole,
        muscles=muscles,
        moment_arm=whole.moment_arm[:, :, :1],
        moment=whole.moment_arm[:, 0, :1] * force,
        musculotendon_length=path[0],
        musculotendon_velocity=path[1],
        lower=0.0,
        upper=1.0,
        limits=limits,
    )


@pytest.mark.parametrize("cost", ["stress_cubed", "force_squared"])
def test_zero_where_one_muscle_has_to_do_it(cost):
    """F = M / r, a = (F - F_p) / capacity; the multiplier is the marginal cost of the force over the lever."""
    problem = one_muscle()
    force = problem.moment / problem.moment_arm[:, 0]
    z = force / problem.muscles.parameters.max_isometric_force
    chosen = MotionCost.from_cost(problem, cost)
    state = Certifier(problem, chosen).state(z)
    active, load = state.active.value, chosen.load(state)
    by_tendon = chosen.slopes(load.value, active)[0] * load.slope / state.tendon.slope
    slope = by_tendon * problem.weight[:, None]
    by_hand = nothing(
        problem,
        coordinate=z,
        activation=active / state.capacity.value,
        multiplier=slope / problem.lever[:, 0],
    )
    assert misses(problem, cost, by_hand).residual.max() < 1e-12
    wrong = replace(by_hand, multiplier=1.01 * by_hand.multiplier)
    assert misses(problem, cost, wrong).states.min() > 1e-4
    assert misses(problem, cost, replace(by_hand, activation=by_hand.activation + 0.01)).balance.min() > 1e-3
    more = replace(problem, moment=1.01 * problem.moment)
    assert misses(more, cost, by_hand).moments.min() > 1e-3


def test_zero_where_the_cost_is_one_of_activation():
    """FiberBalance carries the marginal cost from the activation to the force: mu = -phi_a / g, lambda = -mu f / R."""
    problem = one_muscle()
    z = problem.moment / problem.lever[:, 0]
    cost = MotionCost.from_cost(problem, "activation_power")
    state = Certifier(problem, cost).state(z)
    activation = state.active.value / state.capacity.value
    slope = cost.slopes(activation, activation)[2] * problem.weight[:, None]
    mu = -slope / state.capacity.value
    by_hand = nothing(
        problem,
        coordinate=z,
        activation=activation,
        balance_multiplier=mu,
        multiplier=-mu / problem.lever[:, 0],
    )
    assert misses(problem, "activation_power", by_hand).residual.max() < 1e-12
    assert (
        misses(problem, "activation_power", replace(by_hand, balance_multiplier=0.9 * mu)).activations.max()
        > 1e-3
    )


def lagrangian(
    problem: MotionProblem, cost: str, c: np.ndarray, a: np.ndarray, found: MotionAttempt
) -> float:
    """Return the Lagrangian of certificate.py, from lengths, curves and multipliers alone."""
    basis, muscles = TimeBasis.from_times(problem.time), problem.muscles
    curves, optimal = muscles.curves, muscles.parameters.optimal_fiber_length
    z, y = basis.values(c), basis.rates(c)
    free = problem.musculotendon_length - muscles.rest - muscles.stretch * z
    along = positive_part(free, LEAST_ALONG * optimal)
    fiber = np.hypot(along, optimal * np.sin(muscles.parameters.pennation_angle))
    cosine = along / fiber
    speed = (problem.musculotendon_velocity - muscles.stretch * y) * cosine
    passive = muscles.parameters.passive
    share = (fiber / optimal - 1.0 - passive.at_zero) / (passive.at_one - passive.at_zero)
    borne = passive.force / muscles.parameters.max_isometric_force * curves.passive(share).value * cosine
    rate = speed / (muscles.parameters.max_shortening_velocity * optimal)
    capacity = curves.active(fiber / optimal).value * curves.velocity(rate).value * cosine
    tendon = curves.tendon(z).value
    moment = np.einsum("tkn,n,tn->tk", problem.moment_arm, muscles.parameters.max_isometric_force, tendon)
    steps = np.diff(problem.time)
    weight = 0.5 * (np.append(steps, 0.0) + np.append(0.0, steps)) / steps.mean()
    e_a, e_d = problem.limits.decay(steps[:, None])
    chosen = MotionCost.from_cost(problem, cost)
    slack = np.stack([a[1:] - e_d * a[:-1], 1.0 - e_a * (1.0 - a[:-1]) - a[1:]])
    terms = (
        weight * chosen.value((tendon - borne) / (cosine if chosen.along_fibers else 1.0), a),
        -found.multiplier * (moment - problem.moment),
        -found.balance_multiplier * (tendon - a * capacity - borne),
        -found.coordinate_multiplier * z,
        -found.limit_multiplier * slack,
    )
    return float(sum(term.sum() for term in terms))


def gradient(value, x: np.ndarray, step: float) -> np.ndarray:
    found = np.empty_like(x)
    for at in np.ndindex(*x.shape):
        change = np.zeros_like(x)
        change[at] = step
        near, far = (value(x + k * change) - value(x - k * change) for k in (1.0, 2.0))
        found[at] = (8.0 * near - far) / (12.0 * step)  # exact for cubics
    return found


def balanced_by_differences(problem: MotionProblem, cost: str, size: float) -> MotionAttempt:
    """Random states, multipliers of moments and limits; those of balance and bounds from differences.

    The Lagrangian is linear in them, so that its derivatives by a and c vanish for one choice of each.
    """
    random, shape = np.random.default_rng(5), problem.musculotendon_length.shape
    wave = np.sin(2.0 * np.pi * (problem.time[:, None] / problem.time[-1] + random.random(shape[1])))
    z, a = 0.5 + 0.15 * wave, random.uniform(0.3, 0.6, shape)
    basis = TimeBasis.from_times(problem.time)
    c = basis.coefficients(z)
    found = nothing(
        problem,
        coordinate=z,
        activation=a,
        multiplier=size * random.normal(size=problem.moment.shape),
        limit_multiplier=size * random.uniform(0.0, 2.0, (2, shape[0] - 1, shape[1])),
    )
    ones = replace(found, balance_multiplier=np.ones(shape))
    by_a = gradient(lambda x: lagrangian(problem, cost, c, x, found), a, 1e-2)
    per_mu = gradient(lambda x: lagrangian(problem, cost, c, x, ones), a, 1e-2) - by_a
    found = replace(found, balance_multiplier=-by_a / per_mu)
    by_c = gradient(lambda x: lagrangian(problem, cost, x, a, found), c, 1e-5)
    value = basis.values(np.eye(shape[0]))
    return replace(found, coordinate_multiplier=np.linalg.solve(value.T, by_c))


@pytest.mark.in_part(2)
@pytest.mark.parametrize("cost", COSTS)
def test_lines_of_states_and_activations_are_the_derivatives_of_the_lagrangian(cost):
    problem = small_motion(frames=7, moments=2, family="millard_2013")
    uneven = problem.time + 0.003 * np.sin(np.arange(7.0))
    problem = replace(problem, time=uneven)
    half = np.full(problem.musculotendon_length.shape, 0.5)
    size = np.abs(MotionCost.from_cost(problem, cost).slopes(half, half)[0::2]).max() / 10.0
    found = balanced_by_differences(problem, cost, size)
    line = misses(problem, cost, found)
    assert line.states.max() < 1e-6 and line.activations.max() < 1e-6
    for name in ("multiplier", "balance_multiplier", "coordinate_multiplier", "limit_multiplier"):
        changed = replace(found, **{name: 1.01 * getattr(found, name)})
        now = misses(problem, cost, changed)
        assert max(now.states.max(), now.activations.max()) > 1e-4, name


@pytest.fixture(scope="module", params=["stress_cubed", "activation_power"])
def optimum(request):
    problem = small_motion(moments=2)
    cost = MotionCost.from_cost(problem, request.param)
    return (
        problem,
        request.param,
        BandedInteriorPoint().solve(problem, cost, static_start(problem, cost.cost)[:2]),
    )


def test_it_grows_with_every_change(optimum):
    problem, cost, found = optimum
    base = misses(problem, cost, found).residual.max()
    assert base <= 1e-6
    shape = found.activation.shape
    single = np.zeros(shape)
    single[8, 2] = 1.0
    changes = {
        "coordinate": single,
        "activation": single,
        "balance_multiplier": single
        * max(np.abs(found.balance_multiplier).max(), 1e-3 * np.abs(found.multiplier).max()),
        "coordinate_multiplier": single * np.abs(found.multiplier).max(),
        "multiplier": np.eye(20, 2) * np.abs(found.multiplier).max(),
    }
    for name, change in changes.items():
        sizes = [
            misses(
                problem, cost, replace(found, **{name: getattr(found, name) + eps * change})
            ).residual.max()
            for eps in (1e-4, 1e-3, 1e-2)
        ]
        assert base < sizes[0] < sizes[1] < sizes[2], (name, sizes)
        assert sizes[0] > 1e-6 and sizes[2] > 1e-4, (name, sizes)


def test_multipliers_of_limits_count(optimum):
    problem, cost, found = optimum
    if found.limit_multiplier.max() > 1e-3 * np.abs(found.multiplier).max():
        none = replace(found, limit_multiplier=np.zeros_like(found.limit_multiplier))
        assert misses(problem, cost, none).activations.max() > 1e-4
    more = found.limit_multiplier.copy()
    slack = ActivationLimits.from_rate_limits(problem.limits, problem.time).slack(found.activation)
    loose = np.unravel_index(slack.argmax(), slack.shape)
    more[loose] += np.abs(found.multiplier).max()
    assert misses(problem, cost, replace(found, limit_multiplier=more)).limits.max() > 1e-3


def test_a_multiplier_of_the_wrong_sign_counts(optimum):
    """A bound holds from one side only."""
    problem, cost, found = optimum
    low = np.unravel_index(found.coordinate_multiplier.argmax(), found.coordinate_multiplier.shape)
    turned = found.coordinate_multiplier.copy()
    turned[low] = -np.abs(found.multiplier).max()
    assert misses(problem, cost, replace(found, coordinate_multiplier=turned)).coordinates.max() > 1e-3
    fell = found.limit_multiplier.copy()
    fell[0, 3, 1] = -np.abs(found.multiplier).max()
    assert misses(problem, cost, replace(found, limit_multiplier=fell)).limits.max() > 1e-6


@pytest.mark.every_pair
@pytest.mark.parametrize(
    "name", ["coordinate", "activation", "multiplier", "balance_multiplier", "limit_multiplier"]
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_have_no_certificate(optimum, name, value):
    problem, cost, found = optimum
    broken = getattr(found, name).copy()
    broken[(1,) * broken.ndim] = value
    assert misses(problem, cost, replace(found, **{name: broken})).residual.max() > 1e-3


def test_the_unit_of_the_cost_does_not_matter(optimum):
    problem, cost, found = optimum
    names = ("multiplier", "balance_multiplier", "coordinate_multiplier", "limit_multiplier")
    moved = replace(found, coordinate=found.coordinate + 1e-4)
    scaled = replace(moved, **{name: 1e5 * getattr(moved, name) for name in names})
    chosen = MotionCost.from_cost(problem, 1e5 * costs()[cost]())
    np.testing.assert_allclose(
        Certifier(problem, chosen).misses(scaled).residual, misses(problem, cost, moved).residual, rtol=1e-8
    )

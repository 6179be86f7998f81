"""The certificate: zero at optima in closed form, the fall of a Lagrangian coded directly, and it grows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motion_cases import small_motion, small_muscles

from musclesolve import costs
from musclesolve.muscles.elastic.elastic_muscles import LEAST_ALONG, positive_part
from musclesolve.sharing.rate_limits import ActivationLimits, RateLimits
from musclesolve.trajectory import MotionProblem
from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.certificate import STATIONARY_GAP, Certifier, MotionAttempt, StationaryCertificate
from musclesolve.trajectory.motion_problem import MotionCost, TimeBasis, equilibrium
from musclesolve.trajectory.solve_motion import static_start

COSTS = ["stress_cubed", "activation_power", "activation_volume", "soft_saturation"]


def certificate(problem: MotionProblem, cost: str, found: MotionAttempt) -> StationaryCertificate:
    return Certifier(problem, MotionCost.from_cost(problem, cost)).certificate(found)


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
    found = certificate(problem, cost, by_hand)
    assert found.gap.max() < 1e-12 and found.moment_error.max() < 1e-12 and found.holds.all()
    assert np.isnan(found.cost_bound).all()
    exponent = {"stress_cubed": 3.0, "force_squared": 2.0}[cost]
    assert found.unit == pytest.approx(problem.weight * exponent * chosen.value(load.value, active))
    wrong = replace(by_hand, multiplier=1.01 * by_hand.multiplier)
    assert certificate(problem, cost, wrong).gap.min() > 1e-4
    wrong = certificate(problem, cost, replace(by_hand, activation=by_hand.activation + 0.01))
    assert wrong.moment_error.min() > 1e-3 and not wrong.holds.any()
    more = certificate(replace(problem, moment=1.01 * problem.moment), cost, by_hand)
    assert more.moment_error.min() > 1e-3 and more.moment_cost.min() > 1e-3 and not more.holds.any()


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
    assert certificate(problem, "activation_power", by_hand).gap.max() < 1e-12
    less = certificate(problem, "activation_power", replace(by_hand, balance_multiplier=0.9 * mu))
    assert less.gap.min() > 1e-3


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


def fall(slope: np.ndarray, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    return float((slope * (x - np.where(slope > 0.0, low, high))).sum())


@pytest.mark.in_part(2)
@pytest.mark.parametrize("cost", COSTS)
def test_the_gap_is_the_fall_of_the_lagrangian_to_the_bounds(cost):
    """Of random states and multipliers, by differences of the Lagrangian at uneven times."""
    problem = small_motion(frames=7, moments=2, family="millard_2013")
    problem = replace(problem, time=problem.time + 0.003 * np.sin(np.arange(7.0)))
    random, shape = np.random.default_rng(5), problem.musculotendon_length.shape
    half = np.full(shape, 0.5)
    chosen = MotionCost.from_cost(problem, cost)
    size = np.abs(chosen.slopes(half, half)[0::2]).max() / 10.0
    wave = np.sin(2.0 * np.pi * (problem.time[:, None] / problem.time[-1] + random.random(shape[1])))
    found = nothing(
        problem,
        coordinate=0.5 + 0.15 * wave,
        activation=random.uniform(0.3, 0.6, shape),
        multiplier=size * random.normal(size=problem.moment.shape),
        balance_multiplier=size * random.normal(size=shape),
        limit_multiplier=size * random.uniform(0.0, 2.0, (2, shape[0] - 1, shape[1])),
    )
    basis, certifier = TimeBasis.from_times(problem.time), Certifier(problem, chosen)
    z, a = found.coordinate, found.activation
    c = basis.coefficients(z)
    by_a = gradient(lambda x: lagrangian(problem, cost, c, x, found), a, 1e-2)
    by_c = gradient(lambda x: lagrangian(problem, cost, x, a, found), c, 1e-5)
    by_z = np.linalg.solve(basis.values(np.eye(shape[0])).T, by_c)
    slack = problem.activation_limits.slack(a)
    expected = fall(by_a, a, problem.lower, problem.upper) + fall(by_z, z, *certifier.bounds)
    expected += (found.limit_multiplier * np.maximum(slack, 0.0)).sum()
    certified = certifier.certificate(found)
    assert certified.gap[0] * certified.unit.sum() == pytest.approx(expected, rel=1e-7)
    state = certifier.state(z)
    short = np.einsum("tkn,tn->tk", problem.lever, state.tendon.value) - problem.moment
    miss_cost = (np.abs(found.multiplier * short)).sum() + np.abs(
        found.balance_multiplier * state.imbalance(a)
    ).sum()
    miss_cost += (found.limit_multiplier * np.maximum(-slack, 0.0)).sum()
    assert certified.moment_cost[0] * certified.unit.sum() == pytest.approx(miss_cost, rel=1e-9)


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
    base = certificate(problem, cost, found).worst.max()
    assert base <= 1.0
    single = np.zeros(found.activation.shape)
    single[8, 2] = 1.0
    changes = {
        "coordinate": single,
        "activation": single,
        "balance_multiplier": single
        * max(np.abs(found.balance_multiplier).max(), 1e-3 * np.abs(found.multiplier).max()),
        "multiplier": np.eye(20, 2) * np.abs(found.multiplier).max(),
    }
    for name, change in changes.items():
        sizes = [
            certificate(
                problem, cost, replace(found, **{name: getattr(found, name) + eps * change})
            ).worst.max()
            for eps in (1e-4, 1e-3, 1e-2)
        ]
        assert base < sizes[0] < sizes[1] < sizes[2], (name, sizes)
        assert sizes[0] > 1.0 and sizes[2] > 100.0, (name, sizes)


def test_a_motion_off_by_a_thousandth_that_meets_the_moments_is_not_certified(optimum):
    """Muscles share the moments of four frames otherwise; the gap alone would show it."""
    problem, cost, found = optimum
    certifier = Certifier(problem, MotionCost.from_cost(problem, cost))
    state = certifier.state(found.coordinate)
    active = (found.activation > 0.03).sum(axis=1) > 2
    first = int(np.flatnonzero(active & np.roll(active, -1) & np.roll(active, -2) & np.roll(active, -3))[0])
    change = np.zeros_like(found.coordinate)  # of the forces, without moment
    for t, size in zip(range(first, first + 4), (0.3, 1.0, 1.0, 0.3), strict=True):
        free = found.activation[t] > 0.03
        way = np.linalg.svd(problem.lever[t][:, free])[2][-1]
        change[t, free] = 7e-5 * size * way * np.sign(way[0]) / np.abs(way).max()
    z = found.coordinate + change / state.tendon.slope
    moved = certifier.state(z)
    activation = np.clip(moved.active.value / moved.capacity.value, problem.lower, problem.upper)
    spoiled = replace(found, coordinate=z, activation=activation)
    worse = certifier.certificate(spoiled)
    assert 5e-4 < np.abs(activation - found.activation).max() < 2e-3
    assert worse.gap.min() > 100.0 * STATIONARY_GAP and not worse.holds.any()
    produced = np.einsum("tkn,tn->tk", problem.lever, moved.tendon.value)
    np.testing.assert_allclose(produced, problem.moment, atol=1e-5)


def test_multipliers_of_limits_count(optimum):
    problem, cost, found = optimum
    base = certificate(problem, cost, found)
    none = replace(found, limit_multiplier=np.zeros_like(found.limit_multiplier))
    assert certificate(problem, cost, none).gap.min() > 1e-4
    turned = replace(found, limit_multiplier=-found.limit_multiplier)  # of no use with the wrong sign
    np.testing.assert_array_equal(
        certificate(problem, cost, turned).gap, certificate(problem, cost, none).gap
    )
    more = found.limit_multiplier.copy()
    slack = ActivationLimits.from_rate_limits(problem.limits, problem.time).slack(found.activation)
    loose = np.unravel_index(slack.argmax(), slack.shape)
    more[loose] += base.unit.sum()
    assert certificate(problem, cost, replace(found, limit_multiplier=more)).gap.min() > slack[loose]


def test_limits_that_are_violated_are_not_certified(optimum):
    """An optimum, for muscles that are slower by a thousandth."""
    problem, cost, found = optimum
    slower = RateLimits(1.001 * problem.limits.activation_time, 1.001 * problem.limits.deactivation_time)
    worse = certificate(replace(problem, limits=slower), cost, found)
    assert worse.moment_error.max() > 1e-5 and not worse.holds.all()


@pytest.mark.every_pair
@pytest.mark.parametrize(
    "name", ["coordinate", "activation", "multiplier", "balance_multiplier", "limit_multiplier"]
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_have_no_certificate(optimum, name, value):
    problem, cost, found = optimum
    broken = getattr(found, name).copy()
    broken[(1,) * broken.ndim] = value
    assert (certificate(problem, cost, replace(found, **{name: broken})).worst == np.inf).any()


@pytest.mark.parametrize("size", [1e-20, 1e20])
def test_the_unit_of_the_cost_does_not_matter(optimum, size):
    problem, cost, found = optimum
    names = ("multiplier", "balance_multiplier", "coordinate_multiplier", "limit_multiplier")
    moved = replace(found, coordinate=found.coordinate + 1e-4)
    scaled = replace(moved, **{name: size * getattr(moved, name) for name in names})
    plain = certificate(problem, cost, moved)
    again = Certifier(problem, MotionCost.from_cost(problem, size * costs()[cost]())).certificate(scaled)
    for name in ("gap", "moment_error", "moment_cost"):
        np.testing.assert_allclose(getattr(again, name), getattr(plain, name), rtol=1e-8)


def test_muscles_that_are_held_leave_the_unit_to_the_reserves():
    """All muscles off: nothing can be shared otherwise, and reserves alone cost anything."""
    problem = replace(small_motion(), upper=0.0, reserve_weight=2.0)
    cost = MotionCost.from_cost(problem, "activation_power")
    found = BandedInteriorPoint().solve(problem, cost, static_start(problem, cost.cost)[:2])
    certified = Certifier(problem, cost).certificate(found)
    reserve = problem.compliance * found.multiplier
    assert certified.holds.all() and (certified.gap == 0.0).all()
    assert certified.unit == pytest.approx(problem.weight * 2.0 * np.square(reserve).sum(axis=1))

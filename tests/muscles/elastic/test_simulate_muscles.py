"""Muscles through time against an independent formulation, their energy, and rigid tendons as a limit."""

import numpy as np
import pytest
from elastic_muscle import THREE, elastic_muscles, path_length, three_muscles
from refusals import refused
from scipy.integrate import simpson, solve_ivp
from scipy.optimize import brentq

from musclesolve.muscles.curves.curve_family import CURVES, curve_family
from musclesolve.muscles.driving.activation_dynamics import ActivationDynamics
from musclesolve.muscles.elastic.simulate_muscles import simulate_muscles
from musclesolve.muscles.elastic.smooth_curves import tendon_of_family

TIME = np.linspace(0.0, 0.1, 21)
STRAIN = 0.049


def soft(x, width):
    """The bend with which curves stay positive (smooth_curves.py)."""
    return 0.5 * (x + np.sqrt(x * x + width * width))


class Reference:
    """One muscle with its fiber length as the state, and the curves of a family themselves, by scipy alone."""

    def __init__(self, family, k, length, activation):
        self.curves, self.tendon, self.length, self.activation = (
            family,
            tendon_of_family(family.name),
            length,
            activation,
        )
        numbers = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")
        self.norm, self.optimal, self.slack, angle = (THREE[name][k] for name in numbers)
        self.thickness = self.optimal * np.sin(angle)
        self.fastest = THREE["max_shortening_velocity"][k] * self.optimal
        self.passive = [part[k] for part in THREE["passive"]]

    def tendon_force(self, time, fiber):
        """Over F0."""
        along = np.sqrt(fiber**2 - self.thickness**2)
        unbent = along - (2e-3 * self.optimal) ** 2 / (
            4.0 * along
        )  # along = soft(unbent), elastic_muscles.py
        strain = (self.length(time) - unbent) / self.slack - 1.0
        start = self.tendon.strain_at_start
        return float(self.tendon.force((strain - start) / (STRAIN - start)))

    def factor(self, velocity):
        """Return the factor of velocity; it is straight beyond the greatest velocity."""
        inside = min(max(velocity, -1.0), 1.0)
        slope = float(self.curves.velocity_slope(np.copysign(1.0 - 1e-9, inside)))
        return soft(float(self.curves.velocity(inside)), 2e-3) + max(slope, 0.1) * (velocity - inside)

    def velocity(self, time, fiber):
        """Return the velocity of the fiber [m/s] at which it bears the force of the tendon."""
        force, zero, one = self.passive
        norm_length = fiber / self.optimal
        active = self.activation(time) * soft(float(self.curves.active(norm_length)), 2e-3)
        share = soft((norm_length - 1.0 - zero) / (one - zero), 0.02)
        passive = force / self.norm * float(self.curves.passive(1.0 + zero + share * (one - zero), zero, one))
        wanted = self.tendon_force(time, fiber) * fiber / np.sqrt(fiber**2 - self.thickness**2) - passive
        return brentq(lambda v: active * self.factor(v) - wanted, -300.0, 300.0, xtol=1e-14) * self.fastest

    def solve(self, fiber, time):
        """Fiber lengths at times [m]."""
        found = solve_ivp(
            lambda t, state: [self.velocity(t, state[0])],
            (time[0], time[-1]),
            [fiber],
            method="Radau",
            t_eval=time,
            rtol=1e-8,
            atol=1e-10,
        )
        return found.y[0]


def isometric(first):
    """Becomes active at one length."""
    return lambda t: first, lambda t: 0.0, lambda t: 0.1 + 0.6 * np.sin(10.0 * t) ** 2


def stretched(first):
    """At one speed from 20 ms on, at a steady activation."""
    return (
        lambda t: first + 0.15 * 0.003 * np.log1p(np.exp((t - 0.02) / 0.003)),
        lambda t: 0.15 / (1.0 + np.exp(-(t - 0.02) / 0.003)),
        lambda t: 0.4,
    )


def released(first):
    """Shortens by 16 mm about 50 ms, fast, while the tendon recoils."""
    return (
        lambda t: first - 0.008 * np.tanh((t - 0.05) / 0.012),
        lambda t: -0.008 / 0.012 / np.cosh((t - 0.05) / 0.012) ** 2,
        lambda t: 0.6,
    )


@pytest.mark.parametrize(
    ("case", "family", "tolerance"),
    [
        (isometric, "de_groote_2016", 1e-6),
        (stretched, "de_groote_2016", 1e-6),
        (released, "de_groote_2016", 1e-6),
        (isometric, "millard_2013", 1e-6),
        (released, "thelen_2003", 5e-5),
    ],
)
def test_fibers_follow_as_in_an_independent_formulation(case, family, tolerance):
    """Fiber length as the state, force-velocity solved by brentq: the same to 1e-6 L0 and 1e-6 F0.

    The curve of Thelen has a corner at rest, which a spline makes round: 5e-5.
    """
    muscles, k = elastic_muscles(family), 0
    paths = [case(first) for first in path_length(muscles, 1.1)]
    found = simulate_muscles(
        muscles,
        TIME,
        lambda t: np.stack([length(t) + 0.0 * t for length, _, _ in paths], axis=1),
        lambda t: np.tile((paths[0][2](t) + 0.0 * t)[:, None], 3),
        velocity=lambda t: np.stack([rate(t) + 0.0 * t for _, rate, _ in paths], axis=1),
    )
    reference = Reference(curve_family(family), k, paths[k][0], paths[k][2])
    fiber = reference.solve(found.fiber_length[0, k], TIME)
    force = [reference.tendon_force(*at) for at in zip(TIME, fiber, strict=True)]
    assert np.ptp(fiber) > 0.05 * reference.optimal and np.ptp(force) > 0.1
    np.testing.assert_allclose(found.fiber_length[:, k], fiber, rtol=0, atol=tolerance * reference.optimal)
    np.testing.assert_allclose(found.force[:, k] / reference.norm, force, rtol=0, atol=tolerance)
    velocity = [reference.velocity(*at) for at in zip(TIME, fiber, strict=True)]
    np.testing.assert_allclose(
        found.fiber_velocity[:, k], velocity, rtol=0, atol=10.0 * tolerance * reference.fastest
    )


def stride(muscles, time):
    """Lengths (T, n) that rise and fall."""
    swing = 0.15 * muscles.parameters.optimal_fiber_length * np.sin(2.0 * np.pi * time[:, None] / 0.3)
    return path_length(muscles, 1.0) + swing


@pytest.mark.parametrize("family", CURVES)
def test_work_of_fibers_is_energy_of_tendons_and_work_on_the_skeleton(family):
    muscles, time = elastic_muscles(family), np.linspace(0.0, 0.12, 13)
    found = simulate_muscles(muscles, time, stride(muscles, time), 0.35)
    stored = found.tendon_energy - found.tendon_energy[0]
    size = np.abs(found.fiber_work).max(axis=0)
    assert (np.ptp(stored, axis=0) > 0.01 * size).all()
    np.testing.assert_allclose(
        (found.fiber_work - found.skeleton_work) / size, stored / size, rtol=0, atol=1e-6
    )


def test_work_is_the_integral_of_power():
    """Over 401 frames, by Simpson's rule: of the fiber from its velocity, on the skeleton from that of the path."""
    muscles, time = elastic_muscles(), np.linspace(0.0, 0.2, 401)
    found = simulate_muscles(muscles, time, stride(muscles, time), 0.35)
    size = np.abs(found.fiber_work).max()
    of_fiber = simpson(found.fiber_power, x=time, axis=0)
    on_skeleton = simpson(-found.force * found.musculotendon_velocity, x=time, axis=0)
    np.testing.assert_allclose(found.fiber_work[-1], of_fiber, rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(found.skeleton_work[-1], on_skeleton, rtol=0, atol=1e-6 * size)


def test_fiber_velocity_is_the_rate_of_fiber_length():
    muscles, time = elastic_muscles("millard_2013"), np.linspace(0.0, 0.1, 1001)
    found = simulate_muscles(muscles, time, stride(muscles, time), 0.35)
    rate = np.gradient(found.fiber_length, time, axis=0, edge_order=2)[2:-2]
    assert np.abs(rate).max() > 0.05
    np.testing.assert_allclose(found.fiber_velocity[2:-2], rate, rtol=0, atol=2e-4)


def rigid_force(family, length, velocity, activation):
    """Tendon force behind a rigid tendon (hill_model.py), passive part included [N]."""
    muscles = three_muscles(family)
    capacity, passive = muscles.forces(muscles.fibers(length, velocity))
    return activation * capacity + passive


@pytest.mark.parametrize("family", ["millard_2013", "thelen_2003"])
def test_a_stiff_tendon_approaches_a_rigid_one(family):
    """The difference falls with the strain, down to what the bends of the curves make."""
    rigid, time = elastic_muscles(family, elastic=False), TIME[:13]
    length, misses = stride(rigid, time), []
    expected = simulate_muscles(rigid, time, length, 0.35)
    for strain in (4e-3, 4e-4, 4e-5):
        found = simulate_muscles(elastic_muscles(family, strain), time, length, 0.35)
        misses.append(np.abs((found.force - expected.force) / rigid.parameters.max_isometric_force).max())
    assert misses[0] > 3.0 * misses[1] > 9.0 * misses[2] and misses[2] < 5e-4
    path = expected.musculotendon_length, expected.musculotendon_velocity
    by_hill = rigid_force(family, *path, 0.35) / rigid.parameters.max_isometric_force
    np.testing.assert_allclose(
        expected.force / rigid.parameters.max_isometric_force, by_hill, rtol=0, atol=5e-4
    )


def test_a_muscle_without_a_tendon_is_rigid_beside_elastic_ones():
    slack = [0.26, 0.0, 0.05]
    muscles = elastic_muscles(tendon_slack_length=slack)
    length = stride(muscles, TIME)
    found = simulate_muscles(muscles, TIME, length, 0.35)
    rigid = simulate_muscles(elastic_muscles(tendon_slack_length=slack, elastic=False), TIME, length, 0.35)
    differ = np.abs(found.force - rigid.force).max(axis=0) / muscles.parameters.max_isometric_force
    assert differ[1] < 1e-12 and min(differ[0], differ[2]) > 1e-3
    assert not found.tendon_energy[:, 1].any()


def test_it_starts_in_balance_and_stays_there_while_nothing_changes():
    muscles = elastic_muscles()
    found = simulate_muscles(muscles, TIME, path_length(muscles, 1.05), 0.4)
    np.testing.assert_allclose(
        found.coordinate, np.broadcast_to(found.coordinate[0], found.coordinate.shape), atol=1e-9
    )
    assert (
        np.abs(found.fiber_velocity).max() < 1e-8
        and (found.force > 0.3 * muscles.parameters.max_isometric_force).all()
    )


def test_a_slack_tendon_bears_nothing_until_the_fiber_has_taken_it_up():
    """The path shortens by half of a fiber in 20 ms, faster than fibers can, then keeps its length."""
    muscles = elastic_muscles()
    time = np.linspace(0.0, 0.25, 126)
    first, drop = path_length(muscles, 1.2), 0.5 * muscles.parameters.optimal_fiber_length
    length = first - drop * np.clip(time / 0.02, 0.0, 1.0)[:, None]
    rate = np.where(time[:, None] <= 0.02, -drop / 0.02, 0.0)
    found = simulate_muscles(muscles, time, length, 0.5, velocity=rate)
    slack = found.coordinate < muscles.start
    assert slack.any(axis=0).all() and not found.force[slack].any() and not found.tendon_energy[slack].any()
    optimal = muscles.parameters.optimal_fiber_length
    speed = found.fiber_velocity / (muscles.parameters.max_shortening_velocity * optimal)
    unloaded = slack & (found.fiber_length < 0.85 * optimal)  # nor any passive force
    assert unloaded.any(axis=0).all()
    np.testing.assert_allclose(speed[unloaded], -1.0, atol=0.01)
    assert (found.force[-1] > 0.05 * muscles.parameters.max_isometric_force).all() and np.abs(
        speed[-1]
    ).max() < 1e-3


def test_an_excitation_acts_through_activation_dynamics():
    muscles = elastic_muscles()
    length = path_length(muscles, 1.0)
    how = ActivationDynamics(activation_time=0.015)
    excited = simulate_muscles(muscles, TIME, length, excitation={"soleus_r": 0.8}, dynamics=how)
    course = how.activation(("soleus_r",), lambda t: np.full((len(t), 1), 0.8), TIME)(TIME)
    np.testing.assert_allclose(excited.activation[:, :1], course, atol=1e-12)
    assert excited.activation[:, 1:].max() == 0.01  # the least without damping


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "missing_argument"),
        ({"activation": 0.2, "excitation": 0.2}, "conflict"),
        ({"activation": 0.2, "dynamics": ActivationDynamics()}, "conflict"),
        ({"activation": 1.2}, "bad_number"),
        ({"activation": {"soleus_l": 0.2}}, "unknown_name"),
        ({"activation": 0.2, "damping": -0.1}, "bad_number"),
        ({"activation": 0.2, "velocity": np.zeros((21, 3))}, "conflict"),
        ({"activation": 0.2, "velocity": lambda t: np.zeros((len(t), 3))}, "conflict"),
        ({"activation": 0.2, "length": lambda t: np.ones((len(t), 3))}, "missing_argument"),
        ({"activation": 0.2, "length": np.ones((20, 3))}, "bad_shape"),
        ({"activation": 0.2, "length": np.full(3, np.nan)}, "not_finite"),
    ],
)
def test_what_contradicts_itself_is_refused(given, code):
    muscles = elastic_muscles()
    with refused(code):
        simulate_muscles(muscles, TIME, **({"length": path_length(muscles, 1.0)} | given))

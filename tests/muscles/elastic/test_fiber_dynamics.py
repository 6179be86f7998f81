"""The balance of fiber and tendon, solved for the rate or for a state of rest."""

import numpy as np
import pytest
from elastic_muscle import elastic_muscles, path_length
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from musclesolve.muscles.curves.curve_family import CURVES
from musclesolve.muscles.elastic.fiber_dynamics import (
    LEAST_ACTIVATION,
    LEAST_SLOPE,
    FiberDynamics,
    LengtheningCurves,
)

FAMILIES = pytest.mark.parametrize("family", CURVES)


def random_states(muscles, count=200):
    rng = np.random.default_rng(3)
    shape = count, 3
    length = path_length(muscles, rng.uniform(0.6, 1.4, shape), rng.uniform(-0.01, 0.05, shape))
    return length, rng.normal(0.0, 0.3, shape), rng.uniform(-0.2, 1.2, shape), rng.uniform(0.0, 1.0, shape)


@FAMILIES
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_at_the_rate_fiber_and_tendon_bear_the_same(family, damping):
    """Slack and taut, shortening and lengthening, at all activations."""
    muscles = elastic_muscles(family)
    fibers = FiberDynamics(muscles, damping)
    length, velocity, z, activation = random_states(muscles)
    activation[:20] = 0.0
    forces = fibers.forces(length, z)
    rate = fibers.rate(forces, velocity, activation)
    borne = fibers.fiber_force(length, velocity, z, activation, rate)
    np.testing.assert_allclose(borne, forces.tendon, atol=1e-10)
    assert (z < muscles.start).any() and not forces.tendon[z < muscles.start].any()


@FAMILIES
def test_equilibrium_is_at_rest_and_is_returned_to(family):
    """The rate there is the given one, and opposes every departure."""
    muscles = elastic_muscles(family)
    fibers = FiberDynamics(muscles)
    length, velocity, _, activation = random_states(muscles)
    for wanted in (0.0, 1.5):
        z = fibers.equilibrium(length, activation, velocity, wanted)
        tendon = fibers.forces(length, z).tendon
        borne = fibers.fiber_force(length, velocity, z, activation, wanted)
        np.testing.assert_allclose(
            tendon, np.maximum(borne, 0.0), atol=1e-12
        )  # slack: faster than it can shorten
        assert (tendon > 1e-3).mean() > 0.9
    z = fibers.equilibrium(length, activation, 0.0 * velocity)
    up, down = (fibers.rate(fibers.forces(length, z + d), 0.0 * velocity, activation) for d in (1e-4, -1e-4))
    assert (up < 0.0).all() and (down > 0.0).all()


@FAMILIES
def test_a_fiber_without_load_shortens_at_the_maximum_velocity(family):
    muscles = elastic_muscles(family)
    fibers = FiberDynamics(muscles)
    length, z = path_length(muscles, 0.8)[None], muscles.start[None] - 0.1
    velocity = fibers.fiber_velocity(fibers.forces(length, z), np.ones((1, 3)))
    np.testing.assert_allclose(velocity, -1.0, atol=0.02)


def test_without_damping_a_silent_muscle_counts_as_little_active():
    muscles = elastic_muscles()
    silent, little = np.zeros((1, 3)), np.full((1, 3), LEAST_ACTIVATION)
    length, z = path_length(muscles, 1.0)[None], np.full((1, 3), 0.3)
    for damping, same in ((0.0, True), (0.1, False)):
        fibers = FiberDynamics(muscles, damping)
        forces = fibers.forces(length, z)
        rates = [fibers.rate(forces, np.zeros((1, 3)), a) for a in (silent, little)]
        assert np.isfinite(rates).all() and np.array_equal(*rates) == same


@FAMILIES
def test_curves_for_lengthening_rise_and_are_those_of_the_muscle_where_it_is_not_flat(family):
    smooth = elastic_muscles(family).curves.velocity
    curve = LengtheningCurves.from_force_velocity(smooth)
    v = np.tile(np.linspace(-1.6, 1.6, 2001)[:, None], 3)
    assert np.diff(curve(v), axis=0).min() >= 0.99 * LEAST_SLOPE * 1.6e-3
    corner = 0.0 if family == "thelen_2003" else 0.2  # where a spline cannot follow
    within = (v > -0.98) & (v < 0.19) & (np.abs(v - corner) > 0.01)
    np.testing.assert_allclose(curve(v)[within], smooth(v).value[within], atol=1e-6)


@FAMILIES
@settings(derandomize=True, max_examples=60)
@given(
    st.one_of(st.floats(-5.0, 5.0), st.integers(-1500, 1500).map(lambda k: k / 1000.0)),
    st.floats(1e-5, 1.0),
    st.sampled_from([0.0, 0.1]),
)
def test_the_velocity_is_found_again(family, velocity, strength, damping):
    """At samples of the curve too."""
    curve = LengtheningCurves.from_force_velocity(elastic_muscles(family).curves.velocity)
    v = np.full((1, 3), velocity)
    force = strength * curve(v) + damping * v
    np.testing.assert_allclose(curve.solve(np.full((1, 3), strength), damping, force), v, atol=1e-9)


def test_a_damping_that_drives_is_refused():
    with refused("bad_number", "damping"):
        FiberDynamics(elastic_muscles(), -0.1)

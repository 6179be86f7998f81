"""The balance of fiber and tendon, at rest or at a given rate."""

import numpy as np
import pytest
from elastic_muscle import elastic_muscles, path_length
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
def test_in_equilibrium_fiber_and_tendon_bear_the_same(family):
    """At the given rate; a fiber that would have to shorten faster than it can is slack."""
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


def test_without_damping_a_silent_muscle_counts_as_little_active():
    muscles = elastic_muscles()
    silent, little = np.zeros((1, 3)), np.full((1, 3), LEAST_ACTIVATION)
    length, z = path_length(muscles, 1.0)[None], np.full((1, 3), 0.3)
    for damping, same in ((0.0, True), (0.1, False)):
        borne = [FiberDynamics(muscles, damping).fiber_force(length, 0.0 * z, z, a) for a in (silent, little)]
        assert np.array_equal(*borne) == same


@FAMILIES
def test_curves_for_lengthening_rise_and_are_those_of_the_muscle_where_it_is_not_flat(family):
    smooth = elastic_muscles(family).curves.velocity
    curve = LengtheningCurves.from_force_velocity(smooth)
    v = np.tile(np.linspace(-1.6, 1.6, 2001)[:, None], 3)
    assert np.diff(curve(v), axis=0).min() >= 0.99 * LEAST_SLOPE * 1.6e-3
    corner = 0.0 if family == "thelen_2003" else 0.2  # where a spline cannot follow
    within = (v > -0.98) & (v < 0.19) & (np.abs(v - corner) > 0.01)
    np.testing.assert_allclose(curve(v)[within], smooth(v).value[within], atol=1e-6)


def test_a_damping_that_drives_is_refused():
    with refused("bad_number", "damping"):
        FiberDynamics(elastic_muscles(), -0.1)

"""Derivatives of tendon, passive force and capacity by z and y, against differences; its balance."""

import numpy as np
import pytest
from elastic_muscle import elastic_muscles, path_length
from fiber_dynamics import FiberDynamics

from muscle_db.model import CURVES
from musclesolve.trajectory.motion_problem import equilibrium

STEP = 1e-5
FRAMES = 40


@pytest.fixture(scope="module", params=CURVES)
def states(request):
    """Muscles with lengths, velocities and random z and y; fibers from 0.75 to 1.35 L0, passive forces in most."""
    rng = np.random.default_rng(5)
    muscles = elastic_muscles(request.param)
    length = path_length(muscles, rng.uniform(0.75, 1.35, (FRAMES, 3)))
    z, y = rng.uniform(0.15, 1.1, (FRAMES, 3)), rng.uniform(-3.0, 3.0, (FRAMES, 3))
    velocity = rng.uniform(-0.3, 0.3, (FRAMES, 3))
    return muscles, length, velocity, z, y


def middle(ahead, behind):
    return (ahead - behind) / (2.0 * STEP)


def close(found, ahead, behind):
    """To 1e-5 of the largest, but where a difference strides over a knot of a spline with a corner."""
    expected = middle(ahead, behind)
    miss = np.abs(found - expected) / np.abs(expected).max()
    assert np.quantile(miss, 0.95) < 1e-5 and np.abs(expected).max() > 0.0


def test_slopes_and_curvatures_by_z(states):
    *path, z, y = states
    at, ahead, behind = (equilibrium(*path, z + d, y) for d in (0.0, STEP, -STEP))
    assert (at.passive.value > 0.01).mean() > 0.3
    for name in ("tendon", "passive", "active"):
        here, up, down = (getattr(each, name) for each in (at, ahead, behind))
        close(here.slope, up.value, down.value)
        if not (name == "tendon" and np.ptp(here.slope) == 0.0):
            close(here.curvature, up.slope, down.slope)
    close(at.fiber_length_z, ahead.fiber_length, behind.fiber_length)
    close(at.capacity.z, ahead.capacity.value, behind.capacity.value)
    close(at.capacity.zz, ahead.capacity.z, behind.capacity.z)
    close(at.capacity.zy, ahead.capacity.y, behind.capacity.y)


def test_slopes_and_curvatures_by_the_rate(states):
    *path, z, y = states
    wide = 1e3 * STEP  # rates are a hundred times as large
    at, ahead, behind = (equilibrium(*path, z, y + d) for d in (0.0, wide, -wide))
    for found, up, down in (
        (at.capacity.y, ahead.capacity.value, behind.capacity.value),
        (at.capacity.zy, ahead.capacity.z, behind.capacity.z),
        (at.capacity.yy, ahead.capacity.y, behind.capacity.y),
    ):
        expected = (up - down) / (2.0 * wide)
        miss = np.abs(found - expected) / np.abs(expected).max()
        assert np.quantile(miss, 0.9) < 1e-3 and np.abs(expected).max() > 0.0


def test_without_derivatives_it_is_the_balance_of_the_forward_simulation(states):
    """Within the maximum velocities, and where no curve is flat."""
    muscles, length, velocity, z, y = states
    at = equilibrium(*states)
    fibers = FiberDynamics(muscles)
    norm_velocity = at.fiber_velocity / fibers.fastest
    within = (norm_velocity > -0.98) & (norm_velocity < 0.18)
    assert within.sum() > FRAMES
    force = 0.4 * at.capacity.value + at.passive.value
    miss = np.abs(fibers.fiber_force(length, velocity, z, np.array(0.4), y) - force)[within]
    assert np.quantile(miss, 0.9) < 1e-8 and miss.max() < 1e-4  # next to a corner of the force-velocity curve
    forces = fibers.forces(length, z)
    np.testing.assert_allclose(forces.tendon, at.tendon.value, atol=1e-14)
    np.testing.assert_allclose(forces.fiber_length, at.fiber_length, rtol=1e-14)

"""Center of pressure from plain arrays: signed in the plane, refused where it does not exist."""

import numpy as np
import pytest
from planar_center_of_pressure import planar_center_of_pressure, planar_center_of_pressure_from_motion

from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve.dynamics.inverse.explicit_moment import free_moment


def test_the_plane_case_keeps_its_sign():
    force, place = np.array([[30.0, 700.0], [30.0, 700.0]]), np.array([-0.189, 0.189])
    moment = place * force[:, 1]
    np.testing.assert_allclose(planar_center_of_pressure(force, moment), place)


def test_planar_center_of_pressure_from_motion_is_that_of_three_dimensions():
    """Segments moving in the yz-plane: (10) is the y component of (11) for their resultant wrench."""
    rng = np.random.default_rng(4)
    mass, inertia = 10.0 * rng.random(4) + 10.0, rng.random(4)
    center, acceleration = rng.normal(size=(2, 6, 4, 2))
    turning = rng.normal(size=(6, 4))
    in_plane = planar_center_of_pressure_from_motion(mass, inertia, center, acceleration, turning)
    push = np.zeros((6, 4, 3))
    push[..., 1:] = mass[:, None] * (acceleration + np.array([0.0, 9.80665]))
    place = np.zeros((6, 4, 3))
    place[..., 1:] = center
    moment = np.cross(place, push).sum(axis=1)
    moment[:, 0] += turning @ inertia
    np.testing.assert_allclose(center_of_pressure(push.sum(axis=1), moment)[:, 1], in_plane, rtol=1e-12)


def test_a_static_planar_body_stands_above_its_mass_center():
    center = np.array([[[0.1, 1.0], [-0.4, 0.3]]])
    still = np.zeros((1, 2))
    place = planar_center_of_pressure_from_motion(
        np.array([3.0, 1.0]), np.ones(2), center, np.zeros((1, 2, 2)), still
    )
    assert place[0] == pytest.approx(-0.025)


def test_without_vertical_force_there_is_no_center_of_pressure():
    force, moment = np.zeros((2, 3)), np.ones((2, 3))
    assert np.isnan(center_of_pressure(force, moment)).all(axis=1).all()
    np.testing.assert_array_equal(free_moment(force, moment), 0.0)

"""Compiled motion and loads along the joints against arrays over frames, other routes, and time derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.dynamics import (
    Wrench,
    forward_human_model,
    human_model,
    joint_loads,
    projected_moments,
    segment_motion,
)
from musclesolve.dynamics.inverse.explicit_moment import intersegmental_moment
from musclesolve.dynamics.inverse.newton_euler import distal_loads, generalized_loads
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from, moving_bodies
from musclesolve.dynamics.kinematics.pose_fit import Pose

MODELS = {"inverse": human_model(), "forward": forward_human_model()}
ARRAYS = ("speeds", "speed_rates", "q", "qd", "qdd")
each_model = pytest.mark.parametrize("name", MODELS)


def random_motion(model, frames=5):
    """Coordinates, rates and second derivatives (T, K+6), far from the origin of the laboratory."""
    rng, count = np.random.default_rng(17), len(model.topology.dof_names)
    coordinates, rates, second = (
        rng.normal(size=(3, frames, count)) * np.array([0.4, 2.0, 20.0])[:, None, None]
    )
    coordinates[:, -6:-3] *= 20.0
    return np.arange(float(frames)), coordinates, rates, second


@each_model
def test_the_compiled_motion_is_that_over_arrays(name):
    """Complex numbers go through numpy, real ones through compiled code."""
    time, *state = random_motion(MODELS[name])
    real = motion_from(MODELS[name], time, *state)
    other = motion_from(MODELS[name], time, *(values.astype(complex) for values in state))
    for field in ARRAYS:
        expected = getattr(other, field).real
        np.testing.assert_allclose(getattr(real, field), expected, atol=1e-11 * np.abs(expected).max())


@each_model
def test_velocities_and_accelerations_are_rates_of_poses(name):
    """dq/dt and dqd/dt by a complex step along the motion."""
    model, step = MODELS[name], 1e-30
    time, coordinates, rates, second = random_motion(model)
    motion = motion_from(model, time, coordinates, rates, second)
    ahead = motion_from(model, time, coordinates + 1j * step * rates, rates + 1j * step * second, second + 0j)
    for value, rate in (("q", "qd"), ("qd", "qdd")):
        expected = getattr(ahead, value).imag / step
        np.testing.assert_allclose(getattr(motion, rate), expected, atol=1e-11 * np.abs(expected).max())


@each_model
def test_bodies_in_motion_are_those_of_their_points_and_vectors(name):
    """r = c . (r_i, r_j, u, v) of natural coordinates and its derivatives; [alpha]x is the odd part of R'' R^T."""
    model = MODELS[name]
    motion = motion_from(model, *random_motion(model))
    bodies, rigid, state = (
        segment_motion(model, motion),
        model.rigid_bodies,
        (motion.q, motion.qd, motion.qdd),
    )
    basic = [rigid.basic(*state[: order + 1]) for order in range(3)]
    center = [np.einsum("be,tbex->tbx", rigid.coordinates(model.mass.center), each) for each in basic]
    axes = [
        np.stack([e[:, :, 1] - e[:, :, 0], e[:, :, 2], e[:, :, 3]], axis=-1) @ rigid.inverse for e in basic
    ]
    turned = [each @ np.swapaxes(axes[0], -1, -2) for each in axes[1:]]
    odd = [each - np.swapaxes(each, -1, -2) for each in turned]
    spin, twist = (0.5 * np.stack([e[..., 2, 1], e[..., 0, 2], e[..., 1, 0]], axis=-1) for e in odd)
    for value, expected in zip(bodies, (axes[0], spin, twist, center[0], center[2]), strict=True):
        np.testing.assert_allclose(value, expected, atol=1e-10 * np.abs(expected).max())


@each_model
def test_summed_loads_are_the_moments_by_projection(name):
    """Newton-Euler along the tree against D^T (M qdd - g), with forces on two bodies."""
    model, rng = MODELS[name], np.random.default_rng(18)
    time, *state = random_motion(model)
    motion, bodies = moving_bodies(model, time, *state)
    names = [body.name for body in model.topology.bodies]
    wrenches = [Wrench(body, *rng.normal(size=(2, len(time), 3)) * 300.0) for body in (names[-1], names[1])]
    found = generalized_loads(model, motion, distal_loads(model, bodies, wrenches))
    expected = projected_moments(model, motion, wrenches)
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


@each_model
def test_joint_loads_are_hofs_explicit_moments(name):
    model, rng = MODELS[name], np.random.default_rng(19)
    motion, bodies = moving_bodies(model, *random_motion(model))
    last = model.topology.bodies[-1].name
    wrenches = [Wrench(last, *rng.normal(size=(2, 5, 3)) * 300.0)]
    for dof, load in joint_loads(model, motion, bodies, wrenches).items():
        explicit = intersegmental_moment(model, motion, bodies, wrenches, dof)
        np.testing.assert_allclose(load.force, explicit.force, atol=1e-7)
        np.testing.assert_allclose(load.moment, explicit.total, atol=1e-6)


@each_model
def test_rotations_over_arrays_are_those_of_the_frames(name):
    model = MODELS[name]
    time, coordinates, *_ = random_motion(model)
    q = Pose.from_coordinates(coordinates).q(model.tree)
    motion, bodies = moving_bodies(model, time, coordinates, 0.0 * coordinates, 0.0 * coordinates)
    np.testing.assert_allclose(motion.q, q, atol=1e-11)
    np.testing.assert_allclose(bodies.rotation, model.rigid_bodies.rotation(q), atol=1e-10)

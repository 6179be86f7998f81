"""Inverse dynamics and kinematics of a model with spherical joints, by routes that know nothing of one another."""

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import (
    Targets,
    Wrench,
    differentiate,
    fit_pose,
    forward_human_model,
    joint_loads,
    lagrange_multipliers,
    projected_moments,
    segment_motion,
)


@pytest.fixture(scope="module")
def body(model):
    return forward_human_model(model)


@pytest.fixture(scope="module")
def moving(body):
    """A smooth random motion of all 29 degrees of freedom, one second."""
    rng = np.random.default_rng(71)
    time = np.linspace(0.0, 1.0, 41)
    amplitude, phase = rng.normal(size=(2, 29, 3))
    waves = [0.3 * amplitude[:, k] * np.sin(2.0 * (k + 1) * time[:, None] + phase[:, k]) for k in range(3)]
    return differentiate(body, time, np.sum(waves, axis=0))


@pytest.fixture(scope="module")
def loads(moving):
    rng = np.random.default_rng(72)
    size = (len(moving.time), 3)
    return [Wrench(f"shank_{side}", *(rng.normal(size=size) * s for s in (500.0, 50.0))) for side in "rl"]


def test_newton_euler_agrees_with_projection_at_every_joint(body, moving, loads):
    projected = projected_moments(body, moving, loads)
    segments, axes = segment_motion(body, moving), body.tree.axes(moving.q)
    for k, dof in enumerate(body.topology.dof_names[:23]):
        load = joint_loads(body, moving, segments, loads, [dof])[dof]
        about = np.einsum("tx,tx->t", load.moment, axes[:, k])
        assert np.abs(about - projected[:, k]).max() < 1e-12 * np.abs(projected).max(), dof


def test_the_motion_satisfies_the_constraints_and_their_derivatives(body, moving):
    jacobian = body.constraints.jacobian(moving.q)
    assert np.abs(body.constraints.violation(moving.q)).max() < 1e-13
    assert np.abs(np.einsum("tcnx,tnx->tc", jacobian, moving.qd)).max() < 1e-12
    residual = np.einsum("tcnx,tnx->tc", jacobian, moving.qdd) - body.constraints.gamma(moving.qd)
    assert np.abs(residual).max() < 1e-11


def test_fit_recovers_a_motion_from_its_own_points(body, moving):
    names = body.topology.coordinate_names
    points = {name: moving.q[:, k] for k, name in enumerate(names[:16])}
    directions = {name: moving.q[:, 16 + k] for k, name in enumerate(names[16:])}
    fit = fit_pose(body, Targets.build(body, points, directions))
    np.testing.assert_allclose(fit.q, moving.q, atol=1e-9)
    np.testing.assert_allclose(fit.coordinates[:, :23], moving.coordinates[:, :23], atol=1e-8)


def test_fit_follows_a_joint_past_180_degrees(body):
    """An arm raised over the head and beyond: the rotation vector goes on past 180 degrees without a jump."""
    time = np.linspace(0.0, 1.0, 31)
    coordinates = np.zeros((31, 29))
    coordinates[:, body.dof("shoulder_flexion_r")] = np.linspace(0.0, 3.6, 31)
    coordinates[:, body.dof("shoulder_adduction_r")] = 0.1 * np.linspace(0.0, 3.6, 31)
    raised = differentiate(body, time, coordinates)
    names = body.topology.coordinate_names
    points = {name: raised.q[:, k] for k, name in enumerate(names[:16])}
    directions = {name: raised.q[:, 16 + k] for k, name in enumerate(names[16:])}
    fit = fit_pose(body, Targets.build(body, points, directions))
    np.testing.assert_allclose(fit.coordinates[:, :23], coordinates[:, :23], atol=1e-7)


def test_angle_drivers_refuse_spherical_joints(body, moving):
    with refused("conflict"):
        lagrange_multipliers(body, moving, [])

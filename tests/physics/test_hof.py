"""Hof's explicit moment and center of pressure against the other routes and a simulated plate."""

import numpy as np
import pytest
from poses import motion_through

from musclesolve.dynamics import Wrench, joint_loads, lagrange_multipliers, segment_motion
from musclesolve.dynamics.inverse.explicit_moment import (
    center_of_pressure_from_motion,
    free_moment,
    intersegmental_moment,
    neglected_share,
    whole_body_wrench,
)


@pytest.fixture(scope="module")
def segments(model, motion):
    return segment_motion(model, motion)


def test_explicit_moment_and_force_are_those_of_the_recursion(model, motion, segments, wrenches):
    loads = joint_loads(model, motion, segments, wrenches)
    scale = max(np.abs(load.moment).max() for load in loads.values())
    for dof, load in loads.items():
        explicit = intersegmental_moment(model, motion, segments, wrenches, dof, height=0.03)
        assert np.abs(explicit.total - load.moment).max() < 1e-12 * scale, dof
        assert np.abs(explicit.force - load.force).max() < 1e-12 * scale, dof


def test_explicit_moment_is_the_multiplier_of_the_driver(model, motion, segments, wrenches):
    moments = lagrange_multipliers(model, motion, wrenches).moments
    axes = model.tree.axes(motion.q)
    for k, dof in enumerate(model.topology.dof_names[:38]):
        terms = intersegmental_moment(model, motion, segments, wrenches, dof).about(axes[:, k])
        assert np.abs(terms["total"] - moments[:, k]).max() < 1e-9 * np.abs(moments).max(), dof


def test_one_joint_alone_is_the_same_as_all_in_one_pass(model, motion, segments, wrenches):
    loads = joint_loads(model, motion, segments, wrenches)
    for dof in ("ankle_dorsiflexion_r", "hip_flexion_l", "trunk_bending_right", "head_flexion"):
        alone = joint_loads(model, motion, segments, wrenches, [dof])[dof]
        np.testing.assert_allclose(alone.force, loads[dof].force, rtol=1e-13)
        np.testing.assert_allclose(alone.moment, loads[dof].moment, rtol=1e-12, atol=1e-11)


def test_a_body_at_rest_has_only_the_quasi_static_terms(model):
    zero = np.zeros((1, 44))
    still = motion_through(model, zero)
    segments = segment_motion(model, still)
    load = Wrench("foot_r", np.array([[20.0, 5.0, 700.0]]), np.array([[3.0, -40.0, 6.0]]))
    terms = intersegmental_moment(model, still, segments, [load], "knee_flexion_r")
    np.testing.assert_array_equal(terms.linear, 0.0)
    np.testing.assert_array_equal(terms.angular, 0.0)
    np.testing.assert_allclose(terms.total, terms.quasi_static)


def test_terms_are_those_of_their_names(model, motion, segments):
    """A force at a known point with a known free moment; mass far from the joint; each found in its own term."""
    rng = np.random.default_rng(3)
    frames = len(motion.time)
    point = np.column_stack([rng.normal(size=(frames, 2)), np.full(frames, 0.02)])
    force = np.column_stack([50.0 * rng.normal(size=(frames, 2)), 300.0 + 400.0 * rng.random(frames)])
    twist = np.column_stack([np.zeros((frames, 2)), rng.normal(size=frames)])
    plate = Wrench("foot_r", force, np.cross(point, force) + twist)
    terms = intersegmental_moment(model, motion, segments, [plate], "knee_flexion_r", height=0.02)
    knee = motion.q[:, model.slot("knee_r")]
    np.testing.assert_allclose(terms.ground, -np.cross(point - knee, force), atol=1e-9)
    np.testing.assert_allclose(terms.free_moment, -twist, atol=1e-9)
    bodies = [model.body(name) for name in ("foot_r", "shank_r", "shank_distal_r")]
    mass = model.mass.mass[bodies]
    middle = np.einsum("b,tbx->tx", mass, segments.center[:, bodies]) / mass.sum()
    np.testing.assert_allclose(
        terms.gravity, -np.cross(middle - knee, mass.sum() * model.gravity), atol=1e-12
    )


def test_what_quasi_statics_neglects_vanishes_with_the_speed(model, motion):
    def share(speed):
        slow = motion_through(
            model, motion.coordinates, speed * motion.rates, speed**2 * motion.second, time=motion.time
        )
        return neglected_share(model, slow, segment_motion(model, slow), [])["hip_flexion_r"]

    fast, slow, slower = share(1.0), share(0.1), share(0.01)
    assert fast > 0.1 > slow
    assert slow / slower == pytest.approx(100.0, rel=0.1)


def test_center_of_pressure_of_a_simulated_plate(model, motion, segments):
    """(12) and the free moment, from the motion alone, give back the wrench that the plate would feel."""
    force, moment = whole_body_wrench(model, segments)
    for height in (0.0, -0.9):
        point = center_of_pressure_from_motion(model, segments, height)
        twist = free_moment(force, moment, height)
        assert np.abs(twist[:, 2]).max() > 1.0
        np.testing.assert_array_equal(point[:, 2], height)
        np.testing.assert_allclose(np.cross(point, force) + twist, moment, rtol=1e-9, atol=1e-9)


def test_ground_force_at_that_point_leaves_no_residual_at_the_base(model, motion, segments):
    """Whole-body balance in the multiplier route: the wrench from the motion replaces the base's residual."""
    force, moment = whole_body_wrench(model, segments)
    residual = lagrange_multipliers(model, motion, [Wrench("foot_r", force, moment)]).moments[:, 38:]
    assert np.abs(residual).max() < 1e-9 * np.abs(moment).max()


def test_equation_12_as_it_is_written(model, segments):
    mass, g = model.mass.mass, 9.80665
    center = np.einsum("b,tbx->tx", mass, segments.center) / mass.sum()
    rotation = segments.rotation
    inertia = rotation @ model.mass.inertia @ np.swapaxes(rotation, -1, -2)
    spin = segments.velocity
    rate = np.einsum("tbxy,tby->tbx", inertia, segments.acceleration)
    rate += np.cross(spin, np.einsum("tbxy,tby->tbx", inertia, spin))
    push = mass[:, None] * segments.center_acceleration
    bracket = -np.cross(center, mass.sum() * model.gravity) + np.cross(segments.center, push).sum(axis=1)
    bracket += rate.sum(axis=1)
    point = np.cross([0.0, 0.0, 1.0], bracket) / (mass.sum() * g + push[..., 2].sum(axis=1))[:, None]
    np.testing.assert_allclose(center_of_pressure_from_motion(model, segments), point, atol=1e-12)

"""Paths over wrap objects and moving frames on the model: every derivative is that of the length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from poses import motion_through
from wrapped_leg import MUSCLES, pull_on, wrapped_leg

from musclesolve.muscles import muscle_state, point_derivatives

FRAMES = 30


@pytest.fixture(scope="module")
def leg(model):
    return wrapped_leg(model)


def poses(model, coordinates, rates):
    return motion_through(model, coordinates, rates)


@pytest.fixture(scope="module")
def posed(model):
    """Random poses and rates; hip and knee over their range, all joints of the body in motion."""
    rng = np.random.default_rng(40)
    coordinates = rng.uniform(-0.3, 0.3, size=(FRAMES, 44))
    coordinates[:, model.dof("hip_flexion_r")] = rng.uniform(0.0, 0.9, FRAMES)
    coordinates[:, model.dof("knee_flexion_r")] = rng.uniform(0.1, 2.0, FRAMES)
    return poses(model, coordinates, rng.normal(size=(FRAMES, 44)))


@pytest.fixture(scope="module")
def state(model, leg, posed):
    return muscle_state(model, leg, posed)


def along(model, leg, posed, rates, step=1e-6):
    """Difference quotient of lengths along a motion."""
    ahead, behind = (
        poses(model, posed.coordinates + s * step * rates, np.zeros_like(rates)) for s in (1, -1)
    )
    lengths = [leg.paths.evaluate(each.q, each.coordinates).length for each in (ahead, behind)]
    return (lengths[0] - lengths[1]) / (2 * step)


def test_every_object_is_touched_in_some_poses_and_left_in_others(leg, state):
    layout = leg.paths.layout
    pulled = np.abs(state.path.nodes.gradient[:, layout.points :]).sum(axis=2)[:, ::2] > 0.0
    share = pulled.mean(axis=0)
    assert (share > 0.1).all() and (share < 0.9).sum() >= layout.wraps - 1


def test_moment_arms_are_the_derivative_of_length(model, leg, posed, state):
    for row, dof in enumerate(leg.dof_names):
        rates = np.zeros_like(posed.rates)
        rates[:, model.dof(dof)] = 1.0
        slope = along(model, leg, posed, rates)
        np.testing.assert_allclose(state.moment_arm[:, row], -slope, atol=2e-8, err_msg=dof)


def test_moving_frames_give_an_explicit_part(leg, state):
    """The muscles on the patella and on the gliding tibia have an explicit part of more than millimeters."""
    explicit = np.abs(state.path.explicit[:, :, 0]).max(axis=0)
    on_frames = [name for name, size in zip(MUSCLES, explicit, strict=True) if size > 1e-3]
    assert on_frames == ["over_the_patella", "over_the_belly", "on_the_gliding_cylinder"]


def test_rates_are_the_derivative_of_length_and_the_power_of_the_moments(model, leg, posed, state):
    slope = along(model, leg, posed, posed.rates)
    np.testing.assert_allclose(state.musculotendon_velocity, slope, atol=2e-8)
    rates = posed.rates[:, [model.dof(dof) for dof in leg.dof_names]]
    power = -np.einsum("tkm,tk->tm", state.moment_arm, rates)
    np.testing.assert_allclose(state.musculotendon_velocity, power, atol=1e-12)


def test_pulls_on_all_bodies_balance(model, leg, state):
    bodies = np.unique(leg.paths.body)
    assert np.abs(pull_on(state.path, bodies)).max() < 1e-12
    distal = pull_on(state.path, model.distal_bodies("knee_flexion_r"))
    nodes = np.isin(leg.paths.body, model.distal_bodies("knee_flexion_r"))
    own = leg.paths.layout.node_muscle[:, None] == np.arange(leg.paths.layout.muscles)
    np.testing.assert_allclose(
        distal, np.einsum("tpx,pn->tnx", state.path.nodes.gradient * nodes[:, None], own), atol=1e-13
    )


def test_derivatives_by_path_points(model, leg, posed):
    """All points along random directions, against differences of the whole state."""
    state = muscle_state(model, leg, posed)
    found, step = point_derivatives(model, posed, state), 1e-6
    rng = np.random.default_rng(41)
    shank = model.distal_bodies("knee_flexion_r")
    of_muscle = np.eye(leg.paths.layout.muscles)[found.muscle]
    for _ in range(2):
        direction = rng.normal(size=leg.paths.standing.shape)
        moved = [
            replace(leg, paths=replace(leg.paths, standing=leg.paths.standing + s * step * direction))
            for s in (1, -1)
        ]
        ahead, behind = (muscle_state(model, each, posed) for each in moved)
        for name in ("musculotendon_length", "musculotendon_velocity", "moment_arm"):
            theirs = (getattr(ahead, name) - getattr(behind, name)) / (2 * step)
            ours = np.einsum("...px,px,pn->...n", getattr(found, name), direction, of_muscle)
            np.testing.assert_allclose(ours, theirs, atol=3e-6 * np.abs(theirs).max(), err_msg=name)
        theirs = (pull_on(ahead.path, shank) - pull_on(behind.path, shank)) / (2 * step)
        ours = np.einsum("txps,ps,pn->tnx", found.pull(shank), direction, of_muscle)
        np.testing.assert_allclose(ours, theirs, atol=3e-6 * np.abs(theirs).max())


def test_subsets_are_the_same_muscles(leg, posed, state):
    some = np.array([1, 3, 5])
    on = leg.paths.on_path(posed.coordinates)
    points = np.isin(leg.paths.layout.point_muscle, some)
    found = leg.paths.subset(some).nodes(posed.q, posed.coordinates, on[:, points])
    np.testing.assert_array_equal(found.length, state.musculotendon_length[:, some])

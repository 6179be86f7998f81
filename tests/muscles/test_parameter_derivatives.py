"""What muscles can do against differences of their parameters and path points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import muscle_db
from musclesolve.muscles.leg_muscle_state import muscle_state
from musclesolve.muscles.parameter_derivatives import muscle_change
from musclesolve.muscles.path_point_derivatives import point_derivatives
from musclesolve.muscles.placing.place_muscles import place_muscles

PARAMETERS = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")
FIELDS = ("fiber_length", "fiber_velocity", "force_capacity", "passive_force")
STENCIL = (1, -1, 2, -2)


@pytest.fixture(scope="module", params=["r", "l"])
def muscles(model, request):
    return place_muscles(model, muscle_db.load(), request.param)


def smooth(before, after):
    """Where no kink of a curve lies between two states."""

    def piece(state):
        own = state.muscles
        normal = state.fiber_length / own.optimal_fiber_length
        speed = state.fiber_velocity / own.optimal_fiber_length / own.max_shortening_velocity
        return np.stack([normal > 1.0, normal > 1.63, speed > -1.0, speed > 0.2, state.slack])

    return (piece(before) == piece(after)).all(axis=0)


def difference(states, name, step):
    """Central, of fourth order, from the states at 1, -1, 2 and -2 steps."""
    ahead, behind, far_ahead, far_behind = (getattr(state, name) for state in states)
    return (8 * (ahead - behind) - (far_ahead - far_behind)) / (12 * step)


def close(ours, states, step):
    """To 1e-7 of the largest derivative, away from kinks; and most frames are."""
    clear = smooth(*states[2:])
    assert clear.mean() > 0.95
    for name in FIELDS:
        theirs = difference(states, name, step)[clear]
        atol = 1e-7 * np.abs(theirs).max() + 1e-9
        np.testing.assert_allclose(getattr(ours, name)[clear], theirs, rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(model, muscles, motion, name):
    muscles, step = replace(muscles, pennation_angle=np.maximum(muscles.pennation_angle, 0.02)), 1e-5
    size = getattr(muscles, name)
    states = [
        muscle_state(model, replace(muscles, **{name: size + j * step * size}), motion) for j in STENCIL
    ]
    close(muscle_change(muscle_state(model, muscles, motion), **{name: size}), states, step)


def test_strength_scales_the_forces_and_nothing_else(model, muscles, motion):
    state = muscle_state(model, muscles, motion)
    change = muscle_change(state, max_isometric_force=muscles.max_isometric_force)
    np.testing.assert_allclose(change.force_capacity, state.force_capacity, rtol=1e-12)
    np.testing.assert_allclose(change.passive_force, state.passive_force, rtol=1e-12)
    assert not change.fiber_length.any() and not change.fiber_velocity.any()


def test_a_larger_muscle_in_a_larger_body_has_the_same_force(model, muscles, motion):
    """All lengths and rates longer by one factor: the curves see no difference (correction A4)."""
    state = muscle_state(model, muscles, motion)
    change = muscle_change(
        state,
        optimal_fiber_length=muscles.optimal_fiber_length,
        tendon_slack_length=muscles.tendon_slack_length,
        musculotendon_length=state.musculotendon_length,
        musculotendon_velocity=state.musculotendon_velocity,
    )
    np.testing.assert_allclose(change.fiber_length, state.fiber_length, rtol=1e-12)
    np.testing.assert_allclose(change.fiber_velocity, state.fiber_velocity, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(change.force_capacity, 0.0, atol=1e-8)
    np.testing.assert_allclose(change.passive_force, 0.0, atol=1e-8)


def test_path_points(model, muscles, motion):
    """All points along random directions at once, each muscle feeling its own; and every one for a few frames."""
    state = muscle_state(model, muscles, motion)
    found, step = point_derivatives(model, motion, state), 2e-6
    random = np.random.default_rng(4)
    directions = list(random.normal(size=(3, *muscles.paths.standing.shape)))
    for point in muscles.paths.switched[:3]:
        directions.append(np.zeros_like(muscles.paths.standing))
        directions[-1][point] = random.normal(size=3)
    for direction in directions:
        moved = [muscles.paths.standing + j * step * direction for j in STENCIL]
        states = [
            muscle_state(model, replace(muscles, paths=replace(muscles.paths, standing=places)), motion)
            for places in moved
        ]
        of_muscle = np.eye(len(muscles.names))[found.muscle]
        ours = {
            name: np.einsum("...px,px,pn->...n", getattr(found, name), direction, of_muscle)
            for name in ("musculotendon_length", "musculotendon_velocity", "moment_arm")
        }
        for name, value in ours.items():
            theirs = difference(states, name, step)
            atol = 1e-7 * max(1.0, np.abs(theirs).max())
            np.testing.assert_allclose(value, theirs, rtol=0, atol=atol, err_msg=name)
        shank = model.distal_bodies(f"knee_flexion_{muscles.side}")
        pulls = [state.path.pull(shank) for state in states]
        theirs = (8 * (pulls[0] - pulls[1]) - (pulls[2] - pulls[3])) / (12 * step)
        value = np.einsum("txps,ps,pn->tnx", found.pull(shank), direction, of_muscle)
        np.testing.assert_allclose(value, theirs, rtol=0, atol=1e-7 * np.abs(theirs).max())
        lengths = {name: ours[name] for name in ("musculotendon_length", "musculotendon_velocity")}
        close(muscle_change(state, **lengths), states, step)


def test_points_that_are_off_the_path_move_nothing(model, muscles, motion):
    state = muscle_state(model, muscles, motion)
    found, paths = point_derivatives(model, motion, state), muscles.paths
    angle = motion.coordinates[:, paths.switch_dof]
    off = (angle < paths.switch_lower) | (angle > paths.switch_upper)
    assert off.any() and not off.all()
    assert not found.musculotendon_length[:, paths.switched][off].any()
    assert not np.moveaxis(found.moment_arm, 2, 1)[:, paths.switched][off].any()


def test_bodies_rotate_the_force_on_a_point_and_keep_its_size(model, muscles, motion):
    state = muscle_state(model, muscles, motion)
    found = point_derivatives(model, motion, state).musculotendon_length
    pull = np.linalg.norm(state.path.gradient, axis=2)
    np.testing.assert_allclose(np.linalg.norm(found, axis=2), pull, atol=1e-12)

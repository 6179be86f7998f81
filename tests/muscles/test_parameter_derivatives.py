"""Derivatives of the moments that muscles can produce, against differences of their parameters and path points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from wrapped_leg import pull_on

import muscle_db
from muscle_db.model import CURVES
from musclesolve.muscles import muscle_change, muscle_state, point_derivatives, scale_muscles

PARAMETERS = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")
FIELDS = ("fiber_length", "fiber_velocity", "force_capacity", "fiber_force_capacity", "passive_force")
STENCIL = (1, -1, 2, -2)


LEGS = [("silva_2003", "r"), ("silva_2003", "l"), ("gait2392", "l"), ("rajagopal_2023", "r")]


@pytest.fixture(scope="module", params=LEGS, ids="-".join)
def muscles(model, request):
    name, side = request.param
    return scale_muscles(model, muscle_db.load(name), side, passive="table")


@pytest.fixture(scope="module", params=CURVES)
def of_family(model, request):
    """The right leg with another family of curves, and passive strains that differ from muscle to muscle."""
    muscles = scale_muscles(
        model, replace(muscle_db.load("silva_2003"), curves=request.param), "r", passive="table"
    )
    zero, one = np.linspace(-0.1, 0.1, len(muscles.names)), np.linspace(0.7, 0.4, len(muscles.names))
    angle = np.maximum(muscles.parameters.pennation_angle, 0.02)
    passive = muscles.parameters.passive._replace(at_zero=zero, at_one=one)
    return replace(muscles, parameters=replace(muscles.parameters, passive=passive, pennation_angle=angle))


EDGES = {"silva_2003": 0.2}  # velocity where the curve becomes constant, in maximum velocities


def smooth(before, after):
    """Where no kink of a curve lies between two states."""

    def piece(state):
        own = state.muscles.parameters
        _, zero, one = own.passive
        normal = state.fiber_length / own.optimal_fiber_length
        speed = state.fiber_velocity / own.optimal_fiber_length / own.max_shortening_velocity
        share = (normal - 1.0 - zero) / (one - zero)
        fastest = EDGES.get(own.families[0][0].name, 1.0)
        return np.stack([share > 0.0, share > 1.0, share > 1.26, speed > -1.0, speed > fastest, state.slack])

    return (piece(before) == piece(after)).all(axis=0)


def difference(states, name, step):
    """Central, of fourth order, from the states at 1, -1, 2 and -2 steps."""
    ahead, behind, far_ahead, far_behind = (getattr(state, name) for state in states)
    return (8 * (ahead - behind) - (far_ahead - far_behind)) / (12 * step)


def close(ours, states, step, accuracy=1e-7):
    """To 1e-7 of the largest derivative, away from kinks; and most frames are."""
    clear = smooth(*states[2:])
    assert clear.mean() > 0.95
    for name in FIELDS:
        theirs = difference(states, name, step)[clear]
        atol = accuracy * np.abs(theirs).max() + 1e-9
        np.testing.assert_allclose(getattr(ours, name)[clear], theirs, rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(model, of_family, motion, name):
    muscles, step = of_family, 1e-5
    parameters = muscles.parameters
    size = getattr(parameters, name)
    changed = [replace(parameters, **{name: size + j * step * size}) for j in STENCIL]
    states = [muscle_state(model, replace(muscles, parameters=each), motion) for each in changed]
    # The tables of the curves of Millard are cubic splines, whose curvature is not continuous.
    accuracy = 1e-5 if parameters.families[0][0].name.startswith("millard") else 1e-7
    close(muscle_change(muscle_state(model, muscles, motion), **{name: size}), states, step, accuracy)


def test_strength_scales_the_capacity_and_nothing_else(model, muscles, motion):
    state = muscle_state(model, muscles, motion)
    change = muscle_change(state, max_isometric_force=muscles.parameters.max_isometric_force)
    np.testing.assert_allclose(change.force_capacity, state.force_capacity, rtol=1e-12)
    assert state.passive_force.any() and not change.passive_force.any()
    assert not change.fiber_length.any() and not change.fiber_velocity.any()


def test_a_larger_muscle_in_a_larger_body_has_the_same_force(model, muscles, motion):
    """All lengths and rates longer by one factor: the curves see no difference (correction A4)."""
    state = muscle_state(model, muscles, motion)
    change = muscle_change(
        state,
        optimal_fiber_length=muscles.parameters.optimal_fiber_length,
        tendon_slack_length=muscles.parameters.tendon_slack_length,
        musculotendon_length=state.musculotendon_length,
        musculotendon_velocity=state.musculotendon_velocity,
    )
    np.testing.assert_allclose(change.fiber_length, state.fiber_length, rtol=1e-12)
    np.testing.assert_allclose(change.fiber_velocity, state.fiber_velocity, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(change.force_capacity, 0.0, atol=1e-8)
    np.testing.assert_allclose(change.passive_force, 0.0, atol=1e-8)


@pytest.mark.in_part(2)
def test_path_points(model, muscles, motion):
    """All points along random directions at once, each muscle feeling its own; and every one for a few frames."""
    state = muscle_state(model, muscles, motion)
    found, step = point_derivatives(model, motion, state), 2e-6
    # Over wraps derivatives are differences themselves.
    random, accuracy = np.random.default_rng(4), 1e-5 if muscles.paths.layout.wraps else 1e-7
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
            atol = accuracy * max(1.0, np.abs(theirs).max())
            np.testing.assert_allclose(value, theirs, rtol=0, atol=atol, err_msg=name)
        shank = model.distal_bodies(f"knee_flexion_{muscles.sides[0]}")
        pulls = [pull_on(state.path, shank) for state in states]
        theirs = (8 * (pulls[0] - pulls[1]) - (pulls[2] - pulls[3])) / (12 * step)
        value = np.einsum("txps,ps,pn->tnx", found.pull(shank), direction, of_muscle)
        np.testing.assert_allclose(value, theirs, rtol=0, atol=accuracy * np.abs(theirs).max())
        lengths = {name: ours[name] for name in ("musculotendon_length", "musculotendon_velocity")}
        close(muscle_change(state, **lengths), states, step, accuracy)


def test_points_that_are_off_the_path_move_nothing(model, muscles, motion):
    state = muscle_state(model, muscles, motion)
    found, paths = point_derivatives(model, motion, state), muscles.paths
    angle = motion.coordinates[:, paths.switch_dof]
    off = (angle < paths.switch_lower) | (angle > paths.switch_upper)
    assert off.any() == (paths.switched.size > 0) and (~off).any() == off.any()
    assert not found.musculotendon_length[:, paths.switched][off].any()
    assert not np.moveaxis(found.moment_arm, 2, 1)[:, paths.switched][off].any()


def test_bodies_rotate_the_force_on_a_point_and_keep_its_size(model, muscles, motion):
    state = muscle_state(model, muscles, motion)
    found = point_derivatives(model, motion, state).musculotendon_length
    pull = np.linalg.norm(state.path.nodes.gradient[:, : muscles.paths.layout.points], axis=2)
    np.testing.assert_allclose(np.linalg.norm(found, axis=2), pull, atol=1e-12)

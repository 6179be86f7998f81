"""Muscles as a force: its power, what it is without activation, the rows that it must equal, mirrored bodies."""

import numpy as np
import pytest
from poses import motion_through
from refusals import refused

import muscle_db
from musclesolve.dynamics import forward_human_model, simulate
from musclesolve.muscles import muscle_forces, muscle_rows, muscle_state, scale_muscles
from musclesolve.muscles.driving.muscle_forces import ActivationDynamics

AT = np.zeros(6)


@pytest.fixture(scope="module", params=["gait2392", "silva_2003", "rajagopal_2023"])
def legs(request, model):
    database = muscle_db.load(request.param)
    return [scale_muscles(model, database, side, passive="table") for side in "rl"]


@pytest.fixture(scope="module")
def walking(model):
    """Six random states within the range of walking, moving."""
    rng = np.random.default_rng(16)
    coordinates, rates = rng.normal(size=(2, 6, 44)) * np.array([0.15, 1.0])[:, None, None]
    for side in "rl":
        coordinates[:, model.dof(f"knee_flexion_{side}")] = rng.uniform(0.05, 1.6, 6)
    return motion_through(model, coordinates, rates, time=AT)


def test_force_is_minus_tension_times_the_muscle_rows(model, legs, walking):
    """On every motion that the constraints allow, exactly as the analysis has it: D^T f = moment arms times tension."""
    forces = muscle_forces(model, legs, 0.3)
    found = model.tree.project(walking.q, walking.origin, forces(AT, walking.q, walking.qd))
    expected = np.zeros_like(found)
    for leg in legs:
        state = muscle_state(model, leg, walking)
        tension = 0.3 * state.force_capacity + state.passive_force
        row = -np.einsum("tn,tnkx->tkx", tension, muscle_rows(model, walking, state.path))
        expected += model.tree.project(walking.q, walking.origin, row)
        dofs = [model.dof(dof) for dof in leg.dof_names]
        moments = np.einsum("tkn,tn->tk", state.moment_arm, tension)
        np.testing.assert_allclose(found[:, dofs], moments, atol=1e-9 * np.abs(moments).max())
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_power_is_minus_tension_times_the_rate_of_length(model, legs, walking):
    """Virtual power, with the rate of length by differences of length along the motion."""
    forces = muscle_forces(model, legs, 0.4)
    step = 1e-6
    ahead, behind = (
        motion_through(
            model, walking.coordinates + way * walking.rates, walking.rates, walking.second, time=AT
        ).q
        for way in (step, -step)
    )
    rate = (forces.path(ahead).length - forces.path(behind).length) / (2.0 * step)
    power = np.einsum("tkx,tkx->t", forces(AT, walking.q, walking.qd), walking.qd)
    expected = -(forces.tension(AT, walking.q, walking.qd) * rate).sum(axis=1)
    np.testing.assert_allclose(power, expected, atol=1e-6 * np.abs(expected).max())


def test_without_activation_and_passive_forces_there_is_nothing(model, walking):
    leg = scale_muscles(model, muscle_db.load("gait2392"), "l", passive="none")
    assert not muscle_forces(model, leg, 0.0)(AT, walking.q, walking.qd).any()


def test_both_legs_together_are_the_sum_of_each(model, legs, walking):
    """Joining two sets renumbers points, wraps, objects and moving frames."""
    both = muscle_forces(model, legs, 0.2)(AT, walking.q, walking.qd)
    each = [muscle_forces(model, leg, 0.2)(AT, walking.q, walking.qd) for leg in legs]
    np.testing.assert_allclose(both, each[0] + each[1], atol=1e-12 * np.abs(both).max())


def test_forces_on_the_whole_body_are_in_balance(model, legs, walking):
    """Muscles are internal: neither force nor moment on the body as a whole."""
    project = model.tree.project(
        walking.q, walking.origin, muscle_forces(model, legs, 0.5)(AT, walking.q, walking.qd)
    )
    assert np.abs(project[:, -6:]).max() < 1e-9 * np.abs(project).max()


def test_a_prescribed_force_is_borne_at_any_velocity(model, legs, walking):
    count = sum(len(leg.names) for leg in legs)
    tension = np.linspace(10.0, 900.0, count)
    forces = muscle_forces(model, legs, force=tension)
    np.testing.assert_allclose(forces.tension(AT, walking.q, 3.0 * walking.qd), np.tile(tension, (6, 1)))


def test_a_named_muscle_is_the_only_one_that_pulls(model, legs, walking):
    forces = muscle_forces(model, legs, {legs[0].names[3]: 1.0}, excitation=None)
    silent = muscle_forces(model, legs, 0.0)
    change = forces.tension(AT, walking.q, walking.qd) - silent.tension(AT, walking.q, walking.qd)
    assert set(np.flatnonzero(np.abs(change).max(axis=0))) <= {3}


def test_excitation_activates_with_delay(model, legs, walking):
    time = np.linspace(0.0, 0.3, 31)
    count = sum(len(leg.names) for leg in legs)
    onset = {"excitation": lambda t: np.tile((t > 0.1)[:, None] * 1.0, (1, count))}
    excited = muscle_forces(model, legs, time=time, **onset)
    at = excited.course(np.array([0.05, 0.105, 0.3]))
    assert at[0].max() == 0.0 and 0.0 < at[1].min() and at[1].max() < 0.8 and at[2].min() > 0.99


def test_what_contradicts_itself_is_refused(model, legs):
    with refused("missing_argument", "activation"):
        muscle_forces(model, legs)
    with refused("conflict", "excitation"):
        muscle_forces(model, legs, 0.1, excitation=0.1)
    with refused("duplicate_name"):
        muscle_forces(model, [legs[0], legs[0]], 0.1)
    with refused("missing_argument"):
        muscle_forces(model, [], 0.1)
    with refused("unknown_name", legs[0].names[0]):
        muscle_forces(model, legs, {legs[0].names[0] + "x": 0.1})
    with refused("not_finite"):
        muscle_forces(model, legs, float("nan"))
    with refused("conflict", "dynamics"):
        muscle_forces(model, legs, 0.1, dynamics=ActivationDynamics())
    with refused("unknown_name"):
        muscle_forces(forward_human_model(), legs, 0.1)
    for wrong in (None, "gait2392", [legs[0], 1]):
        with refused("bad_type", "muscles"):
            muscle_forces(model, wrong, 0.1)
    with refused("unknown_name", "between"):
        muscle_forces(model, legs, 0.1, between="steps")


def test_an_activation_that_fails_on_the_way_is_reported_with_muscle_and_time(model, legs):
    late = {legs[0].names[0]: lambda t: np.where(t > 0.0005, np.nan, 0.1)}
    with refused("not_finite", legs[0].names[0], " s"):
        simulate(
            model, model.standing, 0.0 * model.standing, 0.002, forces=[muscle_forces(model, legs, late)]
        )

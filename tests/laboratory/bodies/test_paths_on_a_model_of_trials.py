"""Paths over wrap objects and moving frames, in the equations of linked bodies."""

from __future__ import annotations

import numpy as np
import pytest
from poses import motion_through
from wrapped_leg import wrapped_leg

from musclesolve.dynamics import expand, projected_moments
from musclesolve.laboratory.bodies.linked_bodies import full_problem
from musclesolve.muscles import muscle_state

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


@pytest.mark.in_part(2)
@pytest.mark.parametrize("way", [lambda model: model, expand], ids=["plain", "expanded"])
def test_the_full_formulation_has_the_same_moment_arms(model, leg, posed, state, way):
    """Eliminating the multipliers from the rows dL_MT/dq, explicit part and all."""
    dofs = leg.dof_names[:5]
    full = full_problem(way(model), posed, [], [state], dofs).reduced
    np.testing.assert_allclose(full.moment_arm, state.moment_arm[:, :5], atol=1e-12)
    moments = projected_moments(model, posed, [])[:, [model.dof(dof) for dof in dofs]]
    passive = np.einsum("tkm,tm->tk", state.moment_arm[:, :5], state.passive_force)
    np.testing.assert_allclose(full.moment, moments - passive, atol=1e-8)

"""The nearest pose: no speed brings the body nearer to its targets, and Newton steps reach it soon."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.dynamics import MassProperties, Model, Targets, fit_pose, human_model, load_topology
from musclesolve.dynamics.rotations import from_cardan


def forward_model() -> Model:
    """The human model with spherical joints."""
    topology = load_topology("forward_human")
    count = len(topology.bodies)
    inertia = np.broadcast_to(np.eye(3), (count, 3, 3))
    return Model(
        topology, topology.standing_layout(), MassProperties(np.ones(count), np.zeros((count, 3)), inertia)
    )


@pytest.mark.parametrize("model_of", [human_model, forward_model])
def test_the_weighted_misfit_has_no_slope_at_the_nearest_pose(model_of):
    """Poses far from the laboratory's origin, with all points measured, off by centimeters."""
    model, rng, frames = model_of(), np.random.default_rng(3), 4
    tree = model.tree
    angles, position = 0.3 * rng.normal(size=(frames, tree.joint_count)), 10.0 * rng.normal(size=(frames, 3))
    q = tree.pose(angles, position, from_cardan(*rng.normal(size=(3, frames))))
    slots = np.arange(len(model.standing))
    target = q + 0.02 * rng.normal(size=q.shape)
    weights = rng.uniform(0.5, 2.0, len(slots))
    fit = fit_pose(model, Targets(slots, target, weights), tolerance=1e-11, max_iterations=30)
    assert not len(fit.unfitted)
    directions = tree.allowed(fit.q, fit.coordinates[:, tree.joint_count : tree.joint_count + 3], slots)
    slope = np.einsum("tnxk,n,tnx->tk", directions, weights, target - fit.q)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)

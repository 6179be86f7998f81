"""The system of a step toward the nearest pose: sums along the tree against the directions they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.dynamics import MassProperties, Model, human_model, load_topology, standing_layout
from musclesolve.dynamics.kinematics.pose_fit import Pose, normal_equations
from musclesolve.dynamics.rotations import from_cardan


def forward_model() -> Model:
    """The human model with spherical joints."""
    topology = load_topology("forward_human")
    count = len(topology.bodies)
    inertia = np.broadcast_to(np.eye(3), (count, 3, 3))
    return Model(
        topology, standing_layout(topology), MassProperties(np.ones(count), np.zeros((count, 3)), inertia)
    )


@pytest.fixture(scope="module", params=[human_model, forward_model])
def case(request):
    """A model, poses far from the laboratory's origin, targets with weights, free speeds."""
    model, rng = request.param(), np.random.default_rng(3)
    frames, tree = 4, model.tree
    pose = Pose(
        0.3 * rng.normal(size=(frames, tree.joint_count)),
        10.0 * rng.normal(size=(frames, 3)),
        from_cardan(*rng.normal(size=(3, frames))),
    )
    slots = rng.permutation(len(model.standing))[:25]
    target = tree.pose(pose.angles, pose.position, pose.rotation)[:, slots]
    target = target + 0.1 * rng.normal(size=target.shape)
    free = rng.random(tree.joint_count + 6) < 0.9
    return model, pose, slots, rng.uniform(0.5, 2.0, len(slots)), target, free


def system(case, near: float):
    model, pose, slots, weights, target, free = case
    q = model.tree.pose(pose.angles, pose.position, pose.rotation)
    pull = weights[:, None] * (target - q[:, slots])
    whole = np.full(len(q), near)
    return q, pull, normal_equations(model.tree, q, pose.position, slots, weights, pull, free, whole)


def test_far_from_the_optimum_it_is_that_of_gauss_and_newton(case):
    model, pose, slots, weights, _, free = case
    q, pull, (matrix, gradient) = system(case, 0.0)
    directions = model.tree.allowed(q, pose.position, slots)[..., free]
    plain = np.einsum("tnxk,n,tnxl->tkl", directions, weights, directions)
    np.testing.assert_allclose(matrix, plain, atol=1e-12 * np.abs(plain).max())
    np.testing.assert_allclose(gradient, np.einsum("tnxk,tnx->tk", directions, pull), atol=1e-12)


def test_near_the_optimum_it_is_the_second_derivative_of_the_misfit(case):
    """Along any direction of the speeds, by differences of half the weighted squares."""
    model, pose, slots, weights, target, free = case
    _, _, (matrix, gradient) = system(case, 1.0)
    np.testing.assert_allclose(matrix, np.swapaxes(matrix, 1, 2), atol=1e-13)
    direction = np.zeros((len(target), len(free)))
    direction[:, free] = np.random.default_rng(4).normal(size=(len(target), free.sum()))

    def misfit(step: float) -> np.ndarray:
        moved = pose.moved(model.tree, step * direction)
        q = model.tree.pose(moved.angles, moved.position, moved.rotation)
        return 0.5 * np.einsum("n,tnx->t", weights, (q[:, slots] - target) ** 2)

    before, here, after = misfit(-1e-4), misfit(0.0), misfit(1e-4)
    along = direction[:, free]
    np.testing.assert_allclose((after - before) / 2e-4, -(gradient * along).sum(axis=1), rtol=1e-6, atol=1e-7)
    second = np.einsum("tk,tkl,tl->t", along, matrix, along)
    np.testing.assert_allclose((after - 2.0 * here + before) / 1e-8, second, rtol=1e-5)

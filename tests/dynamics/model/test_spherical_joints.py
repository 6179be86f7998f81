"""Spherical joints and extra points in the core: rotation vectors, allowed directions, constraints."""

from importlib import resources

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import load_topology
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.model.rigid_body import RigidBodies
from musclesolve.dynamics.rotations import (
    continuous,
    from_cardan,
    from_vector,
    to_vector,
    vector_jacobian,
    vector_jacobian_rate,
)

FRAMES = 5


@pytest.fixture(scope="module")
def topology():
    return load_topology("forward_human")


@pytest.fixture(scope="module")
def tree(topology):
    return Tree.build(topology, topology.standing_layout())


@pytest.fixture(scope="module")
def constraints(topology):
    return Constraints.build(topology, topology.standing_layout())


@pytest.fixture(scope="module")
def state(tree):
    """Random angles, origin, pose, speeds and rates of the 29 degrees of freedom."""
    rng = np.random.default_rng(31)
    angles, origin = 0.7 * rng.normal(size=(FRAMES, 23)), rng.normal(size=(FRAMES, 3))
    q = tree.pose(angles, origin, from_cardan(*rng.normal(size=(3, FRAMES))))
    speeds, rates = rng.normal(size=(2, FRAMES, 29))
    return angles, origin, q, speeds, rates


def test_counts_of_the_forward_model(topology, constraints):
    """Table 3.5: twelve bodies, sixteen points, seventeen vectors, 99 coordinates; Table 3.6: 29 freedoms."""
    assert (len(topology.bodies), topology.point_count, len(topology.vectors)) == (12, 16, 17)
    assert 3 * len(topology.coordinate_names) == 99
    assert len(topology.dof_names) == 29
    assert sorted(body.number for body in topology.bodies) == list(range(1, 13))
    assert len(constraints.names) == 70


def test_twenty_nine_degrees_of_freedom_remain(constraints, tree, state):
    jacobian = constraints.jacobian(state[2]).reshape(FRAMES, -1, 99)
    assert (99 - np.linalg.matrix_rank(jacobian) == 29).all()
    directions = tree.allowed(state[2], state[1]).reshape(FRAMES, 99, 29)
    assert (np.linalg.matrix_rank(directions) == 29).all()
    assert np.abs(jacobian @ directions).max() < 1e-13


def test_left_mirrors_right(topology):
    standing = dict(zip(topology.coordinate_names, topology.standing_layout(), strict=True))
    for name in list(standing)[:16]:
        if name.endswith("_r"):
            np.testing.assert_array_equal(standing[name], [1, -1, 1] * standing[name[:-1] + "l"])


def test_poses_and_motions_satisfy_the_constraints(constraints, tree, state):
    _, origin, q, speeds, rates = state
    assert np.abs(constraints.violation(q)).max() < 1e-13
    qd = tree.velocity(q, speeds, origin)
    qdd = tree.acceleration(q, qd, speeds, rates, origin, speeds[:, 23:26])
    jacobian = constraints.jacobian(q)
    assert np.abs(np.einsum("tcnx,tnx->tc", jacobian, qd)).max() < 1e-13
    residual = np.einsum("tcnx,tnx->tc", jacobian, qdd) - constraints.gamma(qd)
    assert np.abs(residual).max() < 1e-12


def test_an_extra_point_is_a_linear_combination_of_its_base(topology, constraints, tree, state):
    """The constraint (2.19) is what keeps the base of the neck on the torso."""
    q = state[2].copy()
    rows = [k for k, name in enumerate(constraints.names) if name.startswith("neck_base in thorax")]
    assert len(rows) == 3
    q[:, topology.slot["neck_base"]] += [0.01, -0.02, 0.03]
    moved = constraints.value(q)[:, rows]
    np.testing.assert_allclose(np.abs(moved), np.tile([0.01, 0.02, 0.03], (FRAMES, 1)), atol=1e-14)
    body = topology.body_index["thorax"]
    rigid_bodies = RigidBodies.build(topology, topology.standing_layout())
    arm = topology.standing_layout()[topology.slot["neck_base"]] - rigid_bodies.origin[body]
    expected = state[2][:, rigid_bodies.slots[body, 0]] + rigid_bodies.rotation(state[2])[:, body] @ arm
    np.testing.assert_allclose(state[2][:, topology.slot["neck_base"]], expected, atol=1e-13)


def test_spherical_axes_rotate_with_the_parent(topology, tree, state):
    rigid_bodies = RigidBodies.build(topology, topology.standing_layout())
    axes, rotation = tree.axes(state[2]), rigid_bodies.rotation(state[2])
    k = topology.dof_names.index("hip_flexion_r")
    expected = rotation[:, topology.body_index["pelvis"]] @ np.array([0.0, -1.0, 0.0])
    np.testing.assert_allclose(axes[:, k], expected, atol=1e-13)


def test_rates_and_speeds_are_each_others_inverse(tree, state):
    rng = np.random.default_rng(32)
    rates, second = rng.normal(size=(2, FRAMES, 23))
    speeds, speed_rates = tree.speeds(state[0], rates, second)
    back, back_second = tree.rates(state[0], speeds, speed_rates)
    np.testing.assert_allclose(back, rates, atol=1e-12)
    np.testing.assert_allclose(back_second, second, atol=1e-11)


def test_velocities_are_the_derivative_of_poses(tree, state):
    """Coordinates and their rates against differences of poses, spherical joints included."""
    angles = state[0]
    still, upright = np.zeros((FRAMES, 3)), np.broadcast_to(np.eye(3), (FRAMES, 3, 3))
    rates, second = np.random.default_rng(33).normal(size=(2, FRAMES, 23))
    speeds, speed_rates = (
        np.column_stack([x, np.zeros((FRAMES, 6))]) for x in tree.speeds(angles, rates, second)
    )
    q, step = tree.pose(angles, still, upright), 1e-4
    near = {
        s: tree.pose(angles + s * step * rates + 0.5 * (s * step) ** 2 * second, still, upright)
        for s in (-1, 1)
    }
    qd = tree.velocity(q, speeds, still)
    np.testing.assert_allclose((near[1] - near[-1]) / (2 * step), qd, atol=1e-6)
    qdd = tree.acceleration(q, qd, speeds, speed_rates, still, still)
    np.testing.assert_allclose((near[1] - 2 * q + near[-1]) / step**2, qdd, atol=1e-5)


def test_a_step_of_a_spherical_joint_is_composed(tree):
    rng = np.random.default_rng(34)
    angles, step = 0.8 * rng.normal(size=(2, 3, 23))
    after = tree.moved(angles, step)
    joints, axes = tree.spherical[0], tree.fixed_axes[0]
    expected = from_vector(step[:, joints] @ axes) @ from_vector(angles[:, joints] @ axes)
    np.testing.assert_allclose(from_vector(after[:, joints] @ axes), expected, atol=1e-13)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.2, 0.3, 2.0, 3.1, np.pi - 1e-9])
def test_rotation_vectors_return_from_their_matrices(size):
    vectors = np.random.default_rng(35).normal(size=(6, 3))
    vectors *= size / np.linalg.norm(vectors, axis=1)[:, None]
    matrices = from_vector(vectors)
    np.testing.assert_allclose(
        matrices @ np.swapaxes(matrices, 1, 2), np.tile(np.eye(3), (6, 1, 1)), atol=1e-14
    )
    np.testing.assert_allclose(to_vector(matrices), vectors, atol=1e-13)


def test_rotation_vector_jacobian_gives_the_angular_velocity():
    vectors, rates = np.random.default_rng(36).normal(size=(2, 50, 3))
    vectors[:10] *= 1e-3
    step = 1e-20j
    slope = from_vector(vectors + step * rates).imag / 1e-20
    spin = slope @ np.swapaxes(from_vector(vectors), 1, 2)
    expected = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    np.testing.assert_allclose(np.einsum("txy,ty->tx", vector_jacobian(vectors), rates), expected, atol=1e-13)
    turning = vector_jacobian(vectors + step * rates).imag / 1e-20
    np.testing.assert_allclose(vector_jacobian_rate(vectors, rates), turning, atol=1e-13)


def test_a_rotation_beyond_180_degrees_stays_continuous():
    angle = np.linspace(2.0, 5.0, 40)
    vectors = angle[:, None] * np.array([0.6, 0.0, 0.8])
    np.testing.assert_allclose(continuous(to_vector(from_vector(vectors))), vectors, atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "trunk_flexion = [0.0, 1.0, 0.0]",
            "trunk_flexion = [0.0, 1.0, 0.1]",
            ("bad_value", "perpendicular"),
        ),
        ('extra = ["neck_base"]', 'extra = ["tail"]', ("unknown_name", "tail")),
        (
            '["hip_r", "hip_l", "back"], vectors',
            '["hip_r", "back"], extra = ["hip_l"], vectors',
            ("bad_model",),
        ),
    ],
    ids=["skew axes", "unknown point", "parent by cross product"],
)
def test_a_spherical_joint_that_cannot_be_is_refused(tmp_path, old, new, words):
    text = (resources.files("musclesolve.dynamics.model") / "definitions" / "forward_human.toml").read_text()
    assert old in text
    file = tmp_path / "mine.toml"
    file.write_text(text.replace(old, new))
    with refused(*words):
        broken = load_topology(file)
        Tree.build(broken, broken.standing_layout())

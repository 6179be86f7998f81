"""The smallest change of a motion that reduces the residual at the base: laws on the synthetic stride."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import differentiate, projected_moments
from musclesolve.dynamics.inverse.residual_reduction import MASS, NaturalBody, ResidualReduction, moved_pose
from musclesolve.dynamics.kinematics.pose_fit import Pose
from musclesolve.dynamics.rotations import to_cardan
from musclesolve.studies.synthetic import reference_stride

CUTOFF = 6.0


def residual_of(model, motion, wrenches):
    return projected_moments(model, motion, wrenches)[:, -6:]


def stepped(model, motion, change):
    """The motion after a change (T, K+6) along its speeds."""
    pose = moved_pose(model.tree, Pose.from_coordinates(motion.coordinates), change)
    coordinates = np.column_stack([pose.angles, pose.position, *to_cardan(pose.rotation)])
    coordinates[:, -3:] = np.unwrap(coordinates[:, -3:], axis=0)
    return differentiate(model, motion.time, coordinates)


@pytest.fixture(scope="module")
def stride():
    """Model, motion at 100 Hz and wrenches of the reference stride, which balance each other."""
    found = reference_stride()
    time = np.arange(0.0, 1.0, 0.01)
    motion = differentiate(found.model, time, found.coordinates(time))
    return found.model, motion, found.wrenches(time)


@pytest.fixture(scope="module")
def reduction(stride):
    _, motion, _ = stride
    return ResidualReduction.at(NaturalBody(*stride), np.ones(len(motion.time), bool), CUTOFF)


@pytest.fixture(scope="module")
def disturbed(stride):
    """The stride with a trunk and a pelvis that sway by some millimeters."""
    model, motion, _ = stride
    wave = np.sin(2.0 * np.pi * 2.0 * motion.time)
    change = np.zeros_like(motion.coordinates)
    change[:, model.tree.joint_count : model.tree.joint_count + 3] = 0.002 * wave[:, None]
    change[:, model.dof("trunk_flexion")] = 0.01 * wave
    return stepped(model, motion, change)


def test_a_motion_that_forces_balance_is_not_changed(stride, reduction) -> None:
    model, motion, wrenches = stride
    inner = residual_of(model, motion, wrenches)[5:-5]
    assert np.abs(inner).max() < 0.01  # [N, N m]; the ends have the error of the spline
    found = reduction.reduced(NaturalBody(model, motion, wrenches))
    assert found.change[5:-5].max() < 2e-5 and found.mass == pytest.approx(1.0, abs=1e-4)


def test_the_change_of_the_residual_is_the_one_of_inverse_dynamics(stride, reduction) -> None:
    """A small smooth change of all speeds changes the residual as the rows say: force and moment."""
    model, motion, wrenches = stride
    number, speeds = reduction.splines.shape[2], motion.coordinates.shape[1]
    phase = np.random.default_rng(1).uniform(0.0, 2.0 * np.pi, speeds)
    coefficients = 1e-6 * np.sin(np.linspace(0.0, 10.0, number)[:, None] + phase)
    moved = stepped(model, motion, reduction.splines[0] @ coefficients)
    before, after = (residual_of(model, each, wrenches) for each in (motion, moved))
    rise = after - before
    # the moment of the rows is about the middle of the hips as it was
    rise[:, 3:] += np.cross(moved.coordinates[:, -6:-3] - motion.coordinates[:, -6:-3], after[:, :3])
    predicted = np.einsum("trc,c->tr", jacobian(reduction), coefficients.ravel()) / reduction.scale
    inner = slice(8, -8)
    size = np.abs(rise[inner]).max(axis=0)
    np.testing.assert_allclose(predicted[inner] / size, rise[inner] / size, atol=2e-3)


def jacobian(reduction) -> np.ndarray:
    """Change of the residual over s_r with all coefficients, (T, 6, n (K+6))."""
    _, frames, number = reduction.splines.shape
    speeds = reduction.rows[0].shape[2]
    found = np.zeros((frames, 6, number, speeds))
    for k, rows in enumerate(reduction.rows):
        first = int(np.flatnonzero(reduction.splines[0][:, k])[0])
        found[first : first + len(rows), :, k] = rows
    return found.reshape(frames, 6, -1)


@pytest.mark.thorough
def test_the_residual_falls_as_far_as_dense_least_squares_say(stride, disturbed, reduction) -> None:
    """The banded steps end where one dense solution of the linear problem ends, but for what is not linear."""
    model, _, wrenches = stride
    matrix = jacobian(reduction)
    matrix = matrix.reshape(-1, matrix.shape[2])
    size = matrix.shape[1]
    held = np.zeros((size, size))
    for apart, diagonal in enumerate(reduction.bands[1]):
        along = np.arange(size - apart)
        held[along + apart, along] = held[along, along + apart] = diagonal[: size - apart]
    before = residual_of(model, disturbed, wrenches) * reduction.scale
    heavier = (residual_of(model, disturbed, []) * reduction.scale).ravel()
    normal = np.zeros((size + 1, size + 1))
    normal[:-1, :-1] = matrix.T @ matrix + held / reduction.size**2
    normal[-1, :-1] = normal[:-1, -1] = -matrix.T @ heavier
    normal[-1, -1] = heavier @ heavier + MASS**-2
    best = np.linalg.solve(normal, np.append(-matrix.T @ before.ravel(), heavier @ before.ravel()))
    found = reduction.reduced(NaturalBody(model, disturbed, wrenches))
    after = residual_of(model, found.body.motion, wrenches) * reduction.scale
    predicted = before + (matrix @ best[:-1]).reshape(before.shape)
    assert np.linalg.norm(after) < 0.3 * np.linalg.norm(before)
    assert np.linalg.norm(after - predicted) < 0.02 * np.linalg.norm(before)
    assert found.mass == pytest.approx(1.0 - best[-1], abs=1e-4)
    assert np.abs(model.constraints.violation(found.body.motion.q)).max() < 1e-10


def test_the_bound_holds_every_point(stride, disturbed, reduction) -> None:
    model, _, wrenches = stride
    free = reduction.reduced(NaturalBody(model, disturbed, wrenches)).change.max()
    tighter, found = reduction.bounded(NaturalBody(model, disturbed, wrenches), 0.25 * free)
    assert 0.1 * free < found.change.max() <= 0.25 * free and tighter.size < reduction.size


def test_a_bound_that_cannot_be_held_is_refused(stride, disturbed, reduction, monkeypatch) -> None:
    monkeypatch.setattr("musclesolve.dynamics.inverse.residual_reduction.MOST_TRIALS", 1)
    with refused("conflict"):
        reduction.bounded(NaturalBody(stride[0], disturbed, stride[2]), 1e-5)


def test_frames_without_known_forces_ask_for_no_change(stride, disturbed) -> None:
    model, _, wrenches = stride
    body = NaturalBody(model, disturbed, wrenches)
    none = ResidualReduction.at(body, np.zeros(len(disturbed.time), bool), CUTOFF)
    assert none.reduced(body).change.max() < 1e-12


def test_a_wrong_body_mass_is_found_and_bends_no_motion(stride, reduction) -> None:
    model, motion, wrenches = stride
    heavier = replace(
        model, mass=replace(model.mass, mass=1.1 * model.mass.mass, inertia=1.1 * model.mass.inertia)
    )
    body = NaturalBody(heavier, motion, wrenches)
    found = ResidualReduction.at(body, np.ones(len(motion.time), bool), CUTOFF).reduced(body)
    assert found.mass == pytest.approx(1.0 / 1.1, abs=0.01) and found.change.max() < 2e-3


def test_locked_degrees_of_freedom_stay(stride, disturbed) -> None:
    model, _, wrenches = stride
    locked = [name for name in model.topology.dof_names if name.startswith(("elbow", "forearm"))]
    assert locked
    rows, body = [model.dof(name) for name in locked], NaturalBody(model, disturbed, wrenches)
    found = ResidualReduction.at(body, np.ones(len(disturbed.time), bool), CUTOFF, rows).reduced(body)
    change = found.body.motion.coordinates - disturbed.coordinates
    assert np.abs(change[:, rows]).max() < 1e-12 < np.abs(change).max()

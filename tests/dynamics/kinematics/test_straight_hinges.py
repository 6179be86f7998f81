"""A straight elbow does not show how the upper arm is rotated: the pose goes on without jumps, and is right where it is
shown.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from thorough import some

from musclesolve.dynamics import Targets, fit_pose
from musclesolve.dynamics.kinematics.measured_targets import (
    BACKWARDS,
    SHOWN,
    USUAL_SPEED,
    shown_rotation,
    stiffness,
)
from musclesolve.dynamics.kinematics.pose_fit import Rest

REST = 0.01  # of the model [m]
DURATION = 2.0  # [s]


def waves(rng, time, size):
    """Smooth displacements (T, 3) [m] below 3 Hz, rms as stated."""
    frequency, phase = rng.uniform(0.3, 3.0, (3, 4)), rng.uniform(0.0, 2.0 * np.pi, (3, 4))
    return size * np.sin(2.0 * np.pi * frequency * time[:, None, None] + phase).sum(axis=2) / np.sqrt(2.0)


def through_straight(model, time, rng, lowest=-8.0):
    """Angles (T, K) of elbows that bend and straighten, a little beyond straight, while the upper arms rotate."""
    angles = np.zeros((len(time), model.tree.joint_count))
    for side in "rl":
        low, high = rng.uniform(lowest, 3.0), rng.uniform(10.0, 45.0)
        middle, swing = rng.uniform(-40.0, 60.0), rng.uniform(10.0, 50.0)
        one, other = (
            np.sin(2.0 * np.pi * rng.uniform(0.5, 1.2) * time + rng.uniform(0.0, 6.0)) for _ in "ab"
        )
        angles[:, model.dof(f"elbow_flexion_{side}")] = np.radians(0.5 * (low + high + (high - low) * one))
        angles[:, model.dof(f"shoulder_internal_rotation_{side}")] = np.radians(middle + swing * other)
        angles[:, model.dof(f"shoulder_adduction_{side}")] = np.radians(-15.0)
    return angles


def seen(model, angles, displaced=None):
    """Targets of the points of the body but for hands and head; displaced: point -> (T, 3) [m]."""
    frames = len(angles)
    q = model.tree.pose(angles, np.zeros((frames, 3)), np.broadcast_to(np.eye(3), (frames, 3, 3)))
    names = model.topology.coordinate_names[: model.topology.point_count]
    points = {name: q[:, model.slot(name)] for name in names if not name.startswith(("hand", "head"))}
    for name, by in (displaced or {}).items():
        points[name] = points[name] + by
    axes = ("pelvis_forward", "knee_axis_r", "knee_axis_l", "ankle_axis_r", "ankle_axis_l")
    return Targets.build(model, points, {name: q[:, model.slot(name)] for name in axes})


def planted(model, seed, rate):
    """Arms through straight, with moving skin and elbow centers up to 36 mm from where they are; times, targets."""
    rng, time = np.random.default_rng(seed), np.arange(0.0, DURATION, 1.0 / rate)
    angles, aside = through_straight(model, time, rng), rng.choice([0.0, 0.02, 0.036])
    skin = rng.uniform(0.002, 0.006)
    displaced = {
        f"{name}_{side}": waves(rng, time, 0.3 * skin) for side in "rl" for name in ("elbow", "wrist")
    }
    for side, outward in (("r", -1.0), ("l", 1.0)):
        displaced[f"elbow_{side}"] += aside * np.array([0.0, outward, 0.0])
    return time, angles, seen(model, angles, displaced)


def reach(model):
    """Length of a forearm [m]."""
    return np.linalg.norm(model.standing[model.slot("wrist_r")] - model.standing[model.slot("elbow_r")])


def arm_dofs(model):
    return [
        model.dof(f"{name}_{side}")
        for side in "rl"
        for name in ("elbow_flexion", "shoulder_internal_rotation")
    ]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("seed", some(range(12), 4))
def test_the_pose_of_smooth_markers_is_smooth(model, seed):
    """Twice as many frames a second, half the steps; and a step that follows from those of the markers.

    A wrist that passes a straight arm at the speed v rotates the path in the time t with t^2 = rest / (w v), in which
    misfit (v t)^2 and stiffness rest^2 / (w t)^2 are equal: no faster than half a turn in that time.
    """
    largest = []
    for rate in (100.0, 200.0):
        time, _, targets = planted(model, seed, rate)
        steps = np.abs(np.diff(fit_pose(model, targets, time).coordinates[:, arm_dofs(model)], axis=0))
        beside = [
            targets.values[:, list(targets.slots).index(model.slot(f"{name}_{side}"))]
            for side in "rl"
            for name in ("shoulder", "elbow", "wrist")
        ]
        moved = max(
            np.linalg.norm(np.diff(wrist - 2.0 * elbow + shoulder, axis=0), axis=1).max()
            for shoulder, elbow, wrist in (beside[:3], beside[3:])
        )
        assert steps.max() < np.pi * np.sqrt(USUAL_SPEED / rate * moved / REST)
        largest.append(steps.max())
    assert largest[1] < 0.65 * largest[0]


@pytest.mark.parametrize("seed", some(range(12), 4))
def test_an_elbow_does_not_bend_backward(model, seed):
    """Also where the marker of the elbow lies beside its center, which bends the line from shoulder to wrist."""
    time, _, targets = planted(model, seed, 100.0)
    flexion = fit_pose(model, targets, time).coordinates[:, arm_dofs(model)[::2]]
    assert flexion.min() > -BACKWARDS - np.radians(3.0)


def test_a_left_arm_is_followed_as_a_right_one(model):
    """Mirrored, the targets give the mirrored angles."""
    time, _, targets = planted(model, 3, 100.0)
    names = [model.topology.coordinate_names[slot] for slot in targets.slots]
    other = [
        name[:-2] + {"_r": "_l", "_l": "_r"}[name[-2:]] if name[-2:] in ("_r", "_l") else name
        for name in names
    ]
    # Axes to the left stay what they are when left and right are exchanged: the mirror turns them over.
    sign = np.array([-1.0 if "axis" in name else 1.0 for name in names])[:, None]
    values = targets.values * [1.0, -1.0, 1.0] * sign
    mirrored = replace(targets, values=values[:, [names.index(name) for name in other]])
    one, two = (fit_pose(model, each, time).coordinates for each in (targets, mirrored))
    for name in ("elbow_flexion", "shoulder_internal_rotation", "shoulder_flexion", "hip_flexion"):
        for side, opposite in ("rl", "lr"):
            there, here = two[:, model.dof(f"{name}_{opposite}")], one[:, model.dof(f"{name}_{side}")]
            np.testing.assert_allclose(there, here, atol=1e-6)


def test_a_bent_elbow_is_a_matter_of_its_own_frame(model):
    """Where the points show the rotation, the frame alone gives the same pose, and the same as drawn to zero weakly."""
    rng, time = np.random.default_rng(7), np.arange(0.0, DURATION, 0.01)
    angles = through_straight(model, time, rng)
    for side in "rl":
        # nowhere so straight that the rotation is hidden
        angles[:, model.dof(f"elbow_flexion_{side}")] = np.radians(30.0 + 14.0 * np.sin(3.0 * time))
    displaced = {name: waves(rng, time, 0.001) for name in ("elbow_r", "wrist_r", "elbow_l", "wrist_l")}
    targets = seen(model, angles, displaced)
    whole = fit_pose(model, targets, time)
    assert not whole.rest.weights.any()
    for k in range(0, len(time), 20):
        alone = fit_pose(model, targets.frames(slice(k, k + 1)))
        np.testing.assert_allclose(alone.coordinates[0], whole.coordinates[k], atol=1e-7)

    turns = arm_dofs(model)[1::2]
    weights = np.zeros_like(whole.rest.weights)
    weights[:, turns] = REST**2
    drawn = fit_pose(model, targets, time, rest=Rest(np.zeros_like(weights), weights))
    off = np.abs(drawn.coordinates - whole.coordinates)[:, turns]
    beside = reach(model) * np.sin(angles[:, arm_dofs(model)[::2]])
    # drawn by rest^2 phi against a misfit of |p|^2 / 6: shoulder, elbow and wrist share what the elbow is out of line
    assert (off < 8.0 * np.abs(whole.coordinates[:, turns]).max() * (REST / beside) ** 2 + 1e-6).all()


def test_exact_points_give_the_true_angles(model):
    """Bent, to round-off; straight, to what the neighbors show."""
    rng, time = np.random.default_rng(11), np.arange(0.0, DURATION, 0.01)
    angles = through_straight(model, time, rng, lowest=-3.0)
    found = fit_pose(model, seen(model, angles), time).coordinates[:, : angles.shape[1]]
    # an arm that is straight moves the trunk, and so the other arm, by what it is off
    bent = (reach(model) * np.sin(angles[:, arm_dofs(model)[::2]]) > SHOWN * REST).all(axis=1)
    assert bent.any() and not bent.all()
    for bend, turn in np.reshape(arm_dofs(model), (2, 2)):
        np.testing.assert_allclose(found[bent, turn], angles[bent, turn], atol=1e-6)
        np.testing.assert_allclose(found[:, bend], angles[:, bend], atol=np.radians(1.0))
        np.testing.assert_allclose(found[:, turn], angles[:, turn], atol=np.radians(12.0))
        assert np.sqrt(np.mean((found[:, turn] - angles[:, turn]) ** 2)) < np.radians(4.0)


def test_where_it_starts_does_not_matter(model):
    time, _, targets = planted(model, 5, 100.0)
    fit = fit_pose(model, targets, time)
    over = fit.coordinates.copy()
    bend, turn = arm_dofs(model)[:2]
    over[50:120, turn] += np.pi
    over[50:120, bend] *= -1.0
    for start in (fit.coordinates, over):
        np.testing.assert_allclose(
            fit_pose(model, targets, time, start=start).coordinates, fit.coordinates, atol=1e-7
        )


def test_the_path_is_the_least_of_all(model):
    """Against many others: constant ones, the direction of every frame, and the path turned over for a while."""
    rng, frames = np.random.default_rng(2), 120
    time = np.linspace(0.0, 1.2, frames)
    beside = 0.05 * np.sin(2.0 * np.pi * time) + 0.03 + 0.004j * np.cos(3.0 * time)
    beside = beside * np.exp(0.7j) + 0.003 * (rng.normal(size=frames) + 1j * rng.normal(size=frames))
    stiff = stiffness(time, frames, REST)
    path = shown_rotation(stiff, beside, 0.25, REST)

    def total(phi):
        turned = beside * np.exp(-1j * phi)
        back = np.maximum(0.0, -turned.real - 0.25 * np.sin(BACKWARDS))
        return (turned.imag**2 + back**2 + REST**2 / frames * phi**2).sum() + (
            stiff * np.diff(phi) ** 2
        ).sum()

    others = [np.full(frames, angle) for angle in np.linspace(-np.pi, np.pi, 73)]
    others += [np.unwrap(np.angle(beside)), path + 1e-3 * np.sin(7.0 * time)]
    others += [path + np.pi * (np.clip((time - at) / 0.1, 0.0, 1.0)) for at in np.linspace(0.0, 1.1, 12)]
    assert all(total(path) < total(other) for other in others)

"""Derivatives of a model driven by joint angles: equal to central differences, and shielded between branches."""

from dataclasses import replace

import numpy as np
import pytest

from musclesolve.dynamics import Sensitivity, Targets, differentiate, projected_moments
from musclesolve.dynamics.kinematics.consistent_motion import drive_pose

POINTS = (
    "toe_r heel_r ankle_r knee_r hip_r hip_l knee_l ankle_l heel_l toe_l wrist_r elbow_r shoulder_r shoulder_l elbow_l "
    "wrist_l neck_base back head_base head_low head_top hand_radial_r hand_ulnar_r hand_radial_l hand_ulnar_l"
).split()
AXES = "ankle_axis_r ankle_axis_l knee_axis_r knee_axis_l elbow_axis_r elbow_axis_l pelvis_forward".split()
METHOD = "joint_angles"


def close(exact, differenced, tolerance):
    return np.abs(exact - differenced).max() < tolerance * np.abs(exact).max()


@pytest.fixture(scope="module")
def measured(model, motion):
    """Points and axes that no pose fits exactly."""
    rng = np.random.default_rng(52)
    slots = np.array([model.slot(name) for name in POINTS + AXES])
    wave = np.sin(6.0 * motion.time[:, None, None] + 6.0 * rng.random((len(slots), 3)))
    values = motion.q[:, slots] + 0.01 * rng.normal(size=(len(slots), 3)) * (1.0 + wave)
    targets = Targets(slots, values, np.where(slots < 25, 1.0, 0.01))
    return targets, driven(model, targets)


def driven(model, targets, start=None):
    return drive_pose(model, targets, tolerance=1e-10, max_iterations=300, start=start)


def slope(model, targets, fit, name, axis, what, step=1e-3):
    """Derivative by one coordinate of one target, by central differences of fourth order."""
    place, ends = list(targets.slots).index(model.slot(name)), []
    for times in (-2.0, -1.0, 1.0, 2.0):
        values = targets.values.copy()
        values[:, place, axis] += times * step
        ends.append(what(driven(model, replace(targets, values=values), fit.coordinates)))
    return (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * step)


def test_moments_against_central_differences(model, motion, wrenches, measured):
    targets, fit = measured
    found = Sensitivity.by_landmark(model, motion.time, targets, wrenches, ["knee_r"], method=METHOD)

    def moments(fit):
        return projected_moments(model, differentiate(model, motion.time, fit.coordinates), wrenches)

    assert close(found.values[:, :, 1], slope(model, targets, fit, "knee_r", 1, moments), 1e-6)


@pytest.mark.thorough
def test_both_levels_of_the_source_approach_the_derivative(model, motion, wrenches, measured):
    """The error of differences of 1 dm, 1 cm and 1 mm (5.15) decreases with their size."""
    targets, _ = measured
    exact = Sensitivity.by_landmark(model, motion.time, targets, wrenches, ["knee_r"], method=METHOD).values
    size, off = np.abs(exact).max(), []
    for by in (0.1, 0.01, 0.001):
        found = Sensitivity.by_landmark(
            model, motion.time, targets, wrenches, ["knee_r"], method=METHOD, by=by
        )
        off.append(np.abs(found.values - exact).max() / size)
    assert off[1] < 0.2 * off[0] and off[2] < 0.2 * off[1] < 0.1


@pytest.mark.thorough
def test_an_error_at_the_head_stays_in_its_branch(model, motion, wrenches, measured):
    """As the source prints (5.33 to 5.35); the nearest pose shares the error with the pelvis and so with the legs."""
    targets, _ = measured
    values = Sensitivity.by_landmark(
        model, motion.time, targets, wrenches, ["head_top"], method=METHOD
    ).largest()
    legs = [k for k, dof in enumerate(model.topology.dof_names) if dof.startswith(("hip", "knee", "ankle"))]
    assert np.abs(values[legs]).max() < 1e-7 * values.max()
    shared = Sensitivity.by_landmark(model, motion.time, targets, wrenches, ["head_top"]).largest()
    assert np.abs(shared[legs]).max() > 1e-3 * shared.max()

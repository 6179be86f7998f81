"""The pose as it was measured: nothing is moved, and what that violates is known."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import Targets, consistent_motion, fit_pose, projected_moments
from musclesolve.studies.synthetic import reference_stride

KNEE = "knee_r"
POINTS = (
    "hip_r",
    "hip_l",
    "back",
    KNEE,
    "knee_l",
    "ankle_r",
    "ankle_l",
    "heel_r",
    "heel_l",
    "toe_r",
    "toe_l",
)
AXES = ("pelvis_forward", "knee_axis_r", "knee_axis_l", "ankle_axis_r", "ankle_axis_l")


@pytest.fixture(scope="module")
def walk():
    """Model, time, true motion and the ground forces of a quarter of a stride at 240 Hz."""
    stride = reference_stride()
    time = np.arange(65) / 240.0
    return stride.model, time, stride.motion(time), stride.wrenches(time)


def seen(model, motion, **moved) -> Targets:
    points = {name: motion.q[:, model.slot(name)] + moved.get(name, 0.0) for name in POINTS}
    return Targets.build(model, points, {name: motion.q[:, model.slot(name)] for name in AXES})


def test_measured_points_stay_and_the_rest_is_of_the_nearest_pose(walk) -> None:
    model, time, motion, _ = walk
    targets = seen(model, motion, **{KNEE: np.array([0.0, 0.0, 0.01])})
    fit, _ = consistent_motion(model, targets, time, "none", "splines")
    nearest = fit_pose(model, targets, time)
    assert np.array_equal(fit.q[:, targets.slots], targets.values) and not fit.residual.any()
    others = np.setdiff1d(np.arange(fit.q.shape[1]), targets.slots)
    assert np.array_equal(fit.q[:, others], nearest.q[:, others])
    assert np.array_equal(fit.coordinates, nearest.coordinates)


def test_the_violation_is_the_error_of_the_length(walk) -> None:
    """A knee seen a centimeter farther along the thigh makes the thigh a centimeter too long."""
    model, time, motion, _ = walk
    hip, knee = (motion.q[:, model.slot(name)] for name in ("hip_r", KNEE))
    along = (knee - hip) / np.linalg.norm(knee - hip, axis=1, keepdims=True)
    fit, _ = consistent_motion(model, seen(model, motion, **{KNEE: 0.01 * along}), time, "none", "splines")
    row = model.constraints.names.index("(hip_r->knee_r) . (hip_r->knee_r)")
    thigh = np.abs(model.constraints.violation(fit.q)[:, row])
    # (|r|^2 - L^2) / (2 |r|) with |r| = L + d
    length = np.linalg.norm(knee - hip, axis=1)
    assert np.allclose(thigh, 0.01 * (2.0 * length + 0.01) / (2.0 * (length + 0.01)), atol=1e-9)


def test_consistent_points_need_no_step(walk) -> None:
    """Where measurement fits the model, moments are those of the consistent motion, to the error of splines."""
    model, time, motion, wrenches = walk
    targets = seen(model, motion)
    inner = slice(6, -6)
    moments = [
        projected_moments(model, consistent_motion(model, targets, time, *how)[1], wrenches)[inner, :14]
        for how in (("nearest", "constraints"), ("none", "splines"))
    ]
    assert np.abs(moments[0]).max() > 20.0
    assert np.abs(moments[1] - moments[0]).max() < 0.05


def test_rates_by_constraints_are_refused(walk) -> None:
    model, time, motion, _ = walk
    with refused("conflict", "constraints", "none"):
        consistent_motion(model, seen(model, motion), time, "none")

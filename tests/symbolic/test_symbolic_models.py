"""Devices and ball joints of OpenSim models in symbols, beside the numeric road."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casadi
import numpy as np
import pytest
from device_models import DEVICES, ON_KNEE, with_force
from small_model import TEXT, save_model
from symbolic_states import drawn_motion

import musclesolve as ms
from musclesolve.models.opensim.inverse_dynamics import distal_reactions, inverse_dynamics
from musclesolve.models.opensim.segments import segments

LIMITS = "<lower_limit>-0.2</lower_limit><upper_limit>0.1</upper_limit>"
MORE = {
    "ExponentialCoordinateLimitForce": f"{ON_KNEE}{LIMITS}<lower_shape_parameters>2 6</lower_shape_parameters>"
    "<upper_shape_parameters>3 5</upper_shape_parameters>",
    "CoordinateLinearStopForce": f"{ON_KNEE}<stiffness>50</stiffness><damping>0.9</damping>{LIMITS}",
}
CONTENTS = {kind: content for kind, (content, _) in DEVICES.items()} | MORE


def beside_numbers(model, seed: int = 1):
    """Generalized forces (T, n) of symbols and of the numeric road, and both reactions (T, J, 6) by body."""
    body = ms.symbolic.skeleton(model)
    free, motion = drawn_motion(model, body.dofs, seed=seed, frames=20)
    numeric = inverse_dynamics(model, motion)
    columns = [numeric.coordinates.index(dof) for dof in body.dofs]
    rows = [*zip(*free, strict=True)]
    tau = np.stack([np.array(body.inverse_dynamics(*row, [])).ravel() for row in rows])
    found = np.stack([np.array(body.reactions(*row, [])).T for row in rows])
    reactions = distal_reactions(model, numeric)
    parts = segments(model)
    outer = [joint.outboard.body for joint in model.joints]
    number = [outer.index(name) for name in body.joints]
    assert all(parts.is_outward(model.joints[k]) for k in number)
    expected = np.concatenate([reactions.force, reactions.moment], axis=2)[:, number]
    return body, tau, numeric.force[:, columns], found, expected


@pytest.mark.parametrize("kind", CONTENTS)
def test_devices_leave_what_they_leave_in_numbers(kind: str, tmp_path: Path) -> None:
    model = ms.read_osim(with_force(tmp_path, kind, CONTENTS[kind]))
    assert len(model.devices) == 1
    body, tau, expected, reactions, of_joints = beside_numbers(model)
    assert body.left_out == ()
    scale = np.abs(expected).max()
    np.testing.assert_allclose(tau, expected, atol=1e-12 * scale)
    np.testing.assert_allclose(reactions, of_joints, atol=1e-12 * np.abs(of_joints).max())
    without = beside_numbers(replace(model, devices=()))[1]
    assert np.abs(tau - without).max() > 1e-3  # the device matters


@pytest.mark.parametrize("kind", CONTENTS)
def test_derivatives_of_devices_are_those_of_differences(kind: str, tmp_path: Path) -> None:
    body = ms.symbolic.skeleton(ms.read_osim(with_force(tmp_path, kind, CONTENTS[kind])))
    n, draw = len(body.dofs), np.random.default_rng(3)
    c, cd = casadi.SX.sym("c", n), casadi.SX.sym("cd", n)
    tau = body.inverse_dynamics(c, cd, np.zeros(n), [])
    function = casadi.Function("tau", [c, cd], [tau])
    jacobian = casadi.Function("slope", [c, cd], [casadi.jacobian(tau, casadi.vertcat(c, cd))])
    at = np.concatenate([draw.normal(0.0, 0.3, n), draw.normal(0.0, 1.0, n)])
    steps = 1e-6 * np.eye(2 * n)
    quotients = [
        (np.array(function(*np.split(at + d, 2))) - np.array(function(*np.split(at - d, 2)))) / 2e-6
        for d in steps
    ]
    exact = np.array(jacobian(*np.split(at, 2)))
    np.testing.assert_allclose(exact, np.hstack(quotients), atol=1e-6 * np.abs(exact).max())


def test_ball_joints_have_the_forces_of_the_rates_of_their_angles(tmp_path: Path) -> None:
    """Free, ball, planar and universal joints, with a patella that a coupler drives."""
    model = ms.read_osim(save_model(tmp_path, TEXT))
    assert {"BallJoint", "FreeJoint", "PlanarJoint", "UniversalJoint"} <= {j.kind for j in model.joints}
    _, tau, expected, reactions, of_joints = beside_numbers(model)
    np.testing.assert_allclose(tau, expected, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(reactions, of_joints, atol=1e-12 * np.abs(of_joints).max())

"""Inverse dynamics and joint reactions beside OpenSim itself, for any pose, speed and acceleration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sampled_motion import free_names, sine_motion
from small_model import COUPLER, TEXT, axis, save_model

from musclesolve._util.arrays import Array
from musclesolve.opensim.inverse.inverse_dynamics import inverse_dynamics
from musclesolve.opensim.inverse.joint_reactions import joint_reactions
from musclesolve.opensim.inverse.model_motion import ModelMotion, model_motion
from musclesolve.opensim.kinematics import body_motion
from musclesolve.opensim.model import OpenSimModel
from musclesolve.opensim.read_model import read_osim

osim = pytest.importorskip("opensim", reason="the wheel of OpenSim is not installed")


def inverse_of_opensim(model: OpenSimModel, motion: ModelMotion) -> Array:
    """Generalized forces (T, K) by OpenSim's solver, without muscles and other forces."""
    osim.Logger.setLevelString("error")
    other = osim.Model(str(model.file))
    other.updForceSet().clearAndDestroy()
    other.finalizeConnections()
    state = other.initSystem()
    coordinates = [other.getCoordinateSet().get(name) for name in model.coordinates]
    for each in coordinates:
        each.setLocked(state, False)
    place = [_speed_number(state, coordinates, each) for each in coordinates]
    solver, found = osim.InverseDynamicsSolver(other), np.zeros_like(motion.value)
    for t in range(len(motion.time)):
        for each, value, speed in zip(coordinates, motion.value[t], motion.speed[t], strict=True):
            each.setValue(state, float(value), False)
            each.setSpeedValue(state, float(speed))
        change = osim.Vector(len(place), 0.0)
        for number, acceleration in zip(place, motion.acceleration[t], strict=True):
            change.set(number, float(acceleration))
        other.realizeVelocity(state)
        found[t] = solver.solve(state, change).to_numpy()[place]
    return found


def _speed_number(state: Any, coordinates: list[Any], one: Any) -> int:
    """Which of the speeds of the state belongs to a coordinate."""
    for each in coordinates:
        each.setSpeedValue(state, float(each.getName() == one.getName()))
    return int(np.argmax(np.abs(state.getU().to_numpy())))


@pytest.mark.parametrize("name", ["gait2392", "hamner_2010", "arm26"])
def test_generalized_forces(public_model: Callable[[str], OpenSimModel], name: str) -> None:
    model = public_model(name)
    motion = sine_motion(model, np.linspace(0.0, 1.0, 5), size=0.2)
    expected = inverse_of_opensim(model, motion)
    found = inverse_dynamics(model, motion).joint_force
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


KNEE = """<OpenSimDocument Version="40000"><Model name="knee"><gravity>0 0 0</gravity>
<BodySet><objects><Body name="b"><mass>1</mass><mass_center>0 -.3 0</mass_center>
<inertia>.02 .01 .02 0 0 0</inertia></Body></objects></BodySet>
<JointSet><objects><CustomJoint name="j"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate name="q"/></coordinates>
<SpatialTransform>{axes}</SpatialTransform></CustomJoint></objects></JointSet></Model></OpenSimDocument>"""
LINEAR = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
SQUARE = "<PolynomialFunction><coefficients>.3 .2 0</coefficients></PolynomialFunction>"
ZERO = "<Constant><value>0</value></Constant>"


def knee(folder: Path, *functions: str) -> OpenSimModel:
    """A body that rotates about z, y and x by three functions of q, and moves along x by a fourth."""
    directions = ("0 0 1", "0 1 0", "1 0 0", "1 0 0", "0 1 0", "0 0 1")
    names = [f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3)]
    parts = zip(names, directions, (*functions, ZERO, ZERO), strict=True)
    axes = "".join(axis(name, "" if f is ZERO else "q", direction, f) for name, direction, f in parts)
    path = folder / "knee.osim"
    path.write_text(KNEE.format(axes=axes), encoding="utf-8")
    return read_osim(path)


def moment(solve: Callable[[ModelMotion], Array], model: OpenSimModel, *state: float) -> float:
    """Generalized force for value, speed and acceleration of the one coordinate."""
    parts = [{"q": np.array([number])} for number in state]
    return float(solve(model_motion(model, np.zeros(1), *parts))[0, 0])


def by_energy(
    solve: Callable[[ModelMotion], Array], model: OpenSimModel, q: float, u: float, a: float
) -> float:
    """M a + M' u^2 / 2 (Lagrange), with the solver's own inertia M."""
    step = 1e-4
    slope = (moment(solve, model, q + step, 0, 1) - moment(solve, model, q - step, 0, 1)) / (2 * step)
    return moment(solve, model, q, 0.0, 1.0) * a + 0.5 * slope * u**2


@pytest.mark.parametrize("second_and_third", [(SQUARE, ZERO), (ZERO, SQUARE), (SQUARE, SQUARE)])
def test_where_opensim_contradicts_its_own_inertia(tmp_path: Path, second_and_third: tuple[str, str]) -> None:
    """With the second and third rotation of a custom joint both moving, OpenSim breaks Lagrange's equation.

    This is what remains of the difference at knee and hip on the recorded walk.
    """
    model = knee(tmp_path, LINEAR, *second_and_third, SQUARE)
    state = (0.7, 5.0, 3.0)

    def own(motion: ModelMotion) -> Array:
        return inverse_dynamics(model, motion).joint_force

    def other(motion: ModelMotion) -> Array:
        return inverse_of_opensim(model, motion)

    assert moment(own, model, *state) == pytest.approx(by_energy(own, model, *state), rel=1e-6)
    assert moment(own, model, 0.7, 0.0, 1.0) == pytest.approx(moment(other, model, 0.7, 0.0, 1.0), rel=1e-9)
    agrees = ZERO in second_and_third
    close = pytest.approx(moment(own, model, *state), rel=1e-6)
    assert (moment(other, model, *state) == close) is agrees
    assert (
        moment(other, model, *state) == pytest.approx(by_energy(other, model, *state), rel=1e-6)
    ) is agrees


def test_contact_forces(public_model: Callable[[str], OpenSimModel]) -> None:
    """Forward dynamics of OpenSim under given muscle forces: its accelerations and its joint reactions."""
    model = public_model("gait2392")
    muscles = ["soleus_r", "bifemlh_r", "add_brev_l", "tib_ant_l"]
    other = osim.Model(str(model.file))
    state = other.initSystem()
    force = np.array([[1800.0, 300.0, 200.0, 400.0]])
    motion = sine_motion(model, np.array([0.3]), size=0.2)
    for name in free_names(model):
        column, each = model.coordinate_number[name], other.getCoordinateSet().get(name)
        each.setValue(state, float(motion.value[0, column]), False)
        each.setSpeedValue(state, float(motion.speed[0, column]))
    for muscle in (other.getMuscles().get(k) for k in range(other.getMuscles().getSize())):
        muscle.overrideActuation(state, True)
        pull = dict(zip(muscles, force[0], strict=True)).get(muscle.getName(), 0.0)
        muscle.setOverrideActuation(state, float(pull))
    other.realizeAcceleration(state)
    for name in free_names(model):
        change = other.getCoordinateSet().get(name).getAccelerationValue(state)
        motion.acceleration[0, model.coordinate_number[name]] = change
    dynamics = inverse_dynamics(model, motion)
    found = joint_reactions(model, dynamics, motion, muscles, force)
    for k, joint in enumerate(found.joints):
        reaction = other.getJointSet().get(joint).calcReactionOnChildExpressedInGround(state)
        np.testing.assert_allclose(found.force[0, k], reaction.get(1).to_numpy(), atol=1e-4)
        np.testing.assert_allclose(found.moment[0, k], reaction.get(0).to_numpy(), atol=1e-4)


def test_every_kind_of_joint_places_its_body_as_in_opensim(tmp_path: Path) -> None:
    """Free, gimbal, custom, planar and universal joints; and the generalized forces beyond the free joint.

    The speeds of OpenSim's free and ball joints are components of angular velocity, not rates of its angles.
    """
    text = TEXT.replace("BallJoint", "GimbalJoint").replace(COUPLER, "")
    model = read_osim(save_model(tmp_path, text))
    other = osim.Model(str(model.file))
    state = other.initSystem()
    motion = sine_motion(model, np.linspace(0.0, 1.0, 4))
    still = [model.coordinate_number[name] for name in ("px", "py", "pz", "tx", "ty", "tz")]
    motion.speed[:, still] = motion.acceleration[:, still] = 0.0
    pose = body_motion(model, motion.value)
    for t in range(len(motion.time)):
        for name, value in zip(model.coordinates, motion.value[t], strict=True):
            other.getCoordinateSet().get(name).setValue(state, float(value), False)
        other.realizePosition(state)
        for k, body in enumerate(model.bodies[1:], start=1):
            place = other.getBodySet().get(body).getPositionInGround(state).to_numpy()
            np.testing.assert_allclose(pose.position[t, k], place, atol=1e-12)
    expected, found = inverse_of_opensim(model, motion), inverse_dynamics(model, motion).joint_force
    beyond = np.setdiff1d(np.arange(found.shape[1]), still[:3])
    np.testing.assert_allclose(found[:, beyond], expected[:, beyond], atol=1e-6 * np.abs(expected).max())

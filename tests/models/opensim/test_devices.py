"""Springs, bushings and ligaments of a model beside OpenSim 4.6, and in the sharing of moments."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from device_models import DEVICES, ON_ANKLE, ON_KNEE, POSE, RATE, THIGH_AND_SHANK, TILTED, with_force
from old_layout import save_old
from opensim_answers import answers, task
from plain_leg import TEXT

import musclesolve as ms
from musclesolve.models.opensim.actuators import RESTING, actuator_notes
from musclesolve.models.opensim.inverse_dynamics import (
    body_dynamics,
    device_forces,
    joint_forces,
    model_motion,
)


@pytest.mark.parametrize("kind", DEVICES)
def test_moments_equal_opensim(tmp_path: Path, kind: str) -> None:
    content, expected = DEVICES[kind]
    model = ms.read_osim(with_force(tmp_path, kind, content))
    columns = [{name: np.full(2, each) for name, each in part.items()} for part in (POSE, RATE)]
    still = {name: np.zeros(2) for name in POSE}
    motion = model_motion(model, np.array([0.0, 1.0]), *columns, still)
    bodies = body_dynamics(model, motion)
    wrench, force = device_forces(model, motion, bodies)
    found = joint_forces(model, bodies.pose, wrench) + force
    of_joints = [found[0, model.coordinate_number[name]] for name in ("knee_angle_r", "ankle_angle_r")]
    np.testing.assert_allclose(of_joints, expected, atol=1e-10)
    np.testing.assert_allclose(wrench.sum(axis=1), 0.0, atol=1e-10)  # equal and opposite forces


def moments(
    model: ms.models.opensim.OpenSimModel, value: dict[str, np.ndarray], speed: dict[str, np.ndarray]
):
    """Moments (T, K) of the devices of a model about all coordinates."""
    frames = len(next(iter(value.values())))
    still = {name: np.zeros(frames) for name in value}
    motion = model_motion(model, np.arange(float(frames)), value, speed, still)
    bodies = body_dynamics(model, motion)
    wrench, force = device_forces(model, motion, bodies)
    return joint_forces(model, bodies.pose, wrench) + force


def swinging() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Values and speeds of a motion in which the knee leaves -0.8 to -0.2 rad on both sides, in both directions."""
    phase = np.linspace(0.0, 2.0 * np.pi, 60)
    value = {name: mean + 0.5 * np.sin((k + 1) * phase) for k, (name, mean) in enumerate(POSE.items())}
    return value, {name: 2.0 * np.cos((2 * k + 1) * phase) for k, name in enumerate(RATE)}


def test_limits_by_exponentials_are_their_formula(tmp_path: Path) -> None:
    """The class is younger than the package `opensim` of the tests."""
    content = (
        "<socket_coordinate>/jointset/knee_r/knee_angle_r</socket_coordinate><lower_limit>-0.8</lower_limit>"
        "<upper_limit>-0.2</upper_limit><lower_shape_parameters>2 6</lower_shape_parameters>"
        "<upper_shape_parameters>3 5</upper_shape_parameters>"
    )
    model = ms.read_osim(with_force(tmp_path, "ExponentialCoordinateLimitForce", content))
    value, speed = swinging()
    knee = value["knee_angle_r"]
    expected = 2.0 * np.exp(-6.0 * (knee + 0.8)) - 3.0 * np.exp(5.0 * (knee + 0.2))
    found = moments(model, value, speed)
    np.testing.assert_allclose(found[:, model.coordinate_number["knee_angle_r"]], expected, atol=1e-12)
    assert model.unsupported == {} and np.count_nonzero(np.abs(found).max(axis=0)) == 1


@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("CoordinateLinearStopForce", "<lower_limit>-0.8</lower_limit><upper_limit>-0.2</upper_limit>"),
        ("CoordinateLinearStop", "<q_low>-0.8</q_low><q_high>-0.2</q_high>"),
    ],
)
def test_linear_stops_push_back_and_never_pull(tmp_path: Path, kind: str, limits: str) -> None:
    content = f"{ON_KNEE}<stiffness>50</stiffness><damping>0.9</damping>{limits}"
    model = ms.read_osim(with_force(tmp_path, kind, content))
    value, speed = swinging()
    found = moments(model, value, speed)[:, model.coordinate_number["knee_angle_r"]]
    knee, rate = value["knee_angle_r"], speed["knee_angle_r"]
    within = (knee >= -0.8) & (knee <= -0.2)
    above, below = knee > -0.2, knee < -0.8
    assert within.any() and above.any() and below.any() and (found[within] == 0.0).all()
    assert (found[above] <= 0.0).all() and (found[below] >= 0.0).all()
    damped = 1.0 + 0.9 * np.where(above, rate, -rate)
    assert (found[~within & (damped < 0.0)] == 0.0).any()  # it would pull
    pushes = ~within & (damped > 0.0)
    depth = np.where(above, knee + 0.2, knee + 0.8)
    np.testing.assert_allclose(found[pushes], (-50.0 * depth * damped)[pushes], atol=1e-12)


OLD_BUSHING = (
    "<body_1>tibia_r</body_1><body_2>calcn_r</body_2><location_body_1>0.01 -0.38 0.02</location_body_1>"
    "<orientation_body_1>0.1 0.2 -0.3</orientation_body_1><location_body_2>0.02 0.01 -0.01</location_body_2>"
    "<orientation_body_2>0.3 -0.1 0.2</orientation_body_2>"
)


@pytest.mark.parametrize("kind", ["BushingForce", "ExpressionBasedBushingForce"])
def test_bushings_of_version_3_and_without_names(tmp_path: Path, kind: str) -> None:
    """Two bodies with places and turns are the two offset frames of version 4; no name is no obstacle."""
    frames = f"<socket_frame1>f1</socket_frame1><socket_frame2>f2</socket_frame2><frames>{TILTED}</frames>"
    law = DEVICES[kind][0].replace(frames, "").replace(THIGH_AND_SHANK, "")
    new = ms.read_osim(with_force(tmp_path, kind, frames + law))
    forces = f"<{kind}>{OLD_BUSHING}{law}</{kind}>" * 2 + "</objects></ForceSet>"
    text = TEXT.replace("</objects></ForceSet>", forces)
    old = ms.read_osim(save_old(tmp_path / "old.osim", text, 30000))
    assert len({device.name for device in old.devices}) == 2 and old.unsupported == {}
    of_new, of_old = moments(new, *swinging()), moments(old, *swinging())
    assert np.abs(of_new).max() > 0.5
    np.testing.assert_allclose(of_old, 2.0 * of_new, atol=1e-10)


def test_actuators_of_shared_coordinates_are_named(tmp_path: Path) -> None:
    def notes(kind: str, content: str) -> str:
        return " ".join(
            actuator_notes(ms.read_osim(with_force(tmp_path, kind, content)), ["knee_angle_r"], None)
        )

    said = f"{RESTING}: device ("
    assert f"{said}CoordinateActuator of knee_angle_r)." in notes("CoordinateActuator", ON_KNEE)
    assert f"{said}TorqueActuator)." in notes(
        "TorqueActuator", "<bodyA>femur_r</bodyA><bodyB>tibia_r</bodyB>"
    )
    assert "Actuators" not in notes("CoordinateActuator", ON_ANKLE)
    assert "Actuators" not in notes("CoordinateActuator", f"{ON_KNEE}<appliesForce>false</appliesForce>")


OF_MOTION = {
    kind: (kind, re.sub(r"((resting|slack)_length>)[.\d]+", r"\g<1>0.47", content))
    for kind, (content, _) in DEVICES.items()
}
"""Name -> kind and content; the path of a strand has lengths from 0.42 to 0.53 m in the motion."""
CURVES = {
    "that pulls at rest": ("SimmSpline", "<x>-5 0.9 1 1.1 1.2 5</x><y>0.1 0.1 0.2 0.3 0.7 2</y>"),
    "that pushes": ("PiecewiseLinearFunction", "<x>0 0.95 1.05 1.2</x><y>0.1 -0.1 -0.1 0.7</y>"),
}
OF_MOTION |= {
    f"Ligament with a curve {name}": (
        "Ligament",
        f'{OF_MOTION["Ligament"][1]}<{form} name="force_length_curve">{points}</{form}>',
    )
    for name, (form, points) in CURVES.items()
}
OF_MOTION["Blankevoort1991Ligament without toe"] = (
    "Blankevoort1991Ligament",
    OF_MOTION["Blankevoort1991Ligament"][1].replace("0.06</transition", "0</transition"),
)


@pytest.mark.parametrize("name", OF_MOTION)
def test_moments_over_a_motion_equal_opensim(tmp_path: Path, name: str) -> None:
    """Strands are longer and shorter than at rest, deflections, rates and distances from limits have both signs."""
    model = ms.read_osim(with_force(tmp_path, *OF_MOTION[name]))
    phase = np.linspace(0.0, 2.0 * np.pi, 60)
    value = {name: mean + 0.5 * np.sin((k + 1) * phase) for k, (name, mean) in enumerate(POSE.items())}
    speed = {name: 2.0 * np.cos((2 * k + 1) * phase) for k, name in enumerate(RATE)}
    still = {name: np.zeros(60) for name in POSE}
    motion = model_motion(model, phase, value, speed, still)
    bodies = body_dynamics(model, motion)
    wrench, force = device_forces(model, motion, bodies)
    found = joint_forces(model, bodies.pose, wrench) + force
    names = list(model.coordinates)
    (expected,) = answers(task("device", model.file, names, motion.value, motion.speed, force="device"))
    columns = [model.coordinate_number[name] for name in names]
    np.testing.assert_allclose(found[:, columns], expected, atol=1e-10)
    assert np.abs(expected).max() > 0.1

"""Joints on ellipsoids, and loops closed by constraints, beside OpenSim 4.6."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from loop_models import AT_REST, BODIES, CONSTRAINTS, PLACES, independent, joint, model_text
from recorded_data import recorded
from refusals import refused

import musclesolve as ms
from musclesolve.models.opensim import inverse_dynamics, opensim_geometry
from musclesolve.models.opensim.inverse_dynamics import model_motion
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values


@pytest.fixture(params=CONSTRAINTS)
def loop(request: pytest.FixtureRequest, tmp_path: Path):
    """A model with a loop, and the state that OpenSim gives."""
    path = tmp_path / "loop.osim"
    path.write_text(model_text(request.param), encoding="utf-8")
    return ms.read_osim(path), AT_REST[request.param]


OLD = {
    "PointConstraint": f"<body_1>rod</body_1><body_2>rocker</body_2>{PLACES}",
    "WeldConstraint": "<body_1>rod</body_1><body_2>rocker</body_2><location_body_1>0.3 0.1 0</location_body_1>"
    "<orientation_body_1>0 0.1 0</orientation_body_1><location_body_2>0.1012 0.1749 -0.0087</location_body_2>"
    "<orientation_body_2>-0.1041 -0.1459 -0.0156</orientation_body_2>",
}


@pytest.mark.parametrize("kind", OLD)
def test_constraints_of_version_3_close_the_same_loop(tmp_path: Path, kind: str) -> None:
    """Version 3 states two bodies, and places and turns in them, without names of constraints where there are none."""
    text = model_text(kind)
    (tmp_path / "new.osim").write_text(text, encoding="utf-8")
    old = text.replace(CONSTRAINTS[kind], OLD[kind]).replace('Version="40500"', 'Version="30000"')
    (tmp_path / "old.osim").write_text(old.replace(f'<{kind} name="link">', f"<{kind}>"), encoding="utf-8")
    models = [ms.read_osim(tmp_path / f"{name}.osim") for name in ("new", "old")]
    assert all(model.in_loops and not model.unsupported for model in models)
    pose = {name: np.array([AT_REST[kind][name][0]]) for name in independent(models[0])}
    assert independent(models[1]) == list(pose)
    new_values, old_values = (coordinate_values(model, pose) for model in models)
    np.testing.assert_allclose(old_values, new_values, atol=1e-12)


def test_a_loop_falls_as_in_opensim(loop) -> None:
    model, state = loop
    assert not model.unsupported and model.in_loops
    names = independent(model)
    part = [{name: np.full(2, state[name][k]) for name in names} for k in (0, 1)]
    still = {name: np.zeros(2) for name in names}
    motion = model_motion(model, np.array([0.0, 1.0]), part[0], still, part[1])
    np.testing.assert_allclose(motion.value[0], [state[name][0] for name in model.coordinates], atol=1e-7)
    np.testing.assert_allclose(
        motion.acceleration[0], [state[name][1] for name in model.coordinates], atol=1e-5
    )
    dynamics = inverse_dynamics(model, motion)
    np.testing.assert_allclose(dynamics.force, 0.0, atol=1e-6)  # nothing but gravity moves it
    assert np.abs(dynamics.joint_force).max() > 0.1  # what the constraint bears


def test_rates_and_arms_of_a_loop_are_derivatives(loop) -> None:
    model, state = loop
    names, step = independent(model), 1e-5
    time = step * np.arange(-1.0, 2.0)
    shift = {name: 0.3 + 0.2 * k for k, name in enumerate(names)}
    value = {name: state[name][0] + shift[name] * time + time**2 for name in names}
    rate = {name: shift[name] + 2.0 * time for name in names}
    motion = model_motion(model, time, value, rate, {name: np.full(3, 2.0) for name in names})
    speed = (motion.value[2] - motion.value[0]) / (2.0 * step)
    np.testing.assert_allclose(motion.speed[1], speed, atol=1e-7)
    np.testing.assert_allclose(
        motion.acceleration[1], (motion.speed[2] - motion.speed[0]) / (2.0 * step), atol=1e-5
    )
    for name in names:
        at = {each: np.full(3, state[each][0]) for each in names} | {name: state[name][0] + time}
        found = opensim_geometry(model, at, [name], ["pull"])
        slope = (found.length[2, 0] - found.length[0, 0]) / (2.0 * step)
        np.testing.assert_allclose(-found.moment_arm[1, 0, 0], slope, atol=1e-8)


def test_an_open_loop_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "loop.osim"
    far = model_text("PointConstraint").replace("<location_body_1>0.3", "<location_body_1>5")
    path.write_text(far, encoding="utf-8")
    model = ms.read_osim(path)
    with refused("bad_model", "link"):
        coordinate_values(model, {name: np.zeros(1) for name in independent(model)})


RADII = "<{0}>0.3 0.4 0.5</{0}>"
JOINTS_ON_ELLIPSOIDS = {
    "EllipsoidJoint": ("a b c", RADII.format("radii_x_y_z"), (0.3, 0.2, 0.1)),
    "ScapulothoracicJoint": (
        "a b c d",
        RADII.format("thoracic_ellipsoid_radii_x_y_z")
        + "<scapula_winging_axis_origin>0.02 0.03</scapula_winging_axis_origin>"
        "<scapula_winging_axis_direction>0.5</scapula_winging_axis_direction>",
        (0.3, 0.2, 0.1, 0.4),
    ),
}
PLACED: dict[str, list[float]] = {
    "EllipsoidJoint": [
        0.9812926651830498,
        -0.0524659259441143,
        0.18523507192962577,
        0.10953898645584065,
        0.9433873551809607,
        -0.313083868206107,
        -0.1583221895508463,
        0.3275173654930354,
        0.9314861564168989,
        0.25141913933186244,
        0.04010403724351433,
        0.7331751767709442,
        17.26730197427166,
        -5.781711275700202,
        -3.9415405150017744,
    ],
    "ScapulothoracicJoint": [
        0.781427938907795,
        -0.3488748964534671,
        0.5173554705605208,
        0.13248390463312187,
        0.9029583572686914,
        0.40879606168820737,
        -0.609769129513357,
        -0.25090339109547577,
        0.7518171965506733,
        0.2856967514455633,
        0.23789187503554346,
        0.7570693843345855,
        -2.2740884796271157,
        -20.657534060501497,
        -2.459916651803317,
        11.627939113679584,
    ],
}
"""Rows of the rotation, and place [m] of the body in OpenSim 4.6, then the accelerations of its fall from rest."""


def on_ellipsoid(kind: str) -> str:
    names, more, _ = JOINTS_ON_ELLIPSOIDS[kind]
    placed = joint(kind, "on", "/ground", "0.1 0.2 0.3", "rod", "", more)
    listed = "".join(f'<Coordinate name="{name}"/>' for name in names.split())
    placed = placed.replace("<coordinates></coordinates>", f"<coordinates>{listed}</coordinates>")
    body = BODIES[BODIES.index('<Body name="rod"') : BODIES.index('<Body name="rocker"')]
    return (
        f'<OpenSimDocument Version="40500"><Model name="one"><BodySet><objects>{body}</objects></BodySet><JointSet>'
        f"<objects>{placed}</objects></JointSet></Model></OpenSimDocument>"
    )


@pytest.mark.parametrize("kind", JOINTS_ON_ELLIPSOIDS)
def test_joints_on_ellipsoids_equal_opensim(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "one.osim"
    path.write_text(on_ellipsoid(kind), encoding="utf-8")
    model, (names, _, pose), expected = ms.read_osim(path), JOINTS_ON_ELLIPSOIDS[kind], np.array(PLACED[kind])
    values = {name: np.full(2, angle) for name, angle in zip(names.split(), pose, strict=True)}
    placed = body_motion(model, coordinate_values(model, values))
    number = model.body_number["rod"]
    np.testing.assert_allclose(placed.rotation[0, number].ravel(), expected[:9], atol=1e-12)
    np.testing.assert_allclose(placed.position[0, number], expected[9:12], atol=1e-12)
    assert all(coordinate.rotational for coordinate in model.coordinates.values())
    falling = {name: np.full(2, each) for name, each in zip(names.split(), expected[12:], strict=True)}
    still = {name: np.zeros(2) for name in values}
    force = inverse_dynamics(model, model_motion(model, np.array([0.0, 1.0]), values, still, falling)).force
    np.testing.assert_allclose(force, 0.0, atol=1e-10)


ARC = "<neutral_angle_x_z_y>0.05 -0.1 0.2</neutral_angle_x_z_y><length>0.4</length>"
ARC_PLACED = [
    *(0.9584341741612981, -0.05823558402416372, 0.27930726906601483),
    *(0.15238702455909417, 0.9321061298045384, -0.3285671278853553),
    *(-0.2412097190118522, 0.3574727675420465, 0.9022367161227998),
    *(0.0939208470052362, 0.5821460326927912, 0.4103359233239164),
]
"""Rows of the rotation, and place [m] of the body in OpenSim 4.6 with the coordinates 0.3, 0.2 and 0.1."""


def test_an_arc_is_placed_as_in_opensim_and_bears_the_slope_of_its_potential(tmp_path: Path) -> None:
    """OpenSim's speeds of this joint are no derivatives of its places: the law of virtual work is the reference."""
    text = on_ellipsoid("EllipsoidJoint").replace("EllipsoidJoint", "ConstantCurvatureJoint")
    path = tmp_path / "arc.osim"
    path.write_text(text.replace(JOINTS_ON_ELLIPSOIDS["EllipsoidJoint"][1], ARC), encoding="utf-8")
    model, number = ms.read_osim(path), 1
    assert model.unsupported == {} and "ConstantCurvatureJoint" in model.notes[0]
    angles = np.array([0.3, 0.2, 0.1])
    step = 1e-5 * np.vstack([np.zeros((1, 3)), np.eye(3), -np.eye(3)])
    values = dict(zip("abc", (angles + step).T, strict=True))
    placed = body_motion(model, coordinate_values(model, values))
    np.testing.assert_allclose(placed.rotation[0, number].ravel(), ARC_PLACED[:9], atol=1e-12)
    np.testing.assert_allclose(placed.position[0, number], ARC_PLACED[9:], atol=1e-12)
    center = placed.position[:, number] + placed.rotation[:, number] @ [0.1, -0.05, 0.02]
    potential = 9.80665 * center[:, 1]  # of 1 kg
    slope = (potential[1:4] - potential[4:]) / 2e-5
    still = {name: np.zeros(2) for name in "abc"}
    at = {name: np.full(2, angle) for name, angle in zip("abc", angles, strict=True)}
    force = inverse_dynamics(model, model_motion(model, np.array([0.0, 1.0]), at, still, still)).force
    np.testing.assert_allclose(force[0], slope, atol=1e-8)
    symbolic = ms.symbolic.skeleton(model).inverse_dynamics(angles, np.zeros(3), np.zeros(3), [])
    np.testing.assert_allclose(np.array(symbolic).ravel(), slope, atol=1e-8)


def test_lengths_of_a_shoulder_equal_opensim() -> None:
    model = ms.read_osim(recorded("models_of_today") / "thoracoscapular.osim")
    assert not model.unsupported
    values = {name: np.array([SHOULDER[name]]) for name in independent(model)}
    found = opensim_geometry(model, values, (), tuple(LENGTHS))
    np.testing.assert_allclose(found.opensim_length[0], list(LENGTHS.values()), atol=2e-6)
    solved = coordinate_values(model, values)[0]
    np.testing.assert_allclose(solved, [SHOULDER[name] for name in model.coordinates], atol=2e-6)


SHOULDER = {
    "ground_thorax_rot_x": 0.138197,
    "ground_thorax_rot_y": -0.178276,
    "ground_thorax_rot_z": -0.41168,
    "ground_thorax_tx": -0.004231,
    "ground_thorax_ty": 0.00403,
    "ground_thorax_tz": -0.000784,
    "clav_prot": -0.309636,
    "clav_elev": 0.047623,
    "scapula_abduction": -0.236675,
    "scapula_elevation": -0.020595,
    "scapula_upward_rot": 0.394023,
    "scapula_winging": 0.20401,
    "plane_elv": 0.217536,
    "shoulder_elv": 0.47956,
    "axial_rot": 0.780201,
    "elbow_flexion": 0.0,
    "pro_sup": 0.598997,
}
LENGTHS = {
    "TrapeziusScapula_M": 0.12812479700400717,
    "SerratusAnterior_I": 0.16480292775872746,
    "LevatorScapulae": 0.1657634480840807,
    "DeltoideusScapula_P": 0.1475952806858004,
    "PectoralisMinor": 0.13324952793651737,
    "TeresMajor": 0.15059595767315306,
}
"""A pose that OpenSim 4.6 assembled, and its lengths of muscles [rad, m]."""

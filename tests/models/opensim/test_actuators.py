"""Actuators of a model beside its muscles in the problem, and their moments beside those of OpenSim."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from opensim_answers import answers, task
from recorded_data import recorded
from refusals import refused

import musclesolve as ms
from musclesolve.models.opensim.inverse_dynamics import inverse_dynamics, model_motion

MOTOR = (
    '<CoordinateActuator name="motor"><coordinate>r_elbow_flex</coordinate><optimal_force>50</optimal_force>'
    "<min_control>-0.2</min_control><max_control>1</max_control></CoordinateActuator>"
)
TORQUE = (
    '<TorqueActuator name="tq"><bodyA>r_ulna_radius_hand</bodyA><bodyB>r_humerus</bodyB><axis>0 0 2</axis>'
    "<torque_is_global>false</torque_is_global><optimal_force>30</optimal_force>"
    "<min_control>-1</min_control><max_control>1</max_control></TorqueActuator>"
)
TIME = np.linspace(0.0, 0.5, 11)
ANGLES = {"time": TIME, "r_shoulder_elev": 0.3 + 0.2 * TIME, "r_elbow_flex": 0.8 + 0.4 * TIME}
CHOICE = {"cutoff_hz": "none"}


def arm26(folder: Path, *actuators: str) -> ms.models.opensim.OpenSimModel:
    text = (recorded("opensim_models") / "arm26.osim").read_text(encoding="utf-8")
    start = text.index("<objects>", text.index("<ForceSet")) + len("<objects>")
    path = folder / "arm.osim"
    path.write_text(text[:start] + "".join(actuators) + text[start:], encoding="utf-8")
    return ms.read_osim(path)


def moments(elbow: float) -> dict[str, np.ndarray]:
    still = np.zeros(len(TIME))
    return {"time": TIME, "r_shoulder_elev": still, "r_elbow_flex": still + elbow}


def controlled(smallest: str, largest: str) -> str:
    return MOTOR.replace(">1<", f">{largest}<").replace(">-0.2<", f">{smallest}<")


def test_a_motor_bears_what_muscles_cannot(tmp_path: Path) -> None:
    """80 N m are too much for the muscles of the elbow; with a motor of 50 N m they are not."""
    model = arm26(tmp_path, MOTOR)
    alone = ms.solve(ms.opensim_problem(model, ANGLES, moments(80.0), **CHOICE))
    assert not alone.solved.any() or np.abs(alone.reserve).max() > 1.0
    problem = ms.opensim_problem(model, ANGLES, moments(80.0), actuators="motor", **CHOICE)
    assert problem.muscle[-2:] == ("motor+", "motor-")
    np.testing.assert_allclose(problem.moment_arm[:, :, -1], -problem.moment_arm[:, :, -2])
    np.testing.assert_allclose(problem.upper[0, -2:], [1.0, 0.2])
    solution = ms.solve(problem, "activation_power")
    assert solution.solved.all() and (solution.force[:, -2] <= 50.0 + 1e-6).all()
    total = np.einsum("tmn,tn->tm", problem.moment_arm, solution.force)
    np.testing.assert_allclose(total, problem.moment, atol=1e-6)


def test_a_small_moment_is_shared_by_strength_and_by_sense(tmp_path: Path) -> None:
    model = arm26(tmp_path, MOTOR)
    problem = ms.opensim_problem(model, ANGLES, moments(-3.0), actuators=["motor"], **CHOICE)
    solution = ms.solve(problem, "activation_power")
    assert solution.solved.all()
    assert (solution.force[:, -2] < 1e-6).all() and (solution.force[:, -1] > 0.1).all()


@pytest.mark.parametrize(
    ("controls", "column", "bounds"),
    [(("0.2", "1"), "motor+", (0.2, 1.0)), (("-0.8", "-0.4"), "motor-", (0.4, 0.8))],
)
def test_bounds_that_exclude_zero_hold(
    tmp_path: Path, controls: tuple[str, str], column: str, bounds: tuple[float, float]
) -> None:
    """The least cost without these bounds has a weaker motor."""
    model = arm26(tmp_path, controlled(*controls))
    problem = ms.opensim_problem(model, ANGLES, moments(1.0), actuators="motor", **CHOICE)
    assert [name for name in problem.muscle if name.startswith("motor")] == [column]
    solution = ms.solve(problem, "activation_power")
    assert solution.solved.all()
    activation = solution.activation[:, -1]
    assert (activation >= bounds[0] - 1e-9).all() and (activation <= bounds[1] + 1e-9).all()
    np.testing.assert_allclose((problem.lower[0, -1], problem.upper[0, -1]), bounds)


def test_a_torque_between_bodies_has_the_moments_of_opensim(tmp_path: Path) -> None:
    model = arm26(tmp_path, TORQUE)
    problem = ms.opensim_problem(model, ANGLES, moments(5.0), actuators="tq", **CHOICE)
    dofs = list(problem.dof)
    row = problem.moment_arm[0, :, problem.muscle.index("tq+")]
    # the axis of the couple is turned by carrying angles of the elbow: the arm is its share along the hinge
    assert 0.9 < row[dofs.index("r_elbow_flex")] <= 1.0
    assert row[dofs.index("r_shoulder_elev")] == pytest.approx(0.0, abs=1e-12)
    names = list(model.coordinates)
    pose = [[float(ANGLES[name][0]) for name in names]]
    none = np.zeros((1, len(names)))
    (theirs,) = answers(task("actuator", model.file, names, pose, none, force="tq", control=1.0))
    np.testing.assert_allclose(30.0 * row[[dofs.index(name) for name in names]], theirs, atol=1e-6)


@pytest.mark.parametrize(
    ("actuator", "name", "code", "words"),
    [
        (MOTOR, "engine", "unknown_name", "engine"),
        (controlled("0", "0"), "motor", "bad_value", "max_control"),
        (controlled("1", "-1"), "motor", "bad_value", "from 1 to -1"),
        (controlled("Inf", "Inf"), "motor", "bad_value", "from inf to inf"),
        (
            MOTOR.replace("<coordinate>", "<appliesForce>false</appliesForce><coordinate>"),
            "motor",
            "conflict",
            "off",
        ),
        (MOTOR.replace(">50<", ">-50<"), "motor", "bad_value", "optimal_force"),
        (MOTOR.replace("<coordinate>r_elbow_flex</coordinate>", ""), "motor", "bad_model", "coordinate"),
        (MOTOR.replace("r_elbow_flex", "knee"), "motor", "unknown_name", "knee"),
        (TORQUE.replace("<axis>0 0 2</axis>", ""), "tq", "bad_model", "axis"),
        (TORQUE.replace("<bodyA>r_ulna_radius_hand</bodyA>", ""), "tq", "bad_model", "bodyA"),
        (TORQUE.replace(">r_humerus<", ">femur<"), "tq", "unknown_name", "femur"),
        (MOTOR.replace("CoordinateActuator", "PointActuator"), "motor", "unsupported", "PointActuator"),
    ],
)
def test_what_cannot_act_is_refused(tmp_path: Path, actuator: str, name: str, code: str, words: str) -> None:
    model = arm26(tmp_path, actuator)
    with refused(code, words):
        ms.opensim_problem(model, ANGLES, moments(5.0), actuators=name, **CHOICE)


def test_an_actuator_of_another_coordinate_is_refused(tmp_path: Path) -> None:
    model = arm26(tmp_path, MOTOR)
    with refused("conflict", "motor"):
        ms.opensim_problem(model, ANGLES, moments(5.0), actuators="motor", dofs="r_shoulder_elev", **CHOICE)


def test_without_a_request_actuators_exert_no_force(tmp_path: Path) -> None:
    model = arm26(tmp_path, MOTOR, TORQUE)
    problem = ms.opensim_problem(model, ANGLES, moments(5.0), **CHOICE)
    assert problem.muscle == tuple(model.muscles)
    still = {name: np.zeros(2) for name in model.coordinates}
    motion = model_motion(model, np.array([0.0, 1.0]), still, still, still)
    plain = ms.read_osim(recorded("opensim_models") / "arm26.osim")
    other = inverse_dynamics(plain, model_motion(plain, np.array([0.0, 1.0]), still, still, still))
    np.testing.assert_array_equal(inverse_dynamics(model, motion).force, other.force)


CABLE = (
    '<PathActuator name="cable"><GeometryPath><PathPointSet><objects>'
    '<PathPoint name="c1"><socket_parent_frame>/bodyset/r_humerus</socket_parent_frame><location>0.03 -0.1 0</location>'
    '</PathPoint><PathPoint name="c2"><socket_parent_frame>/bodyset/r_ulna_radius_hand</socket_parent_frame>'
    "<location>0.03 -0.1 0</location></PathPoint></objects></PathPointSet></GeometryPath>"
    "<optimal_force>200</optimal_force><min_control>0</min_control><max_control>1</max_control></PathActuator>"
)


def test_a_path_actuator_has_the_moments_of_opensim(tmp_path: Path) -> None:
    model = arm26(tmp_path, CABLE)
    assert model.unsupported == {}
    problem = ms.opensim_problem(model, ANGLES, moments(5.0), actuators="cable", **CHOICE)
    assert problem.muscle is not None and problem.muscle[-1] == "cable+"
    row, dofs = problem.moment_arm[0, :, -1], list(problem.dof)
    assert abs(row[dofs.index("r_elbow_flex")]) > 0.01
    names = list(model.coordinates)
    pose = [[float(ANGLES[name][0]) for name in names]]
    none = np.zeros((1, len(names)))
    (theirs,) = answers(task("actuator", model.file, names, pose, none, force="cable", control=1.0))
    np.testing.assert_allclose(200.0 * row[[dofs.index(name) for name in names]], theirs, atol=1e-6)


def test_all_are_the_ones_that_act_on_shared_coordinates(tmp_path: Path) -> None:
    model = arm26(tmp_path, MOTOR, TORQUE, CABLE)
    problem = ms.opensim_problem(model, ANGLES, moments(5.0), actuators="all", **CHOICE)
    added = ["motor+", "motor-", "tq+", "tq-", "cable+"]
    assert problem.muscle is not None and list(problem.muscle[-5:]) == added
    some = ms.opensim_problem(
        arm26(tmp_path, MOTOR.replace("r_elbow_flex", "r_shoulder_elev"), TORQUE),
        ANGLES,
        moments(5.0),
        actuators="all",
        dofs="r_elbow_flex",
        **CHOICE,
    )
    assert some.muscle is not None and list(some.muscle[-2:]) == ["tq+", "tq-"]
    with refused("conflict", "no actuator of the model"):
        ms.opensim_problem(arm26(tmp_path), ANGLES, moments(5.0), actuators="all", **CHOICE)

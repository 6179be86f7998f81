"""Actuators of a model that bear moments beside its muscles, from the command to the result."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import typed
from forearm_model import MODEL, MUSCLE
from refusals import refused

import musclesolve as ms
from musclesolve.tables import Table

MOTOR = (
    '<CoordinateActuator name="motor"><coordinate>flexion</coordinate><optimal_force>8</optimal_force>'
    "<min_control>-1</min_control><max_control>1</max_control></CoordinateActuator>"
)
TIME = np.linspace(0.0, 1.0, 51)
MOTION = {"time": TIME, "flexion": 0.6 + 0.3 * np.sin(2.0 * np.pi * TIME)}


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.osim"
    muscles = MUSCLE.format(name="biceps", x=0.04) + MUSCLE.format(name="triceps", x=-0.02)
    path.write_text(MODEL.format(muscles=muscles + MOTOR), encoding="utf-8")
    return path


def test_muscles_and_motor_share_the_moment_by_strength(arm: Path) -> None:
    """With the sum of squared activations the motor bears F^2 of F^2 + sum (r C)^2, C the strengths of the flexors."""
    choices = {"loads": "none", "cost": "activation_power", "cutoff_hz": "none", "least_activation": 0.0}
    result = ms.share_model(arm, MOTION, actuators="motor", **choices)
    assert bool(result["valid"].all())
    moment, borne = result["joint_moment"].values[:, 0], result["actuator_moment"].values[:, 0]
    able = np.maximum(result["moment_arm"].values[:, 0] * result["force_capacity"].values, 0.0)
    assert (moment > 0.0).all()
    np.testing.assert_allclose(borne, moment * 64.0 / (64.0 + (able**2).sum(axis=1)), rtol=1e-6)
    made = np.einsum("tdm,tm->td", result["moment_arm"].values, result["muscle_force"].values)
    np.testing.assert_allclose(made[:, 0] + borne, moment, atol=1e-8)
    np.testing.assert_array_equal(result["reserve_moment"].values, 0.0)
    np.testing.assert_array_equal(result["actuator_force"].values, borne[:, None])
    assert result["actuator_units"].values.tolist() == ["N m"]


def test_the_muscles_have_the_optimum_of_the_moments_that_the_motor_leaves(arm: Path) -> None:
    result = ms.share_model(arm, MOTION, loads="none", cost="activation_power", actuators=["motor"])
    problem = ms.leg_problem(result, "other")
    assert problem.muscle == ("biceps", "triceps")
    again = ms.solve(problem, "activation_power")
    np.testing.assert_allclose(again.force, result["muscle_force"] - result["passive_force"], atol=1e-6)


def test_a_motor_without_bounds_is_used_beyond_its_optimal_force(arm: Path) -> None:
    """OpenSim's default: weak muscles leave the motor most of the moment, and the same optimum as wide bounds have."""
    text = arm.read_text(encoding="utf-8").replace(">8<", ">0.5<")
    text = re.sub(r"<max_isometric_force>\d+<", "<max_isometric_force>0.5<", text)
    wide = text.replace("<min_control>-1<", "<min_control>-90<").replace(
        "<max_control>1<", "<max_control>90<"
    )
    free = re.sub(r"<(min|max)_control>-?1</\1_control>", "", text)
    assert free.count("_control") == text.count("_control") - 4
    forces = []
    for name, model in (("wide", wide), ("free", free)):
        arm.with_name(f"{name}.osim").write_text(model, encoding="utf-8")
        choices = {"loads": "none", "cost": "activation_power", "actuators": "motor"}
        result = ms.share_model(arm.with_name(f"{name}.osim"), MOTION, **choices)
        assert bool(result["valid"].all())
        forces.append(result["actuator_force"].values)
    assert np.abs(forces[0]).max() > 0.5
    np.testing.assert_allclose(forces[1], forces[0], rtol=1e-6)


def test_windows_of_a_long_motion_equal_the_whole(arm: Path) -> None:
    time = np.linspace(0.0, 12.0, 1200)
    motion = {"time": time, "flexion": 0.6 + 0.3 * np.sin(2.0 * np.pi * time)}
    choices = {"loads": "none", "cutoff_hz": "none", "actuators": "all"}
    long = ms.share_model(arm, motion, **choices)
    some = ms.share_model(arm, motion, start_s=2.0, end_s=4.0, **choices)
    np.testing.assert_allclose(
        long.sel(time=some["time"])["actuator_force"], some["actuator_force"], atol=1e-6
    )


def test_the_command_names_moments_of_actuators(arm: Path, tmp_path: Path) -> None:
    degrees = np.degrees(MOTION["flexion"])[:, None]
    ms.tables.write_mot(tmp_path / "ik.mot", Table(TIME, ("flexion",), degrees, True, Path()))
    inputs = ["share", "--model", arm, "--coordinates", tmp_path / "ik.mot", "--loads", "none"]
    done = typed(*inputs, "--actuators", "motor", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "beside the muscles, at most: motor" in done.output
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "actuator_moments" in page and "exert no force" not in page
    without = typed(*inputs, "-o", tmp_path / "other")
    assert "exert no force, as --actuators does not request them: motor" in " ".join(without.output.split())
    wrong = typed(*inputs, "--actuators", "motr", "-o", tmp_path / "wrong")
    assert wrong.exit_code == 2 and "did you mean 'motor'" in wrong.output
    trial = tmp_path / "trial.toml"
    trial.write_text(
        '[files]\nmodel = "arm.osim"\ncoordinates = "ik.mot"\nloads = "none"\n[sharing]\nactuators = ["motor"]\n',
        encoding="utf-8",
    )
    one, other = ms.run(trial), ms.read_result(tmp_path / "out" / "result.nc")
    np.testing.assert_allclose(one["actuator_moment"], other["actuator_moment"], atol=1e-9)


def test_what_knows_muscles_alone_refuses_actuators(arm: Path) -> None:
    with refused("unsupported", "elastic tendons"):
        ms.share_model(arm, MOTION, loads="none", actuators="motor", tendon="elastic")

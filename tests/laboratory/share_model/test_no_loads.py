"""Models on which no external load acts: an arm that hangs from a fixed base."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import typed
from forearm_model import GRAVITY, INERTIA, LENGTH, MASS, save_forearm
from refusals import refused

import musclesolve as ms
from musclesolve.tables import Table


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    return save_forearm(tmp_path)


def test_moments_are_those_of_a_pendulum(arm: Path) -> None:
    """(I + m l^2) q'' + m g l sin q is the moment, and the reaction is the weight and what accelerates the mass."""
    time = np.linspace(0.0, 4.0, 401)
    angle = 0.6 + 0.3 * np.sin(2.0 * np.pi * time)
    acceleration = -0.3 * (2.0 * np.pi) ** 2 * np.sin(2.0 * np.pi * time)
    result = ms.share_model(arm, {"time": time, "flexion": angle}, loads="none", cutoff_hz="none")
    moment = (INERTIA + MASS * LENGTH**2) * acceleration + MASS * GRAVITY * LENGTH * np.sin(angle)
    np.testing.assert_allclose(result["joint_moment"][10:-10, 0], moment[10:-10], atol=2e-4)
    rate = 0.6 * np.pi * np.cos(2.0 * np.pi * time)
    force = np.stack(
        [
            LENGTH * (acceleration * np.cos(angle) - rate**2 * np.sin(angle)),
            LENGTH * (acceleration * np.sin(angle) + rate**2 * np.cos(angle)) + GRAVITY,
        ]
    )
    net = result["joint_reaction_net"].values[:, 0]
    np.testing.assert_allclose(np.abs(net[10:-10, [0, 2]]), MASS * np.abs(force.T)[10:-10], atol=5e-3)
    assert result.attrs["ground_reactions"] == "none"
    assert any("No external load acts" in note for note in result.attrs["notes"])
    assert "root_residual_n" not in result.attrs


def test_the_command_takes_none_in_the_place_of_a_file(arm: Path, tmp_path: Path) -> None:
    time = np.linspace(0.0, 1.0, 101)
    motion = Table(time, ("flexion",), np.full((101, 1), 30.0), True, Path())
    ms.tables.write_mot(tmp_path / "ik.mot", motion)
    inputs = ["share", "--model", arm, "--coordinates", tmp_path / "ik.mot"]
    done = typed(*inputs, "--loads", "none", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "No external load acts" in done.output
    weight = MASS * GRAVITY * LENGTH * 0.5
    moment = ms.read_result(tmp_path / "out" / "result.nc")["joint_moment"].values
    np.testing.assert_allclose(moment[20:80], weight, rtol=1e-6)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "No external load acted on the model" in page


def test_residuals_of_no_loads_are_not_reduced(arm: Path) -> None:
    motion = {"time": np.linspace(0.0, 1.0, 51), "flexion": np.full(51, 0.5)}
    with refused("conflict", "residual"):
        ms.share_model(arm, motion, loads="none", residual="reduced")


def test_contacts_of_a_simulator_are_refused(arm: Path) -> None:
    motion = {"time": np.linspace(0.0, 1.0, 51), "flexion": np.full(51, 0.5)}
    with refused("conflict", "contacts of a simulator"):
        ms.share_model(arm, motion, loads="none", contacts=["all"])


def test_the_command_leaves_a_muscle_out(arm: Path, tmp_path: Path) -> None:
    """The biceps alone bears the weight of the forearm."""
    time = np.linspace(0.0, 1.0, 101)
    ms.tables.write_mot(tmp_path / "ik.mot", Table(time, ("flexion",), np.full((101, 1), 30.0), True, Path()))
    inputs = ["share", "--model", arm, "--coordinates", tmp_path / "ik.mot", "--loads", "none"]
    done = typed(*inputs, "--without-muscle", "triceps", "-o", tmp_path / "out")
    assert done.exit_code == 0 and "Muscles left out as requested: triceps." in done.output
    result = ms.read_result(tmp_path / "out" / "result.nc")
    assert result["muscle"].values.tolist() == ["biceps"]
    arms, force = result["moment_arm"].values[50, 0, 0], result["muscle_force"].values[50, 0]
    assert arms * force == pytest.approx(MASS * GRAVITY * LENGTH * 0.5, rel=1e-6)

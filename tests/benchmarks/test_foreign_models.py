"""The table of foreign models: what it compares, and that it names what differs."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from packages import need
from recorded_data import recorded

from benchmarks.foreign_models.__main__ import models_in, row_of
from benchmarks.foreign_models.package_numbers import compared, poses_of
from musclesolve import read_osim
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.inverse_dynamics import ModelMotion, distal_reactions, inverse_dynamics

ARM = recorded("opensim_models") / "arm26.osim"


def test_a_public_arm_agrees_with_opensim() -> None:
    need("opensim")
    row = row_of(ARM, 120.0)
    assert row["read"] == "yes" and row["muscles"] == 6 and row["unnamed"] == ""
    assert (
        row["length opensim mm"] < 1e-3 and row["inverse dynamics N m"] < 1e-9 and row["reactions N"] < 1e-6
    )


def test_a_difference_is_named() -> None:
    """Answers of another program that are our own but 2 mm, 2 N m and 2 N off."""
    model = read_osim(ARM)
    motion, names, muscles = poses_of(model), list(model.coordinates), list(model.muscles)
    found = opensim_geometry(model, dict(zip(names, motion.value.T, strict=True)), names, muscles)
    fall = np.zeros((1, 2))
    falling = inverse_dynamics(model, ModelMotion(np.zeros(1), motion.value[:1], fall, fall))
    reaction = dict(zip(model_joints(model), distal_reactions(model, falling).force[0].tolist(), strict=True))
    theirs = {
        "length": found.opensim_length.copy(),
        "arm": found.opensim_arm,
        "force": inverse_dynamics(model, motion).joint_force.copy(),
        "fall": fall[0],
        "reaction": reaction,
    }
    arrays = {"value": motion.value, "speed": motion.speed, "acceleration": motion.acceleration}
    given = {"names": names, "muscles": muscles, "arms": names, **arrays, "theirs": theirs}
    assert compared(model, given)["unnamed"] == ""
    theirs["length"][1, 3] += 2e-3
    theirs["force"][0, 1] += 2.0
    joint = next(iter(reaction))
    reaction[joint] = [reaction[joint][0] + 2.0, *reaction[joint][1:]]
    unnamed = compared(model, given)["unnamed"]
    assert all(part in unnamed for part in (f"{muscles[3]} 2.0 mm", f"{names[1]} 2 N m", f"{joint} 2 N"))


def model_joints(model) -> list[str]:
    return [joint.name for joint in model.joints]


def test_each_content_is_a_model_once_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    shutil.copy(ARM, tmp_path / "one.osim")
    shutil.copy(ARM, tmp_path / "two.osim")
    (tmp_path / "body.xml").write_text('<mujoco model="m"/>', encoding="utf-8")
    (tmp_path / "part.xml").write_text("<mujocoinclude/>", encoding="utf-8")
    (tmp_path / "setup.xml").write_text("<OpenSimDocument/>", encoding="utf-8")
    assert [file.name for file in models_in([tmp_path])] == ["body.xml", "one.osim"]


def test_a_file_that_is_no_model_has_its_reason_in_the_table(tmp_path: Path) -> None:
    file = tmp_path / "none.osim"
    file.write_text("<OpenSimDocument>", encoding="utf-8")
    row = row_of(file, 60.0)
    assert row["model"] == "none.osim" and "none.osim" in row["read"] and "InputError" in row["read"]

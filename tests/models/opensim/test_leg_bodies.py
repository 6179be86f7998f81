"""The bodies of the right leg by what models call them."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused
from small_model import TEXT, save_model

from musclesolve import read_osim
from musclesolve.models.opensim.leg_muscle_set import leg_bodies
from musclesolve.models.opensim.muscle_set import LegBodies


@pytest.mark.parametrize(
    "names",
    [
        ("pelvis", "femur_r", "tibia_r", "talus_r"),
        ("Pelvis", "Femur_R", "TIBIA_R", "Talus_R"),
        ("pelvis", "r_thigh", "r_shank", "r_foot"),
        ("PELVIS", "RightUpperLeg", "right_lower_leg", "calcn_right"),
    ],
)
def test_usual_names_are_found(tmp_path: Path, names: tuple[str, ...]) -> None:
    text = TEXT
    for own, other in zip(("pelvis", "femur_r", "tibia_r", "talus_r"), names, strict=True):
        text = text.replace(f'"{own}"', f'"{other}"').replace(f"/bodyset/{own}<", f"/bodyset/{other}<")
    assert leg_bodies(read_osim(save_model(tmp_path, text))) == LegBodies(*names)


def test_a_model_without_a_leg_lists_its_bodies(tmp_path: Path) -> None:
    text = TEXT.replace("femur_r", "r_humerus").replace("tibia_r", "r_ulna")
    with refused("bad_muscle_set", "small.osim", "femur_r", "r_humerus, patella_r, r_ulna"):
        leg_bodies(read_osim(save_model(tmp_path, text)))


def test_a_body_between_thigh_and_shank_is_refused(tmp_path: Path) -> None:
    """Its joint would be lost without a word."""
    at = TEXT.index('name="knee_joint_r"')
    parent = "<socket_parent>/bodyset/{}</socket_parent>"
    text = TEXT[:at] + TEXT[at:].replace(parent.format("femur_r"), parent.format("patella_r"), 1)
    with refused("unsupported", "tibia_r", "patella_r"):
        leg_bodies(read_osim(save_model(tmp_path, text)))

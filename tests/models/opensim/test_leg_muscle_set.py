"""A model file of the user's as the muscle set of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from small_model import JOINTS, MUSCLES, TEXT, joint, muscle, point, save_model

import muscle_db
import musclesolve as ms
from muscle_db import to_toml
from musclesolve.models.opensim.find_muscle_set import find_muscle_set
from musclesolve.models.opensim.leg_muscle_set import leg_muscle_set
from musclesolve.muscles.scaling.scaled_paths import frame_maps, reference_model

GLUTEUS = muscle(
    "GlMed1_r", point("PathPoint", "pelvis", "0 0 0.1") + point("PathPoint", "femur_r", "0 -0.1 0")
)
TRUNK = muscle("back_r", point("PathPoint", "pelvis", "0 0.1 0") + point("PathPoint", "spine", "0 0.4 0"))
SPINE = '<Body name="spine"/></objects></BodySet>'


def with_muscles(*added: str) -> str:
    return TEXT.replace(MUSCLES, MUSCLES + "".join(added))


def with_left_thigh(text: str) -> str:
    hip = joint("BallJoint", "hip_l", "pelvis", "femur_l", "hip_a_l hip_b_l hip_c_l")
    text = text.replace("</objects></BodySet>", '<Body name="femur_l"/></objects></BodySet>')
    return text.replace(JOINTS, JOINTS + hip)


def left_gluteus(place: str) -> str:
    return muscle("GlMed1_l", point("PathPoint", "pelvis", place) + point("PathPoint", "femur_l", "0 -0.1 0"))


def test_known_muscles_have_the_names_of_every_set_and_others_their_own(tmp_path: Path) -> None:
    made = leg_muscle_set(save_model(tmp_path, with_muscles(GLUTEUS)))
    assert [each.name for each in made] == ["one", "two", "three", "gluteus_medius_anterior"]
    assert [each.group for each in made] == ["other", "other", "other", "hip_abductors"]
    assert made["gluteus_medius_anterior"].short_name == "GlMed1"  # as files for that model have it
    assert (made.name, made.reference.stature) == ("small", None)
    assert find_muscle_set(tmp_path / "small.osim") is made


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    one = leg_muscle_set(save_model(tmp_path))
    other = leg_muscle_set(save_model(tmp_path, TEXT.replace(">900<", ">800<")))
    assert one["one"].max_isometric_force == 900.0
    assert other["one"].max_isometric_force == 800.0


@pytest.mark.thorough
def test_coordinates_are_those_of_the_model_with_their_senses(model_folder: Path) -> None:
    """Knee flexion is negative in gait2392 and positive since 2016; bundled sets have the same."""
    for file, name, knee in (
        ("gait2392", "gait2392", "-knee_angle"),
        ("rajagopal_lai_uhlrich_2023", "rajagopal_2023", "knee_angle"),
    ):
        made = leg_muscle_set(model_folder / f"{file}.osim")
        assert made.coordinates["knee_flexion"] == knee
        assert "ankle_inversion" not in made.coordinates  # the subtalar axis is oblique
        assert made.coordinates == muscle_db.load(name).coordinates


def test_muscles_that_are_left_out_are_named(tmp_path: Path) -> None:
    text = with_muscles(TRUNK).replace("</objects></BodySet>", SPINE)
    made = leg_muscle_set(save_model(tmp_path, text))
    assert "back" not in made
    assert any("back_r" in note for note in made.notes)


def test_a_model_of_one_leg_says_that_the_other_is_its_mirror_image(tmp_path: Path) -> None:
    (note,) = leg_muscle_set(save_model(tmp_path)).notes
    assert "mirror image" in note and "no left leg" in note


@pytest.mark.parametrize(
    ("left", "differs"),
    [
        (left_gluteus("0 0 -0.1"), False),
        (left_gluteus("0 0 -0.12"), True),
        (left_gluteus("0 0 -0.1").replace(">0.1<", ">0.11<"), True),
    ],
    ids=["mirrored", "another place", "another fiber length"],
)
def test_a_left_leg_that_differs_is_named(tmp_path: Path, left: str, differs: bool) -> None:
    notes = leg_muscle_set(save_model(tmp_path, with_left_thigh(with_muscles(GLUTEUS, left)))).notes
    assert any("GlMed1_l differ" in note for note in notes) == differs
    assert any("one_r" in note and "no left counterpart" in note for note in notes)


def test_two_muscles_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = GLUTEUS.replace("GlMed1_r", "glut_med1_r")
    with refused("duplicate_name", "GlMed1_r", "glut_med1_r"):
        leg_muscle_set(save_model(tmp_path, with_muscles(GLUTEUS, twice)))


def test_without_a_stature_all_frames_grow_with_a_subject_that_is_similar(tmp_path: Path) -> None:
    """A subject 1.1 times the skeleton of the set: every factor is 1.1, whatever stature is stated."""
    database = leg_muscle_set(save_model(tmp_path))
    at_home = frame_maps(reference_model(database.reference), database, "r")
    for placed in at_home.values():
        np.testing.assert_allclose(placed.scale, 1.0, rtol=1e-6)
    grown = replace(
        database.reference,
        segments=tuple(
            replace(
                bone,
                position=tuple(1.1 * value for value in bone.position),
                length=bone.length and 1.1 * bone.length,
                end_position=bone.end_position and tuple(1.1 * value for value in bone.end_position),
                width=bone.width and 1.1 * bone.width,
            )
            for bone in database.reference.segments
        ),
    )
    for stature in (1.5, 1.9):
        subject = reference_model(replace(grown, stature=stature))
        for placed in frame_maps(subject, database, "l").values():
            np.testing.assert_allclose(placed.scale, 1.1, rtol=1e-6)


def test_a_set_without_a_stature_survives_its_file(tmp_path: Path) -> None:
    made = leg_muscle_set(save_model(tmp_path))
    path = tmp_path / "small.toml"
    path.write_text(to_toml(made), encoding="utf-8")
    again = muscle_db.load(path)
    assert again.reference == made.reference
    assert again.coordinates == made.coordinates


def test_the_model_of_a_bundled_set_gives_that_set(model_folder: Path) -> None:
    """On its own skeleton; on others pelvis and foot grow with the leg instead of stature."""
    made, bundled = leg_muscle_set(model_folder / "gait2392.osim"), muscle_db.load("gait2392")
    assert made.muscles == bundled.muscles
    poses, subject = {"knee_flexion_r": np.radians([0.0, 60.0])}, reference_model(bundled.reference)
    own, theirs = (ms.muscle_geometry(poses, None, each, subject) for each in (made, bundled))
    np.testing.assert_allclose(own.moment_arm, theirs.moment_arm, atol=1e-6)
    np.testing.assert_allclose(own.fiber_length, theirs.fiber_length, atol=1e-6)


def test_refusals(tmp_path: Path) -> None:
    with refused("missing_file", "none.osim"):
        find_muscle_set(tmp_path / "none.osim")
    with refused("bad_muscle_set", "no_such_set"):
        find_muscle_set("no_such_set")
    (tmp_path / "odd.OSIM").write_text("not xml", encoding="utf-8")
    with refused("bad_format", "odd.OSIM"):
        find_muscle_set(tmp_path / "odd.OSIM")


def test_tendons_are_longer_where_opensim_reports_shorter_paths(model_folder: Path) -> None:
    """By the same rule as the bundled set; normalized lengths with all coordinates zero are OpenSim's."""
    made = leg_muscle_set(model_folder / "rajagopal_lai_uhlrich_2023.osim")
    bundled = muscle_db.load("rajagopal_2023")
    longer = {each.name: each for each in made if each.deviations}
    assert set(longer) == {"gastrocnemius_medial", "gastrocnemius_lateral"}
    for name, own in longer.items():
        assert own.tendon_slack_length == bundled[name].tendon_slack_length
        assert own.printed().tendon_slack_length == bundled[name].printed().tendon_slack_length
    (note,) = (note for note in made.notes if note.startswith("Tendon slack lengths"))
    assert "gasmed_r +8.7 mm" in note and "gaslat_r +7.3 mm" in note
    of_2016 = leg_muscle_set(model_folder / "rajagopal_2016.osim")
    shifts = [
        each.tendon_slack_length - each.printed().tendon_slack_length for each in of_2016 if each.deviations
    ]
    assert sorted(round(1e3 * shift, 1) for shift in shifts) == [2.6, 6.2]

"""Muscle sets made from OpenSim models have the lengths of the model on a skeleton with a hinge knee."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from refusals import refused
from set_on_model import frame_poses, moving_pose, set_lengths, with_frames
from small_model import TEXT, save_model

import muscle_db
from muscle_db.toml_text import to_toml
from musclesolve import read_osim
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.kinematics import coordinate_values
from musclesolve.models.opensim.muscle_set import GlidingKnee, NeutralLeg, SetDescription, muscle_set

SETS = {"gait2392": "gait2392", "rajagopal_2023": "rajagopal_lai_uhlrich_2023"}
FOOT = ("ankle_angle_r", "subtalar_angle_r")


def leg_angles(model, values: np.ndarray) -> dict[str, np.ndarray]:
    """The angles that points and frames depend on, in the sense of this project."""
    known = NeutralLeg(model).degrees_of_freedom
    return {dof: sense * values[:, model.coordinate_number[name]] for name, (dof, sense) in known.items()}


def lengths_of_both(model, database: muscle_db.MuscleDatabase, given: dict[str, np.ndarray]):
    """Lengths of a set on its own skeleton and of the model, (T, n) each."""
    zero = coordinate_values(model, {name: np.zeros(1) for name in model.coordinates})
    values = coordinate_values(model, {**{name: np.zeros(1) for name in model.coordinates}, **given})
    angle = leg_angles(model, values)
    own = set_lengths(database, frame_poses(database, model, values, zero, angle), angle)
    names = [name for name in model.muscles if name.endswith("_r")]
    shorts = [muscle.short_name for muscle in database]
    names = [name for name in names if name.lower().removesuffix("_r") in shorts]
    at_zero = {name: np.zeros(1) for name in model.coordinates}
    return own, opensim_geometry(model, {**at_zero, **given}, (), names).length


def poses(model, knee: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    given = {f"hip_{name}_r": rng.uniform(-0.4, 1.0, 60) for name in ("flexion", "adduction", "rotation")}
    limits = model.coordinates[knee]
    given[knee] = rng.uniform(max(limits.lower, -2.0), min(limits.upper, 2.1), 60)
    return given | {name: rng.uniform(-0.4, 0.4, 60) for name in FOOT}


@pytest.mark.parametrize("name", SETS)
def test_lengths_are_those_of_the_model(public_model, name: str) -> None:
    """All muscles, all poses with the knee in its range; toes at rest, as the set has them."""
    model, database = public_model(SETS[name]), muscle_db.load(name)
    own, theirs = lengths_of_both(model, database, poses(model, "knee_angle_r"))
    assert np.abs(own - theirs).max() < 1e-5


@pytest.mark.parametrize("name", SETS)
def test_moment_arms_about_the_knee_are_those_of_the_model(public_model, name: str) -> None:
    """Moment arms are differences of the length of the set; the tabulated frames must not be rough."""
    model, database = public_model(SETS[name]), muscle_db.load(name)
    given, step = poses(model, "knee_angle_r"), 1e-4
    own, theirs = (
        np.subtract(*both)
        for both in zip(
            *(
                lengths_of_both(model, database, {**given, "knee_angle_r": given["knee_angle_r"] + s})
                for s in (step, -step)
            ),
            strict=True,
        )
    )
    assert np.abs(own - theirs).max() / (2.0 * step) < 3e-4


@pytest.mark.parametrize("name", SETS)
def test_the_left_leg_is_the_mirror_image(public_model, name: str) -> None:
    """Mirrored frames, wrap objects and points in mirrored poses: the same lengths."""
    model, database = public_model(SETS[name]), muscle_db.load(name)
    rest = {each: np.zeros(1) for each in model.coordinates}
    zero, values = (coordinate_values(model, {**rest, **more}) for more in ({}, poses(model, "knee_angle_r")))
    angle = leg_angles(model, values)
    mirror = np.diag([1.0, -1.0, 1.0])
    bones = frame_poses(replace(database, frames={}), model, values, zero, angle)
    mirrored = {
        name: (mirror @ rotation @ mirror, origin @ mirror) for name, (rotation, origin) in bones.items()
    }
    left = replace(
        database,
        muscles=tuple(muscle.mirrored() for muscle in database),
        frames={key: each.mirrored() for key, each in database.frames.items()},
        wrap_objects={key: each.mirrored() for key, each in database.wrap_objects.items()},
    )
    lengths = [
        set_lengths(each, with_frames(each, bone, angle), angle)
        for each, bone in ((database, bones), (left, mirrored))
    ]
    np.testing.assert_allclose(lengths[0], lengths[1], atol=1e-9)


def test_depths_of_the_pelvis_are_those_of_the_models_markers(model_folder: Path) -> None:
    """The depth is from between the ASIS to the sacrum, or between the PSIS; Hamner's model of 2010 has the pelvis of
    gait2392.
    """
    for name, file, behind in (
        ("gait2392", "hamner_2010.osim", ["V.Sacral"]),
        ("rajagopal_2023", "rajagopal_lai_uhlrich_2023.osim", ["RPSI", "LPSI"]),
    ):
        root = ElementTree.parse(model_folder / file)
        place = {
            marker.get("name"): np.array(marker.findtext("location").split(), float)
            for marker in root.iter("Marker")
        }
        front = [key for key in place if key in ("R.ASIS", "L.ASIS", "RASI", "LASI")]
        assert len(front) == 2
        ends = [np.mean([place[key] for key in keys], axis=0) for keys in (front, behind)]
        depth = muscle_db.load(name).reference.pelvis_depth
        assert depth == pytest.approx(np.linalg.norm(ends[0] - ends[1]), abs=1e-4)
        if name == "gait2392":
            hip = muscle_db.load(name).reference["pelvis"].position
            np.testing.assert_allclose(place["RHJC"], [hip[0], hip[2], hip[1]], atol=1e-4)


@pytest.mark.parametrize("name", SETS)
def test_bundled_sets_are_what_the_models_give(public_model, name: str) -> None:
    bundled = muscle_db.load(name)
    own = bundled.reference
    about = SetDescription(name, bundled.source, own.stature, bundled.license, pelvis_depth=own.pelvis_depth)
    made = muscle_set(public_model(SETS[name]), about)
    assert [muscle.name for muscle in made] == [muscle.name for muscle in bundled]
    assert made.muscles == bundled.muscles
    assert (made.frames, made.wrap_objects) == (bundled.frames, bundled.wrap_objects)
    assert made.reference == bundled.reference


@pytest.mark.parametrize("name", SETS)
def test_frames_follow_the_model_between_their_angles(public_model, name: str) -> None:
    """Within 0.01 mm, 10 cm from their origin, over the whole table."""
    knee = GlidingKnee(NeutralLeg(public_model(SETS[name])))
    angle = np.deg2rad(np.linspace(-20.0, 150.0, 1701))
    exact = {
        "tibia_gliding": lambda: knee.gliding("tibia_r", angle),
        "femur_gliding": lambda: knee.femoral(angle),
    }
    exact["patella"] = lambda: knee.gliding("patella_r", angle)
    for frame in muscle_db.load(name).frames.values():
        rotation, shift = exact[frame.name]()
        turn, place = moving_pose(frame, angle)
        assert np.abs(place - shift).max() < 1e-5
        assert 0.1 * np.abs(turn - rotation).max() < 1e-5


@pytest.mark.parametrize("name", SETS)
def test_the_knee_center_is_where_the_tibia_glides_least(public_model, name: str) -> None:
    knee = GlidingKnee(NeutralLeg(public_model(SETS[name])))
    angle = np.deg2rad(np.arange(0.0, 100.1, 2.5))
    rotation, shift = knee.leg.displacement("tibia_r", angle)

    def moved(center: np.ndarray) -> float:
        return float(((rotation @ center + shift - center)[:, [0, 2]] ** 2).sum())

    least = moved(knee.center)
    for step in ([1e-3, 0, 0], [-1e-3, 0, 0], [0, 0, 1e-3], [0, 0, -1e-3]):
        assert moved(knee.center + step) > least
    assert np.linalg.norm(knee.gliding("tibia_r", angle)[1], axis=1).max() < 2.5e-3


def test_a_set_of_the_small_model(small, tmp_path) -> None:
    """A joint with offsets on both sides, a conditional point, a sphere; and the file gives the same set."""
    made = muscle_set(small, SetDescription("small", "nobody", 1.7))
    assert [muscle.short_name for muscle in made] == ["one", "two", "three"]
    assert made["two"].wraps[0].object == "bump"
    own, theirs = lengths_of_both(
        small, made, {"knee_r": np.linspace(0.0, 1.2, 9), "hip_a_r": np.full(9, 0.3)}
    )
    np.testing.assert_allclose(own, theirs, atol=1e-5)
    path = tmp_path / "small.toml"
    path.write_text(to_toml(made, "a remark"), encoding="utf-8")
    assert muscle_db.load(path) == made


def test_a_muscle_without_passive_force_has_none_in_a_set(tmp_path) -> None:
    """`ignore_passive_fiber_force` of one muscle of three: no fiber reaches its passive strains."""
    flag = "<ignore_passive_fiber_force>true</ignore_passive_fiber_force></Thelen2003Muscle>"
    model = read_osim(save_model(tmp_path, TEXT.replace("</Thelen2003Muscle>", flag, 1)))
    made = muscle_set(model, SetDescription("small", "nobody", 1.7))
    path = tmp_path / "small.toml"
    path.write_text(to_toml(made, "a remark"), encoding="utf-8")
    zero = {name: muscle_db.load(path)[name].passive.at_zero_force for name in ("one", "two", "three")}
    assert [name for name, strain in zero.items() if strain > 0.6] == [
        name.removesuffix("_r") for name, muscle in model.muscles.items() if not muscle.passive
    ]


def test_a_hinge_needs_no_moving_frames(tmp_path) -> None:
    hinge = (
        TEXT.replace(".01 0 .002 .004 .01", "0 0 0 0 0")
        .replace("0 .01 .015", "0 0 0")
        .replace(".1 .2 0", "0")
    )
    model = read_osim(save_model(tmp_path, hinge.replace("0.1 0.2 -0.3", "0 0 0")))
    made = muscle_set(model, SetDescription("hinge", "nobody", 1.7))
    assert set(made.frames) == {"patella"}
    assert GlidingKnee(NeutralLeg(model)).is_hinge


def test_refusals(small, tmp_path) -> None:
    about = SetDescription("small", "nobody", 1.7)
    with refused("unknown_name", "femur_r"):
        muscle_set(read_osim(save_model(tmp_path, TEXT.replace("femur_r", "thigh"))), about)
    with refused("unsupported", "two_r", "WrapSphereObst"):
        muscle_set(read_osim(save_model(tmp_path, TEXT.replace("WrapSphere", "WrapSphereObst"))), about)
    text = TEXT.replace("one_r", "one_l").replace("two_r", "two_l").replace("three_r", "three_l")
    none = text.replace("/bodyset/talus_r</socket_parent_frame>", "/ground</socket_parent_frame>").replace(
        "/bodyset/patella_r</socket_parent_frame>", "/ground</socket_parent_frame>"
    )
    with refused("bad_muscle_set", "small.osim"):
        muscle_set(read_osim(save_model(tmp_path, none)), about)

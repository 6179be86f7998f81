"""Functional knees and ankles: found where the joint bends, refused where the trial does not show its axis."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import refusals
from scipy.spatial.transform import Rotation
from thorough import some

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.errors import InputError
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import anatomy
from musclesolve.laboratory.markers.gaps.rigid_registration import Poses, register
from musclesolve.laboratory.motion.anatomy.functional_axes import with_functional_axes
from musclesolve.laboratory.motion.anatomy.landmark_positions import axis_end, standing_trial
from musclesolve.laboratory.motion.anatomy.rotation_estimates import rotation_axis, uncertainty
from musclesolve.laboratory.motion.anatomy.standing_posture import foot_left
from musclesolve.studies.synthetic import reference_stride
from musclesolve.tables import Markers, read_trc, write_trc

JOINTS = ("ankle_r", "ankle_l", "knee_r", "knee_l")
KEYS = ("functional_knee_r", "functional_knee_l", "functional_ankle_r", "functional_ankle_l")


@cache
def truth() -> dict[str, np.ndarray]:
    """Landmarks of the standing subject (3,) [m]."""
    stride = reference_stride()
    return dict(zip(stride.marker_names, stride.standing, strict=True))


def true_joint(joint: str) -> tuple[np.ndarray, np.ndarray]:
    """Center (3,) [m] and outward unit vector (3,) of a joint of the standing subject."""
    name, side = joint[:-2], joint[-1]
    lateral, medial = (truth()[f"{name}_{end}_{side}"] for end in ("lateral", "medial"))
    # The model flexes the ankle about the left of the foot, not about the line of the malleoli.
    axis = lateral - medial if name == "knee" else foot_left(truth(), side) * (1.0 if side == "l" else -1.0)
    return 0.5 * (lateral + medial), axis / np.linalg.norm(axis)


def bending(folder: Path, *edits: tuple[str, str], **options: object) -> Path:
    """Write a recording with a movement of knees and ankles, with texts of the trial file replaced."""
    path = ms.studies.synthetic_recording(folder, truth=False, **{"functional_deg": 60.0} | options)
    edited(path, *edits)
    return path


def edited(path: Path, *edits: tuple[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def found(trial: Trial) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], dict[str, str]]:
    """Center and outward axis of every joint of the standing subject, and the notes on them."""
    points, notes = with_functional_axes(trial, standing_trial(trial))
    joints = {}
    for joint in trial.hinges:
        lateral, medial = (
            points[axis_end(f"{joint[:-2]}_{end}_{joint[-1]}")] for end in ("lateral", "medial")
        )
        joints[joint] = (0.5 * (lateral + medial), (lateral - medial) / np.linalg.norm(lateral - medial))
    return joints, dict(zip(trial.hinges, notes, strict=True))


def errors(trial: Trial) -> dict[str, tuple[float, float]]:
    """Joint -> angle between found and true axis [deg], distance of the centers [mm]."""
    return {
        joint: (
            float(np.degrees(np.arccos(min(1.0, axis @ true_joint(joint)[1])))),
            1000.0 * float(np.linalg.norm(center - true_joint(joint)[0])),
        )
        for joint, (center, axis) in found(trial)[0].items()
    }


def two_bodies(
    angle: np.ndarray, axis: np.ndarray, center: np.ndarray, seed: int = 0
) -> tuple[Poses, Poses, np.ndarray]:
    """Poses of two bodies that tumble and turn about an axis against each other, and the rotation of the first."""
    rng = np.random.default_rng(seed)
    base = Rotation.from_rotvec(np.cumsum(0.02 * rng.normal(size=(angle.size, 3)), axis=0))
    origin = np.cumsum(0.01 * rng.normal(size=(angle.size, 3)), axis=0)
    turn = base * Rotation.from_rotvec(angle[:, None] * axis)
    place = base.apply(center) + origin
    nothing = np.zeros(angle.size)
    one = Poses(base.as_matrix(), origin, nothing)
    return one, Poses(turn.as_matrix(), place - turn.apply(center), nothing), base.as_matrix()


def test_the_axis_of_a_hinge_is_found_exactly_while_both_bodies_tumble() -> None:
    axis, center = np.array([0.36, 0.48, 0.8]), np.array([0.3, -0.2, 0.9])
    one, other, _ = two_bodies(np.linspace(0.0, 1.0, 200), axis, center)
    line = rotation_axis(one, other, center + np.array([0.05, 0.02, -0.1]))
    assert abs(line.proximal_direction @ axis) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(line.proximal_direction, line.distal_direction, atol=1e-9)
    for point in (line.proximal, line.distal):
        np.testing.assert_allclose(np.cross(point - center, axis), 0.0, atol=1e-9)
    assert line.rms < 1e-9 and line.rms_stray < 1e-7
    # 2 to 98 % of 57.3 degrees, evenly covered; their standard deviation is the range over the root of 12.
    assert np.degrees(line.ranges[0]) == pytest.approx(0.96 * 57.3, abs=0.1) and line.ranges[1] < 1e-6
    assert line.deviation == pytest.approx(1.0 / np.sqrt(12.0), rel=0.01)


def test_a_joint_that_glides_along_its_axis_leaves_that_as_residual() -> None:
    axis, center = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.1, 0.5])
    angle = np.linspace(0.0, 1.0, 200)
    one, other, base = two_bodies(angle, axis, center)
    glide = 0.004 * np.sin(20.0 * angle)
    other = replace(other, translation=other.translation + np.einsum("tij,j,t->ti", base, axis, glide))
    line = rotation_axis(one, other, center)
    assert line.rms == pytest.approx(glide.std(), rel=0.02) and line.rms_stray < 1e-7


def test_the_uncertainty_is_what_markers_that_slide_with_the_angle_do() -> None:
    # Every marker slides in proportion to the angle, each in its own way: no residual of the axis shows it.
    rng = np.random.default_rng(4)
    axis, center = np.array([0.0, 1.0, 0.0]), np.array([0.0, -0.09, 0.42])
    angle = 0.5 * np.deg2rad(60.0) * (1.0 - np.cos(np.linspace(0.0, 2.0 * np.pi, 300)))
    one, other, _ = two_bodies(angle, axis, center)
    thigh = center + np.array(
        [[0.06, -0.03, 0.25], [-0.06, -0.03, 0.17], [0.05, -0.04, 0.1], [-0.02, -0.07, 0.3]]
    )
    shank = center - np.array(
        [[0.06, 0.03, 0.25], [-0.06, 0.03, 0.17], [0.05, 0.04, 0.1], [-0.02, 0.07, 0.3]]
    )
    ratios = []
    for _ in range(60):
        bodies = []
        for shape, poses in ((thigh, one), (shank, other)):
            slide = 0.003 * np.einsum("t,ni->tni", angle - angle.mean(), rng.normal(size=shape.shape))
            seen = np.stack([poses.point(place) for place in shape], axis=1)
            seen = seen + np.einsum("tij,tnj->tni", poses.rotation, slide)
            bodies.append((shape, register(shape, seen)))
        line = rotation_axis(bodies[0][1], bodies[1][1], center)
        turned, shifted = uncertainty(line, (bodies[0], bodies[1]))
        off = np.cross(line.proximal - center, line.proximal_direction)
        tilt = np.arccos(min(1.0, abs(float(line.proximal_direction @ axis))))
        ratios.append([tilt / turned, np.linalg.norm(off) / shifted])
    rms = np.sqrt(np.mean(np.square(ratios), axis=0))
    np.testing.assert_allclose(rms, 1.0, atol=0.25)


def test_axes_and_centers_are_found_exactly_without_noise(tmp_path: Path) -> None:
    trial = read_trial(bending(tmp_path))
    assert isinstance(trial, Trial) and tuple(trial.hinges) == JOINTS
    for angle, apart in errors(trial).values():
        assert angle < 0.01 and apart < 0.05
    _, notes = found(trial)
    assert "over 801 frames of bending.trc with 60 degrees of motion it moves by 0.0 mm" in notes["knee_r"]
    assert "hip to ankle" in notes["knee_l"] and "heel to toe" in notes["ankle_l"]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("kind", "size", "share"), [("white", 3.0, 1.0), ("skin", 1.0, 0.9)])
def test_noise_leaves_the_axis_within_two_degrees_and_the_center_within_five_millimeters(
    tmp_path: Path, kind: str, size: float, share: float
) -> None:
    table = []
    for seed in some(range(6), 3):
        trial = read_trial(bending(tmp_path / str(seed), noise=kind, noise_mm=size, seed=seed))
        table += list(errors(trial).values())
    angle, apart = np.array(table).T
    assert np.mean(angle < 2.0) >= share and np.mean(apart < 5.0) >= share
    assert angle.max() < 3.0 and apart.max() < 8.0


def test_the_motion_is_that_of_the_same_body_with_markers_on_its_joints(tmp_path: Path) -> None:
    body = anatomy(read_trial(bending(tmp_path / "bending")))
    marked = anatomy(read_trial(ms.studies.synthetic_recording(tmp_path / "marked", truth=False)))
    for joint in JOINTS:
        # The markers of the foot do not ride on one body of the model exactly: its toes bend.
        np.testing.assert_allclose(body.points[joint], marked.points[joint], atol=1e-3)
        np.testing.assert_allclose(body.offsets[joint], marked.offsets[joint], atol=1e-3)
    for side in "rl":
        axis = f"knee_axis_{side}"
        np.testing.assert_allclose(body.directions[axis], marked.directions[axis], atol=2e-3)
    assert sum("axis is functional" in note for note in body.notes) == 4


def marked(folder: Path, ends: tuple[str, ...], forward: float) -> Path:
    """Write the recording with markers at epicondyles too, so far ahead of them [m]; their landmarks are mapped."""
    path = bending(folder)
    full = ms.studies.synthetic_recording(folder / "full", truth=False, margin_s=0.4)
    for name in ("walk", "static", "bending"):
        markers = read_trc(folder / f"{name}.trc")
        other = read_trc(full.with_name("static.trc" if name == "bending" else f"{name}.trc"))
        labels = tuple(f"knee_{end}_{side}" for end in ends for side in "rl")
        extra = np.stack([other[label] for label in labels], axis=1) + np.array([forward, 0.0, 0.0])
        if name == "bending":  # not used there
            extra = np.repeat(extra[:1], markers.time.size, axis=0)
        position = np.concatenate([markers.position, extra], axis=1)
        write_trc(
            folder / f"{name}.trc", Markers(markers.time, markers.names + labels, position, markers.path)
        )
    edited(path, ("[mapping]\n", "[mapping]\n" + "".join(f'{label} = "{label}"\n' for label in labels)))
    return path


@pytest.mark.thorough
def test_markers_place_the_center_along_the_axis(tmp_path: Path) -> None:
    both = marked(tmp_path / "both", ("lateral", "medial"), 0.02)
    joints, notes = found(read_trial(both))
    np.testing.assert_allclose(joints["knee_r"][0], true_joint("knee_r")[0], atol=1e-4)
    assert "midpoint of its two markers" in notes["knee_r"]
    for end, sign in (("lateral", 1.0), ("medial", -1.0)):
        path = marked(tmp_path / end, (end,), 0.02)
        with refusals.refused("missing_key", "[subject]", f"only the {end} marker shows the right knee"):
            read_trial(path)
        # The markers of the synthetic subject are points, 50 mm from the center; these have a radius of 7 mm.
        edited(path, ('sex = "male"\n', 'sex = "male"\nknee_width_m = 0.08\n'))
        joints, notes = found(read_trial(path))
        for joint in ("knee_r", "knee_l"):
            center, outward = true_joint(joint)
            np.testing.assert_allclose(joints[joint][0], center + sign * 0.003 * outward, atol=1e-4)
        assert f"by knee_width_m from the {end} marker" in notes["knee_l"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"functional_deg": 15.0}, "ankle moves too little to show its axis: 15 degrees"),
        ({"functional_deg": 22.0, "noise": "skin", "noise_mm": 3.0}, "slide so far on the skin"),
        ({"functional_deg": 40.0, "noise": "skin", "noise_mm": 30.0}, "right "),
    ],
)
def test_a_movement_that_does_not_show_the_axis_is_refused(
    tmp_path: Path, options: dict[str, object], problem: str
) -> None:
    trial = read_trial(bending(tmp_path, **options))
    with refusals.refused("bad_anatomy", "[files] functional_ankle_r", problem):
        anatomy(trial)
    report = ms.check(tmp_path / "trial.toml")
    assert not report.ok and any(problem in finding.what for finding in report.findings)


def moved(path: Path, change: dict[str, np.ndarray]) -> None:
    """Replace trajectories (T, 3) [m] of the movement."""
    markers = read_trc(path.with_name("bending.trc"))
    position = np.stack([change.get(name, markers[name]) for name in markers.names], axis=1)
    write_trc(path.with_name("bending.trc"), replace(markers, position=position))


def test_what_is_no_hinge_is_refused(tmp_path: Path) -> None:
    path = bending(tmp_path)
    markers = read_trc(path.with_name("bending.trc"))
    shank = [name for name in markers.names if name.startswith(("shank_r_", "foot_r_"))]
    foot = ("heel_r", "toe_r", "metatarsal_5_r")
    center = true_joint("knee_r")[0]
    phase = 2.0 * np.pi * markers.time / 1.3
    swung = Rotation.from_rotvec(np.deg2rad(30.0) * np.sin(phase)[:, None] * [1.0, 0.0, 0.0])
    moved(path, {name: swung.apply(markers[name] - center) + center for name in (*shank, *foot)})
    with refusals.refused("bad_anatomy", "[files] functional_knee_r", "about another"):
        anatomy(read_trial(path))
    # A shank that is pulled away as it bends turns about no line.
    away = 0.05 * np.sin(phase)[:, None] * [0.0, 1.0, 0.0]
    moved(path, {name: markers[name] + away for name in (*shank, *foot)})
    with refusals.refused("bad_anatomy", "[files] functional_knee_r", "do not turn about one axis"):
        anatomy(read_trial(path))


def test_markers_that_are_lost_too_often_are_refused(tmp_path: Path) -> None:
    path = bending(tmp_path)
    seldom = read_trc(path.with_name("bending.trc"))["thigh_l_2"].copy()
    seldom[::50] = np.nan
    moved(path, {"thigh_l_2": seldom})
    with refusals.refused("missing_samples", "functional_knee_l", "left thigh and the left shank for 1 s"):
        anatomy(read_trial(path))
    moved(path, {"thigh_l_2": np.full_like(seldom, np.nan)})
    with refusals.refused("missing_samples", "'thigh_l_2' is never seen"):
        read_trial(path)


@pytest.mark.parametrize(
    ("edit", "problem", "remedy"),
    [
        (
            ('functional_knee_l = "bending.trc"\n', ""),
            "no trial moves the left knee",
            "add functional_knee_l",
        ),
        (
            ('knee = "functional"\n', ""),
            "'knee_lateral_r' is missing",
            'knee = "functional" in [joint_centers]',
        ),
        (
            ("[mapping]\n", '[mapping]\nankle_center_r = "thigh_r_1"\n'),
            "ankle_center_r is mapped, but",
            "remove ankle_center_r",
        ),
        (
            ('thigh_r = ["thigh_r_1", "thigh_r_2", "thigh_r_3", "thigh_r_4"]\n', ""),
            "no cluster shows how the right thigh moves",
            'thigh_r = ["thigh_r_1", "thigh_r_2", "thigh_r_3", "thigh_r_4"]',
        ),
        (
            ('shank_l = ["shank_l_1", "shank_l_2", "shank_l_3", "shank_l_4"]\n', ""),
            "no cluster shows how the left shank moves",
            'shank_l = ["shank_l_1", "shank_l_2", "shank_l_3", "shank_l_4"]',
        ),
        (
            ('"thigh_l_1", "thigh_l_2", "thigh_l_3"', '"thigh_l_1"'),
            "the value is",
            "list three or more different markers",
        ),
    ],
)
def test_a_trial_file_that_asks_in_vain_is_refused(
    tmp_path: Path, edit: tuple[str, str], problem: str, remedy: str
) -> None:
    path = bending(tmp_path, edit)
    with pytest.raises(InputError) as error:
        read_trial(path)
    message = str(error.value)
    assert problem in message and remedy in message.split("remedy: ")[1] and "trial.toml" in message
    if "add to [clusters]: " in message:  # the remedy works when it is applied
        line = message.split("add to [clusters]: ")[1].splitlines()[0]
        edited(path, ("[clusters]\n", f"[clusters]\n{line}\n"))
        assert max(angle for angle, _ in errors(read_trial(path)).values()) < 0.01


def test_the_way_from_missing_epicondyles_to_a_functional_knee_is_told_step_by_step(tmp_path: Path) -> None:
    path = bending(tmp_path, ('knee = "functional"\n', ""))
    edited(path, *((f'functional_knee_{side} = "bending.trc"\n', "") for side in "rl"))
    steps = (
        (
            'knee = "functional" in [joint_centers]',
            ("[joint_centers]\n", '[joint_centers]\nknee = "functional"\n'),
        ),
        ("add functional_knee_r", ("[files]\n", '[files]\nfunctional_knee_r = "bending.trc"\n')),
        ("add functional_knee_l", ("[files]\n", '[files]\nfunctional_knee_l = "bending.trc"\n')),
    )
    for remedy, edit in steps:
        with pytest.raises(InputError) as error:
            read_trial(path)
        assert remedy in str(error.value).split("remedy: ")[1]
        edited(path, edit)
    assert len(found(read_trial(path))[0]) == 4


def test_the_foot_is_shown_by_its_landmarks_where_it_has_no_cluster(tmp_path: Path) -> None:
    path = bending(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(
        "\n".join(line for line in text.splitlines() if not line.startswith("foot_")), encoding="utf-8"
    )
    trial = read_trial(path)
    assert trial.hinges["ankle_r"].distal == ("heel_r", "toe_r", "metatarsal_5_r")
    assert max(angle for angle, _ in errors(trial).values()) < 0.01
    edited(path, ('metatarsal_5_r = "metatarsal_5_r"\n', ""))
    with refusals.refused("missing_marker", "no cluster shows how the right foot moves", "metatarsal_5_r"):
        read_trial(path)


def test_a_walk_shows_a_knee_as_well_as_it_says(instrumented_knee: Path, tmp_path: Path) -> None:
    """Knee flexion in walks, against the epicondyles of the standing trial: within what skin may do, or refused."""
    text = (instrumented_knee / "walk_ss9.toml").read_text(encoding="utf-8")
    for key in ("markers", "static", "forces"):
        text = text.replace(f'{key} = "', f'{key} = "{instrumented_knee.as_posix()}/')
    walk = (instrumented_knee / "PS_ngait_og_ss9.trc").as_posix()
    named = "\n".join(f'functional_knee_{side} = "{walk}"' for side in "rl")
    text = text.replace("[filter]", f"{named}\n[filter]", 1).replace(
        "[[force]]", '[joint_centers]\nknee = "functional"\n[[force]]', 1
    )
    path = tmp_path / "walk.toml"
    path.write_text(text, encoding="utf-8")
    trial = read_trial(path)
    joints, notes = found(trial)
    static = standing_trial(trial)
    for side, name in (("r", "R"), ("l", "L")):
        marked_axis = static[f"{name}KneeLateral"] - static[f"{name}KneeMedial"]
        angle = np.degrees(np.arccos(joints[f"knee_{side}"][1] @ marked_axis / np.linalg.norm(marked_axis)))
        stated = float(notes[f"knee_{side}"].split("turn it by ")[1].split()[0])
        assert angle < stated < 15.0 and "move the joint farther" in notes[f"knee_{side}"]

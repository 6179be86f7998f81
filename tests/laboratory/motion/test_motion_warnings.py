"""Motions that are not refused but reported, and motions that are refused because they fit no body."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import refusals
from synthetic_trial import MASS, RATE, STATURE, person, write_markers, write_trial

from musclesolve import read_trial
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import InputError
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import anatomy
from musclesolve.laboratory.motion.anatomy.anatomy import Seen
from musclesolve.laboratory.motion.anatomy.landmark_positions import MarkerMap, filtered_markers
from musclesolve.laboratory.motion.events.foot_events import FootLoads
from musclesolve.laboratory.motion.motion_plausibility import carried_share
from musclesolve.laboratory.motion.signals.filter_choice import filter_choice
from musclesolve.tables import read_mot, read_trc, write_mot, write_trc


def notes(folder: Path, *edits: tuple[str, str]) -> list[str]:
    return anatomy(read_trial(write_trial(folder, *edits))).notes


def refused(folder: Path, *edits: tuple[str, str]) -> str:
    path = write_trial(folder, *edits)
    with pytest.raises(InputError) as error:
        anatomy(read_trial(path))
    return str(error.value)


def weigh(folder: Path, factor: float) -> list[str]:
    """Multiply all forces by a factor."""
    path = write_trial(folder)
    table = read_mot(folder / "forces.mot")
    factors = [factor if "_v" in name else 1.0 for name in table.names]
    write_mot(folder / "forces.mot", replace(table, values=table.values * factors))
    return anatomy(read_trial(path)).notes


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (("cutoff_hz = 6.0", "cutoff_hz = 2.5"), "2.5 Hz takes away part of the motion"),
        (("cutoff_hz = 6.0", "cutoff_hz = 30"), "30 Hz leaves noise"),
        (("end_s = 1.8", "end_s = 0.72"), "13 frames, 0.12 s"),
        (("start_s = 0.6", "start_s = 0.1"), "by 0.1 s before it"),
        (("end_s = 1.8", "end_s = 2.3"), "0.09 s after it"),
        (("stature_m = 1.75", "stature_m = 1.45"), "1.64 m tall, but stature_m is 1.45"),
        (("mass_kg = 70.0", "mass_kg = 50"), "fits a mass of 71"),
        (("mass_kg = 70.0", "mass_kg = 110"), "only 65 % of the body weight"),
    ],
)
def test_a_doubtful_value_is_said_before_all_else(tmp_path: Path, edit: tuple[str, str], says: str) -> None:
    found = notes(tmp_path, edit)
    assert any(says in note for note in found[:-1]), found
    assert "fit their standing shape" in found[-1]


@pytest.mark.parametrize("start", [0.17, 0.6])
def test_one_period_of_the_cutoff_before_the_range_is_enough(tmp_path: Path, start: float) -> None:
    found = notes(tmp_path, ("start_s = 0.6", f"start_s = {start}"))
    assert not any("less certain" in note for note in found)


def test_serious_notes_come_before_assumptions(tmp_path: Path) -> None:
    found = notes(tmp_path, ('moment = "l_m"\n', ""), ("cutoff_hz = 6.0", "cutoff_hz = 2.5"))
    assert "cut-off" in found[0]
    assert ["moment" in note for note in found].index(True) > 0
    assert "fit their standing shape" in found[-1]


def test_a_loose_body_is_named_and_the_others_are_one_note(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    walk = read_trc(tmp_path / "walk.trc")
    position = walk.position.copy()
    position[:, walk.names.index("RTH1"), 0] += 0.04 * np.sin(2.0 * np.pi * 0.8 * walk.time)
    write_trc(tmp_path / "walk.trc", replace(walk, position=position))
    found = [note for note in anatomy(read_trial(path)).notes if "standing shape" in note]
    assert found[0].startswith("The points of thigh_r fit their standing shape only to 1")
    assert len(found) == 2 and " others with three points or more fit" in found[1]


def test_a_loose_cluster_that_leads_nothing_makes_nothing_uncertain(tmp_path: Path) -> None:
    idle = '[clusters]\nidle_r = ["RSH1", "RSH2", "RKNL", "RTH1"]\n'
    trial = read_trial(write_trial(tmp_path, ("[clusters]\n", idle)))
    assert not anatomy(trial).remarks["loose"]
    kept = replace(trial, carried={**trial.carried, "RKNM": "idle_r"})
    assert any("idle_r" in sentence for sentence in anatomy(kept).remarks["loose"])


def test_the_weight_is_that_of_the_person_on_a_moving_pelvis(tmp_path: Path) -> None:
    trial = read_trial(write_trial(tmp_path))
    accelerated = trial_on_a_lift(trial, 2.0)
    walk = filtered_markers(accelerated, filter_choice(accelerated, accelerated.settings.filter), 0.1)
    share = carried_share(
        accelerated,
        FootLoads.from_trial(accelerated),
        walk.time,
        Seen.from_markers(MarkerMap.from_recording(accelerated, walk.names, {}), walk.position).moving,
        accelerated.time_range,
    )
    assert share == pytest.approx(1.0, abs=0.01)


def trial_on_a_lift(trial: Trial, acceleration: float) -> Trial:
    """Only pelvis markers, on a person who stands on a lift that accelerates upward."""
    time = trial.markers.time
    lift = np.zeros((time.size, 1, 3))
    lift[..., 2] = 0.5 * acceleration * time[:, None] ** 2
    still = person(0.0 * time, moving=False).markers
    names = ("RASI", "LASI")
    position = np.stack([still[name] for name in names], axis=1) + lift
    half = np.array([0.0, 0.0, 0.5 * MASS * (STANDARD_GRAVITY + acceleration)])
    return replace(
        trial,
        markers=replace(trial.markers, names=names, position=position),
        mapping={"asis_r": {"RASI": 1.0}, "asis_l": {"LASI": 1.0}},
        clusters={},
        carried={},
        forces=tuple(replace(plate, force=0.0 * plate.force + half) for plate in trial.forces),
    )


def test_forces_far_too_great_for_the_mass_are_refused(tmp_path: Path) -> None:
    with refusals.refused("bad_forces", "line 4, [subject] mass_kg", "9.9"):
        weigh(tmp_path, 9.81)
    assert "mass_kg" not in " ".join(weigh(tmp_path, 1.05))


def test_a_stature_far_from_the_segments_is_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, (f"stature_m = {STATURE}", "stature_m = 1.05"))
    assert "line 5, [subject] stature_m" in message and "1.64 m tall" in message


ONE_AND_ANOTHER = {
    "PSIS for ASIS": (
        (("psis_r = \"RPSI\"\npsis_l = \"LPSI\"", 'sacrum = { midpoint = ["RPSI", "LPSI"] }'),
         ('asis_r = "RASI"', 'asis_r = "RPSI"')),
        ["[mapping] asis_r", "right pelvis, from ASIS to between the PSIS, measures 50 mm", "sacrum"],
    ),
    "hip center at the back": (
        (("[mapping]\n", '[mapping]\nhip_center_r = { midpoint = ["RPSI", "LPSI"] }\n'),),
        ["line 25, [mapping] hip_center_r", "mapped right hip center lies 1", "harrington_2007"],
    ),
    "elbow at the pelvis": (
        (('elbow_medial_r = { midpoint = ["RELM", "RELM2"] }', 'elbow_medial_r = { midpoint = ["RASI", "RPSI"] }'),),
        ["[mapping] elbow_medial_r", "right elbow, from lateral to medial epicondyle, measures"],
    ),
    "hand on the forearm": (
        (("[mapping]\n", "[mapping]\nhand_radial_l = { weights = { LWRI = 0.6, LELM = 0.4 } }\n"),),
        ["[mapping] hand_radial_l", "left arm, from elbow to hand on the thumb side, measures"],
    ),
    "wrists exchanged": (
        (('wrist_r = "RWRI"', 'wrist_r = "X"'), ('wrist_l = "LWRI"', 'wrist_l = "RWRI"'), ('"X"', '"LWRI"')),
        ["[mapping] wrist_r", "right forearm measures"],
    ),
    "chin at the pelvis": (
        (("[mapping]\n", '[mapping]\nhead_low = { midpoint = ["RASI", "LASI"] }\n'),),
        ["[mapping] head_low", "from the root of the neck to the chin, measures"],
    ),
    "knee of the other leg": (
        (('knee_medial_r = "RKNM"', 'knee_medial_r = { weights = { RKNM = 3, RKNL = -2 } }'),),
        ["[mapping] knee_medial_r", "right knee, from lateral to medial epicondyle, measures 300 mm"],
    ),
    "metatarsal at the knee": (
        (('metatarsal_5_r = "RMT5"', 'metatarsal_5_r = "RKNL"'),),
        ["[mapping] metatarsal_5_r"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_AND_ANOTHER)
def test_a_landmark_at_another_place_of_the_body_is_named(tmp_path: Path, name: str) -> None:
    edits, parts = ONE_AND_ANOTHER[name]
    message = refused(tmp_path, *edits)
    for part in (*parts, "\n  expected: ", "\n  remedy: ", "line "):
        assert part in message, message


UNUSUAL = {
    "PSIS near each other": (
        ('psis_r = "RPSI"', "psis_r = { weights = { RPSI = 0.5, LPSI = 0.5 } }"),
        "The pelvis, from PSIS to PSIS, measures 50 mm, usual is 55 to 164 mm",
    ),
    "metatarsal at the shank": (
        ('metatarsal_5_r = "RMT5"', 'metatarsal_5_r = "RSH1"'),
        "The right foot, from heel to fifth metatarsal, measures 313 mm",
    ),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_unusual_is_said_and_not_refused(tmp_path: Path, name: str) -> None:
    edit, says = UNUSUAL[name]
    assert any(note.startswith(says) for note in notes(tmp_path, edit))


def test_sides_of_carried_markers_are_compared_too(tmp_path: Path) -> None:
    message = refused(
        tmp_path,
        ('knee_medial_r = "RKNM"', 'knee_medial_r = "X"'),
        ('knee_medial_l = "LKNM"', 'knee_medial_l = "RKNM"'),
        ('"X"', '"LKNM"'),
    )
    assert "[mapping] knee_medial_r: right and left are swapped" in message


@pytest.mark.parametrize(
    ("edits", "parts"),
    [
        (
            (('knee_lateral_r = "RKNL"', 'knee_lateral_r = "RKNM"'),
             ('knee_medial_r = "RKNM"', 'knee_medial_r = "RKNL"')),
            ["line 29, [mapping] knee_lateral_r", "right knee axis",
             "swap the markers of knee_lateral_r and knee_medial_r"],
        ),
        (
            (('heel_l = "LHEE"', 'heel_l = "LTOE"'), ('toe_l = "LTOE"', 'toe_l = "LHEE"')),
            ["line 38, [mapping] heel_l", "left ankle axis", "toe_l ahead of heel_l"],
        ),
        (
            (('shank_l = ["LSH1", "LSH2", "LANL"]', 'shank_l = ["LSH1", "LHEE", "RTOE"]'),),
            ["[clusters] shank_l", "fit their standing shape only to"],
        ),
        (
            (('"harrington_2007"', '"hara_2016"'), ('static = "static.trc"\n', "")),
            ["[joint_centers] hip", "needs the length 'leg'"],
        ),
    ],
)  # fmt: skip
def test_what_the_motion_refuses_has_its_line(tmp_path: Path, edits: tuple, parts: list[str]) -> None:
    path = write_trial(tmp_path, *edits)
    if not (text := path.read_text()).count("static ="):
        # Everything is seen in the motion, so that no cluster is needed.
        path.write_text(text[: text.index("[clusters]")] + text[text.index("[joint_centers]") :])
        everything = person(np.arange(240) / RATE).markers
        write_markers(tmp_path / "walk.trc", read_trc(tmp_path / "walk.trc").time, everything)
    with pytest.raises(InputError) as error:
        anatomy(read_trial(path))
    for part in (*parts, str(path), "line ", "\n  expected: ", "\n  remedy: "):
        assert part in str(error.value), str(error.value)


def test_a_cluster_on_a_line_is_refused_with_its_recording(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    for file in ("walk.trc", "static.trc"):
        markers = read_trc(tmp_path / file)
        position = markers.position.copy()
        one, two, three = (position[:, markers.names.index(name)] for name in ("LSH1", "LSH2", "LANL"))
        two[:] = 0.5 * (one + three) + 0.001
        write_trc(tmp_path / file, replace(markers, position=position))
    with pytest.raises(InputError) as error:
        anatomy(read_trial(path))
    for part in ("[clusters] shank_l", "lie on a line", "static.trc", "line ", "\n  remedy: "):
        assert part in str(error.value)

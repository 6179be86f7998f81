"""What the names of markers mean, by words and by the places of the markers on the body."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from musclesolve.laboratory.draft.choose_mapping import choose_mapping, marker_tables
from musclesolve.laboratory.markers.marker_names import named_markers, with_places
from musclesolve.laboratory.markers.marker_places import Body
from musclesolve.laboratory.markers.marker_words import meaning_of
from musclesolve.tables import Markers

FRAMES = 40
RIGHT = {
    "asis": (0.10, -0.12, 0.95),
    "psis": (-0.08, -0.05, 0.98),
    "knee_lateral": (0.00, -0.16, 0.49),
    "knee_medial": (0.01, -0.05, 0.48),
    "ankle_lateral": (-0.04, -0.14, 0.08),
    "ankle_medial": (-0.03, -0.06, 0.09),
    "heel": (-0.08, -0.10, 0.03),
    "toe": (0.14, -0.12, 0.03),
    "hip_center": (0.03, -0.09, 0.88),
    "knee_center": (0.005, -0.105, 0.485),
    "ankle_center": (-0.035, -0.10, 0.085),
    "elbow_lateral": (-0.02, -0.28, 1.05),
    "elbow_medial": (-0.02, -0.20, 1.05),
}
"""Places on a standing subject of about 1.7 m, x forward, y to the left, z up [m]."""
USUAL = {
    "asis": "{}ASI",
    "psis": "{}PSI",
    "knee_lateral": "{}KNE",
    "knee_medial": "{}KNM",
    "ankle_lateral": "{}ANK",
    "ankle_medial": "{}ANM",
    "heel": "{}HEE",
    "toe": "{}TOE",
}


def recorded(names: dict[str, tuple[str, ...] | str], **places: tuple[float, float, float]) -> Markers:
    """Markers of a subject who walks 1.3 m/s: landmark -> label of both sides, {} for the side; places of others."""
    time = np.arange(FRAMES) / 50.0
    at = dict[str, np.ndarray]()
    for landmark, label in names.items():
        place = np.array((RIGHT | places)[landmark])
        at[label.format("R")] = place
        at[label.format("L")] = place * [1.0, -1.0, 1.0]
    way = 1.3 * time[:, None, None] * np.array([1.0, 0.0, 0.0])
    return Markers(time, tuple(at), np.stack([*at.values()])[None] + way, Path("walk.trc"))


def without(*stems: str) -> dict[str, str]:
    return {stem: label for stem, label in USUAL.items() if stem not in stems}


@pytest.mark.parametrize(
    ("label", "landmark"),
    [
        ("pRightASI", "asis_r"),
        ("pLeftKneeMedEpicondyle", "knee_medial_l"),
        ("pRightArmLatEpicondyle", "elbow_lateral_r"),
        ("pRightLatMalleolus", "ankle_lateral_r"),
        ("pLeftFirstMetatarsal", "metatarsal_1_l"),
        ("19 - R_Toe_II", "toe_r"),
        ("R_1ST_MET", "metatarsal_1_r"),
        ("L_5TH_MET_HEAD", "metatarsal_5_l"),
        ("R_HEEL_SUP", "heel_top_r"),
        ("L.Heel.Bottom", "heel_bottom_l"),
        ("RHJC", "hip_center_r"),
        ("Pelvis_RFemur_score", "hip_center_r"),
        ("LFemur_LTibia_score", "knee_center_l"),
        ("RTibia_RFoot_score", "ankle_center_r"),
        ("LMEK", "knee_medial_l"),
        ("RMM", "ankle_medial_r"),
    ],
)
def test_names_of_words(label: str, landmark: str) -> None:
    assert meaning_of(label, {}).landmark == landmark


@pytest.mark.parametrize(
    "label",
    ["LTOL", "RTIA", "R.Thigh.Bottom.Lateral", "R.Heel.Lateral", "LP5MT", "R_MT5_base", "LRKNE", "RHip"],
)
def test_names_that_mean_no_landmark(label: str) -> None:
    meaning = meaning_of(label, {})
    assert not meaning.landmark and not meaning.possible


def test_short_words_are_read_where_the_marker_is_in_its_place() -> None:
    names = without("knee_lateral", "knee_medial", "ankle_lateral", "ankle_medial", "toe") | {
        "knee_lateral": "{}LKN",
        "knee_medial": "{}MKN",
        "ankle_lateral": "{}LAK",
        "ankle_medial": "{}MAK",
        "toe": "{}.TO",
    }
    walk = recorded(names)
    choice = choose_mapping(walk, None)
    assert not choice.missing and choice.mapping["knee_lateral_l"] == "LLKN"
    assert choice.mapping["ankle_medial_r"] == "RMAK" and choice.mapping["toe_r"] == "R.TO"
    # at the knee are two markers whose ends contradict their places, and the toe is behind the heel
    mirrored = {
        "knee_lateral": RIGHT["knee_medial"],
        "knee_medial": RIGHT["knee_lateral"],
        "toe": (-0.2, -0.12, 0.03),
    }
    wrong = choose_mapping(recorded(names, **mirrored), None)
    assert {"knee_lateral_r", "knee_medial_l", "toe_r", "toe_l"} <= set(wrong.missing)
    assert "ankle_lateral_r" in wrong.mapping


def test_epicondyles_are_of_the_limb_that_they_are_on() -> None:
    names = without("knee_lateral", "knee_medial")
    for joint in ("knee", "elbow"):
        for ends in (("LateralEpicondyle{}", "MedialEpicondyle{}"), ("{}xLatCon", "{}xMedCon")):
            epicondyles = dict(zip((f"{joint}_lateral", f"{joint}_medial"), ends, strict=True))
            shown = choose_mapping(recorded(names | epicondyles), None).mapping
            assert shown[f"{joint}_lateral_r"] == ends[0].format("R")
            assert shown[f"{joint}_medial_l"] == ends[1].format("L")
    arms = [f"{name}{side}" for name in ("Acromion", "Wrist", "LateralEpicondyle") for side in "RL"]
    assert named_markers(arms).mapping["elbow_lateral_r"] == "LateralEpicondyleR"
    legs = [f"{side}{name}" for name in ("HEE", "TOE", "LEPI") for side in "RL"]
    assert named_markers(legs).mapping["knee_lateral_r"] == "RLEPI"
    assert not named_markers(["RLEPI", "LLEPI"]).mapping


def test_a_heel_lies_between_its_markers() -> None:
    both = [f"{side}.Heel.{level}" for side in "RL" for level in ("Top", "Bottom", "Lateral")]
    assert named_markers(both).mapping["heel_r"] == {"midpoint": ["R.Heel.Top", "R.Heel.Bottom"]}
    assert named_markers(["R_HEEL_SUP", "L_HEEL_SUP"]).mapping["heel_l"] == "L_HEEL_SUP"
    assert named_markers([*both, "R.Heel", "L.Heel"]).mapping["heel_r"] == "R.Heel"


def test_what_a_program_computed_serves_only_where_nothing_better_is() -> None:
    computed = {"hip_center": "{}FEP", "knee_center": "{}FEO", "ankle_center": "{}TIO"}
    whole = choose_mapping(recorded(USUAL | computed), None)
    assert not whole.instead and not {"knee_center_r", "hip_center_r"} & set(whole.resolved)
    lateral = choose_mapping(recorded(without("knee_medial", "ankle_medial") | computed), None)
    assert not lateral.missing and "hip_center_r" not in lateral.resolved
    assert {name: lateral.mapping[name] for name in lateral.instead} == {
        "knee_center_r": "RFEO",
        "knee_center_l": "LFEO",
        "ankle_center_r": "RTIO",
        "ankle_center_l": "LTIO",
    }
    # a point of this name at the ankle is no center of the knee
    moved = recorded(without("knee_medial", "ankle_medial") | computed, knee_center=RIGHT["ankle_center"])
    assert "knee_medial_r" in choose_mapping(moved, None).missing


def test_functional_centers_are_no_lateral_markers() -> None:
    """A program that computes joint centers also writes them as "RKnee"."""
    centers = {
        "hip_center": "Pelvis_{0}Femur_score",
        "knee_center": "{0}Femur_{0}Tibia_score",
        "ankle_center": "{0}Tibia_{0}Foot_score",
        "knee_lateral": "{}Knee",
        "heel": "{}HEE",
        "toe": "{}TOE",
    }
    choice = choose_mapping(recorded(centers, knee_lateral=RIGHT["knee_center"]), None)
    assert choice.mapping["knee_center_l"] == "LFemur_LTibia_score"
    assert choice.mapping["hip_center_r"] == "Pelvis_RFemur_score"
    assert not [name for name in choice.mapping if "lateral" in name] and not choice.missing


@pytest.mark.parametrize(("outwards", "serves"), [(-0.19, True), (-0.10, False)])
def test_a_wand_serves_where_it_stands_out(outwards: float, serves: bool) -> None:
    names = without("knee_medial", "ankle_medial") | {"wand": "{} bar 1"}
    choice = choose_mapping(recorded(names, wand=(0.0, outwards, 0.62)), None)
    assert ("thigh_wand_r" in choice.instead) == serves == ("knee_medial_r" not in choice.missing)


def test_a_set_fills_its_holes_by_words() -> None:
    names = without("knee_medial", "ankle_medial") | {
        "thigh": "{}THI",
        "shank": "{}TIB",
        "knee_medial": "{}MEK",
        "ankle_medial": "{}MM",
    }
    choice = choose_mapping(recorded(names, thigh=(0.0, -0.19, 0.7), shank=(-0.02, -0.17, 0.3)), None)
    assert choice.set == "plug_in_gait" or choice.set is None
    assert {"knee_medial_r", "knee_medial_l", "ankle_medial_r", "ankle_medial_l"} <= set(choice.resolved)
    assert choice.resolved["knee_medial_l"] == {"LMEK": 1.0}


def test_labels_without_a_place_are_carried_from_the_standing_trial() -> None:
    tracking = {f"t{k}": f"{{}}TH{k}" for k in range(3)} | {f"s{k}": f"{{}}SH{k}" for k in range(3)}
    places = {f"t{k}": (0.03 * k, -0.15 - 0.01 * k * k, 0.65 + 0.05 * k) for k in range(3)}
    places |= {f"s{k}": (0.03 * k, -0.14 - 0.01 * k * k, 0.25 + 0.05 * k) for k in range(3)}
    static = recorded(USUAL | tracking, **places)
    hidden = [k for k, name in enumerate(static.names) if name[1:] in ("KNM", "ANM")]
    position = static.position.copy()
    position[:, hidden] = np.nan
    walk = replace(static, position=position)
    assert len(with_places(walk).names) == len(walk.names) - 4 and with_places(static) is static
    choice = choose_mapping(walk, static)
    assert dict(choice.carried) == {
        "RKNM": "thigh_r",
        "LKNM": "thigh_l",
        "RANM": "shank_r",
        "LANM": "shank_l",
    }
    assert not choice.missing
    alone = choose_mapping(walk, None)
    assert alone.missing["knee_medial_r"] == "the label 'RKNM' is there without a place in any frame"
    assert {"knee_medial_r", "ankle_medial_l"} <= set(alone.missing)


def test_clusters_are_seen_while_the_subject_is_there() -> None:
    """Of a recording that begins before the subject is in the volume, only the frames with the subject count."""
    tracking = {f"t{k}": f"{{}}TH{k}" for k in range(3)}
    places = {f"t{k}": (0.03 * k, -0.15 - 0.01 * k * k, 0.65 + 0.05 * k) for k in range(3)}
    static = recorded(USUAL | tracking, **places)
    kept = [k for k, name in enumerate(static.names) if name[1:] != "KNM"]
    position = static.position[:, kept].copy()
    position[: FRAMES // 2] = np.nan
    walk = replace(static, names=tuple(static.names[k] for k in kept), position=position)
    assert choose_mapping(walk, static).carried == {"RKNM": "thigh_r", "LKNM": "thigh_l"}


def test_an_open_landmark_is_asked_for_with_the_places_of_unnamed_markers() -> None:
    names = without("heel") | {"heel": "Q{}1", "shank": "Z{}"}
    choice = choose_mapping(recorded(names, shank=(-0.01, -0.19, 0.36)), None)
    assert set(choice.missing) == {"heel_r", "heel_l"} and set(choice.near["heel_l"]) == {"QL1"}
    assert choice.places["QR1"] == "on the right foot, 4 cm behind the ankle"
    assert choice.places["ZR"] == (
        "between the knee and the ankle of the right leg, 12 cm below the knee, on the outer side"
    )
    todos = [todo for table in marker_tables(choice) for todo in table.todos]
    assert any("heel_r" in todo and "QR1, on the right foot, 4 cm behind the ankle" in todo for todo in todos)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((0.0, -0.17, 0.60), "between the hip and the knee of the right leg, 12 cm above the knee, on the outer side"),
        ((0.06, -0.105, 0.49), "at the knee of the right leg, in front"),
        ((0.02, 0.05, 0.3), "between the knee and the ankle of the left leg, 18 cm below the knee, on the inner side"),
        ((0.12, 0.1, 0.03), "on the left foot, 16 cm ahead of the ankle"),
        ((0.01, 0.2, 1.35), "40 cm above the pelvis, 20 cm to the left of the middle, at the back"),
        ((0.01, -0.2, 0.95), "at the height of the pelvis, 20 cm to the right of the middle, at the back"),
    ],
)  # fmt: skip
def test_places_in_words(place: tuple[float, float, float], words: str) -> None:
    known = {
        f"{name}_{side}": np.array(RIGHT[name]) * [1.0, 1.0 if side == "r" else -1.0, 1.0] + np.zeros((5, 3))
        for name in USUAL
        for side in "rl"
    }
    body = Body.of(known)
    assert body is not None and body.where(np.array(place) + np.zeros((5, 3))) == words
    assert body.where(np.full((5, 3), np.nan)) == ""
    assert Body.of({"asis_r": known["asis_r"], "asis_l": known["asis_l"]}) is None
    turned = Body.of({name: path[:, [1, 2, 0]] for name, path in known.items()})  # y up
    assert turned is not None and turned.where((np.array(place) + np.zeros((5, 3)))[:, [1, 2, 0]]) == words

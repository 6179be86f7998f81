"""Names of markers and of EMG by the vocabularies of protocols and laboratories, and landmarks by their places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from package_tables import package_table

from musclesolve.laboratory import landmarks
from musclesolve.laboratory.draft.choose_mapping import choose_mapping, marker_tables
from musclesolve.laboratory.draft.column_names import emg_channels
from musclesolve.laboratory.markers.marker_names import MarkerNames, by_person, named_markers, split_label
from musclesolve.laboratory.markers.marker_places import SIDES_OF_JOINTS, guessed_by_place
from musclesolve.tables import Markers

VOCABULARIES = package_table("laboratory/markers/marker_vocabularies.toml")["vocabulary"]


def both(*names: str) -> list[str]:
    return [f"{side}{name}" for name in names for side in "RL"]


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda each: each["name"])
def test_a_recording_that_speaks_a_vocabulary_is_understood(vocabulary: dict) -> None:
    words = {landmark: names[0] for landmark, names in vocabulary["spoken"].items()}
    found = named_markers([f"{side.upper()}{word.upper()}" for word in words.values() for side in "rl"])
    for landmark, word in words.items():
        assert {found.mapping[f"{landmark}_{side}"] for side in "rl"} == set(both(word.upper()))
    assert set(words) <= {name.removesuffix("_r") for name in landmarks()} and vocabulary["source"]


def test_short_names_mean_nothing_alone() -> None:
    assert not named_markers(both("LA", "MA", "SM", "MED")).mapping
    spoken = named_markers(both("ASI", "PSI", "LK", "MK", "LA", "MA", "HEE"))
    assert spoken.mapping["ankle_medial_l"] == "LMA" and "RLA, RMA" in spoken.vocabulary


def test_a_metatarsal_head_beside_malleoli() -> None:
    """RVM is the fifth metatarsal head of CAST, no vastus; RSM the second one."""
    found = named_markers(both("ASIS", "PSIS", "LE", "ME", "LM", "MM", "CA", "FM", "SM", "VM"))
    assert found.mapping["toe_r"] == "RSM" and found.mapping["metatarsal_5_l"] == "LVM"
    assert found.mapping["knee_lateral_l"] == "LLE"


def test_epicondyles_beside_elbows() -> None:
    """LEP is the left elbow, LLEP the left lateral epicondyle of the femur (van der Zee et al. 2022)."""
    found = named_markers(both("LEP", "MEP", "LML", "MML", "CAL", "5TH", "EP"))
    assert found.mapping["knee_lateral_l"] == "LLEP" and found.mapping["elbow_lateral_l"] == "LEP"


@pytest.mark.parametrize(
    ("channels", "meant"),
    [
        (["GM", "GL", "TA", "SOL"], ("gastrocnemius_medial",)),
        (["R_GM", "R_GL", "R_GLTMED"], ("gastrocnemius_medial",)),
        (["GM", "GLTMED", "TA", "SOL"], None),
        (["GM", "GL", "MG", "TA"], None),
    ],
)
def test_gm_is_decided_by_its_company(channels: list[str], meant: tuple[str, ...] | None) -> None:
    found = emg_channels(channels)
    assert found.muscles.get(channels[0]) == meant and (channels[0] in found.by_company) == (
        meant is not None
    )


def subject() -> dict[str, np.ndarray]:
    """Landmarks of a standing subject of about 1.7 m, x forward, y to the left, z up [m]."""
    right = {
        "asis": (0.1, -0.12, 0.95), "heel": (-0.08, -0.1, 0.03), "toe": (0.14, -0.12, 0.03),
        "knee_lateral": (0.0, -0.16, 0.49), "knee_medial": (0.01, -0.05, 0.48),
        "ankle_lateral": (-0.04, -0.14, 0.08), "ankle_medial": (-0.03, -0.06, 0.09),
    }  # fmt: skip
    places = {f"{name}_r": np.array(place) for name, place in right.items()}
    return places | {f"{n[:-2]}_l": place * [1.0, -1.0, 1.0] for n, place in places.items()}


@pytest.mark.parametrize(
    "axes", [np.eye(3), np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]), np.diag([-1, -1, 1])]
)
@pytest.mark.parametrize("hidden", [SIDES_OF_JOINTS, SIDES_OF_JOINTS[:1], ("toe",), ("ankle_medial", "toe")])
def test_knees_ankles_and_toes_by_place(axes: np.ndarray, hidden: tuple[str, ...]) -> None:
    places = {name: place @ axes for name, place in subject().items()}
    free = {f"X{name}": place for name, place in places.items() if name[:-2] in hidden}
    free |= {"PATELLA": np.array([0.06, -0.11, 0.5]) @ axes, "TH1": np.array([0.0, -0.17, 0.7]) @ axes}
    known = {name: place for name, place in places.items() if name[:-2] not in hidden}
    lacking = [name for name in places if name[:-2] in hidden]
    assert guessed_by_place(known, free, lacking) == {name: f"X{name}" for name in lacking}


def test_toes_are_the_markers_farthest_ahead_near_the_floor() -> None:
    places = subject()
    known = {name: place for name, place in places.items() if "toe" not in name}
    free = {"A": np.array([0.11, -0.16, 0.03]), "B": places["toe_r"], "C": np.array([0.2, -0.12, 0.2])}
    assert guessed_by_place(known, free, ["toe_r", "toe_l"]) == {"toe_r": "B"}
    del free["B"], free["A"]  # too high; beside the heel
    free["D"] = np.array([0.0, -0.1, 0.03])
    assert guessed_by_place(known, free, ["toe_r"]) == {}


def test_nothing_is_guessed_without_a_pelvis_or_without_a_pair() -> None:
    places = subject()
    lacking = ["knee_lateral_r", "knee_medial_r"]
    free = {"X": places["knee_lateral_r"]}
    known = {name: place for name, place in places.items() if "knee" not in name}
    assert guessed_by_place(known, free, lacking) == {}
    assert guessed_by_place({n: p for n, p in known.items() if "asis" not in n}, free, lacking) == {}
    # two markers on the thigh are no knee
    thigh = {"T1": np.array([0.0, -0.17, 0.52]), "T2": np.array([0.0, -0.15, 0.45])}
    assert guessed_by_place(known, thigh, lacking) == {}


def test_the_only_marker_ahead_on_a_foot_is_offered_as_its_toe() -> None:
    """As of the treadmill walks of van der Zee et al. (2022), whose feet have a heel and a fifth metatarsal marker."""
    names = both("ASIS", "PSIS", "LEP", "MEP", "LML", "MML", "CAL", "5TH")
    places = np.random.default_rng(1).normal(size=(20, len(names), 3))
    path = Path("walk.trc")
    walk = Markers(np.arange(20) / 100.0, tuple(names), places, path)
    choice = choose_mapping(walk, None)
    assert {name: choice.mapping[name] for name in choice.lone_toes} == {"toe_r": "R5TH", "toe_l": "L5TH"}
    assert "metatarsal_5_r" not in choice.mapping and not {"toe_r", "toe_l"} & set(choice.missing)
    lines = {line.key: line for table in marker_tables(choice) for line in table.lines}
    assert "only the name of R5TH is known" in lines["toe_r"].todo and not lines["toe_r"].open
    # a toe of its own stays
    own = replace(walk, names=(*names[:-2], "RTOE", "LTOE"))
    assert choose_mapping(own, None).lone_toes == ()


@pytest.mark.parametrize("form", ["S01_{}", "S01.{}", "S01-{}", "S01:{}", "S01 {}", "{}_S01", "walk_2-{}"])
def test_a_word_that_most_labels_share_is_the_person(form: str) -> None:
    plain = [*both("ASI", "PSI", "KNE", "KNM", "ANK", "ANM", "HEE", "TOE", "THI"), "ghost"]
    labels = [name if name == "ghost" else form.format(name) for name in plain]
    walk = Markers(np.arange(3) / 100.0, tuple(labels), np.zeros((3, len(plain), 3)), Path("walk.trc"))
    found = by_person(walk)
    assert [split_label(name)[1] for name in found.names] == plain
    assert found.position is walk.position and set(found.aliases) <= set(labels)
    assert set(named_markers(found.names).mapping) == set(named_markers(plain).mapping)
    # a mapping may name the label as it stands in the file
    assert labels[0] in MarkerNames(frozenset(labels[:1])).renamed(found).names


def test_words_of_names_are_no_persons() -> None:
    for names in (
        ["r_knee_lat", "l_knee_lat"],
        [f"marker_{k}" for k in range(20)],
        both("ASI", "PSI", "KNE"),
    ):
        walk = Markers(np.arange(3) / 100.0, tuple(names), np.zeros((3, len(names), 3)), Path("walk.trc"))
        assert by_person(walk) is walk
    two = [f"{who}_{name}" for who in ("A1", "B2") for name in both("ASI", "PSI", "KNE", "ANK")]
    walk = Markers(np.arange(3) / 100.0, tuple(two), np.zeros((3, len(two), 3)), Path("walk.trc"))
    assert {split_label(name)[0] for name in by_person(walk).names} == {"A1", "B2"}


def test_the_mirror_of_a_known_name_is_known() -> None:
    """LMALLL is read as "MALL" with a side before and behind it, RMALLL is only its mirror."""
    found = named_markers(["LANKL", "RANKL", "LLFE", "RLFE", "L.Knee.Out", "R.Knee.Out"])
    assert found.mapping["ankle_lateral_r"] == "RANKL" and found.mapping["knee_lateral_r"] == "RLFE"
    only = named_markers(["LKNEEL", "RKNEEL", "LMALLL", "RMALLL"])
    assert only.mapping["ankle_lateral_l"] == "LMALLL" and only.mapping["ankle_lateral_r"] == "RMALLL"


def test_the_toe_lies_between_the_first_and_the_fifth_metatarsal_head() -> None:
    found = named_markers(both("CAL", "MT1", "MT5"))
    assert found.mapping["toe_r"] == {"midpoint": ["RMT1", "RMT5"]}
    assert found.mapping["metatarsal_5_l"] == "LMT5" and found.tracking["foot_l"] == ["LMT1"]
    assert named_markers(both("MT1", "MT5", "MT2")).mapping["toe_r"] == "RMT2"
    assert "toe_r" not in named_markers(both("MT1", "CAL")).mapping


def test_markers_of_the_thigh_are_no_heels() -> None:
    """RTHL beside RTHU and RTHC is R and THL, not RT and HL; the heel is RCAL."""
    found = named_markers(both("THU", "THD", "THL", "THC", "CAL"))
    assert found.mapping == {"heel_r": "RCAL", "heel_l": "LCAL"}
    assert found.tracking["thigh_r"] == ["RTHU", "RTHD", "RTHL", "RTHC"]


@pytest.mark.parametrize(
    ("label", "landmark"),
    [
        ("Knöchel außen rechts", "ankle_lateral_r"),
        ("re Knie innen", "knee_medial_r"),
        ("Großzehe links", "toe_l"),
        ("Malléole_ext_droite", "ankle_lateral_r"),
        ("rodilla_lateral_izq", "knee_lateral_l"),
        ("右膝外侧", "knee_lateral_r"),
        ("左第五跖骨", "metatarsal_5_l"),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_labels_with_accents_and_of_other_scripts(label: str, landmark: str, form: str) -> None:
    assert named_markers([normalize(form, label)]).mapping == {landmark: normalize(form, label)}

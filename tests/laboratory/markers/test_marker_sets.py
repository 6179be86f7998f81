"""Marker sets: what they map exists, what the recordings lack is left out, a trial file's own tables win."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import typed
from examined import examined
from synthetic_trial import write_trial

from musclesolve import read_trial
from musclesolve.laboratory import landmarks, marker_sets, read_markers
from musclesolve.laboratory.forces import anatomy
from musclesolve.laboratory.markers import marker_names
from musclesolve.laboratory.markers.marker_names import (
    apply_marker_set,
    best_marker_set,
    find_marker_set,
    marker_names_of,
    markers_of,
)
from musclesolve.laboratory.motion.anatomy.landmark_positions import MarkerMap, standing_markers
from musclesolve.laboratory.recording.axes import rotation_of
from musclesolve.laboratory.recording.trial_document import trial_kind
from musclesolve.studies import synthetic_recording
from musclesolve.tables import Markers, read_trc, write_trc
from musclesolve.tables.document import Document
from tests.support.refusals import refused

TRIAL = Path(__file__).resolve().parents[2] / "real" / "rajagopal_walk.toml"
SETS = Path(marker_names.__file__).parent / "sets"
NOTHING: dict[str, dict] = {"mapping": {}, "clusters": {}, "carried": {}}


def recording(*names: str) -> Markers:
    return Markers(np.arange(2.0), names, np.zeros((2, len(names), 3)), Path("walk.trc"))


@pytest.mark.parametrize("name", marker_sets())
def test_every_set_is_whole(name: str) -> None:
    chosen = marker_sets()[name]
    assert chosen.description and chosen.source
    assert set(chosen.mapping) <= set(landmarks())
    assert all(markers_of(way) for ways in chosen.mapping.values() for way in ways)
    assert set(chosen.carried.values()) <= set(chosen.clusters)
    assert set(chosen.aliases) <= set(chosen.markers)
    assert not any("{S}" in marker for marker in chosen.markers)
    # Required landmarks are mapped, or what serves in their place is.
    for landmark in landmarks().values():
        if landmark.required:
            assert {landmark.name, *landmark.instead} & set(chosen.mapping), landmark.name


@pytest.mark.parametrize("name", marker_sets())
def test_a_recording_with_all_markers_is_known_by_them(name: str) -> None:
    best = best_marker_set(recording(*marker_sets()[name].markers))
    assert best is not None and best[0] == name
    assert best[1] == len(marker_sets()[name].mapping)


def test_nothing_fits_strange_markers() -> None:
    assert best_marker_set(recording("A", "B", "C")) is None


def test_names_are_found_behind_prefixes_cases_and_aliases() -> None:
    chosen = marker_sets()["plug_in_gait"]
    names = marker_names_of(chosen).renamed(recording("Jo:LASI", "rasi", "LMKNE", "own", "Jo:RHEE")).names
    assert names == ("LASI", "RASI", "LKNM", "own", "RHEE")


def test_two_markers_never_get_one_name() -> None:
    chosen = marker_sets()["plug_in_gait"]
    names = marker_names_of(chosen).renamed(recording("LASI", "Jo:LASI", "RMKNE", "RKNEM")).names
    assert names == ("LASI", "Jo:LASI", "RKNM", "RKNEM")


def test_what_the_recordings_lack_is_left_out_and_own_lines_win() -> None:
    chosen = marker_sets()["rajagopal"]
    walk = recording(
        *(name for name in chosen.markers if name not in ("R.MT5", "R.SH4", "R.MKnee", "L.MKnee"))
    )
    static = recording(*(name for name in chosen.markers if name != "R.MT5"))
    own = {"mapping": {"toe_r": "X"}, "clusters": {}, "carried": {}}
    tables, notes = apply_marker_set(chosen, own, walk, static)
    assert "metatarsal_5_r" not in tables["mapping"] and tables["mapping"]["metatarsal_5_l"] == "L.MT5"
    assert tables["mapping"]["toe_r"] == "X"
    assert "R.SH4" not in tables["clusters"]["shank_r"] and len(tables["clusters"]["shank_r"]) == 4
    # Only what the motion does not show is carried.
    assert set(tables["carried"]) == {"R.MKnee", "L.MKnee"}
    assert notes == []
    assert apply_marker_set(chosen, NOTHING, walk, None)[0]["clusters"] == {}


def test_the_recorded_walk_by_name_is_the_recorded_walk_by_hand(recorded_walk: Path, tmp_path: Path) -> None:
    text = TRIAL.read_text(encoding="utf-8").replace(
        "../../../shared/data/rajagopal_walk", recorded_walk.as_posix()
    )
    by_hand, by_name = tmp_path / "hand.toml", tmp_path / "name.toml"
    by_hand.write_text(text, encoding="utf-8")
    start, end = text.index("[mapping]"), text.index("[joint_centers]")
    by_name.write_text(text[:start] + '[markers]\nset = "rajagopal"\n' + text[end:], encoding="utf-8")
    one, other = read_trial(by_hand), read_trial(by_name)
    assert one.mapping == other.mapping
    assert one.clusters == other.clusters
    assert one.carried == other.carried
    assert any("rajagopal" in note for note in other.notes)
    by_name.write_text(text[:start] + text[end:], encoding="utf-8")
    with refused("missing_key", "[mapping]"):
        read_trial(by_name)


OWN = """
description = "ours"
[sided.mapping]
heel = "{S}H"
toe = ["{S}T", { midpoint = ["{S}T1", "{S}T2"] }]
"""


def trial_with(folder: Path, set_name: str) -> Path:
    return write_trial(folder, ("[mapping]\n", f'[markers]\nset = "{set_name}"\n[mapping]\n'))


def test_a_set_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(OWN, encoding="utf-8")
    trial = read_trial(trial_with(tmp_path, "ours.toml"))
    # None of its markers is there, and the trial file maps everything itself.
    assert trial.mapping["heel_r"] == {"RHEE": 1.0}
    assert any("ours" in note for note in trial.notes)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("plug_in_gate", "", ("unknown_name", "'plug_in_gait'")),
        ("missing.toml", "", ("missing_file", "[markers] set")),
        ("bad.toml", "mappings = 1\n", ("unknown_key", "[mappings]")),
        ("bad.toml", "mapping = 1\n", ("bad_value",)),
        ("bad.toml", "[sided]\nmapping = 3\n", ("bad_value",)),
        ("bad.toml", '[clusters]\nthigh = "A"\n', ("bad_value", "[clusters] thigh")),
        ("bad.toml", "[letters]\nr = 1\n[sided.mapping]\nheel = 'x'\n", ("bad_value", "[letters]")),
    ],
)
def test_what_is_no_set_is_refused(tmp_path: Path, name: str, text: str, message: tuple[str, ...]) -> None:
    if text:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with refused(*message):
        read_trial(trial_with(tmp_path, name))


PIG = marker_sets()["plug_in_gait"]
BOTH = tuple(name for name in PIG.markers if name[1:] not in ("KNM", "ANM", "ELM", "WRB"))


def pig(walk: tuple[str, ...], static: tuple[str, ...], **mapping: object) -> tuple[dict, list[str]]:
    own = NOTHING | {"mapping": mapping}
    tables, notes = apply_marker_set(PIG, own, recording(*walk), recording(*static))
    return tables["mapping"], notes


def test_an_optional_landmark_that_only_the_standing_trial_shows_is_left_out() -> None:
    mapping, notes = pig(BOTH, (*BOTH, "RELM", "RKNM", "RANM"))
    assert "elbow_medial_r" not in mapping
    assert [note for note in notes if "elbow_medial_r" in note and "motion has no marker 'RELM'" in note]
    # Knee and ankle follow their segments.
    assert mapping["knee_medial_r"] == "RKNM" and mapping["ankle_medial_r"] == "RANM" and len(notes) == 1


def test_the_way_that_both_recordings_serve_is_taken() -> None:
    mapping, notes = pig(BOTH, (*BOTH, "RWRB"))
    assert mapping["wrist_r"] == "RWRA" and notes == []


def test_a_marker_of_the_foot_that_the_standing_trial_lacks_is_left_out() -> None:
    mapping, notes = pig(BOTH, tuple(name for name in BOTH if name != "RMT5"))
    assert "metatarsal_5_r" not in mapping and "standing trial has no marker 'RMT5'" in notes[0]
    # What is required stays, so that its absence is reported.
    mapping, notes = pig(tuple(name for name in BOTH if name != "RHEE"), BOTH)
    assert mapping["heel_r"] == "RHEE" and notes == []
    mapping, notes = pig(tuple(name for name in BOTH if name != "RTHI"), BOTH)
    assert mapping["thigh_wand_r"] == "RTHI" and notes == []


def test_a_landmark_of_a_set_can_be_switched_off() -> None:
    mapping, _ = pig((*BOTH, "RELM"), (*BOTH, "RELM"), elbow_medial_r=False)
    assert "elbow_medial_r" not in mapping
    # A slip of the pen is not passed over.
    assert pig(BOTH, BOTH, elbow_medial=False)[0]["elbow_medial"] is False


@pytest.mark.thorough
def test_check_reads_a_set_as_the_analysis_does(recorded_walk: Path, tmp_path: Path) -> None:
    """Medial markers of the standing trial only: some follow their segment, some are carried by nothing."""
    names = {"ASIS": "ASI", "PSIS": "PSI", "Knee": "KNE", "MKnee": "KNM", "TH1": "THI", "Ankle": "ANK"}
    names |= {"MAnkle": "ANM", "SH1": "TIB", "Heel": "HEE", "Toe": "TOE", "MT5": "MT5", "Shoulder": "SHO"}
    names |= {"Elbow": "ELB", "Wrist": "WRA", "MElbow": "ELM"}
    for file in ("walk.trc", "static.trc"):
        markers = read_trc(recorded_walk / file)
        kept = {f"{s}.{a}": s + b for a, b in names.items() for s in "RL" if f"{s}.{a}" in markers}
        if file == "walk.trc":
            # The motion lists them, as some programs do, but never sees them.
            kept = {old: new for old, new in kept.items() if new[1:] not in ("KNM", "ANM", "ELM")}
        position = np.stack([markers[name] for name in kept], axis=1)
        if file == "walk.trc":
            position = np.concatenate([position, np.full_like(position[:, :1], np.nan)], axis=1)
            kept["empty"] = "RKNM"
        write_trc(tmp_path / file, Markers(markers.time, tuple(kept.values()), position, tmp_path / file))
    text = TRIAL.read_text(encoding="utf-8")
    for file in ("walk.trc", "static.trc"):
        text = text.replace(f"../../../shared/data/rajagopal_walk/{file}", file)
    text = text.replace("../../../shared/data/rajagopal_walk", recorded_walk.as_posix())
    start, end = text.index("[mapping]"), text.index("[joint_centers]")
    path = tmp_path / "trial.toml"
    path.write_text(text[:start] + '[markers]\nset = "plug_in_gait"\n' + text[end:], encoding="utf-8")
    trial = read_trial(path)
    assert "knee_medial_r" in trial.mapping and "RKNM" not in trial.markers
    assert not [finding for finding in examined(path).findings if finding.severity == "error"]
    # The triangle of the left shank moved on the skin, and says so.
    assert any("shank_wand_l" in note for note in anatomy(trial).notes)


def test_a_set_that_shows_nothing_is_not_reported_as_read(tmp_path: Path) -> None:
    asked = read_trial(write_trial(tmp_path, ("[mapping]", '[markers]\nset = "rajagopal"\n\n[mapping]')))
    assert any("None of the markers of the set rajagopal" in note for note in asked.notes)
    assert not any("read as" in note for note in asked.notes)


@pytest.mark.parametrize("name", marker_sets())
def test_a_copy_of_a_bundled_set_is_that_set(tmp_path: Path, name: str) -> None:
    text = (SETS / f"{name}.toml").read_text(encoding="utf-8")
    path = write_trial(tmp_path, ("[mapping]\n", f'[markers]\nset = "own_{name}.toml"\n[mapping]\n'))
    (tmp_path / f"own_{name}.toml").write_text(text, encoding="utf-8")
    own = find_marker_set(Document(path, trial_kind), f"own_{name}.toml")
    assert replace(own, name=name) == marker_sets()[name]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("heel = [{midpoint=5}]", ("bad_value", "line 4", "heel")),
        ("heel = {weights=5}", ("bad_value", "line 4", "heel")),
        ('heel = {weights={"{S}H"=0.5}}', ("bad_value", "line 4", "heel", "0.5")),
        ('heel = {weights={"{S}H"=inf, "{S}T"=-inf}}', ("bad_value", "line 4", "heel")),
        ("heel = []", ("bad_value", "line 4", "heel")),
        ("heel = [5]", ("bad_value", "line 4", "heel")),
        ('heeel = "{S}H"', ("unknown_name", "line 4", "heeel", "'heel'")),
        ('heel_r = "RH"', ("unknown_name", "line 4", "heel_r")),
        ('heel = "{S}H"\n[sided.carryed]\n', ("unknown_key", "line 5", "carryed", "'carried'")),
        ('heel = "{S}H"\n[sided.carried]\n"{S}K" = "knee"', ("unknown_name", "line 6", "'knee'")),
        ('heel = "{S}H"\n[sided.carried]\n"{S}K" = 5', ("unknown_name", "line 6", "5")),
        ('heel = "{S}H"\n[sided.clusters]\nknee = ["A", "A", "B"]', ("bad_value", "line 6", "knee")),
        ('heel = "{S}H"\n[sided.aliases]\n"{S}H" = [4]', ("bad_value", "line 6")),
        ('heel = "{S}H"\n[letters]\nr = "R"\nl = "R"', ("conflict", "line 7")),
        ('heel = "{S}H"\n[letters]\nr = "R"', ("bad_value", "line 5", "letters")),
    ],
)
def test_a_mistake_in_own_set_is_reported_with_its_line(
    tmp_path: Path, line: str, message: tuple[str, ...]
) -> None:
    (tmp_path / "own.toml").write_text(f'description = "own"\n\n[sided.mapping]\n{line}\n', encoding="utf-8")
    with refused(*message, "own.toml"):
        read_trial(trial_with(tmp_path, "own.toml"))


@pytest.mark.parametrize("name", ["a" * 300, "a" * 300 + ".toml"])
def test_names_that_no_file_can_have_are_refused(tmp_path: Path, name: str) -> None:
    with refused("unreadable_file", "[markers] set"):
        read_trial(trial_with(tmp_path, name))
    path = write_trial(tmp_path, ('"static.trc"', f'"{name}"'))
    with refused("unreadable_file", "[files] static"):
        read_trial(path)
    assert "unreadable" in examined(path).codes
    assert examined(tmp_path / name).of("error")
    with refused("unreadable_file"):
        read_markers(name + ".txt")


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "weights",
    [
        "RHEE=inf, RTOE=-inf",
        "RHEE=1e308, RTOE=1e308",
        f"RHEE=1{'0' * 400}",
        "RHEE=nan, RTOE=1",
        "RHEE=1e15, RTOE=-1e15",
    ],
)
def test_weights_that_are_no_numbers_of_use_are_refused(tmp_path: Path, weights: str) -> None:
    path = write_trial(tmp_path, ('heel_r = "RHEE"', f"heel_r = {{ weights = {{ {weights} }} }}"))
    with refused("bad_value", "[mapping] heel_r"):
        read_trial(path)
    assert "mapping" in examined(path).codes


@pytest.mark.parametrize("value", ["{ midpoint = 5 }", "[5]", "false", "[[1]]"])
def test_values_that_are_no_markers_are_refused(tmp_path: Path, value: str) -> None:
    path = write_trial(tmp_path, ('heel_r = "RHEE"', f"heel_r = {value}"))
    with refused("bad_value", "[mapping] heel_r"):
        read_trial(path)


KNEES_AND_ANKLES = [
    f"{side}.{part}" for side in "RL" for part in ("Knee.Lat", "Knee.Med", "Ankle.Lat", "Ankle.Med")
]


def gait2392_without(folder: Path, *markers: str) -> Path:
    """A synthetic recording of the set whose motion lacks these markers; the standing trial has them all."""
    path = synthetic_recording(folder, marker_set="gait2392")
    file = read_trial(path).files["markers"]
    trial, walk = read_trial(path), read_trc(file)
    # What only the standing trial shows, carried into the motion by the cluster of its segment, which is rigid here.
    standing = standing_markers(trial.static)
    poses, *_ = MarkerMap.from_recording(trial, trial.markers.names, standing).follow(trial.markers.position)
    rotation = rotation_of(trial.document, trial.settings.laboratory)
    added = {
        marker: poses[cluster].point(standing[marker]) @ rotation
        for marker, cluster in trial.carried.items()
        if marker not in markers
    }
    kept = [name for name in walk.names if name not in markers]
    position = np.stack([*(walk[name] for name in kept), *added.values()], axis=1)
    write_trc(file, Markers(walk.time, (*kept, *added), position, file))
    return path


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "standing_only",
    [[name for name in KNEES_AND_ANKLES if "Knee" in name], [*KNEES_AND_ANKLES, "Top.Head"]],
    ids=["knees", "all, and no head"],
)
def test_knees_and_ankles_of_gait2392_may_be_in_the_standing_trial_alone(
    tmp_path: Path, standing_only: list[str]
) -> None:
    every = gait2392_without(tmp_path / "every")
    fewer = gait2392_without(tmp_path / "fewer", *standing_only)
    one, other = anatomy(read_trial(every)), anatomy(read_trial(fewer))
    assert set(read_trial(fewer).carried) == set(standing_only) - {"Top.Head"}
    for point in ("hip_r", "knee_r", "ankle_l", "heel_l"):
        np.testing.assert_allclose(other.points[point], one.points[point], atol=2e-3)
    assert ("head_base" in other.points) is ("Top.Head" not in standing_only)
    head = [sentence for sentence in other.completed if "head" in sentence.lower()]
    assert ["no markers" in sentence for sentence in head] == ["Top.Head" in standing_only]


def test_sets_are_shown() -> None:
    listing = typed("list", "markers")
    assert listing.exit_code == 0 and all(name in listing.output for name in marker_sets())
    one = typed("list", "markers", "plug_in_gait")
    assert one.exit_code == 0 and "RASI" in one.output
    wrong = typed("list", "markers", "plugin")
    assert wrong.exit_code == 2 and "plug_in_gait" in wrong.output

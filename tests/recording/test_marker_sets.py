"""Marker sets: what they map exists, what the recordings lack is left out, a trial file's own tables win."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from musclesolve import cli
from musclesolve.errors import InputError
from musclesolve.recording import Markers, landmarks, marker_sets, read_trial
from musclesolve.recording.marker_set import applied, fitting, markers_of, renamed

TRIAL = Path(__file__).resolve().parents[1] / "real" / "rajagopal_walk.toml"
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
    best = fitting(recording(*marker_sets()[name].markers))
    assert best is not None and best[0] == name
    assert best[1] == len(marker_sets()[name].mapping)


def test_nothing_fits_strange_markers() -> None:
    assert fitting(recording("A", "B", "C")) is None


def test_names_are_found_behind_prefixes_cases_and_aliases() -> None:
    chosen = marker_sets()["plug_in_gait"]
    names = renamed(recording("Jo:LASI", "rasi", "LMKNE", "own", "Jo:RHEE"), chosen).names
    assert names == ("LASI", "RASI", "LKNM", "own", "RHEE")


def test_two_markers_never_get_one_name() -> None:
    chosen = marker_sets()["plug_in_gait"]
    names = renamed(recording("LASI", "Jo:LASI", "RMKNE", "RKNEM"), chosen).names
    assert names == ("LASI", "Jo:LASI", "RKNM", "RKNEM")


def test_what_the_recordings_lack_is_left_out_and_own_lines_win() -> None:
    chosen = marker_sets()["rajagopal"]
    walk = recording(
        *(name for name in chosen.markers if name not in ("R.MT5", "R.SH4", "R.MKnee", "L.MKnee"))
    )
    static = recording(*(name for name in chosen.markers if name != "R.MT5"))
    own = {"mapping": {"toe_r": "X"}, "clusters": {}, "carried": {}}
    tables = applied(chosen, own, walk, static)
    assert "metatarsal_5_r" not in tables["mapping"] and tables["mapping"]["metatarsal_5_l"] == "L.MT5"
    assert tables["mapping"]["toe_r"] == "X"
    assert "R.SH4" not in tables["clusters"]["shank_r"] and len(tables["clusters"]["shank_r"]) == 4
    # Only what the motion does not show is carried.
    assert set(tables["carried"]) == {"R.MKnee", "L.MKnee"}
    assert applied(chosen, NOTHING, walk, None)["clusters"] == {}


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
    with pytest.raises(InputError, match='set = "rajagopal"'):
        read_trial(by_name)


OWN = """
description = "ours"
[sided.mapping]
heel = "{S}H"
toe = ["{S}T", { midpoint = ["{S}T1", "{S}T2"] }]
"""


def trial_with(folder: Path, set_name: str) -> Path:
    from synthetic_trial import write_trial

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
        ("plug_in_gate", "", "did you mean 'plug_in_gait'"),
        ("missing.toml", "", "no such file"),
        ("bad.toml", "mappings = 1\n", "no such key"),
        ("bad.toml", "mapping = 1\n", "mapping is not a table"),
        ("bad.toml", "[sided]\nmapping = 3\n", "mapping is not a table"),
        ("bad.toml", '[clusters]\nthigh = "A"\n', "not a list of marker names"),
        ("bad.toml", "[letters]\nr = 1\n[sided.mapping]\nheel = 'x'\n", "not a marker set"),
    ],
)
def test_what_is_no_set_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    if text:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_trial(trial_with(tmp_path, name))


def test_sets_are_shown() -> None:
    listing = CliRunner().invoke(cli.app, ["markers"])
    assert listing.exit_code == 0 and all(name in listing.output for name in marker_sets())
    one = CliRunner().invoke(cli.app, ["markers", "plug_in_gait"])
    assert one.exit_code == 0 and "RASI" in one.output
    wrong = CliRunner().invoke(cli.app, ["markers", "plugin"])
    assert wrong.exit_code == 2 and "plug_in_gait" in wrong.output

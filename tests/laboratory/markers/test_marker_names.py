"""Owners of markers: the person before the labels, in every format; two persons in one file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drafted_folders import drafted, recordings
from examined import examined
from synthetic_trial import write_trial

from musclesolve import read_trial
from musclesolve.laboratory import Trial
from musclesolve.laboratory.files.formats import convert
from musclesolve.laboratory.markers.marker_names import without_person
from musclesolve.tables import Markers, read_trc, write_trc
from tests.support.refusals import refused


def relabeled(folder: Path, walk: str = "", static: str = "", *edits: tuple[str, str]) -> Path:
    """The synthetic trial with a person before every label of one file or both."""
    path = write_trial(folder, *edits)
    for name, person in (("walk.trc", walk), ("static.trc", static)):
        markers = read_trc(folder / name)
        write_trc(folder / name, replace(markers, names=tuple(person + label for label in markers.names)))
    return path


def same(one: Trial, other: Trial) -> bool:
    used = one.used_markers
    return used == other.used_markers and all(
        np.array_equal(one.markers[name], other.markers[name]) for name in used
    )


@pytest.mark.parametrize(("walk", "static"), [("Ann:", "Ann:"), ("Ann:", ""), ("", "Ann:")])
def test_one_mapping_serves_files_with_and_without_the_subject(tmp_path, walk: str, static: str) -> None:
    for folder in ("plain", "person"):
        (tmp_path / folder).mkdir()
    plain = read_trial(relabeled(tmp_path / "plain"))
    assert same(plain, read_trial(relabeled(tmp_path / "person", walk, static)))


def test_a_mapping_may_write_the_whole_label(tmp_path) -> None:
    path = relabeled(tmp_path, "Ann:", "Ann:")
    text = path.read_text(encoding="utf-8").replace('heel_r = "RHEE"', 'heel_r = "Ann:RHEE"')
    path.write_text(text, encoding="utf-8")
    trial = read_trial(path)
    assert trial.mapping["heel_r"] == {"Ann:RHEE": 1.0} and "RTOE" in trial.used_markers


def two_persons(folder: Path, *edits: tuple[str, str]) -> Path:
    """Bob is recorded; Ann walks beside him, and comes first in the file."""
    path = relabeled(folder, "Bob:", "Bob:", *edits)
    walk = read_trc(folder / "walk.trc")
    beside = walk.position + np.array([0.0, 0.0, 1.0])
    names = (*(label.replace("Bob", "Ann") for label in walk.names), *walk.names)
    both = Markers(walk.time, names, np.concatenate([beside, walk.position], axis=1), walk.path)
    write_trc(folder / "walk.trc", both)
    return path


def test_two_subjects_are_refused_unless_one_is_named(tmp_path) -> None:
    for folder in ("alone", "two"):
        (tmp_path / folder).mkdir()
    alone = read_trial(relabeled(tmp_path / "alone"))
    path = two_persons(tmp_path / "two")
    with refused("conflict", "walk.trc"):
        read_trial(path)
    assert [finding.code for finding in examined(path).of("error")] == ["mapping"]
    text = path.read_text(encoding="utf-8")
    named = text.replace("[mapping]\n", '[markers]\nperson = "Bob"\n[mapping]\n')
    path.write_text(named, encoding="utf-8")
    assert same(alone, read_trial(path))
    path.write_text(named.replace('"Bob"', '"Eve"'), encoding="utf-8")
    with refused("missing_marker", "'Eve'"):
        read_trial(path)
    # Ann has no standing trial.
    path.write_text(named.replace('"Bob"', '"Ann"'), encoding="utf-8")
    with refused("missing_marker", "'Ann'"):
        read_trial(path)


def test_the_standing_trial_of_another_subject_is_reported(tmp_path) -> None:
    notes = read_trial(relabeled(tmp_path, "Ann:", "Bob:")).notes
    assert any("motion is of Ann, the standing trial of Bob" in note for note in notes)


def test_an_object_beside_the_subject_does_not_matter(tmp_path) -> None:
    path = relabeled(tmp_path, "Ann:", "Ann:")
    walk = read_trc(tmp_path / "walk.trc")
    wand = np.concatenate([walk.position, walk.position[:, :1]], axis=1)
    write_trc(tmp_path / "walk.trc", Markers(walk.time, (*walk.names, "Wand:W1"), wand, walk.path))
    assert read_trial(path).sees("heel_r")


def test_conversion_leaves_the_only_subject_out(tmp_path) -> None:
    relabeled(tmp_path, "Ann:")
    convert(tmp_path / "walk.trc", [tmp_path / "plain.trc"])
    assert "RHEE" in read_trc(tmp_path / "plain.trc").names
    markers = read_trc(tmp_path / "plain.trc")
    for names in (("A:x", "B:y"), ("A:x", "x")):
        kept = replace(markers, names=names, position=markers.position[:, :2])
        assert without_person(kept).names == names
    mixed = replace(markers, names=("A:x", "y"), position=markers.position[:, :2])
    assert without_person(mixed).names == ("x", "y")


def test_a_carried_marker_that_the_motion_shows_is_noted(tmp_path) -> None:
    path = write_trial(tmp_path, ("[carried]\n", '[carried]\nRTOE = "shank_r"\n'))
    assert any("shows the marker 'RTOE'" in note for note in read_trial(path).notes)
    (tmp_path / "without").mkdir()
    assert not any("shows the marker" in note for note in read_trial(write_trial(tmp_path / "without")).notes)


@pytest.mark.parametrize(("label", "said"), [("RASY", True), ("K7", False)])
def test_a_slip_of_a_label_in_the_motion(tmp_path: Path, label: str, said: bool) -> None:
    path = write_trial(tmp_path)
    markers = read_trc(tmp_path / "walk.trc")
    names = tuple(label if name == "RASI" else name for name in markers.names)
    write_trc(tmp_path / "walk.trc", replace(markers, names=names))
    with refused("missing_marker", "only the standing trial shows the marker 'RASI'", "[carried]") as error:
        read_trial(path)
    assert (f"correct the label '{label}'" in str(error.value)) == said


def test_a_motion_without_trajectories_shows_none_of_its_markers(tmp_path: Path) -> None:
    path = drafted(recordings(tmp_path, marker_set="plug_in_gait"))
    markers = read_trc(tmp_path / "walk.trc")
    write_trc(tmp_path / "walk.trc", replace(markers, position=np.full_like(markers.position, np.nan)))
    with refused("missing_marker", "in no frame of", "shows none"):
        read_trial(path)


def test_a_marker_that_an_entry_at_fault_carries_is_no_second_fault(tmp_path: Path) -> None:
    chained = '"RSH1", "RSH2", "RANL"', '"RSH1", "RSH2", "RANL", "RKNM"'
    path = write_trial(tmp_path, chained, ('RKNM = "thigh_r"', 'RKNM = "thigh"'))
    (found,) = [each for each in examined(path).findings if each.code == "mapping"]
    assert "'thigh'" in found.what


@pytest.mark.parametrize("count", [1, 14])
def test_another_marker_set_is_refused_in_one_sentence(tmp_path: Path, count: int) -> None:
    path = write_trial(tmp_path)
    used = read_trial(path).used_markers[:count]
    markers = read_trc(tmp_path / "walk.trc")
    names = tuple(f"M{k:02}" if name in used else name for k, name in enumerate(markers.names))
    write_trc(tmp_path / "walk.trc", replace(markers, names=names))
    with refused("missing_marker", *([f"{count} of "] if count > 1 else [f"'{used[0]}'"])):
        read_trial(path)
    found = [each for each in examined(path).findings if each.code == "mapping"]
    assert len(found) == 1

"""Names of points and channels: descriptions where labels are cut or repeat, else labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from c3d_files import write_c3d

from musclesolve.laboratory import read_c3d, read_markers
from musclesolve.laboratory.files.c3d.c3d_file import full_names
from musclesolve.laboratory.markers.marker_names import MarkerNames


def test_cut_labels_are_named_by_their_descriptions() -> None:
    texts = ["R.Knee", "R.Knee.Medial", "R.ASIS", "R.Toe", "C7"]
    assert full_names(["RKNE", "RKNE", "RASI", "RTOE", "C7"], texts) == [*texts[:3], "RTOE", "C7"]
    # also where none of them repeats, so that two recordings of a subject have equal names
    assert full_names(["RKNE", "RASI", "C7"], ["R.Knee", "R.ASIS", "C7"])[:2] == ["R.Knee", "R.ASIS"]


def test_a_label_of_its_own_stays_whatever_describes_it() -> None:
    assert full_names(["LFHD", "C7"], ["Left front head", "Back of neck"]) == ["LFHD", "C7"]
    assert full_names(["A", "B"], []) == ["A", "B"]
    assert full_names(["Fx1", "Fz1"], ["Bertec [6]", "Bertec [6]"]) == ["Fx1", "Fz1"]


def test_descriptions_distinguish_labels_that_repeat() -> None:
    assert full_names(["V", "V", "F"], ["EMG [1]", "EMG [2]", "Force"]) == ["EMG [1]", "EMG [2]", "F"]
    assert full_names(["V", "V", "V"], ["EMG", "EMG", "other"]) == ["V", "V", "other"]
    assert full_names(["V", "V", "other"], ["one", "other", ""]) == ["one", "V", "other"]


def described(texts: list[str]):
    def change(file) -> None:
        file["parameters"]["POINT"]["DESCRIPTIONS"]["value"] = texts

    return change


def test_a_mapping_may_name_label_or_description(tmp_path: Path) -> None:
    position = np.random.default_rng(3).normal(size=(5, 3, 3))
    path = write_c3d(
        tmp_path / "m.c3d",
        100.0,
        ["RKNE", "RKNE", "RASI"],
        position,
        change=described(["R.Knee", "R.Knee.Medial", "R.ASIS"]),
    )
    found = read_markers(path)
    assert found.names == ("R.Knee", "R.Knee.Medial", "R.ASIS") and not found.repeated
    assert found.aliases == {"RASI": "R.ASIS"} and "POINT:DESCRIPTIONS" in found.notes[0]
    assert read_c3d(path).point_names == dict(enumerate(found.names))
    renamed = MarkerNames(frozenset({"RASI", "R.Knee.Medial"})).renamed(found)
    assert renamed.names == ("R.Knee", "R.Knee.Medial", "RASI")

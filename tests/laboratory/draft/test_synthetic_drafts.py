"""A drafted trial file gives what the trial file of the synthesizer gives, whatever markers and axes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from drafted_folders import OWN, as_c3d, drafted, largest_difference, other_name, recordings, renamed

from musclesolve import check, read_trial
from musclesolve.tables import Table, read_mot, write_mot

LARGEST = 0.25
"""Moments differ by less [N m], of 113: the synthesizer counts plates as unloaded below 10 N, a draft below 20 N."""
CASES = {
    "landmarks": {},
    "plug_in_gait": {"marker_set": "plug_in_gait", "forward": "-y", "up": "+z"},
    "helen_hayes": {"marker_set": "helen_hayes", "forward": "+x", "up": "+y"},
    "gait2392": {"marker_set": "gait2392", "forward": "+z", "up": "-x"},
    "rajagopal": {"marker_set": "rajagopal", "heading_deg": 180.0},
    "silva_2003": {"marker_set": "silva_2003", "heading_deg": 60.0},
    "run": {"motion": "run", "marker_set": "plug_in_gait"},
    "circle": {"turn_deg": 40.0},
    "few plates": {"strides": 3, "steps": ("r2", "l2")},
    "noise": {"noise_mm": 2.0, "force_noise_n": 2.0, "unloaded_below_n": 20.0},
    "cameras": {"cameras": 3},
}


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", CASES)
def test_the_draft_gives_the_moments_of_the_own_trial_file(name: str, tmp_path: Path) -> None:
    folder = recordings(tmp_path, own=True, **CASES[name])
    path = drafted(folder)
    assert largest_difference(path, folder / OWN) < LARGEST


@pytest.mark.parametrize("style", [0, 1])
def test_unknown_sets_are_mapped_by_the_words_in_names(style: int, tmp_path: Path) -> None:
    folder = recordings(tmp_path, own=True, marker_set="gait2392")
    # The head is not mapped by names; without it in the set's own file both have the same body.
    own = folder / OWN
    own.write_text(own.read_text() + "\n[mapping]\nhead_base = false\n")
    other = folder / "named"
    other.mkdir()
    for name in ("walk.trc", "static.trc", "forces.mot"):
        (other / name).write_bytes((folder / name).read_bytes())
    renamed(other, lambda label: other_name(label, style))
    assert largest_difference(drafted(other), own) < LARGEST


def test_check_finds_nothing_wrong_with_a_draft_whose_subject_is_stated(tmp_path: Path) -> None:
    report = check(drafted(recordings(tmp_path, marker_set="gait2392")))
    assert report.ok, report.findings


def test_c3d_files_give_the_moments_of_text_files(tmp_path: Path) -> None:
    folder = recordings(tmp_path, own=True, marker_set="plug_in_gait")
    path = drafted(as_c3d(folder, tmp_path / "c3d"))
    assert largest_difference(path, folder / OWN) < LARGEST


@pytest.mark.parametrize("standing", [True, False])
def test_wands_without_medial_markers_are_offered_and_suffice(tmp_path: Path, standing: bool) -> None:
    """A user who maps the wands has a trial without errors, with or without a standing trial."""
    folder = recordings(tmp_path, marker_set="helen_hayes")
    renamed(
        folder,
        lambda label: None if "Medial" in label else label.replace("Thigh", "XQ").replace("Shank", "YQ"),
    )
    if not standing:
        (folder / "static.trc").unlink()
    path = drafted(folder)
    text = path.read_text(encoding="utf-8")
    offered = " ".join(text.replace("#", " ").split())
    for joint, wand, label in (("knee", "thigh_wand", "XQ"), ("ankle", "shank_wand", "YQ")):
        (sentence,) = re.findall(rf"enter the marker of {joint}_medial_r.*?\)", offered)
        assert f"{wand}_r" in sentence
        for side in ("r", "l"):
            line = f'# {joint}_medial_{side} = "MARKER"'
            assert line in text
            text = text.replace(line, f'{wand}_{side} = "{side.upper()}.{label}"')
    path.write_text(text, encoding="utf-8")
    report = check(path)
    assert report.ok, report.findings
    read_trial(path)


@pytest.mark.parametrize("names", ["F{axis}{k} COP{axis}{k} T{axis}{k}", "F{axis}{k} - M{axis}{k}"])
def test_plates_without_all_components(names: str, tmp_path: Path) -> None:
    """A point on the floor with the free moment, or moments about the origin, are the whole wrench."""
    folder = recordings(tmp_path / "whole")
    first = drafted(folder)
    sound = read_trial(first)
    first.unlink()
    table, columns = read_mot(folder / "forces.mot"), dict[str, np.ndarray]()
    for k, side in enumerate(("right", "left"), 1):
        force, point, moment = (
            np.stack([table[f"{side}_{role}_{axis}"] for axis in "xyz"], axis=1)
            for role in ("force", "point", "moment")
        )
        if "-" in names:
            moment = moment + np.cross(point, force)
        for pattern, vector in zip(names.split(), (force, point, moment), strict=True):
            for axis, column in zip("xyz", vector.T, strict=True):
                columns[pattern.format(axis=axis, k=k)] = column
    kept = [name for name in columns if "-" not in name and name[:-1] not in ("COPz", "Tx", "Ty")]
    values = np.stack([columns[name] for name in kept], axis=1)
    write_mot(folder / "forces.mot", Table(table.time, tuple(kept), values, False, folder / "forces.mot"))
    for plate, other in zip(read_trial(drafted(folder)).forces, sound.forces, strict=True):
        loaded = other.force[:, 2] > 50.0
        assert plate.side == other.side
        np.testing.assert_allclose(plate.point[loaded], other.point[loaded], atol=1e-4)
        np.testing.assert_allclose(plate.moment[loaded], other.moment[loaded], atol=0.05)

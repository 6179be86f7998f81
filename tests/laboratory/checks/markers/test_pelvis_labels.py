"""Spines of the pelvis that carry each other's label are named, and nothing that is only measured from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded_data import recorded
from trial_copy import TrialCopy

import musclesolve
from musclesolve.laboratory import Trial
from musclesolve.studies import synthetic_recording

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


def exchange_standing(copy: TrialCopy, one: str, other: str) -> None:
    assert copy.static is not None
    a, b = (copy.static.names.index(name) for name in (one, other))
    position = copy.static.position.copy()
    position[:, [a, b]] = position[:, [b, a]]
    copy.put(position, static=True)


def found(
    trial: Path, one: str, other: str, folder: Path, *, standing: bool = False
) -> list[tuple[str, set[str]]]:
    copy = TrialCopy(trial)
    copy.exchange(one, other)
    if standing:
        exchange_standing(copy, one, other)
    findings = copy.examined(folder).findings
    return [(f.code, set(f.where.markers)) for f in findings if f.severity != "note"]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("side", ["r", "l"])
def test_front_and_back_of_one_side_are_named_before_anything_is_rotated(side: str, tmp_path: Path) -> None:
    names = f"asis_{side}", f"psis_{side}"
    assert found(STRIDE, *names, tmp_path / "walk") == [("labels_exchanged", set(names))]
    both = found(STRIDE, *names, tmp_path / "both", standing=True)
    assert both == [("labels_exchanged", set(names))]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("standing", [False, True])
def test_a_pelvis_that_goes_backward_while_the_feet_step_forward_is_named(
    recorded_walk_trial: Trial, tmp_path: Path, standing: bool
) -> None:
    """Front and back exchanged on both sides: right and left, feet and plates are not to blame."""
    copy = TrialCopy(recorded_walk_trial.path)
    for side in "RL":
        copy.exchange(f"{side}.ASIS", f"{side}.PSIS")
        if standing:
            exchange_standing(copy, f"{side}.ASIS", f"{side}.PSIS")
    findings = [f for f in copy.examined(tmp_path).findings if f.severity == "error"]
    assert [(f.code, set(f.where.markers)) for f in findings] == [
        ("labels_exchanged", {"R.ASIS", "R.PSIS"}),
        ("labels_exchanged", {"L.ASIS", "L.PSIS"}),
    ]
    assert all("standing" in f.what for f in findings) == standing


def test_a_subject_who_walks_back_along_the_walkway_is_a_warning_at_most(
    recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    forward = copy.settings.laboratory.forward
    copy.set_key("laboratory", "forward", f'"{"-" if forward[0] == "+" else "+"}{forward[1]}"')
    report = copy.examined(tmp_path)
    assert report.ok
    assert [(f.code, f.severity) for f in report.findings if f.severity != "note"] == [
        ("walking_direction", "warning")
    ]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        ("R.ASIS", "R.PSIS", "labels_exchanged"),
        ("L.ASIS", "L.PSIS", "labels_exchanged"),
        ("R.ASIS", "L.ASIS", "pair_swapped"),
        ("R.PSIS", "L.PSIS", "pair_swapped"),
    ],
)
def test_exchanged_spines_of_the_walk_are_all_that_is_blamed(
    one: str, other: str, code: str, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    assert found(recorded_walk_trial.path, one, other, tmp_path) == [(code, {one, other})]


def test_sides_of_a_marker_set_are_swapped_in_the_files(tmp_path: Path) -> None:
    trial = synthetic_recording(tmp_path / "right", marker_set="plug_in_gait", truth=False)
    copy = TrialCopy(trial)
    names = set(copy.walk.names)
    for name in sorted(names):
        if name.startswith("R") and "L" + name[1:] in names:
            copy.exchange(name, "L" + name[1:])
            exchange_standing(copy, name, "L" + name[1:])
    (first, *_) = copy.examined(tmp_path / "swapped").findings
    assert first.code == "sides_swapped"
    assert first.remedy == "swap the labels of right and left in both files"
    assert first.where.field is None


@pytest.mark.parametrize("treadmill", [False, True])
def test_mirrored_markers_have_their_labels_right(treadmill: bool, tmp_path: Path) -> None:
    """The force of a plate has the rhythm of the foot of its side, which it has not where labels are exchanged."""
    copy = TrialCopy(recorded("treadmill_walk/p1/walk.toml")) if treadmill else TrialCopy()
    across = [-1.0, 1.0, 1.0] if treadmill else [1.0, -1.0, 1.0]
    copy.put(copy.walk.position * across)
    if copy.static is not None:
        copy.put(copy.static.position * across, static=True)
    errors = [each for each in copy.examined(tmp_path).findings if each.severity == "error"]
    assert [each.code for each in errors] == ["sides_swapped"], errors
    assert "mirrored" in errors[0].what and "reverse one axis" in errors[0].remedy


@pytest.mark.parametrize("standing", [False, True])
def test_markers_mirrored_along_the_vertical_need_no_other_axes(standing: bool, tmp_path: Path) -> None:
    copy = TrialCopy()
    mirror = 1.0 - 2.0 * np.abs(copy.in_file((0.0, 0.0, 1.0)))
    copy.put(copy.walk.position * mirror)
    if standing and copy.static is not None:
        copy.put(copy.static.position * mirror, static=True)
    errors = [each for each in copy.examined(tmp_path).findings if each.severity == "error"]
    assert [each.code for each in errors] == ["sides_swapped"], errors
    assert "along the vertical" in errors[0].what and ("static.trc" in errors[0].remedy) == standing


def test_who_is_mirrored_along_the_walk_is_not_called_turned(tmp_path: Path) -> None:
    copy = TrialCopy()
    copy.put(copy.walk.position * (1.0 - 2.0 * np.abs(copy.in_file((1.0, 0.0, 0.0)))))
    said = [each.code for each in copy.examined(tmp_path).findings if each.severity != "note"]
    assert "sides_swapped" in said and "walking_direction" not in said


def test_a_walk_that_goes_on_elsewhere_has_not_lost_hundreds_of_frames(tmp_path: Path) -> None:
    copy = TrialCopy()
    position = copy.walk.position.copy()
    position[len(position) // 2 :] += [0.0, 0.0, 1.5]
    copy.put(position)
    first = next(each for each in copy.examined(tmp_path).findings if each.severity == "error")
    assert first.code == "leap" and "the origin of the laboratory, were moved" in first.what

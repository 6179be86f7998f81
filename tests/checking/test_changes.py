"""The change of the trial file that a finding proposes removes the fault: with it, the trial has no such finding."""

from __future__ import annotations

from pathlib import Path

import pytest
from examined import examined

import musclesolve as ms
from musclesolve.desk.trial_document import TrialDocument, change_title
from musclesolve.results.finding import Finding
from musclesolve.synthetic.trial_copy import open_copy, write_copy


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("mass_wrong", "mass"),
        ("stature_wrong", "stature"),
        ("forces_late_50ms", "time_offset"),
        ("plates_swapped", "plates_swapped"),
        ("up_axis_wrong", "up_axis"),
        ("walks_backward", "walking_direction"),
        ("static_in_other_axes", "up_axis"),
        ("sides_swapped", "sides_swapped"),
        ("heel_and_toe_exchanged", "labels_exchanged"),
        ("ankle_swapped_for_a_while", "labels_exchanged"),
        ("knee_markers_swapped", "pair_swapped"),
    ],
)
def test_the_change_of_a_finding_mends_it(tmp_path: Path, fault: str, code: str) -> None:
    trial = TrialDocument(ms.synthetic_recording(tmp_path, truth=False, faults=(fault,)))
    found = [each for each in examined(trial.path).findings if each.code == code]
    changes = dict(pair for each in found for pair in each.change)
    assert changes
    assert all(Finding.from_dict(each.as_dict()) == each for each in found)
    trial.state_all(changes)
    assert code not in {each.code for each in examined(trial.path).findings if each.severity != "note"}


@pytest.mark.parametrize(("one", "other"), [("heel_r", "toe_r"), ("knee_lateral_l", "knee_medial_l")])
def test_exchanged_landmarks_of_a_leg_are_exchanged_back_by_a_click(
    tmp_path: Path, one: str, other: str
) -> None:
    trial = TrialDocument(ms.synthetic_recording(tmp_path, truth=False))
    stated = {name: trial.value("mapping", name) for name in (one, other)}
    trial.state_all({("mapping", one): stated[other], ("mapping", other): stated[one]})
    found = [each for each in examined(trial.path).findings if each.severity == "error" and each.change]
    assert [each.code for each in found] == ["landmark_order"]
    assert change_title(found[0].change) in (f"Exchange {one} and {other}", f"Exchange {other} and {one}")
    trial.state_all(dict(found[0].change))
    assert examined(trial.path).ok


@pytest.mark.parametrize(("one", "other"), [("RHEE", "RTOE"), ("LASI", "LPSI")])
def test_labels_exchanged_in_the_files_are_mapped_back_by_a_click(
    tmp_path: Path, one: str, other: str
) -> None:
    """The markers have their landmarks from a marker set: the click states both landmarks in the trial file."""
    copy = open_copy(ms.synthetic_recording(tmp_path / "right", marker_set="plug_in_gait", truth=False))
    copy.exchange(one, other)
    assert copy.static is not None
    position, places = copy.static.position.copy(), [copy.static.names.index(name) for name in (one, other)]
    position[:, places] = position[:, places[::-1]]
    copy.put(position, static=True)
    trial = TrialDocument(write_copy(copy, tmp_path / "swapped"))
    before = trial.text
    (found,) = [each for each in examined(trial.path).findings if each.severity == "error"]
    assert set(found.where.markers) == {one, other} and {place[0] for place, _ in found.change} == {"mapping"}
    trial.state_all(dict(found.change))
    assert {trial.value(*place) for place, _ in found.change} == {one, other}
    assert examined(trial.path).ok
    assert trial.to_undo is not None and all(str(place[1]) in trial.to_undo.what for place, _ in found.change)
    trial.undo()
    assert trial.text == before


@pytest.mark.parametrize("role", ["markers", "static"])
def test_sides_swapped_in_one_file_are_swapped_back_by_a_click(tmp_path: Path, role: str) -> None:
    copy = open_copy(ms.synthetic_recording(tmp_path / "right", marker_set="plug_in_gait", truth=False))
    markers = copy.walk if role == "markers" else copy.static
    assert markers is not None
    other = {"R": "L", "L": "R"}
    twins = [other.get(name[0], name[0]) + name[1:] for name in markers.names]
    columns = [
        markers.names.index(twin if twin in markers.names else markers.names[k])
        for k, twin in enumerate(twins)
    ]
    copy.put(markers.position[:, columns], static=role == "static")
    trial = TrialDocument(write_copy(copy, tmp_path / "swapped"))
    (found,) = [each for each in examined(trial.path).findings if each.severity == "error"]
    assert found.code == "sides_swapped" and change_title(found.change).startswith("Exchange the labels of ")
    trial.state_all(dict(found.change))
    assert examined(trial.path).ok
    assert any("labels are exchanged in" in note for note in ms.read_trial(trial.path).notes)


def test_labels_that_a_file_has_not_are_named(tmp_path: Path) -> None:
    trial = TrialDocument(ms.synthetic_recording(tmp_path, truth=False))
    trial.state(("exchanged", 0, "markers"), {"heel_r": "toe_right"})
    with pytest.raises(ms.InputError, match="has no marker") as refused:
        ms.read_trial(trial.path)
    assert refused.value.code == "unknown_name" and "toe_r" in str(refused.value.remedy)


def test_the_button_names_what_is_exchanged() -> None:
    place = ("exchanged", 0)
    assert change_title([((*place, "markers"), {"A": "B"}), ((*place, "times_s"), [[0.1, 0.2]])]) == (
        "Exchange the labels A and B"
    )
    assert change_title([((*place, "static"), {"A": "B", "C": "D"})]) == "Exchange the labels of 2 pairs"

"""The change of the trial file that a finding proposes removes the fault: with it, the trial has no such finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from examined import examined
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve.apps.desk.trial_document import TrialDocument, change_title
from musclesolve.laboratory.results.finding import Finding


def stated(table: str, key: str, value: str) -> Callable[[TrialCopy], None]:
    return lambda copy: copy.set_key(table, key, value)


def knees_exchanged(copy: TrialCopy) -> None:
    copy.exchange(copy.marker("knee_lateral_r"), copy.marker("knee_lateral_l"))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (stated("subject", "mass_kg", "80.0"), "mass"),
        (stated("laboratory", "up", '"+y"'), "up_axis"),
        (stated("laboratory", "forward", '"-x"'), "walking_direction"),
        (knees_exchanged, "pair_swapped"),
    ],
)
def test_the_change_of_a_finding_mends_it(
    tmp_path: Path, change: Callable[[TrialCopy], None], code: str
) -> None:
    copy = TrialCopy(ms.studies.synthetic_recording(tmp_path / "sound", truth=False))
    change(copy)
    trial = TrialDocument(copy.write(tmp_path / "changed"))
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
    trial = TrialDocument(ms.studies.synthetic_recording(tmp_path, truth=False))
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
    copy = TrialCopy(
        ms.studies.synthetic_recording(tmp_path / "right", marker_set="plug_in_gait", truth=False)
    )
    copy.exchange(one, other)
    assert copy.static is not None
    position, places = copy.static.position.copy(), [copy.static.names.index(name) for name in (one, other)]
    position[:, places] = position[:, places[::-1]]
    copy.put(position, static=True)
    trial = TrialDocument(copy.write(tmp_path / "swapped"))
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
    copy = TrialCopy(
        ms.studies.synthetic_recording(tmp_path / "right", marker_set="plug_in_gait", truth=False)
    )
    markers = copy.walk if role == "markers" else copy.static
    assert markers is not None
    other = {"R": "L", "L": "R"}
    twins = [other.get(name[0], name[0]) + name[1:] for name in markers.names]
    columns = [
        markers.names.index(twin if twin in markers.names else markers.names[k])
        for k, twin in enumerate(twins)
    ]
    copy.put(markers.position[:, columns], static=role == "static")
    trial = TrialDocument(copy.write(tmp_path / "swapped"))
    (found,) = [each for each in examined(trial.path).findings if each.severity == "error"]
    assert found.code == "sides_swapped" and change_title(found.change).startswith("Exchange the labels of ")
    trial.state_all(dict(found.change))
    assert examined(trial.path).ok
    assert any("labels are exchanged in" in note for note in ms.read_trial(trial.path).notes)


@pytest.mark.parametrize("name", ["knee_lateral", "ankle_lateral"])
def test_sides_of_one_landmark_standing_are_exchanged_back_by_a_click(tmp_path: Path, name: str) -> None:
    """The exchange with the medial marker of the same leg would change no joint: the fault would be a warning."""
    names = f"{name}_r", f"{name}_l"
    copy = TrialCopy(ms.studies.synthetic_recording(tmp_path / "right", truth=False))
    assert copy.static is not None
    position, places = copy.static.position.copy(), [copy.static.names.index(each) for each in names]
    position[:, places] = position[:, places[::-1]]
    copy.put(position, static=True)
    trial = TrialDocument(copy.write(tmp_path / "swapped"))
    (found,) = [each for each in examined(trial.path).findings if each.severity == "error"]
    assert found.code == "landmark_order" and {*found.where.markers} == {*names}
    trial.state_all(dict(found.change))
    assert examined(trial.path).ok


TABLE = '[[exchanged]]\nmarkers = { ankle_lateral_r = "ankle_medial_r" }\n'


@pytest.mark.parametrize(
    ("tables", "code", "words"),
    [
        (
            TABLE.replace("ankle_medial_r", "toe_right"),
            "unknown_name",
            "there is no marker 'toe_right' in walk.trc",
        ),
        (
            TABLE.replace("medial", "lateral"),
            "conflict",
            "keep one pair of ankle_lateral_r and another marker",
        ),
        (TABLE + "times_s = [[50, 60]]\n", "no_overlap", "walk.trc has no frame from 50 to 60 s"),
        (TABLE + "times_s = [[0, 1], [50, 60]]\n", "no_overlap", "no frame from 50 to 60 s"),
        (TABLE.replace("markers", "static"), "conflict", "there is no standing trial"),
        (
            TABLE.replace("markers", "static") + "times_s = [[0.5, 0.8]]\n",
            "conflict",
            "whose markers are not stated",
        ),
        ("[[exchanged]]\n", "conflict", "no labels are stated"),
    ],
)
def test_exchanges_that_no_file_allows_are_refused(
    tmp_path: Path, tables: str, code: str, words: str
) -> None:
    trial = ms.studies.synthetic_recording(tmp_path, truth=False)
    text = trial.read_text()
    if "static" in tables:
        text = text.replace('static = "static.trc"\n', "")
    trial.write_text(f"{text}\n{tables}")
    with pytest.raises(ms.InputError) as refused:
        ms.read_trial(trial)
    assert refused.value.code == code and words in str(refused.value)


@pytest.mark.parametrize(
    ("tables", "note"),
    [
        (TABLE + TABLE, "[[exchanged]] changes nothing in walk.trc"),
        (
            f"{TABLE}times_s = [[0.5, 0.8]]\n{TABLE}times_s = [[0.7, 1.0]]\n",
            "exchanged in 40 frames of walk.trc",
        ),
        (
            TABLE.replace("ankle_medial", "toe")
            + TABLE.replace("ankle_lateral", "toe")
            + TABLE.replace("ankle_medial", "toe"),
            "walk.trc: ankle_lateral_r, ankle_medial_r.",
        ),
    ],
)
def test_the_note_on_exchanged_labels_counts_what_is_left(tmp_path: Path, tables: str, note: str) -> None:
    trial = ms.studies.synthetic_recording(tmp_path, truth=False)
    trial.write_text(f"{trial.read_text()}\n{tables}")
    assert sum(note in each for each in ms.read_trial(trial).notes) == 1


def test_the_button_names_what_is_exchanged() -> None:
    place = ("exchanged", 0)
    assert change_title([((*place, "markers"), {"A": "B"}), ((*place, "times_s"), [[0.1, 0.2]])]) == (
        "Exchange the labels A and B"
    )
    assert change_title([((*place, "static"), {"A": "B", "C": "D"})]) == "Exchange the labels of 2 pairs"
    both = [((*place, role), {"A": "B", "C": "D"}) for role in ("markers", "static")]
    assert change_title(both) == "Exchange the labels of 2 pairs"


@pytest.mark.parametrize("times", ["", "times_s = [[0.4, 0.7]]"])
def test_a_wrong_table_of_exchanged_labels_is_named_itself(tmp_path: Path, times: str) -> None:
    copy = TrialCopy()
    copy.lines += ["[[exchanged]]", 'markers = { heel_r = "toe_r" }', times]
    trial = copy.write(tmp_path)
    (error,) = (each for each in examined(trial).findings if each.severity == "error")
    assert error.code == "labels_exchanged" and error.where.file == trial
    assert error.where.line == copy.lines.index("[[exchanged]]") + 2

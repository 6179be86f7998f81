"""The change of the trial file that a finding proposes removes the fault: with it, the trial has no such finding."""

from __future__ import annotations

from pathlib import Path

import pytest
from examined import examined

import musclesolve as ms
from musclesolve.desk.trial_document import TrialDocument, change_title
from musclesolve.results.finding import Finding


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

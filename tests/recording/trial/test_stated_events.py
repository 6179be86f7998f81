"""Heel strikes and toe-offs that the trial file states."""

from __future__ import annotations

import pytest
from examined import examined
from refusals import refused

from musclesolve import gait_events, read_trial
from musclesolve.data import reference_stride
from musclesolve.synthetic.trial_copy import open_copy, write_copy


def stated(folder, line):
    copy = open_copy(reference_stride())
    copy.lines += ["", "[events]", line]
    return write_copy(copy, folder)


def test_stated_events_are_all_of_their_kind(tmp_path):
    usual = gait_events(read_trial(reference_stride()))
    before = [event.time for event in usual.of("toe_off", "r") if event.source != "periodic"]
    times = [time + 0.02 for time in before]
    trial = read_trial(stated(tmp_path, f"toe_off_r = {times}"))
    found = gait_events(trial)
    assert [event.time for event in found.of("toe_off", "r")] == pytest.approx(times)
    assert found.of("heel_strike", "l") == usual.of("heel_strike", "l")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("toe_off_r = [0.9, 0.2]", "time_not_increasing"),
        ("heel_strike_l = [0.3, 99.0]", "bad_range"),
        ("heel_strike_l = []", "bad_value"),
        ("strike_l = [0.3]", "unknown_key"),
    ],
)
def test_events_that_cannot_be_are_refused_and_found(tmp_path, line, code):
    trial = stated(tmp_path, line)
    with refused(code, line.partition(" ")[0]):
        read_trial(trial)
    assert "trial_file" in examined(trial).codes

"""Heel strikes and toe-offs that the trial file states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from capture_exports import nexus, qualisys
from examined import examined
from refusals import refused
from trial_copy import TrialCopy

from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory import gait_events
from musclesolve.laboratory.files.c3d.c3d_file import stated_events
from musclesolve.tables import read_trc


def stated(folder, line):
    copy = TrialCopy()
    copy.lines += ["", "[events]", line]
    return copy.write(folder)


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


@pytest.mark.parametrize("program", ["qualisys", "nexus"])
def test_events_of_exports_are_read(tmp_path: Path, program: str) -> None:
    walk = read_trc(reference_stride().parent / "walk.trc")
    path = tmp_path / ("walk.tsv" if program == "qualisys" else "walk.csv")
    if program == "qualisys":
        qualisys(path, walk, titles=True, clock=True)
        rows = "EVENT\tRight heel strike\t25\t0.40\nEVENT\tLeft toe off\t32\t0.52\nEVENT\tstart\t1\t0.0\n"
        path.write_text(path.read_text().replace("DATA_INCLUDED", f"{rows}DATA_INCLUDED"))
    else:
        at_rest = np.zeros((len(walk.time), 3))
        nexus(path, walk, [(at_rest, at_rest, at_rest)], {}, 1, order=("trajectories",))
        rows = "S1,Right,Foot Strike,0.40,x\nS1,Left,Foot Off,0.52,x\nS1,General,Event,0.1,x\n"
        titles = "Events\n100\nSubject,Context,Name,Time (s),Description\n"
        path.write_text(f"{titles}{rows}\n{path.read_text()}")
    found, notes = stated_events({"markers": path})
    assert [(each.kind, each.side, each.time) for each in found] == [
        ("heel_strike", "r", 0.40),
        ("toe_off", "l", 0.52),
    ]
    assert not notes

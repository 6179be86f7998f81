"""The plates and feet of a trial as the desk shows them."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
from refusals import refused
from trial_copy import TrialCopy

from musclesolve import read_trial
from musclesolve.apps.desk.measured_forces import measured_forces
from musclesolve.apps.desk.steps.events_step import numbered
from musclesolve.apps.desk.steps.plates_step import plan
from musclesolve.data import reference_stride
from musclesolve.laboratory import gait_events
from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts


def test_plates_of_columns_their_feet_and_events():
    seen, trial = measured_forces(reference_stride()), read_trial(reference_stride())
    assert [plate.stated for plate in seen.plates] == [force.side for force in trial.forces]
    for plate in seen.plates:
        assert plate.steps and {side for *_, side in plate.steps} == {plate.stated}
    assert seen.events is not None and seen.events.events == gait_events(trial).events
    for side in "rl":
        time, vertical = seen.vertical(side)
        assert time.shape == vertical.shape and vertical.max() > 400.0


def test_plates_of_a_c3d_file_have_corners_and_feet_by_their_contacts(instrumented_knee, tmp_path):
    for name in ("PS_ngait_og_ss1.c3d", "Static_for_scaling.trc"):
        (tmp_path / name).write_bytes((instrumented_knee / name).read_bytes())
    (path,) = write_drafts(draft_folder(tmp_path))
    seen = measured_forces(path)
    assert [(plate.number, plate.index, plate.stated) for plate in seen.plates] == [
        (1, None, ""),
        (2, None, ""),
        (3, None, ""),
    ]
    assert [[side for *_, side in plate.steps] for plate in seen.plates] == [["l"], ["r"], ["r"]]
    drawn = ElementTree.fromstring(plan(seen))
    # three plates and a foot on each; below each center of pressure a line of the color of the paper
    pressed = sum(name == "center of pressure" for name, *_ in seen.paths)
    assert [side for side, _ in seen.feet] == ["l", "r", "r"]
    assert len(drawn.findall("polygon")) == 3 + 3
    assert len(drawn.findall("path")) == len(seen.paths) + pressed


def test_events_are_numbered_by_kind_and_foot_and_assumed_ones_left_out():
    events = gait_events(read_trial(reference_stride()))
    shown = numbered(events, 0.0, 1.0e3)
    assert len({each.id for each in shown}) == len(shown) > 2
    assert all(each.event.source != "periodic" for each in shown)
    for each in shown:
        assert each.event.time in each.alike and list(each.alike) == sorted(each.alike)
    assert numbered(events, 1.0e3, 2.0e3) == []


def test_a_landmark_of_several_markers_lies_where_their_weights_say(tmp_path):
    copy = TrialCopy()
    weights = "heel_r = { weights = { heel_r = 0.9, toe_r = 0.1 } }"
    copy.lines = [weights if line.startswith("heel_r") else line for line in copy.lines]
    seen = measured_forces(copy.write(tmp_path))
    (path,) = [path for name, side, path in seen.paths if (name, side) == ("heel", "r")]
    markers = seen.trial.markers
    np.testing.assert_allclose(path, (0.9 * markers["heel_r"] + 0.1 * markers["toe_r"])[:, :2])


def test_a_trial_without_motion_is_refused(tmp_path):
    path = tmp_path / "trial.toml"
    path.write_text('[files]\nmarkers = "none.trc"\n', encoding="utf-8")
    with refused("unreadable_file", "none.trc"):
        measured_forces(path)


def test_a_plate_without_a_foot_is_shown_so_that_one_can_be_chosen(tmp_path):
    copy = TrialCopy()
    copy.lines = [line for line in copy.lines if not line.startswith("side")]
    seen = measured_forces(copy.write(tmp_path))
    assert [plate.stated for plate in seen.plates] == ["", ""]
    assert all(plate.steps for plate in seen.plates)


def test_a_trial_without_mass_is_shown(tmp_path):
    copy = TrialCopy()
    copy.lines = [line for line in copy.lines if not line.startswith("mass_kg")]
    seen = measured_forces(copy.write(tmp_path))
    assert len(seen.plates) == 2 and all(plate.steps for plate in seen.plates)

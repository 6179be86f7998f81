"""Events and strides in a result: labeled, with units, and whole after writing and reading."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from stepping_trial import Steps
from stored_results import write_result

from musclesolve import read_result
from musclesolve.laboratory import gait_events
from musclesolve.laboratory.motion.events.foot_events import walk
from musclesolve.laboratory.motion.events.gait import Gait, strides
from musclesolve.laboratory.results.dataset.recording_labels import gait_labels

STEPS = Steps(duration=3.6)


def gait(steps=STEPS, plates="r"):
    trial = steps.trial(plates=plates)
    found = gait_events(trial)
    return Gait(list(found), strides(list(found), walk(trial)), list(found.notes))


def dataset(found):
    return xr.Dataset(*gait_labels(found))


def test_events_survive_the_file(tmp_path):
    found = gait()
    write_result(dataset(found), tmp_path / "result.nc")
    back = read_result(tmp_path / "result.nc")
    left = back.event_time.where((back.event_side == "l") & (back.event_kind == "toe_off"), drop=True)
    np.testing.assert_allclose(left, STEPS.toe_offs("l"), atol=0.01)
    assert set(left.event_source.values) == {"markers"}
    assert (np.diff(back.event_time) >= 0.0).all()
    assert (
        back.attrs["heel_strike_times_r"].size
        == back.event_time.where(
            (back.event_side == "r") & (back.event_kind == "heel_strike"), drop=True
        ).size
    )


def test_strides_are_labeled_by_leg_and_time():
    data = dataset(gait())
    right = data.isel(stride=data.stride_side.values == "r")
    np.testing.assert_allclose(right.stride_end - right.stride_start, right.stride_time)
    np.testing.assert_allclose(right.stance_percent, 100.0 * STEPS.stance, atol=0.5)
    np.testing.assert_allclose(right.opposite_heel_strike_percent, 50.0, atol=0.5)
    np.testing.assert_allclose(right.walking_speed, STEPS.speed, atol=0.01)


@pytest.mark.parametrize("steps", [Steps(speed=0.0, duration=1.0)])
def test_a_recording_without_a_step_has_no_events_and_can_be_written(steps, tmp_path):
    empty = dataset(gait(steps, plates=""))
    assert empty.sizes == {"event": 0, "stride": 0}
    write_result(empty, tmp_path / "result.nc")
    back = read_result(tmp_path / "result.nc")
    assert back.sizes == {"event": 0, "stride": 0}

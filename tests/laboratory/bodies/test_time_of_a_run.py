"""The keywords start_s and end_s of a run: the recording is read again in this range."""

from __future__ import annotations

import numpy as np
import pytest
from command_line import typed
from refusals import refused

import musclesolve as ms
from musclesolve.data import reference_stride


def test_a_run_in_a_range_has_the_forces_of_the_whole_there(tmp_path):
    done = typed("run", reference_stride(), "--start", "0.5", "--end", "1.0", "--no-figures", "-o", tmp_path)
    assert done.exit_code == 0, done.output
    part, whole = ms.read_result(tmp_path / "result.nc"), ms.run(reference_stride())
    assert (float(part["time"][0]), float(part["time"][-1])) == pytest.approx((0.5, 1.0))
    there = whole.sel(time=part["time"], method="nearest")
    scale = float(np.abs(whole["muscle_force"]).max())
    np.testing.assert_allclose(part["muscle_force"], there["muscle_force"], atol=0.01 * scale)


def test_a_time_outside_the_recording_is_refused():
    with refused("bad_range", "start_s"):
        ms.run(reference_stride(), start_s=5.0)

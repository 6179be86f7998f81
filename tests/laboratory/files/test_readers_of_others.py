"""Readers that other packages bring: what they return is checked as what the own readers return."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve.laboratory.files import formats
from musclesolve.tables.sampled import Markers


@pytest.mark.parametrize("times", [[0.0, 0.0, 0.1], [0.1, 0.0, 0.2], [0.0, np.nan, 0.2]])
def test_times_that_do_not_increase_are_refused(times, tmp_path, monkeypatch):
    """No rate follows from equal times; the file is named, and the sample."""
    path = tmp_path / "walk.own"
    path.touch()
    markers = Markers(np.array(times), ("heel",), np.zeros((3, 1, 3)), path)
    monkeypatch.setitem(formats.MARKERS, ".own", lambda _: markers)
    with refused("time_not_increasing", "walk.own", "sample"):
        formats.read_markers(path)

"""A standing trial in which the subject walks on is named, and nothing is computed from it."""

from __future__ import annotations

import numpy as np
import pytest
from trial_copy import TrialCopy


@pytest.mark.parametrize(("step", "found"), [(0.3, ["static_moves"]), (0.02, [])])
def test_a_step_in_the_standing_trial(step, found, recorded_walk_trial, tmp_path):
    copy = TrialCopy(recorded_walk_trial.path)
    second = slice(len(copy.static.time) // 2, None)
    for name in copy.static.names[::2]:  # one foot steps forward
        copy.move(name, second, np.array([step, 0.0, 0.0]), static=True)
    report = copy.examined(tmp_path)
    assert [each.code for each in report.findings if each.code == "static_moves"] == found
    assert report.ok is not bool(found)


def test_a_standing_trial_of_another_shape(recorded_walk_trial, tmp_path):
    """Another person is not taller everywhere: most distances differ, some one way and some the other."""
    copy = TrialCopy(recorded_walk_trial.path)
    copy.put(copy.static.position * [0.9, 0.9, 1.05], static=True)
    found = [each.what for each in copy.examined(tmp_path).findings if each.code == "static_of_another"]
    assert len(found) == 1 and "another subject stands there" in found[0]

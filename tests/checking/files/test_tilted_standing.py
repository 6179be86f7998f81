"""A standing trial that is tilted against the motion is named; leaning subjects and sloping floors are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

from musclesolve.files import Trial


@pytest.mark.parametrize("degrees", [-5.0, 0.0, 5.0])
@pytest.mark.parametrize("axis", [0, 2])
def test_a_tilted_standing_trial(
    degrees: float, axis: int, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    (sine, cosine), others = (f(np.radians(degrees)) for f in (np.sin, np.cos)), np.delete(np.arange(3), axis)
    rotation = np.eye(3)
    rotation[np.ix_(others, others)] = [[cosine, -sine], [sine, cosine]]
    copy.put(copy.static.position @ rotation, static=True)
    found = [entry.what for entry in copy.examined(tmp_path).findings if entry.code == "up_axis"]
    assert len(found) == (degrees != 0.0)
    assert all("lean alike" in what for what in found)


def test_a_subject_who_leans_on_level_soles(recorded_walk_trial: Trial, tmp_path: Path) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    high = np.maximum(copy.static.position[..., 1] - 0.2, 0.0)
    copy.put(copy.static.position + 0.1 * high[..., None] * [1.0, 0.0, 0.0], static=True)
    assert "up_axis" not in copy.examined(tmp_path).codes

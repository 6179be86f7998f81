"""A standing trial that is tilted against the motion is named; leaning subjects and sloping floors are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

from musclesolve.laboratory import Trial
from tests.support.recorded_data import recorded


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


def test_a_standing_trial_tilted_against_the_lean_of_the_body(tmp_path: Path) -> None:
    """Tilted forward by 5 degrees the body leans by 2; no walk on the toes shows such soles."""
    copy = TrialCopy(recorded("instrumented_knee/walk_ss1.toml"))
    sine, cosine = np.sin(np.radians(5.0)), np.cos(np.radians(5.0))
    forward = np.array([[cosine, 0.0, -sine], [0.0, 1.0, 0.0], [sine, 0.0, cosine]])
    copy.put(copy.static.position @ copy.rotation.T @ forward @ copy.rotation, static=True)
    assert "up_axis" in copy.examined(tmp_path).codes


def test_who_walks_on_the_toes_stands_upright(tmp_path: Path) -> None:
    """The body stands 3 degrees backward on soles that are 6 degrees flatter than in the motion."""
    copy = TrialCopy(recorded("instrumented_knee/walk_ss1.toml"))
    for part in ("heel", "ankle_lateral", "ankle_medial"):
        for side in "rl":
            for marker in copy.mapping.get(f"{part}_{side}", ()):
                if marker in copy.walk:
                    copy.move(marker, slice(None), copy.in_file((0.0, 0.0, 0.02)))
    assert "up_axis" not in copy.examined(tmp_path).codes


@pytest.mark.parametrize(("degrees", "stands"), [(-10.0, []), (0.0, []), (8.0, ["standing_posture"])])
@pytest.mark.parametrize("trial", ["", "instrumented_knee/walk_ss1.toml"])
def test_who_stands_on_the_toes_and_walks_on_the_soles(
    degrees: float, stands: list[str], trial: str, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    """Heels rise about the toes by an angle; lower ones may be of who walks on the toes."""
    copy = TrialCopy(recorded(trial) if trial else recorded_walk_trial.path)
    for side in "rl":
        heel, toe = (next(iter(copy.mapping[f"{part}_{side}"])) for part in ("heel", "toe"))
        length = np.linalg.norm(np.nanmedian(copy.static[toe] - copy.static[heel], axis=0))
        raised = copy.in_file((0.0, 0.0, length * np.tan(np.radians(degrees))))
        copy.move(heel, slice(None), raised, static=True)
    found = [entry.code for entry in copy.examined(tmp_path).findings]
    assert [code for code in found if code in ("standing_posture", "up_axis")] == stands


def test_who_leans_ahead_on_raised_heels_is_not_tilted(recorded_walk_trial: Trial, tmp_path: Path) -> None:
    """The body leans by 6 degrees, the soles by 15: a tilt would show both alike."""
    copy = TrialCopy(recorded_walk_trial.path)
    high = np.maximum(copy.static.position[..., 1] - 0.2, 0.0)
    # the standing trial faces +z
    copy.put(copy.static.position + 0.1 * high[..., None] * [0.0, 0.0, 1.0], static=True)
    for marker in ("R.Heel", "L.Heel"):
        copy.move(marker, slice(None), np.array([0.0, 0.08, 0.0]), static=True)
    codes = copy.examined(tmp_path).codes
    assert "standing_posture" in codes and "up_axis" not in codes

"""The table [consistency] of a trial file, from the file to the motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from synthetic_trial import write_trial

from musclesolve import read_trial
from musclesolve.errors import InputError
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.recording.trial_settings import ConsistencySettings


def trial_with(folder: Path, *lines: str):
    table = "\n".join(["[consistency]", *lines, "", "[muscles]"])
    return read_trial(write_trial(folder, ("[muscles]", table)))


def test_without_the_table_the_motion_is_the_nearest(tmp_path):
    assert read_trial(write_trial(tmp_path)).settings.consistency == ConsistencySettings()


def test_every_key_reaches_the_motion(tmp_path):
    lines = (
        'method = "joint_angles"',
        'derivatives = "splines"',
        "weights = { heel_r = 4, knee_axis_l = 0.5 }",
    )
    trial = trial_with(tmp_path, *lines)
    assert trial.settings.consistency == ConsistencySettings(
        method="joint_angles", derivatives="splines", weights={"heel_r": 4, "knee_axis_l": 0.5}
    )
    usual, other = mechanics(read_trial(write_trial(tmp_path))), mechanics(trial)
    assert not np.allclose(usual.fit.coordinates, other.fit.coordinates, atol=1e-6)
    violation = [
        np.abs(
            found.model.constraints.rate_violation(found.motion.q, found.motion.qd, found.motion.qdd)[1]
        ).max()
        for found in (usual, other)
    ]
    assert violation[0] < 1e-10 < violation[1]


def test_a_heavier_point_is_moved_less(tmp_path):
    usual, other = (
        mechanics(trial)
        for trial in (read_trial(write_trial(tmp_path)), trial_with(tmp_path, "weights = { knee_r = 10.0 }"))
    )
    knee = usual.fit.points.index("knee_r")
    assert usual.marker_residual.shape == (len(usual.motion.time), len(usual.fit.points))
    assert np.mean(other.marker_residual[:, knee] ** 2) < 0.5 * np.mean(usual.marker_residual[:, knee] ** 2)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ('method = "nearst"', ["[consistency] method", "nearest, joint_angles", "did you mean 'nearest'"]),
        ('derivatives = "spline"', ["[consistency] derivatives", "did you mean 'splines'"]),
        ("weights = 2.0", ["[consistency] weights", "names with a number each"]),
        ("weights = { heel_r = 0 }", ["[consistency] weights", "'heel_r' is 0", "at least 0.0001"]),
        ("weights = { heel_r = inf }", ["[consistency] weights", "'heel_r' is inf"]),
        ("weights = { heel_r = nan }", ["[consistency] weights", "'heel_r' is nan"]),
        ("weights = { knee_r = 1, heel_r = 1e300 }", ["'heel_r' is 1e+300", "at most 10000"]),
        ('weights = { heel_r = "2" }', ["[consistency] weights", "names with a number each"]),
        ("weight = { heel_r = 2 }", ["[consistency] weight", "did you mean 'weights'"]),
    ],
)
def test_values_that_cannot_be_are_refused(line, parts, tmp_path):
    with pytest.raises(InputError) as refusal:
        trial_with(tmp_path, line)
    assert all(part in str(refusal.value) for part in ["trial.toml", "line ", *parts])


def test_a_weight_of_what_is_not_seen_is_refused_with_the_nearest_names(tmp_path):
    trial = trial_with(tmp_path, "weights = { heel_r = 2.0, hel_l = 3.0 }")
    with pytest.raises(InputError) as refusal:
        mechanics(trial)
    text = str(refusal.value)
    assert "trial.toml, line" in text and "[consistency] weights" in text
    assert "'hel_l'" in text and "did you mean 'heel_l'" in text


def test_without_consistency_derivatives_are_by_splines(tmp_path):
    expected = ConsistencySettings(method="none", derivatives="splines")
    assert trial_with(tmp_path, 'method = "none"').settings.consistency == expected
    stated = trial_with(tmp_path, 'method = "none"', 'derivatives = "splines"')
    assert stated.settings.consistency == expected


@pytest.mark.parametrize("line", ['derivatives = "constraints"', "weights = { heel_r = 4 }"])
def test_without_consistency_there_is_nothing_to_weigh_or_constrain(tmp_path, line):
    with refused("conflict", f"[consistency] {line.split()[0]}"):
        trial_with(tmp_path, 'method = "none"', line)

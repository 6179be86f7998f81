"""Values for the tilt of the pelvis in standing when there is no standing trial, and their errors."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.motion.anatomy.joint_centers import PUBLISHED_TILT, pelvic_frame, upright_tilt
from musclesolve.laboratory.motion.anatomy.landmark_positions import standing_landmarks, standing_trial
from musclesolve.studies.uncertainty.replay import sources


@pytest.fixture(scope="module")
def walk(tmp_path_factory) -> Path:
    """A synthetic walk whose trial file does not name its standing trial."""
    file = ms.studies.synthetic_recording(tmp_path_factory.mktemp("walk"))
    text = file.read_text(encoding="utf-8")
    alone = file.with_name("alone.toml")
    alone.write_text(re.sub(r"static = .*\n", "", text), encoding="utf-8")
    return alone


def hip_flexion(found) -> np.ndarray:
    columns = [found.model.dof(f"hip_flexion_{side}") for side in "rl"]
    return np.rad2deg(found.motion.coordinates[:, columns])


def assumed_deg(found) -> float:
    """The tilt of the pelvis that the notes state."""
    (stated,) = [
        match for note in found.measured.notes if (match := re.search(r"taken as (-?\d+) degrees", note))
    ]
    return float(stated[1])


def test_the_mean_of_a_walk_is_near_the_standing_trial(walk: Path) -> None:
    """The synthetic subject tilts by half a degree more in walking than in standing."""
    alone = mechanics(read_trial(walk))
    off = hip_flexion(alone) - hip_flexion(mechanics(read_trial(walk.with_name("trial.toml"))))
    assert np.abs(off + 0.5).max() < 0.1
    assert assumed_deg(alone) == pytest.approx(8.5, abs=0.6)


def test_markers_beside_the_spines_do_not_flex_the_hip(walk: Path, tmp_path: Path) -> None:
    """Back markers 3 cm higher tilt the pelvis by some 10 degrees; the angle of the hip does not notice."""
    trial = read_trial(walk)
    names = [trial.markers.names.index(name) for name in ("psis_r", "psis_l")]
    before = mechanics(trial)
    position = trial.markers.position.copy()
    position[:, names, 2] += 0.03
    after = mechanics(replace(trial, markers=replace(trial.markers, position=position)))
    assert assumed_deg(after) > assumed_deg(before) + 6.0
    assert np.abs(hip_flexion(after) - hip_flexion(before)).max() < 2.0


def test_the_tilt_is_a_source_of_error_without_a_standing_trial(walk: Path) -> None:
    none = {source.key: 0.0 for source in sources().values()}
    options = {
        "samples": 4,
        "sd": none | {"pelvis_tilt_deg": 3.0},
        "side": "r",
        "contributions": True,
        "jobs": 1,
    }
    short = {"time_range": (0.55, 0.65)}
    alone = ms.studies.uncertainty(replace(read_trial(walk), **short), **options)
    assert (alone["muscle_force_sd"] > 0.0).any()
    assert "pelvis_tilt" in alone["source"].values
    shown = ms.studies.uncertainty(replace(read_trial(walk.with_name("trial.toml")), **short), **options)
    assert "pelvis_tilt" not in shown["source"].values
    assert (shown["muscle_force_sd"] == 0.0).all()


def off_deg(trial: Trial) -> tuple[float, float]:
    """Return by how much the tilt while upright, and the published one, exceed that of the standing trial [degrees]."""
    standing = pelvic_frame(standing_landmarks(trial, standing_trial(trial)))[1][:, 0]
    shown = float(np.arcsin(-standing[2]))
    paths = {
        name: trial.markers.weighted(weights) for name, weights in trial.mapping.items() if name in PELVIS
    }
    seen = np.all([np.isfinite(path).all(axis=1) for path in paths.values()], axis=0)
    upright = upright_tilt({name: path[seen] for name, path in paths.items()}, trial.subject.stature)
    assert upright is not None
    return float(np.rad2deg(upright - shown)), float(np.rad2deg(PUBLISHED_TILT - shown))


PELVIS = ("asis_r", "asis_l", "psis_r", "psis_l", "heel_r", "heel_l")


def test_the_rule_on_recorded_walks(default_walk_trial: Trial, instrumented_knee: Path) -> None:
    """Two people whose standing trial is withheld: the rule is nearer to it than the published mean every time."""
    trials = [
        default_walk_trial,
        *(read_trial(instrumented_knee / f"walk_{name}.toml") for name in ("ss1", "ss9")),
    ]
    upright, published = np.array([off_deg(trial) for trial in trials]).T
    np.testing.assert_allclose(upright, [-3.6, 0.2, -0.8], atol=0.3)
    np.testing.assert_allclose(published, [8.1, 3.6, 3.6], atol=0.3)

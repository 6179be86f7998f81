"""A trial whose motion is not made consistent: moments to compare, and no frame that passes for a solution."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from said import judgement, summary

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.recording.trial_settings import ConsistencySettings

NONE = ConsistencySettings(method="none", derivatives="splines")


@pytest.fixture(scope="module")
def trial():
    """The bundled stride with 5 mm of noise on its markers."""
    clean = ms.read_trial(reference_stride())
    shaken = clean.markers.position + np.random.default_rng(1).normal(
        0.0, 0.005, clean.markers.position.shape
    )
    noisy = replace(clean, markers=replace(clean.markers, position=shaken))
    return noisy.with_settings(filter=clean.settings.filter.changed(cutoff_hz=6.0), consistency=NONE)


@pytest.fixture(scope="module")
def result(trial):
    return ms.run(trial)


def test_moments_are_those_of_the_measured_points(trial, result) -> None:
    recorded = mechanics(trial.with_settings(consistency=ConsistencySettings()))
    assert recorded.constraint_violation.max() < 1e-12
    usual = ms.run(trial.with_settings(consistency=ConsistencySettings()))
    dofs = ["knee_flexion_r", "ankle_dorsiflexion_r"]
    moments = [each["joint_moment"].sel(dof=dofs).values for each in (usual, result)]
    assert np.isfinite(moments[1]).all()
    off = np.abs(moments[1] - moments[0]).max()
    assert 1.0 < off < 0.5 * np.abs(moments[0]).max()


def test_no_frame_passes_for_a_solution(result) -> None:
    assert result["constraint_violation"].min() > 1e-4
    assert not result["consistent"].any() and not result["valid"].any() and not judgement(result).complete
    flags = dict(zip(result["status"].flag_meanings.split(), result["status"].flag_values, strict=True))
    assert (result["status"] == flags["INVALID_MOTION"]).all()
    assert "satisfy the constraints" in summary(result) and "not made consistent" in summary(result)


def test_studies_of_muscle_forces_refuse_it(trial) -> None:
    with refused("conflict", "[consistency] method"):
        ms.compare(trial, ["stress_cubed", "force_squared"])
    with refused("conflict", "[consistency] method"):
        ms.studies.uncertainty(trial, samples=2, jobs=1)
    with refused("conflict", "[consistency] method"):
        ms.studies.force_sensitivity(trial)


def test_check_finds_that_no_frame_is_shared(tmp_path):
    for file in reference_stride().parent.glob("*.*"):
        shutil.copy(file, tmp_path)
    text = reference_stride().read_text(encoding="utf-8")
    stated = tmp_path / "trial.toml"
    stated.write_text(text + '\n[consistency]\nmethod = "none"\n', encoding="utf-8")
    report = ms.check(stated)
    (found,) = (each for each in report.findings if each.code == "inconsistent_motion")
    assert "nearest" in found.remedy
    assert report.judgement is not None and report.judgement.verdict == "not_usable"

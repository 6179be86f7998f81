"""Trials that ask for a smaller residual: what is changed, what is said of it, and who refuses it."""

from __future__ import annotations

import numpy as np
import pytest
from command_line import typed
from refusals import refused
from replays import replay_of
from said import plausible, summary
from stored_results import write_result

import musclesolve as ms
from musclesolve.dynamics import projected_moments
from musclesolve.laboratory.forces import mechanics, prepare
from musclesolve.laboratory.results.facts import Facts
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import reference_stride

JOINTS = ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A synthetic walk whose markers slide with the stride, which asks for a smaller residual."""
    file = synthetic_recording(tmp_path_factory.mktemp("walk"), noise="skin", noise_mm=5.0, seed=1)
    text = file.read_text(encoding="utf-8")
    assert "[consistency]" not in text
    file.write_text(
        text.replace("[filter]", '[consistency]\nresidual = "reduced"\n\n[filter]'), encoding="utf-8"
    )
    return file


@pytest.fixture(scope="module")
def trial(path):
    return ms.read_trial(path)


@pytest.fixture(scope="module")
def result(trial):
    return ms.run(trial, side="r")


@pytest.fixture(scope="module")
def kept(trial):
    return ms.run(trial, side="r", residual="kept")


def rms(residual):
    return float(np.sqrt(np.mean(np.sum(residual.values[:, :3] ** 2, axis=1))))


@pytest.mark.thorough
def test_the_residual_is_that_of_the_changed_motion(result, kept) -> None:
    assert rms(result["pelvis_residual"]) < 0.25 * rms(kept["pelvis_residual"])
    np.testing.assert_allclose(result["pelvis_residual_before"], kept["pelvis_residual"], atol=1e-9)
    moved, least = result["motion_change"], 1e-3
    assert least < float(moved.max()) <= result.attrs["largest_motion_change_m"] <= 0.02
    assert "pelvis_residual_before" not in kept and "motion_change" not in kept
    assert result.attrs["consistency_residual"] == "reduced" and "consistency_residual" not in kept.attrs


def test_what_was_measured_is_the_measure(result, kept) -> None:
    """Points are moved from where they were measured by the fit and by the change; the forces are not changed."""
    assert (result["consistency_shift"] != kept["consistency_shift"]).any()
    np.testing.assert_array_equal(result["ground_reaction_force"], kept["ground_reaction_force"])
    np.testing.assert_array_equal(result["balanced"], kept["balanced"])


def test_the_verdict_is_on_the_residual_before(result, kept) -> None:
    shares = [Facts(each).residual_share for each in (result, kept)]
    assert shares[0] == pytest.approx(shares[1])
    found = [each for each in plausible(result).comparisons if each.criterion == "residual"]
    assert found and all("before" in each.sentence for each in found)


def test_a_result_says_what_was_changed(result, kept, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("musclesolve.laboratory.report.sections.figures_of", lambda data, kind: {})
    change = Facts(result).motion_change
    assert change is not None and Facts(kept).motion_change is None
    assert f"{change['rms_force_before_n']:.0f} to {change['rms_force_n']:.0f} N rms" in summary(result)
    file, page = tmp_path / "result.nc", tmp_path / "report.html"
    write_result(result, file)
    assert typed("report", file, "-o", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "The measured motion was changed by" in text and "smallest change of the motion" in text


@pytest.mark.in_part(2)
@pytest.mark.parametrize("seed", [2, 4])
def test_joint_moments_come_nearer_to_the_truth(seed, tmp_path) -> None:
    """Mean of the root mean square errors of four moments of both legs: 2.29 to 2.21, and 2.36 to 2.24 N m."""
    trial = ms.read_trial(synthetic_recording(tmp_path, truth=False, noise="skin", noise_mm=5.0, seed=seed))
    stride, errors = reference_stride(), []
    names = [f"{dof}_{side}" for dof in JOINTS for side in "rl"]
    for residual in ("kept", "reduced"):
        found = mechanics(trial.with_settings(consistency={"residual": residual}))
        moments = projected_moments(found.model, found.motion, found.wrenches)
        truth = stride.joint_moments(found.motion.time - trial.time_range[0])
        off = [
            moments[:, found.model.dof(dof)] - truth[:, list(stride.dof_names).index(dof)] for dof in names
        ]
        errors.append(np.sqrt(np.mean(np.square(off), axis=1)).mean())
    assert errors[1] < 0.98 * errors[0] < 3.0


def test_check_says_that_the_motion_is_changed(path) -> None:
    severities = {each.code: each.severity for each in ms.check(path).findings}
    assert severities["motion_change"] == "note" and "error" not in severities.values()


def test_a_bound_that_holds_the_change_is_a_warning(trial) -> None:
    bounded = mechanics(trial.with_settings(consistency={"largest_change_mm": 1.0}))
    assert bounded.change is not None and bounded.change.change.max() <= 1e-3
    assert [each.code for each in bounded.warnings(trial) if each.code == "motion_change"]


@pytest.mark.thorough
def test_samples_of_the_uncertainty_have_the_change_too(trial) -> None:
    """A sample without errors has the moments of the result; all samples have the change."""
    body = prepare(trial, side="r")
    replay = replay_of(body)
    sample = replay.body(replay.parameters.errors(np.zeros(replay.parameters.count)))
    np.testing.assert_allclose(sample.moments, body.moments, atol=1e-3)
    found = ms.studies.uncertainty(trial, 2, side="r", jobs=1, contributions=False, seed=1)
    assert np.isfinite(found["joint_moment_sd"].sel(dof="hip_flexion_r")).all()


@pytest.mark.parametrize("other", [{"method": "none", "derivatives": "splines"}, {"derivatives": "splines"}])
def test_motions_that_no_model_follows_are_refused(trial, other) -> None:
    with refused("conflict", "[consistency] residual"):
        ms.run(trial.with_settings(consistency=other))


def test_predicted_forces_are_refused(path, tmp_path) -> None:
    text = path.read_text(encoding="utf-8")
    (tmp_path / "walk.trc").write_bytes((path.parent / "walk.trc").read_bytes())
    (tmp_path / "static.trc").write_bytes((path.parent / "static.trc").read_bytes())
    other = tmp_path / "trial.toml"
    other.write_text(text.replace('"forces.mot"', '"predicted"'), encoding="utf-8")
    with refused("dynamics.residual_of_predicted_forces", "[consistency] residual"):
        ms.run(other)


def test_live_refuses_it(trial) -> None:
    with refused("conflict", "residual"):
        ms.apps.live.Live(trial)

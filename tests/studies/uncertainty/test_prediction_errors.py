"""Errors of predicted ground reactions: samples of a predicted trial have its forces, and err as the sources say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from replays import keys_of, replay_of

import musclesolve as ms
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory import Trial
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.trial.dependent_settings import error_keys
from musclesolve.studies.uncertainty.replay import LATERAL, RATIO, sources, with_prediction_errors

ALWAYS = ((-np.inf, np.inf),)


def predicted(spans: dict[str, tuple[tuple[float, float], ...]], folder: Path) -> RecordedBody:
    """A synthetic walk of which some ground reactions are predicted."""
    trial = ms.read_trial(ms.studies.synthetic_recording(folder))
    assert isinstance(trial, Trial)
    body = prepare(replace(trial, predicted_spans=spans, time_range=(0.4, 1.2)))
    assert isinstance(body, RecordedBody)
    return body


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> RecordedBody:
    return predicted(dict.fromkeys("rl", ALWAYS), tmp_path_factory.mktemp("predicted"))


@pytest.fixture(scope="module")
def replay(body: RecordedBody):
    return replay_of(body)


def test_without_errors_samples_have_the_predicted_forces(body: RecordedBody, replay) -> None:
    again = replay.body(replay.parameters.errors(np.zeros(replay.parameters.count)))
    for ours, ground in zip(again.wrenches, body.mechanics.reactions, strict=True):
        np.testing.assert_allclose(ours.force, ground.force, atol=1e-6)
        np.testing.assert_allclose(ours.moment, ground.moment, atol=1e-6)
    np.testing.assert_allclose(again.moments, body.moments, atol=1e-5)
    known = keys_of(replay.parameters.shapes)
    assert known == set(error_keys("recording", predicted=True)) - {"pelvis_tilt_deg"}


def test_a_measured_foot_has_no_error_of_prediction(tmp_path: Path) -> None:
    body = predicted({"l": ALWAYS}, tmp_path)
    replay = replay_of(body)
    none = replay.parameters.errors(np.zeros(replay.parameters.count))
    off = {name: np.full_like(none[name], 0.02) for name in ("predicted_force", "predicted_pressure")}
    before, after = replay.body(none).wrenches, replay.body(none | off).wrenches
    np.testing.assert_array_equal(before[0].force, after[0].force)
    np.testing.assert_array_equal(before[0].moment, after[0].moment)
    assert np.abs(before[1].force - after[1].force).max() > 1.0


def test_errors_have_the_stated_size(body: RecordedBody) -> None:
    time, weight = body.time, body.trial.subject.mass * STANDARD_GRAVITY
    whole = np.stack(
        [np.concatenate([each.force, each.moment], axis=1) for each in body.mechanics.reactions], axis=1
    )
    every, phase = np.ones((len(time), 2), bool), 2.0 * np.pi * time
    random, sd, level = np.random.default_rng(0), 0.05, 0.0

    def moved(force: float, pressure: float, mask: np.ndarray = every) -> np.ndarray:
        numbers = force * random.standard_normal((2, 3, 5)), pressure * random.standard_normal((2, 2, 5))
        return with_prediction_errors(whole, mask, time, phase, weight, level, *numbers)

    drawn = np.array([moved(sd, 0.0) for _ in range(800)])
    loads = whole[:, :, 2] / weight
    alone, both = (loads[:, 0] > 0.5) & (loads[:, 1] < 0.01), (loads > 0.15).all(axis=1)
    assert alone.any() and both.any()
    spread = drawn[..., :3].std(axis=0) / weight
    early = np.convolve(both, np.ones(9), "same") > 0  # the other foot is about to land, or has just left
    np.testing.assert_allclose(spread[alone & ~early, 0].mean(axis=0), sd * RATIO, rtol=0.15)
    np.testing.assert_allclose(spread[both].mean(axis=(0, 1)), 2.0 * sd * RATIO, rtol=0.15)
    assert drawn[..., 2].min() > -1e-9 * weight
    # the moment about the point of force stays, where this point does not err
    point = center_of_pressure(whole[:, 0, :3], whole[:, 0, 3:], level)
    stands = loads[:, 0] > 0.5
    for one in drawn[:5]:
        again = center_of_pressure(one[:, 0, :3], one[:, 0, 3:], level)
        np.testing.assert_allclose(again[stands], point[stands], atol=1e-9)
    places = np.array(
        [center_of_pressure(*np.split(moved(0.0, 0.04)[:, 0], 2, axis=1), level) for _ in range(800)]
    )
    spread = (places - point)[:, stands].std(axis=0).mean(axis=0)
    np.testing.assert_allclose(spread, [0.04, LATERAL * 0.04, 0.0], rtol=0.15, atol=1e-9)
    np.testing.assert_array_equal(moved(sd, 0.04, ~every), whole)


@pytest.mark.thorough
def test_the_ground_force_has_its_band(body: RecordedBody) -> None:
    off = {source.key: 0.0 for source in sources().values() if not source.name.startswith("predicted")}
    found = ms.studies.uncertainty(body, 3, sd=off, jobs=1)
    assert found.ground_predicted.all()
    low, high = (found.ground_reaction_force_quantile.sel(quantile=share) for share in (0.025, 0.975))
    stands = found.ground_reaction_force.sel(axis="z") > 100.0
    assert ((high - low).sel(axis="z").where(stands).min() > 1.0) and (found.joint_angle_sd == 0.0).all()
    shares = found.joint_moment_contribution.sel(source=["predicted_force", "predicted_pressure"]).sum(
        "source"
    )
    ankle = shares.sel(dof="ankle_dorsiflexion_r").where(stands.sel(side="r"))
    np.testing.assert_allclose(ankle.values[np.isfinite(ankle.values)], 1.0, atol=1e-9)


def test_measured_trials_have_no_errors_of_prediction(tmp_path: Path) -> None:
    body = prepare(ms.studies.synthetic_recording(tmp_path), side="r")
    with refused("conflict", "predicted_force_bw"):
        ms.studies.uncertainty(body, 2, sd={"predicted_force_bw": 0.1})

"""The errors of one person's muscles are those of their calibration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from measured_model import measured_model
from person_file import person, person_file
from refusals import refused
from replays import NO_ERRORS, keys_of, replay_of
from small_model import near_optimal_lengths, save_model
from small_model_motion import DOFS, feasible_moments, small_motion

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.trial.dependent_settings import error_keys
from musclesolve.studies import uncertainty
from musclesolve.studies.uncertainty.replay import parameters_with_errors

ALL = ("one_r", "two_r", "three_r")
QUANTITIES = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length")
FACTORS = [
    ("optimal_fiber_length", ("one_r", "two_r"), 1.1),
    ("max_isometric_force", ("two_r",), 0.7),
    ("tendon_slack_length", ("three_r",), 1.02),
    ("tendon_strain", ("three_r",), 1.3),
]
SD = np.array([0.02, 0.1, 0.005, 0.2])
CORRELATION = np.array(
    [[1.0, 0.6, -0.3, 0.0], [0.6, 1.0, 0.2, 0.1], [-0.3, 0.2, 1.0, 0.5], [0.0, 0.1, 0.5, 1.0]]
)
COVARIANCE = CORRELATION * np.outer(SD, SD)


def body_of(folder: Path, make, **options: object):
    model = ms.read_osim(save_model(folder, near_optimal_lengths()))
    return measured_model(
        model,
        small_motion(model),
        feasible_moments(model, passive="none"),
        dofs=DOFS,
        start_s=0.2,
        end_s=0.5,
        person=make,
        **options,
    )


def known_person(folder: Path, covariance: np.ndarray = COVARIANCE):
    return person(save_model(folder, near_optimal_lengths()), FACTORS, covariance)


def logarithms(body, sd: dict[str, float], samples: int) -> dict[str, np.ndarray]:
    """Quantity -> ln of the drawn numbers over the nominal ones (samples, n)."""
    replay = replay_of(body, sd)
    found: dict[str, list[np.ndarray]] = {}
    for sample in range(samples):
        errors = replay.parameters.errors(replay.parameters.draw(5, sample))
        for quantity in (*QUANTITIES, "tendon_strain"):
            row = np.zeros(len(body.muscles))
            for number, part in enumerate(body.parts):
                drawn = replay.part(replay.body(errors), errors, number).state.parameters
                own = [body.muscles.index(name) for name in drawn.names]
                row[own] = np.log(getattr(drawn, quantity) / getattr(part.state.parameters, quantity))
            found.setdefault(quantity, []).append(row)
    return {quantity: np.array(rows) for quantity, rows in found.items()}


@pytest.mark.thorough
def test_samples_reproduce_the_covariance_and_other_numbers_have_their_usual_errors(tmp_path: Path) -> None:
    body = body_of(tmp_path, known_person(tmp_path))
    drawn = logarithms(
        body, NO_ERRORS | {"calibration": 1.0, "optimal_fiber_length": 0.05, "strength": 0.15}, 700
    )
    one, two, three = (body.muscles.index(name) for name in ALL)
    lengths, forces = drawn["optimal_fiber_length"], drawn["max_isometric_force"]
    factors = np.stack(
        [
            lengths[:, one],
            forces[:, two],
            drawn["tendon_slack_length"][:, three],
            drawn["tendon_strain"][:, three],
        ]
    )
    np.testing.assert_allclose(lengths[:, one], lengths[:, two], atol=1e-12)  # they share a factor
    # 700 samples know a covariance of sd 1 to 0.038 sqrt(1 + r^2)
    np.testing.assert_allclose(np.cov(factors) / np.outer(SD, SD), CORRELATION, atol=0.12)
    assert lengths[:, three].std() == pytest.approx(0.05, rel=0.08)
    np.testing.assert_allclose(
        forces[:, one], forces[:, three]
    )  # the strength of the subject, on these two alone
    assert forces[:, one].std() == pytest.approx(0.15, rel=0.08)
    assert abs(np.corrcoef(forces[:, one], forces[:, two])[0, 1]) < 0.1


def test_without_covariance_and_other_errors_nothing_scatters(tmp_path: Path) -> None:
    every = [(quantity, (name,), 1.1) for quantity in QUANTITIES for name in ALL]
    certain = person(save_model(tmp_path, near_optimal_lengths()), every)
    of_muscles = {"strength": 0.15, **dict.fromkeys(QUANTITIES, 0.2), "calibration": 1.0}
    found = uncertainty(body_of(tmp_path, certain), 3, sd=NO_ERRORS | of_muscles, jobs=1)
    assert (found["muscle_force_sd"] == 0.0).all()
    assert any("covariance" in note for note in found.attrs["notes"])
    scattered = uncertainty(
        body_of(tmp_path, None), 3, sd=NO_ERRORS | of_muscles | {"calibration": 0.0}, jobs=1
    )
    assert scattered["muscle_force_sd"].max() > 1.0


def test_samples_spread_as_the_first_order_says_and_the_share_is_the_calibrations(tmp_path: Path) -> None:
    body = body_of(tmp_path, known_person(tmp_path, 1e-4 * COVARIANCE))
    found = uncertainty(body, 80, seed=1, sd=NO_ERRORS | {"calibration": 1.0}, jobs=1)
    drawn, predicted = found["muscle_force_sd"] ** 2, found["muscle_force_first_order_sd"] ** 2
    ratio = np.sqrt(drawn.sum("muscle") / predicted.sum("muscle")).values
    assert np.median(ratio[found["first_order_unique"].values[:, 0]]) == pytest.approx(1.0, abs=0.2)
    shares = found["muscle_force_contribution"].sel(source="calibration").where(predicted > 0.0)
    assert float(shares.min()) == 1.0
    twice = uncertainty(body, 3, sd=NO_ERRORS | {"calibration": 2.0}, jobs=1)
    np.testing.assert_allclose(
        twice["muscle_force_first_order_sd"], 2.0 * found["muscle_force_first_order_sd"], rtol=1e-3, atol=1e-9
    )


def test_a_person_does_not_change_the_other_errors_of_a_sample(tmp_path: Path) -> None:
    """The numbers of the factors are drawn behind all others."""
    with_person = replay_of(body_of(tmp_path, known_person(tmp_path)))
    without = replay_of(body_of(tmp_path, None))
    drawn = with_person.parameters.errors(with_person.parameters.draw(2, 7))
    for name, errors in without.parameters.errors(without.parameters.draw(2, 7)).items():
        np.testing.assert_array_equal(drawn[name], errors)
    assert keys_of(drawn) == set(error_keys("moments", person=True))


def test_there_is_no_such_error_without_a_person(tmp_path: Path) -> None:
    with refused("conflict", "calibration"):
        uncertainty(body_of(tmp_path, None), 2, sd={"calibration": 1.0})


def test_a_recording_has_them_too(tmp_path: Path) -> None:
    trial = ms.read_trial(reference_stride())
    assert isinstance(trial, Trial)
    factors = [("max_isometric_force", ("soleus_r",), 0.9), ("tendon_slack_length", ("soleus_r",), 1.01)]
    file = person_file(
        tmp_path, trial.settings.muscles.database, factors, np.array([[0.01, 0.001], [0.001, 0.0004]])
    )
    trial = replace(
        trial, settings=trial.settings.changed(muscles=dict(database=str(file))), time_range=(0.5, 0.6)
    )
    body = prepare(trial, side="r")
    assert isinstance(body, RecordedBody)
    replay = replay_of(body, NO_ERRORS | {"calibration": 1.0})
    _, (leg,) = replay.run(replay.parameters.errors(np.zeros(replay.parameters.count)))
    np.testing.assert_allclose(leg.tension, ms.run(trial, side="r")["muscle_force"], atol=0.01)
    draws = []
    for sample in range(200):
        errors = replay.parameters.errors(replay.parameters.draw(3, sample))
        drawn = parameters_with_errors(leg.state.parameters, errors, replay.layout.muscles[0], replay.person)
        ratio = [np.log(getattr(drawn, name) / getattr(leg.state.parameters, name)) for name, _, _ in factors]
        changed = np.flatnonzero(np.abs(ratio).max(axis=0) > 1e-12)
        assert [drawn.names[k] for k in changed] == ["soleus_r"]
        draws.append([each[changed[0]] for each in ratio])
    np.testing.assert_allclose(np.cov(np.array(draws).T) * 1e4, [[100.0, 10.0], [10.0, 4.0]], rtol=0.35)
    found = ms.studies.uncertainty(trial, 3, sd=NO_ERRORS | {"calibration": 1.0}, side="r", jobs=1)
    assert float(found["muscle_force_sd"].max()) > 1.0
    assert float(found["joint_moment_sd"].max()) == 0.0
    assert float(found["muscle_force_contribution"].sel(source="calibration").max()) == 1.0

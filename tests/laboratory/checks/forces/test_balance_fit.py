"""Errors are estimated without bias and with the uncertainty that they have; patterns are derivatives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from musclesolve.dynamics import projected_moments
from musclesolve.dynamics.model.human_model import with_mass_factors
from musclesolve.dynamics.rotations import rotation_about
from musclesolve.laboratory import Trial
from musclesolve.laboratory.checks.case import in_order, load, rotate_plate, rotate_recordings
from musclesolve.laboratory.checks.forces.plate_axes import passages
from musclesolve.laboratory.checks.forces.plate_balance import (
    CORRELATION,
    BalanceTerm,
    Estimate,
    Observed,
    accusations,
    balance,
    estimate,
    long_run_variance,
    observed,
    patterns,
    remainder,
    segment_masses,
    whitened,
)
from musclesolve.laboratory.forces import mechanics, subject_model

Array = np.ndarray
TIME = np.arange(150) / 100.0


def correlated(rng: np.random.Generator, columns: int) -> Array:
    """Series of variance one whose correlation falls with exp(-|t| / CORRELATION)."""
    lag = np.abs(TIME[:, None] - TIME)
    return np.linalg.cholesky(np.exp(-lag / CORRELATION)) @ rng.normal(size=(TIME.size, columns))


def test_whitened_series_are_independent_of_variance_one() -> None:
    white = whitened(3.0 * correlated(np.random.default_rng(0), 400), TIME, np.full(400, 3.0)).reshape(
        TIME.size, 400
    )
    covariance = white @ white.T / 400
    np.testing.assert_allclose(np.diag(covariance).mean(), 1.0, atol=0.02)
    assert np.abs(covariance - np.diag(np.diag(covariance))).mean() < 0.06


def test_estimates_have_the_error_that_they_state() -> None:
    """Over many recordings, with another error that is as large as its prior says, and one that is looked for."""
    rng, unit = np.random.default_rng(1), np.ones(2)
    shown = np.stack([np.sin(5.0 * TIME), np.cos(4.0 * TIME)], axis=1)[..., None]
    other = np.stack([np.sin(5.0 * TIME) ** 3, np.ones(TIME.size)], axis=1)[..., None]
    effects = [whitened(effect, TIME, unit) for effect in (shown, other)]
    terms = [BalanceTerm(effects[0], np.array([0.1])), BalanceTerm(effects[1], np.array([0.8]))]
    found = []
    for _ in range(1500):
        residual = 2.0 * shown[..., 0] + 0.8 * rng.normal() * other[..., 0] + correlated(rng, 2)
        fit = estimate(whitened(residual, TIME, unit), terms, terms[0])
        found.append((fit.size[0], fit.deviation[0]))
    size, deviation = np.array(found).T
    assert np.mean(size) == pytest.approx(2.0, abs=4.0 * deviation[0] / np.sqrt(1500))
    assert np.std(size) == pytest.approx(deviation[0], rel=0.08)
    # Samples that were taken as independent would promise less than half of that error.
    naive = np.sum(shown**2) ** -0.5
    assert naive < 0.5 * deviation[0]


def test_the_variance_of_sums_is_that_of_a_smooth_series_at_any_rate() -> None:
    """Noise that a filter smoothed: its variance as it counts in sums, times the step, does not depend on the step."""
    rng = np.random.default_rng(3)
    smooth = np.stack(
        [np.convolve(column, np.hanning(20), "same") for column in rng.normal(size=(40, 4000))], 1
    )
    per_second = [
        step * long_run_variance(smooth[:: int(1000 * step)], step) for step in (0.001, 0.002, 0.005)
    ]
    np.testing.assert_allclose(np.mean(per_second, axis=1), np.mean(per_second[0]), rtol=0.05)
    white = long_run_variance(rng.normal(size=(4000, 40)), 0.01)
    assert np.mean(white) == pytest.approx(1.0, abs=0.12) and (white > 0.9).all()


def test_a_size_that_a_short_part_hardly_shows_is_no_accusation() -> None:
    """A delay of a channel of one size, with a small and with a great standard error."""
    for error, said in ((0.005, True), (0.02, False)):
        term = BalanceTerm(np.full((100, 1), 0.1 / error), np.array([1e-4]))
        nothing = BalanceTerm(np.zeros((100, 1)), np.array([1.0]))
        terms = {"late forward 0": term, "mass": nothing}
        sample = Observed(term.effect[:, 0] * 0.1, terms, np.ones(6), np.eye(3), with_feet=True)
        fit = sample.fit("late forward 0")
        assert fit.deviation[0] == pytest.approx(error) and fit.size[0] == pytest.approx(0.1)
        assert bool(accusations(sample, ["late forward 0"])) is said


def test_a_variance_below_zero_by_rounding_is_unknown() -> None:
    fit = Estimate(np.array([0.2, 0.1]), np.diag([-1e-18, 4e-6]), 9.0)
    np.testing.assert_array_equal(fit.deviation, [np.inf, 0.002])


def test_what_the_terms_explain_is_not_left() -> None:
    rng = np.random.default_rng(2)
    effect = whitened(rng.normal(size=(TIME.size, 6, 2)), TIME, np.ones(6))
    whole = effect @ [3.0, -2.0]
    left = remainder(whole, [BalanceTerm(effect, np.full(2, 1e3))])
    assert np.abs(left).max() < 1e-4


def test_evidence_is_that_of_a_size_beyond_the_prior() -> None:
    effect = np.ones((100, 1))
    small, large = (
        estimate(np.full(100, value), [term, BalanceTerm(np.eye(100)[:, :1], np.ones(1))], term).evidence
        for value, term in (
            (0.1, BalanceTerm(effect, np.array([0.1]))),
            (2.0, BalanceTerm(effect, np.array([0.1]))),
        )
    )
    assert small < 1.0 < 50.0 < large


def test_patterns_are_what_the_plates_add_to_the_residual(recorded_walk_trial: Trial) -> None:
    """Place, scale and free moment of a plate, each against a recording in which it is wrong."""
    case, _ = load(recorded_walk_trial.path)
    assert case is not None
    trial, recorded = case.trial, mechanics(case.trial)
    sound = balance(trial, recorded)
    assert sound is not None
    effects = patterns(sound, [0, 1])
    plate = trial.forces[1]
    changed = {
        "place 1": (replace(plate, point=plate.point + [0.01, -0.02, 0.0] @ sound.axes), [-0.01, 0.02]),
        "scale 1": (replace(plate, force=0.95 * plate.force, moment=0.95 * plate.moment), [0.05]),
        "twist 1": (replace(plate, moment=-plate.moment), [1.0]),
    }
    for name, (spoilt, size) in changed.items():
        wrong = replace(trial, forces=(trial.forces[0], spoilt))
        again = balance(wrong, mechanics(wrong))
        assert again is not None
        # The correction of what was sound is minus what was planted; a reversed moment is off by twice itself.
        planted = effects[name][0] @ np.array(size) * (2.0 if name == "twist 1" else 1.0)
        # A plate that shows less counts as loaded a little later.
        tolerance = 0.5 if name == "scale 1" else 0.02
        np.testing.assert_allclose(again.residual - sound.residual, planted, atol=tolerance)


def test_segment_masses_are_derivatives_of_inverse_dynamics(recorded_walk_trial: Trial) -> None:
    case, _ = load(recorded_walk_trial.path)
    assert case is not None
    recorded, step = mechanics(case.trial), 1e-4
    motion = recorded.motion.frames(slice(0, 20))
    wrenches = [wrench.frames(slice(0, 20)) for wrench in recorded.wrenches]
    gains = segment_masses(recorded.model, motion)
    for name in ("shank_r", "upper_torso"):
        more, less = (
            projected_moments(
                with_mass_factors(subject_model(case.trial, recorded.measured), {name: 1.0 + way * step}),
                motion,
                wrenches,
            )[:, -6:]
            for way in (1.0, -1.0)
        )
        np.testing.assert_allclose(gains[name], (more - less) / (2.0 * step), atol=1e-3)


def test_the_fit_does_not_depend_on_the_axes_of_the_laboratory(recorded_walk_trial: Trial) -> None:
    """A walk at 40 degrees to the first axis needs the same errors along the walk and across."""
    case, _ = load(recorded_walk_trial.path)
    assert case is not None
    turn = rotation_about(np.eye(3)[2], np.radians(40.0))
    fits = []
    for rotation in (np.eye(3), turn):
        repair = in_order(rotate_recordings(rotation, None), *(rotate_plate(k, rotation) for k in range(2)))
        turned = replace(case, recorded=repair(case.recorded))
        measured = balance(turned.trial, mechanics(turned.trial))
        assert measured is not None
        np.testing.assert_allclose(measured.axes[0, :2], rotation[:2, 0], atol=0.05)
        sample = observed(measured, passages(turned), "rl", [0, 1])
        fits.append({name: sample.fit(name) for name in sample.terms})
    for name, fit in fits[0].items():
        error = fit.deviation.max()
        assert fits[1][name].size == pytest.approx(fit.size, abs=0.02 * error), name

"""Residual analysis: the cut-off that it chooses is the one that serves accelerations, its noise the one planted."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from noisy_stride import acceleration_error, harmonic_motion, noise, random_motion, walking
from numpy.typing import ArrayLike
from refusals import refused
from thorough import some

from musclesolve.dynamics import low_pass, smoothing_spline
from musclesolve.dynamics.kinematics.low_pass import harmonics, sine_series
from musclesolve.laboratory import residual_analysis
from musclesolve.laboratory.motion.signals.filter_choice import (
    CutoffVerdict,
    ResidualAnalysis,
    interior_power,
)
from musclesolve.tables import read_trc

THESIS = "residual_analysis_silva_2003"
CASES = [(rate, size) for rate in (60.0, 100.0, 200.0) for size in (0.001, 0.003)]
TRIED = np.arange(1.5, 14.0, 0.25)


@cache
def errors(rate: float, size: float, corner: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """A noisy walk (T, n), and the error of its acceleration with every tried cut-off (C, n)."""
    time, position, acceleration = walking(rate, 4.0)
    noisy = position + noise(position.shape, size, seed=7, corner=corner, rate=rate)
    found = [acceleration_error(time, low_pass(noisy, rate, cutoff), acceleration) for cutoff in TRIED]
    return noisy, np.stack(found)


def chosen(rate: float, size: float, corner: float | None = None, **options: str) -> ResidualAnalysis:
    return residual_analysis(errors(rate, size, corner)[0], rate, **options)


def distance(found: ResidualAnalysis, error: np.ndarray) -> np.ndarray:
    return found.cutoff_hz - TRIED[error.argmin(axis=0)]


def excess(found: ResidualAnalysis, error: np.ndarray) -> np.ndarray:
    """Error of acceleration with the chosen cut-off over the least one."""
    own = np.array([np.interp(cutoff, TRIED, error[:, k]) for k, cutoff in enumerate(found.cutoff_hz)])
    return own / error.min(axis=0)


@pytest.mark.in_part(3)
@pytest.mark.parametrize(("rate", "size"), CASES)
def test_the_cutoff_lies_within_1_hz_of_the_best_for_accelerations(rate: float, size: float) -> None:
    found, error = chosen(rate, size), errors(rate, size)[1]
    off = distance(found, error)
    assert abs(np.median(off)) < 0.6
    assert np.mean(np.abs(off) <= 1.0) > 0.8
    assert np.median(excess(found, error)) < 1.06 and np.quantile(excess(found, error), 0.9) < 1.25
    assert (found.verdict == CutoffVerdict.FOUND).all()


@pytest.mark.parametrize(("rate", "size"), CASES)
def test_the_noise_is_the_planted_one_within_15_per_cent(rate: float, size: float) -> None:
    noise_found = chosen(rate, size).noise / size
    assert np.median(noise_found) == pytest.approx(1.0, abs=0.08)
    assert np.mean(np.abs(noise_found - 1.0) < 0.15) > 0.9


@pytest.mark.in_part(2)
@pytest.mark.parametrize("rate", [60.0, 100.0, 200.0])
def test_noise_that_cameras_have_smoothed_is_borne(rate: float) -> None:
    found, error = chosen(rate, 0.001, 20.0), errors(rate, 0.001, 20.0)[1]
    assert abs(np.median(distance(found, error))) < 0.6
    assert np.mean(np.abs(distance(found, error)) <= 1.0) > 0.75


OTHERS = {
    "accelerations that jump": lambda rate: random_motion(rate, 5.0, 6.0, seed=1),
    "band-limited": lambda rate: random_motion(rate, 5.0, 10.0, seed=2),
    "few harmonics": lambda rate: harmonic_motion(rate, 5.0, seed=3),
}


SOME = [(60.0, 0.001), (100.0, 0.0001), (200.0, 0.0003), (200.0, 0.003)]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("name", "rate", "size"), some([(name, *each) for each in SOME for name in OTHERS], 2)
)
def test_motions_of_any_spectrum_get_nearly_the_least_error_of_acceleration(
    name: str, rate: float, size: float
) -> None:
    time, position, acceleration = OTHERS[name](rate)
    noisy = position + noise(position.shape, size, seed=8)
    tried = np.geomspace(2.0, 0.4 * rate, 60)
    error = np.stack([acceleration_error(time, low_pass(noisy, rate, fc), acceleration) for fc in tried])
    found = residual_analysis(noisy, rate)
    own = acceleration_error(time, low_pass(noisy, rate, found.cutoff_hz), acceleration)
    assert np.median(own / error.min(axis=0)) < 1.06 and np.quantile(own / error.min(axis=0), 0.9) < 1.2
    assert np.median(found.noise) / size == pytest.approx(1.0, abs=0.16)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_a_recorded_walk_smoothed_by_a_spline_gets_nearly_the_least_error(
    recorded_walk: Path, order: int
) -> None:
    markers = read_trc(recorded_walk / "walk.trc")
    recorded = markers.position.reshape(len(markers.position), -1)
    smooth = smoothing_spline(recorded[:, np.isfinite(recorded).all(axis=0)][:, ::4], 100.0, 10.0)
    noisy = smooth.position + noise(smooth.position.shape, 0.001, seed=9)

    def error(cutoff: ArrayLike) -> np.ndarray:
        return acceleration_error(smooth.time, low_pass(noisy, 100.0, cutoff, order), smooth.derivative(2))

    found = residual_analysis(noisy, 100.0, order)
    ratio = error(found.cutoff_hz) / np.min([error(cutoff) for cutoff in np.arange(3.0, 20.0, 0.5)], axis=0)
    assert np.median(ratio) < 1.06 and np.quantile(ratio, 0.9) < 1.25


def test_what_the_filter_does_at_the_ends_does_not_choose_the_cutoff() -> None:
    """The mirrored signal bends there, harder than the motion ever does."""
    noisy = harmonic_motion(100.0, 5.0, seed=3)[1] + noise((500, 40), 0.0001, seed=4)

    def beside_over_above(frequency: np.ndarray, power: np.ndarray) -> float:
        beside, above = (frequency > 7.5) & (frequency < 12.0), frequency > 30.0
        return float(np.median(power[beside]) / np.median(power[above]))

    frequency, power = interior_power(noisy, 100.0)
    assert beside_over_above(frequency, power) < 1.6
    assert beside_over_above(harmonics(500, 100.0), sine_series(noisy)[1] ** 2) > 5.0
    # Of 250 frequencies each has its share of the mean square.
    assert 250 * power[frequency > 30.0].mean() == pytest.approx(0.0001**2, rel=0.05)


def test_the_rule_of_the_thesis_takes_a_filter_of_order_1() -> None:
    noisy = errors(100.0, 0.001)[0]
    found = residual_analysis(noisy, 100.0, 1, THESIS)
    assert np.median(found.noise) == pytest.approx(0.001, rel=0.15)
    assert (found.cutoff_hz > 1.0).all()


def test_the_rule_of_the_thesis_lies_lower_but_within_1_hz_in_the_middle() -> None:
    own, thesis, error = chosen(100.0, 0.001), chosen(100.0, 0.001, rule=THESIS), errors(100.0, 0.001)[1]
    assert np.median(thesis.cutoff_hz) < np.median(own.cutoff_hz)
    assert -1.0 < np.median(distance(thesis, error)) < -0.4
    assert np.median(excess(thesis, error)) > np.median(excess(own, error))


def test_at_the_cutoff_of_the_thesis_the_residual_is_the_noise() -> None:
    found = chosen(100.0, 0.003, rule=THESIS)
    residual = np.array(
        [
            np.interp(cutoff, found.frequency_hz, found.residual[:, k])
            for k, cutoff in enumerate(found.cutoff_hz)
        ]
    )
    np.testing.assert_allclose(residual, found.noise, rtol=1e-3)


@pytest.mark.parametrize("order", [2, 4])
def test_residuals_are_those_of_the_filter_itself(order: int) -> None:
    noisy = errors(100.0, 0.003)[0]
    found = residual_analysis(noisy, 100.0, order)
    for place in (7, 30, 100):
        cutoff = found.frequency_hz[place]
        rest = noisy - low_pass(noisy, 100.0, cutoff, order)
        expected = np.sqrt(np.mean(rest**2, axis=0))
        np.testing.assert_allclose(found.residual[place], expected, rtol=1e-3)


def test_the_more_noise_the_lower_the_cutoff_and_units_do_not_matter() -> None:
    assert np.median(chosen(100.0, 0.003).cutoff_hz) < np.median(chosen(100.0, 0.001).cutoff_hz)
    meters, found = errors(100.0, 0.001)[0], chosen(100.0, 0.001)
    millimeters = residual_analysis(1000.0 * meters, 100.0)
    np.testing.assert_allclose(millimeters.cutoff_hz, found.cutoff_hz, rtol=1e-6)
    np.testing.assert_allclose(millimeters.noise, 1000.0 * found.noise, rtol=1e-6)


def test_coordinates_do_not_know_of_each_other_and_keep_their_axes() -> None:
    noisy, found = errors(100.0, 0.001)[0], chosen(100.0, 0.001)
    stacked = residual_analysis(noisy.reshape(len(noisy), -1, 3), 100.0)
    np.testing.assert_allclose(stacked.cutoff_hz.ravel(), found.cutoff_hz, rtol=1e-9)
    alone = residual_analysis(noisy[:, 5], 100.0)
    assert alone.cutoff_hz.shape == () and alone.cutoff_hz == pytest.approx(found.cutoff_hz[5])
    assert stacked.residual.shape == (len(found.frequency_hz), noisy.shape[1] // 3, 3)


def test_no_noise_and_nothing_but_noise_are_told() -> None:
    clean = residual_analysis(walking(100.0, 4.0)[1], 100.0)
    assert (clean.verdict == CutoffVerdict.NO_NOISE).all()
    white = residual_analysis(noise((400, 60), 1.0, seed=2), 100.0)
    assert np.mean(white.verdict == CutoffVerdict.NO_MOTION) > 0.8
    assert np.isfinite(clean.cutoff_hz).all() and np.isfinite(white.cutoff_hz).all()
    still = residual_analysis(np.zeros((300, 2)), 100.0)
    assert np.isfinite(still.cutoff_hz).all() and (still.noise == 0.0).all()


@pytest.mark.parametrize(
    ("frames", "rate", "options", "code"),
    [
        (90, 100.0, {}, "too_few_frames"),
        (400, 20.0, {}, "bad_number"),
        (400, 100.0, {"order": 1}, "conflict"),
        (400, 100.0, {"rule": "winter"}, "unknown_name"),
        (400, 100.0, {"correlation": 1.1}, "bad_number"),
        (400, 100.0, {"correlation": -1.0}, "bad_number"),
        (400, 100.0, {"correlation": float("nan")}, "bad_number"),
    ],
)
def test_where_it_cannot_work_it_says_so(frames: int, rate: float, options: dict, code: str) -> None:
    with refused(code):
        residual_analysis(np.random.default_rng(0).normal(size=frames), rate, **options)

"""Cut-offs from the recording: one for every coordinate, one for the forces that goes with the feet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from refusals import refused
from synthetic_trial import write_trial

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.dynamics import low_pass
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import anatomy
from musclesolve.laboratory.motion.signals.filter_choice import (
    CutoffVerdict,
    FilterChoice,
    choice_notes,
    filter_choice,
)
from musclesolve.laboratory.results.dataset.recording_labels import filter_labels
from musclesolve.studies import synthetic_recording

CHOICES = {
    "residual_analysis": 'cutoff_hz = "residual_analysis"',
    "residual_analysis_silva_2003": 'cutoff_hz = "residual_analysis_silva_2003"',
    "cross_validation": 'method = "spline"\norder = 3\ncutoff_hz = "cross_validation"',
}


def edited(path: Path, table: str) -> Trial:
    text = path.read_text(encoding="utf-8")
    (given,) = (line for line in text.splitlines() if line.startswith("cutoff_hz"))
    path.write_text(text.replace(given, table), encoding="utf-8")
    return read_trial(path)


@pytest.fixture(scope="module", params=CHOICES)
def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """Three strides with 1 mm of noise."""
    path = synthetic_recording(tmp_path_factory.mktemp("walk"), noise_mm=1.0, strides=3, seed=5)
    return edited(path, CHOICES[request.param])


@pytest.fixture(scope="module")
def found(walk: Trial) -> FilterChoice:
    return filter_choice(walk, walk.settings.filter)


def median(found: FilterChoice, part: str) -> float:
    return float(np.median(found.cutoff_hz[[k for k, name in enumerate(found.markers) if part in name]]))


def test_feet_have_higher_cutoffs_than_the_pelvis(found: FilterChoice) -> None:
    assert median(found, "asis") < median(found, "heel")
    assert median(found, "shoulder") < median(found, "toe")


def test_the_noise_is_that_of_the_recording(found: FilterChoice) -> None:
    assert found.noise is not None and np.median(found.noise) == pytest.approx(0.001, rel=0.12)


def test_forces_go_with_the_feet(walk: Trial, found: FilterChoice) -> None:
    parts = ("ankle_lateral", "heel", "toe", "metatarsal_5")
    rows = [k for k, name in enumerate(found.markers) if name.startswith(parts)]
    assert len(rows) == 8
    assert found.force_cutoff_hz == np.median(found.cutoff_hz[rows])
    if walk.settings.filter.choice != "residual_analysis_silva_2003":
        assert choice_notes(found) == []


def test_the_anatomy_takes_the_choice(walk: Trial, found: FilterChoice) -> None:
    np.testing.assert_array_equal(anatomy(walk).filter.cutoff_hz, found.cutoff_hz)


def test_the_result_holds_what_was_seen(found: FilterChoice) -> None:
    result = xr.Dataset(*filter_labels(found)[:2])
    np.testing.assert_array_equal(result["marker_cutoff"], found.cutoff_hz)
    if found.analysis is None:
        assert "marker_verdict" not in result
        return
    np.testing.assert_array_equal(result["marker_verdict"], found.analysis.verdict)
    assert result["marker_verdict"].attrs["flag_meanings"].split()[CutoffVerdict.NO_NOISE] == "NO_NOISE"
    assert (result["marker_linear_from"] < result["marker_linear_to"]).all()


def test_a_given_cutoff_is_that_of_everything(tmp_path: Path) -> None:
    trial = read_trial(write_trial(tmp_path))
    found = filter_choice(trial, trial.settings.filter)
    assert (found.cutoff_hz == 6.0).all() and found.force_cutoff_hz == 6.0
    assert found.noise is None and found.analysis is None


def test_a_spline_of_the_same_cutoff_differs_little_from_the_filter(tmp_path: Path) -> None:
    path = synthetic_recording(tmp_path, noise_mm=1.0, strides=3, seed=5)
    filtered = anatomy(read_trial(path)).points["ankle_r"]
    smoothed = anatomy(edited(path, 'method = "spline"\ncutoff_hz = 6.0')).points["ankle_r"]
    np.testing.assert_allclose(smoothed, filtered, atol=0.001)


def test_a_recording_without_noise_is_filtered_and_says_so(tmp_path: Path) -> None:
    trial = read_trial(write_trial(tmp_path, ("cutoff_hz = 6.0", 'cutoff_hz = "residual_analysis"')))
    found = filter_choice(trial, trial.settings.filter)
    assert found.analysis is not None and (found.analysis.verdict != CutoffVerdict.FOUND).any()
    assert any(note.startswith("Residual analysis of ") for note in anatomy(trial).notes)
    assert np.isfinite(found.smooth(np.zeros((240, len(found.markers), 3)), 100.0)).all()


def test_too_short_a_stretch_is_refused_with_the_line(tmp_path: Path) -> None:
    trial = read_trial(write_trial(tmp_path, ("cutoff_hz = 6.0", 'cutoff_hz = "residual_analysis"')))
    markers = trial.markers
    short = replace(markers, time=markers.time[:90], position=markers.position[:90])
    with refused("too_few_frames", "line ", "[filter] cutoff_hz", "90 frames"):
        filter_choice(replace(trial, markers=short, time_range=(0.1, 0.8)), trial.settings.filter)


def test_what_could_not_be_read_is_filtered_like_the_rest_of_the_marker(tmp_path: Path) -> None:
    """One axis of a marker without noise, all axes of another."""
    path = synthetic_recording(tmp_path, noise_mm=1.0, strides=3, seed=5)
    trial = edited(path, CHOICES["residual_analysis"])
    position, names = trial.markers.position.copy(), trial.markers.names
    clean = low_pass(position, trial.markers.rate, 4.0, 8)
    one, other = trial.used_markers[3], trial.used_markers[7]
    position[:, names.index(one), 1] = clean[:, names.index(one), 1]
    position[:, names.index(other)] = clean[:, names.index(other)]
    found = filter_choice(
        replace(trial, markers=replace(trial.markers, position=position)), trial.settings.filter
    )
    assert found.analysis is not None
    known = found.analysis.verdict == CutoffVerdict.FOUND
    assert known[3].tolist() == [True, False, True] and not known[7].any()
    np.testing.assert_array_equal(found.cutoff_hz[known], found.analysis.cutoff_hz[known])
    assert found.cutoff_hz[3, 1] == np.median(found.cutoff_hz[3, [0, 2]])
    assert (found.cutoff_hz[7] == np.median(found.cutoff_hz[known])).all()
    (note,) = choice_notes(found)
    assert f"{one} y" in note and "filtered like the other axes of the marker" in note


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("table", "place"),
    [
        ("cutoff_hz = 0.05", "cutoff_hz: a cut-off of 0.05 Hz"),
        ('method = "spline"\ncutoff_hz = 0.1', "cutoff_hz: a cut-off of 0.1 Hz"),
        ('method = "spline"\norder = 3\ncutoff_hz = 0.4', "cutoff_hz: a cut-off of 0.4 Hz"),
        ("force_cutoff_hz = 0.1\ncutoff_hz = 6", "force_cutoff_hz: a cut-off of 0.1 Hz"),
    ],
)
def test_a_cutoff_that_the_recording_cannot_carry_is_refused_with_the_line(
    tmp_path: Path, table: str, place: str
) -> None:
    path = synthetic_recording(tmp_path, strides=1, marker_rate_hz=200.0)
    trial = edited(path, table)
    with refused("bad_number", "line ", f"[filter] {place}"):
        filter_choice(trial, trial.settings.filter)
    errors = ms.check(path).of("error")
    assert len(errors) == 1 and place.split(": ")[1] in errors[0].what

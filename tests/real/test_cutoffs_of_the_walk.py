"""The recorded walk chooses its own cut-offs: low for the pelvis, higher for the feet, little noise."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.laboratory import Trial
from musclesolve.laboratory.motion.signals.filter_choice import FilterChoice, filter_choice
from musclesolve.laboratory.recording.trial_settings import FilterSettings

CHOICES = {
    "residual_analysis": FilterSettings(cutoff_hz="residual_analysis"),
    "of the thesis": FilterSettings(cutoff_hz="residual_analysis_silva_2003"),
    "cross_validation": FilterSettings(method="spline", order=3, cutoff_hz="cross_validation"),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_the_pelvis_needs_lower_cutoffs_than_the_feet(recorded_walk_trial: Trial, choice: str) -> None:
    found = filter_choice(recorded_walk_trial, CHOICES[choice])

    def median(*names: str) -> float:
        return float(np.median(found.cutoff_hz[[found.markers.index(name) for name in names]]))

    feet = median("R.Heel", "L.Heel", "R.Toe", "L.Toe")
    assert 6.0 < median("R.ASIS", "L.ASIS", "R.PSIS", "L.PSIS") < 0.8 * feet
    assert median("R.Shoulder", "L.Shoulder") < 0.9 * feet
    assert feet < 30.0


def test_the_noise_is_that_of_a_modern_laboratory(recorded_walk_trial: Trial) -> None:
    noise = [filter_choice(recorded_walk_trial, options).noise for options in CHOICES.values()]
    medians = [np.median(each) for each in noise if each is not None]
    assert len(medians) == 3 and all(0.0001 < median < 0.0004 for median in medians)


def test_forces_go_between_the_slow_and_the_fast_markers(recorded_walk_trial: Trial) -> None:
    found: FilterChoice = filter_choice(recorded_walk_trial, FilterSettings(cutoff_hz="residual_analysis"))
    assert np.median(found.cutoff_hz) < found.force_cutoff_hz < found.cutoff_hz.max()

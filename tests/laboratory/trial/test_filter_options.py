"""The table [filter]: what may be asked for, and what does not go together."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_trial import write_trial

from musclesolve import read_trial
from musclesolve.errors import InputError
from musclesolve.laboratory.recording.trial_settings import FilterSettings

TABLE = "[filter]\ncutoff_hz = 6.0\n"

ASKED = {
    "": FilterSettings(),
    "cutoff_hz = 9": FilterSettings(cutoff_hz=9.0),
    "force_cutoff_hz = 20": FilterSettings(force_cutoff_hz=20.0),
    "order = 4\nunloaded_below_n = 5": FilterSettings(order=4, unloaded_below_n=5.0),
    'cutoff_hz = "residual_analysis"': FilterSettings(cutoff_hz="residual_analysis"),
    'cutoff_hz = "residual_analysis_silva_2003"': FilterSettings(cutoff_hz="residual_analysis_silva_2003"),
    'method = "spline"\norder = 3\ncutoff_hz = "cross_validation"': FilterSettings(
        method="spline", order=3, cutoff_hz="cross_validation"
    ),
}

REFUSED = {
    'cutoff_hz = "residual"': [
        "line 22, [filter] cutoff_hz",
        "'residual'",
        "did you mean 'residual_analysis'",
    ],
    "cutoff_hz = [6.0]": ["[filter] cutoff_hz", "a number or one of residual_analysis"],
    "cutoff_hz = inf": ["[filter] cutoff_hz", "finite"],
    "order = 2.5": ["[filter] order", "a whole number"],
    "order = 9": ["[filter] order", "at most 8"],
    "force_cutoff_hz = 100000": ["[filter] force_cutoff_hz", "forces recorded at"],
    "force_cutoff_hz = 0": ["[filter] force_cutoff_hz", "above 0"],
    "order = nan": ["[filter] order", "a whole number"],
    'method = "kalman"': ["[filter] method", "butterworth, spline"],
    'method = "spline"\norder = 4': ["[filter] order", "2 (cubic) or 3 (quintic)"],
    'cutoff_hz = "cross_validation"': ["[filter] cutoff_hz", 'method = "spline"'],
    'order = 1\ncutoff_hz = "residual_analysis"': ["[filter] order", "order 2 or higher"],
}


@pytest.mark.parametrize("text", ASKED)
def test_options_are_read(tmp_path: Path, text: str) -> None:
    trial = read_trial(write_trial(tmp_path, (TABLE, f"[filter]\n{text}\n")))
    assert trial.settings.filter == ASKED[text]
    assert trial.unloaded_below == trial.settings.filter.unloaded_below_n


@pytest.mark.parametrize("text", REFUSED)
def test_what_does_not_go_together_is_refused_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_trial(write_trial(tmp_path, (TABLE, f"[filter]\n{text}\n")))
    for part in REFUSED[text]:
        assert part in str(caught.value)

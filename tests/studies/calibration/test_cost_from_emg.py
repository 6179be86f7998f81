"""A cost fitted to the EMG of trials: the cost that made the EMG is found, and the command writes what it says."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from command_line import typed
from emg_stride import CHANNELS, DELAY, emg_stride
from recorded_data import REPOSITORY
from refusals import refused

import musclesolve as ms
from musclesolve.laboratory.forces import prepare_recording
from musclesolve.laboratory.recording.trial_settings import EmgSettings
from musclesolve.models.body_sharing import sharing_problem
from musclesolve.studies.calibration.cost_from_emg import _smoothing, emg_parts

EXAMPLE = REPOSITORY / "examples" / "own_recording" / "trial.toml"
COST = "activation_power(exponent=3)"


def other_file(trial, path):
    """The trial as if it had been read from another file."""
    document = copy(trial.document)
    document.path = path
    return replace(trial, document=document)


def made_by(cost: str, *, twice: bool = False):
    """The bundled stride with EMG of the activations under a cost; twice: one signal under two names."""
    stride = emg_stride()
    body = prepare_recording(stride.trial, side="r")
    activation = ms.solve(sharing_problem(body.parts[0], body.sharing), cost).activation
    columns = [[stride.muscles.index(name) for name in own] for own in CHANNELS.values()]
    emg = stride.trial.emg
    values = np.stack([activation[:, own].mean(axis=1) for own in columns], axis=1)
    changed = replace(emg, time=body.time - DELAY, values=values)
    if twice:
        changed = replace(
            changed,
            names=(*emg.names, "SOL2"),
            values=np.column_stack([values, values[:, 0]]),
            muscles=(*emg.muscles, ("tibialis_posterior_r",)),
            maximum=(*emg.maximum, 1.0),
        )
    return replace(stride.trial, emg=changed)


@pytest.fixture(scope="module")
def fit():
    return ms.studies.fit_cost([made_by(COST)], "activation_power", side="r")


def test_the_cost_that_made_the_emg_is_found(fit):
    """Within what the resampling of the envelopes at 50 Hz changes."""
    assert float(fit["value"].sel(parameter="exponent")) == pytest.approx(3.0, abs=0.05)
    assert fit.attrs["fitted_cost"].startswith("activation_power(exponent=")
    missed = fit["missed"].mean("channel")
    assert float(missed.sel(cost="fitted")) < 0.01 < float(missed.sel(cost="activation_power"))
    assert list(fit["channel"].values) == list(CHANNELS)
    shown = np.isfinite(fit["envelope"].values)
    np.testing.assert_array_equal(shown, np.isfinite(fit["fitted"].values))
    np.testing.assert_allclose(fit["fitted"].values[shown], fit["envelope"].values[shown], atol=0.03)


def test_channels_are_left_out_and_a_single_stride_is_not(fit):
    assert set(fit["kind"].values) == {"channel"}
    assert "No stride is left out" in fit.attrs["sentences"]
    assert float(fit["left_out_missed"].sel(cost="fitted").max()) < 0.05


def test_a_signal_under_two_names_is_one_channel_of_both_muscles():
    (part,) = emg_parts([made_by(COST, twice=True)], side="r")
    assert part.channels["SOL"] == ("soleus_r", "tibialis_posterior_r")
    assert "SOL2" not in part.channels and part.emg.shape == (len(part.time), len(CHANNELS))


def test_trials_without_a_maximum_have_gains_of_their_own():
    """An envelope over the largest of its own trial has another unit in every trial."""
    trial = made_by(COST)
    unknown = replace(trial, emg=replace(trial.emg, maximum=(None,) * len(CHANNELS)))
    two = [other_file(unknown, Path(f"/{folder}/trial.toml")) for folder in "ab"]
    names = [set(part.channels) for part in emg_parts(two, side="r")]
    assert "SOL in a/trial" in names[0] and "SOL in b/trial" in names[1]
    stated = [other_file(trial, Path(f"/{folder}/trial.toml")) for folder in "ab"]
    names = [set(part.channels) for part in emg_parts(stated, side="r")]
    assert names[0] == names[1] == set(CHANNELS)


def test_trials_that_cannot_be_fitted_are_refused():
    trial = made_by(COST)
    with refused("missing_key", "emg"):
        ms.studies.fit_cost([replace(trial, emg=None)])
    with refused("conflict", "rigid"):
        ms.studies.fit_cost([trial.with_settings(muscles={"tendon": "elastic"})], side="r")
    with refused("no_overlap", "emg.channels"):
        ms.studies.fit_cost(trial, side="l")
    with refused("duplicate_name", "twice"):
        ms.studies.fit_cost([trial, trial])
    for nothing in (None, [], 3, xr.Dataset({"joint_angle": ("time", [0.0])})):
        with refused("missing_argument", "no trial"):
            ms.studies.fit_cost(nothing)
    with refused("bad_number", "delay"):
        ms.studies.fit_cost([trial], delay=100.0)


def test_channels_that_are_not_used_are_named():
    """Else fewer channels, or none, would have no reason."""
    trial = made_by(COST)
    values = trial.emg.values.copy()
    values[:, 0] = np.nan
    name = trial.emg.names[0]
    lacking = replace(trial, emg=replace(trial.emg, values=values))
    fit = ms.studies.fit_cost(lacking, "activation_power", side="r")
    assert name not in fit["channel"].values
    assert f"Channels that are not used: {name} in " in fit.attrs["sentences"]
    none = replace(trial, emg=replace(trial.emg, values=np.full_like(values, np.nan)))
    with refused("no_overlap", f"not used: {name} in ", "never changes"):
        ms.studies.fit_cost(none, "activation_power", side="r")


def test_envelopes_of_raw_emg_are_compared_with_activation_that_is_as_smooth():
    time = np.arange(150) / 50.0
    weights = _smoothing(time, EmgSettings(processed=False, envelope_hz=6.0))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)
    slow, fast = (np.sin(2.0 * np.pi * rate * time) for rate in (1.0, 15.0))
    middle = slice(20, -20)
    assert np.abs(weights @ slow - slow)[middle].max() < 0.05 and np.abs(weights @ fast)[middle].max() < 0.1
    assert _smoothing(time, EmgSettings(processed=False, envelope_hz=30.0)) is None  # faster than the frames
    assert emg_parts([made_by(COST)], side="r")[0].smoothing is None  # envelopes of a file


def test_the_command_prints_and_writes_the_fit(tmp_path):
    words = ("fit-cost", str(EXAMPLE), "--side", "r", "--family", "activation_power")
    done = typed(*words, "-o", tmp_path / "fit", "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    (exponent,) = document["parameters"]
    assert exponent["name"] == "exponent" and f"{exponent['value']:.4g}" in document["fitted_cost"]
    assert {path.name for path in (tmp_path / "fit").iterdir()} == {
        "cost_fit.nc",
        "cost_fit.csv",
        "cost_fit.png",
    }
    table = pd.read_csv(tmp_path / "fit" / "cost_fit.csv")
    assert table["cost"][0] == "fitted" and "activation_power" in set(table["cost"])
    refusal = typed("fit-cost", str(EXAMPLE), "--family", "no_cost", "-o", tmp_path / "other")
    assert refusal.exit_code == 2 and "no_cost" in refusal.output
    assert not (tmp_path / "other").exists()

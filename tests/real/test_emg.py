"""EMG of the recorded walk: agreement of activation, tracking, and every study that starts from a trial."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import PolyCollection
from said import summary

import musclesolve as ms
from musclesolve.laboratory import Trial, average_cycles, cycles
from musclesolve.laboratory.plotting import activations
from musclesolve.laboratory.results.tables.comparison_tables import comparison_tables

MUSCLES = "silva_2003"
COST = "stress_cubed"


@pytest.fixture(scope="module")
def trial(recorded_walk_trial: Trial) -> Trial:
    return replace(
        recorded_walk_trial, settings=recorded_walk_trial.settings.changed(muscles=dict(database=MUSCLES))
    )


@pytest.fixture(scope="module")
def result(trial: Trial) -> xr.Dataset:
    return ms.run(trial, cost=COST)


@pytest.fixture(scope="module")
def tracked(trial: Trial) -> xr.Dataset:
    return ms.run(trial, cost="emg_tracking")


def test_agreement_is_that_of_an_independent_computation(result: xr.Dataset) -> None:
    """Published beside the data: median .69, mean .62, and these channels, of another implementation."""
    r = result.emg_correlation
    assert float(r.median()) == pytest.approx(0.69, abs=0.01)
    assert float(r.mean()) == pytest.approx(0.62, abs=0.01)
    for channel, expected in {"MH": 0.40, "BF": 0.00, "RF": 0.22}.items():
        assert float(r.sel(channel=channel)) == pytest.approx(expected, abs=0.015)
    assert ((result.emg_delay >= 0.0) & (result.emg_delay <= 0.08)).all()


def test_the_correlation_follows_from_the_variables_of_the_result(result: xr.Dataset) -> None:
    for channel in result.channel.values:
        one = result.sel(channel=channel)
        names = str(one.channel_muscles.values).split(", ")
        activation = result.activation.sel(muscle=names).mean("muscle").values
        r = np.corrcoef(activation, one.emg_delayed.values)[0, 1]
        assert r == pytest.approx(float(one.emg_correlation), abs=1e-9)
        at_once = np.corrcoef(activation, one.emg.values)[0, 1]
        assert at_once <= float(one.emg_correlation) + 1e-9


def test_emg_changes_no_result(trial: Trial, result: xr.Dataset) -> None:
    without = ms.run(replace(trial, emg=None), cost=COST)
    assert "emg" not in without and "channel" not in without.dims
    for name in ("activation", "muscle_force", "reserve_moment", "joint_reaction"):
        np.testing.assert_array_equal(without[name].values, result[name].values)


def test_tracking_agrees_better_and_leaves_the_other_leg_alone(
    trial: Trial, result: xr.Dataset, tracked: xr.Dataset
) -> None:
    assert float(tracked.emg_correlation_followed.mean()) > float(result.emg_correlation.mean()) + 0.05
    assert float(tracked.emg_correlation.mean()) < float(tracked.emg_correlation_followed.mean())
    squared = ms.run(trial, cost="activation_power", side="l")
    left = squared.muscle.values
    assert np.isnan(tracked.measured_activation.sel(muscle=left)).all()
    np.testing.assert_allclose(tracked.activation.sel(muscle=left), squared.activation, atol=1e-5)


def test_the_file_holds_all_of_it(result: xr.Dataset, tmp_path: Path) -> None:
    result.to_netcdf(tmp_path / "r.nc")
    again = ms.read_result(tmp_path / "r.nc")
    for name in ("emg", "emg_delayed", "emg_correlation", "emg_delay", "measured_activation"):
        np.testing.assert_array_equal(again[name].values, result[name].values)
        assert again[name].attrs["units"]
    assert list(again.channel_muscles.values) == list(result.channel_muscles.values)


def test_the_summary_names_every_channel(result: xr.Dataset, tracked: xr.Dataset) -> None:
    lines = summary(result).splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("EMG"))
    assert "median 0.69, mean 0.62" in lines[first]
    text = "\n".join(lines[first:])
    assert all(f"{channel} 0." in text for channel in result.channel.values)
    assert "no test" not in text
    assert "no test" in summary(tracked)


@pytest.mark.thorough
def test_the_figure_shows_the_envelope_behind_the_muscles_of_a_channel(result: xr.Dataset) -> None:
    figure = activations(result)
    shaded = {
        axes.get_title(loc="left"): any(isinstance(each, PolyCollection) for each in axes.collections)
        for axes in figure.axes
    }
    assert shaded["soleus"] and shaded["gluteus medius anterior"]
    assert not shaded["gracilis"]
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "r right 0.94" in notes
    assert any("the side and r" in text.get_text() for text in figure.texts)


def test_a_comparison_has_r_for_every_cost(trial: Trial, result: xr.Dataset, tracked: xr.Dataset) -> None:
    compared = ms.compare(trial, [COST, "emg_tracking"], side="r")
    np.testing.assert_allclose(compared.emg_correlation.sel(cost=COST), result.emg_correlation)
    np.testing.assert_allclose(compared.emg_correlation.sel(cost="emg_tracking"), tracked.emg_correlation)
    assert any("EMG" in heading for heading in comparison_tables(compared))


def test_gait_cycles_and_averages_keep_the_measured_activation(result: xr.Dataset) -> None:
    right = cycles(result, "r", partial=True, strides=True)
    averaged = average_cycles(right)
    assert np.isfinite(averaged.measured_activation.sel(muscle="soleus_r")).any()
    assert np.isnan(averaged.measured_activation.sel(muscle="gracilis_r")).all()


def test_the_problem_of_a_leg_can_be_solved_again(tracked: xr.Dataset) -> None:
    problem = ms.leg_problem(tracked, "r")
    solution = ms.solve(problem, "emg_tracking", on_infeasible="reserve")
    right = [name for name in tracked.muscle.values if name.endswith("_r")]
    np.testing.assert_allclose(solution.activation, tracked.activation.sel(muscle=right), atol=1e-5)


def test_uncertainty_of_tracked_activations(trial: Trial) -> None:
    """About the optimum of the nominal model; less uncertain than an optimum that no measured activation holds."""
    part = replace(trial, time_range=(1.0, 1.1))
    how = dict(samples=3, side="r", jobs=1, contributions=False)
    found, free = (ms.studies.uncertainty(part, cost=each, **how) for each in ("emg_tracking", COST))
    nominal = ms.run(part, cost="emg_tracking", side="r").activation.sel(muscle=found.muscle)
    np.testing.assert_allclose(found.activation, nominal, atol=1e-9)
    for each in (found, free):
        assert (each.activation_sd > 0.0).any("time").all() and (each.valid_samples == 3).all()
    assert found.activation_sd.mean() < 0.7 * free.activation_sd.mean()

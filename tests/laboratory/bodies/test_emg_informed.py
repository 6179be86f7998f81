"""EMG-informed sharing: what is followed, what is predicted, moments met, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import xarray as xr
from emg_stride import CHANNELS, emg_stride, without
from refusals import refused
from said import plausible, summary

import musclesolve as ms
from musclesolve.constants import USUAL_COST
from musclesolve.laboratory import Trial
from musclesolve.laboratory.bodies.emg_informed import MISFIT
from musclesolve.laboratory.results.facts import Facts
from musclesolve.sharing.cost import ActivationPower, EmgTracking, MinMax

FOLLOWED = tuple(name for own in CHANNELS.values() for name in own)


@cache
def result(weight: float | None) -> xr.Dataset:
    """The right leg at a weight; not to be changed."""
    return ms.run(emg_stride().trial, side="r", emg_weight=weight)


def elastic(trial: Trial) -> Trial:
    """The trial of some frames at push-off with elastic tendons."""
    return replace(
        trial, settings=trial.settings.changed(muscles=dict(tendon="elastic")), time_range=(0.7, 0.95)
    )


def rms(error: xr.DataArray | np.ndarray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(np.asarray(error)))))


def misfit(found: xr.Dataset) -> float:
    """Rms distance of the followed muscles from their envelopes."""
    return rms((found.activation - found.measured_activation).sel(muscle=list(FOLLOWED)))


def error(weight: float, names: tuple[str, ...] | None = None) -> float:
    """Rms error of activations, of all muscles unless some are named."""
    stride = emg_stride()
    columns = slice(None) if names is None else stride.numbers(names)
    return rms((result(weight).activation.values - stride.truth)[:, columns])


def test_known_co_contraction_is_recovered() -> None:
    """Followed muscles agree to a third, all muscles of the leg and those without EMG better than by effort alone."""
    assert error(0.0, FOLLOWED) > 0.1
    assert error(10.0, FOLLOWED) < 0.3 * error(0.0, FOLLOWED)
    assert error(10.0) < 0.85 * error(0.0)
    others = tuple(name for name in emg_stride().muscles if name not in FOLLOWED)
    assert error(10.0, others) < error(0.0, others)


def test_without_weight_it_is_the_effort_alone() -> None:
    plain = ms.run(replace(emg_stride().trial, emg=None), side="r")
    for found in (result(0.0), result(None)):
        np.testing.assert_array_equal(found.activation, plain.activation)
        assert "emg_predicted" not in found and "emg_weight" not in found.attrs
    np.testing.assert_allclose(result(1e-7).activation, plain.activation, atol=1e-5)


@pytest.mark.parametrize("weight", [0.1, 1.0, 10.0, 1000.0])
def test_moments_are_met_and_certified_whatever_the_weight(weight: float) -> None:
    found = result(weight)
    produced = (found.moment_arm * found.muscle_force).sum("muscle")
    shared = list(found.attrs["shared_dofs"])
    np.testing.assert_allclose(produced.sel(dof=shared), found.joint_moment.sel(dof=shared), atol=1e-6)
    assert found.valid.all() and float(found.gap.max()) <= 1e-9
    assert float(np.abs(found.reserve_moment).max()) == 0.0


def test_emg_is_followed_the_nearer_the_larger_the_weight() -> None:
    distance = [misfit(result(weight)) for weight in (0.0, 0.1, 1.0, 10.0, 1e4)]
    assert distance == sorted(distance, reverse=True) and distance[-1] < 1e-3


def test_emg_tracking_is_the_case_with_the_squared_activation_of_the_others() -> None:
    problem = ms.leg_problem(result(0.0), "r")
    far = ActivationPower() + 1e5 * MISFIT  # the effort of what is followed is nothing beside the misfit
    tracked = ms.solve(problem, EmgTracking(unmeasured_weight=1e-5))
    np.testing.assert_allclose(ms.solve(problem, far).activation, tracked.activation, atol=1e-4)
    at = np.full_like(problem.force_capacity, 0.3)
    measured = ~np.isnan(problem.emg)
    others = np.where(measured, 0.0, np.square(at)).sum(axis=1)
    np.testing.assert_allclose(EmgTracking().value(problem, at), MISFIT.value(problem, at) + others)


def test_a_channel_is_predicted_as_if_it_had_not_been_recorded() -> None:
    found, trial = result(1.0), emg_stride().trial
    for channel in ("GAS", "TA"):
        alone = ms.run(without(trial, channel), side="r", emg_weight=1.0)
        mean = alone.activation.sel(muscle=list(CHANNELS[channel])).mean("muscle")
        np.testing.assert_allclose(found.emg_predicted.sel(channel=channel), mean, atol=1e-9)
    gained = found.emg_correlation_followed - found.emg_correlation
    assert gained.mean() > 0.2 and (gained > -0.03).all()


def test_what_is_followed_is_no_test_and_the_result_says_so() -> None:
    found = result(1.0)
    facts = Facts(found)
    assert facts.follows_emg and facts.predicts_emg
    known = found.emg_correlation.values
    assert facts.median_and_mean_correlation[0] == pytest.approx(np.median(known))
    (judged,) = [each for each in plausible(found).comparisons if each.criterion == "emg"]
    assert judged.value == pytest.approx(np.median(known))
    text = summary(found)
    assert "while it alone is not followed" in text and "no test" in text
    assert found.attrs["emg_weight"] == 1.0 and "+ emg_tracking" in found.attrs["cost"]
    notes = "\n".join(found.attrs["notes"])
    assert "EMG: 9 of 43 muscles (right) are followed" in notes and "iliacus" in notes
    assert "soleus" not in notes.partition("Not measured")[2].partition(".")[0]


def test_a_maximum_that_was_not_measured_is_said() -> None:
    trial = emg_stride().trial
    assert not any("maximum voluntary" in note for note in result(1.0).attrs["notes"])
    guessed = replace(trial, emg=replace(trial.emg, maximum=(None,) + (1.0,) * 7))
    found = ms.run(guessed, side="r", emg_weight=1.0)
    (note,) = [note for note in found.attrs["notes"] if "maximum voluntary" in note]
    assert note.startswith("EMG channel SOL: ")


def test_an_envelope_above_one_is_followed_to_one_and_said() -> None:
    trial = emg_stride().trial
    large = replace(trial, emg=replace(trial.emg, maximum=(0.4,) + (1.0,) * 7))
    found = ms.run(large, side="r", emg_weight=10.0)
    assert float(found.measured_activation.sel(muscle="soleus_r").max()) > 1.0
    assert float(found.activation.max()) <= 1.0 + 1e-9 and found.valid.all()
    (note,) = [note for note in found.attrs["notes"] if "above 1" in note]
    assert "channel SOL" in note


@pytest.mark.thorough
def test_elastic_tendons_follow_too() -> None:
    trial = elastic(emg_stride().trial)
    plain, informed = (ms.run(trial, side="r", emg_weight=weight) for weight in (0.0, 3.0))
    assert informed.valid.all() and informed.attrs["solver"] == "structured"
    assert misfit(informed) < 0.7 * misfit(plain)
    produced = (informed.moment_arm * informed.muscle_force).sum("muscle")
    shared = list(informed.attrs["shared_dofs"])
    np.testing.assert_allclose(produced.sel(dof=shared), informed.joint_moment.sel(dof=shared), atol=1e-3)
    assert np.isfinite(informed.emg_predicted).all()


def test_a_comparison_informs_every_cost() -> None:
    trial = emg_stride().trial.with_settings(emg={"weight": 2.0})
    found = ms.compare(trial, ["joint_weighted_activation", "activation_power"], side="r")
    assert [str(name).partition(" + ")[0] for name in found.cost.values] == [
        "joint_weighted_activation",
        "activation_power",
    ]
    alone = ms.run(trial, cost="activation_power", side="r")
    np.testing.assert_array_equal(found.activation[1], alone.activation)
    np.testing.assert_array_equal(found.emg_correlation[1], alone.emg_correlation)


def test_a_comparison_of_a_cost_that_follows_with_one_that_does_not() -> None:
    found = ms.compare(emg_stride().trial, ["activation_power", "emg_tracking"], side="r")
    assert np.isnan(found.emg_predicted[0]).all() and np.isfinite(found.emg_predicted[1]).all()


def test_what_cannot_be_followed_is_refused() -> None:
    trial = emg_stride().trial
    with refused("missing_key", "[emg]", "weight of 2"):
        ms.run(replace(trial, emg=None), emg_weight=2.0)
    with refused("bad_number", "emg_weight"):
        ms.run(trial, emg_weight=-1.0)
    with refused("conflict", "[emg] weight", "emg_tracking"):
        ms.run(trial, cost="emg_tracking", emg_weight=1.0)
    with refused("bad_cost", "[emg] weight", "min_max"):
        ms.run(trial, cost=MinMax(), emg_weight=1.0)
    with refused("bad_number", "unmeasured_weight"):
        EmgTracking(unmeasured_weight=-1.0)
    assert ms.run(replace(trial, emg=None), side="r", emg_weight=0.0).valid.all()


def test_an_effort_of_newtons_takes_a_weight_of_its_own_unit() -> None:
    found = ms.run(emg_stride().trial, cost="force_squared", side="r", emg_weight=1e7)
    assert misfit(found) < 0.2 * misfit(result(0.0))
    assert USUAL_COST in result(1.0).attrs["cost"]

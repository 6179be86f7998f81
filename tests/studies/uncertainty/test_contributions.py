"""Contributions of the sources: exact derivatives against single perturbations and against the samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from replays import NO_ERRORS, replay_of

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.results.facts import uncertain_peak
from musclesolve.laboratory.trial.dependent_settings import error_keys
from musclesolve.studies.uncertainty.contributions import DIFFERENCE_STEP, Linear, Task
from musclesolve.studies.uncertainty.replay import MUSCLE_WEIGHT, sources


@pytest.fixture(scope="module")
def trial() -> Trial:
    return replace(read_trial(reference_stride()), time_range=(0.5, 0.75))


@pytest.fixture(scope="module")
def linear(trial: Trial) -> Linear:
    return Linear(replay_of(prepare(trial, side="r"), stated=trial.settings.uncertainty.stated))


@pytest.mark.parametrize("source", ["optimal_fiber_length", "tendon_slack_length", "max_isometric_force"])
def test_one_difference_serves_all_muscles(linear: Linear, source: str) -> None:
    shape = linear.replay.parameters.shapes[source]
    together = linear.squares(Task(source, (), 0))
    response, still = (
        linear.responses[0],
        linear.replay.parameters.errors(np.zeros(linear.replay.parameters.count)),
    )
    summed = np.zeros_like(together["muscle_force"])
    for muscle in range(*shape):
        error = np.zeros(shape)
        error[muscle] = DIFFERENCE_STEP * linear.replay.parameters.sd[source]
        force, _ = response.to_one(linear._problem(linear._body, still | {source: error}, 0), DIFFERENCE_STEP)
        summed += force**2
    assert summed == pytest.approx(together["muscle_force"], rel=1e-6, abs=1e-6)


def test_weights_of_muscles_move_forces_as_solutions_with_other_weights_do(linear: Linear) -> None:
    together, step = linear.squares(Task(MUSCLE_WEIGHT, (), 0)), 0.01
    summed = {name: np.zeros_like(together[name]) for name in ("muscle_force", "contact_force")}
    for muscle in range(*linear.replay.parameters.shapes[MUSCLE_WEIGHT]):
        ends = (linear._shared(linear._one_step(MUSCLE_WEIGHT, (muscle,), end), 0) for end in (-step, step))
        for name, before, after in zip(summed, *ends, strict=True):
            summed[name] += ((after - before) / (2.0 * step)) ** 2
    unique = linear.unique[:, 0]
    assert unique.sum() > 10
    for name, squares in summed.items():
        off = np.abs(np.sqrt(together[name]) - np.sqrt(squares))[unique]
        assert np.median(off) < 1e-3 and np.median(np.sqrt(squares)) > 1.0, name


@pytest.mark.parametrize("source", ["optimal_fiber_length", "max_isometric_force"])
def test_they_are_those_of_the_muscles_differentiated_exactly(trial: Trial, source: str) -> None:
    short = replace(trial, time_range=(0.55, 0.7))
    found = ms.studies.uncertainty(short, 2, sd=NO_ERRORS | {source: 0.02}, side="r", jobs=1)
    exact = ms.studies.force_sensitivity(short, side="r")[f"by_{source}"].sel(side="r").values
    unique = found["first_order_unique"].values[:, 0]
    assert unique.sum() > 5
    expected = 0.02 * np.sqrt((exact**2).sum(axis=2))[unique]
    # Differences of a hundredth of a standard deviation bend by a ten-thousandth of what they are.
    assert found["muscle_force_first_order_sd"].values[unique] == pytest.approx(expected, rel=3e-3, abs=0.02)


@pytest.mark.thorough
def test_the_samples_spread_as_the_first_order_says_where_errors_are_small(trial: Trial) -> None:
    known = [source for source in sources().values() if source.key in error_keys("recording")]
    small = {source.key: 0.01 * source.sd for source in known} | {
        "soft_tissue_mm": 0.0,
        "muscle_path_mm": 0.0,
    }
    short = replace(trial, time_range=(0.5, 0.6))
    found = ms.studies.uncertainty(short, 24, seed=1, sd=small, side="r", jobs=1)
    for name in ("muscle_force", "contact_force", "joint_moment"):
        drawn, predicted = found[f"{name}_sd"] ** 2, found[f"{name}_first_order_sd"] ** 2
        last = predicted.dims[-1]
        ratio = np.sqrt(drawn.sum(last) / predicted.sum(last)).values
        # 24 samples know a standard deviation to 14 %; in a frame its many sources share that.
        assert np.median(ratio) == pytest.approx(1.0, abs=0.15), name
        assert (np.abs(ratio - 1.0) < 0.4).mean() > 0.95, name
        shares = found[f"{name}_contribution"].sum("source")
        assert shares.where(predicted > 0.0).max() == pytest.approx(1.0)
    assert found["first_order_unique"].mean() > 0.8
    at = uncertain_peak(found, "contact_force", "knee_r")
    assert at.value == found["contact_force_peak"].sel(joint="knee_r")
    assert float(at.shares.sum()) == pytest.approx(1.0)


def test_a_center_of_pressure_moves_the_ankle_by_its_lever(trial: Trial) -> None:
    found = ms.studies.uncertainty(trial, 2, sd=NO_ERRORS | {"center_of_pressure_mm": 5.0}, side="r", jobs=1)
    replay = replay_of(prepare(trial, side="r"), stated=trial.settings.uncertainty.stated)
    body = replay.body(replay.parameters.errors(np.zeros(replay.parameters.count)))
    axis = body.model.tree.axes(body.motion.q)[:, body.model.dof("ankle_dorsiflexion_r")]
    force = next(wrench.force for wrench in body.wrenches if wrench.body == "foot_r")
    levers = [np.einsum("tx,tx->t", axis, np.cross(unit, force)) for unit in np.eye(3)[:2]]
    expected = 0.005 * np.hypot(*levers)
    ankle = found["joint_moment_first_order_sd"].sel(dof="ankle_dorsiflexion_r").values
    assert ankle == pytest.approx(expected, abs=1e-7)
    assert set(found["joint_moment_contribution"].sum(("time", "dof")).values > 0.0) == {True, False}
    only = found["joint_moment_contribution"].sel(source="center_of_pressure", dof="ankle_dorsiflexion_r")
    assert only.where(ankle > 0.0).min() == 1.0


@pytest.mark.thorough
def test_a_cost_without_derivatives_has_no_contributions_and_says_so(trial: Trial) -> None:
    short = replace(trial, time_range=(0.6, 0.8))
    found = ms.studies.uncertainty(short, 2, cost="min_max", solver="linprog", side="r", jobs=1)
    assert "muscle_force_contribution" not in found
    assert "min_max" in found.attrs["without_contributions"]
    left_out = ms.studies.uncertainty(short, 2, contributions=False, side="r", jobs=1)
    assert left_out.attrs["without_contributions"] == "not requested"


def test_a_misspelt_keyword_names_the_public_function(trial: Trial) -> None:
    with pytest.raises(TypeError, match=r"uncertainty\(\).*'job'; did you mean 'jobs'"):
        ms.studies.uncertainty(trial, 2, job=1)  # type: ignore[call-arg]

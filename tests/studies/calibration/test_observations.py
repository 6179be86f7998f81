"""Measured curves beside those of the muscles: how many samples count, the shape of EMG, derivatives by differences."""

from __future__ import annotations

import numpy as np
import pytest
from known_person import HEADS, known_trials
from thorough import some

from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.motion.signals.emg_envelope import shaped
from musclesolve.studies.calibration.calibration_problem import CalibrationProblem
from musclesolve.studies.calibration.free_parameters import Measured, free_factors
from musclesolve.studies.calibration.observations import TrialMuscles, correlated_samples

PERSON = (("optimal_fiber_length", HEADS, 1.1), ("tendon_slack_length", HEADS, 0.98))


@pytest.mark.parametrize("alike", [1, 4, 10])
def test_running_mean_over_some_samples_counts_them_as_one(alike):
    random = np.random.default_rng(alike)
    noise = [np.convolve(random.standard_normal(20_000), np.ones(alike) / alike, "valid") for _ in range(2)]
    assert correlated_samples(noise) == pytest.approx(alike, rel=0.25)


def test_constant_error_counts_once():
    assert correlated_samples([np.full(50, 0.3)]) == pytest.approx(50.0, rel=0.1)


def test_alternating_error_counts_every_sample():
    assert correlated_samples([np.resize([1.0, -1.0], 50)]) == 1.0


def test_shape_of_emg_is_a_straight_line_at_zero_and_concave_below():
    envelope = np.linspace(0.0, 1.0, 11)
    assert shaped(envelope, 0.0) == pytest.approx(envelope)
    assert shaped(envelope, 1e-6) == pytest.approx(envelope, abs=1e-6)
    bent = shaped(envelope, -2.0)
    assert bent[[0, -1]] == pytest.approx([0.0, 1.0])
    assert (bent[1:-1] > envelope[1:-1]).all()


@pytest.mark.parametrize("tendon", ["rigid", pytest.param("elastic", marks=pytest.mark.thorough)])
def test_derivatives_of_every_observation_are_its_differences(tendon):
    trials = known_trials(tendon, PERSON)
    bodies = [prepare(trial, side="r") for trial in trials]
    together = [TrialMuscles(str(number), body) for number, body in enumerate(bodies)]
    free = {
        "strength": ["triceps_surae"],
        "optimal_fiber_length": ["gastrocnemius"],
        "tendon_slack_length": ["soleus"],
    } | ({"tendon_strain": ["achilles"]} if tendon == "elastic" else {})
    muscles = together[0].muscles
    factors = free_factors(muscles, Measured((), (), (), elastic=tendon == "elastic"), free)
    problem = CalibrationProblem(together, factors, ("emg_delay", "emg_shape"))
    theta = problem.parent
    theta[-2:] = 0.02, -0.5
    middle = problem.observed(theta, problem.every)
    assert {each.kind for each in middle} >= {"EMG", "fascicle length"}
    step = 1e-4
    for place in some(range(len(theta)), 2):
        ends = []
        for sign in (-1.0, 1.0):
            problem.observed(theta, problem.every)  # back on the branch of the middle
            moved = theta.copy()
            moved[place] += sign * step
            ends.append({each.key: each for each in problem.observed(moved, problem.every)})
        for each in middle:
            low, high = (end[each.key] for end in ends)
            there = np.isin(each.time, low.time) & np.isin(each.time, high.time)
            after, before = (end.residual[np.isin(end.time, each.time[there])] for end in (high, low))
            difference = (after - before) / (2.0 * step)
            exact = each.jacobian[there, place]
            size = np.abs(exact).max()
            # kinks where a muscle begins to work, and corners of the straight lines between samples of an envelope
            off = np.abs(difference - exact) > 0.02 * size + 1e-4
            assert off.mean() < 0.15, (each.key, problem.names[place])

"""Moments of inverse dynamics with the loads on a wrong body, with wrong horizontal forces or at wrong points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from measured_model import measured_model
from model_faults import Trial, load_trials
from recorded_data import recorded

from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.models.opensim import inverse_dynamics
from musclesolve.models.opensim.external_loads import ExternalLoad
from musclesolve.models.opensim.load_dynamics import whole_motion
from musclesolve.tables import Table

Change = Callable[[ExternalLoad], ExternalLoad]


@pytest.fixture(scope="module")
def trials() -> dict[str, Trial]:
    return load_trials(recorded("instrumented_knee").parent)


@pytest.fixture(scope="module")
def trial(trials: dict[str, Trial]) -> Trial:
    return trials["overground"]


def codes_of(trial: Trial, change: Change, first: float = 0.1, last: float = 2.3) -> set[str]:
    """The findings on the motion with the moments that its loads give after a change, between two times [s]."""
    body, loads = trial.body(), [change(load) for load in trial.loads]
    inside = (body.motion.time > first) & (body.motion.time < last)
    found = inverse_dynamics(trial.model, whole_motion(trial.model, body.motion.frames(inside)), loads)
    turns = [trial.model.coordinates[name].rotational for name in found.coordinates]
    names = tuple(
        f"{name}_{'moment' if turn else 'force'}" for name, turn in zip(found.coordinates, turns, strict=True)
    )
    moments = Table(found.time, names, np.asarray(found.force), False, Path())
    return {
        each.code
        for each in findings_of_body(measured_model(trial.model, trial.coordinates, moments).measured)
    }


def other_foot(load: ExternalLoad) -> ExternalLoad:
    return replace(load, body={"calcn_r": "calcn_l", "calcn_l": "calcn_r"}[load.body])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (other_foot, "load_body"),
        (lambda load: replace(load, body="calcn_r"), "load_body"),
        (lambda load: replace(load, body="pelvis"), "load_body"),
        (lambda load: replace(load, force=load.force * [-1.0, 1.0, 1.0]), "plate_axes"),
        (lambda load: replace(load, force=load.force * [0.0, 1.0, 0.0]), "plate_axes"),
        (lambda load: replace(load, point=load.point + np.array([0.06, 0.0, 0.0])), "pressure_offset"),
        (lambda load: replace(load, time=load.time + 0.05), "time_offset"),
    ],
)
def test_wrong_loads_are_named_in_the_moments_that_they_gave(trial: Trial, change: Change, code: str) -> None:
    found = codes_of(trial, change)
    assert code in found and not {"moment_units", "another_trial"} & found
    assert not {"load_body", "plate_axes", "pressure_offset", "time_offset"} & codes_of(
        trial, lambda load: load
    )


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda load: replace(load, force=load.force * [-1.0, 1.0, 1.0]), "plate_axes"),
        (lambda load: replace(load, force=load.force * [0.0, 1.0, 0.0]), "plate_channel"),
        (lambda load: replace(load, point=load.point + np.array([0.06, 0.0, 0.0])), "pressure_offset"),
    ],
)
def test_moments_of_this_motion_with_wrong_loads_are_of_no_other_one(
    trials: dict[str, Trial], change: Change, code: str
) -> None:
    found = codes_of(trials["knee"], change, -1.0)
    assert code in found and not {"another_trial", "plate_scale"} & found


def test_a_step_that_accelerations_cut_has_no_shorter_way(trials: dict[str, Trial]) -> None:
    assert "pressure_way" not in codes_of(trials["service"], lambda load: load, -1.0)


def test_a_load_on_the_pelvis_is_the_only_cause_of_a_root_that_carries(trials: dict[str, Trial]) -> None:
    found = codes_of(trials["service"], lambda load: replace(load, body="pelvis"), -1.0)
    assert "load_body" in found and "root_carries" not in found

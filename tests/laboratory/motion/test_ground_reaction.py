from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from synthetic_trial import forces, write_trial

from musclesolve import read_trial
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve.laboratory import PlateForce, Trial
from musclesolve.laboratory.forces import ground_reactions
from musclesolve.laboratory.motion.ground_reaction import wrench_at_origin
from musclesolve.laboratory.motion.signals.filter_choice import filter_choice


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return read_trial(write_trial(tmp_path_factory.mktemp("trial")))


def plate(force: np.ndarray, point: np.ndarray, moment: np.ndarray) -> PlateForce:
    return PlateForce("r", np.arange(len(force)) / 1000.0, force, point, moment, Path("forces.mot"))


def test_the_moment_is_the_lever_of_the_point_and_the_free_moment() -> None:
    rng = np.random.default_rng(11)
    force, point, moment = rng.normal(size=(3, 50, 3))
    force[:, 2] = 500.0
    wrench = wrench_at_origin(plate(force, point, moment), 20.0)
    np.testing.assert_array_equal(wrench[:, :3], force)
    np.testing.assert_allclose(wrench[:, 3:], np.cross(point, force) + moment, atol=1e-12)
    # By hand: 100 N up at (2, 3, 0) m gives 300 N m about x and -200 N m about y.
    one = plate(np.array([[0.0, 0.0, 100.0]]), np.array([[2.0, 3.0, 0.0]]), np.array([[0.0, 0.0, 5.0]]))
    np.testing.assert_allclose(wrench_at_origin(one, 20.0), [[0.0, 0.0, 100.0, 300.0, -200.0, 5.0]])


@pytest.mark.parametrize("nonsense", [np.nan, 4e8])
@pytest.mark.parametrize("threshold", [0.0, 20.0])
def test_an_unloaded_plate_gives_nothing_whatever_its_point_says(nonsense: float, threshold: float) -> None:
    force = np.zeros((5, 3))
    point = np.full((5, 3), nonsense)
    np.testing.assert_array_equal(wrench_at_origin(plate(force, point, point), threshold), 0.0)


def test_the_center_of_pressure_is_recovered_at_the_height_of_the_plate() -> None:
    rng = np.random.default_rng(12)
    force = rng.normal(size=(40, 3)) * 50.0 + [0.0, 0.0, 600.0]
    point = rng.normal(size=(40, 3))
    point[:, 2] = 0.03
    free = np.stack([np.zeros(40), np.zeros(40), rng.normal(size=40)], axis=1)
    moment = np.cross(point, force) + free
    np.testing.assert_allclose(center_of_pressure(force, moment, 0.03), point, atol=1e-12)


def test_there_is_no_center_of_pressure_below_20_newton() -> None:
    force = np.array([[0.0, 0.0, 19.9], [0.0, 0.0, 20.1], [0.0, 0.0, 0.0]])
    found = center_of_pressure(force, np.ones((3, 3)))
    np.testing.assert_array_equal(np.isnan(found).all(axis=1), [True, False, True])


def test_reactions_are_those_of_the_files_in_the_global_frame(trial: Trial) -> None:
    time = trial.markers.time[trial.frames()]
    expected = forces(time)
    for found in ground_reactions(trial.forces, time, filter_choice(trial, trial.settings.filter)):
        force, point, free = (expected[f"{found.side}_{part}"] for part in "vpm")
        np.testing.assert_allclose(found.force, force, atol=0.02)
        np.testing.assert_allclose(found.moment, np.cross(point, force) + free, atol=0.02)
        np.testing.assert_allclose(found.center_of_pressure, point, atol=1e-3)


def test_two_plates_under_one_foot_are_added(trial: Trial) -> None:
    time = trial.markers.time[trial.frames()]
    right = ground_reactions(trial.forces, time, filter_choice(trial, trial.settings.filter))[0]
    halves = tuple(
        replace(p, force=0.5 * p.force, moment=0.5 * p.moment) for p in trial.forces if p.side == "r"
    )
    (found,) = ground_reactions(halves * 2, time, filter_choice(trial, trial.settings.filter))
    np.testing.assert_allclose(found.force, right.force, atol=1e-9)
    np.testing.assert_allclose(found.moment, right.moment, atol=1e-9)


def test_a_change_of_time_step_does_not_matter(trial: Trial) -> None:
    coarse = tuple(
        replace(p, time=p.time[::7], force=p.force[::7], point=p.point[::7], moment=p.moment[::7])
        for p in trial.forces
    )
    time = trial.markers.time[trial.frames()]
    fine = ground_reactions(trial.forces, time, filter_choice(trial, trial.settings.filter))[1]
    np.testing.assert_allclose(
        ground_reactions(coarse, time, filter_choice(trial, trial.settings.filter))[1].force,
        fine.force,
        atol=0.05,
    )

"""Designed samples: orthogonal columns, and the spread that a linear quantity has."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from replays import NO_ERRORS, replay_of
from said import of_uncertain

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.results.facts import UncertaintyFacts
from musclesolve.studies.uncertainty.contributions import FEW_DIRECTIONS, Linear
from musclesolve.studies.uncertainty.monte_carlo import RUNS, designed_numbers


@pytest.fixture(scope="module")
def trial() -> Trial:
    return replace(read_trial(reference_stride()), time_range=(0.55, 0.75))


@pytest.fixture(scope="module")
def replay(trial: Trial):
    return replay_of(prepare(trial))


def test_columns_of_parameters_that_meet_are_orthogonal(replay) -> None:
    numbers = designed_numbers(replay, 3)
    assert numbers.shape == (RUNS, replay.parameters.count)
    assert numbers.mean(axis=0) == pytest.approx(np.zeros(replay.parameters.count), abs=1e-12)
    assert (numbers**2).mean(axis=0) == pytest.approx(np.ones(replay.parameters.count))
    split = replay.parameters.errors(numbers[0]).keys()
    ends = np.cumsum([prod(replay.parameters.shapes[name]) for name in split])
    of_source = dict(zip(split, np.split(numbers, ends[:-1], axis=1), strict=True))

    def overlap(columns: np.ndarray) -> float:
        return float(np.abs(columns.T @ columns / RUNS - np.eye(columns.shape[1])).max())

    for muscles in replay.layout.muscles:
        assert overlap(of_source["max_isometric_force"][:, muscles]) < 1e-12
    few = [name for name, shape in replay.parameters.shapes.items() if prod(shape) <= 6]
    together = np.concatenate([of_source[name] for name in few], axis=1)
    assert together.shape[1] > 10 and overlap(together) < 1e-12
    # each is as normal as 64 numbers are
    assert np.abs(numbers).max() > 2.5
    assert (np.abs(numbers) < 1.0).mean() == pytest.approx(0.683, abs=0.01)


def test_the_seed_decides(replay) -> None:
    assert np.array_equal(designed_numbers(replay, 1), designed_numbers(replay, 1))
    assert not np.array_equal(designed_numbers(replay, 1), designed_numbers(replay, 2))


@pytest.mark.thorough
def test_moments_spread_as_the_first_order_says(trial: Trial) -> None:
    """They are linear in small errors of plates and hip centers, whose columns are orthogonal."""
    sd = NO_ERRORS | {"center_of_pressure_mm": 1.0, "hip_center_mm": 1.0}
    found = ms.studies.uncertainty(trial, "fast", sd=sd, side="r")
    assert (found.attrs["samples"], found.attrs["sampling"]) == (RUNS, "designed")
    spread, first = (found[f"joint_moment_{each}"].values for each in ("sd", "first_order_sd"))
    known = first > 0.05 * first.max()
    # 64 squares over 63, and what bends
    assert spread[known] == pytest.approx(np.sqrt(RUNS / (RUNS - 1)) * first[known], rel=0.01)


def test_directions_hold_every_parameter_once(replay) -> None:
    linear = Linear(replay)
    for source, parts in (("soft_tissue", [None]), ("muscle_path", [0, 1])):
        shape, seen = replay.parameters.shapes[source], np.zeros(replay.parameters.shapes[source])
        tasks = [task for task in linear.tasks(few=True) if task.source == source]
        assert len(tasks) <= FEW_DIRECTIONS and {task.part for task in tasks} == set(parts)
        for task in tasks:
            assert task.sign is not None and set(np.abs(task.sign)) == {1.0}
            np.add.at(seen, task.number, 1.0)
        assert seen.shape == shape and (seen == 1.0).all()
    assert len(linear.tasks()) > 3 * len(linear.tasks(few=True))


@pytest.mark.thorough
def test_it_says_where_the_first_order_holds(trial: Trial) -> None:
    found = ms.studies.uncertainty(
        trial, "fast", sd=NO_ERRORS | {"strength": 0.05, "hip_center_mm": 2.0}, side="r"
    )
    shares = UncertaintyFacts(found).first_order_shares
    assert set(shares) == {"muscle_force", "contact_force"} and all(
        0.5 < each <= 1.0 for each in shares.values()
    )
    said = " ".join(each.sentence for each in of_uncertain(found))
    assert f"{RUNS} designed samples" in said and "by few directions" in said
    assert f"{100.0 * shares['muscle_force']:.0f} % of the muscle forces" in said
    doubled = found.assign(muscle_force_sd=2.0 * found["muscle_force_sd"])
    assert UncertaintyFacts(doubled).first_order_shares["muscle_force"] < 0.1

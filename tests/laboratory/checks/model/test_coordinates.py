"""A leap of a coordinate is named with its column, time and newton meters; steps count, noise and constants do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from measured_model import measured_model
from recorded_data import recorded

from musclesolve.laboratory.checks.model.coordinates import beside_cubic, leaps, leaps_of_coordinates
from musclesolve.laboratory.results.finding import Finding
from musclesolve.tables.opensim_text import read_mot
from musclesolve.tables.sampled import Table

ROW = 60


def walk() -> Table:
    return read_mot(recorded("rajagopal_walk") / "reference" / "opensim_ik.mot")


def found_in(coordinates: Table) -> list[Finding]:
    folder = recorded("rajagopal_walk") / "reference"
    model = folder / "rajagopal_lai_uhlrich_2023_scaled.osim"
    return list(leaps_of_coordinates(measured_model(model, coordinates, folder / "opensim_id.sto")))


def test_a_sound_walk_does_not_leap() -> None:
    assert found_in(walk()) == []


@pytest.mark.parametrize(
    ("name", "size", "severity"), [("hip_adduction_r", 95.0, "error"), ("ankle_angle_r", 15.0, "warning")]
)
def test_a_leap_in_one_frame_is_an_error_by_the_moment_that_it_changes(
    name: str, size: float, severity: str
) -> None:
    table = walk()
    values = table.values.copy()
    values[ROW, table.names.index(name)] += size
    (leap,) = found_in(replace(table, values=values))
    assert leap.code == "single_leap" and leap.severity == severity and leap.where.file == table.path
    assert leap.where.times == ((table.time[ROW],) * 2,)
    assert (
        f"{name} is {values[ROW, table.names.index(name)]:.4g} degrees at {table.time[ROW]:.4g} s"
        in leap.what
    )
    assert leap.cost is not None and leap.cost.unit == "N m"


def test_a_wrong_row_is_one_finding() -> None:
    """All columns leap in it, but those that follow from the knee, which are not read."""
    table = walk()
    values = table.values.copy()
    values[ROW] += 40.0
    (leap,) = found_in(replace(table, values=values))
    assert " leap, too" in leap.what and "beta" not in leap.what


def test_r_of_a_leap_is_its_size_and_of_a_step_half_of_it() -> None:
    time = np.linspace(0.0, 2.0, 101)
    smooth = 0.5 * np.sin(2.0 * np.pi * time)
    leap, step = np.zeros(101), (np.arange(101) >= 50).astype(float)
    leap[50] = 1.0
    np.testing.assert_allclose(beside_cubic(np.stack([leap, step], axis=1))[50], [1.0, 0.5], atol=1e-12)
    noise = np.random.default_rng(0).normal(0.0, 0.03, 101)
    columns = np.stack([smooth, smooth + leap, smooth + step, smooth + noise, 0.0 * time], axis=1)
    assert leaps(columns, np.full(5, 0.03)).any(axis=0).tolist() == [False, True, True, False, False]

"""A leap in one frame is named with its column and time, first and alone; steps and noise are no leaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from measured_model import measured_model
from recorded_data import recorded

import musclesolve as ms
from musclesolve.laboratory.checks.model.coordinates import single_leaps
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.tables import Table, read_mot

ROW = 60


@cache
def walk():
    folder: Path = recorded("rajagopal_walk") / "reference"
    model = ms.read_osim(folder / "rajagopal_lai_uhlrich_2023_scaled.osim")
    return model, read_mot(folder / "opensim_ik.mot"), read_mot(folder / "opensim_id.sto")


def with_leap(table: Table, name: str, size: float) -> Table:
    values = table.values.copy()
    values[ROW, table.names.index(name)] += size
    return replace(table, values=values)


def findings(coordinates: Table, moments: Table):
    return findings_of_body(measured_model(walk()[0], coordinates, moments))


@pytest.mark.parametrize(
    ("name", "size"), [("hip_adduction_r", 295.0), ("knee_angle_r", 30.0), ("knee_angle_r_moment", 300.0)]
)
def test_a_leap_in_one_frame_is_the_only_new_finding(name: str, size: float) -> None:
    _, coordinates, moments = walk()
    sound = {each.code for each in findings(coordinates, moments)}
    of_moments = name.endswith("_moment")
    wrong = with_leap(moments if of_moments else coordinates, name, size)
    said = findings(coordinates, wrong) if of_moments else findings(wrong, moments)
    assert {each.code for each in said} - sound == {"single_leap"}
    (leap,) = [each for each in said if each.code == "single_leap"]
    assert leap.severity == "error" and leap.where.file == wrong.path
    assert leap.where.times == ((wrong.time[ROW],) * 2,)
    value = wrong.values[ROW, wrong.names.index(name)]
    assert f"{name} is {value:.4g} " in leap.what and f"{wrong.time[ROW]:.4g} s" in leap.what


def test_a_wrong_row_is_one_finding() -> None:
    """All columns leap in it, also one that follows from the knee and is not read."""
    _, coordinates, moments = walk()
    values = coordinates.values.copy()
    values[ROW] += 40.0
    (leap,) = findings(replace(coordinates, values=values), moments)
    assert leap.code == "single_leap" and leap.what.endswith(" leap there, too") and "beta" not in leap.what
    values[ROW + 20, 0] += 50.0
    said = sorted(each.what for each in findings(replace(coordinates, values=values), moments))
    assert len(said) == 2 and sum(f"{coordinates.names[0]} is " in each for each in said) == 1
    assert any(each.endswith(", and in 1 more frame") for each in said)


def test_steps_noise_and_constants_are_no_leaps() -> None:
    time = np.arange(200) / 100.0
    noise = np.random.default_rng(3).normal(0.0, 1.0, (200, 40))
    wave = 40.0 * np.sin(6.0 * time)[:, None]
    step = wave + 100.0 * (time > 1.0)[:, None]
    pulse = wave + 100.0 * ((time > 1.0) & (time < 1.05))[:, None]
    for values in (noise, wave + noise, step, pulse, 0.0 * wave):
        assert not single_leaps(values, np.full(values.shape[1], 0.1)).any()
    leaping = wave + noise
    leaping[77] += 100.0
    assert np.array_equal(np.unique(np.nonzero(single_leaps(leaping, np.full(40, 0.1)))[0]), [77])


def test_radians_called_degrees_are_the_error_and_hide_what_follows() -> None:
    model, coordinates, moments = walk()
    values = coordinates.values.copy()
    angles = [k for k, name in enumerate(coordinates.names) if model.coordinates[name].rotational]
    values[:, angles] = np.radians(values[:, angles])
    said = findings(replace(coordinates, values=values), moments)
    assert [each.code for each in said if each.severity == "error"] == ["angle_units"]
    (units,) = [each for each in said if each.code == "angle_units"]
    assert "73 degrees" in units.what and "inDegrees=no" in units.remedy
    assert not {"another_trial", "moment_units"} & {each.code for each in said}


def test_translations_in_millimeters_are_the_only_finding() -> None:
    _, coordinates, moments = walk()
    factors = np.where(
        [name.startswith("pelvis_t") and name[-1] in "xyz" for name in coordinates.names], 1e3, 1.0
    )
    (said,) = findings(replace(coordinates, values=coordinates.values * factors), moments)
    assert said.code == "angle_units" and "translations are in millimeters" in said.what


def test_a_small_leap_is_a_warning() -> None:
    _, coordinates, moments = walk()
    for said in (
        findings(with_leap(coordinates, "knee_angle_r", 8.0), moments),
        findings(coordinates, with_leap(moments, "hip_rotation_r_moment", 12.0)),
    ):
        assert [each.severity for each in said if each.code == "single_leap"] == ["warning"]


@pytest.mark.parametrize(("name", "severity"), [("ankle_angle_r", "warning"), ("hip_flexion_r", "error")])
def test_the_moment_that_a_leap_changes_makes_it_an_error(name: str, severity: str) -> None:
    _, coordinates, moments = walk()
    (leap,) = [
        each for each in findings(with_leap(coordinates, name, 15.0), moments) if each.code == "single_leap"
    ]
    assert leap.severity == severity and leap.cost is not None and leap.cost.limit is not None
    assert (leap.cost.size > leap.cost.limit) == (severity == "error") and leap.cost.of.startswith(
        ("hip", "ankle")
    )


def test_without_masses_a_great_leap_is_an_error_of_unknown_cost() -> None:
    model, coordinates, moments = walk()
    body = measured_model(replace(model, masses={}), with_leap(coordinates, "knee_angle_r", 30.0), moments)
    (leap,) = [each for each in findings_of_body(body) if each.code == "single_leap"]
    assert leap.severity == "error" and leap.cost is None


@pytest.mark.parametrize("frames", [2, 5, 60])
def test_a_column_that_leaps_for_several_frames_is_named(frames: int) -> None:
    _, coordinates, moments = walk()
    values = coordinates.values.copy()
    values[ROW : ROW + frames, coordinates.names.index("hip_rotation_l")] += 30.0
    said = findings(replace(coordinates, values=values), moments)
    (step,) = [each for each in said if each.code == "single_leap"]
    assert step.severity == "warning" and step.what.startswith("hip_rotation_l is ") and "unit" in step.remedy
    assert any(abs(at - coordinates.time[ROW]) < 0.015 for times in step.where.times for at in times)


@pytest.mark.parametrize(
    ("stem", "change"),
    [
        ("femur", lambda mass: replace(mass, inertia=mass.inertia[np.ix_([1, 2, 0], [1, 2, 0])])),
        ("femur", lambda mass: replace(mass, center=0.0 * mass.center)),
        ("tibia", lambda mass: replace(mass, mass=3.0 * mass.mass, inertia=3.0 * mass.inertia)),
        ("calcn", lambda mass: replace(mass, inertia=10.0 * mass.inertia)),
    ],
)
def test_masses_of_both_sides_that_no_limb_has_are_named(stem: str, change: Callable[[Any], Any]) -> None:
    model, coordinates, moments = walk()
    wrong = {name: change(model.masses[name]) for name in (f"{stem}_r", f"{stem}_l")}
    body = measured_model(replace(model, masses={**model.masses, **wrong}), coordinates, moments)
    said = [each for each in findings_of_body(body) if each.code == "segment_mass"]
    assert [each.severity for each in said] == ["warning"] and f"{stem}_r" in said[0].what


def test_a_mass_center_beside_the_one_of_the_other_side_is_named() -> None:
    model, coordinates, moments = walk()
    foot = model.masses["calcn_l"]
    moved = replace(foot, center=foot.center + 0.05 * np.eye(3)[0])
    body = measured_model(replace(model, masses={**model.masses, "calcn_l": moved}), coordinates, moments)
    said = [each.what for each in findings_of_body(body) if each.code == "segment_mass"]
    (what,) = said
    assert what.startswith("mass centers of calcn_r and calcn_l 50 mm apart on their bodies")

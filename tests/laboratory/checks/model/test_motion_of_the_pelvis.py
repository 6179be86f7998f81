"""Faults of the pelvis, noise of an angle and lost frames have their names, and other faults do not get these names."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from recorded_data import recorded

from benchmarks.planted_model_faults import Case, on_column
from benchmarks.sound_models import findings, walk, walks
from musclesolve.files import Table


@cache
def case_of(name: str) -> Case:
    recorded("instrumented_knee"), recorded("fascicle_walk")
    with TemporaryDirectory() as folder:
        return walk(walks(recorded("rajagopal_walk").parent, Path(folder))[name])


def moved(name: str, angle: str, factor: float, by: float = 0.0) -> Table:
    table = case_of(name).coordinates
    by = by if table.in_degrees is not False else float(np.radians(by))
    return on_column(table, angle, lambda each: factor * each + by)


@pytest.mark.parametrize("angle", ["pelvis_tilt", "pelvis_list"])
@pytest.mark.parametrize("name", ["moments", "belt 3"])
def test_a_reversed_angle_of_the_pelvis_is_named(name: str, angle: str) -> None:
    case = replace(case_of(name), coordinates=moved(name, angle, -1.0))
    found = {each.code: each.what for each in findings(case)}
    assert f"with {angle} reversed" in found["angle_sign"]
    assert not {"moment_scale", "moment_sign", "another_trial"} & set(found)


@pytest.mark.parametrize(("name", "factor"), [("pelvis_rotation", -1.0), ("pelvis_tz", 0.0)])
def test_moments_beside_a_wrong_pelvis_accuse_neither_mass_nor_columns(name: str, factor: float) -> None:
    table = moved("belt 3", name, factor)
    found = {each.code for each in findings(replace(case_of("belt 3"), coordinates=table))}
    assert {"another_trial", "angle_sign"} & found
    assert not {"mass", "moment_sign", "moment_scale", "moment_unlike"} & found


@pytest.mark.parametrize(
    ("name", "angle", "by"),
    [("overground", "pelvis_tilt", 5.0), ("overground", "pelvis_list", -5.0), ("belt 1", "pelvis_list", 5.0)],
)
def test_feet_beside_the_pressure_are_named(name: str, angle: str, by: float) -> None:
    before = {each.code for each in findings(case_of(name))}
    found = findings(replace(case_of(name), coordinates=moved(name, angle, 1.0, by)))
    assert "pressure_outside" in {each.code for each in found} - before
    assert any("from heel to toe" in each.what for each in found)


@pytest.mark.parametrize("by", [-5.0, 5.0])
def test_a_root_turned_about_the_vertical_is_shown_by_the_pressure_that_crosses_both_feet(by: float) -> None:
    table = moved("overground", "pelvis_rotation", 1.0, by)
    found = findings(replace(case_of("overground"), coordinates=table))
    (said,) = (each.what for each in found if "pressure crosses" in each.what)
    about = float(said.partition("about ")[2].split()[0])
    assert about == pytest.approx(by, abs=2.0)


@pytest.mark.parametrize("name", ["service", "overground"])
@pytest.mark.parametrize(
    ("factor", "by", "code"), [(1.0, -0.02, "pressure_offset"), (0.8, 0.0, "foot_slides")]
)
def test_a_body_that_lies_or_sways_beside_its_loads_is_named(
    name: str, factor: float, by: float, code: str
) -> None:
    table = case_of(name).coordinates
    table = on_column(table, "pelvis_tz", lambda each: each[0] + factor * (each - each[0]) + by)
    assert code in {each.code for each in findings(replace(case_of(name), coordinates=table))}


@pytest.mark.parametrize("kept", [0.0, 0.01])
def test_a_pelvis_without_angles_is_named_and_displaces_no_plate(kept: float) -> None:
    """The moments about the root know the place of the pressure to 33 mm then."""
    table, angles = case_of("overground").coordinates, ("pelvis_tilt", "pelvis_list", "pelvis_rotation")
    for name in angles:
        table = on_column(table, name, lambda each: kept * each)
    found = findings(replace(case_of("overground"), coordinates=table))
    frozen = {each.what.split()[0] for each in found if each.code == "frozen"}
    assert frozen == (set() if kept else {*angles})
    assert "pressure_offset" not in {each.code for each in found}


@pytest.mark.parametrize("name", ["moments", "belt 3"])
def test_noise_of_one_angle_is_named(name: str) -> None:
    table, draw = case_of(name).coordinates, np.random.default_rng(1)
    size = 2.0 if table.in_degrees is not False else float(np.radians(2.0))
    noise = size * draw.standard_normal(len(table.time))
    table = on_column(table, "hip_flexion_l", lambda each: each + noise)
    found = {each.code: each.what for each in findings(replace(case_of(name), coordinates=table))}
    assert "hip_flexion_l has noise" in found["noise"]


@pytest.mark.parametrize("stem", ["hip_flexion", "knee_angle"])
def test_an_offset_of_both_legs_reverses_no_ankle(stem: str) -> None:
    """With both ankles reversed the soles are level, too."""
    table = moved("belt 3", f"{stem}_r", 1.0, 20.0)
    table = on_column(table, f"{stem}_l", lambda each: each + 20.0)
    found = {each.code for each in findings(replace(case_of("belt 3"), coordinates=table))}
    assert "angle_offset" in found and not {"angle_sign", "columns_exchanged"} & found


@pytest.mark.parametrize("by", [-10.0, 10.0])
def test_an_offset_of_both_hips_is_no_reversed_pelvis(by: float) -> None:
    table = moved("moments", "hip_flexion_r", 1.0, by)
    radians = by if table.in_degrees is not False else float(np.radians(by))
    table = on_column(table, "hip_flexion_l", lambda each: each + radians)
    found = {each.code for each in findings(replace(case_of("moments"), coordinates=table))}
    assert "angle_offset" in found and not {"angle_sign", "time_offset", "clock_rate"} & found


@pytest.mark.parametrize("name", ["moments", "belt 1"])
def test_lost_frames_are_the_only_fault(name: str) -> None:
    case = case_of(name)
    table, share, count = case.coordinates, *((0.5, 6) if name == "moments" else (0.3, 8))
    first = int(share * len(table.time))
    kept = np.delete(np.arange(len(table.time)), np.arange(first, first + count))
    lost = replace(table, time=table.time[: len(kept)], values=table.values[kept])
    found = findings(replace(case, coordinates=lost))
    assert [each.code for each in found if each.code != "other_coordinates"] == ["frames_skipped"]
    assert "all coordinates go" in found[-1].what


@pytest.mark.parametrize("name", ["moments", "overground"])
def test_exchanged_angles_of_the_pelvis_are_named_before_angles_of_the_hips(name: str) -> None:
    case, pair = case_of(name), ("pelvis_list", "pelvis_rotation")
    names = tuple(pair[1 - pair.index(each)] if each in pair else each for each in case.coordinates.names)
    found = {
        each.code: each.what
        for each in findings(replace(case, coordinates=replace(case.coordinates, names=names)))
    }
    assert "with pelvis_list and pelvis_rotation exchanged" in found["columns_exchanged"]


def test_a_hip_that_was_not_mirrored_is_named() -> None:
    table = moved("belt 1", "hip_adduction_l", -1.0)
    table = on_column(table, "hip_rotation_l", np.negative)
    found = {each.code: each.what for each in findings(replace(case_of("belt 1"), coordinates=table))}
    assert "hip_adduction_l and hip_rotation_l reversed" in found["angle_sign"]

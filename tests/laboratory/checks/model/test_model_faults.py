"""Every planted fault of loads, moments and coordinates is found by its own finding; sound trials have true ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from measured_model import measured_model
from model_faults import (
    LOAD_FAULTS,
    MOMENT_FAULTS,
    OTHER_TRIAL_FAULTS,
    ModelFault,
    Trial,
    clock,
    greatest,
    load_trials,
    moment_trials,
    moved_column,
    on_bodies,
    one_channel_reversed,
    three_plates,
)
from recorded_data import recorded
from refusals import refused
from thorough import THOROUGH, of_each

from musclesolve import check
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.checks.model.load_units_and_axes import moved
from musclesolve.laboratory.results.finding import Finding, codes

SOUND = {
    # plates that read 83 kg of a man of 75 kg, as published
    "knee": {"mass"},
    # a model of 75 kg on plates that carry 95 kg, in both walks and the jump
    "service": {"mass", "unbalanced"},
    # the first contact of the left foot was not measured
    "overground": {"contact_without_force"},
}
"""What is reported of the sound trials, and why it is true."""
NOT_SHOWN = {
    # the model has no arms and the moments are of one that has: 1.4 times these are 1.15 times those of the model
    ("moments_140_percent", "treadmill 1"),
    ("moments_140_percent", "treadmill 3"),
    # free moments of a few newton meters
    ("free_moment_reversed", "overground"),
    ("free_moment_reversed", "service"),
}
"""Faults that these trials cannot show."""


@cache
def trials() -> dict[str, Trial]:
    return load_trials(recorded("instrumented_knee").parent)


@cache
def with_moments() -> dict[str, Trial]:
    return moment_trials(recorded("fascicle_walk").parent)


def planted(faults: tuple[ModelFault, ...], names: tuple[str, ...]) -> list[tuple[ModelFault, str]]:
    """Each fault in every trial; in one after the other unless the run is thorough."""
    return [
        (fault, name)
        for k, fault in enumerate(faults)
        for j, name in enumerate(names)
        if THOROUGH or (k + j) % len(names) == 0
    ]


def codes_of(case: tuple[ModelFault, str]) -> tuple[str, ...]:
    return case[0].codes


def label(case: object) -> str:
    return case.name if isinstance(case, ModelFault) else str(case)


MOMENT_CASES = [
    (fault, name)
    for fault, name in planted(MOMENT_FAULTS, ("overground", "treadmill 1", "treadmill 3"))
    if not (fault.other and name == "overground")
]
"""Faults of moments in trials; overground is the only trial of its person."""


@pytest.mark.parametrize(("fault", "name"), of_each(planted(LOAD_FAULTS, tuple(SOUND)), codes_of), ids=label)
def test_each_fault_of_loads_and_coordinates_is_found(fault: ModelFault, name: str) -> None:
    found = findings_of_body(fault.spoil(trials()[name]).body())
    own = {each.code for each in found} & set(fault.codes)
    shown = fault.codes and (fault.name, name) not in NOT_SHOWN
    assert own or not shown, [str(each) for each in found]
    if not shown:
        assert {each.code for each in found} == SOUND[name]


@pytest.mark.parametrize("name", ["knee", "service"])
@pytest.mark.parametrize("fault", OTHER_TRIAL_FAULTS, ids=label)
def test_another_trial_of_the_same_person(fault: ModelFault, name: str) -> None:
    found = findings_of_body(fault.spoil(trials()[name]).body())
    assert {each.code for each in found} & set(fault.codes)
    assert max(each.cost.size for each in found if each.cost) > 50.0


@pytest.mark.parametrize(("fault", "name"), of_each(MOMENT_CASES, codes_of), ids=label)
def test_each_fault_of_moments_is_found(fault: ModelFault, name: str) -> None:
    trial = with_moments()[name]
    found = {each.code for each in findings_of_body(fault.spoil(trial).body())} - {"other_coordinates"}
    if (fault.name, name) in NOT_SHOWN or not fault.codes:
        assert not found
    else:
        assert found & set(fault.codes), found


@pytest.mark.parametrize("name", SOUND)
def test_sound_trials_have_no_finding_that_is_not_true(name: str) -> None:
    found = findings_of_body(trials()[name].sound)
    assert {each.code for each in found} == SOUND[name], [str(each) for each in found]
    assert not any(each.severity == "error" for each in found)


@pytest.mark.parametrize("name", SOUND)
def test_points_30_mm_to_the_side_are_found(name: str) -> None:
    """By the balance of the whole wrench, as in a recording; the repair brings them back to within its error."""
    trial = trials()[name]
    to_side = moved(np.array([0.0, 0.0, 0.03]))
    found = findings_of_body(replace(trial, loads=to_side(trial.loads)).body())
    (own,) = (each for each in found if each.code == "pressure_offset")
    assert own.repair is not None and own.severity == "warning"
    repaired = own.repair(trial.loads)
    change = [load.point - given.point for load, given in zip(repaired, trial.loads, strict=True)]
    assert min(part[:, 2].mean() for part in change) == pytest.approx(-0.03, abs=0.015)


def test_points_30_mm_ahead_are_shown_by_feet_and_moments_together() -> None:
    trial = trials()["service"]
    ahead = moved(np.array([0.03, 0.0, 0.0]))
    (own,) = (
        each
        for each in findings_of_body(replace(trial, loads=ahead(trial.loads)).body())
        if each.code == "pressure_offset"
    )
    assert own.repair is not None and own.severity == "warning"
    change = [load.point - old.point for load, old in zip(own.repair(trial.loads), trial.loads, strict=True)]
    assert min(part[:, 0].mean() for part in change) == pytest.approx(-0.03, abs=0.015)


@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("name", SOUND)
def test_a_reversed_component_is_named_and_leaves_no_other_finding(name: str, axis: int) -> None:
    trial = trials()[name]
    sound = {each.code for each in findings_of_body(trial.sound)}
    found = findings_of_body(one_channel_reversed(axis)(trial).body())
    (own,) = (each for each in found if each.code == "plate_axes")
    assert own.severity == "error" and f"of {greatest(trial)} are" in own.what
    assert f"{'xyz'[axis]} = -{'xyz'[axis]}" in own.remedy and own.remedy.count("-") == 1
    assert {each.code for each in found} - sound == {"plate_axes"}, [str(each) for each in found]


@pytest.mark.parametrize(
    ("name", "ahead", "right"),
    [("knee", 0.06, 0.0), ("service", 0.1, 0.0), ("overground", 0.04, 0.0)]
    + [("service", 0.0, 0.02)]
    + [(name, 0.0, right) for name in ("knee", "overground") for right in (-0.02, 0.02)],
)
def test_one_displaced_plate_is_named_and_not_all(name: str, ahead: float, right: float) -> None:
    trial = trials()[name]
    own = trial.loads[0].name
    found = findings_of_body(
        replace(trial, loads=moved(np.array([ahead, 0.0, right]), [own])(trial.loads)).body()
    )
    (displaced,) = (each.what for each in found if each.code == "pressure_offset")
    assert f"points of force of {own} lie" in displaced


@pytest.mark.parametrize("name", SOUND)
def test_a_reversed_tilt_of_the_pelvis_is_no_shift_and_no_other_clock(name: str) -> None:
    """It leaves a quarter of the weight times the height as moment at the root at any shift."""
    found = {
        each.code for each in findings_of_body(moved_column("pelvis_tilt", 0.0, -1.0)(trials()[name]).body())
    }
    assert not found & {"time_offset", "clock_rate"} and "angle_sign" in found


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", SOUND)
def test_a_wrench_about_any_point_is_one_wrench(name: str) -> None:
    """Stated about the middle of a belt, 0.4 m beside and 0.2 m below the foot, loads have the same findings."""
    trial, lever = trials()[name], np.array([0.4, -0.2, 0.1])
    loads = tuple(
        replace(load, point=load.point + lever, moment=load.moment - np.cross(lever, load.force))
        for load in trial.loads
    )
    found = findings_of_body(replace(trial, loads=loads).body())
    assert {each.code for each in found} == SOUND[name], [str(each) for each in found]


def test_a_clock_that_is_one_per_cent_fast_is_found_where_the_recording_is_long_enough() -> None:
    """36 ms at the ends of the longest recording, three standard errors; 12 ms are the errors of the body model."""
    found = findings_of_body(clock(1.01)(trials()["overground"]).body())
    (own,) = (each for each in found if each.code == "clock_rate")
    assert own.severity == "warning"
    assert "clock_rate" not in {each.code for each in findings_of_body(trials()["overground"].sound)}


def test_sound_moments_have_none() -> None:
    assert findings_of_body(with_moments()["overground"].sound) == []
    for name in ("treadmill 1", "treadmill 3"):
        # the file has joints that the published model lacks
        assert [each.code for each in findings_of_body(with_moments()[name].sound)] == ["other_coordinates"]


def one(fault: str, name: str, code: str) -> Finding:
    spoil = next(each for each in (*LOAD_FAULTS, *MOMENT_FAULTS) if each.name == fault).spoil
    return next(each for each in findings_of_body(spoil(trials()[name]).body()) if each.code == code)


def test_loads_on_the_tibia_cost_the_ankle_its_moment() -> None:
    found = one("loads_on_tibia", "knee", "load_body")
    assert found.cost is not None and found.cost.of.startswith("ankle") and found.cost.size > 100.0
    assert found.repair is not None
    repaired = found.repair(tuple(load for load in trials()["knee"].loads))
    assert {load.body for load in repaired} <= {"calcn_r", "calcn_l", "tibia_r", "tibia_l"}


def test_a_shift_comes_with_its_sign_and_standard_error() -> None:
    for fault, shift in (("late_50_ms", 50.0), ("early_50_ms", -50.0)):
        found = one(fault, "overground", "time_offset")
        measured, _, rest = found.what.partition("(")[2].partition(" ms, standard error ")
        assert abs(float(measured) - shift) < 5.0
        assert 1.0 <= float(rest.partition(")")[0]) < 8.0
        assert found.cost is not None and found.cost.size > 50.0


def test_loads_of_half_the_size_may_belong_to_another_mass() -> None:
    trial = trials()["overground"]
    masses = {name: replace(each, mass=2.0 * each.mass) for name, each in trial.model.masses.items()}
    heavy = replace(trial, model=replace(trial.model, masses=masses))
    (found,) = [each for each in findings_of_body(heavy.body()) if each.code == "force_units"]
    assert found.remedy.endswith("or correct the masses of the model, if the person has 84 kg")


def test_masses_in_grams_are_no_kilonewtons_of_the_loads() -> None:
    trial = trials()["overground"]
    masses = {name: replace(each, mass=1000.0 * each.mass) for name, each in trial.model.masses.items()}
    grams = replace(trial, model=replace(trial.model, masses=masses))
    found = [each for each in findings_of_body(grams.body()) if each.code in ("force_units", "mass")]
    assert [(each.code, each.severity) for each in found] == [("mass", "error")]
    assert "the loads carry and accelerate 84" in found[0].what, found[0].what


def test_loads_of_nearly_twice_the_size_are_no_unit() -> None:
    trial = trials()["overground"]
    masses = {name: replace(each, mass=0.6 * each.mass) for name, each in trial.model.masses.items()}
    light = replace(trial, model=replace(trial.model, masses=masses))
    (found,) = [each for each in findings_of_body(light.body()) if each.code == "force_units"]
    assert "in no known unit, or masses of the model are wrong" in found.what


def test_noise_that_unbalances_frames_names_the_filter() -> None:
    case = trials()["overground"]
    noisy = measured_model(
        case.model, case.coordinates, loads=recorded("rajagopal_walk") / "walk_grf.mot", cutoff_hz=None
    ).measured
    (found,) = [each for each in findings_of_body(noisy) if each.code == "unbalanced"]
    assert "cutoff_hz" in found.remedy


@pytest.mark.parametrize("by", [-0.4, 0.4])
def test_times_that_begin_at_zero_are_a_shift(by: float) -> None:
    """Loaded feet go with the shift that fits best nearby, and stand with the right one."""
    for name in ("overground", "knee"):
        trial = trials()[name]
        table = trial.coordinates
        late = replace(trial, coordinates=replace(table, time=table.time - by))
        found = {each.code: each for each in findings_of_body(late.body())}
        measured = float(found["time_offset"].what.partition("(")[2].partition(" ms")[0])
        assert abs(measured - 1000.0 * by) < 25.0 and "foot_slides" not in found


@pytest.mark.parametrize("fault", ["late_20_ms", "early_30_ms"])
def test_a_delay_is_an_error_by_what_it_changes_too(fault: str) -> None:
    """A walk whose hips change by more than 1 N m/kg, however short the delay is."""
    mass = trials()["service"].model.mass
    for each in (one(fault, name, "time_offset") for name in ("service", "overground")):
        assert each.cost is not None
        assert (each.severity == "error") or each.cost.size < mass, each


def test_loads_on_the_talus_matter_where_the_subtalar_joint_moves() -> None:
    """The talus is a part of the foot: a contact on it is measured, and no moment above it is changed."""
    for name, trial in trials().items():
        spoiled = on_bodies(lambda body: f"talus{body[-2:]}")(trial)
        found = findings_of_body(spoiled.body())
        own = [each for each in found if each.code == "load_body"]
        assert {each.code for each in found} - {"load_body"} == SOUND[name]
        assert [each.severity for each in own] == (["warning"] if name == "service" else [])
        for each in own:
            assert each.cost is not None and each.cost.of.startswith("subtalar") and each.cost.size > 10.0


def test_repairs_bring_the_loads_back() -> None:
    """Later checks look at repaired loads: a second fault is found beside the first one."""
    faults = {each.name: each.spoil for each in LOAD_FAULTS}
    trial = trials()["overground"]
    for name in ("kilonewtons", "sides_exchanged", "late_50_ms", "points_mm"):
        trial = faults[name](trial)
    found = {each.code for each in findings_of_body(trial.body())}
    assert {"force_units", "point_units", "plates_swapped", "time_offset"} <= found
    assert found <= {"force_units", "point_units", "plates_swapped", "time_offset", "contact_without_force"}


def test_times_in_milliseconds_are_refused() -> None:
    with refused("bad_units", "time"):
        clock(1000.0)(trials()["knee"]).body()


def test_a_fault_names_a_code_that_there_is() -> None:
    faults = (*LOAD_FAULTS, *OTHER_TRIAL_FAULTS, *MOMENT_FAULTS)
    assert len(faults) > 60 and len({fault.name for fault in faults}) == len(faults)
    assert {code for fault in faults for code in fault.codes} <= set(codes())


def test_check_of_a_trial_file_shows_them(tmp_path: Path) -> None:
    """Through files: a trial of a model whose ExternalLoads name the tibiae."""
    folder = recorded("instrumented_knee")
    loads = three_plates(folder, "ss1", tmp_path, bodies=("tibia_l", "tibia_r", "tibia_r"))
    trial = tmp_path / "trial.toml"
    trial.write_text(
        "[files]\n"
        f'model = "{folder / "Rajagopal2015-scaled.osim"}"\n'
        f'coordinates = "{folder / "PS_ngait_og_ss1_kinematics.mot"}"\nloads = "{loads}"\n',
        encoding="utf-8",
    )
    report = check(trial)
    assert [each.code for each in report.of("error")] == ["load_body"] * 3, str(report)

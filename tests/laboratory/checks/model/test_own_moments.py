"""Moments of a file are compared with inverse dynamics of model and motion: of an arm, and of a walk."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from forearm_model import GRAVITY, INERTIA, LENGTH, MASS, save_forearm
from measured_model import measured_model
from recorded_data import recorded

import musclesolve as ms
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.results.finding import Finding
from musclesolve.models.opensim.inverse_dynamics import inverse_dynamics
from musclesolve.models.opensim.load_dynamics import whole_motion
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.tables import write_mot
from musclesolve.tables.sampled import Table

ARM = ("opensim_models/arm26.osim", "cases_6/models/arm26/ik.mot", "cases_6/models/arm26/id.sto")
WALK = (
    "rajagopal_walk/reference/rajagopal_lai_uhlrich_2023_scaled.osim",
    "rajagopal_walk/reference/opensim_ik.mot",
    "rajagopal_walk/reference/opensim_id.sto",
)
RRA = (
    "foreign_recordings/opensim_rra/model_adjusted.osim",
    "foreign_recordings/opensim_rra/task_InverseKinematics.mot",
    "foreign_recordings/opensim_rra/task_InverseDynamics.sto",
)
BELTS = [
    ("fascicle_walk/model.osim", f"fascicle_walk/trial_{k}_IK.mot", f"fascicle_walk/trial_{k}_ID.mot")
    for k in (1, 3)
]
COLUMNS = {ARM: ("r_shoulder_elev", "r_elbow_flex"), WALK: ("hip_flexion_r", "knee_angle_r")}


@cache
def body_of(files: tuple[str, str, str]) -> ModelBody:
    return measured_model(*map(recorded, files))


def found_with(files: tuple[str, str, str], change: Callable[[Table], Table]) -> list[Finding]:
    body = body_of(files)
    assert body.moment_table is not None
    found = findings_of_body(replace(body, moment_table=change(body.moment_table)))
    return [each for each in found if each.code == "moments_differ"]


def times(factor: float, name: str = "") -> Callable[[Table], Table]:
    """The columns times a factor, all of them or one."""
    return lambda table: replace(
        table,
        values=table.values
        * np.where([not name or each == f"{name}_moment" for each in table.names], factor, 1.0),
    )


def exchanged(one: str, other: str) -> Callable[[Table], Table]:
    names = {f"{one}_moment": f"{other}_moment", f"{other}_moment": f"{one}_moment"}
    return lambda table: replace(table, names=tuple(names.get(name, name) for name in table.names))


def late(by: float) -> Callable[[Table], Table]:
    return lambda table: replace(table, time=table.time + by)


@pytest.mark.parametrize("files", [ARM, WALK, RRA, *BELTS])
def test_public_files_have_no_finding(files: tuple[str, str, str]) -> None:
    assert found_with(files, lambda table: table) == []


@pytest.mark.parametrize("files", [ARM, WALK])
def test_a_fault_of_the_file_is_named_with_column_and_newton_meters(files: tuple[str, str, str]) -> None:
    one, two = COLUMNS[files]
    faults: list[tuple[Callable[[Table], Table], list[str], str]] = [
        (times(-1.0), [one, two], "opposite sign"),
        (times(-1.0, one), [one], "opposite sign"),
        (times(-1.0, two), [two], "opposite sign"),
        (times(2.0), [one, two], " times inverse dynamics"),
        (times(2.0, two), [two], " times inverse dynamics"),
        (times(0.0), [one, two], "are zero in the file"),
        (times(0.0, two), [two], "are zero in the file"),
        (exchanged(one, two), [f"{one} and {two}" if one < two else f"{two} and {one}"], "are exchanged"),
        (late(0.05), [one, two], "50 ms late"),
        (late(-0.03), [one, two], "30 ms early"),
    ]
    for change, names, said in faults:
        (found,) = found_with(files, change)
        assert said in found.what and all(name in found.what for name in names)
        assert (one in found.what) == (one in " ".join(names))
        assert found.cost is not None and found.cost.unit == "N m" and found.cost.size > 0.1
        assert float(found.what.split("change by up to ")[1].split(" N (")[0]) > 5.0
        if said == " times inverse dynamics":
            factor = float(found.what.split(said)[0].split()[-1])
            assert factor == pytest.approx(2.0, abs=0.15)


def test_newton_millimeters_and_exchanged_legs_of_a_walk_are_named() -> None:
    (found,) = found_with(WALK, times(1000.0))
    assert "1e+03 times" in found.what and found.severity == "error"

    def legs(table: Table) -> Table:
        def other(name: str) -> str:
            return name.replace("_r_m", "_?_m").replace("_l_m", "_r_m").replace("_?_m", "_l_m")

        return replace(table, names=tuple(map(other, table.names)))

    (found,) = found_with(WALK, legs)
    assert "hip_adduction_l and hip_adduction_r" in found.what and "are exchanged" in found.what


@pytest.mark.parametrize("files", [WALK, RRA, *BELTS])
@pytest.mark.parametrize("factor", [1.0 / 75.0, 1000.0])
def test_another_unit_of_all_moments_is_named_whatever_filter_and_masses_they_have(
    files: tuple[str, str, str], factor: float
) -> None:
    (found,) = found_with(files, times(factor))
    assert found.severity == "error"
    named = float(found.what.split(" times inverse dynamics")[0].split()[-1])
    assert named == pytest.approx(factor, rel=0.3)


@pytest.mark.parametrize("files", [WALK, RRA, *BELTS])
def test_moments_per_kilogram_without_columns_of_the_root_are_too_small_for_a_person_on_feet(
    files: tuple[str, str, str],
) -> None:
    def joints(factor: float) -> Callable[[Table], Table]:
        def change(table: Table) -> Table:
            kept = [k for k, name in enumerate(table.names) if not name.startswith("pelvis")]
            names = tuple(table.names[k] for k in kept)
            return replace(table, names=names, values=factor * table.values[:, kept])

        return change

    assert found_with(files, joints(1.0)) == []
    (found,) = found_with(files, joints(1.0 / 75.0))
    assert found.severity == "warning" and "N m per kilogram" in found.what


@pytest.mark.parametrize("files", [(*WALK[:2], RRA[2]), (*RRA[:2], WALK[2])])
def test_moments_of_another_person_are_named(files: tuple[str, str, str]) -> None:
    (found,) = found_with(files, lambda table: table)
    assert found.severity == "error" and "do not belong to this model and motion" in found.what
    assert found.cost is not None and found.cost.size > 10.0


Change = Callable[[np.ndarray], np.ndarray]


def forearm(folder: Path, change: Change) -> tuple[list[Finding], np.ndarray, np.ndarray]:
    """Findings of a forearm whose moments (I + m l^2) q'' + m g l sin q are changed, and moments and muscle forces
    between the ends.
    """
    time = np.linspace(0.0, 4.0, 401)
    wave = 2.0 * np.pi * time
    angle = 0.4 + 0.2 * np.sin(wave)
    moment = -0.2 * (2.0 * np.pi) ** 2 * np.sin(wave) * (INERTIA + MASS * LENGTH**2)
    moment += MASS * GRAVITY * LENGTH * np.sin(angle)
    motion, file = folder / "ik.mot", folder / "id.sto"
    write_mot(motion, Table(time, ("flexion",), angle[:, None], False, Path()))
    write_mot(file, Table(time, ("flexion_moment",), change(moment)[:, None], False, Path()))
    found = findings_of_body(measured_model(save_forearm(folder), motion, file))
    force = ms.share_model(folder / "arm.osim", motion, file)["muscle_force"].values
    return [each for each in found if each.code == "moments_differ"], change(moment)[20:-20], force[20:-20]


@pytest.mark.parametrize(
    ("change", "severity", "said"),
    [
        (lambda moment: -moment, "error", "flexion have the opposite sign"),
        (lambda moment: 2.0 * moment, "error", "flexion are 2 times"),
        (lambda moment: 1e-3 * moment, "error", "flexion are 0.001 times"),
        (lambda moment: 0.0 * moment, "error", "flexion are zero"),
        (lambda moment: np.roll(moment, 15), "error", "flexion are 150 ms late"),
        (lambda moment: moment + 2.0, "note", "differ from inverse dynamics"),
    ],
)
def test_moments_of_a_pendulum_are_known(tmp_path: Path, change: Change, severity: str, said: str) -> None:
    """A forearm that no load can touch: the finding has the newton meters and the newtons of its muscles."""
    none, moment, force = forearm(tmp_path, lambda moment: moment)
    (found,), changed, other_force = forearm(tmp_path, change)
    assert none == [] and (found.severity, said in found.what) == (severity, True), found
    assert found.cost is not None
    assert found.cost.size == pytest.approx(np.abs(changed - moment).max(), rel=0.02)
    newtons = float(found.what.split("change by up to ")[1].split(" N (")[0])
    assert newtons == pytest.approx(np.abs(other_force - force).max(), abs=1.0, rel=0.03)


def test_moments_without_ground_reactions_belong_to_the_motion_and_the_root_carries_the_weight() -> None:
    body = body_of(WALK)
    table = body.moment_table
    assert table is not None
    dynamics = inverse_dynamics(body.model, whole_motion(body.model, body.every_motion))
    names = tuple(
        f"{name}_{'moment' if one.rotational else 'force'}" for name, one in body.model.coordinates.items()
    )
    alone = Table(body.every_motion.time, names, dynamics.joint_force, False, table.path)
    found = findings_of_body(replace(body, moment_table=alone))
    (carried,) = [each for each in found if each.severity == "error"]
    assert carried.code == "root_carries" and "8" in carried.what


def test_a_short_time_shows_no_factor() -> None:
    body = body_of(ARM)
    assert body.moment_table is not None

    def found(seconds: float, change: Callable[[Table], Table]) -> list[Finding]:
        assert body.moment_table is not None
        table = change(body.moment_table)
        middle = table.time[len(table.time) // 2]
        rows = abs(table.time - middle) <= seconds / 2.0
        short = replace(table, time=table.time[rows], values=table.values[rows])
        findings = findings_of_body(replace(body, moment_table=short))
        return [each for each in findings if each.code == "moments_differ"]

    assert "2 times inverse dynamics" in found(0.4, times(2.0))[0].what
    assert found(0.1, times(2.0)) == []
    assert "opposite sign" in found(0.1, times(-1.0))[0].what


LOADED = [(*WALK, "rajagopal_walk/walk_grf.mot"), (*ARM, "none")]


@pytest.mark.parametrize("files", LOADED)
def test_moments_are_compared_under_loads_that_are_given_beside_them(
    files: tuple[str, str, str, str], tmp_path: Path
) -> None:
    """The public files agree; a changed column is named with newtons, also that of a foot that stands."""
    model, coordinates, moments = map(recorded, files[:3])
    loads = files[3] if files[3] == "none" else str(recorded(files[3]))
    body = measured_model(model, coordinates, moments, loads=loads)
    assert body.kind == "moments" and body.moment_table is not None and body.dynamics is not None
    name = body.dofs[-1]

    def found(change: Callable[[Table], Table]) -> list[Finding]:
        assert body.moment_table is not None
        findings = findings_of_body(replace(body, moment_table=change(body.moment_table)))
        return [each for each in findings if each.code in ("moments_differ", "root_carries")]

    assert found(lambda table: table) == []
    (fault,) = found(times(-1.0, name))
    assert f"the moments of {name} have the opposite sign" in fault.what and fault.severity == "error"
    (fault,) = found(times(2.0, name))
    assert re.search(rf"the moments of {name} are 2(\.\d+)? times .* by up to \d+ N \(", fault.what)
    assert "if a load acts on the body, give it instead" not in fault.remedy
    assert (
        "without the file of moments they are computed" in fault.remedy
    ) and 'loads = "none"' not in fault.remedy
    result = ms.share_model(model, coordinates, moments, loads=loads, end_s=float(body.time[20]))
    assert np.isfinite(result["joint_reaction"]).any()
    np.testing.assert_allclose(
        result["joint_moment"], body.moment[: len(result["time"])], rtol=1e-9, atol=1e-9
    )

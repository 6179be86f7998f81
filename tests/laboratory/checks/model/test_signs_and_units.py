"""A column with a reversed sign shows no unit of the moments and no exchange of columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from measured_model import measured_model
from recorded_data import recorded

import musclesolve as ms
from musclesolve.laboratory.checks.model.examine import findings_of_body, usual_gravity
from musclesolve.laboratory.results.finding import Finding
from musclesolve.tables import read_mot


@pytest.mark.parametrize("fitting", [False, True])
def test_a_reversed_knee_convention_leaves_unit_and_columns_alone(fitting: bool) -> None:
    """The knee of gait2392 bends by negative angles, that of the files by positive ones."""
    folder = recorded("rajagopal_walk") / "reference"
    table = read_mot(folder / "opensim_ik.mot")
    knees = [k for k, name in enumerate(table.names) if name.startswith("knee_angle") and "beta" not in name]
    values = table.values.copy()
    if fitting:
        values[:, knees] *= -1.0
    body = measured_model(
        ms.read_osim(recorded("opensim_models") / "gait2392.osim"),
        replace(table, values=values),
        folder / "opensim_id.sto",
    )
    codes = {each.code for each in findings_of_body(body)}
    assert ("moment_sign" if fitting else "angle_sign") in codes
    assert not codes & {"moment_units", "columns_exchanged", "sides_swapped"}


def of_loads(loads: Path, gravity: float = 1.0) -> list[Finding]:
    folder = recorded("rajagopal_walk") / "reference"
    model = ms.read_osim(folder / "rajagopal_lai_uhlrich_2023_scaled.osim")
    model = replace(model, gravity=gravity * model.gravity)
    return findings_of_body(measured_model(model, read_mot(folder / "opensim_ik.mot"), loads=loads))


@pytest.mark.parametrize("share", [0.5, 3.28])
def test_another_gravity_of_the_model_is_no_unit_of_the_loads(share: float) -> None:
    (found,) = (
        each
        for each in of_loads(recorded("rajagopal_walk") / "walk_grf.mot", share)
        if each.severity == "error"
    )
    assert found.code == "gravity" and f"gravity of the model is {9.80665 * share:.3g}" in found.what


@pytest.mark.parametrize("gravity", [(0.0, -1.62, 0.0), (0.0, 9.80665, 0.0), (0.0, 0.0, -9.80665)])
def test_gravity_is_named_beside_given_moments(gravity: tuple[float, float, float]) -> None:
    folder = recorded("rajagopal_walk") / "reference"
    model = ms.read_osim(folder / "rajagopal_lai_uhlrich_2023_scaled.osim")
    coordinates, moments = read_mot(folder / "opensim_ik.mot"), read_mot(folder / "opensim_id.sto")
    sound = {each.code for each in findings_of_body(measured_model(model, coordinates, moments))}
    body = measured_model(replace(model, gravity=np.array(gravity)), coordinates, moments)
    assert {each.code for each in findings_of_body(body)} - sound == {"gravity"}


def test_gravity_keeps_the_axis_along_which_a_person_stands() -> None:
    folder = recorded("rajagopal_walk") / "reference"
    model = ms.read_osim(folder / "rajagopal_lai_uhlrich_2023_scaled.osim")
    table, moments = read_mot(folder / "opensim_ik.mot"), read_mot(folder / "opensim_id.sto")
    stands_along_z = table.values + 90.0 * (np.array(table.names) == "pelvis_list")
    moon = replace(model, gravity=np.array([0.0, 0.0, -1.62]))
    body = measured_model(moon, replace(table, values=stands_along_z), moments)
    (found,) = (each for each in findings_of_body(body) if each.code.startswith("gravity"))
    assert found.code == "gravity" and "write 0 0 -9.80665 as gravity" in str(found.remedy)
    assert usual_gravity(body) == pytest.approx([0.0, 0.0, -9.80665])
    assert usual_gravity(measured_model(moon, table, moments)) == pytest.approx([0.0, -9.80665, 0.0])


def test_loads_in_body_weights_that_load_no_plate_are_found(tmp_path: Path) -> None:
    table = read_mot(recorded("rajagopal_walk") / "walk_grf.mot")
    forces = [name.endswith(("_vx", "_vy", "_vz")) for name in table.names]
    rows = np.where(forces, table.values / 834.0, table.values)[::10]
    lines = ["time\t" + "\t".join(table.names)]
    lines += ["\t".join(map(repr, row)) for row in np.column_stack([table.time[::10], rows]).tolist()]
    file = tmp_path / "walk_grf.mot"
    file.write_text("loads\nendheader\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert [each.code for each in of_loads(file) if each.severity == "error"] == ["contact_without_force"]

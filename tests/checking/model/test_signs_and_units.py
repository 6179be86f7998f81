"""A column with a reversed sign shows no unit of the moments and no exchange of columns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from modeled import modeled
from recorded_data import recorded

import musclesolve as ms
from musclesolve.checking.model.examine import findings_of_body
from musclesolve.files import read_mot


@pytest.mark.parametrize("fitting", [False, True])
def test_a_reversed_knee_convention_leaves_unit_and_columns_alone(fitting: bool) -> None:
    """The knee of gait2392 bends by negative angles, that of the files by positive ones."""
    folder = recorded("rajagopal_walk") / "reference"
    table = read_mot(folder / "opensim_ik.mot")
    knees = [k for k, name in enumerate(table.names) if name.startswith("knee_angle") and "beta" not in name]
    values = table.values.copy()
    if fitting:
        values[:, knees] *= -1.0
    body = modeled(
        ms.read_osim(recorded("opensim_models") / "gait2392.osim"),
        replace(table, values=values),
        folder / "opensim_id.sto",
    )
    codes = {each.code for each in findings_of_body(body)}
    assert ("moment_sign" if fitting else "angle_sign") in codes
    assert not codes & {"moment_units", "columns_exchanged", "sides_swapped"}

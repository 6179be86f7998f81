"""A cell of the moments without a number is filled and named, and the loads on the feet are still known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from modeled import modeled
from recorded_data import recorded

import musclesolve as ms
from musclesolve.tables import read_mot


def test_one_cell_without_a_number_is_named_and_leaves_the_loads_known() -> None:
    folder = recorded("rajagopal_walk") / "reference"
    model = ms.read_osim(folder / "rajagopal_lai_uhlrich_2023_scaled.osim")
    whole = read_mot(folder / "opensim_id.sto")
    values, column = whole.values.copy(), whole.names.index("knee_angle_r_moment")
    values[59, column] = np.nan
    body = modeled(model, folder / "opensim_ik.mot", replace(whole, values=values))
    said = [note for note in body.notes if "without a number" in note]
    assert len(said) == 1
    for part in ("opensim_id.sto", "1 cell", "knee_angle_r_moment", f"at {whole.time[59]:.4g} s", "filled"):
        assert part in said[0]
    assert body.dynamics is not None and body.dynamics.loads
    assert body.moment_table is not None
    assert body.moment_table.values[59, column] == pytest.approx(whole.values[59, column], abs=1.0)
    others = np.delete(body.moment_table.values, column, axis=1)
    assert np.array_equal(others, np.delete(values, column, axis=1))

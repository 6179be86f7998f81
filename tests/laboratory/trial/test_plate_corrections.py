"""[plates]: the measured ground forces change by what it states, of its plates alone."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve import read_trial
from musclesolve.studies import synthetic_recording


@pytest.fixture
def trial_path(tmp_path):
    return synthetic_recording(tmp_path, truth=False, forward="-x", up="+y")


def write(path, plates: str) -> None:
    path.write_text(f"{path.read_text(encoding='utf-8')}\n[plates]\n{plates}\n", encoding="utf-8")


def test_plates_are_moved_in_the_axes_of_the_files(trial_path):
    plain = read_trial(trial_path)
    write(trial_path, "offset_s = 0.008\nshift_mm = { 1 = [4.0, 0.0, -2.0] }\nvertical_gain = { 2 = 1.02 }")
    used = read_trial(trial_path)
    # Forward is -x of the files and up is y: left is z.
    moved = used.forces[0].point - plain.forces[0].point
    assert moved == pytest.approx(np.broadcast_to([-0.004, -0.002, 0.0], moved.shape), abs=1e-9)
    assert used.forces[0].time - plain.forces[0].time == pytest.approx(
        np.full(plain.forces[0].time.size, 0.008)
    )
    assert used.forces[1].force[:, 2] == pytest.approx(1.02 * plain.forces[1].force[:, 2])
    assert used.forces[1].force[:, :2] == pytest.approx(plain.forces[1].force[:, :2])
    assert len(used.plate_corrections) == 3
    assert "4.5 mm" in used.plate_corrections[1]
    assert set(used.plate_corrections) <= set(used.notes)


def test_without_corrections_nothing_changes_and_nothing_is_said(trial_path):
    plain = read_trial(trial_path)
    assert plain.plate_corrections == ()


def test_faults_of_the_table_are_named(trial_path):
    text = trial_path.read_text(encoding="utf-8")
    for plates, code in (
        ("shift_mm = { 3 = [1.0, 0.0, 0.0] }", "unknown_name"),
        ("shift_mm = { 1 = [1.0, 0.0] }", "bad_value"),
        ("shift_mm = { 1 = [400.0, 0.0, 0.0] }", "bad_value"),
        ("offset_s = 5.0", "bad_value"),
        ("vertical_gain = { 1 = 3.0 }", "bad_value"),
    ):
        trial_path.write_text(text + f"\n[plates]\n{plates}\n", encoding="utf-8")
        with refused(code, "[plates]"):
            read_trial(trial_path)

"""The figure and the tables of passive joint moments show the moments that they are given."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from musclesolve.cli.tables.list_tables import passive_moment_csv, passive_moment_table
from musclesolve.laboratory.plotting import passive_moment_figure
from musclesolve.muscles.passive.joint_moments import PassiveMoments, published_sweeps


@pytest.fixture(scope="module")
def moments() -> dict[str, list[PassiveMoments]]:
    """Twice what was measured, and 3 N m more."""
    sweeps = published_sweeps()
    return {
        "table": [PassiveMoments(sweep, 2.0 * sweep.moment) for sweep in sweeps],
        "calibrated": [PassiveMoments(sweep, sweep.moment + 3.0) for sweep in sweeps],
    }


def test_a_panel_for_each_sweep_with_measured_and_own_moments(moments):
    figure = passive_moment_figure("mine", moments)
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == len(moments["table"]) == 8
    for panel, table, calibrated in zip(panels, *moments.values(), strict=True):
        _, doubled, shifted, measured = (line.get_ydata() for line in panel.lines)
        np.testing.assert_array_equal(doubled, table.moment)
        np.testing.assert_array_equal(shifted, calibrated.moment)
        np.testing.assert_array_equal(measured, table.sweep.moment)
        low, high = panel.get_ylim()
        assert low < measured.min() and measured.max() < high
    assert any("mine" in text.get_text() for text in figure.texts)


def test_the_file_has_every_angle(moments):
    heading, *rows = csv.reader(io.StringIO(passive_moment_csv(moments).decode()))
    assert len(rows) == sum(len(each.sweep.angle) for each in moments["table"])
    first = dict(zip(heading, rows[0], strict=True))
    assert (first["joint"], first["hip_flexion_deg"], first["knee_flexion_deg"]) == (
        "hip_flexion",
        "-15",
        "15",
    )
    assert float(first["table_n_m"]) == pytest.approx(2.0 * float(first["published_n_m"]))
    assert float(first["calibrated_n_m"]) == pytest.approx(3.0 + float(first["published_n_m"]))


def test_the_table_has_the_differences(moments):
    table = passive_moment_table("mine", moments)
    assert table.row_count == 8
    cells = [list(column.cells) for column in table.columns]
    assert cells[1][0] == "28.4 to -42.4" and cells[2][0] == "56.7 to -84.8"
    assert {*cells[5]} == {"3.0"}

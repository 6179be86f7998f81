"""The figure of passive joint moments shows the moments that it is given."""

from __future__ import annotations

import numpy as np
import pytest

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

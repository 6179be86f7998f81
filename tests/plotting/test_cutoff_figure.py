"""The figure of cut-off and noise: drawn where the recording chose, and what it shows is what the result holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic_result import result, with_cutoffs

from musclesolve.plotting import save, save_figures
from musclesolve.plotting.filtering import cutoff_and_noise


def test_it_is_drawn_where_the_recording_chose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(save, "FIGURES", {"ground_reaction": save.FIGURES["ground_reaction"]})
    written = save_figures(with_cutoffs(result()), tmp_path)
    assert [path.stem for path in written] == ["ground_reaction", "cutoff_and_noise"]
    assert [path.stem for path in save_figures(result(), tmp_path)] == ["ground_reaction"]


@pytest.mark.parametrize("curves", [True, False])
def test_every_marker_has_a_bar_for_every_axis(curves: bool) -> None:
    data = with_cutoffs(result(), curves)
    figure = cutoff_and_noise(data)
    cutoff, noise = [axes for axes in figure.axes if axes.patches]
    # Axis by axis, marker by marker.
    np.testing.assert_allclose(
        [bar.get_height() for bar in cutoff.patches], data["marker_cutoff"].values.T.ravel()
    )
    np.testing.assert_allclose(
        [bar.get_height() for bar in noise.patches], 1000 * data["marker_noise"].values.T.ravel()
    )
    assert [label.get_text() for label in noise.get_xticklabels()] == ["pelvis", "knee", "heel", "toe"]


def test_curves_are_the_residuals_and_marks_the_choice() -> None:
    data = with_cutoffs(result())
    panels = {axes.get_title(loc="left"): axes for axes in cutoff_and_noise(data).axes}
    assert {"pelvis", "knee", "heel", "toe"} <= set(panels)
    residual, line, level, mark, _ = panels["heel"].lines[:5]
    own = data.sel(marker="heel", axis="x")
    np.testing.assert_allclose(residual.get_ydata(), 1000 * own["marker_residual"])
    np.testing.assert_allclose(line.get_ydata(), 1000 * own["marker_residual_line"])
    assert level.get_ydata()[0] == pytest.approx(0.4)
    assert mark.get_xdata()[0] == pytest.approx(float(own["marker_cutoff"]))

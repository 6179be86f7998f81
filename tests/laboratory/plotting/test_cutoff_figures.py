"""The figure of cut-off and noise: drawn where the recording chose, and what it shows is what the result holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic_result import result, with_cutoffs

from musclesolve.laboratory.plotting import cutoff_and_noise, save_figures
from musclesolve.laboratory.plotting import figure_sets as save


@pytest.mark.thorough
def test_it_is_drawn_where_the_recording_chose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: save.FIGURES[name] for name in ("ground_reaction", "cutoff_and_noise")}
    monkeypatch.setattr(save, "FIGURES", few)
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
    for axes in (cutoff, noise):
        assert [label.get_text() for label in axes.get_xticklabels()] == ["pelvis", "knee", "heel", "toe"]
    # The line of the forces.
    assert cutoff.lines[0].get_ydata()[0] == data.attrs["force_cutoff_hz"]
    assert "forces 7.2 Hz" in cutoff.get_title(loc="left")


def test_curves_are_the_residuals_and_marks_the_choice() -> None:
    data = with_cutoffs(result())
    panels = {axes.get_title(loc="left"): axes for axes in cutoff_and_noise(data).axes}
    assert {"pelvis", "knee", "heel", "toe"} <= set(panels)
    residual, line, extended, level, mark, _ = panels["heel"].lines[:6]
    own = data.sel(marker="heel", axis="x")
    np.testing.assert_allclose(residual.get_ydata(), 1000 * own["marker_residual"])
    fitted = slice(float(own["marker_linear_from"]) - 0.1, float(own["marker_linear_to"]) + 0.1)
    np.testing.assert_allclose(line.get_ydata(), 1000 * own["marker_residual_line"].sel(tried_cutoff=fitted))
    assert extended.get_xdata()[0] == 0.5 and extended.get_xdata()[-1] == line.get_xdata()[0]
    assert level.get_ydata()[0] == pytest.approx(0.4)
    assert mark.get_xdata()[0] == pytest.approx(float(own["marker_cutoff"]))


def test_the_legend_names_everything_and_the_page_says_which_markers() -> None:
    figure = cutoff_and_noise(with_cutoffs(result()))
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert {"residual", "noise", "cut-off chosen"} <= set(texts) and "residual not to be read" not in texts
    assert any("4 of 4 markers, from the lowest cut-off" in text.get_text() for text in figure.texts)


def test_what_could_not_be_read_is_hatched() -> None:
    data = with_cutoffs(result())
    data["marker_verdict"][2, 1] = 1
    figure = cutoff_and_noise(data)
    for axes in (axes for axes in figure.axes if axes.patches):
        (hatched,) = (bar for bar in axes.patches if bar.get_hatch())
        assert hatched.get_center()[0] == pytest.approx(2.0), "the second of three bars of the third marker"
    assert "residual not to be read" in [text.get_text() for text in figure.legends[0].get_texts()]

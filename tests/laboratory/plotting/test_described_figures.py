"""Figures as data for a browser: the numbers, scales and words of the figures that matplotlib draws."""

from __future__ import annotations

import base64
import json
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex
from report_inputs import compared, small, uncertain, with_emg
from synthetic_result import (
    few_muscles,
    result,
    set_status,
    with_cutoffs,
    with_fascicles,
    with_tendons,
    with_troubles,
)
from thorough import some

from musclesolve import Status
from musclesolve.laboratory.plotting import (
    activations,
    ground_reaction,
    muscle_forces,
    page_style,
    uncertainty_contact_forces,
)
from musclesolve.laboratory.plotting.browser import page_parts
from musclesolve.laboratory.plotting.page.described_sheet import COLUMNS, MOST, described, needed
from musclesolve.laboratory.report.content.pieces import figures_of
from musclesolve.laboratory.report.inputs import COMPARISON, RESULT, UNCERTAINTY


def trial():
    """A result with everything that a figure can be of."""
    return with_cutoffs(with_emg(with_fascicles(with_tendons(with_troubles(small())))))


DATA = {RESULT: trial(), UNCERTAINTY: uncertain(with_troubles(small())), COMPARISON: compared(small())}
FIGURES = [(kind, name) for kind, data in DATA.items() for name in figures_of(data, kind)]


def numbers(page, reference):
    """The values that a mark refers to."""
    start, length, *ends = reference
    if not ends:
        return np.frombuffer(base64.b64decode(page["data"]), "<f4")[start : start + length]
    whole = np.frombuffer(base64.b64decode(page["whole"]), "<u2")[start : start + length].astype(float)
    return np.where(whole > MOST, np.nan, ends[0] + (ends[1] - ends[0]) * whole / MOST)


def same(one, other):
    """Whether two curves are the same to the steps between the least and the greatest value of each column."""
    one, other = (np.asarray(each, float).reshape(len(each), -1) for each in (one, other))
    return one.shape == other.shape and bool(
        np.all(np.abs(one - other) <= 2e-5 * np.ptp(other, axis=0) + 1e-6 * np.abs(other) + 1e-9)
    )


def marks(panel, kind, name=None):
    return [mark for mark in panel["marks"] if mark["k"] == kind and name in (None, mark.get("s"))]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("kind", "name"), some(FIGURES, 2))
def test_a_browser_gets_the_curves_scales_and_words_that_matplotlib_draws(kind, name):
    data = DATA[kind]
    draw = figures_of(data, kind)[name]
    page = described(lambda: draw(data))
    with page_style(width_mm=200.0):
        figure = draw(data)
    axes = [each for each in figure.axes if each.get_visible() and each.axison]
    panels = [each for each in page["panels"] if each is not None]
    assert len(axes) == len(panels)
    assert page["title"] == figure.texts[0].get_text()
    legend = [text.get_text().replace("\n", " ") for text in figure.legends[0].get_texts()]
    assert sorted(entry["text"] for entry in page["legend"]) == sorted(legend)
    for one, panel in zip(axes, panels, strict=True):
        assert panel.get("name", "") == one.get_title(loc="left").replace("\n", " ")
        if not panel.get("equal"):
            np.testing.assert_allclose(panel["x"], one.get_xlim(), rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(panel["y"], one.get_ylim(), rtol=1e-5, atol=1e-6)
        drawn = [_curve(line.get_xdata(), line.get_ydata()) for line in one.lines if _is_curve(line, one)]
        given = [
            _curve(numbers(page, mark["x"]), numbers(page, mark["y"]))
            for mark in marks(panel, "line")
            if not mark.get("h") and not mark.get("out")
        ]
        assert len(given) == len(drawn)
        assert all(any(same(each, other) for each in given) for other in drawn)
        colors = {to_hex(line.get_color()).upper() for line in one.lines if _is_curve(line, one)}
        assert {to_hex(mark["c"]).upper() for mark in marks(panel, "line")} >= colors


def _is_curve(line, axes):
    x = np.asarray(line.get_xdata(), float)
    across = line.get_transform() != axes.transData
    return not across and np.isfinite(np.asarray(line.get_ydata(), float)).any() and x.size > 0


def _curve(x, y):
    """The finite points of a curve, rounded as single precision is."""
    x, y = (np.asarray(each, np.float32) for each in (x, y))
    known = np.isfinite(y) & np.isfinite(x)
    return [tuple(point) for point in np.stack([x[known], y[known]], axis=1).tolist()]


def test_the_numbers_of_a_page_are_those_of_the_dataset():
    """Over time, every frame solved: the curve of each muscle and leg is its row of the result."""
    data = few_muscles(result())
    data.attrs["heel_strike_times_l"] = []
    data["ground_reaction_force"][:] = 0.0
    for name, draw in (("activation", activations), ("muscle_force", muscle_forces)):
        page = described(lambda draw=draw: draw(data))
        assert page["xl"] == "time [s]"
        for panel in page["panels"]:
            stem = panel["name"].replace(" ", "_")
            for side, label in (("r", "right"), ("l", "left")):
                (mark,) = marks(panel, "line", label)
                assert same(numbers(page, mark["x"]), data["time"].values)
                own = data[name].sel(muscle=f"{stem}_{side}").values
                assert same(numbers(page, mark["y"]), own)


def test_a_frame_without_a_solution_has_no_value_but_a_cross():
    data = few_muscles(result())
    data.attrs["heel_strike_times_l"] = []
    data["ground_reaction_force"][:] = 0.0
    set_status(data, Status.INFEASIBLE, slice(10, 13), 0)
    set_status(data, Status.SOLVED_WITH_RESERVE, slice(30, 33), 0)
    page = described(lambda: activations(data))
    for panel in page["panels"]:
        (curve,) = marks(panel, "line", "right")
        assert np.isnan(numbers(page, curve["y"])[10:13]).all()
        (cross,) = marks(panel, "line", "right · no valid solution")
        assert same(numbers(page, cross["x"]), data["time"].values[10:13])
        assert cross["m"] == "x" and cross["h"] and "d" not in cross
        (reserve,) = marks(panel, "line", "right · with reserve")
        assert reserve["d"] and numbers(page, reserve["x"]).size == 5
    assert {"no valid solution", "with reserve"} <= {entry["text"] for entry in page["legend"]}


def test_bands_of_uncertainty_hold_the_quantiles():
    data = uncertain(small())
    page = described(lambda: uncertainty_contact_forces(data))
    weight = float(data.attrs["subject_mass_kg"]) * 9.80665
    (wide,) = marks(page["panels"][0], "area", "right · 95 % of the samples")[:1]
    high = data["contact_force_quantile"].sel(joint="hip_r", quantile=0.975).values / weight
    assert np.abs(numbers(page, wide["y2"])[:, None] - high.ravel()).min(axis=1).max() < 1e-4 * high.max()


def test_predicted_forces_are_dashed_and_their_stance_is_an_empty_box():
    data = small()
    data = data.assign(ground_predicted=(("time", "side"), np.ones((data.sizes["time"], 2), dtype=bool)))
    page = described(lambda: ground_reaction(data.assign_attrs(ground_reactions="predicted")))
    (curve,) = marks(page["panels"][0], "line", "right · predicted")[:1]
    assert curve["d"]
    (box,) = marks(page["panels"][0], "box", "right · on the ground, force predicted")
    assert box["f"] == "none" and box["h"]


def test_no_sign_of_a_name_ends_the_script_of_the_page():
    evil = "</script><script>alert(1)</script>"
    data = small()
    data = data.assign_coords(muscle=[f"{evil}_r", *data["muscle"].values[1:]])
    text = page_parts.data(described(lambda: activations(data)))
    assert "<" not in text
    assert evil in [panel["name"] for panel in json.loads(text)["panels"] if panel]


def test_a_page_is_described_without_matplotlib():
    code = (
        "import sys; from musclesolve.laboratory.report.content import pieces; "
        "from musclesolve.laboratory.plotting.page import described_sheet; "
        "assert not [name for name in sys.modules if name.startswith('matplotlib')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_points_on_straight_lines_are_left_out_and_peaks_and_gaps_stay():
    place = np.arange(1000.0)
    curve = np.where(place < 500.0, place, 1000.0 - place)
    curve[700] = 900.0
    curve[300:310] = np.nan
    kept = needed(place, curve)
    assert len(kept) < 20 and {499, 500} & {*kept} and 700 in kept
    assert np.isnan(curve[kept]).sum() == 1
    smooth = np.sin(place / 80.0)
    kept = needed(place, smooth)
    assert len(kept) < 200
    np.testing.assert_allclose(np.interp(place, place[kept], smooth[kept]), smooth, atol=2.1e-3)


def test_the_points_of_a_curve_are_bounded_however_long_it_is():
    counts = []
    for frames in (100_000, 400_000):
        time = np.linspace(0.0, 1.0, frames)
        noise = np.random.default_rng(1).normal(size=frames)
        noise[frames // 2 : frames // 2 + frames // 100] = np.nan  # wider than a part of the axis
        kept = needed(time, noise)
        counts.append(len(kept))
        part = np.floor(time * COLUMNS)
        for k in (0, COLUMNS // 3, COLUMNS - 1):
            inside, shown = noise[part == k], noise[kept][part[kept] == k]
            assert (shown.min(), shown.max()) == (inside.min(), inside.max())
        assert np.isnan(noise[kept]).sum() == 1
    assert max(counts) <= 4 * COLUMNS + 2

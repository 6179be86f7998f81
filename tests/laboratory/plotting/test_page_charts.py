"""Charts of pages: every figure of a result has one, with its panels, its words and the curves of the result."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from report_inputs import compared, small, uncertain, with_emg, written
from synthetic_result import few_muscles, result, with_fascicles, with_tendons, with_troubles
from thorough import some

from musclesolve.laboratory.plotting.page.chart import PIXEL, round_numbers
from musclesolve.laboratory.plotting.page.chart_figure import chart_of
from musclesolve.laboratory.plotting.page.page_style import page_style
from musclesolve.laboratory.report.content.pieces import figures_of
from musclesolve.laboratory.report.inputs import COMPARISON, RESULT, UNCERTAINTY
from musclesolve.laboratory.results.facts import Facts

TRIAL = with_emg(with_fascicles(with_tendons(with_troubles(small()))))
FIGURES = figures_of(TRIAL, RESULT)
CHARTS = [name for name, draw in FIGURES.items() if chart_of(draw)]
ONLY_FILES = {"consistency_shift", "cutoff_and_noise"}
"""Figures with bars for each point or marker."""


def tree(name, data):
    return ElementTree.fromstring(f"<div>{chart_of(FIGURES[name])(Facts(data)).html()}</div>")


def words(part):
    return "".join("".join(part.itertext()).split())


def numbers(text):
    return [float(each) for each in re.findall(r"-?[\d.]+", text)]


def panels(root):
    return [part for part in root.iter("svg") if "data-box" in part.attrib]


def points(panel, name):
    """The points (K, 2) of a curve of a panel, in the units of its axes."""
    (left, top, wide, tall), x, y = (numbers(panel.attrib[f"data-{key}"]) for key in ("box", "x", "y"))
    (path,) = [curve for curve in panel.iter("path") if curve.attrib.get("data-of") == name]
    drawn = np.concatenate(
        [np.reshape(numbers(part), (-1, 2)).cumsum(axis=0) for part in path.attrib["d"].split("M")[1:]]
    )
    across, upward = (drawn - (left, top)).T / np.array([[wide], [tall]])
    return np.stack([x[0] + across * (x[1] - x[0]), y[1] - upward * (y[1] - y[0])], axis=1)


def over_time(data):
    """The result without gait cycles, so that curves lie over time."""
    data.attrs["heel_strike_times_l"] = []
    data["ground_reaction_force"][:] = 0.0
    return data


def test_every_figure_of_a_result_but_bars_is_a_chart():
    assert set(FIGURES) - set(CHARTS) <= ONLY_FILES and len(CHARTS) > 10


OTHERS = {UNCERTAINTY: uncertain(with_troubles(small())), COMPARISON: compared(small())}
DRAWN = {name: (FIGURES[name], TRIAL, Facts(TRIAL)) for name in CHARTS} | {
    name: (draw, data, data)
    for kind, data in OTHERS.items()
    for name, draw in figures_of(data, kind).items()
    if chart_of(draw)
}
"""Drawing function, its data, and the data of its chart."""


@pytest.mark.parametrize("name", some(DRAWN, 2))
def test_a_chart_has_the_panels_and_the_legend_of_the_figure(name):
    draw, data, of = DRAWN[name]
    root = ElementTree.fromstring(f"<div>{chart_of(draw)(of).html()}</div>")
    with page_style(titled=False):
        figure = draw(data)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels(root)) == len(shown)
    for text in figure.legends[0].get_texts() if figure.legends else ():
        assert "".join(text.get_text().split()) in words(root)


@pytest.mark.parametrize(
    ("name", "variable"), [("activations", "activation"), ("muscle_forces", "muscle_force")]
)
def test_the_curves_are_those_of_the_result(name, variable):
    """Over time, every frame solved: the curve of each muscle and leg is its row of the result."""
    data = over_time(few_muscles(result()))
    root = tree(name, data)
    assert len(panels(root)) == len({muscle[:-2] for muscle in data["muscle"].values.tolist()})
    for panel in panels(root):
        assert panel.attrib["data-across"] == "time [s]"
        stem = panel.attrib["aria-label"].replace(" ", "_")
        for side, label in (("r", "right"), ("l", "left")):
            own, time = data[variable].sel(muscle=f"{stem}_{side}").values, data["time"].values
            drawn = points(panel, label)
            tall, (low, high) = numbers(panel.attrib["data-box"])[3], numbers(panel.attrib["data-y"])
            error = np.abs(np.interp(time, drawn[:, 0], drawn[:, 1]) - own).max()
            assert error < 0.3 * PIXEL / tall * (high - low), "a third of a pixel"


def test_the_curve_of_a_long_result_keeps_its_lowest_and_highest_values():
    data = over_time(few_muscles(result()))
    (name,), count = data["muscle"].values[:1].tolist(), data.sizes["time"]
    long = data.isel(time=np.arange(100 * count) % count)
    long = long.assign_coords(time=np.linspace(0.0, 100.0, long.sizes["time"]))
    long["activation"].loc[{"muscle": name}] = 0.1
    long["activation"][777, 0] = 0.9
    label = name[:-2].replace("_", " ")
    (panel,) = [each for each in panels(tree("activations", long)) if each.attrib["aria-label"] == label]
    drawn = points(panel, {"r": "right", "l": "left"}[name[-1]])
    assert len(drawn) < 1200 < long.sizes["time"]
    assert drawn[:, 1].max() == pytest.approx(0.9, abs=0.01) and drawn[:, 1].min() == pytest.approx(
        0.1, abs=0.01
    )


def test_no_sign_of_a_name_becomes_markup():
    evil = "<script>alert(1)</script>"
    data = few_muscles(result())
    data = data.assign_coords(muscle=[f"{evil}_r", *data["muscle"].values[1:]])
    text = chart_of(FIGURES["activations"])(Facts(data)).html()
    assert "<script" not in text and "&lt;script" in text


def test_the_numbers_of_an_axis_are_round_and_within_its_ends():
    rng = np.random.default_rng(0)
    for low, size in zip(
        rng.normal(size=200) * 10.0 ** rng.integers(-3, 5, 200), 10.0 ** rng.uniform(-4, 5, 200), strict=True
    ):
        ticks = np.array(round_numbers(low, low + size, 4))
        assert 2 <= len(ticks) <= 8
        assert ticks.min() >= low - 1e-6 * size and ticks.max() <= low + size * (1.0 + 1e-6)
        step = np.diff(ticks)[0]
        assert min(abs(step / 10.0 ** np.floor(np.log10(step) + 1e-9) - each) for each in (1, 2, 5)) < 1e-6


def test_the_page_of_a_result_needs_no_matplotlib(tmp_path):
    """It takes longer to load, and to draw some hundred panels, than the computation of a result."""
    path = written(TRIAL, tmp_path, "result.nc")
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from musclesolve.laboratory.report.page import write_report\n"
        f"page, _ = write_report([{str(path)!r}])\n"
        "print(page.read_text(encoding='utf-8').count('data-box'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 50

"""Figures in pages: the curves, scales and words that matplotlib draws, in an SVG with names of its own."""

import re
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest
from report_inputs import compared, small, uncertain, with_emg
from synthetic_result import few_muscles, result, with_cutoffs, with_fascicles, with_tendons, with_troubles

from musclesolve.laboratory.plotting import activations, muscle_forces
from musclesolve.laboratory.plotting.page.chart_figure import chart_of
from musclesolve.laboratory.plotting.page.page_svg import STEP, page_svg
from musclesolve.laboratory.report.content.pieces import figures_of
from musclesolve.laboratory.report.inputs import COMPARISON, RESULT, UNCERTAINTY


def trial():
    """A result with everything that a figure can be of."""
    return with_cutoffs(with_emg(with_fascicles(with_tendons(with_troubles(small())))))


DATA = {RESULT: trial(), UNCERTAINTY: uncertain(with_troubles(small())), COMPARISON: compared(small())}
FIGURES = [
    (kind, name)
    for kind, data in DATA.items()
    for name, draw in figures_of(data, kind).items()
    if chart_of(draw) is None
]
"""Figures that a page does not paint as charts."""


def tree(draw, data, key="key"):
    return ElementTree.fromstring(page_svg(partial(draw, data), key, "a figure"))


def numbers(text):
    return [float(each) for each in re.findall(r"-?[\d.]+", text)]


def panels(root):
    return [group for group in root.iter("g") if "data-box" in group.attrib]


def points(panel, name):
    """The points (K, 2) of a curve of a panel, in the units of its axes."""
    (left, top, wide, tall), x, y = (numbers(panel.attrib[f"data-{key}"]) for key in ("box", "x", "y"))
    (path,) = [curve.find("path") for curve in panel.iter("g") if curve.attrib.get("data-of") == name]
    drawn = np.concatenate(
        [np.reshape(numbers(part), (-1, 2)).cumsum(axis=0) for part in path.attrib["d"].split("M")[1:]]
    )
    across, upward = (drawn - (left, top)).T / np.array([[wide], [tall]])
    return np.stack([x[0] + across * (x[1] - x[0]), y[1] - upward * (y[1] - y[0])], axis=1)


@pytest.mark.parametrize(("kind", "name"), FIGURES)
def test_a_page_holds_every_panel_and_its_words(kind, name):
    data = DATA[kind]
    draw = figures_of(data, kind)[name]
    root, figure = tree(draw, data), draw(data)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels(root)) == len(shown)
    words = "".join("".join(root.itertext()).split())
    for axes in shown:
        assert "".join(axes.get_title(loc="left").split()) in words
    for text in figure.legends[0].get_texts() if figure.legends else ():
        assert "".join(text.get_text().split()) in words


def test_the_curves_of_a_page_are_those_of_the_dataset():
    """Over time, every frame solved: the curve of each muscle and leg is its row of the result."""
    data = few_muscles(result())
    data.attrs["heel_strike_times_l"] = []
    data["ground_reaction_force"][:] = 0.0
    for name, draw in (("activation", activations), ("muscle_force", muscle_forces)):
        root = tree(draw, data)
        assert root.attrib["data-across"] == "time [s]"
        stems = {name[:-2] for name in data["muscle"].values.tolist()}
        assert len(panels(root)) == len(stems)
        for panel in panels(root):
            words = " ".join(text.text for text in panel.iter("text"))
            stem = max((stem for stem in stems if stem.replace("_", " ") in words), key=len)
            for side, label in (("r", "right"), ("l", "left")):
                own, time = data[name].sel(muscle=f"{stem}_{side}").values, data["time"].values
                drawn = points(panel, label)
                tall, (low, high) = numbers(panel.attrib["data-box"])[3], numbers(panel.attrib["data-y"])
                error = np.abs(np.interp(drawn[:, 0], time, own) - drawn[:, 1]).max()
                assert error < 5.0 * STEP / tall * (high - low), "on the steepest slope"


def test_names_of_two_figures_differ_and_one_figure_is_always_the_same():
    data = few_muscles(result())
    one, again, other = (page_svg(partial(activations, data), key, "x") for key in ("a", "a", "b"))
    assert one == again
    ids = [set(re.findall(r' id="([^"]*)"', text)) for text in (one, other)]
    assert ids[0] and not ids[0] & ids[1]
    assert {name for name in re.findall(r"url\(#([^)]*)\)", one)} <= ids[0]


def test_no_sign_of_a_name_becomes_markup():
    evil = "<script>alert(1)</script>"
    data = few_muscles(result())
    data = data.assign_coords(muscle=[f"{evil}_r", *data["muscle"].values[1:]])
    text = page_svg(partial(activations, data), "a", evil)
    assert "<script" not in text and "&lt;script" in text


def test_letters_stay_letters_and_text_has_the_color_of_the_page():
    root = tree(activations, few_muscles(result()))
    assert root.attrib["fill"] == "currentColor" and root.attrib["role"] == "img"
    assert "activation [1]" in [text.text for text in root.iter("text")]
    assert not [part for part in root.iter() if "style" in part.attrib]

"""Figures as files: formats, the same bytes every time, what they replace, and drawn beside another process."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from refusals import refused
from synthetic_result import few_muscles
from synthetic_result import result as every_muscle

from musclesolve.laboratory.plotting import figure_sets as sets
from musclesolve.laboratory.plotting import save_figures
from musclesolve.laboratory.plotting.figure_names import files_of, in_every_format
from musclesolve.laboratory.plotting.page.page_style import SIDE_COLOR, SIDE_WIDTH
from musclesolve.laboratory.plotting.study.comparison_figures import COST_COLORS, line_style
from musclesolve.laboratory.results.dataset.quantities import in_set

TWO = ("ground_reaction", "reserves_and_residual")


@pytest.fixture(scope="module")
def result():
    return few_muscles(every_muscle())


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", ["png", "pdf", "svg"])
def test_the_same_result_gives_the_same_bytes(result, tmp_path, name):
    first, again = (save_figures(result, tmp_path / each, name, TWO) for each in "ab")
    assert [path.name for path in first] == [f"{each}.{name}" for each in TWO]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


@pytest.mark.thorough
def test_letters_of_vector_files_stay_letters(result, tmp_path):
    svg, pdf = (save_figures(result, tmp_path, name, TWO[:1])[0] for name in ("svg", "pdf"))
    assert not svg.exists(), "a folder holds the figures of one format"
    assert b"/FontFile2" in pdf.read_bytes()
    (svg,) = save_figures(result, tmp_path, "svg", TWO[:1])
    assert ">Ground reaction</text>" in svg.read_text(encoding="utf-8")


def test_files_of_other_formats_are_replaced_and_other_figures_left_alone(result, tmp_path):
    for name in ("ground_reaction.png", "activations.svg", "notes.png"):
        (tmp_path / name).touch()
    save_figures(result, tmp_path, "pdf", ["ground_reaction"])
    assert {path.name for path in tmp_path.iterdir()} == {
        "ground_reaction.pdf",
        "activations.svg",
        "notes.png",
    }


def test_all_formats_of_a_figure_may_be_removed():
    assert {"activations.png", "activations.pdf", "activations.svg"} <= set(
        in_every_format(files_of("recording"))
    )


def test_an_unknown_figure_or_format_is_refused_and_nothing_is_written(result, tmp_path):
    with refused("unknown_name", "contact_forces"):
        save_figures(result, tmp_path, figures=["contact_force"])
    with refused("unknown_name", "gif"):
        save_figures(result, tmp_path, "gif")
    assert not list(tmp_path.iterdir())


def gray(color: str) -> float:
    """Return the lightness of a color in gray, 0 to 1 (ITU-R BT.601, as printers and Pillow have it)."""
    return float(np.dot(to_rgb(color), (0.299, 0.587, 0.114)))


def test_the_legs_are_told_apart_in_gray():
    assert abs(gray(SIDE_COLOR["r"]) - gray(SIDE_COLOR["l"])) > 0.25
    assert SIDE_WIDTH["r"] > 1.5 * SIDE_WIDTH["l"]


def test_costs_are_told_apart_in_gray():
    """By lightness, by dashes, or by a width that is half of the other's."""
    styles = [line_style(number, len(COST_COLORS)) for number in range(len(COST_COLORS))]
    for one, other in combinations(styles, 2):
        lightness = abs(gray(one["color"]) - gray(other["color"]))
        width = min(one["linewidth"], other["linewidth"]) / max(one["linewidth"], other["linewidth"])
        assert lightness > 0.15 or one["linestyle"] != other["linestyle"] or width < 0.7, (one, other)


def test_every_name_of_the_package_is_there():
    import musclesolve.laboratory.plotting as plotting

    own = set(in_set("figure"))  # drawn by one function
    assert (set(sets.FIGURES) | set(sets.OF_MODEL)) - own <= set(dir(plotting))
    assert all(callable(getattr(plotting, name)) for name in dir(plotting))


def test_a_comparison_and_an_average_are_named_when_they_are_refused(result):
    for dim, said in (("cost", "comparison of costs"), ("percent", "gait cycles, or of their averages")):
        with refused("bad_result") as info:
            sets.figures_again(result.drop_vars(dim, errors="ignore").expand_dims({dim: ["a"]}))
        assert said in str(info.value)

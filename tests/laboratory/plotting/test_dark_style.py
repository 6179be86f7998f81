"""On the dark ground that a user chose, texts and lines of a figure are seen, and bands are no light areas."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.text import Text
from synthetic_result import few_muscles, result

from musclesolve.laboratory.plotting import clinical_sheet, joint_moments, pose_activations
from musclesolve.laboratory.plotting.page.dark_colors import CONTRAST, DARK, LIGHT, contrast


def colors(figure, kind):
    return {to_hex(each.get_color()) for each in figure.findobj(kind) if each.get_visible()}


@pytest.mark.parametrize("draw", [clinical_sheet, joint_moments, pose_activations])
def test_texts_and_lines_have_contrast_on_a_dark_ground(draw):
    data = few_muscles(result())
    with plt.style.context("dark_background"):
        figure = draw(data)
        figure.savefig(io.BytesIO())
        again = colors(figure, Text)
        figure.savefig(io.BytesIO())
    assert colors(figure, Text) == again
    seen = again | colors(figure, Line2D)
    assert min(contrast(color, DARK) for color in seen) >= CONTRAST - 0.05
    faces = [face for each in figure.findobj(PolyCollection) for face in np.atleast_2d(each.get_facecolor())]
    assert all(contrast(to_hex(face), LIGHT) > 2.0 for face in faces)


def test_a_light_figure_keeps_its_colors():
    figure = joint_moments(few_muscles(result()))
    before = colors(figure, Text) | colors(figure, Line2D)
    figure.savefig(io.BytesIO())
    assert before <= colors(figure, Text) | colors(figure, Line2D)
    assert "#000000" in before

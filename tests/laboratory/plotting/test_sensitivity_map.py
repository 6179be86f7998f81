"""The map of errors: every joint and source, numbers in newton meters, exact zeros empty."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import Sensitivity
from musclesolve.laboratory.plotting import sensitivity_map

DOFS = ("elbow_flexion_l", "knee_flexion_r", "trunk_flexion", *(f"base_{k}" for k in range(6)))


def one(kind="segment mass", unit="kg", sources=("head", "hand_l"), values=None):
    if values is None:
        values = np.zeros((4, len(DOFS), len(sources)))
        values[2, 0, 1], values[1, 2, 0], values[:, 6] = -3.0, 0.25, 99.0
    return Sensitivity(kind, unit, DOFS, sources, values)


def points():
    values = np.zeros((4, len(DOFS), 6))
    values[0, 1, :3] = 300.0, 400.0, 0.0
    return one("measured point", "m", tuple(f"{p} {x}" for p in ("knee_r", "wrist_l") for x in "xyz"), values)


def cells(axes):
    return {
        (axes.get_yticks()[round(text.get_position()[1])], round(text.get_position()[0])): text.get_text()
        for text in axes.texts
    }


def test_joints_are_ordered_by_limb_and_cells_hold_the_largest_change():
    axes, other, _ = sensitivity_map([one(), points()]).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "knee flexion r",
        "trunk flexion",
        "elbow flexion l",
    ]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["head", "hand l"]
    assert cells(axes) == {(1, 0): ".25", (2, 1): "3.0"}
    assert cells(other) == {(0, 0): "5.0"}, "10 mm in the worst direction of (300, 400, 0) N m/m"
    assert [label.get_text() for label in other.get_xticklabels()] == ["knee r", "wrist l"]


def test_exact_zeros_are_empty():
    axes = sensitivity_map([one()]).axes[0]
    mask = np.ma.getmaskarray(axes.images[0].get_array())
    assert mask.tolist() == [[True, True], [False, True], [True, False]]


def test_the_size_of_an_error_can_be_chosen_and_the_base_is_not_drawn():
    axes = sensitivity_map([one()], {"segment mass": 0.5}).axes[0]
    assert "0.5 kg" in axes.get_title()
    assert cells(axes)[(2, 1)] == "1.5"
    assert len(axes.get_yticklabels()) == len(DOFS) - 6


@pytest.mark.parametrize(
    ("drawn", "code"),
    [
        ([], "missing_argument"),
        ([one(kind="weather")], "missing_argument"),
        ([one(), None], "not_comparable"),
    ],
)
def test_what_cannot_be_drawn_is_refused(drawn, code):
    drawn = [each or Sensitivity("force", "N", DOFS[1:], ("x",), np.zeros((4, 8, 1))) for each in drawn]
    with refused(code):
        sensitivity_map(drawn)

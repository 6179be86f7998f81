"""The shapes of costs: each curve is the cost of a muscle alone, relative to the largest of its panel."""

import numpy as np
import pytest

import musclesolve as ms
from musclesolve.laboratory.plotting import cost_shapes

PROBLEM = ms.Problem(
    [[0.05, 0.03]], [0.0], [1000.0, 400.0], [1000.0, 400.0], muscle=("strong", "weak"), dof=("elbow",)
)


@pytest.mark.parametrize(
    ("name", "half", "weak"),
    [
        ("activation_power", 0.25, 1.0),
        ("force_squared", 0.25, 0.16),
        ("stress_cubed", 0.125, 1.0),
        ("min_max", 0.5, 1.0),
    ],
)
def test_a_curve_is_the_cost_of_a_muscle_alone(name, half, weak):
    axes = cost_shapes(PROBLEM, ["strong", "weak"], {name: ms.costs()[name]()}).axes[0]
    strong, other = axes.lines
    force, cost = strong.get_data()
    assert force[-1] == pytest.approx(1000.0) and cost[-1] == pytest.approx(1.0)
    assert np.interp(500.0, force, cost) == pytest.approx(half)
    assert other.get_data()[0][-1] == pytest.approx(400.0) and other.get_data()[1][-1] == pytest.approx(weak)


def test_costs_without_their_arrays_are_left_out():
    titles = {
        axes.get_title(loc="left") for axes in cost_shapes(PROBLEM, ["strong"]).axes if axes.get_visible()
    }
    assert any("min max" in each for each in titles) and not any("emg" in each for each in titles)

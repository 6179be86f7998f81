"""The curves of Silva (2003) against the numbers of their equations."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve.muscles.curves.curve_family import SILVA_2003, Silva2003

MINUS = Silva2003("quartic_minus_quadratic")


@pytest.mark.parametrize(
    ("l_norm", "plus", "minus"),
    [
        (0.5, 0.2706, 0.4517),
        (0.6, 0.5830, 0.7949),
        (0.75, 0.9124, 1.0097),
        (0.95, 1.0, 1.0),
        (1.0, 0.9967, 1.0030),
        (1.25, 0.7251, 0.9106),
        (1.5, 0.0653, 0.1405),
    ],
)
def test_active_force_length_numbers(l_norm: float, plus: float, minus: float) -> None:
    assert SILVA_2003.active(l_norm) == pytest.approx(plus, abs=5e-5)
    assert MINUS.active(l_norm) == pytest.approx(minus, abs=5e-5)


def test_active_force_length_maxima_and_width() -> None:
    grid = np.linspace(0.0, 2.0, 200001)
    plus, minus = SILVA_2003.active(grid), MINUS.active(grid)
    assert plus.max() == 1.0 and grid[plus.argmax()] == pytest.approx(0.95, abs=1e-4)
    assert minus.max() == pytest.approx(1.0157, abs=5e-5)
    assert grid[minus > minus.max() - 1e-9][[0, -1]] == pytest.approx([0.793, 1.107], abs=1e-3)
    for form, share, edges in [(SILVA_2003, 0.01, (0.318, 1.582)), (SILVA_2003, 0.05, (0.386, 1.514)),
                               (MINUS, 0.01, (0.280, 1.620)), (MINUS, 0.05, (0.344, 1.556))]:  # fmt: skip
        above = grid[form.active(grid) > share]
        assert above[[0, -1]] == pytest.approx(edges, abs=5e-4)


def test_active_force_length_falls_on_both_sides() -> None:
    rising, falling = np.linspace(0.0, 0.95, 500), np.linspace(0.95, 2.0, 500)
    assert np.all(np.diff(SILVA_2003.active(rising)) > 0)
    assert np.all(np.diff(SILVA_2003.active(falling)) < 0)


def test_unknown_form_is_refused() -> None:
    with refused("unknown_name", "gaussian", "quartic_plus_quadratic", " or "):
        Silva2003("gaussian")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("v_norm", "expected"),
    [(-2.0, 0.0), (-1.0, 0.0), (-0.1, 0.6624), (0.0, 1.0), (0.1, 1.3376), (0.2, 1.57186), (0.5, 1.57186)],
)
def test_force_velocity_numbers(v_norm: float, expected: float) -> None:
    assert SILVA_2003.velocity(v_norm) == pytest.approx(expected, abs=5e-5 if abs(v_norm) == 0.1 else 5e-6)


def test_force_velocity_slope_at_rest() -> None:
    h = 1e-6
    assert (SILVA_2003.velocity(h) - SILVA_2003.velocity(-h)) / (2 * h) == pytest.approx(
        5 / np.arctan(5), rel=1e-8
    )


@pytest.mark.parametrize(
    ("l_norm", "expected"), [(0.2, 0.0), (1.0, 0.0), (1.5, 1.0), (1.63, 2.000376), (1.6301, 2.0), (9.0, 2.0)]
)
def test_passive_force_length_numbers(l_norm: float, expected: float) -> None:
    assert SILVA_2003.passive(l_norm) == pytest.approx(expected, abs=1e-9)

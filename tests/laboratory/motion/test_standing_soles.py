"""Soles of standing feet: a floor that is tilted, feet that slide, a belt."""

import numpy as np
import pytest

from musclesolve.laboratory.motion.motion_plausibility import sole_warnings

TIME = np.arange(200) / 100.0


def walked(slope: float = 0.0, sliding: float = 0.0, belt: float = 0.0) -> list[str]:
    """Codes of the warnings of four steps of 0.5 m on a floor that rises forward, by feet that slide to and fro."""
    step = np.arange(200) // 50
    stands = np.stack([step % 2 == 0, step % 2 == 1], axis=1)
    heel = np.where(belt, 0.0, 0.5 * step) + np.where(belt, -belt * (TIME % 0.5), 0.0)
    heel += sliding / 20.0 * np.sin(20.0 * TIME)
    x = heel[:, None] + np.array([0.0, 0.25])
    points = np.stack([x, 0.0 * x, slope * x], axis=-1)
    both = np.stack([points, points + np.array([0.0, 0.2, 0.0])], axis=1)
    both[~stands] += [0.0, 0.0, 0.1]
    return [each.code for each in sole_warnings(TIME, both, np.where(stands, 1.0, 0.0))]


def test_feet_that_rest_on_a_level_floor() -> None:
    assert walked() == walked(slope=np.tan(np.radians(1.2))) == walked(sliding=0.1) == []


@pytest.mark.parametrize("degrees", [2.0, -3.0])
def test_a_tilted_floor(degrees: float) -> None:
    assert walked(slope=np.tan(np.radians(degrees))) == ["floor_tilted"]


def test_feet_that_slide() -> None:
    assert walked(sliding=0.4) == ["soles_slide"]


def test_the_soles_on_a_belt_show_no_slope() -> None:
    assert walked(slope=0.05, belt=1.2) == []


def test_no_foot_stands() -> None:
    assert sole_warnings(TIME, np.zeros((200, 2, 2, 3)), np.zeros((200, 2))) == []

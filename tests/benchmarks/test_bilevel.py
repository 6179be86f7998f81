"""The gradient of the bilevel problem is that of differences, and its optimum that of all unknowns together."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.bilevel import STRAIGHT, TERMS, Swing, at_once, optimum


def test_multipliers_of_the_inner_problem_give_the_gradient_of_the_outer_one() -> None:
    swing, random = Swing(), np.random.default_rng(1)
    c, along = 0.1 * random.normal(size=(2, 2 * TERMS))
    _, slope = swing.effort(c)
    step = 1e-4
    by_difference = (swing.effort(c + step * along)[0] - swing.effort(c - step * along)[0]) / (2.0 * step)
    assert slope @ along == pytest.approx(by_difference, rel=1e-5)


def test_both_routes_end_at_the_same_motion() -> None:
    swing = Swing()
    best = optimum(swing)
    effort, (least, other) = swing.effort(best)[0], at_once(swing)
    assert effort == pytest.approx(least, rel=1e-5)
    np.testing.assert_allclose(swing.angles(best)[0], swing.angles(other)[0], atol=1e-4)
    assert effort < 0.6 * swing.effort(0.0 * best)[0]
    assert swing.angles(best)[0][:, 1].min() == pytest.approx(STRAIGHT, abs=1e-6)
    assert swing.solution(best).activation.max() < 1.0
    np.testing.assert_allclose(
        swing.angles(best)[0][[0, -1]], swing.angles(0.0 * best)[0][[0, -1]], atol=1e-12
    )

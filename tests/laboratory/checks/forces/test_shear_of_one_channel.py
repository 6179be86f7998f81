"""One level channel of another scale: shown by what it balances of force and moment, and in a single stride."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from musclesolve.data import reference_stride
from musclesolve.laboratory.checks.forces.plate_balance import _sheared, balance, shear_values
from musclesolve.laboratory.forces import prepare

SIDEWARD = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0])
"""Components of the residual that a sideward force changes most: this force, and the moment about the walk."""


@pytest.mark.parametrize(("factor", "reported"), [(0.5, 1), (0.9, 0), (1.1, 0)])
def test_a_sideward_channel_that_shows_half_is_reported(factor: float, reported: int) -> None:
    body = prepare(reference_stride())
    measured = balance(body.trial, body.mechanics)
    first, *others = measured.shear
    lost = (1.0 - factor) * SIDEWARD * first
    spoiled = replace(measured, residual=measured.residual + lost, shear=[first - lost, *others])
    found = [*_sheared(body.trial, spoiled, [0, 1])]
    assert [("sideward" in each.what, each.where.plate) for each in found] == [(True, "right")] * reported


def test_a_factor_far_from_one_is_clear() -> None:
    """A factor 0.77 with an error of 0.03 lies one error beyond the limit, and eight from 1."""
    assert shear_values("the foot", 0.77, 0.03, "horizontal")
    assert not shear_values("the foot", 0.77, 0.04, "horizontal")

"""Motions that consist of stated poses, which need not follow from one another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from musclesolve.dynamics import Model
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from


def motion_through(
    model: Model,
    coordinates: np.ndarray,
    rates: ArrayLike = 0.0,
    second: ArrayLike = 0.0,
    time: np.ndarray | None = None,
) -> Motion:
    """A motion through poses (T, K+6) [rad, m], at rest unless rates are stated, and 10 ms apart without a time."""
    still = np.zeros_like(coordinates)
    every_10_ms = 0.01 * np.arange(len(coordinates)) if time is None else time
    return motion_from(model, every_10_ms, coordinates, still + rates, still + second)

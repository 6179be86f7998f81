"""The banded program against its optimality conditions, written with dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from musclesolve.dynamics.inverse.predicted_reactions import BandedProgram, second_difference_band


def dense(band: np.ndarray) -> np.ndarray:
    size = band.shape[1]
    lower = sum(np.diag(row[: size - k], -k) for k, row in enumerate(band) if k < size)
    return lower + np.tril(lower, -1).T


@pytest.mark.parametrize("seed", range(5))
def test_the_answer_is_optimal(seed: int) -> None:
    """x is optimal where multipliers z >= 0 of the active bounds balance the gradient: H x - g = C^T z."""
    rng = np.random.default_rng(seed)
    frames, unknowns, bounds = 12, 3, 5
    square = rng.normal(size=(frames * unknowns, frames * unknowns))
    inside = np.abs(np.subtract.outer(np.arange(len(square)), np.arange(len(square)))) <= 2
    whole = np.where(inside, square + square.T, 0.0) + 12.0 * np.eye(len(square))
    band = np.array([np.pad(np.diagonal(whole, -k), (0, k)) for k in range(3)])
    linear, rows = rng.normal(size=(frames, unknowns)), rng.normal(size=(frames, bounds, unknowns))
    np.testing.assert_array_equal(dense(band), whole)
    x, residual = BandedProgram(band, linear, rows).solve()
    assert residual < 1e-8
    slack = np.einsum("tmn,tn->tm", rows, x)
    assert slack.min() > -1e-7
    gradient = (whole @ x.ravel()).reshape(x.shape) - linear
    some = False
    for t in range(frames):
        active = slack[t] < 1e-3
        some |= active.any()
        left = nnls(rows[t, active].T, gradient[t])[1] if active.any() else np.abs(gradient[t]).max()
        assert left < 1e-4
    assert some


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 9])
def test_second_differences(frames: int) -> None:
    difference = np.diff(np.eye(frames), 2, axis=0) if frames > 2 else np.zeros((0, frames))
    np.testing.assert_allclose(dense(second_difference_band(frames)), difference.T @ difference)

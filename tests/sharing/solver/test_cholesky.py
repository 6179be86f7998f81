from __future__ import annotations

import numpy as np

from musclesolve.sharing.solver.interior_point import BatchCholesky


def test_it_solves_badly_scaled_systems():
    random = np.random.default_rng(0)
    half = random.standard_normal((50, 7, 12)) * 10.0 ** random.uniform(-4, 4, (50, 7, 1))
    matrices, x = half @ half.transpose(0, 2, 1), random.standard_normal((50, 7))
    x = x / np.sqrt(np.einsum("tkk->tk", matrices))
    right = (matrices @ x[:, :, None])[:, :, 0]
    np.testing.assert_allclose(BatchCholesky(matrices).solve(right) / np.abs(x), np.sign(x), rtol=1e-6)


def test_dependent_and_empty_rows_do_no_harm():
    """The solution is not unique, its product with the matrix is."""
    random = np.random.default_rng(1)
    half = random.standard_normal((20, 4, 9))
    half[:, 2] = half[:, 0] - 3 * half[:, 1]
    half[:10, 3] = 0.0
    matrices = half @ half.transpose(0, 2, 1)
    right = (matrices @ random.standard_normal((20, 4, 1)))[:, :, 0]
    found = BatchCholesky(matrices).solve(right)
    np.testing.assert_allclose(
        (matrices @ found[:, :, None])[:, :, 0], right, atol=1e-6 * np.abs(right).max()
    )
    assert (found[:10, 3] == 0).all()

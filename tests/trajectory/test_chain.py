"""Chains of muscles in time: factors, solutions and convexity against dense matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chain_cases import product, random_chains
from hypothesis import given, settings
from hypothesis import strategies as st

from musclesolve.trajectory import chain_kernel
from musclesolve.trajectory.chain_kernel import HALF

SHAPES = st.tuples(st.integers(0, 10**6), st.integers(4, 80), st.integers(1, 4))
QUICK = settings(max_examples=30, derandomize=True)


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-10) -> bool:
    return bool(np.abs(found - expected).max() <= tolerance * np.abs(expected).max())


@QUICK
@given(SHAPES, st.sampled_from([0.2, -0.5, -3.0]))
def test_factors_are_those_of_the_dense_matrix(shape, least):
    seed, frames, muscles = shape
    chains = random_chains(seed, frames, 1, muscles, least)
    factors, negative = chains.factors()
    dense = [chains.matrix(i) for i in range(muscles)]
    for factor, matrix in zip(factors, dense, strict=True):
        grown = product(np.abs(factor)).max()  # without pivoting round-off grows like this
        assert np.abs(product(factor) - matrix).max() <= 1e-14 * grown
    assert negative == sum(int((np.linalg.eigvalsh(matrix) < 0.0).sum()) for matrix in dense)


@QUICK
@given(SHAPES)
def test_solutions_are_those_of_the_dense_matrix(shape):
    seed, frames, muscles = shape
    chains = random_chains(seed, frames, 1, muscles)
    factors, negative = chains.factors()
    assert negative == 0
    right = np.random.default_rng(seed).normal(size=(muscles, frames))
    found, lanes = np.array(right.T, order="C"), np.empty((frames + HALF, HALF + 1, muscles))
    chain_kernel.SIDE_BY_SIDE.load()(factors, lanes)
    chain_kernel.SOLVE.load()(
        chains.basis, lanes, chains.lever, found, np.empty(muscles), np.empty((frames, 1))
    )
    for i in range(muscles):
        assert close(found[:, i], np.linalg.solve(chains.matrix(i), right[i]))


def test_convex_chains_stay_as_they_are():
    chains = random_chains(1, 30, 1, 3)
    factors, share = chains.convex_factors()
    assert (share == 0.0).all()
    np.testing.assert_allclose(
        factors, chains.factors()[0], rtol=1e-12, atol=1e-14
    )  # compiled apart: to round-off


@QUICK
@given(SHAPES, st.sampled_from([-0.3, -1.0, -3.0]))
def test_chains_are_made_convex_by_a_share_of_negative_eigenvalues(shape, least):
    seed, frames, muscles = shape
    chains = random_chains(seed, frames, 1, muscles, least)
    factors, share = chains.convex_factors()
    assert ((share >= 0.0) & (share <= 1.0)).all() and (factors[:, :, 0] > 0.0).all()
    for i in range(muscles):
        indefinite = np.linalg.eigvalsh(chains.matrix(i))[0] < -1e-9
        assert (share[i] > 0.0) == indefinite
        assert close(product(factors[i]), chains.matrix(i, share[i]), 1e-9)
        if share[i] > 0.0:  # and by less than four times what is enough, but for the first that is tried
            assert share[i] <= 0.01 or np.linalg.eigvalsh(chains.matrix(i, 0.249 * share[i]))[0] < 1e-9


def test_there_are_chains_that_need_it():
    shares = [random_chains(seed, 40, 1, 3, -3.0).convex_factors()[1] for seed in range(5)]
    assert (np.array(shares) > 0.0).mean() > 0.5


def test_share_of_the_step_before_is_tried_first():
    """A sixteenth of it, and no less than a hundredth."""
    out, band = np.zeros((1, 40, 4)), np.empty((40, 4))
    for seed in range(6):
        chains, share = random_chains(seed, 40, 1, 1, -0.6), np.array([0.8])
        chain_kernel.FACTOR.load()(chains.basis, chains.nodes, share, band, out)
        tried = 0.05 * 4.0 ** np.arange(3)
        enough = [np.linalg.eigvalsh(chains.matrix(0, each))[0] > 0.0 for each in tried]
        convex = np.linalg.eigvalsh(chains.matrix(0))[0] > 0.0
        expected = 0.0 if convex else tried[enough.index(True)] if any(enough) else 1.0
        assert share[0] == pytest.approx(expected, rel=1e-12)


def test_limits_that_are_not_convex_get_a_larger_diagonal():
    """By round-off: limits themselves are convex."""
    chains, less = random_chains(4, 25, 1, 1), 0.0
    while True:
        nodes = chains.nodes._replace(limit=chains.nodes.limit - less)
        changed = replace(chains, nodes=nodes)
        if np.linalg.eigvalsh(changed.matrix(0, 1.0))[0] < 0.0:
            break
        less += 1e-2
    factors, share = changed.convex_factors()
    assert share[0] == 1.0 and (factors[0, :, 0] > 0.0).all()
    more = product(factors[0]) - changed.matrix(0, 1.0)
    assert close(np.diag(np.diag(more)), more, 1e-9)
    assert (np.diag(more) > 0.0).all()


def test_chains_far_from_convex_have_no_factors():
    chains = random_chains(4, 25, 1, 1)
    far = replace(chains, nodes=chains.nodes._replace(limit=-50.0 * chains.nodes.limit))
    assert far.factors()[1] > 0
    assert far.convex_factors()[1][0] == np.inf


@pytest.mark.parametrize("name", ["zz", "yy", "by_y", "limit"])
def test_numbers_that_are_not_finite_are_noticed(name):
    chains = random_chains(5, 12, 1, 2)
    broken = getattr(chains.nodes, name).copy()
    broken[1, 7] = np.nan
    changed = replace(chains, nodes=chains.nodes._replace(**{name: broken}))
    _, share = changed.convex_factors()
    assert share[0] == 0.0 and share[1] == np.inf
    assert changed.factors()[1] == -1


def test_a_muscle_without_second_derivatives_has_no_factors():
    chains = random_chains(6, 12, 1, 1)
    nothing = type(chains.nodes)(*(0.0 * part for part in chains.nodes))
    empty = replace(chains, nodes=nothing)
    assert empty.factors()[1] == -1
    assert empty.convex_factors()[1][0] == np.inf

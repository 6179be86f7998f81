"""Coupling of the moments by chains: blocks of S within a reach and products with all of it, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from chain_cases import Chains, random_chains
from hypothesis import given, settings
from hypothesis import strategies as st

from musclesolve.trajectory.banded_interior_point import NewtonSystem

SHAPES = st.tuples(st.integers(0, 10**6), st.integers(4, 50), st.integers(1, 7), st.integers(1, 5))
QUICK = settings(max_examples=25, derandomize=True)


def system_of(chains: Chains) -> NewtonSystem:
    """The system with the factors of the chains as they are."""
    _, moments, muscles = chains.shape
    system = NewtonSystem(chains.time, chains.step, moments, muscles)
    system.factors, _ = chains.factors()
    system._keep(chains.lever, chains.compliance)
    return system


def lower_band(matrix: np.ndarray, frames: int, reach: int) -> np.ndarray:
    """The rows of a lower band, with zeros between frames that are farther apart than the reach."""
    size = len(matrix)
    moments = size // frames
    frame = np.arange(size) // moments
    near = np.where(np.abs(frame[:, None] - frame) <= reach, matrix, 0.0)
    found = np.zeros((moments * (reach + 1), size))
    for below in range(min(len(found), size)):
        found[below, : size - below] = np.diagonal(near, -below)
    return found


@QUICK
@given(SHAPES, st.integers(0, 12), st.sampled_from([0.2, -0.5]))
def test_blocks_are_those_of_the_dense_matrix(shape, reach, least):
    seed, frames, moments, muscles = shape
    chains = random_chains(seed, frames, moments, muscles, least)
    reach = min(reach, frames - 1)
    exact = chains.coupling()
    worst = max(np.linalg.cond(chains.matrix(i)) for i in range(muscles))
    found = system_of(chains).blocks(reach)
    assert np.abs(found - lower_band(exact, frames, reach)).max() <= 1e-13 * worst * np.abs(exact).max()


@QUICK
@given(SHAPES)
def test_products_are_those_of_the_dense_matrix(shape):
    seed, frames, moments, muscles = shape
    chains = random_chains(seed, frames, moments, muscles)
    x = np.random.default_rng(seed + 1).normal(size=(frames, moments))
    expected = chains.coupling() @ x.ravel()
    assert np.abs(system_of(chains).product(x).ravel() - expected).max() <= 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("reach", [0, 5, 29])
def test_compliance_stands_on_the_diagonal_alone(reach):
    chains = random_chains(2, 30, 3, 4)
    without = Chains(chains.time, chains.step, chains.nodes, chains.lever, 0.0 * chains.compliance)
    more = system_of(chains).blocks(reach) - system_of(without).blocks(reach)
    assert (
        np.abs(more[0] - chains.compliance.ravel()).max()
        < 1e-12 * np.abs(system_of(chains).blocks(reach)).max()
    )
    assert (more[1:] == 0.0).all()


def test_a_tendon_forgets():
    """Blocks fall off with the frames between them: what makes a truncated reach a good guess."""
    matrix = np.linalg.inv(random_chains(3, 60, 1, 1).matrix(0))
    assert np.abs(np.diagonal(matrix, 30)).max() < 1e-3 * np.abs(np.diagonal(matrix)).max()

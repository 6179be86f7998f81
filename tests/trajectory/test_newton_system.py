"""The Newton system of a motion: its solutions against those of the dense equations, and its ends without one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chain_cases import Chains, random_chains
from hypothesis import given, settings
from hypothesis import strategies as st

from musclesolve.trajectory.banded_interior_point import ALL, LARGEST, REACH, NewtonSystem

SHAPES = st.tuples(st.integers(0, 10**6), st.integers(4, 40), st.integers(1, 5), st.integers(1, 7))
QUICK = settings(max_examples=25, derandomize=True)


def system_of(chains: Chains) -> NewtonSystem:
    _, moments, muscles = chains.shape
    return NewtonSystem(chains.time, chains.step, moments, muscles)


def right_sides(chains: Chains) -> tuple[np.ndarray, np.ndarray]:
    frames, moments, muscles = chains.shape
    random = np.random.default_rng(7)
    return random.normal(size=(frames, muscles)), random.normal(size=(frames, moments))


def misses(chains: Chains, found: tuple, given: tuple, share: np.ndarray | None = None) -> float:
    """Return the residuals of both equations of the system, with dense matrices, over the size of their terms."""
    (change, multiplier), (right, short) = found, given
    shares = np.zeros(chains.shape[2]) if share is None else share
    own, moved, size = [], chains.compliance.ravel() * multiplier.ravel(), 0.0
    for i, left_out in enumerate(shares):
        matrix, arms = chains.matrix(i, left_out), chains.arms(i)
        terms = matrix @ change[:, i], arms.T @ multiplier.ravel()
        own.append(terms[0] - terms[1] - right[:, i])
        moved = moved + arms @ change[:, i]
        size = max(size, *(np.abs(term).max() for term in terms), np.abs(arms @ change[:, i]).max())
    return max(np.abs(own).max(), np.abs(moved - short.ravel()).max()) / size


@QUICK
@given(SHAPES)
def test_solution_satisfies_the_dense_equations(shape):
    seed, frames, moments, muscles = shape
    chains = random_chains(seed, frames, moments, muscles)
    system, given_ = system_of(chains), right_sides(chains)
    assert system.factor(chains.nodes, chains.lever, chains.compliance)
    assert misses(chains, system.solve(*given_), given_) < 1e-8


@QUICK
@given(SHAPES)
def test_chains_that_are_not_convex_are_solved_as_they_are(shape):
    seed, frames, moments, muscles = shape
    chains = random_chains(seed, frames, moments, muscles, least=-2.0)
    system, given_ = system_of(chains), right_sides(chains)
    assert system.factor_as_is(chains.nodes, chains.lever, chains.compliance)
    assert misses(chains, system.solve(*given_), given_) < 1e-7


def test_chains_made_convex_are_those_of_the_share():
    chains = random_chains(8, 30, 2, 5, least=-3.0)
    system, given_ = system_of(chains), right_sides(chains)
    assert system.factor(chains.nodes, chains.lever, chains.compliance)
    assert system.share.max() > 0.0
    assert misses(chains, system.solve(*given_), given_, system.share) < 1e-8
    assert misses(chains, system.solve(*given_), given_) > 1e-3


def test_right_sides_stay_as_they_are():
    chains = random_chains(9, 20, 2, 1)
    system, given_ = system_of(chains), right_sides(chains)
    before = [part.copy() for part in given_]
    assert system.factor(chains.nodes, chains.lever, chains.compliance)
    system.solve(*given_)
    for part, old in zip(given_, before, strict=True):
        np.testing.assert_array_equal(part, old)


def test_long_motions_need_few_steps_of_conjugate_gradients():
    chains = random_chains(9, 300, 2, 4)
    system, given_ = system_of(chains), right_sides(chains)
    assert system.factor(chains.nodes, chains.lever, chains.compliance)
    found = system.solve(*given_)
    assert misses(chains, found, given_) < 1e-9
    assert 0 < system.steps < 20 and system.reach == REACH < 300 - 1


def test_short_motions_are_solved_at_once():
    chains = random_chains(9, ALL, 2, 4)
    system, given_ = system_of(chains), right_sides(chains)
    assert system.factor(chains.nodes, chains.lever, chains.compliance)
    assert misses(chains, system.solve(*given_), given_) < 1e-9
    assert system.reach == ALL - 1 and system.steps <= 3


@pytest.mark.thorough
def test_reach_grows_where_conjugate_gradients_take_many_steps():
    """Muscles that hardly change from frame to frame: second derivatives by the rate far above those by z."""
    chains = random_chains(10, 250, 1, 2, compliant=False)
    nodes = chains.nodes._replace(
        zz=1e-6 * chains.nodes.zz, zy=0.0 * chains.nodes.zy, yy=1e4 * np.ones_like(chains.nodes.yy),
        by_z=0.0 * chains.nodes.by_z, by_y=0.0 * chains.nodes.by_y,
    )  # fmt: skip
    slow = replace(chains, nodes=nodes)
    system, given_ = system_of(slow), right_sides(slow)
    reaches, missed = [], []
    for _ in range(6):
        assert system.factor(slow.nodes, slow.lever, slow.compliance)
        reaches.append(system.reach)
        missed.append(misses(slow, system.solve(*given_), given_))
    assert reaches[-1] > REACH
    assert missed[-1] < 1e-6, (reaches, missed)


def test_moments_that_repeat_each_other_have_a_solution():
    chains = random_chains(11, 20, 1, 4, compliant=False)
    twice = replace(chains, lever=np.repeat(chains.lever, 2, axis=1), compliance=np.zeros((20, 2)))
    system, (right, short) = system_of(twice), right_sides(twice)
    given_ = right, np.repeat(short[:, :1], 2, axis=1)
    assert system.factor(twice.nodes, twice.lever, twice.compliance)
    assert misses(twice, system.solve(*given_), given_) < 1e-5


def test_moments_that_no_muscle_makes_do_no_harm():
    chains = random_chains(12, 20, 2, 4, compliant=False)
    chains.lever[:, 1] = 0.0
    system, (right, short) = system_of(chains), right_sides(chains)
    short[:, 1] = 0.0
    assert system.factor(chains.nodes, chains.lever, chains.compliance)
    assert misses(chains, system.solve(right, short), (right, short)) < 1e-8


@pytest.mark.every_pair
@pytest.mark.parametrize("broken", ["nodes", "lever", "compliance"])
@pytest.mark.parametrize("way", ["factor", "factor_as_is"])
def test_numbers_that_are_not_finite_end_it(broken, way):
    chains = random_chains(13, 20, 2, 4)
    parts = {"nodes": chains.nodes, "lever": chains.lever, "compliance": chains.compliance}
    if broken == "nodes":
        zz = chains.nodes.zz.copy()
        zz[2, 11] = np.nan
        parts["nodes"] = chains.nodes._replace(zz=zz)
    else:
        parts[broken] = parts[broken].copy()
        parts[broken][4, 0] = np.nan
    assert not getattr(system_of(chains), way)(*parts.values())


def test_long_motions_are_not_factored_as_a_whole():
    chains = random_chains(14, LARGEST // 2 + 1, 2, 1)
    assert not system_of(chains).factor_as_is(chains.nodes, chains.lever, chains.compliance)

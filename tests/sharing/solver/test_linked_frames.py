"""Frames that are linked in time: the compiled Newton system, springs of quadratic costs, and the method itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sharing_cases import leg

import musclesolve as ms
from musclesolve.sharing import RateLimits
from musclesolve.sharing.rate_limits import ActivationLimits
from musclesolve.sharing.solver.linked_frames import (
    LinkedFrames,
    LinkedSystem,
    MuscleChains,
    joined_springs,
    stretched,
)


def dense_solution(stiffness, link, share, matrix, compliance, mean, offset, right):
    """Changes, multipliers and forces in the links by one dense system of their equations."""
    frames, rows, n = matrix.shape
    x = np.arange(frames * n).reshape(frames, n)
    pull = x + frames * n  # stiffness times (x - mean)
    multiplier = 2 * frames * n + np.arange(frames * rows).reshape(frames, rows)
    force = 2 * frames * n + frames * rows + np.arange((frames - 1) * n).reshape(frames - 1, n)
    size = 2 * frames * n + frames * rows + (frames - 1) * n
    system, known = np.zeros((size, size)), np.zeros(size)
    for t in range(frames):
        for i in range(n):
            system[x[t, i], x[t, i]], system[x[t, i], pull[t, i]] = 1.0, -1.0 / stiffness[t, i]
            known[x[t, i]] = mean[t, i]
            system[pull[t, i], pull[t, i]] = 1.0
            system[pull[t, i], multiplier[t]] = -matrix[t, :, i]
            if t > 0:
                system[pull[t, i], force[t - 1, i]] = 1.0
            if t + 1 < frames:
                system[pull[t, i], force[t, i]] = -share[t, i]
                row, here = force[t, i], force[t, i]
                if link[t, i] > 0.0:
                    system[row, here] = -1.0 / link[t, i]
                    system[row, x[t + 1, i]], system[row, x[t, i]] = 1.0, -share[t, i]
                    known[row] = offset[t, i]
                else:
                    system[row, here] = 1.0
        for r in range(rows):
            system[multiplier[t, r], x[t]], known[multiplier[t, r]] = matrix[t, r], right[t, r]
            system[multiplier[t, r], multiplier[t, r]] = compliance[t, r]
    assume(np.linalg.cond(system) < 1e8)  # else too few muscles are free to produce the moments
    found = np.linalg.solve(system, known)
    return found[x], found[multiplier], found[force]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    frames=st.integers(1, 6),
    muscles=st.integers(3, 9),
    rows=st.integers(1, 2),
    held=st.sampled_from([0.0, 0.3]),
)
def test_the_compiled_system_has_the_dense_solution(seed, frames, muscles, rows, held):
    """With muscles that are held, links that are rigid or absent, and moments with reserves."""
    random = np.random.default_rng(seed)
    stiffness = 10.0 ** random.uniform(0, 3, (frames, muscles))
    stiffness[random.random(stiffness.shape) < held] = np.inf
    link = 10.0 ** random.uniform(-1, 3, (frames - 1, muscles))
    kind = random.random(link.shape)
    link[kind < held] = 0.0
    # a rigid link beside a held muscle would determine its neighbor twice
    link[(kind > 1.0 - held) & np.isfinite(stiffness[1:]) & np.isfinite(stiffness[:-1])] = np.inf
    share = random.uniform(0.3, 1.0, link.shape)
    matrix, compliance = random.normal(size=(frames, rows, muscles)), np.zeros((frames, rows))
    compliance[:, -1] = 0.3
    system = LinkedSystem(matrix, compliance)
    system.factor(stiffness, link, share)
    sides = (random.normal(size=(count, muscles)) for count in (frames, frames - 1))
    right = (*sides, random.normal(size=(frames, rows)))
    expected = dense_solution(stiffness, link, share, matrix, compliance, *right)
    for found, known in zip(system.solve(*right), expected, strict=True):
        np.testing.assert_allclose(
            found, known, rtol=1e-7, atol=1e-7 * (1.0 + np.abs(known).max(initial=0.0))
        )


def test_springs_have_the_matrix_of_the_chain():
    """Squares of differences with weights of their own, of some muscles only, and squares of a frame alone."""
    random, frames, muscles = np.random.default_rng(0), 7, 4
    weight, gain = (
        random.uniform(0.1, 5.0, (frames - 1, muscles)),
        random.uniform(0.5, 2.0, (frames, muscles)),
    )
    weight[:, 0] = 0.0
    weight[3] = 0.0
    alone = random.uniform(0.0, 1.0, (frames, muscles))
    diagonal, beside = alone.copy(), -weight * gain[1:] * gain[:-1]
    diagonal[1:] += weight * gain[1:] ** 2
    diagonal[:-1] += weight * gain[:-1] ** 2
    stiffness, share, rest = MuscleChains(diagonal, beside, np.zeros_like(diagonal)).springs()
    assert stiffness.min() >= 0.0 and rest.min() >= -1e-12
    found = rest.copy()
    found[1:] += stiffness
    found[:-1] += stiffness * share**2
    np.testing.assert_allclose(found, diagonal, atol=1e-12)
    np.testing.assert_allclose(-stiffness * share, beside, atol=1e-12)


def test_springs_side_by_side_are_one_spring_and_a_stiffness():
    random = np.random.default_rng(1)
    stiffness, share = random.uniform(0, 3, (2, 5, 4)), random.uniform(0.5, 1, (2, 5, 4))
    stiffness[:, 2] = 0.0
    total, mean, alone = joined_springs(stiffness, share)
    before, after = random.normal(size=(2, 5, 4))
    apart = (stiffness * (after - share * before) ** 2).sum(axis=0)
    np.testing.assert_allclose(total * (after - mean * before) ** 2 + alone * before**2, apart)


def test_the_change_of_a_slack_follows_from_the_force():
    random, limits = (
        np.random.default_rng(2),
        ActivationLimits.from_rate_limits(RateLimits(), 0.01 * np.arange(6)),
    )
    ratio, change = random.uniform(0.1, 5.0, (2, 5, 4)), random.normal(size=(6, 4))
    shares = np.broadcast_to(np.stack([limits.e_d, limits.e_a]), ratio.shape)
    stiffness, share, _ = joined_springs(ratio, shares)
    force = stiffness * (change[1:] - share * change[:-1])
    np.testing.assert_allclose(
        stretched(limits, ratio, change[:-1], force), limits.change(change), atol=1e-12
    )


LEG = leg(4, dofs=3, muscles=8)
SOME = np.random.default_rng(0).uniform(0.1, 0.6, (4, 8))


def test_soft_rows_are_moments_with_a_reserve_of_weight_one():
    cost = ms.costs()["joint_reaction_squared"]()
    frames = LinkedFrames.from_problem(LEG, cost, None)
    left = frames.short(SOME, np.zeros_like(frames.target))
    np.testing.assert_allclose(0.5 * np.square(left[:, 3:]).sum(axis=1), cost.soft_rows(LEG).value(SOME))
    np.testing.assert_allclose(frames.compliance[:, 3:], frames.unit)
    assert (frames.compliance[:, :3] == 0.0).all()


@pytest.mark.parametrize("cost", ["stress_cubed", "joint_reaction_squared"])
def test_fixed_muscles_carry_their_moment_without_a_lever(cost):
    lower, upper = np.zeros((4, 8)), np.ones((4, 8))
    lower[:, 2] = upper[:, 2] = 0.3
    fixed = LinkedFrames.from_problem(LEG.with_arrays(lower=lower, upper=upper), ms.costs()[cost](), None)
    free, at = LinkedFrames.from_problem(LEG, ms.costs()[cost](), None), SOME.copy()
    at[:, 2] = 0.3
    assert not fixed.matrix[:, :, 2].any()
    none = np.zeros_like(free.target)
    np.testing.assert_allclose(fixed.short(at, none), free.short(at, none))

"""The levels of min/max against a linear program for each level, on degenerate and infeasible frames."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

import musclesolve as ms
from musclesolve.sharing import certify
from musclesolve.sharing.certificate import relative_load

FRAMES = 8


def degenerate(seed: int) -> ms.Problem:
    """Few whole moment arms, equal muscles, rows that repeat, bounds that coincide; some frames out of reach."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 6)), int(rng.integers(1, 14))
    arm = rng.integers(-2, 3, (FRAMES, m, n)) * 0.02
    if m > 1 and seed % 3 == 0:
        arm[:, 1] = 2.0 * arm[:, 0]
    if n > 3 and seed % 2:
        arm[:, :, n // 2 : 2 * (n // 2)] = arm[:, :, : n // 2]
    strength = rng.integers(1, 4, n) * 500.0
    capacity = strength * rng.choice([1.0, 0.5], (FRAMES, n))
    lower = rng.choice([0.0, 0.01, 0.05], (FRAMES, n)) * (seed % 4 == 0)
    upper = np.maximum(lower, rng.choice([1.0, 0.5, 0.02, 2.0], (FRAMES, n)))
    activation = np.clip(rng.choice([0.0, 0.25, 0.5, 1.0], (FRAMES, n)), lower, upper)
    moment = np.einsum("tmn,tn,tn->tm", arm, capacity, activation) * (1.5 if seed % 5 == 0 else 1.0)
    return ms.Problem(arm, moment, capacity, strength, lower=lower, upper=upper)


def sorted_loads(problem: ms.Problem, load: np.ndarray, t: int) -> np.ndarray | None:
    """The loads of one frame from the largest down by one linear program for each muscle; None if out of reach.

    The k-th largest loads: minimize t_k, so that t_1 ... t_k sum least, where k t + sum max(0, load - t) is the sum of
    the k largest loads (Ogryczak and Tamir 2003).
    """
    matrix = problem.moment_matrix[t]
    n, sums = len(load), []
    for k in range(1, n + 1):  # unknowns: a, t, excess of each muscle; the sums above are held
        blocks = k
        width = n + blocks * (1 + n)
        limits, bound = np.zeros((blocks * n + k - 1, width)), np.zeros(blocks * n + k - 1)
        for j in range(blocks):
            at = n + j * (1 + n)
            limits[j * n : (j + 1) * n, :n] = np.diag(load)
            limits[j * n : (j + 1) * n, at] = -1.0
            limits[j * n : (j + 1) * n, at + 1 : at + 1 + n] = -np.eye(n)
            if j < k - 1:
                limits[blocks * n + j, at], bound[blocks * n + j] = j + 1, sums[j] + 1e-9
                limits[blocks * n + j, at + 1 : at + 1 + n] = 1.0
        goal = np.zeros(width)
        goal[n + (k - 1) * (1 + n)], goal[n + (k - 1) * (1 + n) + 1 :] = k, 1.0
        box = list(zip(problem.lower[t], problem.upper[t], strict=True))
        free = [(None, None), *[(0.0, None)] * n] * blocks
        rows = np.hstack([matrix, np.zeros((len(matrix), width - n))])
        found = linprog(goal, limits, bound, rows, problem.moment[t], [*box, *free])
        if found.status != 0:
            assert k == 1 and found.status == 2
            return None
        sums.append(found.fun)
    return np.diff(sums, prepend=0.0)


@pytest.mark.parametrize("seed", range(12))
def test_every_level_is_least_and_certified(seed):
    problem = degenerate(seed)
    load = relative_load(problem, ms.costs()["min_max"]())
    solution = ms.solve(problem, "min_max", "linprog")
    for t in range(0, FRAMES, 3):
        expected = sorted_loads(problem, load[t], t)
        if expected is None:
            assert solution.status[t] == ms.Status.INFEASIBLE
            continue
        assert solution.status[t] == ms.Status.SOLVED and solution.gap[t] <= 1e-9
        np.testing.assert_allclose(np.sort(load[t] * solution.activation[t])[::-1], expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore:moment_arm is up to")
@pytest.mark.parametrize("unit", [1e-2, 1e3, 1e6])
def test_levels_do_not_depend_on_the_unit_of_force(unit):
    problem = degenerate(7)
    first = ms.solve(problem, "min_max", "linprog")
    scaled = replace(
        problem,
        moment_arm=problem.moment_arm / unit,
        force_capacity=problem.force_capacity * unit,
        max_isometric_force=problem.max_isometric_force * unit,
    )
    with np.errstate(all="raise"):
        other = ms.solve(scaled, "min_max", "linprog")
    np.testing.assert_allclose(other.activation, first.activation, atol=1e-9)


def test_a_muscle_above_the_levels_has_no_certificate():
    """Two equal muscles share one moment, a third one alone has another: each load is decided by its own level."""
    arm = np.array([[[0.05, 0.05, 0.0], [0.0, 0.0, 0.05]]])
    problem = ms.Problem(arm, [[30.0, 5.0]], np.full((1, 3), 1000.0), np.full(3, 1000.0))
    solution = ms.solve(problem, "min_max", "linprog")
    np.testing.assert_allclose(solution.activation, [[0.3, 0.3, 0.1]])
    cost = ms.costs()["min_max"]()
    numbers = np.array([[0.2, 0.4, 0.1]]), solution.reserve, solution.multiplier, solution.level_multiplier
    assert certify(problem, cost, *numbers).gap > 0.01


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-10, 1e-8])
def test_moments_at_the_edge_of_reach_and_rows_that_almost_repeat(noise):
    """A moment beyond reach by less than the certificate resolves; a second row that is the first but for noise."""
    rng = np.random.default_rng(1)
    arm = np.tile(rng.uniform(0.02, 0.06, (1, 1, 6)), (3, 2, 1))
    arm[:, 1] *= 1.0 + noise * rng.standard_normal((3, 6))
    strength = np.full(6, 800.0)
    moment = (arm * strength).sum(axis=2) * np.array([[0.5], [1.0], [1.0 + 5e-8]])
    solution = ms.solve(ms.Problem(arm, moment, strength, strength), "min_max", "linprog")
    assert (solution.status == ms.Status.SOLVED).all() and (solution.gap <= 1e-9).all()
    np.testing.assert_allclose(solution.activation, np.repeat([[0.5], [1.0], [1.0]], 6, axis=1), atol=1e-5)


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9])
def test_small_loads_are_certified(share):
    """Round-off of the pulls decides no level, however small the moments are."""
    rng = np.random.default_rng(5)
    arm, strength = rng.uniform(-0.08, 0.08, (20, 4, 12)), 10.0 ** rng.uniform(2.0, 3.7, 12)
    moment = share * np.einsum("tmn,n,tn->tm", arm, strength, rng.random((20, 12)))
    solution = ms.solve(ms.Problem(arm, moment, strength, strength), "min_max", "linprog")
    assert (solution.status == ms.Status.SOLVED).all()

"""Multipliers of redundant rows: minimum norm, what of them is physical, and what they cannot do."""

import numpy as np
import pytest
from natural_projection import redundant_rows
from refusals import refused

from musclesolve.dynamics.inverse.lagrange_multipliers import (
    least_squares,
    minimum_norm,
    rigid_wrench,
    undriven,
)
from musclesolve.errors import MuscleSolveError


def random_rows(rows, columns, rank, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(3, rows, rank)) @ rng.normal(size=(3, rank, columns)), rng


@pytest.mark.parametrize(("rows", "columns", "rank"), [(9, 6, 6), (6, 6, 6), (9, 6, 4), (4, 6, 3)])
def test_minimum_norm_supplies_the_force_with_the_shortest_multipliers(rows, columns, rank):
    jacobian, rng = random_rows(rows, columns, rank, rows + rank)
    needed = np.einsum("tcn,tc->tn", jacobian, rng.normal(size=(3, rows)))
    found = minimum_norm(jacobian, needed)
    np.testing.assert_allclose(np.einsum("tcn,tc->tn", jacobian, found), needed, atol=1e-10)
    for frame in range(3):
        shortest = np.linalg.lstsq(jacobian[frame].T, needed[frame], rcond=1e-9)[0]
        np.testing.assert_allclose(found[frame], shortest, atol=1e-10)


def test_forces_that_no_row_can_supply_are_refused():
    jacobian, rng = random_rows(9, 6, 4, 1)
    with refused(None, "frame", "N m", error=MuscleSolveError):
        minimum_norm(jacobian, rng.normal(size=(3, 6)))


def test_the_split_between_two_copies_of_a_row_is_not_physical_but_their_sum_is():
    """0.5 and 0.5; 1/101 and 100/101 of the force when the second copy is ten times as long (correction B10)."""
    for scale, share in ((1.0, [0.5, 0.5]), (10.0, [1.0 / 101.0, 100.0 / 101.0])):
        rows = np.array([[[1.0, 0.0], [scale, 0.0], [0.0, 1.0]]])
        multipliers = minimum_norm(rows, np.array([[1.0, 2.0]]))[0]
        np.testing.assert_allclose(multipliers[:2] * [1.0, scale], share)
        np.testing.assert_allclose(rows[0].T @ multipliers, [1.0, 2.0])


def test_least_squares_takes_the_shortest_of_the_best():
    jacobian, rng = random_rows(9, 6, 4, 2)
    right = rng.normal(size=(3, 9))
    for frame, found in enumerate(least_squares(jacobian, right)):
        np.testing.assert_allclose(
            found, np.linalg.lstsq(jacobian[frame], right[frame], rcond=1e-9)[0], atol=1e-10
        )


def test_rows_that_follow_from_others_are_named():
    rows = np.array([[1.0, 0, 0], [0, 2.0, 0], [3.0, -1.0, 0], [0, 0, 0], [0, 1.0, 1e-3]])
    assert redundant_rows(rows, ("a", "b", "c", "d", "e")) == ("c", "d")


def test_undriven_degrees_of_freedom_are_named_even_where_only_a_sum_is_driven():
    directions = np.eye(9).reshape(1, 3, 3, 9)[..., :3]
    names = ("one", "two", "three")
    full = np.eye(9)[:3].reshape(1, 3, 3, 3)
    assert undriven(full, directions, names) == ()
    assert undriven(full[:, [0, 2]], directions, names) == ("two",)
    both = (full[:, 0] + full[:, 1])[:, None]
    assert undriven(np.concatenate([both, full[:, 2:]], axis=1), directions, names) == ("one", "two")


def test_a_wrench_does_the_power_of_its_generalized_force():
    rng = np.random.default_rng(3)
    q, force = rng.normal(size=(2, 4, 4, 3))
    velocity, spin, about = rng.normal(size=(3, 4, 3))
    points = np.array([True, True, False, False])
    net, moment = rigid_wrench(q, force, points, about)
    moved = np.where(
        points[:, None],
        velocity[:, None] + np.cross(spin[:, None], q - about[:, None]),
        np.cross(spin[:, None], q),
    )
    power = (net * velocity + moment * spin).sum(axis=1)
    np.testing.assert_allclose(power, (force * moved).sum(axis=(1, 2)))

"""The center of pressure of least residual: optimal, bounded, never worse, and right where a plate is misplaced."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from scipy.optimize import minimize
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve.dynamics import Wrench, projected_moments
from musclesolve.laboratory.forces import mechanics
from musclesolve.studies.center_of_pressure import (
    AT_BOUND,
    CORRECTED,
    OFF_THE_FOOT,
    distance_outside,
    foot_outline,
    is_inside,
    optimality_gap,
    polygon_least_squares,
)

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    return ms.read_trial(ms.studies.synthetic_recording(tmp_path_factory.mktemp("walk"), truth=False))


@pytest.fixture(scope="module")
def plain(trial):
    return ms.studies.center_of_pressure_correction(trial)


def shifted(trial, shift):
    """Return the recording from plates that were measured elsewhere in the laboratory."""
    return replace(trial, forces=tuple(replace(p, point=p.point + np.array(shift)) for p in trial.forces))


def size(values):
    return np.linalg.norm(values, axis=1)


def problems(count=200):
    rng = np.random.default_rng(7)
    matrix, free = rng.normal(size=(count, 3, 2)), 0.5 + 0.5 * rng.normal(size=(count, 2))
    right = np.einsum("trd,td->tr", matrix, free) + 0.3 * rng.normal(size=(count, 3))
    return matrix, right, np.broadcast_to(SQUARE, (count, 4, 2))


def test_least_squares_meets_the_conditions_of_optimality():
    matrix, right, polygon = problems()
    found, bound = polygon_least_squares(matrix, right, polygon)
    assert 20 < bound.sum() < 180
    assert (distance_outside(polygon, found) < 1e-12).all()
    assert np.abs(optimality_gap(matrix, right, polygon, found)).max() < 1e-10
    assert optimality_gap(matrix, right, polygon, np.full_like(found, 0.5)).min() > 0.0


def test_least_squares_is_that_of_a_general_solver():
    matrix, right, polygon = problems(12)
    found, _ = polygon_least_squares(matrix, right, polygon)
    for a, b, d in zip(matrix, right, found, strict=True):
        other = minimize(
            lambda x, a=a, b=b: ((a @ x - b) ** 2).sum(), [0.5, 0.5], bounds=[(0, 1)] * 2, tol=1e-14
        )
        np.testing.assert_allclose(d, other.x, atol=1e-5)


def test_distance_from_a_polygon():
    points = np.array([[0.5, 0.5], [1.5, 0.5], [2.0, 2.0], [1.0, 0.3]])
    expected = [0.0, 0.5, np.sqrt(2.0), 0.0]
    np.testing.assert_allclose(distance_outside(np.broadcast_to(SQUARE, (4, 4, 2)), points), expected)


@pytest.mark.parametrize("side", ["r", "l"])
def test_the_outline_is_convex_and_holds_the_foot(model, motion, side):
    outline = foot_outline(model, motion.q[:1] * 0.0 + model.standing, side)
    edge = np.roll(outline, -1, axis=1) - outline
    after = np.roll(edge, -1, axis=1)
    assert (edge[..., 0] * after[..., 1] - edge[..., 1] * after[..., 0] > 0.0).all()
    for point in ("heel", "toe", "ankle"):
        assert is_inside(outline, model.standing[None, model.slot(f"{point}_{side}"), :2]).all()
    assert 0.3 < np.ptp(outline[..., 0]) < 0.45 and 0.09 < np.ptp(outline[..., 1]) < 0.13


def test_the_residual_is_never_larger_and_the_gap_closed(plain):
    shown = plain["status"].values >= CORRECTED
    assert shown.sum() > 50
    before, after = (size(plain[name].values[shown]) for name in ("residual_before", "residual_after"))
    assert (after <= before).all()
    assert plain["gap"].values[shown].max() < 1e-8
    assert np.isnan(plain["shift"].values[~shown]).all() and (plain["side"].values[~shown] == "").all()


def test_a_consistent_recording_needs_next_to_no_shift(plain):
    shown = plain["status"].values >= CORRECTED
    assert np.sqrt(np.nanmean(plain["shift_length"].values[shown] ** 2)) < 0.004
    assert (plain["status"].values[shown] == CORRECTED).all()
    assert np.abs(plain["shift"].values[shown].mean(axis=0)).max() < 5e-4


def test_no_residual_means_no_shift(model):
    """At r = 0 the point stays where it is, exactly."""
    force = np.array([[60.0, -20.0, 700.0]])
    x, y, z = force.T
    matrix = np.stack([np.stack([0 * x, -z, y], axis=1), np.stack([z, 0 * x, -x], axis=1)], axis=2)
    found, bound = polygon_least_squares(matrix, np.zeros((1, 3)), SQUARE[None] - 0.5)
    assert not found.any() and not bound.any()


@pytest.mark.parametrize("shift", [(0.02, 0.0, 0.0), (-0.015, 0.02, 0.0), (0.0, -0.025, 0.0)])
def test_a_misplaced_plate_is_found(trial, plain, shift):
    """The correction differs from the one with the plates in place by their displacement."""
    moved = ms.studies.center_of_pressure_correction(shifted(trial, shift))
    inside = (moved["status"].values == CORRECTED) & (plain["status"].values == CORRECTED)
    assert inside.sum() > 40
    change = moved["shift"].values[inside] - plain["shift"].values[inside]
    np.testing.assert_allclose(change, np.broadcast_to(-np.array(shift), change.shape), atol=1.5e-3)


def test_a_plate_off_by_ten_centimeters_is_corrected_into_the_sole(trial, tmp_path):
    copy = TrialCopy(trial.files["trial"])
    copy.change_plates(["point"], lambda point: point + np.array([0.1, 0.0, 0.0]), "r")
    wrong = ms.studies.center_of_pressure_correction(copy.write(tmp_path))
    status, shown = wrong["status"].values, wrong["status"].values >= CORRECTED
    place = (wrong["center_of_pressure"] + wrong["shift"]).values[shown, :2]
    off = status[shown] == OFF_THE_FOOT
    assert (distance_outside(wrong["outline"].values[shown], place)[~off] < 1e-9).all()
    before, after = (size(wrong[name].values[shown]) for name in ("residual_before", "residual_after"))
    assert (after <= before).all() and np.median(after) < 0.2 * np.median(before)
    assert (wrong["shift_length"].values[status == AT_BOUND] > 0.0).all()


def test_the_residual_after_is_that_of_inverse_dynamics(trial, plain):
    """With the force at the shifted point the projected moments leave what is reported, and the same residual force."""
    recorded = mechanics(trial)
    wrenches = []
    for wrench in recorded.wrenches:
        own = plain["side"].values == wrench.body[-1]
        shift = np.where(own[:, None], np.nan_to_num(plain["shift"].values), 0.0)
        wrenches.append(Wrench(wrench.body, wrench.force, wrench.moment + np.cross(shift, wrench.force)))
    found = projected_moments(recorded.model, recorded.motion, wrenches)
    plain_moments = projected_moments(recorded.model, recorded.motion, recorded.wrenches)
    shown = plain["status"].values >= CORRECTED
    np.testing.assert_allclose(found[shown, -3:], plain["residual_after"].values[shown], atol=1e-8)
    np.testing.assert_allclose(found[:, -6:-3], plain_moments[:, -6:-3], atol=1e-9)


def test_what_is_no_trial_is_refused(tmp_path):
    with refused("bad_type"):
        ms.studies.center_of_pressure_correction(3)

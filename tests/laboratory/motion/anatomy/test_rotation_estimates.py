"""The center of a ball joint between two moving bodies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from musclesolve.laboratory.markers.gaps.rigid_registration import Poses
from musclesolve.laboratory.motion.anatomy.rotation_estimates import rotation_center


def joint(
    seed: int, turns: np.ndarray, count: int = 200, slip: float = 0.0
) -> tuple[Poses, Poses, np.ndarray, np.ndarray]:
    """Two bodies about a common point: the first moves at will, the second turns by turns (T, 3) [rad] against it."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, 3))
    base = Rotation.random(rng=rng) * Rotation.from_rotvec(0.3 * rng.normal(size=(count, 3)))
    shift = rng.normal(size=(count, 3))
    other = base * Rotation.from_rotvec(turns) * Rotation.random(rng=rng)
    center = base.apply(first) + shift
    still = np.zeros(count)
    apart = slip * rng.normal(size=(count, 3))
    proximal = Poses(base.as_matrix(), shift, still)
    distal = Poses(other.as_matrix(), center + apart - other.apply(second), still)
    return proximal, distal, first, second


def cone(count: int = 200, first_deg: float = 30.0, second_deg: float = 20.0) -> np.ndarray:
    """Rotation vectors that go round: their ranges about two axes are twice these angles."""
    phase = np.linspace(0.0, 6.0 * np.pi, count, endpoint=False)
    angles = [first_deg * np.cos(phase), second_deg * np.sin(phase), 0.0 * phase]
    return np.deg2rad(np.stack(angles, axis=1))


@given(seed=st.integers(0, 2**32 - 1))
def test_the_center_of_an_exact_joint_is_found_in_both_bodies(seed: int) -> None:
    turns = np.random.default_rng(seed).normal(scale=0.3, size=(50, 3))
    proximal, distal, first, second = joint(seed, turns, 50)
    found = rotation_center(proximal, distal)
    np.testing.assert_allclose(found.proximal, first, atol=1e-9)
    np.testing.assert_allclose(found.distal, second, atol=1e-9)
    assert found.rms < 1e-10


def test_ranges_are_those_of_the_motion_whatever_the_attitudes() -> None:
    found = rotation_center(*joint(1, cone())[:2])
    # Of a cosine the shares from 2 to 98 % leave out 0.2 % at each end.
    np.testing.assert_allclose(np.rad2deg(found.ranges[:2]), [60.0, 40.0], rtol=0.03)
    assert np.rad2deg(found.ranges[2]) < 3.0


def test_the_condition_number_is_that_of_the_equations() -> None:
    proximal, distal, *_ = joint(2, cone())
    rows = np.concatenate([proximal.rotation, -distal.rotation], axis=2).reshape(-1, 6)
    assert rotation_center(proximal, distal).condition == pytest.approx(np.linalg.cond(rows), rel=1e-9)


def test_a_hinge_and_two_bodies_in_one_have_no_center_to_find() -> None:
    hinge = rotation_center(*joint(3, cone(second_deg=0.0))[:2])
    assert hinge.condition > 1e5 and hinge.ranges[1] < 1e-6
    still = rotation_center(*joint(4, 0.0 * cone())[:2])
    assert still.condition > 1e5 and np.isfinite(still.proximal).all()


def test_the_error_grows_as_the_condition_number_tells() -> None:
    slip = 0.005
    for wide, narrow in ((30.0, 25.0), (30.0, 10.0), (15.0, 8.0)):
        errors = []
        for seed in range(60):
            proximal, distal, first, _ = joint(seed, cone(first_deg=wide, second_deg=narrow), slip=slip)
            found = rotation_center(proximal, distal)
            errors.append(found.proximal - first)
            assert found.rms == pytest.approx(np.sqrt(3.0) * slip, rel=0.15)
        rows = np.concatenate([proximal.rotation, -distal.rotation], axis=2).reshape(-1, 6)
        expected = slip * np.sqrt(np.trace(np.linalg.inv(rows.T @ rows)[:3, :3]))
        assert np.sqrt(np.mean(np.sum(np.square(errors), axis=1))) == pytest.approx(expected, rel=0.3)

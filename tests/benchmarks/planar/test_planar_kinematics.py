"""Explicit and implicit constraints of planar trees describe the same joints."""

import numpy as np
import pytest
from planar_bodies import complex_step, random_motion
from planar_closed_forms import constraint_bias, constraint_jacobian, open_coordinates
from refusals import refused

from benchmarks.planar import PlanarMotion, planar_body
from benchmarks.planar.planar_tree import MODELS, allowed, bias, open_directions, place


@pytest.fixture(params=MODELS)
def tree(request):
    return planar_body(request.param)


@pytest.fixture
def motion(tree):
    return random_motion(tree)


def test_closed_joints_stay_closed(tree, motion):
    np.testing.assert_allclose(open_coordinates(tree, place(tree, motion.q)), 0.0, atol=1e-14)


def test_the_implicit_constraints_find_the_openings_of_the_explicit_ones(tree, motion):
    z = np.random.default_rng(1).normal(size=(len(motion.q), 2 * len(tree.joints)))
    np.testing.assert_allclose(open_coordinates(tree, place(tree, motion.q, z)), z, atol=1e-13)


def test_d_is_the_derivative_of_g(tree, motion):
    expected = complex_step(lambda q: place(tree, q), motion.q)
    np.testing.assert_allclose(allowed(tree, motion.q), expected, atol=1e-14)


def test_gamma_is_the_rate_of_d_times_the_velocities(tree, motion):
    def velocity(time):
        q = motion.q + time * motion.qd
        return np.einsum("tik,tk->ti", allowed(tree, q), motion.qd.astype(complex))

    expected = velocity(1e-30j).imag / 1e-30
    np.testing.assert_allclose(bias(tree, motion.q, motion.qd), expected, atol=1e-11)


def test_c_is_the_derivative_of_phi(tree, motion):
    p = place(tree, motion.q)
    expected = complex_step(lambda x: open_coordinates(tree, x), p)
    np.testing.assert_allclose(constraint_jacobian(tree, p), expected, atol=1e-14)


def test_d_and_e_complement_c(tree, motion):
    jacobian = constraint_jacobian(tree, place(tree, motion.q))
    np.testing.assert_allclose(jacobian @ allowed(tree, motion.q), 0.0, atol=1e-14)
    unit = np.broadcast_to(np.eye(jacobian.shape[1]), (len(motion.q), *[jacobian.shape[1]] * 2))
    np.testing.assert_allclose(jacobian @ open_directions(tree), unit, atol=1e-15)


def test_accelerations_obey_the_implicit_constraints(tree, motion):
    p, pd, pdd = motion.absolute(tree)
    jacobian = constraint_jacobian(tree, p)
    np.testing.assert_allclose(np.einsum("tci,ti->tc", jacobian, pd), 0.0, atol=1e-13)
    xi = constraint_bias(tree, p, pd)
    np.testing.assert_allclose(np.einsum("tci,ti->tc", jacobian, pdd), xi, atol=1e-11)
    # C gamma = xi: why (2.11) holds with gamma.
    gamma = bias(tree, motion.q, motion.qd)
    np.testing.assert_allclose(np.einsum("tci,ti->tc", jacobian, gamma), xi, atol=1e-11)


def test_seven_segments_as_the_paper_counts_them():
    tree = planar_body("seven_segment")
    q = random_motion(tree).q
    assert (q.shape[1], place(tree, q).shape[1], 2 * len(tree.joints)) == (9, 21, 12)


def test_the_printed_e_of_the_lower_limb():
    """(3.2): rows 4 to 12, columns of the six openings in hip, knee and ankle; nothing in the other segments."""
    e = open_directions(planar_body("seven_segment"))[:, :6].reshape(7, 3, 6)
    for segment, (joints, rows) in enumerate(zip([0, 1, 2, 3, 0, 0, 0], e, strict=True)):
        expected = np.zeros((3, 6))
        for joint in range(joints):
            expected[0, 2 * joint] = expected[1, 2 * joint + 1] = 1.0
        np.testing.assert_array_equal(rows, expected, err_msg=str(segment))


def test_nine_segments_as_the_paper_counts_them():
    tree = planar_body("nine_segment")
    q = random_motion(tree).q
    assert (q.shape[1], place(tree, q).shape[1], 2 * len(tree.joints)) == (11, 27, 16)


def test_knee_constraints_and_foot_of_the_nine_segment_body_as_printed():
    """(7) with minus eta_C1 sin theta_1 (correction E3), and (11)."""
    tree = planar_body("nine_segment", sex="female")
    p = np.random.default_rng(2).normal(size=(5, 27))
    x1, y1, t1, x2, y2, t2 = p[:, :6].T
    (xi1, eta1), (xi2, eta2), l1, l2 = tree.center[0], tree.center[1], tree.mount[1, 0], tree.mount[2, 0]
    phi3 = x2 - xi2 * np.sin(t2) - eta2 * np.cos(t2) - (x1 + (l1 - xi1) * np.sin(t1) - eta1 * np.cos(t1))
    phi4 = y2 + xi2 * np.cos(t2) - eta2 * np.sin(t2) - (y1 - (l1 - xi1) * np.cos(t1) - eta1 * np.sin(t1))
    np.testing.assert_allclose(open_coordinates(tree, p)[:, 2:4], np.column_stack([phi3, phi4]), atol=1e-14)
    q = random_motion(tree).q
    h, f1, f2, f3, (xi3, eta3) = q[:, :2], *q[:, 2:5].T, tree.center[2]
    x3 = h[:, 0] + l1 * np.sin(f1) + l2 * np.sin(f2) + xi3 * np.sin(f3) + eta3 * np.cos(f3)
    y3 = h[:, 1] - l1 * np.cos(f1) - l2 * np.cos(f2) - xi3 * np.cos(f3) + eta3 * np.sin(f3)
    np.testing.assert_allclose(place(tree, q)[:, 6:9], np.column_stack([x3, y3, f3]), atol=1e-14)


def test_motions_of_unequal_or_absent_numbers_are_refused():
    tree = planar_body("two_leg")
    motion = random_motion(tree)
    with refused("bad_shape", "(12, 8)"):
        PlanarMotion(motion.q, motion.qd[:, 1:], motion.qdd)
    with refused("not_finite", "frame 3"):
        PlanarMotion(motion.q, motion.qd, np.where(np.arange(12)[:, None] == 3, np.nan, motion.qdd))

"""Lengths of paths over one object as expressions, beside the kernel on random points, objects and sides."""

import casadi as ca
import numpy as np
import pytest

from musclesolve.muscles.paths.engine import PathLayout, solve_paths
from musclesolve.symbolic.path_length import Places, iterated_muscles, path_length

POSES = 150
SIDES = "all", "+x", "-x", "+y", "-y", "+z", "-z"


@pytest.mark.parametrize("kind", ["cylinder", "sphere"])
@pytest.mark.parametrize("side", SIDES)
def test_length_and_gradient_are_those_of_the_kernel(kind, side):
    """With two points that come and go, so that the object acts on every pair of points."""
    rng = np.random.default_rng(SIDES.index(side))
    layout = PathLayout.from_points(
        np.zeros(4, int), [(kind, (0.04, 0.04, 0.04), 0.3, side)], [(0, 0, None, None, "hybrid")]
    )
    position, on = rng.normal(0.0, 0.08, (POSES, 4, 3)), rng.random((POSES, 4)) > 0.4
    on[:, [0, 3]] = True
    center, rotation = (
        rng.normal(0.0, 0.02, (POSES, 1, 3)),
        np.linalg.qr(rng.normal(size=(POSES, 1, 3, 3)))[0],
    )
    kernel = solve_paths(layout, position, on, center, rotation)
    touched = (kernel.gradient[:, 4] != 0.0).any(axis=1)
    assert 0.1 < touched.mean() < 0.9

    points, present = ca.SX.sym("points", 3, 4), ca.SX.sym("present", 2)
    c, r = ca.SX.sym("c", 3), ca.SX.sym("R", 3, 3)
    places = Places(ca.horzsplit(points), [1.0, *ca.vertsplit(present), 1.0], [c], [r])
    length = path_length(layout, 0, places)
    gradient = ca.gradient(length, points)
    second = ca.jacobian(gradient, points)
    function = ca.Function("length", [points, present, c, r], [length, gradient, second])
    for t in range(POSES):
        value, slope, curvature = function(position[t].T, on[t, 1:3], center[t, 0], rotation[t, 0])
        assert float(value) == pytest.approx(kernel.length[t, 0], abs=1e-14)
        np.testing.assert_allclose(np.array(slope).T, kernel.gradient[t, :4], atol=1e-10)
        assert np.isfinite(np.array(curvature)).all()


@pytest.mark.parametrize("side", ["all", "+x", "-y"])
def test_line_through_the_center_of_a_sphere_goes_around_the_stated_side(side):
    layout = PathLayout.from_points(
        np.zeros(2, int), [("sphere", (0.04, 0.04, 0.04), 0.3, side)], [(0, 0, None, None, "hybrid")]
    )
    position = np.array([[[0.0, 0.0, 0.1], [0.0, 0.0, -0.2]]])
    kernel = solve_paths(layout, position, np.ones((1, 2), bool), np.zeros((1, 1, 3)), np.eye(3)[None, None])
    points = [ca.SX(point) for point in position[0]]
    length = path_length(layout, 0, Places(points, [1.0, 1.0], [ca.SX.zeros(3)], [ca.SX.eye(3)]))
    assert float(length) == pytest.approx(kernel.length[0, 0], abs=1e-14)
    assert float(length) > 0.3


def test_paths_over_several_objects_or_ellipsoids_are_iterated():
    objects = [(kind, (0.04, 0.04, 0.04), 0.3, "all") for kind in ("cylinder", "sphere", "ellipsoid")]
    wraps = [(0, 0), (1, 0), (1, 1), (2, 2)]
    layout = PathLayout.from_points(
        np.repeat(np.arange(4), 2), objects, [(*wrap, None, None, "hybrid") for wrap in wraps]
    )
    assert iterated_muscles(layout).tolist() == [False, True, True, False]

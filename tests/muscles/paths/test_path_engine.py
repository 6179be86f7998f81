"""The path engine on arrays: laws of shortest paths, closed forms, and the rules of wrap objects."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
from thorough import some

from musclesolve.muscles.paths.engine import KINDS, PathLayout, solve_paths

RADII = {"cylinder": (0.03, 0.03, 0.0), "sphere": (0.03, 0.03, 0.03), "ellipsoid": (0.035, 0.02, 0.045)}


@dataclass
class Scene:
    """One muscle of two points over objects, in T poses."""

    layout: PathLayout
    position: np.ndarray
    center: np.ndarray
    rotation: np.ndarray

    def solve(self, **changes):
        each = replace(self, **changes)
        on = np.ones(each.position.shape[:2], dtype=bool)
        return solve_paths(each.layout, each.position, on, each.center, each.rotation)


def over(*kinds, side=(0, 0.0), half_length=1.0):
    """A layout of one muscle from point 0 to point 1 over objects of some kinds."""
    count = len(kinds)
    return PathLayout(
        point_muscle=np.zeros(2, dtype=int),
        kind=np.array([KINDS.index(kind) for kind in kinds], dtype=int),
        radii=np.array([RADII[kind] for kind in kinds]),
        half_length=np.full(count, half_length),
        side_axis=np.full(count, side[0]),
        side_sign=np.full(count, side[1]),
        wrap_muscle=np.zeros(count, dtype=int),
        wrap_object=np.arange(count),
        wrap_first=np.zeros(count, dtype=int),
        wrap_last=np.ones(count, dtype=int),
    )


def turned(vector):
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3)."""
    return Rotation.from_rotvec(vector.reshape(-1, 3)).as_matrix().reshape(*vector.shape, 3)


def scene(*kinds, poses=200, seed=5, **fields):
    """Ends left and right of one or two objects that lie about the line between them."""
    rng, count = np.random.default_rng(seed), len(kinds)
    position = np.array([[-0.15, 0.0, 0.0], [0.15, 0.0, 0.0]]) + rng.normal(0.0, 0.02, (poses, 2, 3))
    middle = np.linspace(-0.06, 0.06, count) if count > 1 else np.zeros(1)
    center = rng.normal(0.0, 0.015 / count**1.5, (poses, count, 3))
    center[..., 0] += middle
    tilt = 0.3 if "cylinder" in kinds else 2.0
    rotation = turned(rng.normal(0.0, tilt, (poses, count, 3)))
    return Scene(over(*kinds, **fields), position, center, rotation)


CASES = {
    "cylinder": lambda: scene("cylinder"),
    "one side of a cylinder": lambda: scene("cylinder", side=(1, 1.0)),
    "sphere": lambda: scene("sphere"),
    "one side of a sphere": lambda: scene("sphere", side=(2, -1.0)),
    "ellipsoid": lambda: scene("ellipsoid"),
    "one side of an ellipsoid": lambda: scene("ellipsoid", side=(1, 1.0)),
    "two cylinders": lambda: scene("cylinder", "cylinder"),
    "cylinder and ellipsoid": lambda: scene("cylinder", "ellipsoid"),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request):
    return request.param()


def touched(nodes, layout):
    """(T, W)."""
    return np.abs(nodes.gradient[:, layout.points :]).sum(axis=2)[:, ::2] > 0.0


def held(case):
    """Poses whose path over an ellipsoid is kept on one half of it (T,): there it is not the shortest."""
    free = replace(case.layout, side_sign=np.zeros(len(case.layout.kind)))
    ellipsoid = (case.layout.kind == KINDS.index("ellipsoid")).any()
    return ellipsoid & (np.abs(case.solve(layout=free).length - case.solve().length)[:, 0] > 1e-9)


@pytest.mark.in_part(2)
def test_the_gradient_is_the_derivative_of_length(case):
    """Ends moved, objects moved and rotated at random; where no contact begins or ends within the step."""
    rng, step = np.random.default_rng(6), 1e-6
    found = case.solve()
    at_ends = rng.normal(size=case.position.shape)
    velocity, spin = rng.normal(size=(2, *case.center.shape))

    def moved(h):
        return case.solve(
            position=case.position + h * at_ends,
            center=case.center + h * velocity,
            rotation=turned(h * spin) @ case.rotation,
        )

    near = [moved(h * step) for h in (1, -1, 2, -2)]
    of_nodes = np.repeat(np.arange(case.layout.wraps), 2)
    lever = found.position[:, 2:] - case.center[:, of_nodes]
    rates = velocity[:, of_nodes] + np.cross(spin[:, of_nodes], lever)
    ours = (found.gradient * np.concatenate([at_ends, rates], axis=1)).sum(axis=(1, 2))
    ahead, behind, far_ahead, far_behind = (each.length[:, 0] for each in near)
    theirs = (8 * (ahead - behind) - (far_ahead - far_behind)) / (12 * step)
    same = (touched(near[2], case.layout) == touched(near[3], case.layout)).all(axis=1) & ~held(case)
    assert touched(found, case.layout).any(axis=1).mean() > 0.4 and (same | held(case)).mean() > 0.98
    np.testing.assert_allclose(ours[same], theirs[same], atol=2e-8)


def test_forces_balance(case):
    """No work in a rigid motion: gradients and their moments sum to zero, about any origin."""
    found = case.solve()
    np.testing.assert_allclose(found.gradient.sum(axis=1), 0.0, atol=1e-13)
    moment = np.cross(found.position, found.gradient).sum(axis=1)
    np.testing.assert_allclose(moment, 0.0, atol=1e-11)


def test_lengths_do_not_depend_on_where_the_laboratory_is(case):
    turn = turned(np.array([0.3, -1.0, 2.0]))
    shift = np.array([1.0, -2.0, 0.5])
    moved = case.solve(
        position=case.position @ turn.T + shift,
        center=case.center @ turn.T + shift,
        rotation=turn @ case.rotation,
    )
    np.testing.assert_allclose(moved.length, case.solve().length, atol=1e-12)


def test_the_mirror_image_is_as_long(case):
    """Reflected in y; own axes stay right-handed by turning one that names no side around."""
    mirror, flip = np.diag([1.0, -1.0, 1.0]), np.ones(3)
    flip[1 if case.layout.side_axis[0] == 2 else 2] = -1.0
    found, plain = (
        case.solve(
            position=case.position @ mirror,
            center=case.center @ mirror,
            rotation=mirror @ case.rotation * flip,
        ),
        case.solve(),
    )
    np.testing.assert_allclose(found.length, plain.length, atol=1e-12)
    np.testing.assert_allclose(found.gradient, plain.gradient @ mirror, atol=1e-9)


def test_the_tension_is_the_same_everywhere_and_paths_leave_along_the_surface(case):
    found = case.solve()
    np.testing.assert_allclose(np.linalg.norm(found.gradient[:, :2], axis=2), 1.0, atol=1e-13)
    for w in range(case.layout.wraps):
        on = touched(found, case.layout)[:, w]
        nodes = slice(2 + 2 * w, 4 + 2 * w)
        pull = found.gradient[on, nodes]
        np.testing.assert_allclose(np.linalg.norm(pull, axis=2), 1.0, atol=1e-13)
        own = (found.position[on, nodes] - case.center[on, None, w]) @ case.rotation[on, w]
        radii = case.layout.radii[w]
        normal = np.divide(
            own, radii**2, out=np.zeros_like(own), where=np.broadcast_to(radii > 0.0, own.shape)
        )
        np.testing.assert_allclose((normal * own).sum(axis=2), 1.0, atol=1e-8)
        normal /= np.linalg.norm(normal, axis=2, keepdims=True)
        across = (pull @ case.rotation[on, w] * normal).sum(axis=2)
        np.testing.assert_allclose(across, 0.0, atol=1e-8)


def plane_path(first, last, radii, angle):
    """Shortest path in one plane through both ends around the section of an ellipsoid."""
    along = (last - first) / np.linalg.norm(last - first)
    side = np.linalg.svd(along[None])[2][1:]
    other = np.cos(angle) * side[0] + np.sin(angle) * side[1]
    around = np.linspace(0.0, 2.0 * np.pi, 4001)
    scaled = np.stack([along, other]) / radii
    offset = first / radii
    # |offset + a scaled_0 + b scaled_1| = 1 in the plane's own coordinates a, b
    metric = scaled @ scaled.T
    middle = -np.linalg.solve(metric, scaled @ offset)
    rest = 1.0 - offset @ offset + middle @ metric @ middle
    if rest <= 0.0:
        return np.inf
    root = np.linalg.inv(np.linalg.cholesky(metric)).T
    section = middle + np.sqrt(rest) * np.stack([np.cos(around), np.sin(around)], axis=1) @ root.T
    ends = np.array([[0.0, 0.0], [np.linalg.norm(last - first), 0.0]])
    corners = np.concatenate([ends, section])
    ring = ConvexHull(corners).vertices
    ring = np.roll(ring, -int(np.flatnonzero(ring == 0)[0]))
    stop = int(np.flatnonzero(ring == 1)[0])
    ways = (ring[: stop + 1], np.append(ring[stop:], ring[0]))
    return min(np.linalg.norm(np.diff(corners[way], axis=0), axis=1).sum() for way in ways)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("kind", ["cylinder", "sphere", "ellipsoid"])
def test_no_path_in_a_plane_is_shorter_and_the_best_is_little_longer(kind):
    """An independent route: plane sections give paths around the object, almost the shortest ones."""
    case = scene(kind, poses=60, seed=8)
    found = case.solve()
    radii = np.array(RADII[kind]) if kind != "cylinder" else np.array([0.03, 0.03, 1e3])
    over_it = np.flatnonzero(touched(found, case.layout)[:, 0])[:15]
    assert over_it.size == 15
    for t in some(over_it, 3):
        first, last = (case.position[t] - case.center[t]) @ case.rotation[t, 0]
        best = min(plane_path(first, last, radii, angle) for angle in np.linspace(0.0, np.pi, 91))
        assert -2e-7 < best - found.length[t, 0] < 1e-3 * best


def test_tangent_points_on_two_cylinders_are_stationary():
    """Both cylinders unrolled, the four angles and heights of the tangent points free: length has no slope."""
    case = scene("cylinder", "cylinder", poses=120)
    found = case.solve()
    chords = np.linalg.norm(found.position[:, 3::2] - found.position[:, 2::2], axis=2)
    both = np.flatnonzero(chords.min(axis=1) > 0.003)[:5]
    assert both.size == 5
    for t in both:
        order = np.argsort(case.center[t, :, 0])
        nodes = found.position[t, 2:].reshape(2, 2, 3)[order]
        center, rotation = case.center[t, order], case.rotation[t, order]
        own = np.einsum("wix,wxk->wik", nodes - center[:, None], rotation)
        start = np.stack([np.unwrap(np.arctan2(own[..., 1], own[..., 0]), axis=1), own[..., 2]], axis=2)

        def length(x, t=t, center=center, rotation=rotation):
            angle, height = np.moveaxis(x.reshape(2, 2, 2), 2, 0)
            local = np.stack([0.03 * np.cos(angle), 0.03 * np.sin(angle), height], axis=2)
            places = center[:, None] + np.einsum("wik,wxk->wix", local, rotation)
            chain = np.concatenate([case.position[t, :1], places.reshape(4, 3), case.position[t, 1:]])
            steps = np.linalg.norm(np.diff(chain, axis=0), axis=1)
            arcs = np.hypot(0.03 * np.diff(angle, axis=1), np.diff(height, axis=1))
            return steps[::2].sum() + arcs.sum()

        assert length(start.ravel()) == pytest.approx(found.length[t, 0], abs=1e-12)
        slopes = [length(start.ravel() + h) - length(start.ravel() - h) for h in 1e-6 * np.eye(8)]
        np.testing.assert_allclose(np.array(slopes) / 2e-6, 0.0, atol=1e-7)


def one_pose(layout, first, last, center=(0.0, 0.0, 0.0)):
    position = np.array([[first, last]], dtype=float)
    single = np.ones((1, layout.wraps, 1))
    return Scene(layout, position, single * np.array(center), single[..., None] * np.eye(3)).solve()


@pytest.mark.parametrize("rise", [0.0, 0.08])
def test_a_helix_in_closed_form(rise):
    found = one_pose(over("cylinder"), (-0.1, 0.0, 0.0), (0.1, 1e-12, rise))
    flat = 2.0 * np.sqrt(0.1**2 - 0.03**2) + 0.03 * (np.pi - 2.0 * np.arccos(0.3))
    assert found.length[0, 0] == pytest.approx(np.hypot(flat, rise), abs=1e-11)
    heights = rise * (0.5 + np.array([-0.5, 0.5]) * 0.03 * (np.pi - 2.0 * np.arccos(0.3)) / flat)
    np.testing.assert_allclose(found.position[0, 2:, 2], heights, atol=1e-9)


def test_an_ellipsoid_of_equal_radii_is_a_sphere():
    round_one = scene("sphere")
    ball = replace(round_one, layout=replace(round_one.layout, kind=np.array([KINDS.index("ellipsoid")])))
    np.testing.assert_allclose(ball.solve().length, round_one.solve().length, atol=1e-10)
    np.testing.assert_allclose(ball.solve().gradient, round_one.solve().gradient, atol=1e-7)


def test_a_long_ellipsoid_is_nearly_a_cylinder():
    radii = np.array([[0.03, 0.03, 3.0]])
    layout = replace(over("ellipsoid"), radii=radii)
    found = one_pose(layout, (-0.1, 0.004, 0.0), (0.1, 0.01, 0.01)).length
    assert found == pytest.approx(
        one_pose(over("cylinder"), (-0.1, 0.004, 0.0), (0.1, 0.01, 0.01)).length, abs=1e-5
    )


@pytest.mark.parametrize("kind", RADII)
@pytest.mark.parametrize("sign", [0.0, 1.0])
def test_lift_off_is_smooth(kind, sign):
    """The line rises through the top of the object: length and gradient of the two sides meet."""
    top = RADII[kind][1]
    height = top + np.linspace(-1e-5, 1e-5, 9)
    layout = over(kind, side=(1, sign))
    found = [one_pose(layout, (-0.1, y, 0.01), (0.12, y, 0.01)) for y in height * np.sqrt(1 - touching(kind))]
    length = np.array([each.length[0, 0] for each in found])
    gradient = np.array([each.gradient[0, :2] for each in found])
    on = np.array([touched(each, layout)[0, 0] for each in found])
    assert on[0] and not on[-1]
    assert np.abs(np.diff(length)).max() < 1e-9
    assert np.abs(np.diff(gradient, axis=0)).max() < 2e-4


def touching(kind):
    """Square of the height z = 0.01 at which the line passes, in radii."""
    return 0.0 if kind == "cylinder" else (0.01 / RADII[kind][2]) ** 2


def test_a_side_holds_the_path_where_the_line_passes_on_the_other():
    """Both ends above; the line sinks through a cylinder whose upper half is meant, and out below: no jump."""
    layout = over("cylinder", side=(1, 1.0))
    heights = np.linspace(0.04, -0.08, 241)
    found = [one_pose(layout, (-0.1, 0.05, 0.0), (0.1, -0.05 + 2 * y, 0.0)) for y in heights]
    length = np.array([each.length[0, 0] for each in found])
    tops = np.array([each.position[0, 2:, 1].max() for each in found if touched(each, layout)[0, 0]])
    assert len(tops) > 200 and (tops > 0.0).all()
    assert np.abs(np.diff(length, 2)).max() < 2e-5
    free = one_pose(over("cylinder"), (-0.1, 0.05, 0.0), (0.1, -0.21, 0.0)).length[0, 0]
    assert length[-1] > free + 1e-3


def test_the_long_way_around_a_sphere_whose_other_half_is_meant():
    layout, ends = over("sphere", side=(1, -1.0)), ((-0.1, 0.01, 0.0), (0.1, 0.01, 0.0))
    around, short = one_pose(layout, *ends), one_pose(over("sphere"), *ends)
    assert (around.position[0, 2:, 1] < 0.0).all() and (short.position[0, 2:, 1] > 0.0).all()
    square = 0.1**2 + 0.01**2
    angle = 2.0 * (np.pi - np.arctan2(0.1, 0.01) * 1.0)
    seen = 2.0 * np.arccos(0.03 / np.sqrt(square))
    expected = 2.0 * np.sqrt(square - 0.03**2) + 0.03 * (2.0 * np.pi - (2.0 * np.pi - angle) - seen)
    assert around.length[0, 0] == pytest.approx(expected, abs=1e-12)


def test_what_ends_inside_or_passes_beyond_the_end_of_a_cylinder_is_straight():
    inside = one_pose(over("cylinder"), (-0.1, 0.0, 0.0), (0.02, 0.0, 0.0))
    beyond = one_pose(over("cylinder", half_length=0.05), (-0.1, 0.01, 0.06), (0.1, 0.01, 0.06))
    half = one_pose(over("cylinder", half_length=0.05), (-0.1, 0.01, 0.015), (0.1, 0.01, 0.085))
    assert inside.length[0, 0] == pytest.approx(0.12)
    assert beyond.length[0, 0] == pytest.approx(0.2)
    assert half.length[0, 0] > np.hypot(0.2, 0.07) + 1e-4


def test_a_wrap_acts_within_its_range_and_past_absent_points():
    """Four points in a row; the object lies between the second and the third, the first segment would cut it too."""
    layout = replace(
        over("cylinder"),
        point_muscle=np.zeros(4, dtype=int),
        wrap_first=np.array([1]),
        wrap_last=np.array([3]),
    )
    position = np.array([[[-0.2, -0.1, 0.0], [-0.1, 0.01, 0.0], [0.1, 0.01, 0.0], [0.2, 0.0, 0.0]]])
    center, rotation = np.zeros((1, 1, 3)), np.eye(3)[None, None]
    every = np.ones((1, 4), dtype=bool)
    found = solve_paths(layout, position, every, center, rotation)
    assert touched(found, layout)[0, 0]
    outside = replace(layout, wrap_first=np.array([2]))
    assert not touched(solve_paths(outside, position, every, center, rotation), layout)[0, 0]
    without = every.copy()
    without[0, 2] = False
    past = solve_paths(layout, position, without, center, rotation)
    assert touched(past, layout)[0, 0] and not past.gradient[0, 2].any()
    shorter = solve_paths(
        replace(layout, point_muscle=np.zeros(3, dtype=int), wrap_last=np.array([2])),
        np.delete(position, 2, axis=1), np.ones((1, 3), dtype=bool), center, rotation,
    )  # fmt: skip
    assert past.length[0, 0] == pytest.approx(shorter.length[0, 0], abs=1e-15)


def test_read_only_arrays_and_other_orders_of_axes():
    case = scene("cylinder", poses=4)
    position = np.asfortranarray(case.position)
    position.flags.writeable = False
    np.testing.assert_array_equal(case.solve(position=position).length, case.solve().length)

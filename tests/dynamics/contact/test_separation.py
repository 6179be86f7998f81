"""Distance, normal and point of two surfaces against brute force, closed forms and their own derivatives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from free_bodies import free_body, starting
from refusals import refused
from scipy.spatial.transform import Rotation
from surface_separation import separation

from musclesolve.dynamics import ContactPairs, HertzContact, Surface
from musclesolve.dynamics.contact.contact_pairs import BodyStates

EDGE = 1e-5


def normals(count):
    """Directions all over the sphere."""
    k = np.arange(count) + 0.5
    up, around = 1.0 - 2.0 * k / count, np.pi * (1.0 + 5.0**0.5) * k
    flat = np.sqrt(1.0 - up**2)
    return np.column_stack([flat * np.cos(around), flat * np.sin(around), up])


def reach(surface, n):
    """Return the distance of a surface from its center along normals (k, 3): a norm, by its definition."""
    p = surface.order / (surface.order - 1.0)
    rounded = np.sqrt((n @ surface.axes) ** 2 + (EDGE if surface.order > 2.0 else 0.0))
    size = np.linalg.norm(surface.semi_axes * rounded, ord=p, axis=1) if surface.semi_axes.any() else 0.0
    return size + surface.radius


def plane_gaps(one, two, n):
    return n @ (two.center - one.center) - reach(one, n) - reach(two, n)


def random_surface(rng, name, order):
    axes = Rotation.random(random_state=rng.integers(1 << 30)).as_matrix()
    if order == 0:
        line = 0.5 * rng.uniform(0.2, 0.5) * axes[:, 2]
        return Surface.cylinder(name, -line, line, rng.uniform(0.04, 0.09))
    return Surface.ellipsoid(name, (0, 0, 0), rng.uniform(0.05, 0.3, 3), axes, order)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("orders", [(2, 2), (2, 0), (0, 0), (4, 2), (6, 0), (4, 6), (6, 6)])
def test_no_normal_parts_two_surfaces_farther(orders):
    """The gap is the largest over all normals, apart or overlapping; none of many does better."""
    rng, n = np.random.default_rng(sum(orders)), normals(20_000)
    for _ in range(60):
        one, two = (random_surface(rng, name, order) for name, order in zip("ab", orders, strict=True))
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        touching = float(reach(one, way[None])[0] + reach(two, way[None])[0])
        two = replace(two, center=way * touching * rng.uniform(0.85, 1.02))
        found = separation(one, two)
        brute = plane_gaps(one, two, n).max()
        assert found.gap >= brute - 1e-12
        assert found.gap == pytest.approx(float(plane_gaps(one, two, found.normal[None])[0]), abs=1e-12)
        aside = np.cross(found.normal, normals(3))
        around = found.normal + 1e-6 * np.stack([aside, -aside])
        around /= np.linalg.norm(around, axis=2, keepdims=True)
        ahead, back = (plane_gaps(one, two, each) for each in around)
        np.testing.assert_allclose(
            ahead - back, 0.0, atol=2e-6 * 0.002 * touching
        )  # nothing to gain at the end
        assert found.gap <= brute + 0.01 * touching  # the normals are half a degree apart


@pytest.mark.parametrize("aside", [0.01, 0.02, 0.05, 0.1, 1.0, 3.0])
def test_a_pair_of_very_different_sizes_has_a_lower_bound_of_its_gap_where_far_apart(aside):
    """A ball of 0.1 m beside a block of 12 m: far from 0.02 m on; their separation is exact."""
    block = Surface.ellipsoid("block", (0, 0, 0), (6.0, 1.2, 1.4), order=20.0)
    ball = Surface.sphere("ball", (1.5, 1.3 + aside, 0.3), 0.1)
    exact = separation(block, ball).gap
    assert exact >= plane_gaps(block, ball, normals(20_000)).max() - 1e-12
    assert exact <= aside  # flat faces bulge
    model, law = free_body(name="one"), {("block", "ball"): HertzContact(1e5)}
    pairs = ContactPairs.build({"one": model}, [block, replace(ball, body="one")], law)
    there = BodyStates.from_models([model], [(model.standing, 0.0 * model.standing)])
    bound = float(pairs.gaps(there)[0])
    assert bound == exact if exact < 0.02 else 0.02 < bound <= exact


@pytest.mark.parametrize("distance", [0.53, 0.6, 3.0, 500.0])
def test_the_separation_of_surfaces_far_apart_is_no_bound(distance):
    """Two flat ellipsoids above each other: their surrounding spheres are much larger than the gap tells."""
    above = Surface.ellipsoid("above", (0.0, 0.0, distance), (0.01, 0.02, 0.03))
    found = separation(Surface.ellipsoid("below", (0.0, 0.0, 0.0), (2.0, 1.0, 0.5)), above)
    assert found.gap == pytest.approx(distance - 0.53, abs=1e-9)
    np.testing.assert_allclose(found.point, (0.0, 0.0, 0.25 + 0.5 * (distance - 0.03)), atol=1e-6)


def test_either_surface_may_be_a_plane():
    slope = Surface.plane("slope", (0.0, 0.0, 0.0), (0.6, 0.0, 0.8))
    ball = Surface.sphere("ball", (3.0, 1.0, 2.0), 0.1)
    one, other = separation(slope, ball), separation(ball, slope)
    assert one.gap == other.gap == pytest.approx(3.3)
    np.testing.assert_allclose(one.normal, -other.normal)
    np.testing.assert_allclose(one.point, other.point)


def test_spheres_and_planes_in_closed_form():
    one, two = Surface.sphere("a", (0.1, 0.2, 0.3), 0.1), Surface.sphere("b", (0.3, 0.2, 0.3), 0.15)
    found = separation(one, two)
    assert found.gap == pytest.approx(-0.05)
    np.testing.assert_allclose(found.normal, (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(found.point, (0.175, 0.2, 0.3), atol=1e-12)
    floor = Surface.plane("floor", (0, 0, 0.1), (0, 0, 1))
    egg = Surface.ellipsoid(
        "egg", (0.5, 0, 0.4), (0.3, 0.2, 0.1), Rotation.from_euler("y", 30, degrees=True).as_matrix()
    )
    tall = np.hypot(0.1 * np.cos(np.pi / 6), 0.3 * np.sin(np.pi / 6))
    found = separation(floor, egg)
    assert found.gap == pytest.approx(0.3 - tall, abs=1e-12)
    assert found.point[2] == pytest.approx(0.1 + 0.5 * found.gap)


def test_a_sphere_on_an_ellipsoid_in_closed_form():
    """Above a point of the ellipsoid along its normal."""
    semi_axes, radius, gap = np.array([0.3, 0.2, 0.1]), 0.07, 0.004
    for direction in normals(30):
        n = direction / np.linalg.norm(direction)
        point = semi_axes**2 * n / np.linalg.norm(semi_axes * n)
        ball = Surface.sphere("ball", point + (radius + gap) * n, radius)
        found = separation(Surface.ellipsoid("egg", (0, 0, 0), semi_axes), ball)
        assert found.gap == pytest.approx(gap, abs=1e-12)
        np.testing.assert_allclose(found.normal, n, atol=1e-9)
        np.testing.assert_allclose(found.point, point + 0.5 * gap * n, atol=1e-9)


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 1, 0)], ids=["parallel", "crossed"])
def test_cylinders_side_by_side_are_their_radii_apart(direction):
    half = 0.2 * np.array(direction)
    one, center = Surface.cylinder("a", (0, 0, -0.2), (0, 0, 0.2), 0.05), np.array([0.12, 0.0, 0.0])
    found = separation(one, Surface.cylinder("b", center - half, center + half, 0.06))
    assert found.gap == pytest.approx(0.12 - 0.11, abs=1e-12)
    np.testing.assert_allclose(found.normal, (1, 0, 0), atol=1e-9)
    np.testing.assert_allclose(found.point, (0.055, 0, 0), atol=1e-9)


def test_the_point_of_contact_moves_continuously_as_a_cylinder_tips():
    """The point moves from one end to the other within a few degrees, never by a jump."""
    floor, half = Surface.plane("floor", (0, 0, 0), (0, 0, 1)), 0.2
    places, gaps = [], []
    for tip in np.linspace(-0.3, 0.3, 601):
        center, line = np.array([0.0, 0.0, 0.3]), half * np.array([np.cos(tip), 0.0, np.sin(tip)])
        found = separation(floor, Surface.cylinder("rod", center - line, center + line, 0.05))
        places.append(found.point[0])
        gaps.append(found.gap)
    steps = np.abs(np.diff(places))
    assert places[0] > 0.12 and places[-1] < -0.12  # the lower end touches
    assert steps.max() < 0.006 and np.abs(np.diff(gaps)).max() < 0.3e-3


@pytest.mark.parametrize("kind", ["plane", "ellipsoid", "box"])
def test_the_gap_grows_with_the_normal_velocity(kind):
    """The rate of the gap of moving bodies against finite differences."""
    rng, step = np.random.default_rng(3), 1e-6
    first = {
        "plane": Surface.plane("first", (0, 0, -0.1), (0.6, 0, 0.8), "one", "one"),
        "ellipsoid": Surface.ellipsoid("first", (0.02, 0, 0), (0.2, 0.15, 0.1), body="one", model="one"),
        "box": Surface.ellipsoid("first", (0, 0, 0), (0.2, 0.15, 0.1), order=4.0, body="one", model="one"),
    }[kind]
    second = Surface.cylinder("second", (0, 0, -0.2), (0, 0.1, 0.2), 0.05, "two", "two")
    models = {name: free_body(name=name) for name in ("one", "two")}
    pairs = ContactPairs.build(models, [first, second], {("first", "second"): HertzContact(1e5)})
    for _ in range(10):
        turns = Rotation.random(2, random_state=rng.integers(1 << 30)).as_matrix()
        places = ((0, 0, 0), 0.2 * rng.normal(size=3) + (0.1, 0.1, 0.2))
        starts = [
            starting(model, place, rng.normal(size=3), rng.normal(size=3), turn)
            for model, place, turn in zip(models.values(), places, turns, strict=True)
        ]

        def at(time, starts=starts):
            states = [(start.q + time * start.qd, start.qd) for start in starts]
            return BodyStates.from_models(list(models.values()), states)

        touch = pairs.touch(at(0.0), np.array([np.inf]), np.array([True]))
        gap = [float(pairs.gaps(at(time))[0]) for time in (-step, step)]
        if gap[0] < 0.02:
            assert touch.rate[0] == pytest.approx(-(gap[1] - gap[0]) / (2.0 * step), rel=1e-5, abs=1e-5)


def test_a_rod_on_a_rounded_box_is_found_on_its_flat_side():
    """Where the flat side of a box makes the gap almost a ridge, the search must not leap to and fro across it."""
    box = Surface.ellipsoid("box", (0, 0, 0), (0.15, 0.1, 0.08), order=6.0)
    center, along = np.array((-0.2167, 0.032, 0.0306)), np.array((-0.3319, 0.4326, -0.8383))
    found = separation(box, Surface.cylinder("rod", center - 0.2 * along, center + 0.2 * along, 0.06))
    around = found.normal + 0.01 * normals(20_000)
    around /= np.linalg.norm(around, axis=1, keepdims=True)
    rod = Surface.cylinder("rod", center - 0.2 * along, center + 0.2 * along, 0.06)
    assert found.gap >= plane_gaps(box, rod, np.vstack([around, normals(20_000)])).max() - 1e-12


@pytest.mark.parametrize("order, bulge", [(2.0, 0.0), (4.0, 7.0e-4), (10.0, 3.0e-3), (20.0, 4.4e-3)])
def test_flat_faces_bulge_by_a_few_thousandths(order, bulge):
    """The rounding that keeps the curvature of flat faces finite, as its docstring states it."""
    box, floor = (
        Surface.ellipsoid("box", (0, 0, 0), (0.1, 0.1, 0.1), order=order),
        Surface.plane("floor", (0, 0, -0.3), (0, 0, 1)),
    )
    assert (0.2 - separation(floor, box).gap) / 0.1 == pytest.approx(bulge, abs=1e-4)


def test_pairs_of_other_things_are_refused():
    for models, surfaces, pairs in (
        (None, [], {}),
        ({}, [3], {}),
        ({}, 3, {}),
        ({}, [], {"floor": 1}),
        ({}, [], []),
    ):
        with refused("bad_type"):
            ContactPairs.build(models, surfaces, pairs)

"""A set on a person: which length each bone grows with; wrap objects grow too, and muscles stay outside of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import muscle_db
from musclesolve.dynamics import human_model
from musclesolve.muscles.scaling.fiber_lengths import sampled_poses
from musclesolve.muscles.scaling.scaled_paths import FrameMap, frame_maps, reference_model, scaled_paths

DATABASE = muscle_db.load("rajagopal_2023")
OWN = reference_model(DATABASE.reference)


def hips(width):
    return {f"hip_{side}": np.array([0.0, sign * width / 2, 0.0]) for side, sign in (("r", -1), ("l", 1))}


def layout_with(scale, **kinds):
    """Sizes of the wrap objects of a set whose pelvis is scaled along forward, left, up."""
    maps = frame_maps(OWN, DATABASE, "r")
    pelvis = FrameMap(maps["pelvis"].rotation, np.array(scale), maps["pelvis"].origin)
    database = replace(
        DATABASE, wrap_objects={n: replace(w, **kinds) for n, w in DATABASE.wrap_objects.items()}
    )
    return scaled_paths(OWN, database, "r", maps | {"pelvis": pelvis}).layout


def test_sizes_grow_with_the_bone():
    own, doubled = layout_with([1.0, 1.0, 1.0]), layout_with([2.0, 2.0, 2.0])
    of_pelvis = np.array([wrap.frame == "pelvis" for wrap in DATABASE.wrap_objects.values()])
    factor = np.where(of_pelvis, 2.0, 1.0)
    assert 0 < of_pelvis.sum() < len(of_pelvis)
    np.testing.assert_allclose(doubled.radii, factor[:, None] * own.radii)
    np.testing.assert_allclose(doubled.half_length, factor * own.half_length)


@pytest.mark.parametrize("along", [0, 1, 2])
def test_a_pelvis_twice_as_wide(along):
    """A cylinder along the left axis becomes twice as long; others become thicker, by the mean across them.

    A thin one, which no point is near.
    """
    axes = np.roll(np.eye(3), 2 - along, axis=1)  # the own z axis is forward, left or up
    assert axes[along, 2] == 1.0
    brim = list(DATABASE.wrap_objects).index("il_at_brim")
    own, wide = (
        layout_with(scale, axes=tuple(map(tuple, axes)), radii=(0.005, 0.005, 0.0))
        for scale in ([1.0, 1.0, 1.0], [1.0, 2.0, 1.0])
    )
    thicker, longer = (1.0, 2.0) if along == 1 else (1.5, 1.0)
    assert wide.radii[brim, 0] == pytest.approx(thicker * own.radii[brim, 0])
    assert wide.half_length[brim] == pytest.approx(longer * own.half_length[brim])


def test_a_cylinder_grows_no_more_than_the_points_beside_it():
    """Half as deep: the brim becomes 0.75 times as thick by the mean; less where iliacus and psoas would be inside."""
    own, flat = layout_with([1.0, 1.0, 1.0]), layout_with([0.5, 1.0, 1.0])
    names = list(DATABASE.wrap_objects)
    for name in ("il_at_brim", "ps_at_brim"):
        thinner = flat.radii[names.index(name), 0] / own.radii[names.index(name), 0]
        assert 0.5 < thinner < 0.74


def gaps(model, side):
    """Least distance of the path points from the cylinders that they wrap, on the same bone, (k,) [m]."""
    paths = scaled_paths(model, DATABASE, side, frame_maps(model, DATABASE, side))
    layout = paths.layout
    (position, _, center, axes), _ = paths.place(*sampled_poses(model, side))
    found = {}
    for w, item in enumerate(layout.wrap_object):
        if layout.kind[item] != 0:
            continue
        for point in range(layout.wrap_first[w], layout.wrap_last[w] + 1):
            if paths.body[point] == paths.objects.body[item]:
                local = np.einsum("tji,tj->ti", axes[:, item], position[:, point] - center[:, item])
                found[w, point] = (np.hypot(local[:, 0], local[:, 1]) - layout.radii[item, 0]).min()
    return found


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize("name", ["gait2392", "rajagopal_2023"])
def test_the_pelvis_is_as_deep_as_it_was_measured(name, side):
    """Hip centers and all other lengths stay; twice as deep a pelvis has its points twice as far before the hip."""
    database = muscle_db.load(name)
    depth, stature = database.reference.pelvis_depth, database.reference.stature
    maps = [
        frame_maps(replace(human_model(75.0, stature), pelvis_depth=each), database, side)
        for each in (None, depth, 2.0 * depth)
    ]
    np.testing.assert_allclose([each["pelvis"].scale[0] for each in maps], [1.0, 1.0, 2.0])
    hip = np.array(database.reference["pelvis"].position) * np.array([1.0, -1.0 if side == "l" else 1.0, 1.0])
    own, _, deep = (each["pelvis"] for each in maps)
    np.testing.assert_allclose(deep.place(hip), own.place(hip), atol=1e-15)
    point = hip + np.array([0.04, 0.02, 0.03])
    np.testing.assert_allclose(deep.place(point) - own.place(point), [0.04, 0.0, 0.0], atol=1e-15)
    for frame in ("femur", "tibia", "foot"):
        np.testing.assert_array_equal(maps[2][frame].scale, maps[0][frame].scale)


def test_a_set_that_does_not_know_its_depth_grows_with_stature():
    database, deep = muscle_db.load("silva_2003"), replace(human_model(75.0, 1.8), pelvis_depth=0.3)
    assert database.reference.pelvis_depth is None
    scale = frame_maps(deep, database, "r")["pelvis"].scale
    assert scale[0] == scale[2] == pytest.approx(1.0 / database.reference["pelvis"].position_scale)


PEOPLE = [
    human_model(),
    human_model(85.0, 1.83, offsets=hips(0.215)),
    replace(human_model(85.0, 1.83, offsets=hips(0.215)), pelvis_depth=0.208),
    replace(human_model(60.0, 1.75), pelvis_depth=0.14),
    human_model(16.0, 1.0),
]


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize("model", PEOPLE)
def test_points_outside_of_a_cylinder_stay_outside(model, side):
    """A point inside does not wrap: iliacus and psoas would pass through the brim of a wide pelvis."""
    own, here = gaps(OWN, side), gaps(model, side)
    assert len(own) > 20 and min(own.values()) > 0.0
    assert all(here[key] > 0.0 for key in own)

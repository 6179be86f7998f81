"""Wrap objects on a person: they grow with their bones, and muscles that begin outside of them still do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import muscle_db
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.muscles.placing.fiber_lengths import sampled_poses
from musclesolve.muscles.placing.placed_paths import FrameMap, frame_maps, placed_paths, reference_model

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
    return placed_paths(OWN, database, "r", maps | {"pelvis": pelvis}).layout


def test_sizes_grow_with_the_bone():
    own, doubled = layout_with([1.0, 1.0, 1.0]), layout_with([2.0, 2.0, 2.0])
    of_pelvis = np.array([wrap.frame == "pelvis" for wrap in DATABASE.wrap_objects.values()])
    factor = np.where(of_pelvis, 2.0, 1.0)
    assert 0 < of_pelvis.sum() < len(of_pelvis)
    np.testing.assert_allclose(doubled.radii, factor[:, None] * own.radii)
    np.testing.assert_allclose(doubled.half_length, factor * own.half_length)


@pytest.mark.parametrize("along", [0, 1, 2])
def test_a_pelvis_twice_as_wide(along):
    """A cylinder along the left axis becomes twice as long; others become thicker, by the mean across them."""
    axes = np.roll(np.eye(3), 2 - along, axis=1)  # the own z axis is forward, left or up
    assert axes[along, 2] == 1.0
    brim = list(DATABASE.wrap_objects).index("il_at_brim")
    own, wide = (layout_with(scale, axes=axes) for scale in ([1.0, 1.0, 1.0], [1.0, 2.0, 1.0]))
    thicker, longer = (1.0, 2.0) if along == 1 else (1.5, 1.0)
    assert wide.radii[brim, 0] == pytest.approx(thicker * own.radii[brim, 0])
    assert wide.half_length[brim] == pytest.approx(longer * own.half_length[brim])


def gaps(model, side):
    """Least distance of the path points from the cylinders that they wrap, on the same bone, (k,) [m]."""
    paths = placed_paths(model, DATABASE, side, frame_maps(model, DATABASE, side))
    layout = paths.layout
    position, center, axes, _ = paths.place(*sampled_poses(model, side))
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
@pytest.mark.parametrize(
    "model", [human_model(), human_model(85.0, 1.83, offsets=hips(0.215)), human_model(16.0, 1.0)]
)
def test_points_outside_of_a_cylinder_stay_outside(model, side):
    """A point inside does not wrap: iliacus and psoas would pass through the brim of a wide pelvis."""
    own, here = gaps(OWN, side), gaps(model, side)
    assert len(own) > 20 and min(own.values()) > 0.0
    assert all(here[key] > 0.0 for key in own)

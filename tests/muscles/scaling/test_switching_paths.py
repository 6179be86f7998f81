"""Conditional points of placed muscles: paths without jumps on any subject, quadriceps as in the model of the set."""

from __future__ import annotations

import numpy as np
import pytest

import muscle_db
from musclesolve import muscle_geometry
from musclesolve.dynamics import human_model
from musclesolve.muscles import scale_muscles
from musclesolve.muscles.scaling.scaled_paths import reference_model

INSTANT = 1e-7
ARMS_MM = {
    "rectus_femoris": (-29.95, -26.93, -24.46, -18.90),
    "vastus_medialis": (-31.60, -29.44, -26.54, -23.32),
    "vastus_intermedius": (-29.97, -27.70, -25.39, -20.46),
    "vastus_lateralis": (-30.61, -28.47, -25.54, -21.44),
    "gastrocnemius_medial": (15.54, 14.09, 12.36, 9.01),
    "gastrocnemius_lateral": (14.16, 12.16, 9.94, 5.86),
}
"""OpenSim 4.6, gait2392, at 80, 90, 100 and 120 degrees of knee flexion, all else zero."""


def _at(model, paths, dof, angle):
    """Musculotendon lengths (n,) [m] with one joint rotated."""
    coordinates = np.zeros((1, len(model.topology.dof_names)))
    coordinates[0, dof] = angle
    joints = model.tree.joint_count
    q = model.tree.pose(coordinates[:, :joints], np.zeros((1, 3)), np.eye(3)[None])
    return paths.evaluate(q, coordinates).length[0]


@pytest.mark.parametrize("name", ["gait2392", "silva_2003"])
@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize("stature", [1.55, 1.70, 1.95])
def test_a_path_jumps_by_less_than_a_millimeter(name, side, stature):
    """In length, and by 1 mm in its moment arm, wherever a point joins or leaves it."""
    model = human_model(stature=stature)
    paths = scale_muscles(model, muscle_db.load(name), side).paths
    steps, step = 0, np.radians(0.05)
    for c, point in enumerate(paths.switched):
        muscle, dof = paths.layout.point_muscle[point], int(paths.switch_dof[c])
        for edge in (paths.switch_lower[c], paths.switch_upper[c]):
            if not np.radians(-60) < edge < np.radians(130):
                continue
            angles = edge + np.array([-step, -INSTANT, INSTANT, step])
            length = np.array([_at(model, paths, dof, angle)[muscle] for angle in angles])
            assert abs(length[2] - length[1]) < 1e-3, muscle
            assert abs((length[3] - length[2]) - (length[1] - length[0])) / step < 1e-3
            steps += 1
    assert steps >= 8


def test_points_of_one_muscle_are_switched_one_by_one():
    """The vasti of gait2392 have two each, at 69 and 102 or 110 degrees; they stay that far apart."""
    model = human_model()
    database = muscle_db.load("gait2392")
    paths = scale_muscles(model, database, "r").paths
    names = [muscle.name for muscle in database]
    for name, expected in {"vastus_medialis": (69.3, 102.0), "vastus_lateralis": (69.3, 110.0)}.items():
        own = paths.layout.point_muscle[paths.switched] == names.index(name)
        found = np.degrees(paths.switch_lower[own])
        np.testing.assert_allclose(sorted(found), expected, atol=5.0)


def test_arms_of_a_bent_knee_are_those_of_opensim():
    database = muscle_db.load("gait2392")
    angles = np.radians([80.0, 90.0, 100.0, 120.0])
    found = muscle_geometry({"knee_flexion_r": angles}, None, database, reference_model(database.reference))
    arm = 1e3 * found.moment_arm.sel(dof="knee_flexion_r")
    for name, expected in ARMS_MM.items():
        np.testing.assert_allclose(arm.sel(muscle=f"{name}_r"), expected, atol=0.2)

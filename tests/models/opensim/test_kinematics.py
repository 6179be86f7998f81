"""Body poses and twists: laws that hold for every joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from joined_legs import reversed_joint
from small_model import save_model

from musclesolve import read_osim
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values, joints_crossed
from musclesolve.models.opensim.model import OpenSimModel, rotation_xyz

STEP = 1e-6


def random_values(model: OpenSimModel, names: list[str]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {name: rng.uniform(-0.8, 1.2, 5) for name in names}


def free_names(model: OpenSimModel) -> list[str]:
    driven = {coupler.dependent for coupler in model.couplers}
    return [name for name in model.coordinates if name not in driven]


def check_twists(model: OpenSimModel) -> None:
    """v + omega x r is the velocity of every point of every body when one coordinate changes."""
    names = free_names(model)
    given = random_values(model, names)
    motion = body_motion(model, coordinate_values(model, given), names)
    point = np.array([0.1, -0.2, 0.3])
    place = motion.rotation @ point + motion.position
    for k, name in enumerate(names):
        ends = [
            body_motion(model, coordinate_values(model, {**given, name: given[name] + step}))
            for step in (STEP, -STEP)
        ]
        places = [end.rotation @ point + end.position for end in ends]
        velocity = (places[0] - places[1]) / (2.0 * STEP)
        omega, v = motion.twist[:, k, :, :3], motion.twist[:, k, :, 3:]
        np.testing.assert_allclose(v + np.cross(omega, place), velocity, atol=1e-8)


def test_twists_are_the_velocities_of_all_joints(small: OpenSimModel) -> None:
    check_twists(small)


@pytest.mark.parametrize("name", ["gait2392", "rajagopal_lai_uhlrich_2023"])
def test_twists_of_public_models(public_model, name: str) -> None:
    check_twists(public_model(name))


def test_rotations_are_rotations(small: OpenSimModel) -> None:
    rotation = body_motion(small, coordinate_values(small, random_values(small, free_names(small)))).rotation
    identity = np.broadcast_to(np.eye(3), rotation.shape)
    np.testing.assert_allclose(rotation @ rotation.swapaxes(-1, -2), identity, atol=1e-14)


def test_defaults_given_values_and_couplers(small: OpenSimModel) -> None:
    values = coordinate_values(small, {"knee_r": np.array([0.0, 1.0])})
    number = small.coordinate_number
    np.testing.assert_allclose(values[:, number["beta_r"]], [0.2, 1.2])  # 2 (0.5 q + 0.1)
    np.testing.assert_allclose(values[:, number["ankle_a_r"]], 0.1)


def test_a_free_joint_places_its_body(small: OpenSimModel) -> None:
    """The child frame turns about x, y, z one after the other and moves along the axes of the parent frame."""
    given = {"px": [0.3], "py": [-0.2], "pz": [0.5], "tx": [1.0], "ty": [2.0], "tz": [3.0]}
    motion = body_motion(small, coordinate_values(small, {k: np.array(v) for k, v in given.items()}))
    offset = rotation_xyz(np.array([0.1, 0.2, -0.3]))
    turned = offset @ rotation_xyz(np.array([0.3, -0.2, 0.5])) @ offset.T
    np.testing.assert_allclose(motion.rotation[0, 1], turned, atol=1e-14)
    origin = np.array([0.01, -0.4, 0.02]) + offset @ [1.0, 2.0, 3.0] - turned @ [0.0, 0.01, 0.0]
    np.testing.assert_allclose(motion.position[0, 1], origin, atol=1e-14)


@pytest.mark.parametrize("name", ["hip_r", "knee_joint_r", "ankle_r"])
def test_twists_of_reversed_joints(tmp_path: Path, name: str) -> None:
    model = read_osim(save_model(tmp_path, reversed_joint(name)))
    assert [joint.name for joint in model.joints if joint.is_reversed] == [name]
    check_twists(model)


def test_joints_that_muscles_cross(public_model: Callable[[str], OpenSimModel]) -> None:
    """Ankle and subtalar joint count as one, a knee by couplers too; joints that are locked do not count."""
    legs = {"gait2392": ("med_gas", "rect_fem", "soleus"), "rajagopal_2016": ("gasmed", "recfem", "soleus")}
    for file, (calf, thigh, soleus) in legs.items():
        model = public_model(file)
        names = [f"{name}_{side}" for name in (calf, thigh, soleus) for side in "rl"]
        np.testing.assert_array_equal(joints_crossed(model, names), [2, 2, 2, 2, 1, 1])
    arm = public_model("arm26")
    np.testing.assert_array_equal(joints_crossed(arm, ["TRIlong", "TRIlat", "BIClong", "BRA"]), [2, 1, 2, 1])
    stiff = replace(arm.coordinates["r_shoulder_elev"], locked=True)
    locked = replace(arm, coordinates={**arm.coordinates, "r_shoulder_elev": stiff})
    np.testing.assert_array_equal(joints_crossed(locked, ["TRIlong", "BIClong"]), [1, 1])

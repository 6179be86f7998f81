"""Inverse dynamics of the recorded walk beside that of OpenSim 4.6."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sampled_motion import filtered_motion
from scaled_model import scaled_skeleton

from musclesolve import read_osim
from musclesolve.models.opensim import inverse_dynamics
from musclesolve.models.opensim.external_loads import ExternalLoad, read_external_loads
from musclesolve.tables import read_mot

LEG = (
    "hip_flexion",
    "hip_adduction",
    "hip_rotation",
    "knee_angle",
    "ankle_angle",
    "subtalar_angle",
    "mtp_angle",
)
PELVIS = ("pelvis_tx", "pelvis_ty", "pelvis_tz", "pelvis_tilt", "pelvis_list", "pelvis_rotation")
UPPER = ("lumbar_extension", "lumbar_bending", "lumbar_rotation", "arm_flex_r", "arm_add_l", "elbow_flex_r")
CUTOFF_HZ = 6.0


@pytest.fixture(scope="module")
def folder(model_folder: Path) -> Path:
    """The recorded walk; `reference` holds OpenSim's results."""
    return model_folder.parent / "rajagopal_walk"


@pytest.fixture(scope="module")
def scaled(folder: Path):
    """The model of Rajagopal, Lai and Uhlrich (2023) of this subject."""
    return read_osim(folder / "reference" / "rajagopal_lai_uhlrich_2023_scaled.osim")


@pytest.fixture(scope="module")
def loads(folder: Path, scaled) -> list[ExternalLoad]:
    return read_external_loads(folder / "walk_grf.mot", scaled)


@pytest.fixture(scope="module")
def dynamics(folder: Path, scaled, loads: list[ExternalLoad]):
    motion = filtered_motion(scaled, folder / "reference" / "opensim_ik.mot", CUTOFF_HZ)
    return inverse_dynamics(scaled, motion, loads)


@pytest.fixture(scope="module")
def model_of_reference(public_model, scaled):
    """The model of Rajagopal et al. (2016), which `opensim_id.sto` was computed with, scaled in the same way.

    Its bodies have the same mass properties before scaling and thus after it; factors are read off the joints and mass
    centers of the scaled model of 2023.
    """
    generic = public_model("rajagopal_lai_uhlrich_2023")
    factors = {body: np.ones(3) for body in generic.bodies}
    for body in generic.bodies[1:]:
        before, after = generic.masses[body].center.copy(), scaled.masses[body].center.copy()
        for own, other in zip(generic.joints, scaled.joints, strict=True):
            for frame, grown in ((own.parent, other.parent), (own.child, other.child)):
                if frame.body == body:
                    larger = np.abs(frame.position) > np.abs(before)
                    before[larger], after[larger] = frame.position[larger], grown.position[larger]
        factors[body] = np.where(before == 0.0, 1.0, after / np.where(before == 0.0, 1.0, before))
    return scaled_skeleton(public_model("rajagopal_2016"), factors, scaled.masses)


def rms(folder: Path, dynamics, names: Sequence[str]) -> dict[str, float]:
    """Difference from OpenSim's file, each joint by itself."""
    table = read_mot(folder / "reference" / "opensim_id.sto")
    frames = np.searchsorted(dynamics.time, table.time - 1e-6)
    found = {}
    for name in names:
        column = next(column for column in table.names if column.rsplit("_", 1)[0] == name)
        own = dynamics.joint_force[frames, dynamics.coordinates.index(name)]
        found[name] = float(np.sqrt(np.mean((own - table[column]) ** 2)))
    return found


def test_moments_of_the_same_model_are_those_of_opensim(
    folder: Path, model_of_reference, loads: list[ExternalLoad]
) -> None:
    """Exact where no joint below the knee is involved; see `test_opensim_dynamics` for what remains there."""
    motion = filtered_motion(model_of_reference, folder / "reference" / "opensim_ik.mot", CUTOFF_HZ)
    dynamics = inverse_dynamics(model_of_reference, motion, loads)
    legs = rms(folder, dynamics, [f"{name}_{side}" for name in LEG for side in "rl"])
    assert max(legs.values()) < 0.22, legs
    assert legs["ankle_angle_r"] < 0.01
    assert max(rms(folder, dynamics, UPPER).values()) < 1e-3
    assert max(rms(folder, dynamics, PELVIS).values()) < 0.4


def test_moments_of_the_newer_model_differ_by_its_ankle(folder: Path, dynamics) -> None:
    """The other knee places the ankle 4 mm behind."""
    found = rms(folder, dynamics, [f"{name}_{side}" for name in LEG for side in "rl"])
    assert 1.5 < found.pop("ankle_angle_r") < 2.5
    assert 1.5 < found.pop("ankle_angle_l") < 2.5
    assert max(found.values()) < 1.0, found


def test_what_the_pelvis_lacks_is_small(dynamics) -> None:
    """With both feet measured, the residual force is far below the body weight of 834 N."""
    inside = (dynamics.time >= 0.45) & (dynamics.time <= 1.8)
    for name in PELVIS[:3]:
        assert np.abs(dynamics.column(name)[inside]).max() < 70.0

"""Segments of models of others: their bodies, and the sign of their coordinates of flexion."""

import pytest
from recorded_data import recorded

from musclesolve import read_osim
from musclesolve.models.opensim.segments import flexion_sign, segments


@pytest.mark.parametrize(("name", "knee"), [("gait2392", -1.0), ("rajagopal_2016", 1.0)])
def test_the_sign_of_flexion_is_of_the_model(name: str, knee: float) -> None:
    model = read_osim(recorded("opensim_models") / f"{name}.osim")
    assert {flexion_sign(model, f"knee_angle_{side}") for side in "rl"} == {knee}
    assert {flexion_sign(model, f"{stem}_r") for stem in ("hip_flexion", "ankle_angle")} == {1.0}


@pytest.mark.parametrize("name", ["gait2392", "rajagopal_2016"])
def test_the_thigh_ends_at_the_knee_though_its_joint_is_placed_at_the_hip(name: str) -> None:
    """The knees of gait2392 begin at the hip, and a translation moves them down."""
    parts = segments(read_osim(recorded("opensim_models") / f"{name}.osim"))
    for knee, side in zip(parts.knees, "rl", strict=True):
        assert parts.proximal_segment(knee) == f"femur_{side}"
        assert parts.center(knee)[1] < -0.4

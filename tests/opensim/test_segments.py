"""Segments of models of others: the sign of their coordinates of flexion."""

import pytest
from recorded_data import recorded

from musclesolve import read_osim
from musclesolve.opensim.segments import flexion_sign


@pytest.mark.parametrize(("name", "knee"), [("gait2392", -1.0), ("rajagopal_2016", 1.0)])
def test_the_sign_of_flexion_is_of_the_model(name: str, knee: float) -> None:
    model = read_osim(recorded("opensim_models") / f"{name}.osim")
    assert {flexion_sign(model, f"knee_angle_{side}") for side in "rl"} == {knee}
    assert {flexion_sign(model, f"{stem}_r") for stem in ("hip_flexion", "ankle_angle")} == {1.0}

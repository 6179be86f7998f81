"""The laws of motion know no laboratory: rotated about the vertical, a recording gives the same angles and forces."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from rotated_laboratory import rotated

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.laboratory import Trial
from musclesolve.studies import synthetic_recording

SAME = {
    "joint_angle": 1e-9,
    "joint_moment": 1e-6,
    "muscle_force": 1e-3,
    "activation": 1e-6,
    "event_time": 1e-9,
}
"""Quantities without a direction in the laboratory, and round-off [their units]."""
MEASURES = ("stride_time", "stride_length", "step_length", "step_width", "walking_speed", "stance_percent")


def check_same(there: xr.Dataset, here: xr.Dataset) -> None:
    for name, tolerance in SAME.items():
        np.testing.assert_allclose(there[name], here[name], rtol=0.0, atol=tolerance, err_msg=name)
    for name in MEASURES:
        np.testing.assert_allclose(there[name], here[name], rtol=1e-9, err_msg=name)
    np.testing.assert_array_equal(there.status, here.status)
    assert there.attrs["notes"] == here.attrs["notes"]


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trial, xr.Dataset]:
    trial = read_trial(synthetic_recording(tmp_path_factory.mktemp("walk"), noise_mm=1.0, truth=False))
    return trial, ms.run(trial)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("angle", [179.5, -123.0])
def test_a_rotated_laboratory_changes_nothing(synthetic: tuple[Trial, xr.Dataset], angle: float) -> None:
    trial, here = synthetic
    there = ms.run(rotated(trial, angle))
    check_same(there, here)
    # The residual at the pelvis rotates with the laboratory: its size stays, and so does what is valid.
    size = [np.linalg.norm(each.pelvis_residual.values[:, :3], axis=1) for each in (there, here)]
    np.testing.assert_allclose(*size, atol=1e-6)


@pytest.mark.parametrize("angle", [37.0])
def test_cycles_that_are_put_together_lie_along_the_way(
    synthetic: tuple[Trial, xr.Dataset], angle: float
) -> None:
    trial, here = synthetic
    there = ms.run(rotated(trial, angle))
    assert float(np.cos(there.heading - here.heading - np.deg2rad(angle)).min()) > 1.0 - 1e-12
    one, other = (ms.laboratory.cycles(each, "r", without_side=True, strides=True) for each in (there, here))
    for name in ("ground_reaction_force", "joint_reaction", "joint_reaction_net"):
        np.testing.assert_allclose(one[name], other[name], atol=1e-3)


@pytest.mark.thorough
def test_the_recorded_walk_may_go_in_any_direction(recorded_walk_trial: Trial) -> None:
    check_same(ms.run(rotated(recorded_walk_trial, 123.0)), ms.run(recorded_walk_trial))


@pytest.mark.in_part(2)
@pytest.mark.parametrize("forward", ["-x", "+y", "-y"])
def test_forward_only_sets_the_axes_of_the_results(synthetic: tuple[Trial, xr.Dataset], forward: str) -> None:
    """The trial file names another axis: x of the forces is that axis, the rest stays."""
    trial, here = synthetic
    text = trial.path.read_text(encoding="utf-8").replace('forward = "+x"', f'forward = "{forward}"')
    other = trial.path.with_name(f"{forward[1]}_{'back' if forward[0] == '-' else 'ahead'}.toml")
    other.write_text(text, encoding="utf-8")
    there = ms.run(other)
    check_same(there, here)
    axis, sign = forward[1], {"+": 1.0, "-": -1.0}[forward[0]]
    expected = sign * here.ground_reaction_force.sel(axis=axis)
    np.testing.assert_allclose(there.ground_reaction_force.sel(axis="x"), expected, atol=1e-6)

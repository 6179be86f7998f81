"""Cycles of real recordings: strikes that no plate saw, stance and swing, a drop jump, exchanged legs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import musclesolve as ms
from musclesolve.laboratory import Trial


@pytest.fixture(scope="module")
def data_folder(recorded_walk: Path) -> Path:
    return recorded_walk.parent


def opencap(folder: Path, trial: str) -> xr.Dataset:
    service = folder / "addbiomechanics" / "opencap_subject"
    loads = service / "ID" / f"{trial}_grf.mot"
    return ms.share_model(service / "Models" / "final.osim", service / "IK" / f"{trial}_ik.mot", loads=loads)


@pytest.mark.thorough
def test_a_drop_jump(data_folder: Path) -> None:
    """Both feet stand from 1.21 to 1.74 s; the landing after it has no lowest point in the recording."""
    result = opencap(data_folder, "DJ1")
    for side in "rl":
        cycles = ms.laboratory.cycles(result, side)
        assert cycles["cycle_movement"].values.tolist() == ["jump"]
        assert (cycles["cycle_start"].item(), cycles["cycle_end"].item()) == pytest.approx((1.21, 1.74))
        assert cycles["deepest_percent"].item() == pytest.approx(41.5, abs=2.0)
        assert 0.85 < cycles["coverage_moment"].item() < 0.95
        assert "implausible motion, or forces that do not balance it" in cycles["missing"].item()


@pytest.mark.thorough
def test_a_walk_whose_first_strike_is_the_first_frame(data_folder: Path) -> None:
    """The right foot stands in the first frame, and the forces show its second strike: a stride, and one leg."""
    cycles = [
        ms.laboratory.cycles(opencap(data_folder, trial), "r", without_side=True)
        for trial in ("walking2", "walking3")
    ]
    for each, end in zip(cycles, (1.11, 1.09), strict=True):
        assert each["cycle_start"].item() == pytest.approx(0.0, abs=0.02)
        assert each["cycle_end"].item() == pytest.approx(end)
        assert each["coverage"].item() > 0.99 and each["coverage_stance"].item() > 0.9
        assert each["stance_percent"].item() == pytest.approx(63.0, abs=1.5)
    first, second = (each["joint_angle"].isel(cycle=0) for each in cycles)
    knee = np.degrees(first - second).sel(dof="knee_angle")
    assert float(np.sqrt((knee**2).mean())) < 4.0  # the two strides of one person


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("walk", "start", "end"), [("ss1", -0.008, 1.099), ("ss9", -0.004, 1.0825)])
def test_files_cut_to_one_stride(instrumented_knee: Path, walk: str, start: float, end: float) -> None:
    """The files begin while the foot bears 50 and 46 N, rising by 4300 and 6600 N/s, and end at the next strike."""
    result = ms.share_model(
        instrumented_knee / "GC5.osim",
        instrumented_knee / f"PS_ngait_og_{walk}_kinematics.mot",
        loads=instrumented_knee / f"loads_{walk}.xml",
    )
    cycles = ms.laboratory.cycles(result, "l")
    assert cycles["cycle_start"].item() == pytest.approx(start, abs=0.02)
    assert cycles["cycle_end"].item() == pytest.approx(end, abs=0.02)
    assert cycles["coverage_muscle"].item() > 0.95
    assert ms.laboratory.cycles(result, "r").sizes["cycle"] == 0


@pytest.mark.in_part(2)
@pytest.mark.parametrize("trial", ["1", "3"])
def test_moments_without_forces_have_strides(data_folder: Path, trial: str) -> None:
    """Two files of 1.2 s from one treadmill walk: the stride times agree."""
    folder = data_folder / "fascicle_walk"
    result = ms.share_model(
        folder / "model.osim", folder / f"trial_{trial}_IK.mot", folder / f"trial_{trial}_ID.mot"
    )
    cycles = ms.laboratory.cycles(result, "l")
    assert cycles["stride_time"].item() == pytest.approx(1.218, abs=0.015)
    assert cycles["coverage_muscle"].item() > 0.95


def test_the_recorded_walk_keeps_its_strides(recorded_walk_trial: Trial) -> None:
    """Analyzed from 0.45 to 1.80 s, so that neither leg has a stride; which they would be is said."""
    result = ms.run(recorded_walk_trial)
    cycles = ms.laboratory.cycles(result, "r", partial=True)
    assert cycles["cycle_movement"].values.tolist() == ["walking"] * cycles.sizes["cycle"]
    assert cycles["missing"].values[0] == "the first 16 % are not recorded"
    assert ms.laboratory.cycles(result, "r").attrs["left_out"][0].endswith("the frames cover 84 % of it")


@pytest.mark.thorough
def test_exchanged_legs_are_found_among_strides_of_three_persons(
    data_folder: Path, instrumented_knee: Path
) -> None:
    """Two strides of each; in one of them each foot gets the forces and moments of the other, half a stride apart."""
    results = {"S1 1": opencap(data_folder, "walking2"), "S1 2": opencap(data_folder, "walking3")}
    for number, walk in enumerate(("ss1", "ss9"), start=1):
        coordinates = instrumented_knee / f"PS_ngait_og_{walk}_kinematics.mot"
        loads = instrumented_knee / f"loads_{walk}.xml"
        results[f"S2 {number}"] = ms.share_model(instrumented_knee / "GC5.osim", coordinates, loads=loads)
    folder = data_folder / "fascicle_walk"
    for number, trial in enumerate(("1", "3"), start=1):
        files = (folder / f"trial_{trial}_{kind}.mot" for kind in ("IK", "ID"))
        results[f"S3 {number}"] = ms.share_model(folder / "model.osim", *files)
    parts = []
    for name, result in results.items():
        side = "r" if name.startswith("S1") else "l"
        cycles = ms.laboratory.normalized(ms.laboratory.cycles(result, side, without_side=True))
        kept = ["joint_angle", "joint_moment", "ground_reaction_force"]
        cycles = cycles[[name for name in kept if name in cycles]]
        parts.append(cycles.assign_coords(subject=("cycle", [name[:2]])))
    study = xr.concat(
        parts, "cycle", join="outer", coords="minimal", compat="override", combine_attrs="override"
    )
    usual = ms.laboratory.with_outliers(study)
    assert not usual["outlier"].any()
    for name in ("joint_moment", "ground_reaction_force"):
        study[name][1] = np.roll(study[name][1].values, 50, axis=0)
    found = ms.laboratory.with_outliers(study)
    assert found["outlier"].values.tolist() == [False, True, False, False, False, False]
    assert "moment" in found["outlier_reason"].item(1)

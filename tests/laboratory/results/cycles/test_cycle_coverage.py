"""The measured share of a cycle: the kinds apart, in shares that the curves show, and in words."""

from __future__ import annotations

import numpy as np
import pytest
from stored_results import write_result
from synthetic_result import result, set_status

import musclesolve as ms
from musclesolve import read_result

STRIKES = [0.2, 1.2, 2.2]


def data(n_frames: int = 251):
    found = result(n_frames)
    found.attrs["heel_strike_times_r"] = STRIKES
    return found


def lost(found, first: float, last: float, status=ms.Status.NOT_MEASURED):
    frames = np.flatnonzero((found.time.values > first - 1e-9) & (found.time.values < last + 1e-9))
    set_status(found, status, slice(frames[0], frames[-1] + 1), 0)
    return found


def test_nothing_is_missing():
    cycles = ms.laboratory.cycles(data(), "r")
    for name in ("coverage", "coverage_moment", "coverage_muscle", "coverage_stance"):
        np.testing.assert_allclose(cycles[name], 1.0)
    assert cycles["missing"].values.tolist() == ["", ""]
    assert cycles["cycle_movement"].values.tolist() == ["walking", "walking"]


def test_a_swing_without_forces_counts_for_angles_and_stance():
    """A laboratory with one plate: the foot is loaded 0.2 to 0.8 s, and seen throughout."""
    cycles = ms.laboratory.cycles(lost(data(), 0.86, 1.2), "r")
    assert cycles.sizes["cycle"] == 2
    first = cycles.isel(cycle=0)
    assert float(first["coverage"]) == 1.0 and float(first["coverage_stance"]) == pytest.approx(1.0)
    assert float(first["coverage_moment"]) == pytest.approx(0.65)
    assert str(first["missing"].values) == "the last 35 %: moments and muscle forces are not measured"
    assert not first["joint_angle"].isnull().any()
    assert first["joint_moment"].sel(percent=slice(66, 100)).isnull().all()
    assert not first["joint_moment"].sel(percent=slice(0, 65)).isnull().any()
    both = ms.laboratory.average_cycles(cycles)
    count = both["joint_moment_count"].isel(dof=0)
    assert count.sel(percent=[10.0, 90.0]).values.tolist() == [2, 1]


def test_the_share_is_that_of_the_curves():
    found = lost(data(), 0.5, 0.6, ms.Status.INFEASIBLE)
    first = ms.laboratory.cycles(lost(found, 0.9, 0.95, ms.Status.INVALID_MOTION), "r", points=2001).isel(
        cycle=0
    )
    for name, variable in (("coverage_moment", "joint_moment"), ("coverage_muscle", "muscle_force")):
        seen = float(np.isfinite(first[variable]).mean())
        assert float(first[name]) == pytest.approx(seen, abs=2e-3) and seen < 0.96
    assert str(first["missing"].values) == (
        "69 to 76 %: moments and muscle forces are not known: implausible motion, or forces that do not balance it; "
        "29 to 41 %: there are no valid muscle forces"
    )


def test_ends_that_are_not_recorded_are_named_and_ninety_five_per_cent_are_enough():
    found = data().isel(time=slice(24, 116))  # 0.24 to 1.15 s
    found.attrs["heel_strike_times_r"] = [0.2, 1.2]
    none = ms.laboratory.cycles(found, "r")
    assert none.sizes["cycle"] == 0 and "the frames cover 91 % of it" in none.attrs["left_out"][0]
    part = ms.laboratory.cycles(found, "r", partial=True).isel(cycle=0)
    assert str(part["missing"].values) == "the first 4 % and the last 5 % are not recorded"
    found = data().isel(time=slice(24, 121))
    found.attrs["heel_strike_times_r"] = [0.2, 1.2]
    assert ms.laboratory.cycles(found, "r")["missing"].values.tolist() == ["the first 4 % are not recorded"]
    for end, counts in ((1.2465, True), (1.2575, False)):  # what is printed as 95 % counts
        found = data().isel(time=slice(20, 121))
        found.attrs["heel_strike_times_r"] = [0.2, 1.2 + (end - 1.2) * 1.05]
        assert (ms.laboratory.cycles(found, "r").sizes["cycle"] == 1) == counts


def test_cycles_without_any_force_count_for_their_motion():
    cycles = ms.laboratory.cycles(lost(data(), 0.0, 2.5), "r")
    assert cycles.sizes["cycle"] == 2 and not cycles["joint_angle"].isnull().any()
    assert cycles["joint_moment"].isnull().all() and (cycles["coverage_moment"] == 0.0).all()
    assert set(cycles["missing"].values) == {"all of it: moments and muscle forces are not measured"}


def test_cycles_of_a_file_can_be_kept_in_a_file(tmp_path):
    write_result(lost(data(), 0.86, 1.2), tmp_path / "result.nc")
    result_of_file = read_result(tmp_path / "result.nc")
    cycles = ms.laboratory.with_outliers(
        ms.laboratory.normalized(ms.laboratory.cycles(result_of_file, "r", without_side=True))
    )
    write_result(cycles, tmp_path / "cycles.nc")
    back = read_result(tmp_path / "cycles.nc")
    for name in (
        "missing",
        "cycle_movement",
        "max_isometric_force",
        "outlier",
        "outlier_reason",
        "joint_moment",
    ):
        np.testing.assert_array_equal(back[name], cycles[name])
    assert list(back.attrs["units"]) == cycles.attrs["units"]
    write_result(cycles.isel(cycle=[]), tmp_path / "none.nc")
    assert read_result(tmp_path / "none.nc").sizes["cycle"] == 0

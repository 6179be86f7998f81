"""The cut-off that is not stated: 6 Hz, and 15 Hz where the recording shows flight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from examined import examined

import musclesolve as ms
from musclesolve.laboratory import Trial

HIP_AND_KNEE = ["hip_flexion_r", "hip_adduction_r", "knee_flexion_r"]


@pytest.fixture(scope="module")
def noisy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A computed run with 1 mm of noise whose trial file states no cut-off, and the truth beside it."""
    folder = tmp_path_factory.mktemp("run")
    path = ms.studies.synthetic_recording(folder, motion="run", marker_rate_hz=200, noise_mm=1.0, seed=0)
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("cutoff_hz")]
    assert len(kept) == len(lines) - 1
    Path(path).write_text("\n".join(kept), encoding="utf-8")
    return Path(path)


def moments_beside_the_truth(trial: Trial, folder: Path) -> tuple[xr.Dataset, np.ndarray]:
    result = ms.run(trial, side="r")
    with xr.open_dataset(folder / "truth.nc") as truth:
        true = truth["joint_moment"].interp(time=result.time.values).sel(dof=HIP_AND_KNEE)
        error = result["joint_moment"].sel(dof=HIP_AND_KNEE).values - true.values
    return result, np.sqrt(np.nanmean(error**2, axis=0))


@pytest.mark.thorough
def test_a_run_is_filtered_at_15_hz_and_its_moments_are_nearer_to_the_true_ones(noisy_run: Path) -> None:
    trial = ms.read_trial(noisy_run)
    assert trial.settings.filter.cutoff_hz is None
    ran, error = moments_beside_the_truth(trial, noisy_run.parent)
    assert ran.attrs["cutoff_hz"] == 15.0
    assert sum("filtered at 15 Hz" in note for note in ran.attrs["notes"]) == 1
    assert not any(each.code == "cutoff" for each in examined(noisy_run).findings)
    slow, of_walking = moments_beside_the_truth(
        trial.with_settings(filter={"cutoff_hz": 6.0}), noisy_run.parent
    )
    assert slow.attrs["cutoff_hz"] == 6.0 and (of_walking > 2.0 * error).all()
    assert any("suits walking" in note for note in slow.attrs["notes"])


def test_markers_at_a_low_rate_carry_no_15_hz(tmp_path: Path) -> None:
    path = Path(ms.studies.synthetic_recording(tmp_path, motion="run", marker_rate_hz=60, cutoff_hz=10))
    path.write_text(path.read_text(encoding="utf-8").replace("cutoff_hz = 10", ""), encoding="utf-8")
    assert ms.run(path, side="r").attrs["cutoff_hz"] == pytest.approx(12.0)


def test_a_walk_is_filtered_at_6_hz(tmp_path: Path) -> None:
    path = Path(ms.studies.synthetic_recording(tmp_path, cutoff_hz=6))
    path.write_text(path.read_text(encoding="utf-8").replace("cutoff_hz = 6\n", ""), encoding="utf-8")
    trial = ms.read_trial(path)
    assert trial.settings.filter.cutoff_hz is None and trial.settings.filter.fixed_cutoff == 6.0
    walked = ms.run(trial, side="r")
    stated = ms.run(trial.with_settings(filter={"cutoff_hz": 6.0}), side="r")
    assert walked.attrs["cutoff_hz"] == 6.0
    assert walked["joint_moment"].equals(stated["joint_moment"])
    assert walked.attrs["notes"] == stated.attrs["notes"]

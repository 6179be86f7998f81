"""Fiber lengths beside fascicle lengths that ultrasound measured in walking (Delabastita et al. 2020)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from recorded_data import recorded
from said import summary
from thorough import some

import musclesolve as ms
from musclesolve.laboratory.results.facts import Facts

MUSCLE, COLUMN = "med_gas_l", "gastrocnemius_medial_l_m"


@pytest.fixture(scope="module")
def folder() -> Path:
    return recorded("fascicle_walk")


def walk(data: Path, folder: Path, number: int, tendon: str = "rigid", further: str = "") -> xr.Dataset:
    """One of the strides with its measured fascicle length."""
    path = folder / f"trial_{number}.toml"
    path.write_text(
        f'[files]\nmodel = "{data}/model.osim"\ncoordinates = "{data}/trial_{number}_IK.mot"\n'
        f'moments = "{data}/trial_{number}_ID.mot"\n[muscles]\ntendon = "{tendon}"\n'
        f'[fascicle]\nfile = "{data}/measured_fascicle_length_{number}.csv"\nunit = "m"\nerror_mm = 3.0\n{further}'
        f'[fascicle.channels]\n{COLUMN} = "{MUSCLE}"\n',
        encoding="utf-8",
    )
    return ms.run(path)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("number", "tendon", "mean", "rms", "r"),
    [
        (3, "rigid", -20.9, 21.7, 0.85),
        *some([(1, "rigid", -25.4, 26.6, 0.67), (3, "elastic", -24.1, 24.5, 0.84)], 2),
    ],
)
def test_how_far_the_fibers_of_the_model_are(
    folder: Path, tmp_path: Path, number: int, tendon: str, mean: float, rms: float, r: float
) -> None:
    """The errors with the unscaled tendon of the model; recomputed here from the file and the fiber lengths."""
    result = walk(folder, tmp_path, number, tendon)
    table = np.loadtxt(folder / f"measured_fascicle_length_{number}.csv", delimiter=",", skiprows=1)
    measured = np.interp(result["time"].values, *table.T)
    np.testing.assert_allclose(result["measured_fascicle_length"].sel(muscle=MUSCLE), measured, atol=1e-9)
    fiber = result["fiber_length"].sel(muscle=MUSCLE).values
    own = result.sel(fascicle=COLUMN)
    assert float(own["fascicle_rms_error"]) == pytest.approx(
        np.sqrt(np.mean((fiber - measured) ** 2)), abs=1e-9
    )
    assert float(own["fascicle_correlation"]) == pytest.approx(np.corrcoef(fiber, measured)[0, 1], abs=1e-9)
    assert 1000.0 * float(own["fascicle_mean_error"]) == pytest.approx(mean, abs=0.3)
    assert 1000.0 * float(own["fascicle_rms_error"]) == pytest.approx(rms, abs=0.3)
    assert float(own["fascicle_correlation"]) == pytest.approx(r, abs=0.02)


def test_another_clock_moves_the_measured_lengths(folder: Path, tmp_path: Path) -> None:
    plain, moved = (walk(folder, tmp_path, 1, further=each) for each in ("", "offset_s = 0.1\n"))
    assert moved.attrs["fascicle_offset_s"] == 0.1
    assert np.isnan(moved["measured_fascicle_length"].sel(muscle=MUSCLE).values[:10]).all()
    np.testing.assert_allclose(
        moved["measured_fascicle_length"].sel(muscle=MUSCLE).values[10:],
        plain["measured_fascicle_length"].sel(muscle=MUSCLE).values[:-10],
        atol=1e-9,
    )
    assert any("10 of 121 frames are without" in note for note in np.atleast_1d(moved.attrs["notes"]))


def test_the_summary_says_it(folder: Path, tmp_path: Path) -> None:
    result = walk(folder, tmp_path, 1)
    ((column, fact),) = Facts(result).fascicles.items()
    assert (column, fact.muscle) == (COLUMN, MUSCLE)
    (line,) = [line for line in summary(result).splitlines() if line.startswith("fascicles")]
    for part in (
        MUSCLE,
        f"{1000.0 * fact.mean_error_m:.1f} mm",
        f"rms {1000.0 * fact.rms_error_m:.1f} mm",
        "to 3 mm",
    ):
        assert part in line


def test_cycles_keep_the_measured_lengths(folder: Path, tmp_path: Path) -> None:
    cycles = ms.laboratory.cycles(walk(folder, tmp_path, 1), "l")
    difference = (cycles["fiber_length"] - cycles["measured_fascicle_length"]).sel(muscle=MUSCLE)
    assert 1000.0 * float(difference.mean()) == pytest.approx(-25.0, abs=2.0)

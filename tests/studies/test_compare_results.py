"""Results beside each other: means over their cycles, peaks, and what cannot be compared."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from refusals import refused
from stored_results import write_result

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory import cycles
from musclesolve.studies.compare_results import compare_results, compare_results_into, peak_rows


@pytest.fixture(scope="module")
def stride() -> xr.Dataset:
    return ms.run(reference_stride(), side="r")


LOADS = ("muscle_force", "force_capacity", "passive_force", "joint_moment", "reserve_moment")


@pytest.fixture(scope="module")
def two(stride, tmp_path_factory) -> dict[str, Path]:
    """The stride, and one with forces half as large again."""
    folder = tmp_path_factory.mktemp("results")
    stronger = stride.assign({name: stride[name] * 1.5 for name in (*LOADS, "joint_reaction")}).assign_attrs(
        stride.attrs | {"cost": "another"}
    )
    for name, result in {"one": stride, "other": stronger}.items():
        write_result(result, folder / f"{name}.nc")
    return {name: folder / f"{name}.nc" for name in ("one", "other")}


@pytest.mark.thorough
def test_curves_are_the_means_of_the_cycles_in_body_weights(two, stride):
    compared = compare_results(two)
    of_leg = cycles(stride, "r", without_side=True)
    weight = stride.attrs["subject_mass_kg"] * 9.80665
    calf = [str(group) == "triceps_surae" for group in of_leg["group"].values]
    force = of_leg["muscle_force"].isel(muscle=calf).sum("muscle").mean("cycle") / weight
    ours = compared["group_force"].sel(result="one", side="r", function_group="triceps_surae")
    np.testing.assert_allclose(ours, force, rtol=1e-12)
    size = np.sqrt((of_leg["joint_reaction"].sel(joint="knee") ** 2).sum("axis")).mean("cycle") / weight
    np.testing.assert_allclose(compared["contact_force"].sel(result="one", side="r", joint="knee"), size)
    assert compared["group_force"].attrs["units"] == "BW"
    assert compared["cycles"].sel(result="one").values.tolist() == [1]
    assert [sentence.partition(":")[0] for sentence in compared.attrs["unlike"]] == ["cost"]


def test_differences_are_those_of_the_peaks(two):
    rows = peak_rows(compare_results(two))
    assert {row["quantity"] for row in rows} == {"group_force", "contact_force"}
    for row in rows:
        first, second = row["peaks"]
        assert second == pytest.approx(1.5 * first)
        assert row["differences"] == [0.0, pytest.approx(0.5 * first)]


def test_files_are_written_all_together(two, tmp_path):
    compared, paths = compare_results_into(tmp_path / "out", two)
    figures = {"compared_group_forces_r.png", "compared_contact_forces_r.png"}
    assert {path.name for path in paths} == {"compared.nc", "peaks.csv", *figures}
    table = list(csv.DictReader(io.StringIO((tmp_path / "out" / "peaks.csv").read_text())))
    assert len(table) == 2 * len(peak_rows(compared))
    stored = ms.read_result(tmp_path / "out" / "compared.nc")
    np.testing.assert_array_equal(stored["group_force"], compared["group_force"])


def test_a_leg_that_one_result_lacks_has_no_difference():
    curves = np.full((2, 1, 3, 1), np.nan)
    curves[1, 0, :, 0] = 0.5, 2.0, 1.0
    about = {"units": "BW"}
    compared = xr.Dataset(
        {"group_force": (("result", "side", "percent", "function_group"), curves, about)},
        {"result": ["one", "other"], "side": ["l"], "percent": [0, 50, 100], "function_group": ["calf"]},
    )
    (row,) = peak_rows(compared)
    assert (row["leg"], row["peaks"], row["differences"]) == ("left", [None, 2.0], [None, None])


def test_newtons_where_a_body_mass_is_not_known(stride, two, tmp_path):
    light = stride.copy()
    del light.attrs["subject_mass_kg"]
    write_result(light, tmp_path / "light.nc")
    compared = compare_results({"one": two["one"], "light": tmp_path / "light.nc"})
    assert compared["group_force"].attrs["units"] == "N"
    of = compared["group_force"].transpose("result", ...)
    np.testing.assert_allclose(of[0], of[1])


def test_refusals(two, stride, tmp_path):
    with refused("bad_value", "two to 6"):
        compare_results({"one": two["one"]})
    write_result(stride.isel(time=slice(0, 20)), tmp_path / "short.nc")
    with refused("too_few_frames", "short"):
        compare_results({"one": two["one"], "short": tmp_path / "short.nc"})

"""Attributes of a result about its tendons and Hill curves, and results that are older than these attributes."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from said import summary
from stored_results import write_result

import musclesolve as ms
from musclesolve import read_result
from musclesolve.data import reference_stride
from musclesolve.laboratory.results.dataset.checked import checked_result

NEW = ("tendon", "tendon_strain", "curves")


@pytest.fixture(scope="module")
def found() -> xr.Dataset:
    return ms.run(reference_stride(), side="r")


def test_a_result_names_its_tendons_and_curves(found: xr.Dataset) -> None:
    assert (found.attrs["tendon"], found.attrs["curves"]) == ("rigid", "de_groote_2016")
    assert list(found.attrs["tendon_strain"]) == []


def test_other_curves_are_named_and_change_the_capacity(found: xr.Dataset) -> None:
    trial = ms.read_trial(reference_stride())
    other = ms.run(trial.with_settings(muscles=dict(curves="millard_2013")), side="r")
    assert other.attrs["curves"] == "millard_2013"
    np.testing.assert_array_equal(other["fiber_length"], found["fiber_length"])
    assert float(np.abs(other["force_capacity"] - found["force_capacity"]).max()) > 10.0


def test_the_words_pass_through_a_file_and_older_files_are_read(found: xr.Dataset, tmp_path) -> None:
    stated = found.assign_attrs(tendon="elastic", tendon_strain="all 0.06\nachilles 0.08")
    older = found.drop_attrs(deep=False).assign_attrs(
        {name: value for name, value in found.attrs.items() if name not in NEW}
    )
    for name, data in {"stated": stated, "older": older}.items():
        write_result(data, tmp_path / f"{name}.nc")
        read = checked_result(read_result(tmp_path / f"{name}.nc"))
        assert {key: read.attrs.get(key) for key in NEW} == {key: data.attrs.get(key) for key in NEW}
        assert summary(read) == summary(data)
    assert summary(older) == summary(found)

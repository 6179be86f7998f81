"""A result survives its file, and what is no result is refused."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace

import netCDF4
import numpy as np
import pytest
from elastic_stride import elastic_result
from refusals import refused
from said import summary
from stored_results import write_result
from synthetic_result import result, with_troubles

from musclesolve import read_result
from musclesolve.errors import InputError
from musclesolve.laboratory.results.dataset.checked import MODEL
from musclesolve.laboratory.results.files import result_netcdf
from musclesolve.laboratory.results.files.result_netcdf import check_model, netcdf_bytes, result_attributes


def test_round_trip(tmp_path):
    data = with_troubles(result())
    data.attrs["completed"] = ["the head follows the trunk", "the hands follow the forearms"]
    path = tmp_path / "new folder" / "result.nc"
    write_result(data, path)
    again = read_result(path)
    assert again.equals(data) and again.attrs.keys() == data.attrs.keys()
    assert summary(again) == summary(data)
    assert [each.name for each in path.parent.iterdir()] == ["result.nc"]


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "taken").write_text("")
    with refused("not_writable", "taken"):
        write_result(result(), tmp_path / "taken" / "result.nc")


@pytest.mark.parametrize("content", [None, b"", b"not a result", b"\x89HDF\r\n\x1a\n then nothing"])
def test_what_is_not_netcdf_is_refused_by_name(tmp_path, content):
    path = tmp_path / "broken.nc"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"broken\.nc"):
        read_result(path)


def test_a_folder_is_refused_and_the_result_in_it_suggested(tmp_path):
    with refused("missing_file", str(tmp_path)):
        read_result(tmp_path)
    write_result(result(), tmp_path / "result.nc")
    with refused("missing_file", str(tmp_path / "result.nc")):
        read_result(tmp_path)


def test_one_thread_at_a_time_is_in_the_library(tmp_path, monkeypatch):
    """It ends the program where two are."""
    path, others_wait = tmp_path / "result.nc", list[bool]()
    write_result(result(), path)

    def looked(function):
        def call(*arguments, **more):
            with ThreadPoolExecutor(1) as pool:
                others_wait.append(not pool.submit(result_netcdf._LIBRARY.acquire, False).result())
            return function(*arguments, **more)

        return call

    monkeypatch.setattr(result_netcdf, "opened_netcdf", looked(result_netcdf.opened_netcdf))
    library = vars(netCDF4) | {"Dataset": looked(netCDF4.Dataset)}
    monkeypatch.setattr(result_netcdf, "netCDF4", SimpleNamespace(**library))
    data = read_result(path)
    result_attributes(path)
    netcdf_bytes(data)
    assert len(others_wait) == 5 and all(others_wait)


def test_a_large_result_is_written_beside_its_place(tmp_path, monkeypatch):
    data = result()
    write_result(data, tmp_path / "small.nc")
    monkeypatch.setattr(result_netcdf, "LARGE", 0)
    monkeypatch.setattr(result_netcdf, "FRAMES", 7)
    monkeypatch.setattr(result_netcdf, "netcdf_bytes", None)
    write_result(data, tmp_path / "large.nc")
    small, large = (read_result(tmp_path / name) for name in ("small.nc", "large.nc"))
    assert large.identical(small) and large.sizes["time"] > 7
    assert sorted(each.name for each in tmp_path.iterdir()) == ["large.nc", "small.nc"]


def test_a_large_result_without_room_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(result_netcdf, "LARGE", 0)
    monkeypatch.setattr(result_netcdf.shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
    with refused("not_writable", "result.nc"):
        write_result(result(), tmp_path / "result.nc")
    assert not list(tmp_path.iterdir())


@pytest.mark.in_part(2)
@pytest.mark.parametrize("seed", range(6))
def test_a_changed_bit_never_changes_a_number_silently(tmp_path, seed):
    data = result()
    whole, path = netcdf_bytes(data), tmp_path / "result.nc"
    for place in np.random.default_rng(seed).integers(len(whole), size=8):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with suppress(InputError):
            again = read_result(path)
            numbers = {name: each for name, each in data.variables.items() if each.dtype.kind in "fiub"}
            assert all(again.variables[name].equals(each) for name, each in numbers.items() if name in again)


@pytest.mark.parametrize("error", [AttributeError, TypeError, IndexError, MemoryError, OverflowError])
def test_whatever_the_library_raises_of_damage_is_one_error(tmp_path, monkeypatch, error):
    """A changed bit in the place of an attribute is an AttributeError of netCDF4."""

    def lost(store):
        raise error("NetCDF: Can't open HDF5 attribute")

    write_result(result(), tmp_path / "result.nc")
    monkeypatch.setattr(result_netcdf.xr, "open_dataset", lost)
    with refused("bad_format", "damaged"):
        read_result(tmp_path / "result.nc")


def test_a_file_that_declares_more_than_it_can_hold_is_not_read(tmp_path):
    with netCDF4.Dataset(tmp_path / "huge.nc", "w") as file:
        file.createDimension("time", 400_000_000)
        file.createVariable("muscle_force", "f8", ("time",), zlib=True)
    with refused("bad_format", "3.2 GB"):
        read_result(tmp_path / "huge.nc")


@pytest.mark.parametrize(
    ("name", "said"), [("muscle_force", "activation times capacity"), ("joint_moment", "joint moments")]
)
def test_forces_that_contradict_moments_are_noticed(tmp_path, name, said):
    data = elastic_result().copy(deep=True)
    data[name] *= -1.0
    write_result(data, tmp_path / "result.nc")
    with refused("bad_result", said, "result.nc"):
        read_result(tmp_path / "result.nc")


@pytest.mark.parametrize(
    ("name", "value"),
    [("shared_dofs", ["knee_flexinn_r"]), ("subject_mass_kg", "heavy"), ("heel_strike_times_r", "")],
)
def test_a_damaged_attribute_is_named(tmp_path, name, value):
    write_result(result().assign_attrs({name: value}), tmp_path / "result.nc")
    with refused("bad_result", name, "result.nc"):
        read_result(tmp_path / "result.nc")


def test_a_model_on_another_drive_has_no_path_from_the_trial(tmp_path, monkeypatch):
    def of_two_drives(path, start):
        raise ValueError("path is on mount 'E:', start on mount 'C:'")

    trial, first, second = (tmp_path / name for name in ("ik.mot", "first.osim", "second.osim"))
    for path in (trial, first, second):
        path.touch()
    write_result(result().assign_attrs({MODEL: str(first), "trial_file": str(trial)}), tmp_path / "result.nc")
    monkeypatch.setattr(os.path, "relpath", of_two_drives)
    check_model(tmp_path, "result.nc", trial, first)
    with refused("occupied_folder", "another model", "first.osim"):
        check_model(tmp_path, "result.nc", trial, second)

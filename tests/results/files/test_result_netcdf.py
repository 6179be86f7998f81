"""A result survives its file, and what is no result is refused."""

from __future__ import annotations

import pytest
from refusals import refused
from synthetic_result import result, with_troubles

from musclesolve.errors import InputError
from musclesolve.results.files.result_netcdf import read_result, write_result
from musclesolve.results.tables.run_summary import summary


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

"""`musclesolve average`: exit codes, files whole or not there, one message instead of a traceback."""

from __future__ import annotations

import pytest
from command_line import typed
from stored_results import write_result
from synthetic_result import few_muscles, result, with_troubles

from musclesolve import read_result
from musclesolve.laboratory.plotting import figure_names


@pytest.fixture(autouse=True)
def one_figure(monkeypatch):
    one = figure_names.drawings("average")["average_activations"]
    monkeypatch.setattr(figure_names, "drawings", lambda kind: {"average_activations": one})


@pytest.fixture
def call():
    return lambda *arguments: typed("average", *arguments)


@pytest.fixture
def files(tmp_path):
    data = few_muscles(result(n_frames=251))
    write_result(data, tmp_path / "good.nc")
    write_result(with_troubles(data), tmp_path / "bad.nc")
    write_result(data.isel(time=slice(0, 60)), tmp_path / "short.nc")
    return tmp_path


def test_average_of_results(call, files):
    done = call(files / "good.nc", "-o", files / "out")
    assert done.exit_code == 0, done.output
    written = {path.name for path in (files / "out").iterdir()}
    assert written == {"average.nc", "average_activations.png"}
    assert all(name in done.output for name in written)
    average = read_result(files / "out" / "average.nc")
    assert average.sizes["percent"] == 101
    # words on muscles are variables: coordinates would be in the title of each plot
    assert average["group"].dims == ("muscle",) and not {"group", "short_name"} & set(average.coords)


def test_frames_without_solution_exit_with_three_and_are_named(call, files):
    done = call(files / "good.nc", files / "bad.nc", "-o", files / "out")
    assert done.exit_code == 3
    assert "3 frames without a valid solution" in done.output
    assert (files / "out" / "average.nc").is_file()


@pytest.mark.parametrize("names", [["short.nc"], ["absent.nc"], ["good.nc", "good.nc"], ["good.nc", "."]])
def test_bad_input_exits_with_two_and_writes_nothing(call, files, names):
    done = call(*(files / name for name in names), "-o", files / "out")
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("musclesolve: ")
    assert "Traceback" not in done.output and not (files / "out").exists()


@pytest.mark.thorough
def test_an_average_is_no_result(call, files):
    call(files / "good.nc", "-o", files / "out")
    done = call(files / "out" / "average.nc", "-o", files / "again")
    assert done.exit_code == 2
    assert "not a result of musclesolve" in done.stderr


def test_a_file_of_the_user_with_the_name_of_a_figure_stays(call, files):
    out = files / "out"
    out.mkdir()
    own = next(name for name in figure_names.files_of("average") if name != "average_activations.png")
    (out / own).write_bytes(b"mine")
    assert call(files / "good.nc", "-o", out).exit_code == 0
    assert (out / own).read_bytes() == b"mine"
    assert call(files / "good.nc", "-o", out).exit_code == 0  # now figures are of an earlier average
    assert not (out / own).exists()

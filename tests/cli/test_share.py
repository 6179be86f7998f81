"""The command share on a small model: files, exit codes, figures again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import typed
from matplotlib.image import imread
from opensim_reader import read_by_opensim
from person_file import person_file
from refusals import refused
from small_model import save_model
from small_model_motion import DOFS, save_inputs
from typer.testing import Result

from musclesolve import read_osim, read_result
from musclesolve.cli.options import stated_strains
from musclesolve.laboratory.plotting import figure_sets as save
from musclesolve.laboratory.results.export.time_series import ENDINGS
from musclesolve.tables import read_mot, write_mot


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    model = save_model(tmp_path)
    return [model, *save_inputs(tmp_path, read_osim(model))]


def share(inputs: list[Path], folder: Path, *more: str) -> Result:
    names = ("--model", "--coordinates", "--moments")
    files = [part for name, file in zip(names, inputs, strict=True) for part in (name, str(file))]
    chosen = [part for dof in DOFS for part in ("--coordinate", dof)]
    passive = [] if "--passive" in more else ["--passive", "table"]
    words = ["share", *files, *chosen, *passive, "-o", str(folder), *more]
    return typed(*words)


def test_result_storage_files_and_summary(inputs: list[Path], tmp_path: Path) -> None:
    done = share(inputs, tmp_path / "out", "--no-figures", "--cost", "activation_power")
    assert done.exit_code == 0, done.output
    assert "61 solved" in done.output and "within a gap of" in done.output
    result = read_result(tmp_path / "out" / "result.nc")
    assert result["muscle"].values.tolist() == ["one_r", "two_r", "three_r"]
    normal = result["fiber_length"] / result["optimal_fiber_length"]
    for ending, values in zip(ENDINGS, (result["activation"], result["muscle_force"], normal), strict=True):
        table = read_mot(tmp_path / "out" / f"ik_{ending}.sto")
        assert table.names == ("one_r", "two_r", "three_r") and not table.in_degrees
        np.testing.assert_allclose(table.values, values.values, atol=1e-8)


def test_a_solver_that_takes_the_cost_is_chosen_unless_one_is_named(
    inputs: list[Path], tmp_path: Path
) -> None:
    share(inputs, tmp_path / "out", "--no-figures", "--cost", "min_max")
    assert read_result(tmp_path / "out" / "result.nc").attrs["solver"] == "linprog"
    named = share(inputs, tmp_path / "out", "--no-figures", "--cost", "min_max", "--solver", "batch")
    assert named.exit_code == 2 and "linprog" in named.output


def test_another_model_does_not_replace_a_result(inputs: list[Path], tmp_path: Path) -> None:
    project, out = tmp_path / "project", tmp_path / "project" / "out"
    project.mkdir()
    own = [Path(shutil.copy(file, project)) for file in inputs]
    assert share(own, out, "--no-figures").exit_code == 0
    result = (out / "result.nc").read_bytes()
    scaled = Path(shutil.copy(own[0], project / "scaled.osim"))
    other = share([scaled, *own[1:]], out, "--no-figures")
    assert other.exit_code == 2 and "another model" in " ".join(other.output.split())
    assert (out / "result.nc").read_bytes() == result
    shutil.copytree(project, tmp_path / "copied")
    copied = [tmp_path / "copied" / file.name for file in own]
    assert share(copied, tmp_path / "copied" / "out", "--no-figures").exit_code == 0  # a copied project
    own[0].rename(tmp_path / own[0].name)
    assert (
        share([tmp_path / own[0].name, *own[1:]], out, "--no-figures").exit_code == 0
    )  # a model that has moved


def test_opensim_reads_the_storage_files(inputs: list[Path], tmp_path: Path) -> None:
    assert share(inputs, tmp_path / "out", "--no-figures").exit_code == 0
    paths = [tmp_path / "out" / f"ik_{ending}.sto" for ending in ENDINGS]
    for path, (names, values, time) in zip(paths, read_by_opensim(paths, tmp_path), strict=True):
        own = read_mot(path)
        assert names == own.names
        np.testing.assert_array_equal(values, own.values)
        np.testing.assert_array_equal(time, own.time)


@pytest.mark.thorough
def test_figures_are_drawn_and_drawn_again(
    inputs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save, "OF_MODEL", {name: save.OF_MODEL[name] for name in ("reserves", "activations")})
    assert share(inputs, tmp_path / "out", "--figures").exit_code == 0
    assert (tmp_path / "out" / "report.html").is_file()
    reserves = tmp_path / "out" / "reserves.png"
    first = imread(reserves)
    reserves.unlink()
    again = typed("plot", tmp_path / "out" / "result.nc")
    assert again.exit_code == 0, again.output
    assert first.std() > 0.01
    np.testing.assert_array_equal(imread(reserves), first)


@pytest.mark.thorough
def test_frames_that_are_not_solved_end_with_three(inputs: list[Path], tmp_path: Path) -> None:
    """Three frames between two holes are too few for elastic tendons."""
    without_moments(inputs[2], [*range(10, 15), *range(18, 23)])
    done = share(inputs, tmp_path / "out", "--no-figures", "--tendon", "elastic")
    assert done.exit_code == 3, done.output
    assert "WITHOUT VALID SOLUTION" in done.output and "fewer than four usable frames" in " ".join(
        done.output.split()
    )
    lost = np.isnan(read_mot(tmp_path / "out" / "ik_force.sto").values).all(axis=1)
    assert lost[10:23].all()


def test_a_single_frame_has_no_storage_files(inputs: list[Path], tmp_path: Path) -> None:
    done = share(inputs, tmp_path / "out", "--no-figures", "--start", "0.995")
    assert done.exit_code == 2 and not (tmp_path / "out" / "result.nc").exists()
    said = " ".join(done.output.split())
    assert "one frame, at 1 s" in said and "--start" in said and "RuntimeWarning" not in said


def without_moments(path: Path, rows: list[int]) -> None:
    """Leave the cells of some rows of a file of moments empty, but for the time."""
    table = read_mot(path)
    table.values[rows] = np.nan
    write_mot(path, table, decimals=12)


def test_frames_in_a_hole_of_the_moments_are_not_analyzed(inputs: list[Path], tmp_path: Path) -> None:
    without_moments(inputs[2], [5, *range(20, 30)])
    done = share(inputs, tmp_path / "out", "--no-figures")
    assert done.exit_code == 0, done.output
    assert "10 not analyzed" in done.output
    said = " ".join(done.output.split())
    assert (
        "id.sto lacks hip_a_r_moment, " in said
        and " from 0.3167 to 0.5 s: holes of more than 0.0333 s" in said
    )
    assert "STO files: 10 frames without a valid solution are nan" in said
    lost = np.isnan(read_mot(tmp_path / "out" / "ik_force.sto").values).all(axis=1)
    assert np.flatnonzero(lost).tolist() == list(range(20, 30))


def test_a_moment_that_stands_twice_is_refused(inputs: list[Path], tmp_path: Path) -> None:
    lines = inputs[2].read_text().splitlines()
    start = lines.index("endheader") + 1
    count = len(lines[start].split("\t"))
    lines[start:] = [f"{line}\t{line.split(chr(9))[1]}" for line in lines[start:]]
    text = "\n".join(lines).replace(f"nColumns={count}", f"nColumns={count + 1}")
    inputs[2].write_text(f"{text}\n")
    done = share(inputs, tmp_path / "out", "--no-figures")
    assert done.exit_code == 2
    assert f"columns 2 and {count + 1}: the column 'hip_a_r_moment'" in " ".join(done.output.split())


def test_reserves_are_named_and_written(inputs: list[Path], tmp_path: Path) -> None:
    table = read_mot(inputs[2])
    table["ankle_a_r_moment"][:] = 9000.0
    write_mot(inputs[2], table, decimals=12)
    done = share(inputs, tmp_path / "out", "--no-figures")
    assert done.exit_code == 0, done.output
    assert "ankle_a_r lacks" in done.output and "N m" in done.output
    assert "ankle_a_r_reserve" in read_mot(tmp_path / "out" / "ik_force.sto").names


@pytest.mark.parametrize(
    ("place", "more", "parts"),
    [
        (0, [], ["none.osim"]),
        (1, [], ["none.mot"]),
        (2, [], ["none.sto"]),
        (None, ["--cost", "stress_cubd"], ["stress_cubd", "stress_cubed"]),
        (None, ["--muscle", "four_r"], ["four_r"]),
        (None, ["--passive", "all"], ["passive", "all"]),
        (None, ["--cutoff-hz", "40"], ["cut-off", "40"]),
        (None, ["--cutoff-hz", "0"], ["0 is not", "above 0", "none"]),
        (None, ["--start", "9"], ["from 9 s"]),
        (None, ["--tendon", "stiff"], ["stiff", "elastic"]),
        (None, ["--tendon-strain", "0.06"], ["tendon_strain", "rigid"]),
        (None, ["--tendon", "elastic", "--tendon-strain", "two=0.6"], ["'two'", "0.6", "0.5"]),
        (None, ["--tendon", "elastic", "--tendon-strain", "tow=0.06"], ["'tow'", "'two'"]),
        (None, ["--tendon", "elastic", "--tendon-strain", "achilles"], ["--tendon-strain", "'achilles'"]),
        (None, ["--tendon", "elastic", "--tendon-strain", "achilles=0.08"], ["soleus", "three_r"]),
    ],
)
def test_input_at_fault_ends_with_two(
    inputs: list[Path], tmp_path: Path, place: int | None, more: list[str], parts: list[str]
) -> None:
    given: list[Any] = list(inputs)
    if place is not None:
        given[place] = tmp_path / f"none{inputs[place].suffix}"
    done = share(given, tmp_path / "out", *more, "--no-figures")
    assert done.exit_code == 2 and "Traceback" not in done.output
    for part in parts:
        assert part in done.output
    assert not (tmp_path / "out").exists()


def test_tendon_strains_by_word() -> None:
    assert stated_strains([]) is None
    assert stated_strains(["0.06", "achilles=0.08", "soleus_r = 1e-1"]) == {
        "all": 0.06,
        "achilles": 0.08,
        "soleus_r": 0.1,
    }
    for given in (["0.06", "0.07"], ["all=0.06", "0.07"], ["achilles=0.06", "achilles=0.06"]):
        with refused("duplicate_name", "--tendon-strain"):
            stated_strains(given)
    for text in ("", "soft", "achilles=", "achilles=8 %"):
        with refused("bad_number", "--tendon-strain", repr(text)):
            stated_strains([text])


def test_the_result_of_another_trial_is_kept(inputs: list[Path], tmp_path: Path) -> None:
    assert share(inputs, tmp_path / "out", "--no-figures").exit_code == 0
    other = inputs[1].with_name("other.mot")
    other.write_bytes(inputs[1].read_bytes())
    refused = share([inputs[0], other, inputs[2]], tmp_path / "out", "--no-figures")
    assert refused.exit_code == 2 and "another trial" in refused.output


def test_the_muscles_of_one_person(inputs: list[Path], tmp_path: Path) -> None:
    """Shared and listed."""
    file = person_file(tmp_path, inputs[0], [("optimal_fiber_length", ("one_r", "two_r"), 1.25)])
    assert share(inputs, tmp_path / "out", "--no-figures", "--muscles", str(file)).exit_code == 0
    result = read_result(tmp_path / "out" / "result.nc")
    np.testing.assert_allclose(result["optimal_fiber_length"], [0.125, 0.125, 0.1])
    assert result.attrs["muscle_person"] == "person.toml" and "1.25 " in str(result.attrs["muscle_factors"])
    listed = typed("list", "muscles", "--database", file)
    assert listed.exit_code == 0 and "1.250" in listed.output and "small" in listed.output
    assert listed.output.count("100.0 -> 125.0 ± 0.0") == 2

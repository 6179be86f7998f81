"""musclesolve export: files beside the result or where they are wanted, and what `convert` says of a result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import typed
from scipy.io import loadmat
from stored_results import write_result
from synthetic_result import few_muscles, result, with_troubles

from musclesolve import read_result
from musclesolve.tables import read_mot


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    path = tmp_path / "walk.nc"
    write_result(with_troubles(few_muscles(result())).assign_attrs(muscle_database="gait2392"), path)
    return path


def test_files_stand_beside_the_result_unless_a_place_is_named(walk: Path, tmp_path: Path) -> None:
    data = read_result(walk)
    assert typed("export", walk, "--format", "mot").exit_code == 0
    np.testing.assert_allclose(read_mot(tmp_path / "walk.mot").time, data["time"], atol=1e-6)
    assert typed("export", walk, "-o", tmp_path / "new" / "table.csv").exit_code == 0
    assert len(pd.read_csv(tmp_path / "new" / "table.csv", comment="#")) >= data.sizes["time"]
    assert typed("export", walk, "--format", "mat", "-o", tmp_path / "new").exit_code == 0
    assert loadmat(tmp_path / "new" / "walk.mat")
    assert (
        typed(
            "export", walk, "--format", "sto", "-o", tmp_path / "part", "--variable", "activation"
        ).exit_code
        == 0
    )
    assert len(read_mot(tmp_path / "part" / "walk.sto").names) == data.sizes["muscle"]


def test_it_prints_whose_names_and_signs_are_written(walk: Path) -> None:
    done = typed("export", walk, "--format", "sto")
    assert done.exit_code == 0
    assert "gait2392" in done.output and "knee_angle opposite to knee_flexion" in done.output
    assert "4 frames" in done.output  # without a valid solution
    assert "frames" not in typed("export", walk, "--format", "mot").output  # every angle is known
    assert "musclesolve" in typed("export", walk, "--format", "csv").output


@pytest.mark.parametrize("words", [(), ("--format", "xls"), ("-o", "walk.png")])
def test_without_a_known_format_it_is_refused(
    walk: Path, words: tuple[str, ...], monkeypatch, tmp_path
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    done = typed("export", walk, *words)
    assert done.exit_code == 2 and "parquet" in done.output
    assert sorted(tmp_path.iterdir()) == before


def test_convert_names_the_command_for_results(walk: Path, tmp_path: Path) -> None:
    done = typed("convert", walk, "-o", tmp_path / "walk.trc")
    assert done.exit_code == 2
    assert "musclesolve export" in done.output.replace("\n", " ")

"""`musclesolve run --uncertainty`: files beside the result, lines in the summary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import typed

from musclesolve import read_result
from musclesolve.data import reference_stride
from musclesolve.laboratory.plotting.figure_names import UNCERTAINTY, files_of

TRIAL = str(reference_stride())
FEW = """
[uncertainty]
soft_tissue_mm = 0
marker_placement_mm = 0
muscle_path_mm = 0
"""


@pytest.fixture
def short_trial(tmp_path: Path) -> str:
    """A third of the stride, with few uncertain parameters."""
    folder, text = reference_stride().parent, reference_stride().read_text(encoding="utf-8")
    for name in ("walk.trc", "static.trc", "forces.mot"):
        text = text.replace(f'"{name}"', f'"{(folder / name).as_posix()}"')
    text = text.replace("start_s = 0.30000000", "start_s = 0.7").replace("end_s = 1.38333333", "end_s = 1.05")
    file = tmp_path / "short.toml"
    file.write_text(text + FEW, encoding="utf-8")
    return str(file)


def test_it_is_written_beside_the_result_and_summed_up(short_trial, tmp_path) -> None:
    given = ["run", short_trial, "-o", str(tmp_path), "--side", "r", "--no-figures"]
    done = typed(*given, "--uncertainty", "3", "--seed", "5")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "result.nc").is_file()
    found = read_result(tmp_path / "uncertainty.nc")
    assert (found.attrs["samples"], found.attrs["seed"]) == (3, 5)
    assert "3 samples, seed 5" in done.output
    assert "right hip" in done.output
    assert "±" in done.output
    few = "uncertainty_contact_forces"
    assert typed("plot", tmp_path / "uncertainty.nc", "--figure", few).exit_code == 0
    assert [path.stem for path in tmp_path.glob("*.png")] == [few]
    (tmp_path / files_of("uncertainty")[-1]).write_bytes(b"a figure of the uncertainty of an earlier result")
    assert typed(*given).exit_code == 0
    assert not any((tmp_path / name).exists() for name in (UNCERTAINTY, *files_of("uncertainty")))


@pytest.mark.thorough
def test_designed_samples_are_asked_for_by_a_word(short_trial, tmp_path) -> None:
    given = ["run", short_trial, "-o", str(tmp_path), "--side", "r", "--no-figures", "--uncertainty", "fast"]
    done = typed(*given)
    assert done.exit_code == 0, done.output
    found = read_result(tmp_path / "uncertainty.nc")
    assert (found.attrs["samples"], found.attrs["sampling"]) == (64, "designed")
    assert "64 designed samples, seed 0" in done.output
    # enough of them to judge the peaks of the result by
    assert np.isfinite(read_result(tmp_path / "result.nc")["contact_peak_high"]).any()


@pytest.mark.parametrize(
    "given", [["--uncertainty", "1"], ["--uncertainty", "quick"], ["--uncertainty", "3", "--seed", "-1"]]
)
def test_numbers_that_cannot_be_write_nothing(tmp_path, given) -> None:
    done = typed("run", TRIAL, "-o", tmp_path / "out", *given)
    assert done.exit_code == 2
    assert "Invalid value" in done.output
    assert not (tmp_path / "out").exists()


def test_it_is_for_one_trial(tmp_path) -> None:
    done = typed("run", TRIAL, TRIAL, "-o", tmp_path, "--uncertainty", "3")
    assert done.exit_code == 2

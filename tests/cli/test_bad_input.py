"""Bad input through the command line: one message that says where and how to fix it, exit code 2, nothing written."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
from command_line import typed
from synthetic_trial import write_trial


def edit(file: Path, change: Callable[[list[str]], list[str]]) -> None:
    file.write_text("\n".join(change(file.read_text(encoding="utf-8").split("\n"))), encoding="utf-8")


def truncated(lines: list[str]) -> list[str]:
    return [*lines[:40], "\t".join(lines[40].split("\t")[:9]), *lines[41:]]


def ten_times_larger(lines: list[str]) -> list[str]:
    def scaled(line: str) -> str:
        cells = line.split("\t")
        return "\t".join(
            [*cells[:2], *(f"{10.0 * float(cell):.3f}" if cell.strip() else cell for cell in cells[2:])]
        )

    return [
        scaled(line) if line[:1].isdigit() and "\t" in line and k > 4 else line
        for k, line in enumerate(lines)
    ]


def half_as_long(lines: list[str]) -> list[str]:
    header = next(k for k, line in enumerate(lines) if line.strip() == "endheader")
    rows = [line for line in lines[header + 2 :] if line.strip()]
    kept = rows[: len(rows) // 2]
    head = [f"nRows={len(kept)}" if line.startswith("nRows") else line for line in lines[: header + 2]]
    return [*head, *kept, ""]


def negative_fibers(lines: list[str]) -> list[str]:
    first = next(k for k, line in enumerate(lines) if line.startswith("optimal_fiber_length"))
    return [*lines[:first], "optimal_fiber_length = -0.05", *lines[first + 1 :]]


@pytest.fixture
def refused(tmp_path):
    """Runs a trial file that must be refused; returns the message."""

    def run(trial: Path) -> str:
        output = tmp_path / "out"
        result = typed("run", trial, "-o", output)
        assert result.exit_code == 2, result.output
        assert "Traceback" not in result.output
        assert not output.exists()
        return " ".join(result.output.split())

    return run


def test_a_good_trial_is_not_refused(tmp_path):
    words = ["run", str(write_trial(tmp_path)), "-o", str(tmp_path / "out"), "--side", "r", "--no-figures"]
    result = typed(*words)
    assert result.exit_code in (0, 3), result.output
    assert (tmp_path / "out" / "result.nc").is_file()


def test_a_marker_that_the_file_lacks(tmp_path, refused):
    message = refused(write_trial(tmp_path, ('heel_r = "', 'heel_r = "No')))
    assert "heel_r" in message and "remedy" in message


def test_a_truncated_line(tmp_path, refused):
    trial = write_trial(tmp_path)
    edit(tmp_path / "walk.trc", truncated)
    message = refused(trial)
    assert "walk.trc" in message and "line 41" in message and "remedy" in message


def test_a_force_file_shorter_than_the_motion(tmp_path, refused):
    trial = write_trial(tmp_path)
    edit(tmp_path / "forces.mot", half_as_long)
    message = refused(trial)
    assert "end_s" in message and "forces 0 to" in message and "remedy" in message


def test_units_that_cannot_be(tmp_path, refused):
    trial = write_trial(tmp_path)
    edit(tmp_path / "walk.trc", ten_times_larger)
    message = refused(trial)
    assert "ten times too large" in message and "remedy" in message


def test_a_time_range_outside_the_data(tmp_path, refused):
    message = refused(write_trial(tmp_path, ("end_s = ", "end_s = 9")))
    assert "end_s" in message and "remedy" in message


def test_a_needed_landmark_left_undefined(tmp_path, refused):
    trial = write_trial(tmp_path)
    edit(trial, lambda lines: [line for line in lines if not line.startswith("toe_l ")])
    message = refused(trial)
    assert "toe_l" in message


def test_a_muscle_file_with_a_negative_fiber_length(tmp_path, refused):
    bundled = resources.files("muscle_db").joinpath("silva_2003.toml").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(bundled, encoding="utf-8")
    edit(tmp_path / "mine.toml", negative_fibers)
    message = refused(write_trial(tmp_path, ('database = "silva_2003"', 'database = "mine.toml"')))
    assert "mine.toml" in message and "line" in message and "optimal_fiber_length" in message

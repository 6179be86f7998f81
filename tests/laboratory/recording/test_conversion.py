"""musclesolve convert: what OpenSim reads, out of whatever was recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from c3d_files import PlateOnPaper, write_c3d
from command_line import typed

from musclesolve.tables import read_mot, read_trc

CSV = "time,A_x [cm],A_y [cm],A_z [cm]\n0.0,100,200,300\n0.01,101,201,301\n0.02,,,\n"
FORCES = "time;fx [kN];px [mm]\n0,0;1,5;2\n0,001;;3\n"


@pytest.fixture
def convert(tmp_path: Path):
    def run(source: str, *arguments: str) -> tuple[int, str]:
        given = [str(tmp_path / a) if a.endswith((".trc", ".mot", ".sto", ".xlsx")) else a for a in arguments]
        done = typed("convert", tmp_path / source, *given)
        return done.exit_code, " ".join(done.output.split())

    return run


def test_markers_to_trc(tmp_path: Path, convert) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    assert convert("a.csv", "-o", "a.trc")[0] == 0
    found = read_trc(tmp_path / "a.trc")
    np.testing.assert_allclose(found["A"], [[1.0, 2.0, 3.0], [1.01, 2.01, 3.01], [np.nan] * 3])
    assert "\tmm\t" in (tmp_path / "a.trc").read_text()
    assert convert("a.trc", "-o", "b.trc", "--units", "m", "--forward", "+y", "--up", "+z")[0] == 0
    # Forward is y, left is -x and up is z; OpenSim wants forward, up, right.
    np.testing.assert_allclose(read_trc(tmp_path / "b.trc")["A"][0], [2.0, 3.0, 1.0])


def test_forces_to_mot_with_a_word_on_missing_numbers(tmp_path: Path, convert) -> None:
    (tmp_path / "f.csv").write_text(FORCES)
    code, printed = convert("f.csv", "-o", "f.sto")
    assert code == 0 and "1 numbers are missing" in printed
    found = read_mot(tmp_path / "f.sto")
    assert found.names == ("fx", "px")
    np.testing.assert_allclose(found.values, [[1500.0, 0.002], [np.nan, 0.003]])


def test_markers_and_plates_of_a_c3d_file_in_one_go(tmp_path: Path, convert) -> None:
    # A plate whose z points down; the ground pushes 700 N up and 50 N forward.
    axes = np.diag([1.0, -1.0, -1.0])
    plate = PlateOnPaper(2, (0.3, 0.1, 0.0), axes)
    force, point = np.tile([50.0, 10.0, 700.0], (40, 1)), np.tile([0.35, 0.05, 0.0], (40, 1))
    free = np.tile([0.0, 0.0, 5.0], (40, 1))
    points = np.arange(4 * 2 * 3, dtype=float).reshape(4, 2, 3) + 1.0
    write_c3d(
        tmp_path / "w.c3d", 100.0, ["A", "B"], points, [plate], [-plate.channels(force, point, free)], 10
    )
    assert convert("w.c3d", "-o", "w.trc", "-o", "w.mot")[0] == 0
    np.testing.assert_allclose(read_trc(tmp_path / "w.trc").position, points / 1000.0, atol=1e-8)
    found = read_mot(tmp_path / "w.mot")
    assert found.time.size == 40
    for what, values in (
        ("ground_force_1_v", force),
        ("ground_force_1_p", point),
        ("ground_torque_1_", free),
    ):
        columns = np.stack([found[what + axis] for axis in "xyz"], axis=1)
        np.testing.assert_allclose(columns, values, atol=1e-3)
    # The axis that points up alone: the center of pressure lies on the ground.
    assert convert("w.c3d", "-o", "u.mot", "--up", "+z")[0] == 0
    np.testing.assert_array_equal(read_mot(tmp_path / "u.mot").values, found.values)
    assert convert("w.c3d", "-o", "t.mot", "--forward", "+x", "--up", "+z")[0] == 0
    turned = read_mot(tmp_path / "t.mot")
    np.testing.assert_allclose(turned["ground_force_1_vy"], force[:, 2], atol=1e-3)
    np.testing.assert_allclose(turned["ground_force_1_pz"], -point[:, 1], atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["a.csv", "-o", "a.xlsx"], ["'.xlsx'", "a.trc"]),
        (["a.csv", "-o", "no/folder/a.trc"], ["no/folder"]),
        (["a.csv", "-o", "a.trc", "-o", "a.trc"], ["a.trc", "-o"]),
        (["a.csv", "-o", "a.trc", "-o", "folder/../a.trc"], ["a.trc", "-o"]),
        (["t.trc", "-o", "t.trc", "--units", "m"], ["t.trc", "-o t_converted.trc"]),
        (["t.trc", "-o", "new.mot", "-o", "linked.trc"], ["linked.trc", "-o"]),
        (["a.csv", "-o", "a.trc", "--up", "+y"], ["--up", "add --forward"]),
        (["w.c3d", "-o", "w.trc", "--up", "+y"], ["--up"]),
        (["a.csv", "-o", "a.trc", "--forward", "+x", "--up", "z"], ["'z'", "+z"]),
        (["a.csv", "-o", "a.trc", "--forward", "+z"], ["forward is +z and up is +z"]),
        (["a.csv", "-o", "a.trc", "--units", "inch"], ["'inch'", "mm"]),
        (["f.csv", "-o", "f.mot", "--forward", "+x"], ["f.csv", "leave out --forward"]),
        (["f.csv", "-o", "f.trc"], ["f.csv", "line 1"]),
        (["t.trc", "-o", "t.mot"], ["'.trc'", ".mot"]),
        (["w.c3d", "-o", "w.trc", "-o", "w.mot"], ["w.c3d", ".trc"]),
        (["nowhere.csv", "-o", "a.trc"], ["nowhere.csv"]),
    ],
)
def test_what_cannot_be_converted_is_refused_and_nothing_written(
    tmp_path: Path, convert, arguments: list[str], parts: list[str]
) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "f.csv").write_text(FORCES)
    (tmp_path / "t.trc").write_text("PathFileType\n")
    write_c3d(tmp_path / "w.c3d", 100.0, ["A"], np.ones((5, 1, 3)))
    (tmp_path / "folder").mkdir()
    (tmp_path / "linked.trc").symlink_to(tmp_path / "t.trc")
    before = _contents(tmp_path)
    code, printed = convert(*arguments)
    assert code == 2 and _contents(tmp_path) == before
    assert "remedy:" in printed or "expected" in printed  # options are refused before the command begins
    for part in parts:
        assert part in printed


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def test_a_repeated_column_is_named(tmp_path: Path, convert) -> None:
    (tmp_path / "f.csv").write_text("time,fx,fx\n0,1,2\n0.1,1,2\n0.2,3,4\n")
    code, printed = convert("f.csv", "-o", "f.mot")
    assert code == 2 and "the column 'fx' occurs twice" in printed and "columns 2 and 3" in printed


def test_comments_among_rows_are_left_out(tmp_path: Path, convert) -> None:
    (tmp_path / "f.csv").write_text("time,fx\n0,1\n# contact, by hand\n0.1,2\n0.2,3\n")
    code, printed = convert("f.csv", "-o", "f.mot")
    assert code == 0 and "left out: 1" in printed
    np.testing.assert_allclose(read_mot(tmp_path / "f.mot")["fx"], [1.0, 2.0, 3.0])

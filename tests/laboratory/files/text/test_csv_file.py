"""CSV files: units, decimal signs and names are understood or refused, never guessed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic_trial import write_trial

from musclesolve import InputError, read_trial
from musclesolve.laboratory import read_forces_table, read_markers
from musclesolve.tables import number_rows as rows
from musclesolve.tables import read_mot, read_trc
from tests.support.refusals import refused

PLAIN = (
    "Frame,time,A_x [mm],A_y [mm],A_z [mm],B one_x [mm],B one_y [mm],B one_z [mm]\n"
    "1,0.00,1000,2000.5,3000,-4,5,6\n"
    "2,0.01,1001,2001.5,3001,,,\n"
    "3,0.02,1002,2002.5,3002,-6,7,8\n"
)
OVER_AXES = ",,A,,,B one,,\nFrame,time,X,Y,Z,X,Y,Z\n,s,mm,mm,mm,mm,mm,mm\n"
VICON = (
    "Trajectories\n100\n,,P:A,,,B one,,\nFrame,Sub Frame,X,Y,Z,X,Y,Z\n,,mm,mm,mm,mm,mm,mm\n"
    "1,0,1000,2000.5,3000,-4,5,6\n"
    "2,0,1001,2001.5,3001,,,\n"
    "3,0,1002,2002.5,3002,-6,7,8\n"
)
A = [[1.0, 2.0005, 3.0], [1.001, 2.0015, 3.001], [1.002, 2.0025, 3.002]]
B = [[-0.004, 0.005, 0.006], [np.nan] * 3, [-0.006, 0.007, 0.008]]


def written(tmp_path: Path, text: str, *edits: tuple[str, str]) -> Path:
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "sample.CSV"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    "edits",
    {
        "plain": (),
        "semicolons": ((",", ";"),),
        "tabs": ((",", "\t"),),
        "semicolons and decimal commas": ((",", ";"), (".", ",")),
        "dots and colons": (("A_", "A."), ("B one_", "B one:")),
        "capital axes": (("_x", "_X"), ("_y", "_Y"), ("_z", "_Z")),
        "units in round brackets": (("[mm]", "(mm)"),),
        "units behind underscores": ((" [mm]", "_mm"),),
        "one unit for all": (("A_y [mm]", "A_y"), ("B one_x [mm]", "B one_x"), ("B one_z [mm]", "B one_z")),
        "time in milliseconds": (("time", "time [ms]"), ("0.01", "10"), ("0.02", "20")),
        "time named otherwise": (("time", "Time_s"),),
        "quoted names": (("B one_x [mm]", '"B one_x [mm]"'),),
        "quoted numbers": (("2000.5", '"2000.5"'),),
        "Windows line ends": (("\n", "\r\n"),),
        "cells of blanks": ((",,,", ", , ,"),),
        "blank columns at the end": (("\n", ",,\n"),),
        "byte order mark": (("Frame", "\ufeffFrame"),),
        "index without a name": (("Frame", ""),),
        "comments above": (("Frame", "# laboratory 3\n\n% 100 Hz\nFrame"),),
        "names in a comment": (("Frame", "# Frame"),),
        "no sign before the axis": (("A_", "A"), ("B one_", "B one")),
        "names over axes": ((PLAIN[: PLAIN.index("1,0.00")], OVER_AXES),),
        "a line of units": ((" [mm]", ""), ("\n1,0.00", "\n,s,mm,mm,mm,mm,mm,mm\n1,0.00")),
        "a word for nothing": ((",,,", ",N/A,-1.#IND,-nan(ind)"),),
        "lost marker written as zeros": ((",,,", ",0,0,0.0"),),
        "marker lost in one coordinate": ((",,,", ",1,,3"),),
    }.items(),
    ids=lambda item: item[0],
)  # fmt: skip
def test_the_same_markers_however_they_are_written(tmp_path: Path, edits: tuple[str, tuple]) -> None:
    found = read_markers(written(tmp_path, PLAIN, *edits[1]))
    assert found.names == ("A", "B one")
    np.testing.assert_allclose(found.time, [0.0, 0.01, 0.02])
    np.testing.assert_allclose(found["A"], A)
    np.testing.assert_allclose(found["B one"], B)


@pytest.mark.parametrize("edits", [(), ((",", ";"),), ((",", ";"), (".", ",")), ((",", "\t"),)])
def test_trajectories_of_vicon_are_read(tmp_path: Path, edits: tuple) -> None:
    found = read_markers(written(tmp_path, VICON, *edits))
    assert found.names == ("P:A", "B one")
    np.testing.assert_allclose(found.time, [0.0, 0.01, 0.02])
    np.testing.assert_allclose(found["P:A"], A)
    np.testing.assert_allclose(found["B one"], B)


@pytest.mark.parametrize(
    ("text", "edits", "parts"),
    [
        (PLAIN, ((" [mm]", ""),), ['unknown_unit', 'line 1', '[mm]']),
        (PLAIN, (("[mm]", "[span]"),), ['unknown_unit', 'line 1', "'span'"]),
        (PLAIN, (("A_x [mm]", "A_x [m]"), ("A_y [mm]", "A_y")), ['unknown_unit']),
        (PLAIN, (("time", "clock"),), ['missing_column']),
        (PLAIN, (("A_z [mm]", "A_w [mm]"),), ['bad_format', "'A_w [mm]'"]),
        (PLAIN, (("A_z [mm]", ""),), ['bad_format']),
        (PLAIN, (("A_z [mm]", "A_y [mm]"),), ['duplicate_name', "'A'", "'y'"]),
        (PLAIN, (("A_z [mm]", "C_z [mm]"),), ['missing_column', "'A'"]),
        (PLAIN, (("2001.5", "2 001.5"),), ['not_numbers', 'line 3', "'A_y [mm]'", "'2 001.5'"]),
        (PLAIN, (("2001.5", "2001,5"),), ['truncated_file', 'line 3', '9 cells', '8 cells']),
        (PLAIN, (("2001.5", "inf"),), ['not_finite', 'line 3']),
        (PLAIN, (("0.02", "0.01"),), ['time_not_increasing', 'line 4']),
        (PLAIN, ((",", ";"), ("2001.5", "2001,5")), ['not_numbers', 'line 3', "'2001,5'"]),
        (PLAIN, (("time", "time,"),), ['bad_format']),
        (PLAIN, (("[mm]\n1", "[mm],\n1"), ("5,6\n", "5,6,\n"), (",,,\n", ",,,,\n"), (",8\n", ",8,1\n")),
         ['bad_format', 'line 4']),
        (PLAIN, (("7,8\n", "7,8,\n"),), ['truncated_file', 'line 4', '9 cells']),
        (PLAIN[: PLAIN.index("1,0.00")], (), ["truncated_file"]),
        (PLAIN[: PLAIN.index("2,0.01")], (), ['too_few_frames', '1']),
        (VICON, (("\n100\n", "\nx\n"),), ['bad_number', 'line 2', "'x'"]),
        (VICON, ((",mm,mm,mm,mm,mm,mm", ",,,,,,"),), ['unknown_unit']),
        (VICON, (("X,Y,Z,X", "X,Y,X,Z"),), ['bad_format', 'line 4']),
        (VICON, (("B one", ""),), ['bad_format', "'X'"]),
        (VICON, (("2001.5", "x"),), ['not_numbers', 'line 7', "'x'"]),
        ("Devices\n1000\n\nJoints\n", (), ['bad_format', 'Trajectories', 'devices']),
        (PLAIN, (("2001.5", "1e160"),), ['not_finite', 'line 3', "'A_y [mm]'"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused_with_its_line(
    tmp_path: Path, text: str, edits: tuple, parts: list[str]
) -> None:
    path = written(tmp_path, text, *edits)
    with refused(*parts, str(path), "\n  expected: ", "\n  remedy: "):
        read_markers(path)


def body(names: str, height: float) -> str:
    """A table of eight triples of columns, one above the other, in a unit that is not stated."""
    titles = ",".join(f"{names}{k}_{axis}" for k in range(8) for axis in "xyz")
    row = ",".join(f"1,1,{height * k / 7}" for k in range(1, 9))
    return f"time,{titles}\n" + "".join(f"{time},{row}\n" for time in (0, 0.01, 0.02))


@pytest.mark.parametrize(("unit", "height"), [("m", 1.7), ("cm", 170.0), ("mm", 1700.0)])
def test_a_unit_that_is_not_stated_is_seen_from_the_size_of_the_body(
    unit: str, height: float, tmp_path: Path
) -> None:
    found = read_markers(written(tmp_path, body("M", height)))
    assert np.ptp(found.position[0, :, 2]) == pytest.approx(1.7)
    assert f"taken as {unit}" in found.notes[0]


@pytest.mark.parametrize(("names", "height"), [("M", 17.0), ("force_", 700.0)])
def test_no_unit_is_guessed_for_other_sizes_and_for_forces(names: str, height: float, tmp_path: Path) -> None:
    with refused("unknown_unit", "[mm]"):
        read_markers(written(tmp_path, body(names, height)))


def test_a_header_among_the_rows_is_left_out(tmp_path: Path) -> None:
    found = read_markers(written(tmp_path, PLAIN, ("2,0.01", PLAIN[: PLAIN.index("1,0.00")] + "2,0.01")))
    np.testing.assert_allclose(found["A"], A)
    assert "left out: 1" in found.notes[0]


def test_a_decimal_point_among_decimal_commas_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = PLAIN.replace(",", ";").replace(".", ",").replace("2002,5", "2002.5")
    monkeypatch.setattr(rows, "PIECE", len(text) - 30)
    with refused("not_numbers", "line 4", "'2002.5'"):
        read_markers(written(tmp_path, text))


def test_forces_come_in_newtons_and_meters_where_the_header_says_what_they_are(tmp_path: Path) -> None:
    text = "time,fx,fz [kN],px [mm],mz (Nmm)\n0.0,1,2,3,4\n0.001,1.5,,3,4\n"
    found = read_forces_table(written(tmp_path, text))
    assert found.names == ("fx", "fz", "px", "mz") and not found.in_degrees
    np.testing.assert_allclose(found.values, [[1.0, 2000.0, 0.003, 0.004], [1.5, np.nan, 0.003, 0.004]])
    np.testing.assert_array_equal(found.lines, [2, 3])
    with refused("unknown_unit", "'stone'", "line 1"):
        read_forces_table(written(tmp_path, text, ("kN", "stone")))
    assert list(read_forces_table(written(tmp_path, text, ("px", "fx"))).repeated) == ["fx"]


def test_an_unknown_suffix_is_refused_with_those_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_text("x")
    (tmp_path / "x").write_text("x")
    for name in ("x.xlsx", "x"):
        with refused("bad_format"):
            read_markers(tmp_path / name)
    with refused("bad_format", "x.xlsx"):
        read_forces_table(tmp_path / "x.xlsx")
    with refused("missing_file", "y.xlsx"):
        read_markers(tmp_path / "y.xlsx")
    with refused("bad_type"):
        read_markers(7)  # type: ignore[arg-type]


def test_a_trial_of_csv_files_is_the_trial_of_its_twins(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    plain = read_trial(path)
    for name in ("walk", "static"):
        markers = read_trc(tmp_path / f"{name}.trc")
        header = ["time", *(f"{marker}_{axis} [m]" for marker in markers.names for axis in "xyz")]
        numbers = np.column_stack([markers.time, markers.position.reshape(markers.time.size, -1)])
        save(tmp_path / f"{name}.csv", header, numbers)
    table = read_mot(tmp_path / "forces.mot")
    save(tmp_path / "forces.csv", ["time", *table.names], np.column_stack([table.time, table.values]))
    text = path.read_text().replace(".trc", ".csv").replace("forces.mot", "forces.csv")
    path.write_text(text)
    found = read_trial(path)
    assert found.markers.names == plain.markers.names
    np.testing.assert_allclose(found.markers.position, plain.markers.position, atol=1e-12)
    np.testing.assert_allclose(found.forces[0].force, plain.forces[0].force, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "unit", "role"), [("r_vx", "mm", "point"), ("r_pz", "N", "force"), ("r_my", "kN", "force")]
)
def test_columns_in_the_unit_of_something_else_are_refused(
    tmp_path: Path, name: str, unit: str, role: str
) -> None:
    path = write_trial(tmp_path)
    table = read_mot(tmp_path / "forces.mot")
    header = ["time", *(f"{n} [{unit}]" if n == name else n for n in table.names)]
    save(tmp_path / "forces.csv", header, np.column_stack([table.time, table.values]))
    path.write_text(path.read_text().replace("forces.mot", "forces.csv"))
    with refused("bad_units", f"'{name}'", "forces.csv", role):
        read_trial(path)


def save(path: Path, header: list[str], numbers: np.ndarray) -> None:
    lines = [";".join(header), *(";".join(f"{value:.12g}" for value in row) for row in numbers)]
    path.write_text("\n".join(lines).replace("nan", "") + "\n")


@pytest.mark.parametrize("title", ["Zeit [s]", "Temps (ms)", "tiempo"])
def test_times_in_other_languages(tmp_path: Path, title: str) -> None:
    size = 1000.0 if "ms" in title else 1.0
    rows = "".join(f"{size * 0.01 * k};{k}\n" for k in range(5))
    (tmp_path / "f.csv").write_text(f"{title};Kraft_x [N]\n{rows}")
    np.testing.assert_allclose(read_forces_table(tmp_path / "f.csv").time, 0.01 * np.arange(5))


@pytest.mark.parametrize(
    "edits",
    {
        "numbered from one": (("Frame,time", "Sample rate (Hz),100\nFrame,time"),),
        "numbered from zero": (
            ("Frame,time", "100 Hz\nItem,time"),
            ("\n1,", "\n0,"),
            ("\n2,", "\n1,"),
            ("\n3,", "\n2,"),
        ),
        "milliseconds by the rate": (("Frame", "Rate,100\nFrame"), (",0.01,", ",10,"), (",0.02,", ",20,")),
        "milliseconds by the step": ((",0.01,", ",10,"), (",0.02,", ",20,")),
        "words below the rows": (("7,8\n", "7,8\n\nend of the recording\n;"),),
        "statistics below the rows": (("7,8\n", "7,8\nMean,0.01,1,2,3,4,5,6\nSD,0.01,1,2,3,4,5,6\n"),),
        "numbers below a blank line": (("7,8\n", "7,8\n\nFrames,3,100\n1.0,2.0\n"),),
    }.items(),
    ids=lambda item: item[0],
)
def test_times_follow_from_frames_and_rates_and_from_milliseconds(
    tmp_path: Path, edits: tuple[str, tuple[tuple[str, str], ...]]
) -> None:
    name, changes = edits
    text = PLAIN
    for old, new in changes:
        text = text.replace(old, new)
    if name.startswith("numbered"):
        text = text.replace(",time", "").replace(",0.00,", ",").replace(",0.01,", ",").replace(",0.02,", ",")
    markers = read_markers(written(tmp_path, text))
    assert np.allclose(markers.time, [0.0, 0.01, 0.02], atol=1e-12)
    assert np.allclose(markers["A"], A) and np.allclose(markers["B one"], B, equal_nan=True)
    assert markers.notes


@pytest.mark.parametrize(
    ("above", "where", "problem"),
    [
        ("", "line 1", "state no rate"),
        ("Low-pass filter (Hz),6\n", "line 2", "state no rate"),
        ("Camera rate,100\nAnalog rate,1000\n", "line 3", "state 100 Hz and 1000 Hz"),
    ],
)
def test_numbered_rows_need_one_stated_rate(tmp_path: Path, above: str, where: str, problem: str) -> None:
    text = PLAIN.replace(",time", "").replace(",0.00,", ",").replace(",0.01,", ",").replace(",0.02,", ",")
    with refused("missing_column", where, problem):
        read_markers(written(tmp_path, above + text))


@pytest.mark.parametrize("below", ["7,8\n5,6\n", "7,8\n\nt,F\n0,1\n0.01,2\n"])
def test_short_rows_and_another_table_are_not_below_the_table(tmp_path: Path, below: str) -> None:
    with refused("truncated_file"):
        read_markers(written(tmp_path, PLAIN.replace("-6,7,8\n", "-6," + below)))


def test_another_recording_below_the_first_is_named(tmp_path: Path) -> None:
    with refused("time_not_increasing", "line 5", "another recording"):
        read_markers(written(tmp_path, PLAIN + "1,0.00,1000,2000.5,3000,-4,5,6\n"))


def test_quoted_decimal_commas_between_commas(tmp_path: Path) -> None:
    rows = [",".join(f'"{x}"'.replace(".", ",") for x in row.split(",")) for row in PLAIN.splitlines()[1:]]
    path = written(tmp_path, "\n".join([PLAIN.splitlines()[0], *rows, ""]))
    np.testing.assert_allclose(read_markers(path)["A"], A)


def test_rows_without_names_and_steps_of_one_are_refused(tmp_path: Path) -> None:
    with refused("missing_column", "line 1"):
        read_markers(written(tmp_path, "0,1,2\n1,1,2\n"))
    with refused("bad_units", "line 1, 'time'"):
        read_markers(written(tmp_path, PLAIN.replace(",0.01,", ",1,").replace(",0.02,", ",2,")))
    with refused("bad_units", "line 1, 'time'"):  # microseconds
        read_markers(written(tmp_path, PLAIN.replace(",0.01,", ",10000,").replace(",0.02,", ",20000,")))


def test_an_axis_may_stand_before_the_marker(tmp_path: Path) -> None:
    names = [f"M{k}" for k in range(rows.FEWEST_ROWS // 3)]
    head = ",".join(f"{axis}_{name} [mm]" for name in names for axis in "XYZ")
    lines = [f"{0.01 * k:.2f}," + ",".join(str(n + k) for n in range(3 * len(names))) for k in range(3)]
    markers = read_markers(written(tmp_path, "\n".join([f"time,{head}", *lines, ""])))
    assert markers.names == tuple(names)
    assert np.allclose(markers["M1"][0], [0.003, 0.004, 0.005])


@pytest.mark.parametrize("cell", ["null", "-", "nan", "", "1e999"])
def test_a_first_number_of_a_row_that_is_none_is_refused(tmp_path: Path, cell: str) -> None:
    text = "100 Hz\n" + PLAIN.replace(",time", "").replace(",0.00,", ",").replace(",0.01,", ",").replace(
        ",0.02,", ","
    )
    with pytest.raises(InputError, match=r"line [34]"):
        read_markers(written(tmp_path, text, ("\n1,", f"\n{cell},")))

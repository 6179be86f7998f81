from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from examined import examined
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from recorded_data import recorded
from synthetic_trial import write_trial

from musclesolve import read_trial
from musclesolve.errors import InputError
from musclesolve.laboratory.files.formats import convert
from musclesolve.tables import Table, read_mot, write_mot
from musclesolve.tables.text_file import write_text
from tests.support.refusals import refused

SAMPLE = (
    "some motion\nversion=1\nnRows=3\nnColumns=3\ninDegrees=yes\n\nUnits are S.I. units\nendheader\n"
    "time\tforce_vx\tforce_vy\n"
    "0.000\t1.5\t-2\n"
    "  0.001\t  2.5\t nan\n"
    "0.002\t3.5e1\t-4\n"
)  # fmt: skip

OLD = "some motion\ndatacolumns 3\ndatarows 3\nrange 0 0.002\nendheader\n"

names = st.lists(
    st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=1, max_size=8),
    min_size=1,
    max_size=5,
    unique=True,
).filter(lambda found: "time" not in found)


def sample(tmp_path: Path, *edits: tuple[str, str]) -> Path:
    text = SAMPLE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "sample.mot"
    path.write_text(text, encoding="utf-8")
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), columns=names, in_degrees=st.booleans())
def test_what_is_written_is_read_again(
    tmp_path: Path, data: st.DataObject, columns: list[str], in_degrees: bool
) -> None:
    rows = data.draw(st.integers(2, 6))
    elements = st.floats(-1e5, 1e5) | st.just(float("nan"))
    values = data.draw(arrays(float, (rows, len(columns)), elements=elements))
    path = tmp_path / "x.sto"
    write_mot(path, Table(np.arange(rows) / 2000.0, tuple(columns), values, in_degrees, path))
    found = read_mot(path)
    assert found.names == tuple(columns) and found.in_degrees == in_degrees
    np.testing.assert_allclose(found.time, np.arange(rows) / 2000.0, atol=1e-8)
    np.testing.assert_allclose(found.values, values, atol=1e-6)


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    found = read_mot(sample(tmp_path))
    assert found.in_degrees
    np.testing.assert_array_equal(found["force_vx"], [1.5, 2.5, 35.0])
    np.testing.assert_array_equal(found["force_vy"], [-2.0, np.nan, -4.0])
    np.testing.assert_allclose(found.time, [0.0, 0.001, 0.002])


@pytest.mark.parametrize("cell", ["", " ", "  "])
def test_an_empty_cell_between_tabs_is_a_gap(tmp_path: Path, cell: str) -> None:
    found = read_mot(sample(tmp_path, ("\t1.5\t", f"\t{cell}\t"), ("3.5e1\t-4\n", f"3.5e1\t{cell}\n")))
    np.testing.assert_array_equal(found["force_vx"], [np.nan, 2.5, 35.0])
    np.testing.assert_array_equal(found["force_vy"], [-2.0, np.nan, np.nan])
    with refused("truncated_file", "line 12"):
        read_mot(sample(tmp_path, ("\t3.5e1\t-4", " 3.5e1")))
    with refused("missing_samples", "line 12"):
        read_mot(sample(tmp_path, ("0.002\t", "\t")))


@pytest.mark.parametrize(
    "edit",
    [
        ("endheader\n", ""),
        (SAMPLE[: SAMPLE.index("time")], ""),
        ("time\t", "Time (s)\t"),
        ("nColumns=3", "nColumns=30"),
    ],
)
def test_rows_decide_where_a_header_is_odd(tmp_path: Path, edit: tuple[str, str]) -> None:
    found = read_mot(sample(tmp_path, edit))
    assert found.names == ("force_vx", "force_vy")
    np.testing.assert_array_equal(found.values, read_mot(sample(tmp_path)).values)
    assert any("states 30 columns" in note for note in found.notes) == (edit[1] == "nColumns=30")


def test_the_older_header_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "old.sto"
    path.write_text(OLD + SAMPLE[SAMPLE.index("time\t") :], encoding="utf-8")
    found = read_mot(path)
    assert not found.in_degrees
    np.testing.assert_array_equal(found.values, read_mot(sample(tmp_path)).values)


@pytest.mark.parametrize(
    ("edit", "parts"),
    [
        (("inDegrees=yes", "inDegrees=maybe"), ["bad_format", "'maybe'"]),
        (("time\tforce_vx", "frame\tforce_vx"), ["missing_column", "line 9", "'frame'"]),
        (("force_vy", "time"), ["duplicate_name", "line 9", "'time'"]),
        (("\t1.5\t-2\n", "\t1.5\n"), ["truncated_file", "line 10", "2 cells"]),
        (("3.5e1", "3.5f1"), ["not_numbers", "line 12", "column 'force_vx'", "'3.5f1'"]),
        (("0.002", "0.001"), ["time_not_increasing", "line 12"]),
    ],
)
def test_what_does_not_fit_together_is_refused_with_its_line(
    tmp_path: Path, edit: tuple[str, str], parts: list[str]
) -> None:
    path = sample(tmp_path, edit)
    with refused(*parts, str(path), "\n  expected: ", "\n  remedy: "):
        read_mot(path)


@pytest.mark.parametrize("stated", ["4", "2", "0", "1000000", "3.0", "-3", "three", ""])
def test_another_count_of_rows_is_a_note(tmp_path: Path, stated: str) -> None:
    found = read_mot(sample(tmp_path, ("nRows=3", f"nRows={stated}")))
    assert f"holds 3 rows of data, its header states {stated}" in found.row_warning
    plain = read_mot(sample(tmp_path))
    assert plain.row_warning == "" and plain.sentences == []
    np.testing.assert_array_equal(found.values, plain.values)


def test_the_row_in_which_a_file_is_cut_short_does_not_count(tmp_path: Path) -> None:
    """-4 may have been -41.7; a file that merely ends without a line end is whole."""
    whole = sample(tmp_path, ("-4\n", "-4"))
    assert read_mot(whole).time.size == 3 and read_mot(whole).row_warning == ""
    cut = read_mot(sample(tmp_path, ("-4\n", "-4"), ("nRows=3", "nRows=5")))
    assert cut.time.size == 2 and "the last row is left out" in cut.row_warning


@pytest.mark.parametrize(("stated", "share"), [("12", "25 %"), ("4", "75 %"), ("2", ""), ("three", "")])
def test_the_rows_that_are_there_are_counted_against_those_stated(
    tmp_path: Path, stated: str, share: str
) -> None:
    found = read_mot(sample(tmp_path, ("nRows=3", f"nRows={stated}"))).row_warning
    assert (f"its header states {stated} ({share} are there)" in found) == bool(share)
    assert ("%" in found) == bool(share)


def test_a_file_that_broke_off_within_a_row_says_how_much_is_there(tmp_path: Path) -> None:
    path = sample(tmp_path, ("nRows=3", "nRows=10"))
    path.write_text(path.read_text(encoding="utf-8").rstrip().rpartition("\t")[0], encoding="utf-8")
    found = read_mot(path)
    assert found.time.size == 2
    assert "2 of the 10 rows that its header states are there (20 %)" in found.row_warning


@pytest.mark.parametrize("left_out", [["nRows=3\n"], ["nColumns=3\n"], ["nRows=3\n", "nColumns=3\n"]])
def test_columns_and_rows_are_counted_where_the_header_states_no_number(
    tmp_path: Path, left_out: list[str]
) -> None:
    """As OpenSim 4 and Moco write files."""
    plain, found = read_mot(sample(tmp_path)), read_mot(sample(tmp_path, *((line, "") for line in left_out)))
    assert found.names == plain.names and found.sentences == []
    np.testing.assert_array_equal(found.values, plain.values)


def test_without_a_stated_number_the_last_row_needs_the_end_of_its_line(tmp_path: Path) -> None:
    """Nothing else shows that it is whole."""
    found = read_mot(sample(tmp_path, ("-4\n", "-4"), ("nRows=3\n", "")))
    assert found.time.size == 2 and "the last row is left out" in found.row_warning


def test_what_the_header_says_of_degrees(tmp_path: Path) -> None:
    """Yes, no, or nothing; written again it says the same."""
    for edit, said in (((), True), ((("=yes", "=no"),), False), ((("inDegrees=yes\n", ""),), None)):
        found = read_mot(sample(tmp_path, *edit))
        assert found.in_degrees is said
        write_mot(tmp_path / "again.mot", found)
        assert read_mot(tmp_path / "again.mot").in_degrees is said


@pytest.mark.parametrize(
    ("name", "columns", "rows"),
    [("grf_without_column_count.mot", 18, 223), ("moco_states_without_column_count.sto", 253, 195)],
)
def test_files_of_opensim_4(name: str, columns: int, rows: int) -> None:
    found = read_mot(recorded(f"addbiomechanics/odd_files/{name}"))
    assert found.values.shape == (rows, columns) and found.sentences == []
    assert np.isfinite(found.values).all() and found.in_degrees is (False if "moco" in name else None)


@given(cut=st.integers(SAMPLE.index("0.000"), len(SAMPLE) - 1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_anywhere_is_refused_or_its_rows_are_whole(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "cut.mot"
    path.write_text(SAMPLE[:cut], encoding="utf-8")
    try:
        found = read_mot(path)
    except InputError:
        return
    plain = read_mot(sample(tmp_path))
    # Only the end of the very last number can be lost unseen, when its row is counted: "-4" without its line end.
    np.testing.assert_array_equal(found.values, plain.values[: found.time.size])
    assert found.row_warning or found.time.size == 3


@pytest.mark.in_part(2)
@pytest.mark.parametrize("count", ["9", "1000000"])
def test_a_trial_is_read_with_another_count_of_rows(tmp_path: Path, count: str) -> None:
    """The results say so, and check warns; converted, the count is right."""
    path = write_trial(tmp_path)
    file = tmp_path / "forces.mot"
    text = file.read_text(encoding="utf-8")
    rows = read_mot(file).time.size
    before = examined(path)
    file.write_text(text.replace(f"nRows={rows}", f"nRows={count}"), encoding="utf-8")
    assert any(f"its header states {count}" in note for note in read_trial(path).notes)
    report = examined(path)
    assert set(report.codes) == {*before.codes, "truncated"}
    (found,) = [finding for finding in report.findings if finding.code == "truncated"]
    assert found.severity == "warning" and found.where.file == file
    assert any("header states" in note for note in convert(file, [tmp_path / "again.mot"]))
    assert read_mot(tmp_path / "again.mot").row_warning == ""


def test_a_header_without_data_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.mot"
    path.write_text("x\nnRows=0\nnColumns=1\nendheader\n", encoding="utf-8")
    with refused("truncated_file", "line 4"):
        read_mot(path)
    path.write_text("x\nnRows=1\nnColumns=2\nendheader\ntime\ta\n0.0\t1.0\n", encoding="utf-8")
    with refused("too_few_frames", "x.mot"):
        read_mot(path)
    path.write_text("x\nnRows=9\nnColumns=2\nendheader\ntime\ta\n0.0\t1.0", encoding="utf-8")
    with refused("too_few_frames", "1 row(s)"):
        read_mot(path)
    path.write_text("endheader\ntime\n0.0\n0.1\n", encoding="utf-8")
    with refused("missing_column", "line 2"):
        read_mot(path)


def test_a_name_with_a_blank_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "x.mot"
    with refused("bad_value", "'a b'"):
        write_mot(path, Table(np.arange(2.0), ("a b",), np.zeros((2, 1)), False, path))


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.mot"
    write_text(path, "old")

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with refused("not_writable", "x.mot"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.mot"]


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        (("a", "a"), np.zeros((2, 2)), ("duplicate_name", "'a'")),
        (("a",), np.zeros((2, 2)), ("bad_shape", "2 frames", "1 names")),
        (("a", "time"), np.zeros((2, 2)), ("bad_value", "'time'")),
        (("a\r", "b"), np.zeros((2, 2)), ("bad_value", "x.mot")),
        (("a", "b"), np.full((2, 2), -np.inf), ("not_finite", "'a'", "0 s")),
        (("a", "b"), np.full((2, 2), 1j), ("not_numbers", "values")),
    ],
)
def test_what_the_reader_would_not_take_back_is_not_written(
    tmp_path: Path, names: tuple[str, ...], values: np.ndarray, message: tuple[str, ...]
) -> None:
    path = tmp_path / "x.mot"
    with refused(*message):
        write_mot(path, Table(np.arange(2.0), names, values, False, path))
    with refused("not_writable", "x.mot"):
        write_mot(tmp_path / "no" / "x.mot", Table(np.arange(2.0), ("a",), np.zeros((2, 1)), False, path))
    assert not list(tmp_path.iterdir())

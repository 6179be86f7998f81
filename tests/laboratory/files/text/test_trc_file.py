from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examined import examined
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from recorded_data import recorded
from synthetic_trial import write_trial
from thorough import examples

from musclesolve import read_trial
from musclesolve.errors import InputError
from musclesolve.laboratory import read_c3d, read_camera_file
from musclesolve.laboratory.files.text.csv_file import read_csv_forces, read_csv_markers
from musclesolve.tables import Markers, read_mot, read_trc, write_trc
from tests.support.refusals import refused

SAMPLE = (
    "PathFileType\t4\t(X/Y/Z)\tsample.trc\n"
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
    "100\t100\t3\t2\tmm\t100\t1\t3\n"
    "Frame#\tTime\tA.one\t\t\tB two\t\t\n"
    "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
    "\n"
    "1\t0.00\t1000\t2000\t3000\t-4\t5\t6\n"
    "2\t0.01\t1001\t2001\t3001\t\t\t\n"
    "3\t0.02\t1002\t2002\t3002\t-6\t7\t8\n"
)


@pytest.mark.parametrize("ending", ["0.00", "0,000", "0"])
def test_times_that_are_all_zero_follow_from_frames_and_rate(tmp_path: Path, ending: str) -> None:
    zero = [(f"\t{time}\t", f"\t{ending}\t") for time in ("0.00", "0.01", "0.02")]
    markers = read_trc(sample(tmp_path, *zero))
    np.testing.assert_allclose(markers.time, [0.0, 0.01, 0.02], atol=1e-12)
    assert "The times of sample.trc are zero: they follow from Frame# and DataRate." in markers.notes


def test_a_file_without_its_first_line_is_read_and_says_so(tmp_path: Path) -> None:
    whole = read_trc(sample(tmp_path))
    first = SAMPLE.partition("\n")[0] + "\n"
    markers = read_trc(sample(tmp_path, (first, "")))
    np.testing.assert_array_equal(markers.position, whole.position)
    assert set(markers.notes) - set(whole.notes) == {
        "sample.trc lacks the first line of a TRC file, which begins with PathFileType."
    }
    with refused("unknown_unit", "line 2, Units"):
        read_trc(sample(tmp_path, (first, ""), ("\tmm\t", "\tfurlong\t")))


names = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=8),
    min_size=1,
    max_size=5,
    unique=True,
)


def sample(tmp_path: Path, *edits: tuple[str, str]) -> Path:
    text = SAMPLE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "sample.trc"
    path.write_bytes(text.encode())
    return path


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), marker_names=names, unit=st.sampled_from(["mm", "cm", "m"]))
def test_what_is_written_is_read_again(
    tmp_path: Path, data: st.DataObject, marker_names: list[str], unit: str
) -> None:
    frames = data.draw(st.integers(2, 6))
    rate = data.draw(st.sampled_from([50.0, 120.0, 1000.0]))
    values = st.floats(-20.0, 20.0).filter(lambda x: abs(x) > 1e-3)
    position = data.draw(arrays(float, (frames, len(marker_names), 3), elements=values))
    lost = data.draw(arrays(bool, (frames, len(marker_names))))
    position[lost] = np.nan
    path = tmp_path / "x.trc"
    write_trc(
        path, Markers(np.arange(frames) / rate, tuple(marker_names), position, path), units=unit, decimals=6
    )
    found = read_trc(path)
    assert found.names == tuple(marker_names)
    np.testing.assert_allclose(found.time, np.arange(frames) / rate, atol=1e-8)
    np.testing.assert_allclose(found.position, position, atol=1e-6)
    assert [p.name for p in tmp_path.iterdir()] == ["x.trc"]


@pytest.mark.parametrize("lost", [1, 2, 20])
def test_a_lost_frame_stays_a_hole_in_the_times(tmp_path: Path, lost: int) -> None:
    """With the mean rate in its header the file would be read as one of rounded even times, 5 ms from its own."""
    time = np.delete(0.01 * np.arange(300), slice(100, 100 + lost))
    path = tmp_path / "x.trc"
    write_trc(path, Markers(time, ("A",), np.zeros((len(time), 1, 3)), path))
    found = read_trc(path)
    np.testing.assert_allclose(found.time, time, atol=1e-8)
    assert not found.notes


def test_positions_come_in_meters_with_gaps(tmp_path: Path) -> None:
    found = read_trc(sample(tmp_path))
    assert found.names == ("A.one", "B two")
    np.testing.assert_allclose(
        found["A.one"], [[1.0, 2.0, 3.0], [1.001, 2.001, 3.001], [1.002, 2.002, 3.002]]
    )
    np.testing.assert_allclose(found["B two"][[0, 2]], [[-0.004, 0.005, 0.006], [-0.006, 0.007, 0.008]])
    assert np.isnan(found["B two"][1]).all()
    assert found.rate == pytest.approx(100.0)


@pytest.mark.parametrize(
    "edit",
    {
        "doubled tabs in the header": ("100\t100\t3\t2\tmm\t", "  100.0\t\t  100.0\t\t  3\t\t  2\t\t mm\t"),
        "decimal commas": (".0", ",0"),
        "no blank line": ("\n\n", "\n"),
        "Windows line ends": ("\n", "\r\n"),
        "trailing tabs": ("3000\t-4\t5\t6\n", "3000\t-4\t5\t6\t\t\n"),
        "short header": ("\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n100\t100\t3\t2\tmm\t100\t1\t3\n",
                         "\n100\t100\t3\t2\tmm\n"),
        "lost marker written as zeros": ("3001\t\t\t\n", "3001\t0.0\t0.0\t0.0\n"),
        "lost marker written as NaN": ("3001\t\t\t\n", "3001\tNaN\tnan\tNaN\n"),
        "lost marker written as 9999": ("3001\t\t\t\n", "3001\t99999.0\t99999.0\t99999.0\n"),
        "one coordinate lost": ("3001\t\t\t\n", "3001\t-5\t\t7\n"),
        "byte order mark": ("PathFileType", "\ufeffPathFileType"),
        "blank line at the end": ("-6\t7\t8\n", "-6\t7\t8\n\n\n"),
        "no tabs after the last name": ("B two\t\t\n", "B two\n"),
        "names twice": ("\t\tX1", "Frame#\tTime\tA.one\t\t\tB two\t\t\n\t\tX1"),
        "header twice": ("\n\n", "\nFrame#\tTime\tA.one\t\t\tB two\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"),
        "comment above": ("PathFileType", "# our laboratory\n\nPathFileType"),
        "no unit": ("\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n100\t100\t3\t2\tmm",
                    "\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n100\t100\t3\t2"),
        "an empty cell for the unit": ("\tmm\t100\t", "\t\t100\t"),
        "a word for nothing": ("3001\t\t\t\n", "3001\tN/A\t-1.#IND\t-nan(ind)\n"),
        "axes from another number": ("X1\tY1\tZ1\tX2\tY2\tZ2", "X5\tY5\tZ5\tX6\tY6\tZ6"),
        "another number of markers": ("100\t3\t2\t", "100\t3\t5\t"),
        "titles in small letters": ("DataRate\tCameraRate\tNumFrames", "datarate\tcamerarate\tnumframes"),
        "axes without numbers": ("X1\tY1\tZ1\tX2\tY2\tZ2", "X\tY\tZ\tX\tY\tZ"),
    }.items(),
    ids=lambda item: item[0],
)  # fmt: skip
def test_quirks_of_real_files_change_nothing(tmp_path: Path, edit: tuple[str, tuple[str, str]]) -> None:
    plain = read_trc(sample(tmp_path))
    found = read_trc(sample(tmp_path, edit[1]))
    assert found.names == plain.names
    np.testing.assert_allclose(found.position, plain.position, atol=1e-15)
    np.testing.assert_array_equal(found.time, plain.time)


@pytest.mark.parametrize("count", ["2", "4"])
@pytest.mark.parametrize("axes", ["Z2", "Z2\tX3\tY3\tZ3\tX4\tY4\tZ4"])
@pytest.mark.parametrize("even", [True, False])
def test_markers_without_a_name_behind_the_named_ones_are_left_out(
    tmp_path: Path, count: str, axes: str, even: bool
) -> None:
    """Cortex writes them; with a count in the header, rows may have fewer of them."""
    plain, more = read_trc(sample(tmp_path)), "\t7\t8\t9" * 2
    path = sample(
        tmp_path,
        ("100\t3\t2\t", f"100\t3\t{count}\t"),
        ("Z2\n", f"{axes}\n"),
        ("-4\t5\t6\n", f"-4\t5\t6{more}\n"),
        ("3001\t\t\t\n", f"3001\t\t\t{more}\n"),
        ("-6\t7\t8\n", f"-6\t7\t8{more if even else more[:6]}\n"),
    )
    if not even and count == "2" and axes == "Z2":
        with refused("truncated_file"):
            read_trc(path)
        return
    found = read_trc(path)
    assert found.names == plain.names and "2 markers" in found.notes[0]
    np.testing.assert_array_equal(found.position, plain.position)


def test_a_marker_without_a_name_between_others_does_not_shift_their_names(tmp_path: Path) -> None:
    plain = read_trc(sample(tmp_path))
    found = read_trc(sample(tmp_path, ("Time\tA.one\t", "Time\t\t")))
    assert found.names == ("B two",) and any("1 markers" in note for note in found.notes)
    np.testing.assert_array_equal(found["B two"], plain["B two"])
    beyond = (("-4\t5\t6\n", "-4\t5\t6\t7\t8\t9\n"), ("3001\t\t\t\n", "3001\t\t\t\t7\t8\t9\n"))
    last = ("-6\t7\t8\n", "-6\t7\t8\t7\t8\t9\n")
    with refused("bad_format", "line 4", "2 names", "3 markers"):
        read_trc(sample(tmp_path, ("A.one\t\t\tB two\t\t\n", "A.one\tB two\n"), *beyond, last))


def test_times_in_milliseconds_by_the_stated_rate(tmp_path: Path) -> None:
    plain = read_trc(sample(tmp_path))
    found = read_trc(sample(tmp_path, ("\t0.01\t", "\t10\t"), ("\t0.02\t", "\t20\t")))
    np.testing.assert_allclose(found.time, plain.time)
    assert any("milliseconds" in note for note in found.notes)


@pytest.mark.parametrize(
    ("edit", "parts"),
    [
        (("PathFileType", "Something"), ['bad_format', 'line 1']),
        (("\tmm\t", "\tspan\t"), ['unknown_unit', 'line 3', "'span'"]),
        (("\tNumFrames", "\tFrames"), ['bad_format']),
        (("100\t100\t3\t2", "x\t100\t3\t2"), ['bad_format', "'x'", 'line 3']),
        (("100\t100\t3\t2", "60\t60\t3\t2"), ['bad_units', '60 Hz', '100 rows']),
        (("2001\t3001\t\t\t\n", "2001\n"), ['truncated_file', 'line 8', '4 cells', '8 cells']),
        (("-6\t7\t8\n", "-6\t7\t8\t9\n"), ['truncated_file', 'line 9', '9 cells']),
        (("2000\t3000", "abc\t3000"), ['not_numbers', 'line 7', "column 'A.one y'", "'abc'"]),
        (("2000\t3000", "0,50\t3000"), ['not_numbers', 'line 7', "'0,50'", '0.50']),
        (("100\t100\t3\t2", "100;5\t100\t3\t2"), ['bad_format', "'100;5'"]),
        (("2000\t3000", "1_0\t3000"), ['not_numbers', 'line 7', "'1_0'"]),
        (("2000\t3000", "inf\t3000"), ['not_finite', 'line 7']),
        (("\t0.02\t", "\t0.01\t"), ['time_not_increasing', 'line 9']),
        (("\t0.02\t", "\t\t"), ['missing_samples', 'line 9']),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused_with_its_line(
    tmp_path: Path, edit: tuple[str, str], parts: list[str]
) -> None:
    path = sample(tmp_path, edit)
    with refused(*parts, str(path), "\n  expected: ", "\n  remedy: "):
        read_trc(path)


def test_missing_empty_binary_and_foreign_files_are_refused(tmp_path: Path) -> None:
    sample(tmp_path)
    with refused("missing_file", "sample.trc"):
        read_trc(tmp_path / "sampel.trc")
    with refused("missing_file"):
        read_trc(tmp_path)
    for content, code in ((b"", "truncated_file"), (b"\x02P\0\0", "bad_format"), (b"a,b\n1,2\n", "bad_format"),
                          (b"PathFileType 4\nDataRate\n", "truncated_file")):  # fmt: skip
        (tmp_path / "bad.trc").write_bytes(content)
        with refused(code, "bad.trc", "expected: ", "remedy: "):
            read_trc(tmp_path / "bad.trc")


@given(cut=st.integers(0, len(SAMPLE) - 2))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_anywhere_is_refused_or_its_rows_are_whole(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "cut.trc"
    path.write_text(SAMPLE[:cut], encoding="utf-8")
    # Only inside the very last number can a cut go unseen: nothing in the format tells.
    if cut < len(SAMPLE) - 2:
        try:
            found = read_trc(path)
        except InputError:
            return
        whole = read_trc(sample(tmp_path)).position[: found.time.size]
        np.testing.assert_array_equal(found.position, whole)
        assert found.time.size < 3 and found.row_warning


@pytest.mark.parametrize("name", ["", " A", "A\tB", "A\nB", "A\rB"])
def test_names_the_format_cannot_hold_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.trc"
    with refused("bad_value", "x.trc"):
        write_trc(path, Markers(np.arange(2.0), (name,), np.ones((2, 1, 3)), path))
    assert not list(tmp_path.iterdir())


def two_markers() -> Markers:
    return Markers(np.arange(3.0), ("A", "B"), np.ones((3, 2, 3)), Path("two.trc"))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"names": ("A", "A")}, {}, ("duplicate_name", "'A'")),
        ({"names": ("A",)}, {}, ("bad_shape", "3 frames", "1 names")),
        ({"names": (), "position": np.ones((3, 0, 3))}, {}, ("missing_marker",)),
        ({"time": np.arange(2.0)}, {}, ("bad_shape", "2 frames", "2 names")),
        ({"time": np.array([0.0, 2.0, 1.0])}, {}, ("time_not_increasing",)),
        ({"time": np.array([0.0, 1.0, np.inf])}, {}, ("time_not_increasing",)),
        ({"position": np.full((3, 2, 3), np.inf)}, {}, ("not_finite", "'A'", "inf", "0 s")),
        ({"position": np.full((3, 2, 3), "a")}, {}, ("not_numbers", "position")),
        ({"position": np.full((3, 2, 3), 1e11)}, {}, ("not_finite", "'A'", "1e+14")),
        ({}, {"units": "km"}, ("unknown_name", "units", "'km'")),
        ({}, {"units": ["mm"]}, ("unknown_name", "units")),
        ({}, {"decimals": -1}, ("bad_number", "-1")),
        ({}, {"decimals": 2.5}, ("bad_number", "2.5")),
    ],
)
def test_what_the_reader_would_not_take_back_is_not_written(
    tmp_path: Path, change: dict, options: dict, message: tuple[str, ...]
) -> None:
    with refused(*message, "expected: "):
        write_trc(tmp_path / "x.trc", replace(two_markers(), **change), **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("no/x.trc", ("not_writable", "x.trc")),
        (".", ("not_writable",)),
        ("a.trc/x.trc", ("not_writable", "x.trc")),
    ],
)
def test_a_place_that_takes_no_file_is_named(tmp_path: Path, place: str, message: tuple[str, ...]) -> None:
    (tmp_path / "a.trc").write_text("")
    with refused(*message):
        write_trc(tmp_path / place, two_markers())
    assert [found.name for found in tmp_path.iterdir()] == ["a.trc"]


@pytest.mark.parametrize(
    "call", [read_trc, read_mot, read_c3d, read_csv_markers, read_csv_forces, read_camera_file]
)
def test_what_is_no_path_is_refused(call: Callable) -> None:
    for nothing in (5, None):
        with refused("bad_type", str(nothing)):
            call(nothing)


def test_a_number_that_nothing_measured_is_refused_with_its_place(tmp_path: Path) -> None:
    with refused("not_finite", "line 8", "'A.one y'", "1"):
        read_trc(sample(tmp_path, ("2001", "1e300")))


@pytest.mark.parametrize("stated", ["4", "2", "0", "1000000", "1.5", "-3"])
def test_another_count_of_rows_is_a_warning(tmp_path: Path, stated: str) -> None:
    """Trimmed files keep the count of the whole recording."""
    plain = read_trc(sample(tmp_path))
    found = read_trc(sample(tmp_path, ("100\t100\t3\t2", f"100\t100\t{stated}\t2")))
    assert plain.sentences == []
    assert f"holds 3 rows of data, its header states {stated}" in found.row_warning
    assert "correct the number in its header" in found.row_warning.remedy
    assert found.sentences == [found.row_warning]
    np.testing.assert_array_equal(found.position, plain.position)


def test_the_row_in_which_a_file_is_cut_short_does_not_count(tmp_path: Path) -> None:
    plain = read_trc(sample(tmp_path))
    path = sample(tmp_path, ("100\t100\t3\t2", "100\t100\t5\t2"))
    path.write_text(path.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    found = read_trc(path)
    assert "the last row is left out" in found.row_warning and "header" not in found.row_warning.remedy
    np.testing.assert_array_equal(found.position, plain.position[:2])
    text = sample(tmp_path).read_text(encoding="utf-8").rstrip("\n")
    path.write_text(text.rpartition("\t")[0], encoding="utf-8")  # cut within a row, the header is right
    assert "header" not in read_trc(path).row_warning.remedy


@pytest.mark.thorough
def test_a_trial_with_a_trimmed_file_is_read(tmp_path: Path) -> None:
    """The results say so, check warns once, and the numbers are those of the same rows with the right count."""
    path = write_trial(tmp_path)
    before, plain = examined(path), read_trial(path)
    for file in ("walk.trc", "static.trc"):
        text, rows = (tmp_path / file).read_text(encoding="utf-8"), read_trc(tmp_path / file).time.size
        (tmp_path / file).write_text(text.replace(f"\t{rows}\t", "\t9999\t", 1), encoding="utf-8")
    trial = read_trial(path)
    np.testing.assert_array_equal(trial.markers.position, plain.markers.position)
    notes = [note for note in trial.notes if "its header states 9999" in note]
    assert len(notes) == 2 and notes[1].startswith("Standing trial: ")
    report = examined(path)
    assert set(report.codes) == {*before.codes, "truncated"}
    found = [finding for finding in report.findings if finding.code == "truncated"]
    assert [(each.severity, each.where.file) for each in found] == [
        ("warning", tmp_path / "walk.trc"),
        ("warning", tmp_path / "static.trc"),
    ]


def test_a_real_trimmed_file() -> None:
    found = read_trc(recorded("addbiomechanics/odd_files/trimmed_fewer_frames_than_stated.trc"))
    assert found.time.size == 131 and "its header states 238" in found.row_warning

"""Rows of numbers out of text: piece by piece, the same numbers and the same complaints wherever the pieces end."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from musclesolve.tables import Markers, Table, read_mot, read_trc, write_mot, write_trc
from musclesolve.tables import number_rows as rows
from tests.support.refusals import refused


def walk(frames: int, count: int, path: Path) -> Markers:
    rng = np.random.default_rng(4)
    position = rng.normal(size=(frames, count, 3))
    position[::7, 0] = np.nan
    return Markers(np.arange(frames) / 100.0, tuple(f"M{k}" for k in range(count)), position, path)


def peak_of(read: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_reading_needs_the_memory_of_twice_the_numbers_whatever_the_text(tmp_path: Path) -> None:
    markers = walk(8000, 40, tmp_path / "x.trc")
    write_trc(markers.path, markers, decimals=3)
    table = Table(markers.time, tuple("abcdefgh"), markers.position[:, :8, 0], False, tmp_path / "x.mot")
    write_mot(table.path, table)
    # A few pieces of text, as lines and as numbers, whatever the size of the file.
    pieces = 12 * rows.PIECE
    assert peak_of(lambda: read_trc(markers.path)) < 2.1 * markers.position.nbytes + pieces
    assert peak_of(lambda: read_mot(table.path)) < 2.4 * table.values.nbytes + pieces


@pytest.mark.parametrize("piece", [1, 7, 64, 10_000])
def test_where_the_pieces_end_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    markers = walk(30, 3, tmp_path / "x.trc")
    write_trc(markers.path, markers, decimals=6)
    whole = read_trc(markers.path)
    monkeypatch.setattr(rows, "PIECE", piece)
    np.testing.assert_array_equal(read_trc(markers.path).position, whole.position)
    np.testing.assert_allclose(whole.position, markers.position, atol=1e-9)
    lines = markers.path.read_text().split("\n")
    lines[20] = lines[20].replace("\t", "\tx", 3)
    markers.path.write_text("\r\n".join(lines))
    with refused("not_numbers", "line 21", "'Time'"):
        read_trc(markers.path)


@pytest.mark.parametrize(("count", "last"), [(2, "'1.0x1'"), (10, "'1.0x9'"), (12, "and 2 more")])
def test_all_faulty_cells_are_named_at_once_up_to_ten(tmp_path: Path, count: int, last: str) -> None:
    markers = walk(30, 3, tmp_path / "x.trc")
    write_trc(markers.path, markers)
    lines = markers.path.read_text().split("\n")
    for k in range(count):
        lines[10 + k] = "\t".join([*lines[10 + k].split("\t")[:-1], f"1.0x{k}"])
    markers.path.write_text("\n".join(lines))
    with refused("not_numbers", "line 11", "'1.0x0'", "line 12", last):
        read_trc(markers.path)


@pytest.mark.parametrize(("column", "helps"), [(0, False), (1, False), (2, True)])
def test_nan_is_a_remedy_only_where_a_cell_may_be_missing(tmp_path: Path, column: int, helps: bool) -> None:
    markers = walk(30, 3, tmp_path / "x.trc")
    write_trc(markers.path, markers)
    lines = markers.path.read_text().split("\n")
    cells = lines[20].split("\t")
    cells[column] = "1.0x"
    markers.path.write_text("\n".join([*lines[:20], "\t".join(cells), *lines[21:]]))
    with refused("not_numbers", "line 21", "'1.0x'") as raised:
        read_trc(markers.path)
    assert ("write nan" in str(raised.value)) == helps


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.5\t", " 0.5 \t"),
        ("0.5\t", "5e-1\t"),
        ("\t0.5\t", "\t+.5\t"),
        ("\t\t\t", "\t \t\t"),
        ("\n", "\n\n"),
    ],
)
def test_cells_written_otherwise_are_the_same_numbers(tmp_path: Path, old: str, new: str) -> None:
    markers = walk(4, 2, tmp_path / "x.trc")
    markers = replace(markers, position=np.where(np.isnan(markers.position), np.nan, 0.5))
    write_trc(markers.path, markers, units="m", decimals=1)
    plain = read_trc(markers.path)
    text = markers.path.read_text()
    head, body = text[: text.index("\n1\t")], text[text.index("\n1\t") :]
    assert old in body
    markers.path.write_text(head + body.replace(old, new))
    np.testing.assert_array_equal(read_trc(markers.path).position, plain.position)
    assert np.isnan(plain.position[0, 0]).all() and (plain.position[1:] == 0.5).all()


def test_a_file_without_line_ends_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "LONGEST_LINE", 1000)
    monkeypatch.setattr(rows, "PIECE", 100)
    path = tmp_path / "x.trc"
    path.write_text("PathFileType 4\n" + "1.5 " * 100_000)
    with refused("bad_format", "1000"):
        read_trc(path)


def test_a_zero_byte_far_into_the_file_is_named_for_what_it_is(tmp_path: Path) -> None:
    markers = walk(5000, 20, tmp_path / "x.trc")
    write_trc(markers.path, markers)
    raw = bytearray(markers.path.read_bytes())
    raw[-50] = 0
    markers.path.write_bytes(raw)
    with refused("bad_format", "x.trc"):
        read_trc(markers.path)

"""Text files damaged in every way: a clear refusal, or numbers of the right shape; never anything else."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from musclesolve.errors import InputError
from musclesolve.laboratory import read_forces_table, read_markers
from musclesolve.tables import Markers, Table
from musclesolve.tables import number_rows as rows

TRC = (
    "PathFileType\t4\t(X/Y/Z)\tsample.trc\n"
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
    "100\t100\t4\t2\tmm\t100\t1\t4\n"
    "Frame#\tTime\tA.öne\t\t\tB two\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
    "1\t0.00\t1000\t2000\t3000\t-4\t5\t6\n2\t0.01\t1001\t2001\t3001\t\t\t\n"
    "3\t0.02\t1002\t2002\t3002\t-6\t7\t8\n4\t0.03\t1003\t2003\t3003\t-7\t7.5\t8e0\n"
)
MOT = (
    "some motion\nversion=1\nnRows=4\nnColumns=3\ninDegrees=no\nendheader\ntime\tforce_vx\tforce_vy\n"
    "0.000\t1.5\t-2\n0.001\t2.5\tnan\n0.002\t3.5e1\t-4\n0.003\t1.25\t7\n"
)
CSV = (
    "Frame,time,A_x [mm],A_y [mm],A_z [mm],B one_x [mm],B one_y [mm],B one_z [mm]\n"
    '1,0.00,1000,2000.5,3000,-4,5,6\n2,0.01,1001,2001.5,3001,,,\n3,0.02,1002,"2002.5",3002,-6,7,8\n'
)
GERMAN = CSV.replace(",", ";").replace(".", ",")
VICON = (
    "Trajectories\n100\n,,P:A,,,B,,\nFrame,Sub Frame,X,Y,Z,X,Y,Z\n,,mm,mm,mm,mm,mm,mm\n"
    "1,0,1000,2000.5,3000,-4,5,6\n2,0,1001,2001.5,3001,,,\n3,0,1002,2002.5,3002,-6,7,8\n"
)
FORCES = "time,fx [N],px [mm],mz\n0.0,1,2,3\n0.001,1.5,,3\n0.002,1,2,4\n"

SOURCES = [
    ("a.trc", TRC),
    ("b.mot", MOT),
    ("c.csv", CSV),
    ("d.csv", GERMAN),
    ("e.csv", VICON),
    ("forces.csv", FORCES),
]

CELLS = [
    "", " ", "nan", "-nan", "inf", "1e999", "1e-999", "0x10", "1_000", "1,5", "1.5", "--1", "٣", "1e5", "+.5", "\"",
    "\"1", "'", "#", "true", "9" * 400, "-0", "1\x0b2", "\x1c", "\u2028", "\ufeff", "é", "=1+1", "1;2", "\t", ",",
    ";", "\n", "\r",
]  # fmt: skip
ENCODINGS = ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "utf-7"]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def flipped(draw: st.DrawFn, raw: bytes) -> bytes:
    changed = bytearray(raw)
    for place in draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=5)):
        changed[place] = draw(st.integers(0, 255))
    return bytes(changed)


def cut(draw: st.DrawFn, raw: bytes) -> bytes:
    start, end = sorted(draw(st.tuples(st.integers(0, len(raw)), st.integers(0, len(raw)))))
    return draw(st.sampled_from([raw[:end], raw[start:], raw[:start] + raw[end:]]))


def lines_moved(draw: st.DrawFn, raw: bytes) -> bytes:
    lines = raw.split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        one, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        move = draw(st.sampled_from(["swap", "copy", "drop"]))
        if move == "swap":
            lines[one], lines[other] = lines[other], lines[one]
        elif move == "copy":
            lines.insert(one, lines[other])
        elif len(lines) > 1:
            lines.pop(one)
    return draw(st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r"])).join(lines)


def cells_changed(draw: st.DrawFn, raw: bytes) -> bytes:
    text = raw.decode()
    marks = [k for k, letter in enumerate(text) if letter in "\t,;=\n"]
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.sampled_from(marks)) + 1
        end = next((k for k in range(start, len(text)) if text[k] in "\t,;=\n"), len(text))
        text = text[:start] + draw(st.sampled_from(CELLS)) + text[end:]
        marks = [k for k, letter in enumerate(text) if letter in "\t,;=\n"]
    return text.encode()


def recoded(draw: st.DrawFn, raw: bytes) -> bytes:
    return raw.decode().encode(draw(st.sampled_from(ENCODINGS)))


def anything(draw: st.DrawFn, raw: bytes) -> bytes:
    return draw(st.binary(max_size=300))


DAMAGES: list[Callable[[st.DrawFn, bytes], bytes]] = [
    flipped,
    cut,
    lines_moved,
    cells_changed,
    recoded,
    anything,
]


@st.composite
def damaged(draw: st.DrawFn, damages: list[Callable[[st.DrawFn, bytes], bytes]]) -> tuple[str, bytes]:
    name, text = draw(st.sampled_from(SOURCES))
    raw = text.encode()
    for damage in damages:
        raw = damage(draw, raw) if raw else raw
    return name, raw


def read(path: Path) -> Markers | Table:
    forces = path.suffix == ".mot" or path.name == "forces.csv"
    return read_forces_table(path) if forces else read_markers(path)


def is_sound(found: Markers | Table) -> None:
    numbers = found.position if isinstance(found, Markers) else found.values
    count = len(found.time)
    assert count >= 2 and (np.diff(found.time) > 0).all() and np.isfinite(found.time).all()
    assert len(set(found.names)) == len(found.names) and all(isinstance(name, str) for name in found.names)
    shape = (count, len(found.names), 3) if isinstance(found, Markers) else (count, len(found.names))
    assert numbers.shape == shape and numbers.dtype == np.float64 and not np.isinf(numbers).any()
    if isinstance(found, Markers):
        lost = np.isnan(numbers)
        assert (lost.any(axis=-1) == lost.all(axis=-1)).all() and found.names
    else:
        assert found.lines.shape == (count,)


def refused_or_sound(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)
    try:
        found = read(path)
    except InputError as refusal:
        assert refusal.expected and refusal.remedy and str(path) in str(refusal)
        assert len(str(refusal)) < 2000 + 2 * len(str(path))
    else:
        is_sound(found)


@pytest.mark.parametrize("name", [name for name, _ in SOURCES])
def test_the_sound_ones_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(dict(SOURCES)[name], encoding="utf-8")
    is_sound(read(tmp_path / name))


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_one_kind_of_damage(folder: Path, damage: Callable[[st.DrawFn, bytes], bytes]) -> None:
    @settings(max_examples=examples(150))
    @given(damaged([damage]))
    def check(case: tuple[str, bytes]) -> None:
        refused_or_sound(folder / case[0], case[1])

    check()


@settings(max_examples=examples(150))
@given(data=st.data(), piece=st.sampled_from([3, 50, 1 << 18]))
def test_several_kinds_of_damage_wherever_the_pieces_end(
    folder: Path, data: st.DataObject, piece: int
) -> None:
    damages = data.draw(st.lists(st.sampled_from([flipped, cut, lines_moved]), min_size=1, max_size=3))
    name, raw = data.draw(damaged(damages))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "PIECE", piece)
        refused_or_sound(folder / name, raw)


def test_what_is_no_file_at_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.trc").mkdir()
    os.symlink(tmp_path / "x.trc", tmp_path / "x.trc")
    for name in ("folder.trc", "x.trc", "n\0.trc", "a" * 300 + ".trc"):
        with pytest.raises(InputError):
            read_markers(tmp_path / name)


@pytest.mark.parametrize("blank", ["\u2028", "\u3000\n", "\u2028\n\u2028"])
def test_a_last_line_of_white_space_beyond_ascii_is_no_row(tmp_path: Path, blank: str) -> None:
    path, text = tmp_path / "b.mot", dict(SOURCES)["b.mot"]
    path.write_text(text, encoding="utf-8")
    sound = read_forces_table(path)
    path.write_text(text + blank, encoding="utf-8")
    assert read_forces_table(path).values.shape == sound.values.shape

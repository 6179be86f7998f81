"""Exports of capture software: the numbers that were measured come back from each of them, or the reason is named."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from capture_exports import dflow, motive, nexus, qualisys, qualisys_plate, written

from musclesolve.errors import InputError
from musclesolve.laboratory import read_forces_table, read_markers
from musclesolve.laboratory.files.formats import convert, read_channels
from musclesolve.tables import Markers, Table, write_mot, write_trc
from tests.support.refusals import refused

NAMES = ("RASI", "LASI", "R Knee")
RATE, SAMPLES = 100.0, 10


@pytest.fixture
def recorded() -> Markers:
    """A walk of three markers in 40 frames; one is lost for a while."""
    position = np.round(np.random.default_rng(1).uniform(-1.5, 1.5, (40, 3, 3)), 6)
    position[10:14, 1] = np.nan
    return Markers(np.arange(40) / RATE, NAMES, position, Path("walk.trc"))


def plate(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force, free moment and center of pressure of 400 samples, with z up."""
    rng = np.random.default_rng(seed)
    force = np.round(rng.uniform([-80.0, -80.0, 500.0], [80.0, 80.0, 800.0], (400, 3)), 4)
    moment = np.round(rng.uniform(-5.0, 5.0, (400, 3)) * [0.0, 0.0, 1.0], 6)
    return force, moment, np.round(rng.uniform(-0.3, 0.3, (400, 3)) * [1.0, 1.0, 0.0], 6)


def same(found: Markers, recorded: Markers, prefix: str = "") -> None:
    assert found.names == tuple(prefix + name for name in recorded.names)
    np.testing.assert_allclose(found.time, recorded.time, atol=1e-9)
    np.testing.assert_allclose(found.position, recorded.position, atol=1e-8)


@pytest.mark.parametrize("titles", [True, False])
@pytest.mark.parametrize("clock", [True, False])
@pytest.mark.parametrize("types", [True, False])
@pytest.mark.parametrize("end", ["", "\t"])
@pytest.mark.parametrize("name", ["walk.tsv", "walk.txt", "walk.csv"])
def test_markers_of_qualisys(
    tmp_path: Path, recorded: Markers, titles: bool, clock: bool, types: bool, end: str, name: str
) -> None:
    found = read_markers(qualisys(tmp_path / name, recorded, titles, clock, types, end))
    same(found, recorded)
    assert "mm" in found.notes[0]


@pytest.mark.every_pair
@pytest.mark.parametrize("titles", [True, False])
@pytest.mark.parametrize("clock", [True, False])
@pytest.mark.parametrize("end", ["", "\t"])
@pytest.mark.parametrize("lost", [slice(0, 5), slice(None)])
def test_a_last_marker_that_is_lost_moves_no_column(
    tmp_path: Path, recorded: Markers, titles: bool, clock: bool, end: str, lost: slice
) -> None:
    recorded.position[lost, 2] = np.nan
    path = tmp_path / "walk.tsv"
    same(read_markers(qualisys(path, recorded, titles, clock, end=end)), recorded)
    if clock and not titles:  # frames, or times, alone
        for left_out in (0, 1):
            rows = [line.split("\t") for line in path.read_text().splitlines()]
            rows = [row[:left_out] + row[left_out + 1 :] if row[0].isdecimal() else row for row in rows]
            same(read_markers(written(tmp_path / "b.tsv", ["\t".join(row) for row in rows])), recorded)


def test_lost_markers_of_qualisys_are_words_or_zeros(tmp_path: Path, recorded: Markers) -> None:
    path = qualisys(tmp_path / "walk.tsv", recorded, titles=True, clock=True)
    for instead in ("NULL\tNULL\tNULL", "0.000\t0.000\t0.000"):
        text = path.read_text().replace("\t\t\t\t", f"\t{instead}\t")
        same(read_markers(written(tmp_path / "other.tsv", text.splitlines())), recorded)


def test_plates_of_qualisys_are_read_together(tmp_path: Path) -> None:
    time = np.arange(400) / 1000.0
    plates = [plate(k) for k in (1, 2)]
    for k, (force, moment, point) in enumerate(plates, start=1):
        qualisys_plate(tmp_path / f"walk_f_{k}.tsv", time, -force, -moment, point)
    found = read_forces_table(tmp_path / "walk_f_1.tsv")
    np.testing.assert_allclose(found.time, time, atol=1e-9)
    np.testing.assert_allclose(found.values, np.hstack([np.hstack(part) for part in plates]), atol=1e-8)
    assert found.names[:2] == ("plate_1_force_x", "plate_1_force_y") and found.names[-1] == "plate_2_point_z"
    assert "push on the plates" in found.notes[0]
    with refused("missing_marker", "a force plate"):
        read_markers(tmp_path / "walk_f_1.tsv")
    qualisys_plate(tmp_path / "walk_f_3.tsv", time[:-1], *(part[:-1] for part in plate(3)))
    with refused("conflict", "walk_f_3.tsv"):
        read_forces_table(tmp_path / "walk_f_1.tsv")


def test_other_exports_of_qualisys_say_what_they_hold(tmp_path: Path) -> None:
    head = ["NO_OF_FRAMES\t2", "NO_OF_BODIES\t1", "FREQUENCY\t100", "DATA_INCLUDED\t6D", "BODY_NAMES\tHip"]
    with refused("missing_marker", "6D"):
        read_markers(written(tmp_path / "walk_6d.tsv", [*head, "1\t2\t3", "1\t2\t3"]))
    head = ["NO_OF_SAMPLES\t3", "FREQUENCY\t1000", "DATA_INCLUDED\tANALOG", "CHANNEL_NAMES\tR_SOL\tR_TA"]
    path = written(tmp_path / "walk_a.tsv", [*head, "0.1\t0.2", "0.3\t0.4", "0.5\t0.6"])
    found = read_channels(path)
    assert found.names == ("R_SOL", "R_TA")
    np.testing.assert_allclose(found.time, [0.0, 0.001, 0.002])
    with refused("missing_marker", "analog"):
        read_markers(path)


def test_plates_of_qualisys_in_their_own_axes_are_refused(tmp_path: Path) -> None:
    path = qualisys_plate(tmp_path / "walk_f_1.tsv", np.arange(4) / 1000.0, *np.ones((3, 4, 3)))
    text = path.read_text().replace("Force data in world", "Force data in local (force plate) coordinates")
    path.write_text(text)
    with refused("bad_plate", "DESCRIPTION", "world"):
        read_forces_table(path)


@pytest.mark.parametrize("unit", ["Meters", "Millimeters"])
@pytest.mark.parametrize("version", ["1.23", "1.24"])
def test_markers_of_motive(tmp_path: Path, recorded: Markers, unit: str, version: str) -> None:
    found = read_markers(motive(tmp_path / "walk.csv", recorded, unit, version))
    same(found, recorded, "S1:")
    assert not found.notes
    with refused("missing_column", "Motive"):
        read_forces_table(tmp_path / "walk.csv")


def test_markers_that_motive_expects_count_where_none_was_exported(tmp_path: Path, recorded: Markers) -> None:
    text = motive(tmp_path / "a.csv", recorded, "Meters").read_text().splitlines()
    text[2] = text[2].replace(",Marker", ",Rigid Body")
    found = read_markers(written(tmp_path / "b.csv", text))
    assert found.names == ("S1:RASI",) and "expects" in found.notes[0]
    text[2] = text[2].replace(" Marker", "")
    with refused("missing_marker"):
        read_markers(written(tmp_path / "c.csv", text))


def test_markers_forces_and_signals_of_dflow(tmp_path: Path, recorded: Markers) -> None:
    forces = np.random.default_rng(2).uniform(-1.0, 900.0, (40, 18))
    path = dflow(tmp_path / "mocap.txt", recorded, forces)
    same(read_markers(path), recorded)
    found = read_forces_table(path)
    np.testing.assert_allclose(found.values[:, :18], forces, atol=1e-5)
    assert found.names[3] == "FP1.ForX" and found.roles[:6] == ("point",) * 3 + ("force",) * 3
    assert found.names[-1] == "Channel16.Anlg"


@pytest.mark.parametrize(
    "order",
    [
        ("devices", "joints", "model outputs", "trajectories"),
        ("trajectories", "devices", "joints"),
        ("model outputs", "trajectories", "devices"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_sections_of_nexus_in_any_order(
    tmp_path: Path, recorded: Markers, order: tuple[str, ...], separator: str, encoding: str
) -> None:
    signals = np.round(np.random.default_rng(3).normal(size=(3, 400)), 5)
    plates, emg = [plate(1), plate(2)], dict(zip(("R_SOL", "TA (left)", "TA (right)"), signals, strict=True))
    path = nexus(tmp_path / "walk.csv", recorded, plates, emg, SAMPLES, order, separator, encoding)
    same(read_markers(path), recorded, "S1:")
    found = read_forces_table(path)
    np.testing.assert_allclose(found.time, np.arange(400) / 1000.0, atol=1e-9)
    expected = np.hstack([np.hstack(part) for part in plates])
    np.testing.assert_allclose(found.values[:, :18], expected, atol=1e-5)
    assert found.names[0] == "Imported_AMTI_OR6_1_Force_Fx"
    assert found.names[-3:] == tuple(emg)
    for name, signal in emg.items():
        np.testing.assert_allclose(read_channels(path)[name], signal, atol=1e-5)


def test_moments_about_the_center_of_a_plate_become_free_moments(tmp_path: Path, recorded: Markers) -> None:
    plates = [plate(1), plate(2)]
    centers = np.array([[0.3, 0.2, -0.05], [0.9, -0.2, 0.0]])
    about = [
        (force, moment + np.cross(point - center, force), point)
        for (force, moment, point), center in zip(plates, centers, strict=True)
    ]
    path = nexus(tmp_path / "walk.csv", recorded, about, {"R_SOL": np.zeros(400)}, SAMPLES)
    found = read_forces_table(path)
    expected = np.hstack([np.hstack(part) for part in plates])
    np.testing.assert_allclose(found.values[:, :18], expected, atol=2e-3)
    assert "fixed points" in found.notes[-1]


def test_velocities_beside_trajectories_of_nexus_are_left_out(tmp_path: Path) -> None:
    axes = "Frame,Sub Frame,X,Y,Z,X',Y',Z',X,Y,Z,X',Y',Z'"
    text = [
        "Trajectories",
        "100",
        ",,A,,,,,,B,,,,,",
        axes,
        ",,mm,mm,mm,mm/s,mm/s,mm/s,mm,mm,mm,mm/s,mm/s,mm/s",
    ]
    rows = ["1,0,1,2,3,9,9,9,4,5,6,9,9,9", "2,0,1,2,3,9,9,9,4,5,6,9,9,9"]
    found = read_markers(written(tmp_path / "walk.csv", [*text, *rows]))
    np.testing.assert_allclose(found.position, 0.001 * np.tile([[[1.0, 2, 3], [4, 5, 6]]], (2, 1, 1)))


def test_text_may_be_compressed(tmp_path: Path, recorded: Markers) -> None:
    write_trc(tmp_path / "walk.trc", recorded, decimals=6)
    write_mot(tmp_path / "walk.mot", Table(np.arange(5.0), ("a",), np.ones((5, 1)), None, Path("walk.mot")))
    paths = [tmp_path / "walk.trc", tmp_path / "walk.mot"]
    paths.append(qualisys(tmp_path / "walk.tsv", recorded, titles=False, clock=False))
    for path in paths:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    same(read_markers(tmp_path / "walk.trc.gz"), recorded)
    same(read_markers(tmp_path / "walk.tsv.gz"), recorded)
    assert read_forces_table(tmp_path / "walk.mot.gz").names == ("a",)
    convert(tmp_path / "walk.tsv.gz", [tmp_path / "copy.trc"])
    np.testing.assert_allclose(read_markers(tmp_path / "copy.trc").position, recorded.position, atol=1e-8)
    whole = (tmp_path / "walk.trc.gz").read_bytes()
    for share in (0.1, 0.5, 0.99):
        (tmp_path / "cut.trc.gz").write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(InputError):
            read_markers(tmp_path / "cut.trc.gz")
    (tmp_path / "walk.c3d.gz").write_bytes(gzip.compress(b"x"))
    with refused("bad_format", "gzip"):
        read_markers(tmp_path / "walk.c3d.gz")


def test_motive_without_its_first_line(tmp_path: Path, recorded: Markers) -> None:
    """The size of the body shows the unit that the removed line stated."""
    path = motive(tmp_path / "walk.csv", recorded, "Millimeters")
    path.write_text(path.read_text().partition("\n")[2])
    found = read_markers(path)
    same(found, recorded, "S1:")
    assert "taken as mm" in "".join(found.notes)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("start", [0, 1])
def test_forces_of_cortex(tmp_path: Path, start: int, packed: bool) -> None:
    plates = [plate(seed) for seed in (1, 2)]
    numbers = [part for f, m, p in plates for part in (f, 1000.0 * p, 1000.0 * m[:, 2:])]
    titles = "\t".join(f"{name}{k}" for k in (1, 2) for name in ("FX", "FY", "FZ", "X", "Y", "Z", "MZ"))
    rows = ["\t".join([str(k), *map(repr, row)]) for k, row in enumerate(np.hstack(numbers).tolist(), start)]
    text = ["[Force Data]", "NumberOfForcePlates=2", "SampleRate=1000.000000", "NumberOfSamples=400"]
    raw = "\r\n".join([*text, f"#Sample\t{titles}", *rows, ""]).encode()
    path = tmp_path / ("walk.forces.gz" if packed else "walk.forces")
    path.write_bytes(gzip.compress(raw) if packed else raw)
    found = read_forces_table(path)
    np.testing.assert_allclose(found.time, np.arange(400) / 1000.0)
    wanted = np.hstack([np.hstack([f, p, m[:, 2:]]) for f, m, p in plates])
    np.testing.assert_allclose(found.values, wanted, atol=1e-9)
    assert found.names[:4] == ("plate_1_force_x", "plate_1_force_y", "plate_1_force_z", "plate_1_point_x")
    with refused("missing_marker"):
        read_markers(path)

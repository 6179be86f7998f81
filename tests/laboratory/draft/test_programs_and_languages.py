"""Folders as other programs and languages write them are drafted as the same recording."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from capture_exports import flat, lines, written

import musclesolve as ms
from musclesolve.laboratory import read_markers
from musclesolve.laboratory.draft.column_names import emg_channels
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.laboratory.files.text.csv_file import read_csv_columns, read_csv_forces, read_csv_markers
from musclesolve.laboratory.markers.marker_names import named_markers
from musclesolve.tables import read_mot, read_trc, write_mot, write_trc

STRIDE = ms.data.reference_stride().parent
SUBJECT = GivenSubject(mass_kg=70.25, stature_m=1.70, sex="male")


def plates() -> tuple[np.ndarray, np.ndarray]:
    """Times (S,) and force, point, moment (S, plate, 3, 3) of the stride."""
    forces = read_mot(STRIDE / "forces.mot")
    return forces.time, forces.values.reshape(len(forces.time), 2, 3, 3)


def kistler(path: Path) -> Path:
    """Two plates of BioWare: a preface, lines of plates, names and units."""
    time, of_plates = plates()
    force, point, moment = np.moveaxis(of_plates, 2, 0)
    columns = [
        column
        for k in (0, 1)
        for column in (
            *force[:, k].T,
            np.linalg.norm(force[:, k], axis=1),
            *point[:, k, :2].T,
            moment[:, k, 2],
        )
    ]
    head = [
        "BioWare(R)\t5.3.2.9",
        "Date:\t12 11 2020",
        "Sampling rate:\t1000",
        "",
        "\tPlate 1" + 7 * "\t" + "Plate 2",
    ]
    head[-1] += 6 * "\t"
    head += ["abs time (s)" + 2 * "\tFx\tFy\tFz\t|Ft|\tAx\tAy\tTz", "s" + 2 * "\tN\tN\tN\tN\tm\tm\tN.m"]
    return written(path, [*head, *lines(np.column_stack([time, *columns]), "\t")])


def visual3d(path: Path) -> Path:
    time, of_plates = plates()
    names = [name for k in (1, 2) for name in (f"FP{k}",) * 9]
    kinds = [kind for _ in (1, 2) for kind in ("FORCE", "COFP", "FREEMOMENT") for _ in range(3)]
    head = [["", *["walk.c3d"] * 19], ["", "TIME", *names], ["", "FRAME_NUMBERS", *kinds]]
    head += [["", *["ORIGINAL"] * 19], ["ITEM", "X", *["X", "Y", "Z"] * 6]]
    rows = np.column_stack([np.arange(len(time)) + 1, time, of_plates.reshape(len(time), -1)])
    return written(path, [*map("\t".join, head), *lines(rows, "\t")])


def test_bts(tmp_path: Path) -> None:
    walk = read_trc(STRIDE / "walk.trc")
    head = [
        "BTS ASCII format",
        "",
        "Type:         \tPoint 3D tracks",
        "Measure unit: \tmm",
        "",
        "Frames:       \t102",
    ]
    titles = [f"{name}.{axis}" for name in walk.names for axis in "XYZ"]
    head += ["Start time:   \t0.000", "", "\t".join([" Frame", "  Time", *titles, ""])]
    rows = np.column_stack([np.arange(len(walk.time)), walk.time, 1000.0 * flat(walk)])
    found = read_markers(written(tmp_path / "walk.emt", [*head, *(row + "\t" for row in lines(rows, "\t"))]))
    assert found.names == walk.names and not found.notes
    np.testing.assert_allclose(found.position, walk.position, atol=1e-8)


def test_a_stated_unit_counts_for_few_markers(tmp_path: Path) -> None:
    head = ["BTS ASCII format", "Measure unit:\tcm", "Frame\tTime\tA.X\tA.Y\tA.Z"]
    path = written(tmp_path / "a.emt", [*head, "1\t0.0\t100\t200\t300", "2\t0.1\t101\t200\t300"])
    np.testing.assert_allclose(read_csv_markers(path).position[0, 0], [1.0, 2.0, 3.0])


def test_markers_of_visual3d_need_the_time(tmp_path: Path) -> None:
    walk = read_trc(STRIDE / "walk.trc")
    names = [name for name in walk.names for _ in range(3)]
    head = [["", "walk.c3d"], ["", "TIME", *names], ["", "FRAME_NUMBERS", *["TARGET"] * len(names)]]
    head += [["", "ORIGINAL"], ["ITEM", "X", *["X", "Y", "Z"] * len(walk.names)]]
    rows = np.column_stack([np.arange(len(walk.time)) + 1, walk.time, flat(walk)])
    found = read_markers(written(tmp_path / "walk.txt", [*map("\t".join, head), *lines(rows, "\t")]))
    assert found.names == walk.names
    np.testing.assert_allclose(found.position, walk.position, atol=2e-6)
    head[1][1] = "FRAMES"
    with pytest.raises(ms.InputError, match="column of time"):
        read_markers(written(tmp_path / "walk.txt", [*map("\t".join, head), *lines(rows, "\t")]))


@pytest.mark.parametrize("write", [kistler, visual3d])
def test_a_folder_with_forces_of_another_program(tmp_path: Path, write) -> None:
    write_trc(tmp_path / "walk.trc", read_trc(STRIDE / "walk.trc"))
    (tmp_path / "walk.xlsx").write_bytes(b"PK\3\4")
    path = write(tmp_path / "walk_forces.txt")
    draft = draft_folder(tmp_path, subject=SUBJECT)
    content = tomllib.loads(draft.trials[0].text)
    assert [plate["side"] for plate in content["force"]] == ["r", "l"] and draft.unread == ()
    (workbook,) = draft.others
    assert workbook.startswith("walk.xlsx (") and "CSV" in workbook
    table, (time, of_plates) = read_csv_forces(path), plates()
    np.testing.assert_allclose(table.time, time, atol=1e-9)
    for k, plate in enumerate(content["force"]):
        force = (
            [f"{plate['force']}{axis}" for axis in "xyz"]
            if isinstance(plate["force"], str)
            else plate["force"]
        )
        np.testing.assert_allclose(
            np.stack([table[name] for name in force], axis=1), of_plates[:, k, 0], atol=1e-5
        )


def test_numbers_without_names_are_named_with_the_reason(tmp_path: Path) -> None:
    write_trc(tmp_path / "walk.trc", read_trc(STRIDE / "walk.trc"))
    written(tmp_path / "plate.txt", lines(np.arange(60.0).reshape(10, 6), ","))
    written(tmp_path / "notes.txt", ["The subject felt well."])
    draft = draft_folder(tmp_path, subject=SUBJECT)
    (unread,) = draft.unread
    assert unread.startswith("plate.txt") and "time" in unread and draft.others == ("notes.txt",)


@pytest.mark.parametrize(
    ("head", "names", "sides"),
    [
        (["Type,EMG", "Rate,2000"], ['"time"', '"EMG.RT SOLEUS, uV"', '"Ultium EMG.LT TIB.ANT., uV"'], "rl"),
        (["Label: SOL Sampling frequency: 2000"], ["X[s]", "SOL re: EMG 1 [V]", "TA li: EMG 2 [V]"], "rl"),
        ([], ["Zeit [s]", "Soleus rechts", "Tibialis anterior links"], "rl"),
    ],
)  # fmt: skip
def test_emg_of_other_programs(tmp_path: Path, head: list[str], names: list[str], sides: str) -> None:
    rows = np.column_stack([np.arange(40) / 2000.0, np.random.default_rng(1).normal(size=(40, 2))])
    table = read_csv_columns(written(tmp_path / "emg.csv", [*head, ",".join(names), *lines(rows, ",")]))
    np.testing.assert_allclose(table.values, rows[:, 1:], atol=1e-6)
    channels = emg_channels(table.names)
    assert list(channels.muscles.values()) == [("soleus",), ("tibialis_anterior",)]
    assert "".join(channels.sides.values()) == sides


def test_channels_of_another_clock_are_left_out(tmp_path: Path) -> None:
    slow, fast = np.arange(40) / 148.0, np.arange(40) / 2000.0
    rows = np.column_stack([fast, fast + 1.0, slow, slow, fast, fast + 2.0])
    titles = "X[s],SOL: EMG 1 [V],X[s],SOL: ACC X [g],X[s],TA: EMG 2 [V]"
    table = read_csv_columns(written(tmp_path / "emg.csv", [titles, *lines(rows, ",")]))
    assert table.names == ("SOL: EMG 1", "TA: EMG 2")
    assert any("SOL: ACC X" in note for note in table.notes)
    np.testing.assert_allclose(table.values, rows[:, [1, 5]], atol=1e-6)


@pytest.mark.parametrize(
    ("right", "left"),
    [("re_{}", "li_{}"), ("{}_rechts", "{}_links"), ("D{}", "G{}"), ("{}_D", "{}_G"), ("{} dx", "{} sx")],
)
def test_sides_of_other_languages(right: str, left: str) -> None:
    words = ("ASIS", "PSIS", "KNE", "KNM", "ANK", "ANM", "HEE", "TOE")
    names = [side.format(word) for word in words for side in (right, left)]
    english = named_markers([f"{side}_{word}" for word in words for side in "RL"])
    found = named_markers(names)
    assert len(found.mapping) == 16 == len(english.mapping)
    for landmark, marker in found.mapping.items():
        assert marker == names[[f"{s}_{w}" for w in words for s in "RL"].index(english.mapping[landmark])]


def test_a_letter_without_its_twin_is_no_side() -> None:
    assert not named_markers(["DASIS", "DKNE", "DANK", "DHEE", "DTOE", "DPSIS"]).mapping


def test_columns_of_forces_with_a_side(tmp_path: Path) -> None:
    write_trc(tmp_path / "walk.trc", read_trc(STRIDE / "walk.trc"))
    table = read_mot(STRIDE / "forces.mot")
    names = [
        f"{what}_{side}_{axis}"
        for side in ("re", "li")
        for what in ("GRF", "COP", "Moment")
        for axis in "xyz"
    ]
    write_mot(tmp_path / "walk_grf.mot", replace(table, names=tuple(names)))
    content = tomllib.loads(draft_folder(tmp_path, subject=SUBJECT).trials[0].text)
    assert [plate["side"] for plate in content["force"]] == ["r", "l"]

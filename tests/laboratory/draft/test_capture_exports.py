"""Folders of exports are drafted as the same recording in TRC and MOT: motion, forces, feet and EMG."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from capture_exports import dflow, motive, nexus, qualisys, qualisys_plate

import musclesolve as ms
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.tables import Markers, Table, read_mot, read_trc, write_mot, write_trc

SUBJECT = GivenSubject(mass_kg=70.25, stature_m=1.70, sex="male")
Files = Callable[[Path, Markers, Table], None]


def plates(forces: Table) -> np.ndarray:
    """Force, point and moment (S, plate, 3, 3), z up."""
    return forces.values.reshape(len(forces.time), 2, 3, 3)


def of_nexus(folder: Path, walk: Markers, forces: Table) -> None:
    samples = round(forces.rate / walk.rate)
    of_plates = [tuple(plates(forces)[:, k, role] for role in (0, 2, 1)) for k in (0, 1)]
    signal = np.random.default_rng(1).normal(size=(2, len(forces.time)))
    emg = {"R_SOL": signal[0], "L_SOL": signal[1]}
    path = nexus(folder / "walk.csv", walk, of_plates, emg, samples)
    path.write_text(path.read_text().replace("Devices\n1000\n", f"Devices\n{forces.rate:.0f}\n"))


def of_qualisys(folder: Path, walk: Markers, forces: Table) -> None:
    qualisys(folder / "walk.tsv", walk, titles=True, clock=True, types=True)
    for k in (0, 1):
        of_plate = plates(forces)[:, k]
        path = folder / f"walk_f_{k + 1}.tsv"
        qualisys_plate(path, forces.time, of_plate[:, 0], of_plate[:, 2], of_plate[:, 1])


def of_dflow(folder: Path, walk: Markers, forces: Table) -> None:
    at = [np.interp(walk.time, forces.time, column) for column in forces.values.T]
    values = np.stack(at, axis=1).reshape(-1, 2, 3, 3)[:, :, [1, 0, 2]]
    dflow(folder / "walk.txt", walk, values.reshape(-1, 18))


def of_motive(folder: Path, walk: Markers, forces: Table) -> None:
    motive(folder / "walk.csv", walk, "Millimeters")
    names = [f"FP{k}.{part}{axis}" for k in (1, 2) for part in ("For", "Cop", "Mom") for axis in "xyz"]
    write_mot(folder / "walk_grf.mot", replace(forces, names=tuple(names)))


def in_millimeters(folder: Path, walk: Markers, forces: Table) -> None:
    write_trc(folder / "walk.trc", walk)
    values = plates(forces) * np.array([1.0, 1000.0, 1000.0])[:, None]
    write_mot(folder / "walk_grf.mot", replace(forces, values=values.reshape(len(values), -1)))


@pytest.mark.parametrize(
    ("files", "markers", "forces"),
    [
        (of_nexus, "walk.csv", "walk.csv"),
        (of_qualisys, "walk.tsv", "walk_f_1.tsv"),
        (of_dflow, "walk.txt", "walk.txt"),
        (of_motive, "walk.csv", "walk_grf.mot"),
        (in_millimeters, "walk.trc", "walk_grf.mot"),
    ],
)
def test_a_folder_of_exports(tmp_path: Path, files: Files, markers: str, forces: str) -> None:
    stride = ms.data.reference_stride().parent
    walk, table = read_trc(stride / "walk.trc"), read_mot(stride / "forces.mot")
    files(tmp_path, walk, table)
    (tmp_path / "notes.txt").write_text("The subject felt well.\n")
    draft = draft_folder(tmp_path, subject=SUBJECT)
    (trial,) = draft.trials
    content = tomllib.loads(trial.text)
    assert content["files"] == {"markers": markers, "forces": forces}
    assert [plate["side"] for plate in content["force"]] == ["r", "l"]
    assert draft.unread == () and draft.others == ("notes.txt",)
    assert not trial.todos
    if files is in_millimeters:
        assert [(plate["point_unit"], plate["moment_unit"]) for plate in content["force"]] == [
            ("mm", "N mm")
        ] * 2
    if files is of_nexus:
        assert content["emg"]["file"] == "walk.csv" and set(content["emg"]["channels"]) == {"R_SOL", "L_SOL"}


def test_plates_without_a_load_are_no_forces(tmp_path: Path) -> None:
    stride = ms.data.reference_stride().parent
    walk, table = read_trc(stride / "walk.trc"), read_mot(stride / "forces.mot")
    of_dflow(tmp_path, walk, replace(table, values=0.0 * table.values))
    (trial,) = draft_folder(tmp_path, subject=SUBJECT).trials
    assert tomllib.loads(trial.text)["files"]["forces"] == "predicted"
    (todo,) = trial.todos
    assert "the forces in walk.txt stay below 20 N" in todo


@pytest.mark.parametrize(("thick", "factor", "said"), [(1.0, 1000.0, "millimeters"), (0.0, 300.0, "pixels")])
def test_no_body_is_so_large(tmp_path: Path, thick: float, factor: float, said: str) -> None:
    walk = read_trc(ms.data.reference_stride().parent / "walk.trc")
    write_trc(
        tmp_path / "walk.trc", replace(walk, position=walk.position * factor * [1.0, thick, 1.0]), units="m"
    )
    (trial,) = draft_folder(tmp_path, subject=SUBJECT).trials
    assert said in dict(trial.recognized)["motion"] and "running" not in dict(trial.recognized)["motion"]
    assert any(said in todo for todo in trial.todos)

"""Files as the programs and habits of other laboratories write them load with the numbers of the originals."""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from capture_exports import flat, lines, qualisys, written
from drafted_folders import drafted
from recorded_data import recorded

import musclesolve as ms
from musclesolve.laboratory import read_markers
from musclesolve.laboratory.draft.column_names import plates_of
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.laboratory.draft.folder_contents import folder_contents
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.laboratory.files.text.csv_file import read_csv_forces
from musclesolve.tables import Markers, read_mot, read_trc, write_trc
from musclesolve.tables.opensim_text import read_repaired
from tests.support.refusals import refused

STRIDE = ms.data.reference_stride().parent
SUBJECT = GivenSubject(mass_kg=70.25, stature_m=1.70, sex="male")


@pytest.fixture(scope="module")
def walk() -> Markers:
    return read_trc(STRIDE / "walk.trc")


def plates() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times (S,), and force, point and moment (S, plate, 3) of the stride."""
    forces = read_mot(STRIDE / "forces.mot")
    force, point, moment = np.moveaxis(forces.values.reshape(len(forces.time), 2, 3, 3), 2, 0)
    return forces.time, force, point, moment


def test_a_marker_out_of_sight_of_codamotion_is_a_gap(tmp_path: Path, walk: Markers) -> None:
    sight = np.ones((*walk.position.shape[:2], 1))
    sight[3:5, 2] = 0.0
    values = np.concatenate([1000.0 * walk.position, sight], axis=2).reshape(len(walk.time), -1)
    head = ["Time\t" + "\t".join(f"{name}.{part}" for name in walk.names for part in "XYZV")]
    head += ["s\t" + "\t".join("mm\tmm\tmm\t" for _ in walk.names)]
    found = read_markers(
        written(tmp_path / "walk.txt", [*head, *lines(np.column_stack([walk.time, values]), "\t")])
    )
    expected = walk.position.copy()
    expected[3:5, 2] = np.nan
    assert found.names == walk.names
    np.testing.assert_allclose(found.position, expected, atol=1e-8)


def test_plates_without_a_mapped_foot_name_the_mapping(tmp_path: Path) -> None:
    """A channel that the file lacks leaves the first plate; the names of the markers show no foot."""
    shutil.copytree(recorded("foreign_recordings/missing_channels"), tmp_path / "walk")
    codes = {each.code for each in ms.check(drafted(tmp_path / "walk")).findings if each.severity == "error"}
    assert codes == {"mapping", "trial_file"}  # that no foot is on a plate follows from it


def test_trajectories_of_workstation_state_no_unit(tmp_path: Path, walk: Markers) -> None:
    head = ["TRAJECTORIES", f"{walk.rate:.0f},Hz", "," + ",,,".join(f"S1:{name}" for name in walk.names)]
    head += ["Field #," + ",".join(["X,Y,Z"] * len(walk.names))]
    lead = [(str(k),) for k in range(1, len(walk.time) + 1)]
    found = read_markers(written(tmp_path / "walk.csv", [*head, *lines(1000.0 * flat(walk), ",", lead)]))
    assert found.names == tuple(f"S1:{name}" for name in walk.names) and "taken as mm" in found.sentences[0]
    np.testing.assert_allclose(found.position, walk.position, atol=1e-8)
    np.testing.assert_allclose(found.time, walk.time, atol=1e-6)


def test_matrices_of_matlab_are_markers(tmp_path: Path, walk: Markers) -> None:
    head = ",".join(["time", *(f"{name}_{k}" for name in walk.names for k in (1, 2, 3))])
    rows = lines(np.column_stack([walk.time, 1000.0 * flat(walk)]), ",")
    found = read_markers(written(tmp_path / "walk.csv", [head, *rows]))
    assert found.names == walk.names
    np.testing.assert_allclose(found.position, walk.position, atol=1e-8)


def test_times_of_a_storage_file_in_milliseconds(tmp_path: Path, walk: Markers) -> None:
    forces = read_mot(STRIDE / "forces.mot")
    head, rows = (STRIDE / "forces.mot").read_text().split("time", 1)
    names, *lines_of = rows.rstrip("\n").split("\n")
    cells = [line.split("\t", 1) for line in lines_of]
    timed = [f"{1000.0 * float(time):.5f}\t{rest}" for time, rest in cells]
    path = tmp_path / "forces.mot"
    path.write_text("\n".join([f"{head}time [ms]{names}", *timed, ""]))
    np.testing.assert_allclose(read_mot(path).time, forces.time, atol=1e-8)
    path.write_text("\n".join([f"{head}time{names}", *timed, ""]))
    write_trc(tmp_path / "walk.trc", walk)
    (tmp_path / "trial.toml").write_text(draft_folder(tmp_path, subject=SUBJECT).trials[0].text)
    with refused("bad_value", "time [ms]"):
        ms.read_trial(tmp_path / "trial.toml")


def test_a_header_of_motive_that_does_not_end_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "walk.csv", ["Format Version,1.23,Length Units,Meters", ",Type,Marker,Marker"])
    with refused("tables.no_column_time", "walk.csv"):
        read_markers(path)


def test_a_leg_without_markers_and_numbers_for_names_are_named(tmp_path: Path, walk: Markers) -> None:
    shown = [k for k, name in enumerate(walk.names) if not name.endswith("_l") or "si" in name]
    one = replace(walk, names=tuple(walk.names[k] for k in shown), position=walk.position[:, shown])
    write_trc(tmp_path / "walk.trc", one)
    assert (
        "on the left leg, and both legs are needed" in draft_folder(tmp_path, subject=SUBJECT).trials[0].text
    )
    count = range(1, 24)
    write_trc(
        tmp_path / "walk.trc", replace(walk, names=tuple(map(str, count)), position=walk.position[:, :23])
    )
    todos = draft_folder(tmp_path, subject=SUBJECT).trials[0].todos
    assert any("their names are numbers" in todo for todo in todos)


def test_a_letter_that_all_plates_have_names_no_foot(tmp_path: Path) -> None:
    time, force, point, moment = plates()
    head = "time," + ",".join(
        f"r gr_{k}.{part}{axis} [{unit}]"
        for k in (1, 2)
        for part, unit in (("F", "N"), ("P", "m"), ("M", "Nm"))
        for axis in "xyz"
    )
    values = np.stack([force, point, moment], axis=2).reshape(len(time), -1)
    path = written(tmp_path / "grf.csv", [head, *lines(np.column_stack([time, values]), ",")])
    assert [plate.side for plate in plates_of(read_csv_forces(path))] == [None, None]


def test_qualisys_states_the_number_of_its_rows(tmp_path: Path, walk: Markers) -> None:
    path = qualisys(tmp_path / "walk.tsv", walk, True, True)
    assert not read_markers(path).row_warning
    path.write_text(path.read_text().rstrip("\n").rpartition("\n")[0] + "\n")
    assert f"states {len(walk.time)}" in read_markers(path).row_warning


def test_a_minus_is_a_lost_marker_but_no_cut_number(tmp_path: Path, walk: Markers) -> None:
    head = ",".join(["time", *(f"{name}_{axis} [m]" for name in walk.names for axis in "xyz")])
    lost = replace(walk, position=walk.position.copy())
    lost.position[4, -1] = np.nan
    rows = [
        ",".join(cell or "-" for cell in row.split(","))
        for row in lines(np.column_stack([walk.time, flat(lost)]), ",")
    ]
    found = read_markers(written(tmp_path / "walk.csv", [head, *rows]))
    np.testing.assert_allclose(found.position, lost.position, atol=2e-6)
    cut = rows[3].rpartition(",")[0] + ",-"
    with pytest.raises(ms.InputError, match="behind the sign"):
        read_markers(written(tmp_path / "cut.csv", [head, *rows[:3], cut, *rows[4:]]))


@pytest.mark.parametrize("first", [True, False])
def test_a_duration_in_seconds_is_no_clock(tmp_path: Path, first: bool) -> None:
    forces = read_mot(STRIDE / "forces.mot")
    names, delay = list(forces.names), np.full(len(forces.time), 0.02)
    at = 0 if first else 10
    columns = np.insert(np.column_stack([forces.time, forces.values]), at, delay, axis=1)
    titles = ["time [s]", *names]
    titles.insert(at, "delay [s]")
    found = read_csv_forces(written(tmp_path / "grf.csv", [",".join(titles), *lines(columns, ",")]))
    assert list(found.names) == names
    np.testing.assert_allclose(found.values, forces.values, atol=1e-5)


def bertec(path: Path) -> Path:
    """Points of force beside moments about the corner of the laboratory."""
    time, force, point, moment = plates()
    about = np.cross(point, force) + moment
    parts = [part for k in (0, 1) for part in (force[:, k], about[:, k], point[:, k, :2])]
    kinds = ("Fx (N)", "Fy (N)", "Fz (N)", "Mx (N-m)", "My (N-m)", "Mz (N-m)", "CoPx (m)", "CoPy (m)")
    head = ",".join(["Time (s)", *(f"{k}:{kind}" for k in (1, 2) for kind in kinds)])
    return written(path, [head, *lines(np.column_stack([time, *parts]), ",")])


def mars(path: Path) -> Path:
    """The number of the plate behind the axis, decimal commas."""
    time, force, point, moment = plates()
    parts = [part for k in (0, 1) for part in (force[:, k], 1000.0 * point[:, k, :2], moment[:, k, 2])]
    kinds = (("Fx", "N"), ("Fy", "N"), ("Fz", "N"), ("COPx", "mm"), ("COPy", "mm"), ("Tz", "Nm"))
    head = ";".join(["Time [s]", *(f"{name} Plate {k} [{unit}]" for k in (1, 2) for name, unit in kinds)])
    rows = [row.replace(".", ",") for row in lines(np.column_stack([time, *parts]), ";")]
    return written(path, ["Measurement;walk", head, *rows])


def equal_names(path: Path) -> Path:
    """BioWare without the line of the plates: the same names for each plate."""
    time, force, point, moment = plates()
    parts = [part for k in (0, 1) for part in (force[:, k], point[:, k, :2], moment[:, k, 2])]
    head = ["abs time (s)" + 2 * "\tFx\tFy\tFz\tAx\tAy\tTz", "s" + 2 * "\tN\tN\tN\tm\tm\tN.m"]
    return written(path, [*head, *lines(np.column_stack([time, *parts]), "\t")])


@pytest.mark.parametrize(
    ("write", "name"), [(bertec, "grf.csv"), (mars, "grf.csv"), (equal_names, "grf.txt")]
)
def test_plates_of_other_programs(tmp_path: Path, walk: Markers, write, name: str) -> None:
    write_trc(tmp_path / "walk.trc", walk)
    write(tmp_path / name)
    draft = draft_folder(tmp_path, subject=SUBJECT)
    (drafted,) = draft.trials
    assert not drafted.todos and draft.unread == ()
    assert [plate["side"] for plate in tomllib.loads(drafted.text)["force"]] == ["r", "l"]
    (tmp_path / "trial.toml").write_text(drafted.text)
    trial, (_, force, point, moment) = ms.read_trial(tmp_path / "trial.toml"), plates()
    for k, plate in enumerate(trial.forces):
        loaded = force[:, k, 2] > 50.0
        np.testing.assert_allclose(plate.force, force[:, k], atol=1e-4)
        np.testing.assert_allclose(plate.point[loaded, :2], point[loaded, k, :2], atol=1e-3)
        np.testing.assert_allclose(plate.moment[loaded], moment[loaded, k], atol=0.1)


def test_repeated_columns_that_are_no_plate_do_not_stop_the_draft(tmp_path: Path, walk: Markers) -> None:
    write_trc(tmp_path / "walk.trc", walk)
    written(tmp_path / "odd.txt", ["time\tax\tax\tay", *lines(np.arange(40.0).reshape(10, 4), "\t")])
    (unread,) = folder_contents(tmp_path).unread
    assert "'ax' occurs twice" in unread


def test_a_trc_file_without_its_first_line_is_repaired_like_any_other(tmp_path: Path, walk: Markers) -> None:
    write_trc(tmp_path / "walk.trc", walk)
    text = (tmp_path / "walk.trc").read_text().partition("\n")[2]
    (tmp_path / "walk.trc").write_text(text.replace("60.000000", "100.000000"))
    faults: list[str] = []
    found = read_repaired(tmp_path / "walk.trc", read_trc, lambda name, error: faults.append(name))
    assert found is not None and faults == ["header_rate"]
    np.testing.assert_allclose(found.position, walk.position, atol=1e-6)


def test_faulty_cells_are_named_once_where_a_repair_moves_their_lines(tmp_path: Path, walk: Markers) -> None:
    write_trc(tmp_path / "walk.trc", walk)
    rows = (tmp_path / "walk.trc").read_text().splitlines()
    for row in (12, 15):
        rows[row] = rows[row].rpartition("\t")[0] + "\tx"
    (tmp_path / "walk.trc").write_text("\n".join([*rows[:8], rows[7], *rows[8:]]))
    faults = list[tuple[str, str]]()
    assert (
        read_repaired(
            tmp_path / "walk.trc", read_trc, lambda *fault: faults.append((fault[0], str(fault[1])))
        )
        is None
    )
    ((code, said),) = faults
    assert code == "unreadable" and "line 14" in said and "line 17" in said

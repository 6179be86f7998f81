"""A watched folder: one day of recordings, of which some are broken, late, or changed by hand."""

from __future__ import annotations

import csv
import shutil
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from many_trials import write_stride
from refusals import refused
from small_model import save_model
from small_model_motion import DOFS, save_inputs

import musclesolve as ms
from musclesolve import read_osim
from musclesolve.studies.many_trials.one_trial import attempt
from musclesolve.studies.many_trials.trial_record import Outcome, TrialRecord
from musclesolve.studies.many_trials.watch_folder import (
    Computer,
    Template,
    Watch,
    is_untouched,
    motion_of_cameras,
)

FRAMES = 40


@pytest.fixture(scope="module")
def protocol(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trial file of a short recording: `walk_markers.trc`, `walk_grf.mot`, with a range and events of its own."""
    folder = tmp_path_factory.mktemp("protocol")
    path = write_stride(folder, "protocol", '"walk.trc"', '"walk_markers.trc"')
    text = path.read_text(encoding="utf-8").replace('"forces.mot"', '"walk_grf.mot"')
    path.write_text(f"{text}\n[events]\nheel_strike_r = [0.31]\n", encoding="utf-8")
    lines = (folder / "walk.trc").read_text(encoding="utf-8").splitlines()
    lines[2] = lines[2].replace(lines[2].split("\t")[2], str(FRAMES), 1)
    (folder / "walk_markers.trc").write_text("\n".join(lines[: 6 + FRAMES]) + "\n", encoding="utf-8")
    (folder / "forces.mot").rename(folder / "walk_grf.mot")
    return path


@dataclass
class Day:
    """A folder that is watched by a clock that the test moves."""

    folder: Path
    protocol: Path
    now: float = 0.0

    def __post_init__(self) -> None:
        self.folder.mkdir()
        shutil.copy(self.protocol.parent / "static.trc", self.folder)
        self.watch = Watch(self.folder, Template(self.protocol), settled=2.0, clock=lambda: self.now)

    def save(self, name: str, markers: bool = True, forces: bool = True) -> None:
        """Save a recording, or the half of it."""
        for wanted, kind in ((markers, "markers.trc"), (forces, "grf.mot")):
            if wanted:
                shutil.copy(self.protocol.parent / f"walk_{kind}", self.folder / f"{name}_{kind}")

    def change(self, name: str, old: str, new: str) -> None:
        path = self.folder / name
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    def wait(self, seconds: float = 3.0) -> list[str]:
        """The recordings that are ready after some seconds without a change."""
        self.watch.look()
        self.now += seconds
        return [job.name for job in self.watch.look()]

    def work(self) -> dict[str, TrialRecord]:
        """Compute all that is ready; the records by name."""
        while self.wait():
            self.watch.take(attempt(self.watch.look()[0]))
        return {record.name: record for record in self.watch.records}


@pytest.fixture
def day(protocol: Path, tmp_path: Path) -> Day:
    return Day(tmp_path / "day", protocol)


def test_a_day_of_recordings_of_which_three_are_broken(day: Day) -> None:
    names = [f"walk_{number:02d}" for number in range(6)]
    for name in names:
        day.save(name)
    day.change("walk_03_markers.trc", "knee_lateral_r", "somewhere_else")  # a marker of another name
    day.change("walk_02_grf.mot", "time", "hour")  # a column of another name
    (day.folder / "walk_04_markers.trc").write_bytes(b"\0" * 4096)  # an export that failed
    records = day.work()
    assert sorted(records) == names
    broken = {name for name, record in records.items() if not record.outcome.has_result}
    assert broken == {"walk_02", "walk_03", "walk_04"}
    assert all(records[name].outcome is Outcome.REFUSED and records[name].message for name in broken)
    assert "knee_lateral_r" in records["walk_03"].message and "walk_02_grf.mot" in records["walk_02"].message
    with (day.watch.results / "trials.csv").open(encoding="utf-8") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert {name for name, row in rows.items() if row["status"] == "computed"} == {*names} - broken
    assert rows["walk_00"]["verdict"] and rows["walk_03"]["message"] == records["walk_03"].message
    # what was broken is saved again: this one alone is computed
    day.save("walk_04")
    assert day.wait() == ["walk_04"]
    assert day.work()["walk_04"].outcome is Outcome.COMPUTED


def test_recordings_come_by_the_numbers_in_their_names(day: Day) -> None:
    for name in ("walk_10", "walk_2", "walk_1"):
        day.save(name)
    assert day.wait() == ["walk_1", "walk_2", "walk_10"]
    for job in day.watch.look()[::-1]:
        day.watch.take(job.record(Outcome.REFUSED, "at fault"))
    with (day.watch.results / "trials.csv").open(encoding="utf-8") as file:
        assert [row["name"] for row in csv.DictReader(file)] == ["walk_1", "walk_2", "walk_10"]


@pytest.mark.thorough
def test_what_is_written_still_and_what_lacks_a_file_is_waited_for(day: Day) -> None:
    day.save("late", forces=False)
    path = day.folder / "slow_markers.trc"
    whole = (day.protocol.parent / "walk_markers.trc").read_bytes()
    day.save("slow", markers=False)
    for size in (1000, 5000, len(whole)):
        path.write_bytes(whole[:size])
        assert day.wait(1.0) == []
        assert day.watch.is_open
    assert day.wait(1.5) == ["slow"]
    assert [(each.name, each.outcome) for each in day.watch.records] == [("late", Outcome.WAITING)]
    assert "late_grf.mot" in day.watch.records[0].message
    (job,) = day.watch.look()
    path.touch()
    path.write_bytes(whole + b"\n")  # it changes while it is computed
    day.watch.look()
    day.watch.take(attempt(job))
    assert day.wait() == ["slow"]
    day.save("late", markers=False)
    assert set(day.work()) == {"late", "slow"} and not day.watch.is_open


def test_trial_files_have_what_holds_for_all_and_hands_may_change_them(day: Day) -> None:
    (day.folder / "P01").mkdir()
    day.save("P01/walk")
    (day.folder / "P01" / "subject.toml").write_text("[subject]\nmass_kg = 61.5\n", encoding="utf-8")
    assert day.wait() == ["P01-walk"]
    trial = day.folder / "P01-walk.toml"
    text = trial.read_text(encoding="utf-8")
    assert 'markers = "P01/walk_markers.trc"' in text and 'forces = "P01/walk_grf.mot"' in text
    assert 'static = "static.trc"' in text and "mass_kg = 61.5" in text and "stature_m = 1.7" in text
    assert "start_s" not in text and "heel_strike" not in text and is_untouched(text)
    day.work()
    (day.folder / "P01" / "subject.toml").write_text("[subject]\nmass_kg = 62.5\n", encoding="utf-8")
    assert day.wait() == ["P01-walk"] and "mass_kg = 62.5" in trial.read_text(encoding="utf-8")
    day.work()
    by_hand = trial.read_text(encoding="utf-8").replace("cutoff_hz = 15", "cutoff_hz = 12")
    trial.write_text(by_hand, encoding="utf-8")
    (day.folder / "P01" / "subject.toml").write_text("[subject]\nmass_kg = 63.5\n", encoding="utf-8")
    assert day.wait() == ["P01-walk"] and trial.read_text(encoding="utf-8") == by_hand
    (day.folder / "P01" / "subject.toml").write_text("[subject]\nmas_kg = 63.5\n", encoding="utf-8")
    assert day.wait() == []
    assert day.watch.records[0].outcome is Outcome.REFUSED and "mas_kg" in day.watch.records[0].message


def test_a_changed_template_holds_at_once_and_a_faulty_one_refuses(day: Day, tmp_path: Path) -> None:
    template = day.folder.parent / "own" / "protocol.toml"
    shutil.copytree(day.protocol.parent, template.parent)
    day.watch = Watch(day.folder, Template(template), settled=2.0, clock=lambda: day.now)
    day.save("walk01")
    assert day.wait() == ["walk01"]
    whole = template.read_text(encoding="utf-8")
    template.write_text(whole.replace("mass_kg = ", "mass_kg = 1"), encoding="utf-8")
    assert day.wait() == ["walk01"]
    assert "mass_kg = 1" in (day.folder / "walk01.toml").read_text(encoding="utf-8")
    template.write_text(f"{whole}\n[subjekt]\nx = 1\n", encoding="utf-8")
    assert day.wait() == []
    assert [record.outcome for record in day.watch.records] == [Outcome.REFUSED]
    assert "subjekt" in (day.watch.results / "walk01" / "error.txt").read_text(encoding="utf-8")
    template.write_text(whole, encoding="utf-8")
    assert day.wait() == ["walk01"]


def test_several_standing_trials_are_named(day: Day) -> None:
    day.save("walk_1")
    standing = day.folder / "static.trc"
    for number in (1, 2):
        shutil.copy(standing, day.folder / f"static_{number}.trc")
    standing.unlink()
    assert day.wait() == []
    (record,) = day.watch.records
    assert record.outcome is Outcome.WAITING
    assert "static_1.trc and static_2.trc" in record.message
    (day.folder / "static_1.trc").rename(standing)  # the remedy
    assert day.wait() == ["walk_1"]


def test_a_misspelt_folder_is_named(day: Day) -> None:
    slip = day.folder.with_name(f"{day.folder.name}x")
    with refused("missing_file", f"did you mean '{day.folder.name}'"):
        Watch(slip, Template(day.protocol))


def test_two_watch_no_folder_together(day: Day, tmp_path: Path) -> None:
    other = Watch(day.folder, Template(day.protocol), output=tmp_path / "elsewhere")
    said = list[str]()

    def second() -> None:
        with refused("busy", str(day.folder), "whatever -o is"), other.held():
            pass
        said.append("refused")

    with day.watch.held():
        thread = Thread(target=second)
        thread.start()
        thread.join()
    assert said == ["refused"]
    with other.held():  # the first has ended
        pass


def test_what_is_no_recording_of_a_motion_is_passed_over(day: Day) -> None:
    for name in ("static_2_markers.trc", "hip_star_arc_markers.trc", ".hidden_markers.trc", "notes.txt"):
        shutil.copy(day.protocol.parent / "walk_markers.trc", day.folder / name)
    assert day.wait() == [] and day.watch.records == []


def test_a_folder_or_a_template_that_cannot_be_used_is_refused(protocol: Path, tmp_path: Path) -> None:
    with refused("missing_file"):
        Watch(tmp_path / "none", Template(protocol))
    with refused("conflict"):
        Watch(tmp_path, Template(protocol), output=tmp_path)
    text = protocol.read_text(encoding="utf-8")
    other = tmp_path / "other.toml"
    other.write_text(text.replace('"walk_grf.mot"', '"plates.mot"'), encoding="utf-8")
    with refused("bad_name", "[files] forces"):
        Template(other)


def test_a_process_that_dies_costs_its_own_recording(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    day.save("walk_1")
    day.wait()
    (job,) = day.watch.look()
    monkeypatch.setattr("musclesolve.studies.many_trials.watch_folder.TASK", ("os", "abort"))
    computer = Computer()
    record = computer(job)
    assert record.outcome is Outcome.FAILED and record.message
    day.watch.take(record)
    assert not day.watch.is_open and (day.watch.results / "walk_1" / "error.txt").is_file()


def models(folder: Path) -> Path:
    """The trial file of a small OpenSim model, with the moments of a motion."""
    folder.mkdir()
    small = read_osim(save_model(folder))
    for file, name in zip(save_inputs(folder, small), ("walk_03_ik.mot", "walk_03_id.sto"), strict=True):
        file.rename(folder / name)
    path = folder / "trial.toml"
    files = 'model = "small.osim"\ncoordinates = "walk_03_ik.mot"\nmoments = "walk_03_id.sto"\n'
    path.write_text(f"[files]\n{files}[sharing]\ndofs = {list(DOFS)}\n", encoding="utf-8")
    return path


def test_recordings_of_a_model_wait_for_their_moments(tmp_path: Path) -> None:
    protocol, folder, now = models(tmp_path / "protocol"), tmp_path / "day", [0.0]
    (folder / "P01").mkdir(parents=True)
    watch = Watch(folder, Template(protocol), settled=0.0, clock=lambda: now[0])
    for place in (folder, folder / "P01"):
        shutil.copy(protocol.parent / "walk_03_ik.mot", place / "walk_07_ik.mot")
    assert watch.look() == []
    assert {record.message for record in watch.records} == {"waits for walk_07_id.sto"}
    for place in (folder, folder / "P01"):
        shutil.copy(protocol.parent / "walk_03_id.sto", place / "walk_07_id.sto")
    shutil.copy(protocol.parent / "small.osim", folder / "P01" / "scaled.osim")
    jobs = {job.name: job for job in watch.look()}
    assert {*jobs} == {"walk_07", "P01-walk_07"}
    assert 'model = "../protocol/small.osim"' in jobs["walk_07"].trial.read_text(encoding="utf-8")
    assert 'model = "P01/scaled.osim"' in jobs["P01-walk_07"].trial.read_text(encoding="utf-8")
    record = attempt(jobs["P01-walk_07"])
    assert record.outcome is Outcome.COMPUTED, record.message
    shutil.copy(protocol.parent / "small.osim", folder / "P01" / "other.osim")
    watch.look()
    (waiting,) = (record for record in watch.records if record.name == "P01-walk_07")
    assert "other.osim and scaled.osim may be it" in waiting.message


def test_a_model_in_a_folder_beside_its_coordinates(tmp_path: Path) -> None:
    protocol, subject = models(tmp_path / "protocol"), tmp_path / "day" / "S2"
    for folder in (protocol.parent, subject):
        for name in ("IK", "Models"):
            (folder / name).mkdir(parents=True)
    text = protocol.read_text(encoding="utf-8")
    for old, new in (("small.osim", "Models/small.osim"), ("walk_03_ik.mot", "IK/walk_03_ik.mot")):
        (protocol.parent / old).rename(protocol.parent / new)
        text = text.replace(f'"{old}"', f'"{new}"')
    protocol.write_text(text, encoding="utf-8")
    watch = Watch(subject.parent, Template(protocol), settled=0.0)
    shutil.copy(protocol.parent / "walk_03_id.sto", subject / "run_id.sto")
    shutil.copy(protocol.parent / "IK" / "walk_03_ik.mot", subject / "IK" / "run_ik.mot")
    shutil.copy(protocol.parent / "Models" / "small.osim", subject / "Models" / "own.osim")
    (job,) = watch.look()
    assert 'model = "S2/Models/own.osim"' in job.trial.read_text(encoding="utf-8")


def test_loads_of_a_model_wait_for_their_data_file(tmp_path: Path) -> None:
    protocol = models(tmp_path / "protocol")
    text = protocol.read_text(encoding="utf-8").replace(
        'moments = "walk_03_id.sto"', 'loads = "walk_03_grf.xml"'
    )
    protocol.write_text(text, encoding="utf-8")
    folder = tmp_path / "day"
    folder.mkdir()
    watch = Watch(folder, Template(protocol), settled=0.0)
    shutil.copy(protocol.parent / "walk_03_ik.mot", folder / "run_ik.mot")
    (folder / "run_grf.xml").write_text("<ExternalLoads><datafile>run_grf.mot</datafile></ExternalLoads>")
    assert watch.look() == [] and watch.records[0].message == "waits for run_grf.mot"
    (folder / "run_grf.mot").write_text("", encoding="utf-8")
    assert [job.name for job in watch.look()] == ["run"]


def test_recordings_of_cameras_get_a_camera_file(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "day"
    ms.studies.synthetic_recording(source, cameras=2)
    (source / "forces.mot").rename(source / "walk_forces.mot")
    template = source / "trial.toml"
    text = template.read_text(encoding="utf-8")
    template.write_text(text.replace('"forces.mot"', '"walk_forces.mot"'), encoding="utf-8")
    folder.mkdir()
    for file in source.glob("static*"):
        shutil.copy(file, folder)
    watch = Watch(folder, Template(template), settled=0.0)
    shutil.copy(source / "walk_camera_1_markers.csv", folder / "slow_camera_1_markers.csv")
    shutil.copy(source / "walk_forces.mot", folder / "slow_forces.mot")
    assert watch.look() == [] and watch.records[0].message == "waits for slow_camera_2_markers.csv"
    shutil.copy(source / "walk_camera_2_markers.csv", folder / "slow_camera_2_markers.csv")
    (job,) = watch.look()
    written, expected = ms.read_trial(job.trial), ms.read_trial(template)
    np.testing.assert_array_equal(written.markers.position, expected.markers.position)
    assert 'control_points = "../source/walk_points.csv"' in (folder / "slow_cameras.toml").read_text()
    # the cameras of the template are changed: all its recordings are computed anew
    cameras = source / "walk.toml"
    cameras.write_text(cameras.read_text(encoding="utf-8").replace("start_s = 0.0", "start_s = 0.5"))
    assert len(watch.look()) == 1 and "start_s = 0.5" in (folder / "slow_cameras.toml").read_text()
    text = cameras.read_text(encoding="utf-8").replace("walk_camera_2_markers", "run_camera_2_markers")
    cameras.write_text(text, encoding="utf-8")
    with refused("bad_name", "run_camera_2_markers.csv"):
        Template(template)


@pytest.mark.parametrize(
    ("files", "cameras", "motion"),
    [
        (["left_walk_03", "right_walk_03"], ["a", "b"], "walk_03"),
        (["walk_03_c1_markers", "walk_03_c2_markers"], ["C1", "C2"], "walk_03"),
        (["walk_03", "walk_03"], ["l", "r"], "walk_03"),  # in folders of cameras
        (["cam_1_walk", "cam_2_walk"], ["cam_1", "cam_2"], "walk"),
        (["left_walk_03", "right_walk_04"], ["left", "right"], ""),
        (["walk_l_03", "walk_r_03"], ["l", "r"], ""),
    ],
)
def test_names_of_camera_files_name_their_motion(files: list[str], cameras: list[str], motion: str) -> None:
    assert motion_of_cameras(files, cameras) == motion


def test_labels_exchanged_for_a_while_stay_with_their_recording(protocol: Path, tmp_path: Path) -> None:
    shutil.copytree(protocol.parent, tmp_path / "own")
    template, pair = tmp_path / "own" / protocol.name, 'markers = { head_low = "head_top" }\n'
    standing = pair.replace("markers", "static")
    tables = f"\n[[exchanged]]\n{pair}{standing}times_s = [[0.1, 0.2]]\n\n[[exchanged]]\n{pair}"
    template.write_text(template.read_text(encoding="utf-8") + tables, encoding="utf-8")
    path = tmp_path / "day.toml"
    written = Template(template).texts(path, {}, {})[path]
    assert written.count("[[exchanged]]") == 2 and "times_s" not in written
    assert written.count(pair.strip()) == written.count(standing.strip()) == 1

"""A data set: whole trials and broken ones, stopped and resumed, on any number of processes, read back."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer

import numpy as np
import pandas as pd
import pytest
from b3d_files import MODEL, TrialOnDisk, walker, write_b3d
from command_line import typed
from drafted_folders import recordings, renamed
from recorded_data import recorded
from refusals import refused
from stored_results import write_result

import musclesolve as ms
from musclesolve.laboratory import read_b3d
from musclesolve.laboratory.results.dataset.quantities import kept_variables
from musclesolve.laboratory.results.files.atomic_writing import reserved
from musclesolve.studies import read_study
from musclesolve.studies.dataset.compute_dataset import (
    dataset_study,
    estimate_dataset,
    split_of,
    subjects_table,
    trials_table,
)
from musclesolve.studies.dataset.data_set import DataSet
from musclesolve.studies.many_trials.b3d_source import B3DSource
from musclesolve.studies.many_trials.trial_record import Measures, Outcome, TrialRecord, csv_bytes
from musclesolve.studies.study.run_study import ComputedStudy, trial_file
from musclesolve.studies.study.unpacked_trials import source_of
from musclesolve.tables import Table, write_mot

MAKE = Path(__file__).parents[3] / "examples" / "study" / "make_study.py"
TRIALS = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four trials of two subjects, one more whose moments are no numbers, and a B3D file that is none."""
    place = tmp_path_factory.mktemp("subjects")
    runpy.run_path(str(MAKE))["write_trials"](place, subjects=2, trials=1)
    broken = place / "S02" / "free"
    shutil.copy(broken / "trial_1_ik.mot", broken / "cut_ik.mot")
    lines = (broken / "trial_1_id.sto").read_text(encoding="utf-8").splitlines()
    lines[-5] = lines[-5].replace("\t", "\tnone ", 1)
    (broken / "cut_id.sto").write_text("\n".join(lines), encoding="utf-8")
    (place / "S03.b3d").write_bytes(b"no")
    return place


@pytest.fixture(scope="module")
def made(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    return ms.studies.make_dataset(folder, tmp_path_factory.mktemp("forces"), jobs=1)


def arrays(data: DataSet) -> dict[str, list[bytes]]:
    """Every number of every trial, as bytes."""
    return {
        name: [each.values.tobytes() for each in data.read(name).variables.values()] for name in data.computed
    }


def test_a_trial_at_fault_costs_itself_alone(made: DataSet) -> None:
    assert len(made) == TRIALS and list(made.trials["status"]).count("refused") == 1
    (cut,) = made.trials.index[made.trials["status"] == "refused"]
    assert "cut" in cut and "cut_id.sto" in made.trials.loc[cut, "message"]
    page = (made.folder / "dataset.html").read_text(encoding="utf-8")
    assert "S03.b3d" in page and cut in page
    assert int(made.subjects["frames"].sum()) == int(made.trials["frames"].sum()) == 66 * TRIALS


def test_a_trial_is_the_result_of_run_with_numbers_of_32_bits(made: DataSet) -> None:
    name = made.computed[0]
    own, whole = made.read(name), ms.run(made.folder / "trials" / name / "trial.toml")
    for variable in ("muscle_force", "activation", "joint_moment", "joint_angle"):
        assert own[variable].dtype == np.float32
        np.testing.assert_array_equal(own[variable], whole[variable].astype(np.float32))
    np.testing.assert_array_equal(own["status"], whole["status"])
    np.testing.assert_array_equal(own["time"], whole["time"])
    assert own.attrs["cost"] == whole.attrs["cost"] and own["muscle_force"].attrs["units"] == "N"
    assert "moment_arm" not in own and str(made.folder) not in json.dumps(own.attrs, default=str)


def test_the_tables_state_split_verdict_and_inputs(made: DataSet) -> None:
    done = made.trials.loc[made.computed]
    assert set(made.subjects["split"]) == {"train", "test"}
    assert (done["split"] == made.subjects["split"].loc[done["subject"]].values).all()
    assert done["verdict"].notna().all() and done["inputs_sha256"].nunique() == TRIALS
    assert set(made.names(verdicts=None)) == set(made.computed)
    both = [*made.names("train", None), *made.names("test", None)]
    assert sorted(both) == sorted(made.computed)
    assert made.names("validation") == []
    with refused("unknown_name", "tests"):
        made.names("tests")


def test_the_table_states_what_is_unusual_in_the_source_of_a_trial(made: DataSet, tmp_path: Path) -> None:
    records = {name: TrialRecord(name, Path(), Path(), Outcome.REFUSED) for name in made.trials.index}
    name, other = made.trials.index[:2]
    study = read_study(made.folder / "inputs" / "study.toml")
    (tmp_path / "trials.csv").write_bytes(csv_bytes(list(records.values())))
    table = trials_table(ComputedStudy(study, tmp_path, records, (), {name: ["no pass", "12 of 80"]}))
    unusual = table.set_index("name")["unusual"]
    assert unusual[name] == "no pass | 12 of 80" and unusual[other] == ""


def test_no_mean_is_made_of_masses_that_differ(made: DataSet) -> None:
    study = read_study(made.folder / "inputs" / "study.toml")
    trials = pd.read_csv(made.folder / "trials.csv", dtype=str, keep_default_na=False)
    trials.loc[trials["subject"] == "S01", "mass_kg"] = ["84.7", "98.8"]
    trials.loc[trials["subject"] == "S02", "mass_kg"] = "71.5"
    table = subjects_table(ComputedStudy(study, made.folder, {}, ()), trials).set_index("subject")
    assert table.loc["S01", "mass_kg"] == "" and float(table.loc["S02", "mass_kg"]) == 71.5


def test_a_subject_without_a_result_takes_no_part_of_the_split(made: DataSet, tmp_path: Path) -> None:
    """Or it would be the only one of the test."""
    study = read_study(made.folder / "inputs" / "study.toml")
    for subject in ("S01", "S02"):
        records, people = dict[str, TrialRecord](), []
        for name in made.trials.index:
            people.append([made.trials.loc[name, "subject"]])
            known = name in made.computed and people[-1] == [subject]
            measures = Measures.from_json(made.read(name).attrs["measures"]) if known else None
            outcome = Outcome.COMPUTED if known else Outcome.REFUSED
            records[name] = TrialRecord(name, Path(), tmp_path / name, outcome, measures=measures)
        (tmp_path / "trials.csv").write_bytes(csv_bytes(list(records.values()), ["subject"], people))
        computed = ComputedStudy(study, tmp_path, records, ())
        subjects = subjects_table(computed, trials_table(computed))
        split = subjects.set_index("subject")["split"].to_dict()
        assert split == {"S01": "", "S02": "", subject: "train"}


def test_a_split_is_by_subject_and_does_not_depend_on_their_order() -> None:
    names = [f"S{number}" for number in range(40)]
    split = split_of(names)
    assert split == split_of(reversed(names)) and list(split.values()).count("test") == 6
    assert list(split_of(["a", "b", "c"]).values()).count("validation") == 1
    assert split_of(["a"]) == {"a": "train"}


def test_rows_of_frames_and_arrays_of_trials(made: DataSet) -> None:
    trials = made.names(verdicts=None)
    rows = made.frames(["joint_angle", "muscle_force soleus_r"], trials)
    assert len(rows) == 66 * TRIALS and rows["muscle_force soleus_r"].dtype == np.float32
    first = made.read(trials[0])
    of_first = rows[rows["trial"] == trials[0]]
    np.testing.assert_array_equal(
        of_first["muscle_force soleus_r"], first["muscle_force"].sel(muscle="soleus_r")
    )
    one = made[0]
    assert one["muscle_force"].shape == first["muscle_force"].shape and len(one["time"]) == 66
    with refused("unknown_name", "soleus_r"):
        made.frames("muscle_force soleas_r", trials)


def test_frames_without_a_valid_solution_are_masked(made: DataSet, tmp_path: Path) -> None:
    copy = DataSet(shutil.copytree(made.folder, tmp_path / "copy"))
    name = copy.computed[0]
    result = copy.read(name)
    result["valid"].loc[{"side": "r"}] = np.arange(66) >= 10
    write_result(result, copy.folder / "trials" / name / "result.nc")
    columns = ["muscle_force soleus_r", "joint_angle ankle_angle_r"]
    masked, plain = copy.frames(columns, [name]), copy.frames(columns, [name], valid=False)
    assert masked[columns].isna().sum().tolist() == [10, 0]
    assert plain[columns].notna().all(axis=None)


def test_stopped_twice_and_resumed_it_is_the_same_to_the_bit(
    made: DataSet, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for done in (1, 2):

        def stop(stage: str, fraction: float, done: int = done) -> None:
            if stage.startswith(f"{done}/"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ms.studies.make_dataset(folder, tmp_path / "forces", jobs=1, progress=stop)
        with refused("missing_file", "subjects.csv"):
            ms.studies.open_dataset(tmp_path / "forces")
    there = {path: path.stat().st_mtime_ns for path in (tmp_path / "forces" / "trials").glob("*/result.nc")}
    assert there
    again = ms.studies.make_dataset(folder, tmp_path / "forces", jobs=1)
    assert {path: path.stat().st_mtime_ns for path in there} == there  # nothing is computed twice
    assert arrays(again) == arrays(made)
    tables = [pd.read_csv(data.folder / "trials.csv").drop(columns="message") for data in (made, again)]
    pd.testing.assert_frame_equal(*(table.replace("refused before", "refused") for table in tables))
    monkeypatch.setattr("musclesolve.studies.many_trials.run_many._compute_here", None)  # no process starts
    third = ms.studies.make_dataset(folder, tmp_path / "forces", jobs=1)
    assert list(third.trials["status"]).count("refused before") == 1 and arrays(third) == arrays(made)
    page = third.folder / "dataset.html"
    page.write_bytes(b"another")
    ms.studies.make_dataset(folder, third.folder, jobs=1)
    assert b"S03.b3d" in page.read_bytes()


@pytest.mark.thorough
@pytest.mark.usefixtures("in_processes")
def test_two_processes_compute_the_same_to_the_bit(made: DataSet, folder: Path, tmp_path: Path) -> None:
    two = ms.studies.make_dataset(folder / "S01", tmp_path / "forces", jobs=2)
    here, there = (
        {data.trials.loc[name, "inputs_sha256"]: numbers for name, numbers in arrays(data).items()}
        for data in (made, two)
    )
    assert len(there) == 2 and all(here[key] == numbers for key, numbers in there.items())


def test_other_variables_are_kept_on_request_and_computed_again(folder: Path, tmp_path: Path) -> None:
    few = ms.studies.make_dataset(folder / "S01", tmp_path / "few", keep=["force", "fiber_length"], jobs=1)
    assert {"muscle_force", "fiber_length", "valid", "status"} <= set(few[0]) and "activation" not in few[0]
    more = ms.studies.make_dataset(folder / "S01", tmp_path / "few", keep=["activation"], jobs=1)
    assert "activation" in more[0] and "fiber_length" not in more[0]
    with refused("unknown_name", "fibre_length", "fiber_length"):
        kept_variables(["fibre_length"])


def test_the_estimate_keeps_what_it_computed(folder: Path, tmp_path: Path) -> None:
    found = estimate_dataset(folder, tmp_path / "forces", jobs=3)
    assert found.trials == TRIALS + 1 and found.subjects == 2 and found.jobs == 3
    assert found.seconds > 0.0 and found.size > 1e4
    there = {path.parent.name for path in (tmp_path / "forces" / "trials").glob("*/result.nc")}
    assert there == {*found.sampled} - {*found.failed} and there


def test_an_estimate_leaves_a_begun_data_set_as_it_is(folder: Path, made: DataSet, tmp_path: Path) -> None:
    there = tmp_path / "forces"
    shutil.copytree(made.folder, there)
    before = {path: path.read_bytes() for path in there.rglob("*") if path.is_file()}
    done = typed("dataset", folder / "S01", "-o", there, "--estimate")
    assert done.exit_code == 0 and "left as it is" in " ".join(done.stdout.split())
    assert {path: path.read_bytes() for path in there.rglob("*") if path.is_file()} == before
    (there / "subjects.csv").unlink()  # as of one that was stopped
    found = estimate_dataset(folder / "S01", there, jobs=1)
    assert found.seconds > 0.0 and found.size > 1e4 and not found.kept
    assert len(pd.read_csv(there / "trials.csv")) == len(made.trials)


def test_the_command_and_what_it_refuses(folder: Path, tmp_path: Path) -> None:
    done = typed("dataset", folder / "S01", "-o", tmp_path / "one", "--jobs", 1, "--json")
    document = json.loads(done.stdout[done.stdout.index("{") :])
    assert (document["trials"], document["with_result"], document["frames"]) == (2, 2, 132)
    card = (tmp_path / "one" / "DATA_CARD.md").read_text(encoding="utf-8")
    assert "| `muscle_force` | time, muscle | N |" in card and "Citation" in card
    made = card.partition("## How it was made")[2].partition("## Limits")[0]
    assert "minimized" in made and "low-pass" in made  # the cost and the filter, which the limits refer to
    for none in ("none", "none.b3d"):
        with refused("missing_file", none):
            ms.studies.make_dataset(tmp_path / none, tmp_path / "two")
    (tmp_path / "walk.trc").write_text("", encoding="utf-8")
    with refused("bad_format", "walk.trc"):
        ms.studies.make_dataset(tmp_path / "walk.trc", tmp_path / "two")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "s.b3d").write_bytes(bytes(400))
    with refused("missing_file", "s.b3d"):
        ms.studies.make_dataset(tmp_path / "bad", tmp_path / "two")


@pytest.mark.parametrize("make", [ms.studies.make_dataset, estimate_dataset])
def test_a_number_of_processes_is_refused_before_anything_is_written(
    make, folder: Path, tmp_path: Path
) -> None:
    with refused("bad_number", "--jobs"):
        make(folder, tmp_path / "forces", jobs=0)
    assert not (tmp_path / "forces").exists()


def test_files_and_sources_of_the_user_are_not_overwritten(folder: Path, tmp_path: Path) -> None:
    """A table of subjects of the user, and a folder of sources, which would be no source once results are in it."""
    table = tmp_path / "subjects.csv"
    table.write_text("subject,mass_kg\nS01,70\n", encoding="utf-8")
    for make in (ms.studies.make_dataset, estimate_dataset):
        with refused("occupied_folder", "subjects.csv"):
            make(folder, tmp_path, jobs=1)
        with refused("occupied_folder", folder.name):
            make([folder, folder / "S01"], folder, jobs=1)
    assert table.read_text(encoding="utf-8") == "subject,mass_kg\nS01,70\n"


@pytest.mark.thorough
def test_an_estimate_leaves_out_trials_of_incomplete_subjects(tmp_path: Path) -> None:
    """Their length is a number of bytes, and that of the others a number of frames."""
    source, walk = tmp_path / "sources", recorded("rajagopal_walk")
    (source / "walk").mkdir(parents=True)
    for name in ("walk.trc", "static.trc", "walk_grf.mot"):
        shutil.copy(walk / name, source / "walk")  # nothing states the stature
    shutil.copy(recorded("addbiomechanics") / "results.b3d", source)
    found = estimate_dataset(source, tmp_path / "forces", jobs=1)
    assert not found.failed and any("stature_m of walk" in note for note in found.notes)
    sizes = [path.stat().st_size for path in (tmp_path / "forces").glob("trials/*/result.nc")]
    assert found.size == pytest.approx(2 * np.mean(sizes), rel=0.1)  # of the two trials of the B3D file


@pytest.mark.thorough
def test_trials_of_a_b3d_file_are_unpacked_where_they_are_computed(tmp_path: Path) -> None:
    """The trials of the real file, one of them without ground forces, beside a file that is cut off."""
    real = recorded("addbiomechanics") / "results.b3d"
    shutil.copy(real, tmp_path / "S1.b3d")
    (tmp_path / "S2.b3d").write_bytes(real.read_bytes()[:-5000])
    write_b3d(tmp_path / "S3.b3d", [], [MODEL], 12)
    sources = sorted(tmp_path.glob("*.b3d"))
    data = ms.studies.make_dataset(sources, tmp_path / "forces", jobs=1)
    assert len(data) == 3 and list(data.trials["status"]).count("refused") == 1  # the trial that is cut off
    (cut,) = data.trials.index[data.trials["status"] == "refused"]
    assert data.trials.loc[cut, "subject"] == "S2" and "which are there" in data.trials.loc[cut, "message"]
    result = data.read(data.computed[0])
    per_frame = sum(each.nbytes for each in result.data_vars.values()) / result.sizes["time"]
    assert result.sizes["muscle"] == 80 and per_frame < 1500
    few = ms.studies.make_dataset(
        sources[0], tmp_path / "few", keep=["force"], jobs=1
    )  # no variable by coordinates
    assert "dof" not in few.read(few.computed[0]).coords and len(few) == 2
    results = {path: path.stat().st_mtime_ns for path in data.folder.rglob("result.nc")}
    os.utime(tmp_path / "S1.b3d")  # a copy of the same contents is unpacked again, and gives the same results
    ms.studies.make_dataset(sources, data.folder, jobs=1)
    assert {path: path.stat().st_mtime_ns for path in data.folder.rglob("result.nc")} == results


def test_processes_that_unpack_trials_of_one_subject_wait_for_each_other(tmp_path: Path) -> None:
    real = recorded("addbiomechanics") / "results.b3d"
    trial = read_b3d(real, ()).trials[0].name
    place = tmp_path / "S1"
    source = B3DSource(real, trial, place, place / "unpacked" / "one.json", (real, None))
    taken, free = Event(), Event()

    def another() -> None:
        with reserved(source.record.parent):
            taken.set()
            free.wait(0.5)

    Timer(0.0, another).start()
    assert taken.wait(10.0)
    source.unpack()  # refused as busy, would it not wait
    assert source.record.exists()


def test_trials_whose_names_differ_in_signs_alone_are_unpacked_apart(tmp_path: Path) -> None:
    _, motion = walker(tmp_path, 40)
    still = [TrialOnDisk(name, [motion], [0] * 40) for name in ("walk 1", "walk/1", "walk_1")]
    write_b3d(tmp_path / "S1.b3d", still, [MODEL], 12, mass=70.0)
    study = dataset_study(tmp_path / "S1.b3d", tmp_path / "forces")
    sources = [source for trial in study.trials if (source := source_of(study, trial, tmp_path)[1])]
    assert len({source.record for source in sources}) == len(still)


def test_the_header_of_a_b3d_file_states_the_body_where_the_table_does_not(tmp_path: Path) -> None:
    _, motion = walker(tmp_path, 40)
    write_b3d(
        tmp_path / "S1.b3d", [TrialOnDisk("walk", [motion], [0] * 40)], [MODEL], 12, mass=70.0, stature=1.7
    )
    study = dataset_study(tmp_path / "S1.b3d", tmp_path / "forces")
    (trial,) = study.trials
    for body, mass, notes in ((trial.body, 70.0, 0), ({}, 70.0, 1), ({"mass_kg": 72.0}, 72.0, 1)):
        one = replace(trial, body=body)
        files, _ = source_of(study, one, tmp_path)
        text, _, said = trial_file(study, one, files, tmp_path / "trials" / "walk" / "trial.toml")
        assert tomllib.loads(text)["subject"]["mass_kg"] == mass
        assert len(said) == notes and all("header of S1.b3d" in note for note in said)


def test_an_estimate_without_a_result_fails_with_the_reason(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "cut"
    shutil.copytree(folder / "S02", source / "S02")
    for whole in (source / "S02").rglob("trial_*_i[kd].*"):
        whole.unlink()
    done = typed("dataset", source, "-o", tmp_path / "forces", "--estimate")
    assert done.exit_code == 2 and "not known" in done.stdout and "cut_id.sto" in done.stdout
    draft = (tmp_path / "forces" / "inputs" / "study.toml").read_text(encoding="utf-8")
    head = " ".join(draft.partition("[")[0].replace("#", " ").split())
    advised = "copy both files beside themselves under other names"  # as the note advises
    assert "is lost" in head and advised in head


def test_paths_of_muscles_are_traced_where_they_are_kept(folder: Path, tmp_path: Path) -> None:
    data = ms.studies.make_dataset(folder / "S01", tmp_path / "paths", keep=["path_position"], jobs=1)
    assert np.isfinite(data[0]["path_position"]).any()
    assert all(each.flags.writeable for each in data[0].values())


def test_a_changed_setting_of_a_trial_computes_this_trial_alone(folder: Path, tmp_path: Path) -> None:
    data = ms.studies.make_dataset(folder / "S01", tmp_path / "forces", jobs=1)
    draft = data.folder / "inputs" / "study.toml"
    changed, other = data.computed
    table = pd.read_csv(draft.parent / "trials.csv", dtype=str, keep_default_na=False)
    table["settings.sharing.cost"] = np.where(table["name"] == changed, "force_squared", "")
    table.to_csv(draft.parent / "own.csv", index=False)
    text = draft.read_text(encoding="utf-8").replace('"trials.csv"', '"own.csv"')
    (draft.parent / "own.toml").write_text(text, encoding="utf-8")
    files = {name: data.folder / data.trials.loc[name, "file"] for name in data.computed}
    before = {name: file.read_bytes() for name, file in files.items()}
    again = ms.studies.make_dataset(draft.parent / "own.toml", data.folder, jobs=1)
    assert files[other].read_bytes() == before[other] and files[changed].read_bytes() != before[changed]
    assert again.read(changed).attrs["cost"] != data.read(other).attrs["cost"]
    pd.testing.assert_series_equal(again.trials.loc[other], data.trials.loc[other])
    assert list(again.trials.index) == list(data.trials.index)


def test_stopped_before_the_first_result_it_goes_on(folder: Path, tmp_path: Path) -> None:
    def stop(stage: str, fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ms.studies.make_dataset(folder / "S01", tmp_path / "forces", jobs=1, progress=stop)
    assert not list((tmp_path / "forces").rglob("result.nc"))
    assert len(ms.studies.make_dataset(folder / "S01", tmp_path / "forces", jobs=1)) == 2


def test_a_full_disk_costs_the_trials_and_leaves_no_part_of_a_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    full = ms.studies.make_dataset(folder / "S01", tmp_path / "forces", jobs=1)
    assert len(full) == 0 and set(full.trials["status"]) <= {"refused", "failed"}
    assert full.trials["message"].str.contains("space", case=False).all()
    assert f"{full.folder}{os.sep}" not in (full.folder / "dataset.html").read_text(encoding="utf-8")
    assert not list(full.folder.rglob("result.nc*"))
    monkeypatch.undo()
    assert len(ms.studies.make_dataset(folder / "S01", full.folder, jobs=1)) == 2


def test_a_motion_that_counts_twice_is_the_first_to_decide(tmp_path: Path) -> None:
    """Recordings without a trial file are named beside it, with the command that drafts one."""
    twice = tmp_path / "sources" / "S2"
    twice.mkdir(parents=True)
    (twice / "m.osim").write_text(MODEL, encoding="utf-8")
    for name in ("walk_ik.mot", "walk_kinematics.mot"):
        values, names = np.zeros((5, 2)), ("hip_flexion_r", "knee_angle_r")
        write_mot(twice / name, Table(0.01 * np.arange(5), names, values, False, twice / name))
    home = recordings(tmp_path / "sources" / "S1")
    renamed(home, lambda name: f"P{sum(name.encode())}_{len(name)}", "walk.trc", "static.trc")
    notes = dataset_study(tmp_path / "sources", tmp_path / "forces").notes
    decide = [note for note in notes if note.startswith("to decide: ")]
    assert "are named as one motion: keep one of their trials" in decide[0]
    (left,) = [note for note in notes if note.startswith("not read: S1: ")]
    assert f"musclesolve init {home}" in left

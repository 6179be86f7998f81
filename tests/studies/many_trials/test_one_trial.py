"""One trial of many: computed once, kept while nothing changes, its faults recorded and never raised."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib.resources import files

import pytest
from many_trials import write_stride
from stored_results import write_result

import musclesolve as ms
from musclesolve import read_result
from musclesolve.plotting.figure_names import RECORDING, files_of
from musclesolve.studies.many_trials.one_trial import Job, attempt, known_record, leave_message
from musclesolve.studies.many_trials.trial_record import Outcome


def job(trial, folder, **options):
    return Job("trial", trial.resolve(), folder.resolve(), {"side": "both", **options}, figures=False)


def test_from_computed_to_broken_and_back(tmp_path):
    trial, out = write_stride(tmp_path / "in"), tmp_path / "out"
    first = attempt(job(trial, out))
    assert (first.outcome, first.fine) == (Outcome.COMPUTED, True), first.message
    assert first.measures.solved == 2 * read_result(out / "result.nc").sizes["time"] == 26
    again = attempt(job(trial, out))
    assert (again.outcome, again.measures) == (Outcome.UNCHANGED, first.measures)
    whole = trial.read_text(encoding="utf-8")
    trial.write_text(whole.replace('asis_r = "asis_r"', 'asis_r = "nowhere"'), encoding="utf-8")
    broken = attempt(job(trial, out))
    assert broken.outcome is Outcome.REFUSED and "nowhere" in broken.message and "line" in broken.message
    leave_message(broken)
    assert {path.name for path in out.iterdir()} == {"error.txt", "earlier_result.nc"}
    assert (out / "error.txt").read_text(encoding="utf-8").strip() == broken.message
    trial.write_text(whole, encoding="utf-8")
    assert attempt(job(trial, out)).outcome is Outcome.COMPUTED
    assert [path.name for path in out.iterdir()] == ["result.nc"]


def test_figures_without_an_earlier_result_are_the_users(tmp_path):
    trial, own = write_stride(tmp_path / "in"), tmp_path / "out" / files_of(RECORDING)[0]
    own.parent.mkdir()
    own.write_bytes(b"mine")
    assert attempt(job(trial, own.parent)).outcome is Outcome.COMPUTED and own.read_bytes() == b"mine"
    assert attempt(replace(job(trial, own.parent), again=True)).fine and not own.exists()


def test_the_folder_of_another_trial_is_left_alone(tmp_path):
    out = tmp_path / "out"
    write_stride(tmp_path / "in")
    assert attempt(job(tmp_path / "in" / "trial.toml", out)).outcome is Outcome.COMPUTED
    other = attempt(job(write_stride(tmp_path / "other"), out))
    assert other.outcome is Outcome.REFUSED and "another trial" in other.message
    leave_message(other)
    assert [path.name for path in out.iterdir()] == ["result.nc"]


def test_a_fault_of_the_program_has_failed_and_its_place_is_kept(tmp_path, monkeypatch):
    def run(trial, **options):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("musclesolve.studies.many_trials.one_trial.run", run)
    record = attempt(job(write_stride(tmp_path / "in"), tmp_path / "out"))
    assert record.outcome is Outcome.FAILED and "ZeroDivisionError: by nothing" in record.message
    leave_message(record)
    assert "Traceback" in (tmp_path / "out" / "error.txt").read_text(encoding="utf-8")


def test_a_damaged_earlier_result_costs_its_own_trial_alone(tmp_path):
    whole, damaged = (write_stride(tmp_path / "in" / name, name) for name in ("whole", "damaged"))
    assert all(attempt(job(each, tmp_path / "out" / each.stem)).fine for each in (whole, damaged))
    result = read_result(earlier := tmp_path / "out" / "damaged" / "result.nc")
    result.attrs["recipe"] = json.dumps(json.loads(result.attrs["recipe"]) | {"files": 3})
    write_result(result, earlier)
    assert known_record(job(damaged, tmp_path / "out" / "damaged")) is None
    found = ms.run_many([whole, damaged], tmp_path / "out", side="both", jobs=1, figures=False)
    by_name = {record.name: record for record in found}
    assert by_name["whole"].outcome is Outcome.UNCHANGED
    assert by_name["damaged"].outcome is Outcome.FAILED and "AttributeError" in by_name["damaged"].message


@pytest.mark.parametrize("table", ["muscles", "markers"])
def test_tables_of_the_user_are_inputs(tmp_path, table):
    if table == "muscles":
        trial = write_stride(tmp_path, old="[mapping]", new='[muscles]\ndatabase = "own.toml"\n[mapping]')
        shutil.copy(files("muscle_db") / "silva_2003.toml", tmp_path / "own.toml")
    else:
        trial = write_stride(tmp_path, old="[mapping]", new='[markers]\nset = "own.toml"\n[mapping]')
        (tmp_path / "own.toml").write_text('[mapping]\nasis_r = "asis_r"\n', encoding="utf-8")
    assert tmp_path / "own.toml" in ms.read_trial(trial).files.values()

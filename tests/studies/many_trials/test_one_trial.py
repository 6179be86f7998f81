"""One trial of many: computed once, kept while nothing changes, its faults recorded and never raised."""

from __future__ import annotations

import errno
import json
import shutil
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from many_trials import write_stride
from small_model import near_optimal_lengths, save_model
from small_model_motion import TIME, save_inputs
from stored_results import write_result

import musclesolve as ms
from musclesolve import read_osim, read_result
from musclesolve.errors import MuscleSolveError, file_error, input_error
from musclesolve.laboratory.plotting.figure_names import RECORDING, files_of
from musclesolve.studies.many_trials.one_trial import Job, attempt, known_record, leave_message
from musclesolve.studies.many_trials.trial_record import Outcome
from musclesolve.tables import Table, write_mot

LOADS = """<OpenSimDocument Version="40000"><ExternalLoads name="loads"><objects>
<ExternalForce name="push"><applied_to_body>talus_r</applied_to_body><force_identifier>push_v</force_identifier>
<point_identifier>push_p</point_identifier></ExternalForce></objects><datafile>push.mot</datafile>
</ExternalLoads></OpenSimDocument>"""


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
    assert {path.name for path in out.iterdir()} == {"error.txt", "refusal.json", "earlier_result.nc"}
    assert (out / "error.txt").read_text(encoding="utf-8").strip() == broken.message
    trial.write_text(whole, encoding="utf-8")
    assert attempt(job(trial, out)).outcome is Outcome.COMPUTED
    assert [path.name for path in out.iterdir()] == ["result.nc"]


def broken(folder):
    return write_stride(folder, old='asis_r = "asis_r"', new='asis_r = "nowhere"')


def test_a_refusal_is_known_until_its_input_settings_or_version_change(tmp_path, monkeypatch):
    trial, out = broken(tmp_path / "in"), tmp_path / "out"
    whole = job(trial, out)
    refused = attempt(whole)
    leave_message(refused)
    known = known_record(whole)
    assert known.outcome is Outcome.REFUSED_BEFORE and known.message == refused.message
    assert known.outcome.has_fault and not known.outcome.has_result
    others = (
        {"again": True},
        {"keep": ("activation",)},
        {"options": {"side": "r"}},
        {"questions": ("margins",)},
    )
    assert all(known_record(replace(whole, **other)) is None for other in others)
    markers = trial.parent / "walk.trc"
    before = markers.read_bytes()
    markers.write_bytes(before + b"\n")
    assert known_record(whole) is None
    markers.write_bytes(before)
    assert known_record(whole) is not None
    with monkeypatch.context() as patch:
        patch.setattr("musclesolve.studies.many_trials.trial_record.__version__", "99")
        assert known_record(whole) is None
    shutil.copytree(tmp_path / "in", tmp_path / "moved" / "in")
    shutil.copytree(out, tmp_path / "moved" / "out")
    assert known_record(job(tmp_path / "moved" / "in" / trial.name, tmp_path / "moved" / "out")) is not None
    write_stride(tmp_path / "in")
    assert attempt(whole).outcome is Outcome.COMPUTED
    assert [path.name for path in out.iterdir()] == ["result.nc"]


def full_disk():
    raise OSError(errno.ENOSPC, "no space")


def no_memory():
    raise MemoryError


def lost_process():
    raise MuscleSolveError("the process that computed it was ended by SIGKILL")


def missing():
    raise file_error("missing_file", "data.mot", "there is no such file")


@pytest.mark.parametrize("fault", [full_disk, no_memory, lost_process, missing])
def test_a_refusal_that_may_pass_is_not_kept(tmp_path, monkeypatch, fault):
    def prepared(*trial, **options):
        try:
            fault()
        except (OSError, MemoryError):
            raise input_error("bad_format", problem="the file is damaged") from None

    monkeypatch.setattr("musclesolve.studies.many_trials.one_trial.prepare", prepared)
    whole = job(write_stride(tmp_path / "in"), tmp_path / "out")
    leave_message(refused := attempt(whole))
    assert refused.outcome is Outcome.REFUSED and known_record(whole) is None
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["error.txt"]


def test_a_later_refusal_that_may_pass_replaces_one_that_was_kept(tmp_path):
    trial, out = broken(tmp_path / "in"), tmp_path / "out"
    leave_message(attempt(job(trial, out)))
    leave_message(job(trial, out).record(Outcome.FAILED, "killed"))
    assert [path.name for path in out.iterdir()] == ["error.txt"] and known_record(job(trial, out)) is None


def test_a_file_that_only_another_file_names_is_an_input(tmp_path):
    """The data of external loads are named in the XML file of the loads."""
    model = save_model(tmp_path, near_optimal_lengths())
    save_inputs(tmp_path, read_osim(model))
    (tmp_path / "loads.xml").write_text(LOADS, encoding="utf-8")
    data = tmp_path / "push.mot"
    columns = "push_vx", "push_vy", "push_vz", "push_px", "push_py", "push_pz"
    values = np.tile([5.0, 20.0, -3.0, 0.1, 0.0, 0.1], (len(TIME), 1))
    write_mot(data, Table(TIME, columns, values, False, data))
    (tmp_path / "trial.toml").write_text(
        f'[files]\nmodel = "{model.name}"\ncoordinates = "ik.mot"\nloads = "loads.xml"\n', encoding="utf-8"
    )
    of_model = job(tmp_path / "trial.toml", tmp_path / "out")
    first = attempt(of_model)
    assert first.outcome is Outcome.COMPUTED, first.message
    assert known_record(of_model).outcome is Outcome.UNCHANGED
    write_mot(data, Table(TIME, columns, 1.1 * values, False, data))
    assert known_record(of_model) is None


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
    def prepared(*trial, **options):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("musclesolve.studies.many_trials.one_trial.prepare", prepared)
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

"""Trials in processes of their own: who fails, fails alone; what is done stays done."""

from __future__ import annotations

import csv
import multiprocessing
import signal
from multiprocessing import current_process

import pytest
from many_trials import write_stride
from refusals import refused

import musclesolve as ms
from musclesolve.errors import InputError
from musclesolve.sharing.cost import ActivationPower
from musclesolve.studies.many_trials import run_many
from musclesolve.studies.many_trials.one_trial import Job, attempt
from musclesolve.studies.many_trials.run_many import TrialsProgress


def outcomes(records):
    return {record.name: record.outcome for record in records}


@pytest.fixture
def interruptible():
    """A shell lets what it starts in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.thorough
@pytest.mark.usefixtures("interruptible", "in_processes")
def test_a_dead_process_takes_only_its_own_trial_and_stopping_leaves_what_is_done(tmp_path):
    trials = [
        write_stride(tmp_path / "a", "walk"),
        write_stride(tmp_path / "a", "doomed"),
        write_stride(tmp_path / "b", "walk", old='asis_r = "asis_r"', new='asis_r = "nowhere"'),
        write_stride(tmp_path / "a", "last"),
    ]
    out, stages = tmp_path / "out", []

    def stop(stage, fraction):
        if stage.startswith("1/"):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="1 of the 4 trials to compute are done"):
        ms.run_many(trials, out, jobs=1, figures=False, progress=stop)
    assert multiprocessing.active_children() == []
    # the process may have made the folder of the second trial before it was stopped
    assert [path.parent.name for path in out.glob("*/result.nc")] == ["a-walk"]
    assert (out / "trials.csv").is_file()

    def kill(stage, fraction):
        stages.append((stage, fraction))
        if stage.endswith(" doomed"):
            for child in multiprocessing.active_children():
                child.kill()

    found = ms.run_many(trials, out, jobs=1, figures=False, progress=kill)
    assert outcomes(found) == {
        "a-walk": "unchanged",
        "b-walk": "refused",
        "doomed": "failed",
        "last": "computed",
    }
    assert "SIGKILL" in found[1].message and "2 times" in found[1].message
    assert (out / "doomed" / "error.txt").is_file() and (out / "last" / "result.nc").is_file()
    with (out / "trials.csv").open(newline="") as file:
        assert [row["status"] for row in csv.DictReader(file)] == [record.outcome for record in found]
    assert next(stage for stage, _ in stages) == "0/4 a-walk"
    assert all(0.0 <= fraction <= 1.0 for _, fraction in stages)


def test_no_process_starts_where_all_results_are_current(tmp_path, monkeypatch):
    trial, out = write_stride(tmp_path / "in", "walk"), tmp_path / "out" / "walk"
    options = {"side": "both"}
    made = attempt(Job("walk", trial.resolve(), out.resolve(), options, figures=False))
    assert made.outcome == "computed", made.message
    monkeypatch.setattr(run_many, "_compute_here", None)
    (found,) = ms.run_many(trial, out.parent, jobs=2, figures=False)
    assert (found.outcome, found.measures) == ("unchanged", made.measures)
    (trial.parent / "walk.trc").touch()
    assert ms.run_many(trial, out.parent, figures=False)[0].outcome == "unchanged"
    (out / "result.nc").unlink()
    with pytest.raises(TypeError):
        ms.run_many(trial, out.parent, figures=False)


def test_the_line_of_progress_stays_short():
    stages = []
    report = TrialsProgress(200, lambda stage, fraction: stages.append((stage, fraction)))
    report.done = 50
    report([f"subject_{number:02d}-barefoot_walk" for number in range(16)], 10.0)
    assert stages == [("50/200 …_00-barefoot_walk, …_01-barefoot_walk, +14", 0.3)]


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"cost": "stress"}, "stress"),
        ({"solver": "bach"}, "bach"),
        ({"side": "q"}, "side"),
        ({"jobs": 0}, "--jobs"),
        ({"trials": []}, "trial"),
        ({"cost": type("Local", (ActivationPower,), {"name": "local"})(3.0)}, "Local"),
    ],
)
def test_what_would_fail_for_every_trial_is_refused_at_once(tmp_path, wrong, name):
    given = {"trials": [write_stride(tmp_path)], "output": tmp_path / "out", **wrong}
    with pytest.raises(InputError, match=name):
        ms.run_many(**given)
    with pytest.raises(TypeError, match=r"run_many\(\).*'job'; did you mean 'jobs'"):
        ms.run_many(given["trials"], given["output"], job=1)
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "out").touch()
    with refused("not_writable", str(tmp_path / "out")):
        ms.run_many(write_stride(tmp_path), tmp_path / "out")


def test_a_script_that_a_process_reads_again_ends_before_it_reserves_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(current_process(), "_inheriting", True, raising=False)
    with pytest.raises(SystemExit):
        ms.run_many([ms.data.reference_stride()], tmp_path / "out", jobs=1, figures=False)
    assert not (tmp_path / "out").exists()

"""Studies of which processes are killed, that are stopped and go on, and that another run writes into."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import sys
from pathlib import Path
from threading import Event, Thread

import pytest
from packages import imported
from refusals import refused

from musclesolve.laboratory.results.files.atomic_writing import reserved
from musclesolve.studies import open_study
from musclesolve.studies.many_trials import run_many
from musclesolve.studies.study.run_study import compute_trials
from musclesolve.studies.study.study_data import write_study_data

MAKE = Path(__file__).parents[3] / "examples" / "study" / "make_study.py"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The study file of four trials of a subject."""
    folder = tmp_path_factory.mktemp("study")
    example = runpy.run_path(str(MAKE))
    return example["write_study"](folder, example["write_trials"](folder, subjects=1, trials=2))


@pytest.fixture
def interruptible():
    """A shell lets what it starts in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def outcomes(computed):
    return [record.outcome for record in computed.records.values()]


def complete(computed):
    """Whether study.nc holds the cycle of each of the four trials."""
    write_study_data(computed)
    with open_study(computed.folder) as cycles:
        return sorted(cycles["trial"].values) == sorted(computed.records) and bool(
            cycles["activation"].notnull().all()
        )


def once(act, when):
    """A function of progress that acts at the first stage for which `when` is true."""
    acted = []

    def progress(stage, fraction):
        if not acted and when(stage):
            acted.append(stage)
            act()

    return progress, acted


@pytest.mark.thorough  # test_worker_pool.py kills processes, too
@pytest.mark.usefixtures("in_processes")
def test_a_killed_process_of_the_pool_costs_no_trial(study, tmp_path):
    def kill():
        os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)

    progress, acted = once(kill, lambda stage: stage.startswith("2/4 "))
    computed = compute_trials(study, tmp_path, jobs=2, progress=progress)
    assert acted and all(outcome.has_result for outcome in outcomes(computed))
    assert complete(computed)


@pytest.mark.thorough
def test_a_killed_worker_of_a_cluster_costs_no_trial(study, tmp_path, monkeypatch):
    distributed = imported("distributed")
    monkeypatch.setattr(run_many, "AT_ONCE", 2)  # fewer than there are trials: the others are submitted later
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as local:

        def kill():
            os.kill(local.workers[0].pid, signal.SIGKILL)

        progress, acted = once(kill, lambda stage: stage.startswith("1/4 "))
        computed = compute_trials(study, tmp_path, scheduler=local.scheduler_address, progress=progress)
    assert acted and all(outcome.has_result for outcome in outcomes(computed))
    assert complete(computed)


@pytest.mark.usefixtures("interruptible")
def test_a_study_that_is_stopped_twice_goes_on(study, tmp_path):
    tables = []

    def stop():
        tables.append((tmp_path / "trials.csv").read_text(encoding="utf-8"))
        signal.raise_signal(signal.SIGINT)

    for done in (1, 2):
        progress, _ = once(stop, lambda stage, done=done: stage.startswith(f"{done}/4 "))
        with pytest.raises(KeyboardInterrupt, match=r"[123] of the 4 trials to compute are done"):
            compute_trials(study, tmp_path, jobs=1, progress=progress)
    # what was done by then is in the table, before anything is stopped
    assert [tables[0].count(f",{each},") for each in ("computed", "not done")] == [1, 3]
    computed = compute_trials(study, tmp_path, jobs=1)
    assert sorted(set(outcomes(computed))) == ["computed", "unchanged"]
    assert complete(computed)

    damaged = computed.records["S01_free_1"].folder / "cycles.nc"
    damaged.write_bytes(damaged.read_bytes()[:1000])
    with refused("bad_result", str(damaged)):
        write_study_data(computed)
    damaged.unlink()  # the remedy
    assert complete(compute_trials(study, tmp_path, jobs=1))


def test_a_second_run_into_the_folder_is_refused(study, tmp_path):
    held, ended = Event(), Event()

    def other_run():
        with reserved(tmp_path):
            held.set()
            ended.wait()

    thread = Thread(target=other_run)
    thread.start()
    held.wait()
    try:
        with refused("busy", str(tmp_path)):
            compute_trials(study, tmp_path)
    finally:
        ended.set()
        thread.join()
    assert not (tmp_path / "trials").exists()


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_full_disk_is_an_input_error_and_leaves_the_study_as_it_was(study, tmp_path):
    import resource

    computed = compute_trials(study, tmp_path, jobs=1)
    assert complete(computed)
    before, files = (computed.folder / "study.nc").read_bytes(), sorted(computed.folder.iterdir())
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
    try:
        with refused("not_writable", "study.nc"):
            write_study_data(computed)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert (computed.folder / "study.nc").read_bytes() == before and sorted(
        computed.folder.iterdir()
    ) == files
    assert complete(computed)

"""Trials on a scheduler of dask.distributed, here one in the same process."""

from __future__ import annotations

import sys

import pytest
from many_trials import write_stride
from packages import imported, need
from refusals import refused

import musclesolve as ms
from musclesolve.studies.many_trials import run_many


@pytest.fixture(scope="module")
def scheduler():
    distributed = imported("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
    ) as local:
        yield local.scheduler_address


def test_trials_are_computed_there_and_kept_here(scheduler, tmp_path):
    good = write_stride(tmp_path, "good")
    broken = write_stride(tmp_path, "broken", old='asis_r = "asis_r"', new='asis_r = "nowhere"')
    stages = []
    found = ms.run_many(
        [good, broken],
        tmp_path / "out",
        scheduler=scheduler,
        figures=False,
        progress=lambda *s: stages.append(s),
    )
    assert [record.outcome for record in found] == ["computed", "refused"]
    assert (tmp_path / "out" / "good" / "result.nc").is_file()
    assert (tmp_path / "out" / "broken" / "error.txt").is_file()
    assert stages[-1][1] == 1.0
    again = ms.run_many(good, tmp_path / "out", scheduler=scheduler, figures=False)
    assert [record.outcome for record in again] == ["unchanged"]


@pytest.mark.parametrize(
    ("known", "code", "name"),
    [(("99", []), "bad_environment", "99"), ((ms.__version__, ["/out"]), "missing_file", "/out")],
)
def test_workers_that_differ_are_refused(scheduler, tmp_path, monkeypatch, known, code, name):
    monkeypatch.setattr(run_many, "_known", lambda paths: known)
    with refused(code, name):
        ms.run_many(write_stride(tmp_path), tmp_path / "out", scheduler=scheduler)


def test_a_trial_that_is_lost_on_the_cluster_has_failed(scheduler, tmp_path, monkeypatch):
    def lose(job):
        raise MemoryError("no room")

    monkeypatch.setattr(run_many, "_attempt", lose)
    (record,) = ms.run_many(write_stride(tmp_path), tmp_path / "out", scheduler=scheduler)
    assert record.outcome == "failed" and "no room" in record.message


@pytest.mark.filterwarnings("ignore")  # of distributed, on its way to the refusal
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "tcp://nowhere", "no address"])
def test_no_scheduler_is_refused(tmp_path, monkeypatch, address):
    need("distributed")
    monkeypatch.setattr(run_many, "CONNECT_S", 0.2)
    with refused("bad_environment", "--scheduler", address):
        ms.run_many(write_stride(tmp_path), tmp_path / "new" / "out", scheduler=address)
    assert not (tmp_path / "new").exists()


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with refused("missing_package", ".[cluster]"):
        ms.run_many(write_stride(tmp_path), tmp_path / "out", scheduler="tcp://host:8786")

"""Number of threads of compiled code: one in each of the program's own processes."""

from __future__ import annotations

import os

import pytest

from musclesolve._util.processes import cores, one_thread_each, threads


@pytest.mark.parametrize("asked", ["", "many", "0", "-1"])
def test_all_cores_where_nothing_sensible_is_asked(monkeypatch, asked):
    monkeypatch.setenv("NUMBA_NUM_THREADS", asked)
    assert threads() == cores()


def test_one_in_a_process_that_is_one_of_many():
    before = dict(os.environ)
    with one_thread_each():
        assert threads() == 1
    assert dict(os.environ) == before

"""Number of threads of compiled code: one in each of the program's own processes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

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


FREED = """
import numpy as np
from musclesolve._util.processes import MANY_FRAMES, return_memory
def resident():
    return 4096 * int(open("/proc/self/statm").read().split()[1])
for _ in range(2):  # what was freed once lies in the heap the next time
    arrays = [np.ones(100_000) for _ in range(300)]
    del arrays[:-1]
before = resident()
return_memory(MANY_FRAMES)
assert resident() > before - 10e6
return_memory(MANY_FRAMES + 1)
assert resident() < before - 100e6
"""


@pytest.mark.skipif("glibc" not in platform.libc_ver(), reason="memory of the C library of Linux")
def test_freed_memory_of_many_frames_is_returned():
    subprocess.run([sys.executable, "-c", FREED], check=True)

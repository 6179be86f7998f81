"""Large arrays lie in files without a name, with the numbers of arrays in memory."""

from __future__ import annotations

import ctypes
import pickle
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from musclesolve._util import long_arrays
from musclesolve._util.long_arrays import let_go, long_array, sum_of

in_files = pytest.mark.skipif(sys.platform != "linux", reason="arrays lie in memory here")


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Arrays of 100 bytes are large, `let_go` always lets their pages go, no thread does, and the folder is known."""
    monkeypatch.setattr(long_arrays, "LARGE", 100)
    monkeypatch.setattr(long_arrays, "BEGINS", 1)
    monkeypatch.setattr(long_arrays, "FILE", 1 << 16)
    monkeypatch.setattr(long_arrays, "ROOM", -np.inf)
    monkeypatch.setattr(long_arrays, "LOOK", -np.inf)
    monkeypatch.setattr(long_arrays, "_watch", lambda: None)
    monkeypatch.setattr(long_arrays, "_WATCHES", [])
    monkeypatch.setattr(long_arrays, "_FILES", type(long_arrays._FILES)())
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_numbers_stay_when_the_pages_are_let_go(small):
    arrays = [long_array((50, 3)), long_array((1000, 7), np.float32), long_array((40, 90))]
    expected = [
        np.random.default_rng(k).normal(size=each.shape).astype(each.dtype) for k, each in enumerate(arrays)
    ]
    for each, values in zip(arrays, expected, strict=True):
        assert not each.any() and each.flags.writeable and each.flags.c_contiguous
        each[...] = values
    for _ in range(2):
        let_go()
        for each, values in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(each, values)
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(each)), values)
    assert not list(small.iterdir())


@in_files
def test_pages_stay_until_they_are_many(small, monkeypatch):
    array = long_array((1 << 20,))
    before = long_arrays._in_memory()[0]
    monkeypatch.setattr(long_arrays, "ROOM", 1 << 30)
    array[:] = 1.0
    let_go()
    assert long_arrays._in_memory()[0] - before > array.nbytes // 2
    monkeypatch.setattr(long_arrays, "ROOM", -np.inf)
    let_go()
    assert long_arrays._in_memory()[0] - before < array.nbytes // 2 and (array == 1.0).all()


@in_files
def test_a_thread_hands_pages_back_as_long_as_there_are_files(monkeypatch):
    monkeypatch.setattr(long_arrays, "_WATCHES", [])
    monkeypatch.setattr(long_arrays, "_FILES", type(long_arrays._FILES)())
    array = np.ndarray((1 << 23,), float, long_arrays._new_file(1 << 26))
    array[:] = 1.0
    limit = time.monotonic() + 30.0
    while (
        long_arrays._in_memory()[0] > long_arrays._Pages.beside + long_arrays.ROOM
        and time.monotonic() < limit
    ):
        time.sleep(long_arrays.WATCH)
    assert long_arrays._in_memory()[0] <= long_arrays._Pages.beside + long_arrays.ROOM
    assert (array == 1.0).all()
    threads = tuple(long_arrays._WATCHES)
    del array
    threads[0].join(30.0)
    assert not threads[0].is_alive() and not long_arrays._WATCHES


@in_files
@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library hands memory back itself"
)
def test_free_memory_is_handed_back_once_the_rest_has_grown(small):
    array = long_array((1 << 20,))
    let_go()
    pieces = [b"1" * 50_000 for _ in range(2 * long_arrays.FREED // 50_000)]
    held = pieces[::500]
    pieces.clear()
    before = long_arrays._in_memory()[1]
    let_go()
    assert before - long_arrays._in_memory()[1] > long_arrays.FREED
    assert all(each == held[0] for each in held) and not array.any()


@in_files
def test_small_arrays_lie_in_memory_and_arrays_larger_than_a_file_get_their_own(small):
    assert long_array((3, 4)).base is None
    first, larger, second = long_array((20,)), long_array((1 << 15,)), long_array((20,))
    assert first.base is not None and larger.base is not first.base
    assert not np.shares_memory(first, second)
    larger[:] = 1.0
    assert not first.any() and not second.any()


@in_files
def test_a_file_begins_with_an_array_that_a_short_recording_has_not(small, monkeypatch):
    monkeypatch.setattr(long_arrays, "BEGINS", 4)
    alone, first, beside = long_array((49,)), long_array((50,)), long_array((13,))
    assert alone.base is None and first.base is not None and beside.base is first.base


@in_files
def test_a_file_ends_with_its_arrays(small):
    array = long_array((50, 50))
    column = array[:, 3]
    del array
    column[:] = 2.0
    let_go()
    assert (column == 2.0).all() and len(long_arrays._FILES) == 1
    del column
    assert not len(long_arrays._FILES)


FORKED = """
import os
from musclesolve._util import long_arrays
long_arrays.LARGE = 100
first = long_arrays.long_array((50,))
if (child := os.fork()) == 0:
    first[:] += 1.0
    long_arrays.let_go()
    long_arrays.long_array((50,))[:] = 1.0
    os._exit(0 if (first == 1.0).all() else 1)
print(os.waitpid(child, 0)[1], int(first.any()), int(long_arrays.long_array((50,)).any()))
"""


@in_files
def test_a_process_that_was_forked_writes_into_copies_and_its_own_files():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)
    assert done.stdout == "0 0 0\n"


def test_without_a_folder_or_space_for_files_arrays_lie_in_memory(small, monkeypatch):
    def full(*arguments):
        raise OSError("no space left on device")

    monkeypatch.setattr(long_arrays.os, "posix_fallocate", full, raising=False)
    monkeypatch.setattr(long_arrays, "_FILES", type(long_arrays._FILES)())
    assert long_array((50, 3)).base is None
    monkeypatch.undo()
    monkeypatch.setattr(long_arrays, "LARGE", 100)
    monkeypatch.setattr(long_arrays, "BEGINS", 1)
    monkeypatch.setattr(long_arrays, "_FILES", type(long_arrays._FILES)())
    monkeypatch.setenv("TMPDIR", str(small / "nowhere"))
    assert long_array((50, 3)).base is None


def test_a_sum_by_blocks_is_the_sum_of_numpy():
    values = np.random.default_rng(2).normal(size=(1703, 4, 3))
    assert np.array_equal(sum_of(np.square, values), np.square(values).sum(axis=0))


class Pair(NamedTuple):
    first: object
    second: object


@dataclass(frozen=True)
class Holder:
    values: object


@in_files
def test_what_is_kept_lies_in_files_with_its_views_and_orders(small):
    values = np.random.default_rng(3).normal(size=(30, 40))
    turned, whole, few = np.asfortranarray(values), values.copy(), np.arange(3.0)
    assert long_arrays.in_files(whole) is whole  # a short motion has no file
    file = long_array((50,))
    named = {"part": whole[::-2, 3:], "several": [whole.T, few, "text"]}
    given = Holder((named, Pair(turned[:, ::-1], file)))
    found, again = long_arrays.in_files((given, whole))
    assert found is given and given.values[0] is named and given.values[1].second is file
    part, several, (flipped, _) = named["part"], named["several"], given.values[1]
    assert not any(np.shares_memory(each, whole) for each in (part, several[0], again))
    assert np.shares_memory(part, again) and np.shares_memory(several[0], again) and several[1] is few
    for new, old in ((part, whole[::-2, 3:]), (several[0], whole.T), (flipped, turned[:, ::-1])):
        np.testing.assert_array_equal(new, old)
        assert new.strides == old.strides
    assert long_arrays.in_files(again) is again


@in_files
def test_a_masked_array_keeps_its_mask(small):
    file, masked = long_array((50,)), np.ma.masked_equal(np.arange(100.0), 3.0)
    kept = long_arrays.in_files(Holder(masked)).values
    assert kept is masked and kept.mask[3] and not file.any()

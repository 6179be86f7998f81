"""Processes that compute tasks: order, faults, deaths."""

from __future__ import annotations

import os
import subprocess
import sys
from multiprocessing import active_children
from pathlib import Path

import pytest

from musclesolve._util.worker_pool import Lost, Pool
from musclesolve.errors import InputError, MuscleSolveError

pytestmark = pytest.mark.usefixtures("in_processes")


def task(folder: str, number: int, progress) -> int:
    """The square; process 2 dies once, 3 always; a negative number is refused."""
    progress("squares", 0.5)
    first = Path(folder, str(number))
    if number == 3 or (number == 2 and not first.exists()):
        first.touch()
        os._exit(7)
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number**2


def test_results_come_in_order_and_a_task_is_computed_again_where_its_process_died(tmp_path):
    assert list(Pool(task, str(tmp_path), [5, 2, 4], 2).ordered()) == [25, 4, 16]
    assert not active_children()


def test_what_is_done_beside_the_start_comes_once_and_before_any_result(tmp_path):
    pool, started = Pool(task, str(tmp_path), [5, 4], 2), []
    pool.beside = lambda: started.append((len(pool.workers), len(pool.waiting)))
    assert dict(pool.results()) == {0: 25, 1: 16}
    assert started == [(2, 0)]


def where(shared: None, number: int, progress) -> int:
    """The process that computes the task."""
    if number < 0:
        raise ValueError(f"{number} is negative")
    return os.getpid()


def test_a_task_that_kills_its_processes_is_lost_alone(tmp_path):
    seen = []
    found = dict(Pool(task, str(tmp_path), [3, 6], 1).results(lambda *state: seen.append(state)))
    assert found[1] == 36 and isinstance(found[0], Lost) and "exit code 7, 2 times" in found[0].reason
    assert ([1], 0.5) in seen


def test_an_error_of_a_task_is_raised_with_its_place(tmp_path):
    with pytest.raises(ValueError) as raised:
        list(Pool(task, str(tmp_path), [1, -1], 2).ordered())
    assert "in task" in raised.value.__notes__[0]
    assert not active_children()


class TwoWordsError(Exception):
    """Cannot be made again of its message alone."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


def unsendable(what: str, number: int, progress) -> object:
    """Raise or return what cannot be sent to another process."""
    if what == "result":
        return lambda: None
    error = TwoWordsError("two", "words") if what == "error made of two words" else ValueError(what)
    error.held = None if what == "error made of two words" else (lambda: None)
    raise error


@pytest.mark.parametrize("what", ["result", "error made of two words", "error that holds a function"])
def test_what_cannot_be_sent_back_is_an_error_in_words(what):
    with pytest.raises(Exception, match=r"lambda|two words|holds a function") as raised:
        list(Pool(unsendable, what, [1, 2], 2).ordered())
    assert not isinstance(raised.value, MuscleSolveError)  # what a dead process would be
    assert not active_children()


def refused(shared: None, number: int, progress) -> None:
    raise InputError("x", code="bad_number", file="f", where="w", expected="e", remedy="r")


def test_an_input_error_keeps_its_code_and_place():
    with pytest.raises(InputError) as raised:
        list(Pool(refused, None, [1, 2], 2).ordered())
    found = vars(raised.value) | {"__notes__": None}
    parts = {
        "problem": "x",
        "code": "bad_number",
        "file": "f",
        "where": "w",
        "expected": "e",
        "remedy": "r",
        "key": None,
    }
    assert found == parts | {"__notes__": None}
    assert str(raised.value) == "f, w: x\n  expected: e\n  remedy: r"


def test_an_interrupt_leaves_no_process_behind(tmp_path):
    def stop(running, fraction):
        if fraction:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Pool(task, str(tmp_path), range(4, 40), 2).results(stop))
    assert not active_children()


def test_a_script_without_a_guard_is_refused(tmp_path):
    """Every process reads the script again: it would start processes itself."""
    script = tmp_path / "script.py"
    call = "Pool(max, 0, [1, 2], 2).ordered()"
    script.write_text(f"from musclesolve._util.worker_pool import Pool\nlist({call})\n", encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert 'if __name__ == "__main__":' in done.stderr.splitlines()[-1]
    assert done.stderr.count("Traceback") == 1

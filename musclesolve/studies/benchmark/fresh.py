"""Calls in a process of their own: nothing is imported, compiled or cached there, and its peak memory is theirs."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from musclesolve.errors import MuscleSolveError

CODE = "import sys; from musclesolve.studies.benchmark.fresh import answer; answer(sys.argv[1])"
LAST_WORDS = 200


class NoAnswerError(MuscleSolveError):
    """The process ended without an answer; says how."""


def in_fresh_process(function: Callable[..., Any], *arguments: Any, limit: float) -> Any:
    """What a function of this package returns when another Python calls it.

    Args:
        function: by whose module and name the other process finds it.
        arguments: which can be pickled, as can what it returns.
        limit: after so many seconds the process is ended.

    Raises:
        NoAnswerError: it took longer, or came to another end than an answer.
    """
    with tempfile.TemporaryDirectory() as folder:
        question = Path(folder) / "question"
        question.write_bytes(pickle.dumps((function.__module__, function.__name__, arguments)))
        try:
            done = subprocess.run(
                [sys.executable, "-c", CODE, str(question)], capture_output=True, text=True, timeout=limit
            )
        except subprocess.TimeoutExpired:
            raise NoAnswerError(f"no answer within {limit:.0f} s") from None
        found = question.with_name("answer")
        if not found.is_file():
            raise NoAnswerError(last_words(done.stderr, done.returncode))
        return pickle.loads(found.read_bytes())


def last_words(stderr: str, code: int) -> str:
    """Of a process that ended without an answer; one that was killed says nothing."""
    said = stderr.strip().splitlines()
    return said[-1][:LAST_WORDS] if said else f"ended with code {code}"


def answer(file: str) -> None:
    """In the other process: call the function, and write what it returns beside the question."""
    question = Path(file)
    module, name, arguments = pickle.loads(question.read_bytes())
    found = getattr(importlib.import_module(module), name)(*arguments)
    question.with_name("answer").write_bytes(pickle.dumps(found))

"""What many tests need and none doubts is computed once.

Numbers of the same text, plates under the bundled stride, synthetic recordings of the same options, and what an
examination finds in the same recording: every run of a recording examines it.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np
import pytest

from musclesolve.checking import check
from musclesolve.checking.case import Case
from musclesolve.checking.stages import Check
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.recording.text import number_rows
from musclesolve.synthetic import synthetic_recording
from musclesolve.synthetic.reference_stride import ReferenceStride

KEPT = 100
"""Answers of each function that are kept, those that were asked for last."""


class Answers:
    """Answers by question."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Any] = OrderedDict()

    def of(self, question: Hashable, compute: Callable[[], Any]) -> Any:
        """The answer to a question, computed where it is not known."""
        if question not in self._known:
            self._known[question] = compute()
        self._known.move_to_end(question)
        if len(self._known) > KEPT:
            self._known.popitem(last=False)
        return self._known[question]


def compute_once(patch: pytest.MonkeyPatch) -> None:
    """Keep what has been computed, and hand out copies."""
    texts, strides, recordings, cases = Answers(), Answers(), Answers(), Answers()
    numbers, wrenches = number_rows._all_at_once, ReferenceStride.wrenches
    files, examine = synthetic_recording.recording_files, check.examine

    @wraps(numbers)
    def numbers_once(lines: list[str], *how: Hashable) -> np.ndarray | None:
        text = hashlib.blake2b("\n".join(lines).encode("utf-8", "surrogatepass")).digest()
        found = texts.of((text, *how), lambda: numbers(lines, *how))
        return None if found is None else found.copy()

    def wrenches_once(stride: ReferenceStride, time: np.ndarray) -> list[Wrench]:
        time = np.asarray(time, float)
        _, found = strides.of(
            (id(stride), time.shape, time.tobytes()), lambda: (stride, wrenches(stride, time))
        )
        return [replace(each, force=each.force.copy(), moment=each.moment.copy()) for each in found]

    @wraps(files)
    def files_once(
        stride: ReferenceStride | None = None, truth: bool = True, **options: object
    ) -> dict[str, bytes]:
        # The stride is kept with its answer: no other one can have its identity meanwhile.
        question = (id(stride), truth, repr(sorted(options.items())))
        return dict(recordings.of(question, lambda: (stride, files(stride, truth, **options)))[1])

    @wraps(examine)
    def examine_once(case: Case, checks: Iterable[Check], prepare: Any) -> Case:
        if checks is not check.all_checks():
            return examine(case, checks, prepare)
        recorded = hashlib.blake2b(pickle.dumps(replace(case, prepared=None), 5)).digest()
        return cases.of(recorded, lambda: examine(case, checks, prepare))

    patch.setattr(synthetic_recording, "recording_files", files_once)
    patch.setattr(check, "examine", examine_once)
    patch.setattr(number_rows, "_all_at_once", numbers_once)
    patch.setattr(ReferenceStride, "wrenches", wrenches_once)

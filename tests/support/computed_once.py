"""Computations that many tests need and none examines, done once.

Numbers of the same text, plates under the bundled stride, synthetic recordings of the same options, what an
examination finds in the same recording: every run of a recording examines it; and where muscles lie on the bones, which
every report of the same trial shows.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import wraps
from typing import Any
from weakref import WeakSet

import numpy as np
import pytest

from musclesolve.dynamics import Wrench
from musclesolve.laboratory.checks import check
from musclesolve.laboratory.report.picture import lofted_bones
from musclesolve.studies.synthetic import synthetic_recording
from musclesolve.studies.synthetic.reference_stride import ReferenceStride
from musclesolve.tables import number_rows

KEPT = 100
"""Answers of a function that are kept, those that were asked for last."""


class Answers:
    """Answers by question."""

    def __init__(self, kept: int = KEPT) -> None:
        self._known: OrderedDict[Hashable, Any] = OrderedDict()
        self._kept = kept

    def of(self, question: Hashable, compute: Callable[[], Any]) -> Any:
        """The answer to a question, computed where it is not known."""
        if question not in self._known:
            self._known[question] = compute()
        self._known.move_to_end(question)
        if len(self._known) > self._kept:
            self._known.popitem(last=False)
        return self._known[question]


def content(value: Any) -> bytes:
    """A question by what it holds, however large that is."""
    return hashlib.blake2b(pickle.dumps(value, 5)).digest()


HARMLESS = tuple(
    f"musclesolve.{part}"
    for part in (
        "_util.worker_pool",
        "cli",
        "apps.desk",
        "laboratory.plotting",
        "laboratory.report",
        "studies",
    )
)
"""Parts of the package that examine no recording and make none."""


class Patches:
    """All that is patched now by any other `MonkeyPatch` than that of this module."""

    def __init__(self, own: pytest.MonkeyPatch) -> None:
        known = self._known = WeakSet[pytest.MonkeyPatch]()
        begin = pytest.MonkeyPatch.__init__

        @wraps(begin)
        def counted(patch: pytest.MonkeyPatch) -> None:
            begin(patch)
            known.add(patch)

        own.setattr(pytest.MonkeyPatch, "__init__", counted)

    def change_the_package(self) -> bool:
        """Whether a constant or function is another one now than where an answer was computed."""
        places = [place for patch in self._known for place, _, _ in patch._setattr]
        names = [getattr(place, "__module__", None) or getattr(place, "__name__", "") for place in places]
        return any(name.startswith("musclesolve") and not name.startswith(HARMLESS) for name in names)


def compute_once(patch: pytest.MonkeyPatch) -> None:
    """Keep what has been computed, and hand out copies."""
    patches = Patches(patch)
    texts, strides, surfaces = Answers(), Answers(), Answers(1000)
    recordings, cases = Answers(20), Answers(20)  # each of megabytes
    numbers, wrenches = number_rows._all_at_once, ReferenceStride.wrenches
    files, examine = synthetic_recording.recording_files, check.examine
    nearest = lofted_bones.nearest_points

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
        if patches.change_the_package():
            return files(stride, truth, **options)
        # The stride is kept with its answer: no other one can have its identity meanwhile.
        question = (id(stride), truth, repr(sorted(options.items())))
        return dict(recordings.of(question, lambda: (stride, files(stride, truth, **options)))[1])

    @wraps(examine)
    def examine_once(case, checks):
        if checks is not check.all_checks() or patches.change_the_package():
            return examine(case, checks)
        question = content((replace(case, body=None), case.body is None))
        return list(cases.of(question, lambda: examine(case, checks)))

    @wraps(nearest)
    def nearest_once(points: np.ndarray, *on: Any) -> tuple[np.ndarray, np.ndarray]:
        place, distance = surfaces.of(content((points, *on)), lambda: nearest(points, *on))
        return place.copy(), distance.copy()

    patch.setattr(lofted_bones, "nearest_points", nearest_once)
    patch.setattr(synthetic_recording, "recording_files", files_once)
    patch.setattr(check, "examine", examine_once)
    patch.setattr(number_rows, "_all_at_once", numbers_once)
    patch.setattr(ReferenceStride, "wrenches", wrenches_once)

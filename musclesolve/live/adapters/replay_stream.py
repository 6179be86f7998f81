"""A recording in real time: its samples at the rate of a `Live`, one by one by the clock."""

from __future__ import annotations

from time import perf_counter, sleep

import numpy as np

from musclesolve.errors import InputError
from musclesolve.live.joining import Reading, Wanted
from musclesolve.live.live import Live
from musclesolve.live.replay import samples
from musclesolve.live.stream import Sample, StreamEnded
from musclesolve.recording.trial.trial_file import read_recording


class ReplayStream:
    """The samples of the trial of a `Live`, or of another trial file with the same markers and plates.

    Args:
        address: path of the trial file; "": that of the `Live`.
        wanted: for which the samples are.
    """

    clock = "recording"
    remarks = ()

    def __init__(self, address: str, wanted: Wanted) -> None:
        live = wanted.live
        if not isinstance(live, Live):
            raise InputError(
                "a recording cannot be replayed to a subject who is to stand first",
                code="conflict",
                where="--from",
                expected="a stream that shows the standing and then the movement",
                remedy="leave out --stand: the trial file names its standing trial",
            )
        trial = read_recording(address, "a replay") if address else live.trial
        self._samples = samples(live, trial, live.rate)
        self._next: Sample | None = next(self._samples)
        self._first, self._begun = self._next.time, np.inf

    def read(self, timeout: float) -> list[Reading]:
        """See Stream."""
        sample = self._next
        if sample is None:
            raise StreamEnded
        self._begun = min(self._begun, perf_counter())
        early = self._begun + sample.time - self._first - perf_counter()
        sleep(min(max(early, 0.0), timeout))
        if early > timeout:
            return []
        self._next, now = next(self._samples, None), perf_counter()
        readings = [Reading("plates", sample.time, sample.plates, now)]
        if sample.emg is not None:
            readings.append(Reading("emg", sample.time, sample.emg, now))
        return [*readings, Reading("markers", sample.time, sample.markers, now)]

    def close(self) -> None:
        """See Stream."""

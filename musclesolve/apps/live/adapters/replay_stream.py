"""A recording in real time: its samples at the rate of a `Live`, one by one by the clock, once or over and over.

At each repetition the clock continues after a pause longer than `Live` bridges, so that the filter restarts and no
frame is made of both ends of the recording.
"""

from time import perf_counter, sleep

import numpy as np

from musclesolve.apps.live.joining import Reading, Wanted
from musclesolve.apps.live.live import Live
from musclesolve.apps.live.replay import samples
from musclesolve.apps.live.stream import StreamEnded
from musclesolve.errors import input_error
from musclesolve.laboratory.forces import recording_of

SEAM = 0.1
"""Pause between two repetitions beyond the bridged time, at least three samples [s]."""


class ReplayStream:
    """The samples of the trial of a `Live`, or of another trial file with the same markers and plates.

    Args:
        address: path of the trial file; "": the trial file of the `Live`.
        wanted: for which the samples are, and whether the recording is repeated.
    """

    clock = "recording"
    remarks = ()

    def __init__(self, address: str, wanted: Wanted) -> None:
        live = wanted.live
        if not isinstance(live, Live):
            fault = "a recording cannot be replayed to a subject who is to stand first"
            expected = "a stream that shows the standing and then the movement"
            remedy = "leave out --stand: the trial file names its standing trial"
            raise input_error("conflict", where="--from", problem=fault, expected=expected, remedy=remedy)
        trial = recording_of(address, "a replay") if address else live.trial
        self._samples = list(samples(live, trial, live.rate))
        self._next, self._repeats = 0, wanted.repeats
        first, last = self._samples[0].time, self._samples[-1].time
        pause = live.bridge + max(SEAM, 3.0 / live.rate)
        self._period = last - first + pause
        self._seam = round(pause * live.rate) - 1 if pause < 1.0 else 0
        self.paused = 0  # samples that a sender would have sent between the repetitions
        self._shift, self._first, self._begun = 0.0, first, np.inf

    def read(self, timeout: float) -> list[Reading]:
        """See Stream."""
        if self._next == len(self._samples):
            if not self._repeats:
                raise StreamEnded
            self._next, self._shift, self.paused = 0, self._shift + self._period, self.paused + self._seam
        sample = self._samples[self._next]
        time = sample.time + self._shift
        self._begun = min(self._begun, perf_counter())
        early = self._begun + time - self._first - perf_counter()
        sleep(min(max(early, 0.0), timeout))
        if early > timeout:
            return []
        self._next, now = self._next + 1, perf_counter()
        readings = [Reading("plates", time, sample.plates, now)]
        if sample.emg is not None:
            readings.append(Reading("emg", time, sample.emg, now))
        return [*readings, Reading("markers", time, sample.markers, now)]

    def close(self) -> None:
        """See Stream."""

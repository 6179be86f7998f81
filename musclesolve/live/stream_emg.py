"""Activations that the EMG of a stream lets expect, where the cost follows EMG."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve._util.message_text import few
from musclesolve.pipeline.emg_informed import follows_emg
from musclesolve.pipeline.recorded_body import RecordedBody

MOST_ENVELOPE = 5.0
"""An envelope of EMG of more times the maximum is in another unit, such as percent, or a disturbance."""


class StreamEmg:
    """Envelopes of k channels over time.

    Args:
        body: the trial with its channels; without any where the cost does not follow EMG.
        bridge: longest time between samples over which envelopes are interpolated [s].
    """

    def __init__(self, body: RecordedBody, bridge: float) -> None:
        self._emg = body.emg if follows_emg(body.options.sharing.cost) else None
        self.channels = () if self._emg is None else self._emg.channels
        self._muscles, self._bridge = body.muscles, bridge
        self._envelopes = deque[tuple[float, Array]]()  # with their times [s]

    def clear(self) -> None:
        """Forget all samples."""
        self._envelopes.clear()

    def take(self, time: float, emg: ArrayLike) -> list[str]:
        """Keep the envelopes (k,) of a sample; a note where one cannot be."""
        envelopes = check_array(emg, "emg", (len(self.channels),), finite=False, real=True)
        odd = np.abs(envelopes) > MOST_ENVELOPE
        # a new array: the caller may use its own for the next sample
        self._envelopes.append((time, np.where(odd, np.nan, envelopes)))
        those = [self.channels[k] for k in np.flatnonzero(odd)]
        return [f"EMG of {few(those)} is no share of the maximum, 0 to 1, and was left out"] if those else []

    def expected(self, at: float) -> tuple[Array | None, list[str]]:
        """Activations (N,) that EMG lets expect at a time [s], None without a cost that follows it; notes."""
        if self._emg is None:
            return None, []
        at -= self._emg.delay
        envelopes = self._envelopes
        while len(envelopes) > 1 and envelopes[1][0] <= at:
            envelopes.popleft()
        value = np.full(len(self.channels), np.nan)
        if len(envelopes) > 1 and envelopes[0][0] <= at:
            (first, low), (last, high) = envelopes[0], envelopes[1]
            if last - first <= self._bridge:
                value = low + (high - low) * (at - first) / (last - first)
        missing = [self.channels[k] for k in np.flatnonzero(np.isnan(value))]
        notes = [f"no EMG of {few(missing, 3)} came in time"] if missing else []
        if len(missing) == len(value):
            notes = ["no EMG came in time: forces follow the cost alone"]
        return self._emg.of_muscles(value[None], self._muscles)[0], notes

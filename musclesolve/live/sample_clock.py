"""Choice of the samples of a stream to take, by their times alone.

Samples belong to an even clock that starts with the first of them: each to the slot that is a whole number of periods
after the slot of the sample before, so that a clock that runs a little fast or slow is followed. What comes twice, late
or between two slots is refused; where samples are lost for longer than is bridged, or refused one after the other
because the clock itself has changed, the next sample is a first one again. A step ahead of more than a second is
believed when a second sample follows the first one there: a single time that is far off is refused.
"""

from typing import NamedTuple

import numpy as np

OFF_GRID = 0.25
"""Largest deviation of a sample from its time, as a share of a period; a sample farther off is refused."""

LONGEST_JUMP = 1.0
"""Step ahead above which a second sample has to confirm it [s]."""


class Taken(NamedTuple):
    """Treatment of a sample.

    slots: periods since the last accepted sample; 0 for a first one, and where unknown. anew: earlier samples are no
    longer of use. refusal: reason of a refusal, "" for an accepted sample.
    """

    slots: int = 0
    anew: bool = False
    refusal: str = ""


class SampleClock:
    """The slots of a stream.

    Args:
        rate: samples a second [Hz].
        bridge: longest time without samples after which a stream goes on [s].
    """

    def __init__(self, rate: float, bridge: float) -> None:
        self._rate, self._most = rate, bridge * rate
        self.clear()

    def clear(self) -> None:
        """The next sample is the first one."""
        self._newest, self._refused = np.nan, 0  # time of the newest taken [s]; how many since were refused
        self._ahead = np.nan  # time of the last refused one that came far ahead [s]

    def take(self, time: float) -> Taken:
        """Note the time of a sample [s], and say whether it is taken."""
        if not np.isfinite(time):
            return Taken(refusal="a sample without a time was refused")
        if self._refused > self._most:  # the clock has changed
            self.clear()
            self._newest = time
            return Taken(anew=True)
        slots, anew = 0, False
        if not np.isnan(self._newest):
            periods = (time - self._newest) * self._rate
            slots = round(periods)
            anew = slots - 1 > self._most + 1e-9
            if slots < 1:
                self._refused += 1
                return Taken(
                    refusal=f"the sample of {time:.4f} s came after the sample of {self._newest:.4f} s and was refused"
                )
            follows = self._ahead < time and round((time - self._ahead) * self._rate) - 1 <= self._most + 1e-9
            if anew and slots > LONGEST_JUMP * self._rate and not follows:
                self._ahead, self._refused = time, self._refused + 1
                return Taken(
                    refusal=f"the sample of {time:.4f} s came {time - self._newest:.4g} s after the last one and was "
                    "refused until another one follows it"
                )
            if not anew and abs(periods - slots) > OFF_GRID:
                self._refused += 1
                return Taken(
                    refusal=f"the sample of {time:.4f} s is not {self._rate:g} times a second and was refused"
                )
        self._newest, self._ahead, self._refused = time, np.nan, 0
        return Taken(slots, anew)

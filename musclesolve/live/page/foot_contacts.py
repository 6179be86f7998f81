"""Contacts of a foot as soon as they are known, from its vertical ground force.

They are those of `motion.events.force_events.contacts`, which is asked when a contact has lasted long enough to be a
step, and when the foot has been unloaded for longer than a dropout lasts: what comes later changes nothing then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from musclesolve.motion.events.force_events import LONGEST_DROPOUT, SHORTEST_CONTACT, contacts

LONGEST_CONTACT = 5.0
"""A foot that is on the ground for longer stands: that is no step [s]."""


class Span(NamedTuple):
    """Beginning and end of a contact, or of a gait cycle, by the clock of the frames [s]."""

    begin: float
    end: float


class FootContacts:
    """One foot, sample by sample; threshold and firm level of its vertical force [N] as in `contacts`."""

    def __init__(self, threshold: float, firm: float) -> None:
        self.threshold, self.firm = threshold, firm
        self.clear()

    def clear(self) -> None:
        """Forget all samples: a contact of which a part is not known is none, and no cycle goes on from before it."""
        self._strike = np.nan  # the last one [s]
        self._seen = -np.inf  # begin of the last contact whose strike is known [s]
        self._unknown = np.nan  # since when the force is not known [s]
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._time, self._vertical = list[float](), list[float]()
        self._first = self._last = np.nan  # loaded samples since the foot was unloaded for long
        self._asked = False  # whether the strike of the present contact is known

    def push(self, time: float, vertical: float) -> tuple[list[Span], list[Span]]:
        """Take a sample: time [s], later than the one before, and vertical force [N], NaN where it is not known.

        A contact whose force is below the firm level before it is not known has ended. A gait cycle goes on over a
        force that is not known for no longer than a dropout, while no foot is firmly on the ground.

        Returns:
            The contacts that have ended, and the gait cycles (from strike to strike) that have; mostly none.
        """
        if not np.isfinite(vertical):
            return self._lost(time)
        if time - self._first > LONGEST_CONTACT or time - self._unknown > LONGEST_DROPOUT:
            self.clear()
        self._unknown = np.nan
        self._time.append(time)
        self._vertical.append(vertical)
        if vertical > self.threshold:
            self._first = time if np.isnan(self._first) else self._first
            self._last = time
            return [], [] if self._asked or time - self._first < SHORTEST_CONTACT else self._cycles()
        if np.isnan(self._last):  # unloaded for long: the newest sample is enough
            del self._time[:-1], self._vertical[:-1]
        if np.isnan(self._last) or time - self._last < LONGEST_DROPOUT:
            return [], []
        cycles, ended = self._cycles(), self._ended()
        del self._time[:-1], self._vertical[:-1]
        self._first = self._last = np.nan
        self._asked = False
        return ended, cycles

    def _lost(self, time: float) -> tuple[list[Span], list[Span]]:
        """Take a sample without a force."""
        if not self._time:
            self._unknown = time if np.isnan(self._unknown) else self._unknown
            return [], []
        if self._vertical[-1] > self.firm:
            self.clear()
            return [], []
        self._time.append(time)
        self._vertical.append(0.0)
        cycles, ended = self._cycles(), self._ended()
        self._begin_anew()
        self._unknown = time
        return ended, cycles

    def _contacts(self) -> list[tuple[float, float]]:
        found = contacts(np.array(self._time), np.array(self._vertical), self.threshold, self.firm)
        return [(float(begin), float(end)) for begin, end in found]

    def _ended(self) -> list[Span]:
        """The contacts of which both ends are known."""
        return [Span(*each) for each in self._contacts() if np.isfinite(each).all()]

    def _cycles(self) -> list[Span]:
        """Note the strikes of contacts that are long enough for a step; the cycles that end with them."""
        cycles = []
        for begin, _ in self._contacts():
            self._asked = True
            if begin > self._seen:
                if np.isfinite(self._strike):
                    cycles.append(Span(self._strike, begin))
                self._strike = self._seen = begin
        return cycles

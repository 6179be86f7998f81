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
        self._time, self._vertical = list[float](), list[float]()
        self._first = self._last = np.nan  # loaded sample since the foot was unloaded
        self._struck = self._known = (
            np.nan
        )  # last strike, and the one that is reported of the present contact

    def push(self, time: float, vertical: float) -> tuple[Span | None, Span | None]:
        """Take a sample: time [s], later than the one before, and vertical force [N], NaN where it is not known.

        Returns:
            The contact that has ended, and the gait cycle (from strike to strike) that has; None where there is none.
        """
        if not np.isfinite(vertical) or time - self._first > LONGEST_CONTACT:
            # a foot that has been unloaded before has ended its contact; what is known of any other ends here
            ended = self._ended() if self._time and self._time[-1] > self._last else None
            self.clear()
            return ended, None
        self._time.append(time)
        self._vertical.append(vertical)
        if vertical > self.threshold:
            self._first = time if np.isnan(self._first) else self._first
            self._last = time
            if np.isnan(self._known) and time - self._first >= SHORTEST_CONTACT:
                return None, self._strike()
            return None, None
        if np.isnan(self._last):  # unloaded for long: the newest sample is enough
            del self._time[:-1], self._vertical[:-1]
        if np.isnan(self._last) or time - self._last < LONGEST_DROPOUT:
            return None, None
        cycle = self._strike() if np.isnan(self._known) else None
        ended = self._ended()
        del self._time[:-1], self._vertical[:-1]
        self._first = self._last = self._known = np.nan
        return ended, cycle

    def _ended(self) -> Span | None:
        """The last contact of which both ends are known."""
        return next((Span(*each) for each in self._contacts()[::-1] if np.isfinite(each).all()), None)

    def _contacts(self) -> list[tuple[float, float]]:
        found = contacts(np.array(self._time), np.array(self._vertical), self.threshold, self.firm)
        return [(float(begin), float(end)) for begin, end in found]

    def _strike(self) -> Span | None:
        """Note the strike of the present contact once it is a step; the cycle that ends with it."""
        begun = [begin for begin, _ in self._contacts()][-1:]
        if not begun:
            return None
        before, self._known = self._struck, begun[0]
        self._struck = begun[0] if np.isfinite(begun[0]) else np.nan
        return Span(before, self._struck) if np.isfinite([before, self._struck]).all() else None

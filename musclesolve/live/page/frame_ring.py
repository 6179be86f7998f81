"""Transfer of frames from the computing process to the process of the page, through shared memory.

The writer never waits: it puts a frame into the next row of a ring and then counts it. A reader that is too slow loses
the oldest rows, and learns how many.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve.live.live import Frame, Live

BYTES = 1 << 23
"""Size of the ring: some 15 s of a hundred frames a second with 86 muscles."""
HEADER_BYTES = 64
NOTE = 400
"""Largest size of each text of a frame [bytes]."""

OF_FRAME = (
    *("time", "seconds", "coordinates", "wrench", "angle", "moment", "activation", "force", "joint_reaction"),
)
"""Attributes of a frame that a page shows, beside its status."""
TEXTS = ("notes", "faults")


def row_type(live: Live) -> np.dtype[Any]:
    """A frame as a row: number, arrival of its sample (`perf_counter` [s]), whether it failed, status and texts."""
    numbers = [(name, "f8", live.shapes.get(name, ())) for name in OF_FRAME]
    texts = [(name, f"S{NOTE}", ()) for name in (*TEXTS, "said")]
    status = ("status", "i1", (len(live.sides),))
    return np.dtype(
        [("number", "i8", ()), ("received", "f8", ()), ("failed", "?", ()), *numbers, status, *texts]
    )


class FrameRing:
    """Rows of frames in shared memory of `BYTES`; one writes, another one reads."""

    def __init__(self, memory: Any, kind: np.dtype[Any]) -> None:
        self._counts = np.frombuffer(memory, np.int64, 2)  # frames begun, frames done
        slots = (BYTES - HEADER_BYTES) // kind.itemsize
        self.rows: NDArray[Any] = np.frombuffer(memory, kind, slots, HEADER_BYTES)
        self._read = 0

    def write(self, received: float, frame: Frame, said: str = "") -> None:
        """Add a frame, and a sentence that the session says with it."""
        number = int(self._counts[1])
        self._counts[0] = number + 1
        row = self.rows[number % len(self.rows)]
        row["number"], row["received"] = number, received
        for name in (*OF_FRAME, "status", "failed"):
            row[name] = getattr(frame, name)
        # what is off is shown by itself
        texts = {"faults": frame.faults, "notes": [note for note in frame.notes if note not in frame.faults]}
        for name in TEXTS:
            row[name] = "; ".join(texts[name]).encode()[:NOTE]
        row["said"] = said.encode()[:NOTE]
        self._counts[1] = number + 1

    def read(self) -> tuple[NDArray[Any], int]:
        """The frames (k,) since the last reading, and how many before them are lost."""
        first, done = self._read, int(self._counts[1])
        oldest = max(first, done - len(self.rows))
        rows = self.rows[np.arange(oldest, done) % len(self.rows)]
        # what was overwritten meanwhile is no frame any more
        kept = (rows["number"] == np.arange(oldest, done)) & (
            np.arange(oldest, done) > int(self._counts[0]) - 1 - len(self.rows)
        )
        self._read = done
        return rows[kept], done - first - int(kept.sum())

"""Recordings that the desk has read: each file once, until it changes."""

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from threading import Lock

from muscle_db.regular_file import file_state
from musclesolve.errors import InputError
from musclesolve.recording.data import Markers
from musclesolve.recording.formats import read_markers

MOST_KEPT = 12
Stamp = dict[Path, tuple[int, int] | None]
"""Files with their `file_state`."""


class Recordings:
    """Marker recordings by their path; may be used from several threads at once."""

    def __init__(self) -> None:
        self._kept = OrderedDict[Path, tuple[Stamp, Markers | InputError]]()
        self._lock = Lock()

    def markers(self, path: Path) -> Markers:
        """The markers of a file, as `read_markers` returns them; read where the file is new or has changed."""
        known = self._known(path)
        if known is None:
            stamp = _stamp((path,))
            try:
                known = read_markers(path)
                stamp = _stamp((path, *known.sources))
            except InputError as error:
                known = error
            with self._lock:
                self._kept[path] = stamp, known
                self._kept.move_to_end(path)
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
        if isinstance(known, InputError):
            raise known
        return known

    def known(self, path: Path) -> bool:
        """Return whether `markers` needs no reading of the file."""
        return self._known(path) is not None

    def _known(self, path: Path) -> Markers | InputError | None:
        with self._lock:
            kept = self._kept.get(path)
        if kept is None or _stamp(kept[0]) != kept[0]:
            return None
        return kept[1]


def _stamp(paths: Iterable[Path]) -> Stamp:
    """The state of some files."""
    return {path: file_state(path) for path in paths}

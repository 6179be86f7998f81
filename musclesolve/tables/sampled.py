"""Samples over time: markers and columns of a file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.messages import NO_WARNING, WarningNote, with_sizes


class Sampled:
    """Samples at evenly spaced times (T,) [s]."""

    time: Array

    @property
    def rate(self) -> float:
        """Samples per second [Hz], from the times."""
        return (self.time.size - 1) / float(self.time[-1] - self.time[0])


class FromFile(Sampled):
    """Samples read from a file of rows, with notes for a reader of the results."""

    notes: tuple[str, ...]
    row_warning: WarningNote

    @property
    def sentences(self) -> list[str]:
        """The warning on the rows, if there is one, and the notes."""
        return [sentence for sentence in (self.row_warning, *self.notes) if sentence]


def swapped(position: Array, *pairs: tuple[int, int], frames: Mask | slice = slice(None)) -> Array:
    """Return positions (T, n, 3) with both markers of every pair in each other's place, in some frames."""
    changed = position.copy()
    for one, other in pairs:
        changed[frames, one], changed[frames, other] = position[frames, other], position[frames, one]
    return changed


@dataclass(frozen=True, eq=False)
class Markers(FromFile):
    """Trajectories of n markers over T frames.

    Args:
        time: (T,) [s], increasing.
        names: n marker names.
        position: (T, n, 3) [m], NaN where a marker was not seen. In the axes of the file as the reader
            returns it; in the global frame (x forward, y left, z up) inside a Trial.
        path: of the file. notes: for the results. sources: further files that contributed. repeated: repeated name ->
            its places in the file; the positions of these markers are NaN. aliases: other name in the file -> name.
        row_warning: see Table.
        diameter: of the markers [m], as the file states it; None where it does not. sha256: hash of the file; "" for
            a file that is not read from its beginning to its end.

    Examples:
        >>> markers = ms.laboratory.read_markers(ms.data.reference_stride().parent / "walk.trc")
        >>> markers.position.shape[1:] == (len(markers.names), 3)
        True
    """

    time: Array
    names: tuple[str, ...]
    position: Array
    path: Path
    notes: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()
    repeated: Mapping[str, str] = field(default_factory=dict)
    row_warning: WarningNote = NO_WARNING
    diameter: float | None = None
    sha256: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)

    __repr__ = with_sizes

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Array:
        """Return the (T, 3) trajectory of one marker [m]."""
        return self.position[:, self.names.index(name)]

    def weighted(self, weights: Mapping[str, float]) -> Array:
        """Return the (T, 3) weighted sum of markers [m]."""
        return np.asarray(sum(weight * self[name] for name, weight in weights.items()))

    def rotated(self, rotation: Array) -> Self:
        """Return the markers in other axes: p' = R p, with R (3, 3)."""
        return replace(self, position=self.position @ rotation.T)

    def exchanged(self, pairs: Mapping[str, str], frames: Mask | slice = slice(None)) -> Self:
        """Return the markers with both of every pair in each other's place, in some frames."""
        columns = [(self.names.index(one), self.names.index(other)) for one, other in pairs.items()]
        return replace(self, position=swapped(self.position, *columns, frames=frames))


ZERO = "0"
"""The name of a component of a plate that is zero throughout, in the place of a column."""


@dataclass(frozen=True, eq=False)
class Table(FromFile):
    """Columns over time, as in MOT and STO files.

    Args:
        time: (T,) [s], increasing.
        names: k column names, time not among them.
        values: (T, k) in the units of the file.
        in_degrees: whether rotations are in degrees, by the header; None if not stated. The header does not state which
            columns are rotations.
        path: the file it came from.
        lines: (T,) the line of every row in the file; empty without a file.
        roles: "force", "point", "moment" or "angle" by the unit of every column, "" for a column without unit; empty
            for formats without units.
        notes: for the results.
        repeated: repeated name -> its places in the file; the values of these columns are NaN.
        aliases: other name in the file -> name.
        row_warning: a sentence on rows that are cut short, or not as many as the header states. sha256: see Markers.

    Examples:
        >>> table = ms.tables.read_mot(ms.data.reference_stride().parent / "forces.mot")
        >>> table.values.shape == (table.time.size, len(table.names))
        True
    """

    time: Array
    names: tuple[str, ...]
    values: Array
    in_degrees: bool | None
    path: Path
    lines: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    roles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    repeated: Mapping[str, str] = field(default_factory=dict)
    row_warning: WarningNote = NO_WARNING
    sha256: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)

    __repr__ = with_sizes

    def by_written(self, written: Iterable[str]) -> Self:
        """Return the table with the other name of a column in place of its name, where the other one is written."""
        other = {
            self.aliases[name]: name for name in written if name in self.aliases and name not in self.names
        }
        return replace(self, names=tuple(other.get(name, name) for name in self.names))

    def __getitem__(self, name: str) -> Array:
        """Return the (T,) values of one column, zeros for `ZERO`."""
        return np.zeros(self.time.size) if name == ZERO else self.values[:, self.names.index(name)]

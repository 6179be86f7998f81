"""C3D files: markers, force plates and events of one recording, as the capture software stored them.

What is read here is in the axes of the file and in SI units. The format's own numbering counts frames from 1, so
the first frame of a file that was cut out of a longer recording does not begin at 0 s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.c3d.c3d_samples import read_analog, read_calibration, read_points
from musclesolve.recording.c3d.data_layout import FULL, Layout, read_layout
from musclesolve.recording.c3d.parameters import LONGEST, Description, read_description
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.repeated_names import blanked, distinct_names, numbered, repeated_notes
from musclesolve.recording.text.text_file import file_path, open_input, opening
from musclesolve.recording.units import metres_in, plain_unit

_INCHES = {"in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048, "feet": 0.3048}
_DEFAULT_UNIT = "mm"
# Points that the modelling part of capture software stores among the markers: angles, moments, and so on.
_COMPUTED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")


def length_in(unit: str) -> float | None:
    """Return how long a unit of length of a C3D file is [m]; None for what is none."""
    size = metres_in(unit)
    return _INCHES.get(plain_unit(unit)) if size is None else size


@dataclass(frozen=True)
class C3D:
    """A C3D file whose description has been read and found sound; its numbers are read when they are asked for."""

    path: Path
    description: Description
    layout: Layout

    @property
    def unit(self) -> str:
        """The unit of length that the file states; "" where it states none."""
        return next(iter(self.description.texts("POINT:UNITS")), "")

    @property
    def metres(self) -> float:
        """How long the unit of length is [m].

        Raises:
            InputError: an unknown unit.
        """
        size = length_in(self.unit or _DEFAULT_UNIT)
        if size is None:
            problem = f"the unit of length is '{self.unit}'"
            remedy = "export the recording with lengths in mm"
            raise error_at(self.path, "POINT:UNITS", problem, "mm, cm or m", remedy, code="unknown_unit")
        return size

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was assumed about the file."""
        notes, layout, header = [], self.layout, self.description.header
        if not self.unit:
            notes.append(f"{self.path.name} states no unit of length: it is taken as {_DEFAULT_UNIT}.")
        if layout.first_frame == header.first_frame and header.last_frame not in (FULL, layout.last_frame):
            notes.append(
                f"{self.path.name} numbers its frames from {header.first_frame} to {header.last_frame}, but has "
                f"{layout.frames} of them: its time begins at {layout.start_time:g} s."
            )
        return tuple(notes)

    @property
    def labels(self) -> dict[str, int]:
        """The name of every labelled marker -> its place among the points, the first one of several."""
        return {name: places[0] for name, places in self._places.items()}

    @property
    def repeated(self) -> dict[str, str]:
        """The name of every marker that stands more than once -> where."""
        return {
            name: numbered("POINT:LABELS, points", [place + 1 for place in places])
            for name, places in self._places.items()
            if len(places) > 1
        }

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        names = self.description.texts("POINT:LABELS")[: self.layout.points]
        computed = {name for group in _COMPUTED for name in self.description.texts(f"POINT:{group}")}
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            # Trajectories without a name: no label, or *12 and the like.
            if not name or name.startswith("*") or name in computed:
                continue
            places.setdefault(name, []).append(place)
        return places

    @property
    def time(self) -> Array:
        """(F,) time of every frame [s]."""
        return self.layout.start_time + np.arange(self.layout.frames) / self.layout.rate

    @property
    def analog_rate(self) -> float:
        """Samples of an analog channel per second [Hz]."""
        return self.layout.rate * self.layout.samples

    @property
    def analog_time(self) -> Array:
        """(F x s,) time of every analog sample [s]; the first one of a frame is at the time of the frame."""
        return self.layout.start_time + np.arange(self.layout.frames * self.layout.samples) / self.analog_rate

    def markers(self) -> Markers:
        """Return the labelled markers in metres, in the axes of the file.

        Raises:
            InputError: there are none.
        """
        if not self.labels:
            problem, remedy = "the file has no labelled markers", "label the markers in the capture software"
            raise error_at(self.path, "POINT:LABELS", problem, "a label", remedy, code="missing_marker")
        places = list(self.labels.values())
        position = read_points(self.path, self.layout, self.description.coding, places)
        # Some programs store a lost marker as (0, 0, 0) with a good residual. In place: a file may be large.
        position[(position == 0.0).all(axis=-1)] = np.nan
        position *= self.metres
        names, repeated = tuple(self.labels), self.repeated
        blanked(position, names, repeated)
        notes = (*self.notes, *repeated_notes("marker", repeated, self.path))
        return Markers(self.time, names, position, self.path, notes, repeated=repeated)

    def analog(self, channels: list[int]) -> Array:
        """Return analog channels by their place, as they are calibrated in the file, (F x s, len(channels))."""
        calibration = read_calibration(self.description, self.layout.channels)
        return read_analog(self.path, self.layout, self.description.coding, calibration, channels)

    def channels(self) -> Table:
        """Return every labelled analog channel over time, in the unit it is calibrated in.

        Raises:
            InputError: there are none.
        """
        labels = self.description.texts("ANALOG:LABELS")[: self.layout.channels]
        named = [k for k, label in enumerate(labels) if label]
        if not named:
            problem, remedy = "the file has no labelled analog channels", "export the analog channels with it"
            raise error_at(self.path, "ANALOG:LABELS", problem, "a label", remedy, code="missing_column")
        places, repeated = distinct_names(
            [labels[k] for k in named], "ANALOG:LABELS, channels", [k + 1 for k in named]
        )
        values = self.analog([named[place] for place in places.values()])
        blanked(values, tuple(places), repeated)
        return Table(self.analog_time, tuple(places), values, None, self.path, repeated=repeated)

    def analog_units(self) -> list[str]:
        """Return the unit of every analog channel, "" where the file states none."""
        units = self.description.texts("ANALOG:UNITS")[: self.layout.channels]
        return units + [""] * (self.layout.channels - len(units))


def read_c3d(path: str | Path) -> C3D:
    """Open a C3D file: its header and parameters are read and tested against its length.

    Files of all three processors (Intel, DEC, MIPS), with numbers stored as reals or as integers, are read.

    Raises:
        InputError: this is no C3D file, it is cut short, or it is corrupted.
    """
    path = file_path(path)
    with open_input(path) as file, opening(path):
        raw = file.read(LONGEST)
        size = file.seek(0, 2)
    description = read_description(raw, path)
    return C3D(path, description, read_layout(description, size))

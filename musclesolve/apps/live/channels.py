"""Channels of a stream of plain numbers: their meaning as markers, plates and EMG; and the channels of a frame.

Labels of markers are the name and the axis, such as `R.ASIS_x`, with `_`, `.`, `:`, `-`, a blank or nothing between; or
the channel names its marker and has the type PositionX, PositionY or PositionZ (XDF, content-type MoCap). Labels of
plates are the columns that [[force]] of the trial file names, or `force`, `point` (or `cop`, `p`) and `moment` (or `f`,
`m`) with the axis, the number of the plate before or behind: `plate1_force_x`, `1_fx`, `Fx1`; without a number it is
plate 1. Labels of EMG are the names of the channels. A person before the names, as in `Ann:R.ASIS_x`, is left out where
it is one person.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.messages import few
from musclesolve.apps.live.joining import Reading, Wanted
from musclesolve.apps.live.live import Frame, Live
from musclesolve.apps.live.stream import Expected
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.markers.marker_names import without_one_person
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES
from musclesolve.laboratory.trial.plates.foot_forces import ROLES, columns_of
from musclesolve.tables.document import validated
from musclesolve.tables.units import meters_in, newton_meters_in, newtons_in

_MARKER = re.compile(r"(.+?)[ _.:\-]?([xyz])", re.IGNORECASE)
_PLATE = re.compile(
    r"(?:(?:plate|fp)?[ _]?(\d+)[ _.]?)?(force|f|point|cop|p|moment|m)[ _.]?([xyz])(?:[ _.]?(\d+))?",
    re.IGNORECASE,
)
_WORDS = {"force": ("f", "force"), "point": ("p", "cop", "point"), "moment": ("m", "moment")}
_ROLES = {word: role for role, words in _WORDS.items() for word in words}
_UNITS: dict[str, Callable[[str], float | None]] = {
    "marker": meters_in,
    "force": newtons_in,
    "point": meters_in,
    "moment": newton_meters_in,
}
_COMPONENTS = [(role, axis) for role in ROLES for axis in "xyz"]


@dataclass(frozen=True)
class Channel:
    """The description of a channel by its stream; "" for missing entries."""

    label: str
    unit: str = ""
    type: str = ""
    marker: str = ""


@dataclass(frozen=True, eq=False)
class Layout:
    """Layout of a sample of a stream: places of markers (n, 3), plates (P, 9) and channels of EMG (k,); -1 where
    absent.

    scale: (c,) factors on the numbers of its channels [m, N, N m].
    """

    wanted: Wanted
    markers: Indices | None
    plates: Indices | None
    emg: Indices | None
    scale: Array

    @classmethod
    def from_channels(cls, channels: Sequence[Channel], wanted: Wanted, stream: str) -> Self:
        """The layout of a stream, by the descriptions of its channels."""
        live = wanted.live
        # (marker, axis), ("force 1", axis) or ("emg", channel) -> column
        place = dict[tuple[str, str], int]()
        scale, ignored = np.ones(len(channels)), False
        stated = _stated_plates(wanted)
        names, axes = zip(*map(_marker_of, channels), strict=True) if channels else ((), ())
        positions = zip(without_one_person(names, live.markers), axes, strict=True)
        for column, (channel, position) in enumerate(zip(channels, positions, strict=True)):
            key, kind = _meaning(channel, position, live, stated)
            if key is None:
                continue
            if kind in _ROLES and not live.plates:
                ignored = True  # a session whose ground reactions are predicted reads no plates
                continue
            if key in place:
                raise _bad(stream, f"two channels are {' '.join(map(str, key))}", "each of them once")
            place[key] = column
            if channel.unit and kind in _UNITS:
                size = _UNITS[kind](channel.unit)
                if size is None:
                    raise _bad(stream, f"the unit '{channel.unit}' of {channel.label}", f"a unit of a {kind}")
                scale[column] = size
        labels = few([channel.label for channel in channels], 12)
        wanted_markers = [(name, axis) for name in live.markers for axis in "xyz"]
        lacking = [key for key in wanted_markers if key not in place]
        carried = len(lacking) < len(wanted_markers)
        if needed := [key for key in lacking if carried and key[0] not in live.optional]:
            missing = " ".join(needed[0])
            raise _bad(
                stream, f"there is no channel {missing} among {labels}", "three of every marker of the trial"
            )
        markers = np.array([place.get(key, -1) for key in wanted_markers]).reshape(-1, 3) if carried else None
        plates = np.full((len(live.plates), 9), -1)
        for number in range(1, len(live.plates) + 1):
            row = [place.get((f"{role} {number}", axis), -1) for role, axis in _COMPONENTS]
            without_moment = row[:6] if row[6:] == [-1] * 3 else row
            if max(row) >= 0 and min(without_moment) < 0:
                role, axis = _COMPONENTS[row.index(-1)]
                problem = f"plate {number} has no {role} {axis} among {labels}"
                raise _bad(stream, problem, "force and point, three of each")
            plates[number - 1] = row
        forces = [name for name, *_ in place if re.fullmatch(r"force \d+", name)]
        if beyond := [name for name in forces if int(name[6:]) > len(live.plates)]:
            expected = "no more plates than --plate or the trial file has"
            raise _bad(stream, f"{beyond[0]} of {len(live.plates)} plates", expected)
        emg = np.array([place.get(("emg", name), -1) for name in live.channels], np.intp)
        carries = markers is not None, bool((plates >= 0).any()), bool((emg >= 0).any())
        if not any(carries) and not ignored:
            raise _bad(
                stream,
                f"its channels are {labels}",
                f"markers such as {live.markers[0]}_x, plates such as plate1_force_x, or channels of EMG",
            )
        return cls(wanted, markers, plates if carries[1] else None, emg if carries[2] else None, scale)

    def readings(self, sample: Array, time: float, received: float) -> list[Reading]:
        """Return the readings in a sample (c,) of the stream."""
        values, readings = sample * self.scale, list[Reading]()
        if self.plates is not None:
            plates = np.where(self.plates >= 0, values[self.plates], np.nan)
            without_moment = (self.plates[:, 0] >= 0) & (self.plates[:, 6] < 0)
            plates[without_moment, 6:] = 0.0
            readings.append(Reading("plates", time, self.wanted.plates(plates), received))
        if self.emg is not None:
            readings.append(Reading("emg", time, np.where(self.emg >= 0, values[self.emg], np.nan), received))
        if self.markers is not None:
            position = np.where(self.markers >= 0, values[self.markers], np.nan)
            readings.append(Reading("markers", time, self.wanted.markers(position), received))
        return readings


def _bad(stream: str, problem: str, expected: str) -> InputError:
    """The error of a stream that describes its channels wrongly."""
    remedy = "correct the description of the stream where it is sent, see docs/live.md"
    return input_error("bad_stream", where=stream, problem=problem, expected=expected, remedy=remedy)


def _stated_plates(wanted: Wanted) -> dict[str, tuple[str, str]]:
    """Columns that [[force]] of the trial file names -> (role and number of the plate, axis)."""
    plates = dict[str, tuple[str, str]]()
    for number, entry in enumerate(validated(wanted.live.document, RecordedSettings).force, start=1):
        for role, columns in columns_of(entry).items():
            plates |= {name: (f"{role} {number}", axis) for name, axis in zip(columns, "xyz", strict=False)}
    return plates


def _marker_of(channel: Channel) -> tuple[str, str]:
    """Marker and axis that a channel may be of, by its type or else its label; empty for another channel."""
    if channel.marker and re.fullmatch("Position[XYZ]", channel.type):
        return channel.marker, channel.type[-1].lower()
    match = _MARKER.fullmatch(channel.label.strip())
    return (match[1], match[2].lower()) if match else ("", "")


def _meaning(
    channel: Channel, position: tuple[str, str], live: Expected, stated: dict[str, tuple[str, str]]
) -> tuple[tuple[str, str] | None, str]:
    """Return the meaning of a channel, None for a channel that is not needed; and the kind of its unit."""
    label = channel.label.strip()
    if position[0] in live.markers:
        return position, "marker"
    if label in stated:
        return stated[label], stated[label][0].split()[0]
    if label in live.channels:
        return ("emg", label), "emg"
    if (match := _PLATE.fullmatch(label)) and not (match[1] and match[4]):
        role = _ROLES[match[2].lower()]
        return (f"{role} {int(match[1] or match[4] or 1)}", match[3].lower()), role
    return None, ""


FRAME_NUMBERS = tuple(
    (QUANTITIES[name].frame or name, names, QUANTITIES[name].units.replace("1", ""))
    for names, of in {
        "muscles": ("muscle_force", "activation"),
        "dofs": ("joint_moment", "joint_angle"),
        "sides": ("status", "valid", "gap"),
    }.items()
    for name in of
)
"""Numbers of a frame, over which names of the `Live`, and their unit."""


def frame_channels(live: Live) -> list[Channel]:
    """The channels of a frame as one row of numbers, in the order of `frame_values`: label "force soleus_r", unit."""
    times = [Channel("time", "s", "time"), Channel("sample_time", "s", "time")]
    numbers = [(kind, name, unit) for kind, names, unit in FRAME_NUMBERS for name in getattr(live, names)]
    numbers += [("joint_reaction", f"{joint}_{axis}", "N") for joint in live.joints for axis in "xyz"]
    return times + [Channel(f"{kind} {name}", unit, kind) for kind, name, unit in numbers]


def frame_values(frame: Frame, sample_time: float) -> Array:
    """The numbers of a frame as one row (c,): times [s], then FRAME_NUMBERS and joint reactions; NaN: not known.

    A status is the number of a `Status`, 0 where it is SOLVED; valid is 1 or 0.
    """
    parts = [getattr(frame, kind) for kind, _, _ in FRAME_NUMBERS]
    return np.concatenate([[frame.time, sample_time], *parts, frame.joint_reaction.ravel()])

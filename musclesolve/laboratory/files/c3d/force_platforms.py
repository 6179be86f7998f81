"""The force plates of a C3D file: group FORCE_PLATFORM, from its channels to force, point and moment.

The axes of a plate follow from its corners: 1 to 4 lie in the quadrants (+x +y), (-x +y), (-x -y), (+x -y), and z = x x
y usually points down (www.c3d.org/HTML/Documents, "FORCE_PLATFORM:CORNERS"). With force f and moment m about the
transducers in these axes, and the position o of the middle of the surface relative to them (ORIGIN), the moment about
the middle is

    m' = m + f x o = m - o x f,

the point of the surface about which the horizontal moments vanish is r = (-m'_y, m'_x, 0) / f_z, and the remaining
moment is the free moment T = m' - r x f, square to the surface.

    type 1: f, then x and y of r, then T_z
    type 2: f, then m
    type 3: pairs fx12, fx34, fy14, fy23 and corners fz1 to fz4, whose arms are a and b of ORIGIN = (a, b, z)
    type 4: like type 2, after multiplication with CAL_MATRIX
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.files.c3d.c3d_file import C3D
from musclesolve.laboratory.recording.data import LIGHT_N, pulls_down
from musclesolve.laboratory.recording.trial_settings import BY_FEET, REVERSED, STATED
from musclesolve.tables.units import meters_in, newton_meters_in, newtons_in, plain_unit

# Units that do not state the quantity of the channel: no unit, or the unit of the amplifier.
_NO_QUANTITY = {"", "v", "mv", "uv", "μv", "volt", "volts", "bit", "bits", "count", "counts"}
_FORCE, _LENGTH, _MOMENT = (["force"] * 3, ["length"] * 2, ["moment"] * 3)
_CHANNELS = {1: _FORCE + _LENGTH + _MOMENT[:1], 2: _FORCE + _MOMENT, 3: ["force"] * 8, 4: _FORCE + _MOMENT}
# Shortest and longest plausible edge of a plate [m].
_EDGES = (0.05, 20.0)
# No transducer is so far from the middle of its plate [m].
_FARTHEST_ORIGIN = 5.0
# A baseline above this share of the greatest force is a subject on the plate; a light one never is.
_LOADED = 0.2
_MOST_PLATES = 64
_CORRECT = "correct it in the capture software"
# A transducer is so far from the middle of a plate of type 3 at least, and at most so far beyond its edge [m].
_SHORTEST_ARM, _BEYOND_EDGE = 0.02, 0.05
_DOWN = np.array([0.0, 0.0, -1.0])
# Below this vertical force the point is a quotient of noise [N].
_NO_LOAD = 1.0
SURE = 100.0
"""Vertical force above which the center of pressure is reliable [N]."""
BESIDE = 0.1
"""The center of pressure lies on the plate to within this [m]."""
# Points that are compared with markers, at most; a marker of a foot is within this height of the plate, and within this
# distance of the point; readings of ORIGIN differ by this [m].
_MOST_SAMPLES, _LOW_MARKER, _NEAR_FOOT, _APART = 500, 0.3, 0.25, 0.1
# Beyond the first distance no marker is of a foot on the plate, and other readings of CORNERS and units are tried: a
# reading serves that is within the second [m].
_NO_FOOT, _AT_FOOT = 0.35, 0.15
# A vertical moment is judged by so many loaded samples, where the free moment is at least so large, as a root mean
# square [N m], and over the vertical force [m]; sound plates reach 6 N m. It follows the lever by this share of its
# square, with a factor that is wrong to within.
_FEWEST_LOADED, _FREE_MOMENT, _FREE_MOMENT_ARM, _FOLLOWS, _LIKE_IT = 50, 6.0, 0.006, 0.97, 0.15
# Samples that are converted together: their vectors stay in the fast memory of the processor.
_BLOCK = 16384


@dataclass(frozen=True)
class Plate:
    """A force plate: its number in the file from 1, its type 1 to 4, corners (4, 3) [m] and ORIGIN (3,) [m].

    `matrix` (6, 6) is CAL_MATRIX, which turns the channels into N and N m; the identity except for type 4.
    """

    number: int
    kind: int
    corners: Array
    origin: Array
    matrix: Array

    @property
    def center(self) -> Array:
        """The middle of the surface, (3,) [m]."""
        return np.asarray(self.corners.mean(axis=0))

    @property
    def axes(self) -> Array:
        """Axes of the plate as columns of a rotation (3, 3): p_file = axes p_plate."""
        one, two, three, four = self.corners
        x = one - two + four - three
        z = np.cross(x, one - four + two - three)
        x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
        return np.stack([x, np.cross(z, x), z], axis=1)

    def contains(self, point: Array, margin: float) -> Mask:
        """Mask of points (..., 3) within the rectangle of the plate, widened by a margin [m], seen from above."""
        along = np.abs((point - self.center) @ self.axes[:, :2])
        half = 0.5 * np.ptp((self.corners - self.center) @ self.axes[:, :2], axis=0)
        return np.asarray((along <= half + margin).all(axis=-1))


@dataclass(frozen=True)
class PlateRecording:
    """Recording of one plate, S samples, in the axes of its corners.

    Times (S,) [s], forces (S, 3) [N], points (S, 3) [m] on the surface (its middle where there is hardly any force),
    moments about them (S, 3) [N m]. moment_fault: what is wrong with the channel of the vertical moment, "" if nothing.
    """

    plate: Plate
    time: Array
    force: Array
    point: Array
    moment: Array
    path: Path
    moment_fault: str = ""


class Plates(NamedTuple):
    """The plates of a file that can be read, notes on them, and the fault of each plate that is left out, by number.

    places: corners (4, 3) [m] of the plates left out, where the file states them.
    """

    recordings: list[PlateRecording]
    notes: list[str]
    left_out: dict[int, InputError]
    places: dict[int, Plate]


def read_plates(file: C3D, rotation: Array, origin: str = BY_FEET) -> Plates:
    """Return the plates of a file, as the force of the ground on the foot in the global frame, and notes on them.

    The channels are in the units of ANALOG:UNITS, else in newtons, in the unit of length of the file and in their
    product. If FORCE_PLATFORM:ZERO names frames without load, their mean is subtracted. `rotation` (3, 3) is from the
    axes of the file to the global frame. `origin`: how x and y of ORIGIN are read, see [plates]. A plate that cannot be
    read is left out beside others; if there is no other, its fault is raised.
    """
    count = file.description.count("FORCE_PLATFORM:USED") or 0
    if count == 0:
        return Plates([], [], {}, {})
    if not file.layout.channels or count > _MOST_PLATES:
        raise _fault(
            file, "USED", f"{count} plates and {file.layout.channels} analog channels", "plates with channels"
        )
    plates, faults, places = [], dict[int, InputError](), dict[int, Plate]()
    # All plates are read before any channel: their faults can be found without samples.
    for index in range(count):
        try:
            plates.append(_plate(file, index, rotation))
        except InputError as error:
            faults[index + 1] = error
            with suppress(InputError):
                corners = _corners(file, index, rotation)
                places[index + 1] = Plate(index + 1, 2, corners, np.zeros(3), np.eye(6))
    if not plates:
        raise next(iter(faults.values()))
    left_out = f"of {file.path.name} is left out"
    recordings, notes = [], [f"Plate {k} {left_out}: {fault.problem}." for k, fault in faults.items()]
    for plate, channels, factors in plates:
        values = file.analog(channels)
        values *= factors
        notes += _zero(file, plate, values)
        unit_stated = any(map(newton_meters_in, file.description.texts("ANALOG:UNITS")))
        plate, remark = _as_read(file, plate, values, rotation, origin, unit_stated)
        notes += [remark] if remark else []
        force, point, moment = measured(plate, values, _DOWN)
        vertical = force[:, 2]
        if pulls_down(vertical):
            # It would pull feet down. The point is a quotient of both, and stays.
            force, moment = -force, -moment
            upward = (
                " Or its CORNERS run the wrong way round: its z points up." if plate.axes[2, 2] > 0.0 else ""
            )
            notes.append(
                f"Plate {plate.number} of {file.path.name} holds the force of the foot on the plate: its sign is "
                f"inverted.{upward}"
            )
        wrong = ""
        if plate.kind in (2, 4):
            wrong = _moment_fault(file, plate, channels[5], force, point, moment)
        recordings.append(PlateRecording(plate, file.analog_time, force, point, moment, file.path, wrong))
    if file.description.numbers("FORCE_PLATFORM:FPCOPPOLY").any():
        notes.append(
            f"The polynomial correction of the center of pressure in {file.path.name} is not applied."
        )
    return Plates(recordings, notes, faults, places)


def _moment_fault(file: C3D, plate: Plate, channel: int, force: Array, point: Array, moment: Array) -> str:
    """Return what is wrong with the channel of the moment about the vertical axis, "" for a sound one.

    About the transducers it is m = L + T: L = x Fy - y Fx is the moment of the force at its point, which does not
    depend on this channel, and T the free moment.
    If the channel rests or is too small by a factor, T = -L; if it is reversed,
    T = -2 L. The free moment under a sole is independent of L, and much smaller on a long plate.
    """
    rows = force[:, 2] > SURE
    if rows.sum() < _FEWEST_LOADED:
        return ""
    arm = point[rows] - plate.center + plate.axes @ plate.origin
    # The force on the foot or on the plate: only the ratio of both moments is used.
    lever = arm[:, 0] * force[rows, 1] - arm[:, 1] * force[rows, 0]
    free = moment[rows, 2]
    size, carried = float(free @ free), float(np.quantile(force[rows, 2], 0.95))
    # Every channel that rests follows a lever that rests, too.
    if np.ptp(lever) == 0.0 or np.sqrt(size / free.size) < max(_FREE_MOMENT, _FREE_MOMENT_ARM * carried):
        return ""
    share = float(free @ lever) / float(lever @ lever)
    follows = 1.0 - float(np.sum((free - share * lever) ** 2)) / size
    rests, reversed_ = (abs(share - wrong) < _LIKE_IT for wrong in (-1.0, -2.0))
    if follows < _FOLLOWS or not (rests or reversed_):
        return ""
    shown, labels = lever + free, file.description.texts("ANALOG:LABELS")
    label = f" '{labels[channel]}'" if channel < len(labels) and labels[channel] else ""
    # A channel that is too small by its unit still follows the lever.
    alike = float(np.corrcoef(shown, lever)[0, 1]) if shown.std() > 0.0 else 0.0
    how = "is reversed" if reversed_ else "is too small, as in another unit" if alike > _FOLLOWS else "rests"
    return (
        f"channel {channel + 1}{label} of plate {plate.number}, its moment about the vertical axis, {how}: under load "
        f"it shows {shown.min():.2f} to {shown.max():.2f} N m, and {lever.min():.1f} to {lever.max():.1f} N m belong "
        "there, by the forces at their points"
    )


def beside_plate(recording: PlateRecording) -> float | None:
    """Return the distance [m] of the center of pressure from the middle of its plate if it lies beside the plate."""
    sure = recording.force[:, 2] > SURE
    if not sure.any() or np.mean(recording.plate.contains(recording.point[sure], BESIDE)) >= 0.5:
        return None
    away = (recording.point[sure] - recording.plate.center)[:, :2]
    return float(np.median(np.linalg.norm(away, axis=1)))


def _as_read(
    file: C3D, plate: Plate, values: Array, rotation: Array, reading: str, unit_stated: bool
) -> tuple[Plate, str]:
    """Return a plate as its parameters are to be read, and a note if that is not as stated; values change in place.

    ORIGIN "may point either way", CORNERS may begin at the opposite one, and moments without a unit may be in another.
    By the feet, the center of pressure lies near a low marker in one reading only; in a file without markers there, it
    lies on the plate in one of both directions of ORIGIN only.
    """
    name, kept = f"plate {plate.number} of {file.path.name}", np.ones(values.shape[1])
    turned = replace(plate, origin=plate.origin * [-1.0, -1.0, 1.0])
    has_origin = plate.kind in (2, 4) and float(np.linalg.norm(plate.origin[:2])) >= _APART
    if has_origin and reading == REVERSED:
        return turned, f"x and y of ORIGIN of {name} are reversed, as the trial file states it."
    vertical = np.abs(measured(plate, values, _DOWN)[0][:, 2])
    samples = np.flatnonzero(vertical > max(SURE, 0.3 * vertical.max(initial=0.0)))
    if not samples.size or reading == STATED:
        return plate, ""
    samples = samples[:: max(1, samples.size // _MOST_SAMPLES)]
    frames = np.clip(samples // file.layout.samples, 0, file.layout.frames - 1)

    def away(plate: Plate, factors: Array) -> float:
        point = measured(plate, values[samples] * factors, _DOWN)[1]
        return _from_low_markers(file, plate, rotation, point, frames)

    stated = away(plate, kept)
    if np.isnan(stated):
        points = [measured(x, values[samples], _DOWN)[1] for x in (plate, turned)]
        on_it = [float(np.mean(plate.contains(point, BESIDE))) for point in points]
        if has_origin and on_it[0] < 0.1 and on_it[1] > 0.9:
            return turned, (
                f"X and y of ORIGIN of {name} are reversed. Then the center of pressure lies on the plate; "
                "as the file states it, beside the plate."
            )
        return plate, ""
    ways = [(turned, kept, _NEAR_FOOT, f"x and y of ORIGIN of {name} are reversed")] if has_origin else []
    if stated > _NO_FOOT:
        if plate.axes[2, 2] < 0.0:
            half = replace(plate, corners=np.roll(plate.corners, 2, axis=0))
            ways.append((half, kept, _AT_FOOT, f"the corners of {name} are taken in the order 3, 4, 1, 2"))
        if plate.kind == 2 and not unit_stated:
            factor, unit = (0.001, "N mm") if file.meters == 1.0 else (1.0 / file.meters, "N m")
            about = f"the moments of {name}, whose unit is not stated, are taken in {unit}"
            ways.append((plate, np.repeat([1.0, factor], 3), _AT_FOOT, about))
    nearest = sorted(((away(way[0], way[1]), k) for k, way in enumerate(ways)), key=lambda x: x[0])
    if not nearest or not nearest[0][0] < min(ways[nearest[0][1]][2], stated - _APART):
        return plate, ""
    other, factors, _, what = ways[nearest[0][1]]
    values *= factors
    return other, (
        f"{what[0].upper()}{what[1:]}. Then the center of pressure lies {nearest[0][0]:.2f} m from the nearest marker "
        f"of a foot; as the file states it, {stated:.2f} m."
    )


def _from_low_markers(file: C3D, plate: Plate, rotation: Array, point: Array, frames: Indices) -> float:
    """Return the median distance [m] of points (k, 3) from the nearest marker a little above the plate; NaN without.

    frames (k,): of the markers at these points.
    """
    if not file.point_names:
        return np.nan
    markers = file.markers().position[frames] @ rotation.T
    height = markers[..., 2] - plate.center[2]
    apart = np.linalg.norm(markers[..., :2] - point[:, None, :2], axis=2)
    # Comparisons with NaN are false.
    apart[~((height > -_LOW_MARKER) & (height < _LOW_MARKER))] = np.inf
    nearest = apart.min(axis=1, initial=np.inf)
    known = np.isfinite(nearest)
    return float(np.median(nearest[known])) if known.mean() > 0.5 else np.nan


def _plate(file: C3D, index: int, rotation: Array) -> tuple[Plate, list[int], Array]:
    """Return a plate, the numbers of its channels, and their factors or, for type 4, matrix to SI units."""
    kinds = file.description.numbers("FORCE_PLATFORM:TYPE").ravel()
    kind = next((known for known in _CHANNELS if index < kinds.size and kinds[index] == known), None)
    if kind is None:
        problem = f"is of type {kinds[index]:g}" if index < kinds.size else "has no type"
        raise _fault(
            file,
            "TYPE",
            f"plate {index + 1} {problem}",
            "a plate of type 1, 2, 3 or 4",
            remedy="export the forces as MOT or STO and name that file under forces in [files]",
        )
    needed, table = len(_CHANNELS[kind]), file.description.numbers("FORCE_PLATFORM:CHANNEL")
    table = table.reshape(-1, 1) if table.ndim == 1 and index == 0 else table
    if table.ndim != 2 or table.shape[0] < needed or table.shape[1] <= index:
        raise _fault(
            file, "CHANNEL", f"plate {index + 1} has no list of {needed} channels", "its channels, from 1"
        )
    # A missing number is no channel.
    channels = [int(number) - 1 for number in np.nan_to_num(table[:needed, index])]
    if min(channels) < 0 or max(channels) >= file.layout.channels or len(set(channels)) < needed:
        raise _fault(
            file,
            "CHANNEL",
            f"the channels of plate {index + 1} are {', '.join(str(channel + 1) for channel in channels)}",
            f"{needed} different ones of the {file.layout.channels} analog channels",
        )
    scales = file.description.joined("ANALOG:SCALE")
    dead = [channel + 1 for channel in channels if channel < scales.size and scales[channel] == 0.0]
    if dead or file.description.number("ANALOG:GEN_SCALE") == 0.0:
        raise file_error(
            "bad_plate",
            (file.path, "ANALOG:SCALE" if dead else "ANALOG:GEN_SCALE"),
            f"the scale of channel {dead[0] if dead else channels[0] + 1}, of plate {index + 1}, is zero, so "
            "that all its values would be zero",
            "the scale from what is stored to the unit of the channel",
            _CORRECT,
        )
    factors, matrix = si_factors(file, index + 1, kind, channels), np.eye(6)
    if kind == 4:
        matrices = file.description.numbers("FORCE_PLATFORM:CAL_MATRIX")
        if matrices.ndim == 2 and index == 0:
            matrices = matrices[..., None]
        if matrices.ndim != 3 or min(matrices.shape[:2]) < 6 or matrices.shape[2] <= index:
            raise _fault(
                file, "CAL_MATRIX", f"plate {index + 1} has no calibration matrix", "6 x 6 numbers for type 4"
            )
        matrix = matrices[:6, :6, index]
        if not (np.abs(matrix) < 1e9).all() or not matrix.any(axis=1).all():
            raise _fault(
                file,
                "CAL_MATRIX",
                f"the calibration matrix of plate {index + 1} has a zero row",
                "6 x 6 numbers",
            )
        # Channels are calibrated by the matrix, and are in SI units behind it.
        matrix, factors = factors[:, None] * matrix, np.ones(6)
    plate = Plate(
        number=index + 1,
        kind=kind,
        corners=_corners(file, index, rotation),
        # The point of type 1 lies on the surface.
        origin=np.zeros(3) if kind == 1 else _origin(file, index),
        matrix=matrix,
    )
    if kind == 3:
        # The transducers lie below the plate, unless ORIGIN is missing, or in another unit.
        arms = np.abs(plate.origin[:2])
        half = 0.5 * np.linalg.norm(np.diff(plate.corners[:3], axis=0), axis=1)
        if not ((arms >= _SHORTEST_ARM) & (arms <= half + _BEYOND_EDGE)).all():
            raise _fault(
                file,
                "ORIGIN",
                f"the transducers of plate {index + 1} lie {arms[0]:.3g} and {arms[1]:.3g} m from its middle",
                f"{_SHORTEST_ARM:g} m to half an edge, {half[0]:.3g} and {half[1]:.3g} m",
            )
    return plate, channels, factors


def _corners(file: C3D, index: int, rotation: Array) -> Array:
    """Return the corners of a plate, (4, 3) [m]; refuses those that are no rectangle."""
    corners = _plate_numbers(file, "CORNERS", index, 12).reshape(4, 3) @ rotation.T
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    # the unit of the file, or m or mm where no plate is of the size in that one
    units = (unit for unit in (file.meters, 1.0, 0.001) if _EDGES[0] < edges.max() * unit < _EDGES[1])
    corners *= next(units, file.meters)
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    area = np.linalg.norm(np.cross(corners[0] - corners[2], corners[1] - corners[3]))
    if not (edges.min() > _EDGES[0] and edges.max() < _EDGES[1] and area > _EDGES[0] ** 2):
        lengths = ", ".join(f"{edge:.3g}" for edge in edges)
        raise _fault(
            file,
            "CORNERS",
            f"the edges of plate {index + 1} are {lengths} m long",
            "the four corners of a rectangle, one after the other",
        )
    return np.asarray(corners)


def _origin(file: C3D, index: int) -> Array:
    """Return ORIGIN of a plate (3,) [m]; in mm where no transducer is so far away in the unit of the file."""
    origin = _plate_numbers(file, "ORIGIN", index, 3)
    return origin * (file.meters if np.abs(origin).max() * file.meters < _FARTHEST_ORIGIN else 0.001)


def _plate_numbers(file: C3D, name: str, index: int, size: int) -> Array:
    """Return the numbers of one plate from a parameter with the numbers of all plates."""
    values = file.description.numbers(f"FORCE_PLATFORM:{name}").ravel(order="F")
    part = values[size * index : size * (index + 1)]
    if part.size < size or not (np.abs(part) < 1e6).all():
        raise _fault(file, name, f"plate {index + 1} has no {name}", f"{size} numbers for every plate")
    return part


def si_factors(file: C3D, number: int, kind: int, channels: list[int]) -> Array:
    """Return the factors (k,) of the channels of a plate (types 1 to 4) to N, m and N m.

    For type 4 they apply after CAL_MATRIX. A channel without a suitable unit is in newtons, in the unit of length of
    the file, or in their product.
    """
    default = {"force": 1.0, "length": file.meters, "moment": file.meters}
    stated, factors = file.description.texts("ANALOG:UNITS"), []
    for channel, quantity in zip(channels, _CHANNELS[kind], strict=True):
        unit = stated[channel] if channel < len(stated) else ""
        plain = plain_unit(unit)
        sizes = {"force": newtons_in(unit), "length": meters_in(unit), "moment": newton_meters_in(unit)}
        if plain not in _NO_QUANTITY and not any(sizes.values()):
            raise file_error(
                "unknown_unit",
                (file.path, "ANALOG:UNITS"),
                f"channel {channel + 1}, of plate {number}, is in '{unit}'",
                {"force": "N or kN", "length": "mm or m", "moment": "Nmm or Nm"}[quantity],
                "state the unit in the capture software, or export the forces as MOT or STO",
            )
        factors.append(sizes[quantity] or default[quantity])
    return np.array(factors)


SAID_ZERO = 1.0
"""Vertical force [N] from which a zero that is taken off is noted: 1.3 to 46 N in ten public files, such as
btk_gait, c3d_s14 and btk_eb015pi."""


def _zero(file: C3D, plate: Plate, values: Array) -> list[str]:
    """Subtract the mean of the unloaded frames of FORCE_PLATFORM:ZERO from channels (S, k), in place."""
    frames = file.description.numbers("FORCE_PLATFORM:ZERO").ravel()
    if frames.size < 2 or not np.isfinite(frames).all():
        return []
    # Frames are counted from that of the file; (0, n) means (1, n), and (0, 0) or (1, 0) that there is none.
    first, last = max(int(frames[0]), 1), min(int(frames[1]), file.layout.frames)
    if last < first:
        return []
    quiet = values[(first - 1) * file.layout.samples : last * file.layout.samples].copy()
    drift = quiet.mean(axis=0)
    if plate.kind == 1:
        drift[3:5] = 0.0
    carried = float(np.linalg.norm(measured(plate, quiet)[0], axis=1).mean())
    values -= drift
    if carried > LIGHT_N and carried > _LOADED * float(np.abs(measured(plate, values)[0][:, 2]).max()):
        values += drift
        return [
            f"The zero of plate {plate.number} of {file.path.name} is not taken from frames {first} to {last}, as the "
            f"file states: it carries {carried:.0f} N in them."
        ]
    level = float(measured(plate, quiet)[0][:, 2].mean())
    if abs(level) < SAID_ZERO:
        return []
    return [
        f"The zero of plate {plate.number} of {file.path.name} is taken from its frames {first} to {last}, as the file "
        f"states: {abs(level):.1f} N of vertical force are taken off."
    ]


def _fault(file: C3D, name: str, problem: str, expected: str, remedy: str = _CORRECT) -> InputError:
    where = f"FORCE_PLATFORM:{name}"
    return file_error("bad_plate", (file.path, where), problem, expected, remedy)


def measured(plate: Plate, channels: Array, down: Array | None = None) -> tuple[Array, Array, Array]:
    """Return force (S, 3) [N], point (S, 3) [m] and the moment about it (S, 3) [N m], in the axes of the corners.

    Channels (S, 6) or (S, 8) in the order of the type, in N, m and N m, as stored for type 4; `down` (3,) is the
    downward direction, the z of the plate unless given.
    """
    force, point, moment = np.empty((3, len(channels), 3))
    axes = plate.axes
    # The transducers lie below the surface, so that the middle of it, seen from them, is negative where z points down;
    # some programs store the opposite vector.
    upward = -1.0 if down is None else -float(np.sign(axes[:, 2] @ down) or 1.0)
    surface = plate.origin if plate.origin[2] * upward >= 0.0 else -plate.origin
    for first in range(0, len(channels), _BLOCK):
        rows = slice(first, first + _BLOCK)
        loads = channels[rows]
        zero = np.zeros(len(loads))
        if plate.kind == 1:
            f, r = loads[:, :3], np.stack([loads[:, 3], loads[:, 4], zero], axis=1)
            free = np.stack([zero, zero, loads[:, 5]], axis=1)
        else:
            if plate.kind == 3:  # a transducer under each corner
                x12, x34, y14, y23, z1, z2, z3, z4 = loads.T
                a, b, height = *np.abs(plate.origin[:2]), upward * abs(plate.origin[2])
                f = np.stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4], axis=1)
                m = [b * (z1 + z2 - z3 - z4), a * (z2 + z3 - z1 - z4), b * (x34 - x12) + a * (y14 - y23)]
                m_middle = np.stack(m, axis=1) + np.cross(f, [0.0, 0.0, height])
            else:
                loads = loads @ plate.matrix.T
                f = loads[:, :3]
                m_middle = loads[:, 3:] + np.cross(f, surface)
            vertical = np.where(np.abs(f[:, 2]) > _NO_LOAD, f[:, 2], np.inf)
            r = np.stack([-m_middle[:, 1], m_middle[:, 0], zero], axis=1) / vertical[:, None]
            free = m_middle - np.cross(r, f)
        force[rows], point[rows], moment[rows] = f @ axes.T, r @ axes.T + plate.center, free @ axes.T
    return force, point, moment

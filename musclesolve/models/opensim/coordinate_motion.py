"""The coordinates of an OpenSim model over time: read from a file or a table, filtered, differentiated.

Coordinates beyond the range to which the model clamps them: OpenSim's inverse kinematics keeps a clamped coordinate in
its range. OpenSim's analyses of a given motion take the values of the file, as does this module (OpenSim 4.6,
MuscleAnalysis of an elbow beyond its range: the same length with and without the clamp). The model was not built for
motions beyond the range: paths, splines of coupled motions and wraps are extrapolated there, and moment arms may be
implausible.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Union

import numpy as np

from musclesolve._util.arrays import Array, Mask, near_instants
from musclesolve._util.checks import check_increasing, check_number, check_real_array
from musclesolve._util.messages import count_of, few
from musclesolve._util.splines import HoleLimits, spline_through
from musclesolve.constants import SLOWEST_HZ, WALKING_CUTOFF_HZ
from musclesolve.dynamics.kinematics.low_pass import HALF_POWER, low_pass
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.models.opensim.functions import PiecewisePolynomial, Scaled
from musclesolve.models.opensim.geometry import FULL_TURN, beyond_a_turn
from musclesolve.models.opensim.model import Coordinate, OpenSimModel
from musclesolve.tables.number_rows import check_used
from musclesolve.tables.opensim_text import read_mot
from musclesolve.tables.sampled import Table

if TYPE_CHECKING:
    import xarray as xr


Source = Union[str, Path, Table, "xr.Dataset", Mapping[str, Array]]
"""Source of columns over time: a MOT or STO file, a table, a dataset over time, or arrays by name with "time"."""

ORDER = 3
FEWEST_SPLINE_FRAMES = 6
FULL_ROTATION = 2.0 * np.pi
"""Largest angle of a joint [rad]: a larger number is in degrees."""
FEW_DEGREES = 3.5
"""Size that some angle of a moving person always exceeds [degrees]; read as radians it is a quarter of a rotation."""
_JUMP = np.radians(15.0)
"""Change of an angle by the filter above which a note is given [rad]."""
MOST_FAILED = 0.1
"""Share of the rows without a value, or with an impossible angle, up to which the others are used."""
_EVEN = 1e-3
"""Largest variation of the time between frames, as a share of this time."""
_APART = 0.2
"""Least time to the sample before, in usual steps: nearer samples only magnify the rounding of their values."""
_OFF_TURN = 1.5 * np.pi
"""Median of an angle [rad] from which it lies whole turns off: legs do not turn so far, and a body that has turned
around is nearer to zero."""
_STEP = 1.0
"""Largest step of an angle between two frames beside a whole turn [rad]: a greater one is another fault."""
_FEW_TURNED = 0.25
"""Largest share of the angles of a file in radians that may lie whole turns off; with more they are degrees."""


@dataclass(frozen=True, eq=False)
class CoordinateMotion:
    """Coordinates (K) over frames (T).

    time (T,) [s]; names (K); value [rad or m], speed and acceleration, (T, K); cutoff_hz: of the filter, None
    without a filter; file: source of the values; notes: sentences for the summary; resampled: the source has
    other times, with uneven steps. measured (T, K): the values before the filter, where they are known. unknown (T,):
    frames on which a row without a value, or with an impossible one, has an effect; None where there is none.
    """

    time: Array
    names: tuple[str, ...]
    value: Array
    speed: Array
    acceleration: Array
    cutoff_hz: float | None
    file: Path | None
    notes: tuple[str, ...] = ()
    resampled: bool = False
    measured: Array | None = None
    unknown: Mask | None = None

    def by_name(self, array: Array) -> dict[str, Array]:
        """Columns of `value`, `speed` or `acceleration`, (T,), by coordinate."""
        return dict(zip(self.names, array.T, strict=True))

    def frames(self, which: Mask | slice) -> Self:
        """The coordinates in the frames of a mask (T,) or a slice."""
        selected = {name: getattr(self, name)[which] for name in ("time", "value", "speed", "acceleration")}
        selected |= {
            name: None if getattr(self, name) is None else getattr(self, name)[which]
            for name in ("measured", "unknown")
        }
        return replace(self, **selected)


def coordinate_motion(
    model: OpenSimModel, coordinates: Source, cutoff_hz: float | None = WALKING_CUTOFF_HZ
) -> CoordinateMotion:
    """Read, filter and differentiate the coordinates of a model.

    The filter is the one of OpenSim's tools: a Butterworth filter of order 3 run forward and backward, which halves
    the amplitude at the cut-off frequency; here it has neither lag nor a transient at the ends (`low_pass`). Rates come
    from the natural quintic spline through the filtered values.

    Args:
        coordinates: columns with names of no coordinate are ignored. The header states degrees or radians; if it does
            not, numbers beyond a full rotation in radians mean degrees, smaller numbers radians, as in OpenSim, and a
            note reports the choice. A dataset has units in its attributes, by default "rad"; arrays by name are in rad
            and m. Whole turns are taken off, and uneven steps evened, each with a note.
        cutoff_hz: None leaves the values as they are.
    """
    table = as_table(coordinates, "coordinates")
    columns: dict[str, int] = {}
    for k, column in enumerate(table.names):
        if (name := plain_name(column)) in model.coordinates:
            check_used([column], "column", table.repeated, table.path)
            if columns.setdefault(name, k) != k:
                raise file_error(
                    "duplicate_name",
                    _file(table),
                    f"the coordinate {name} occurs twice: as '{table.names[columns[name]]}' and as '{column}'",
                    "one column for each coordinate",
                    "remove one of them",
                )
    names = tuple(name for name in model.coordinates if name in columns)
    if not names:
        raise file_error(
            "missing_column",
            _file(table),
            f"no column is a coordinate of the model {model.name}",
            f"columns such as {', '.join(map(str, list(model.coordinates)[:8]))}",
            "give the coordinates of inverse kinematics of this model",
        )
    values = table.values[:, [columns[name] for name in names]].copy()
    lost, lost_notes = _without_value(table, names, values)
    angles = np.array([model.coordinates[name].rotational for name in names])
    degrees, unit_notes = _in_degrees(table, names, values * angles)
    if degrees:
        values[:, angles] = np.radians(values[:, angles])
    values[:, angles], turn_notes = _without_turns(
        table, [name for name, angle in zip(names, angles, strict=True) if angle], values[:, angles], degrees
    )
    turned, turned_notes = _beyond_turns(model, table, names, values)
    lost |= turned
    spline_notes = _within_splines(model, names, values, angles if degrees else np.ones_like(angles))
    notes = [*table.sentences, *unit_notes, *spline_notes, *turn_notes, *lost_notes, *turned_notes]
    if cutoff_hz is not None:
        check_number(cutoff_hz, "cutoff_hz", "a cut-off frequency above zero [Hz], or None", above=0.0)
    if len(table.time) < FEWEST_SPLINE_FRAMES:
        raise file_error(
            "too_few_frames",
            _file(table),
            f"{len(table.time)} frames",
            f"at least {FEWEST_SPLINE_FRAMES} frames, of which velocities can be made",
            "name a longer motion",
        )
    time, values = _evenly(table, values, cutoff_hz)
    unknown = near_instants(time, table.time[lost], 1.0 / (cutoff_hz or WALKING_CUTOFF_HZ))
    resampled = time is not table.time
    if resampled:
        steps = np.diff(table.time)
        notes.append(
            f"The {len(table.time)} rows of {_called(table)} lie {1000.0 * steps.min():.3g} to "
            f"{1000.0 * steps.max():.3g} ms apart: the coordinates are interpolated to {len(time)} frames, "
            f"{1000.0 * (time[1] - time[0]):.3g} ms apart."
        )
    filtered = values if cutoff_hz is None else _filtered(table, time, values, cutoff_hz)
    change = np.abs(filtered - values) * angles
    row, largest = np.unravel_index(int(change.argmax()), change.shape)
    if change[row, largest] >= _JUMP:
        notes.append(
            f"{names[largest]} jumps at {time[row]:.4g} s: the filter changes it by "
            f"{np.degrees(change[row, largest]):.0f} degrees there. Correct the coordinates, or leave this time out."
        )
    curve = spline_through(time, filtered, 5, natural=True)
    rates = curve(time, 1), curve(time, 2)
    return CoordinateMotion(
        time,
        names,
        filtered,
        *rates,
        cutoff_hz,
        _file(table),
        tuple(notes),
        resampled,
        values,
        unknown if unknown.any() else None,
    )


def _without_value(table: Table, names: Sequence[str], values: Array) -> tuple[Mask, list[str]]:
    """Fill values (T, K) that are missing, in place; return the rows (T,) of which one is, and a note."""
    missing = ~np.isfinite(values)
    rows = np.asarray(missing.any(axis=1))
    if not rows.any():
        return rows, []
    row, first = np.argwhere(missing)[0]
    if rows.mean() > MOST_FAILED or missing.mean(axis=0).max() == 1.0:
        raise file_error(
            "not_finite",
            (_file(table), f"line {table.lines[row]}" if len(table.lines) else None),
            f"{names[first]} has no value at {table.time[row]:g} s; values that are missing: {missing.sum()}",
            f"a number for every coordinate, at {100.0 * (1.0 - MOST_FAILED):g} % of the times or more",
            "fill the gaps, or give a file without this stretch",
        )
    _interpolate(table.time, values, missing)
    return rows, [
        f"A value is missing in {count_of(int(rows.sum()), 'row')} of {_called(table)}, first {names[first]} at "
        f"{table.time[row]:g} s: frames there and beside it are not valid."
    ]


def _beyond_turns(
    model: OpenSimModel, table: Table, names: Sequence[str], values: Array
) -> tuple[Mask, list[str]]:
    """Fill angles (T, K) [rad] beyond a full turn of a joint under a muscle, in place; return their rows and notes.

    An inverse kinematics that fails in a frame leaves such angles.
    """
    beyond, notes = np.zeros(values.shape, bool), list[str]()
    for name, angles in beyond_a_turn(model, model.muscles, names, values):
        column = list(names).index(name)
        beyond[:, column] = np.abs(values[:, column]) > FULL_TURN
        largest, share = np.degrees(np.abs(angles).max()), float(beyond[:, column].mean())
        if share > MOST_FAILED:
            raise file_error(
                "bad_units",
                _file(table),
                f"{name} reaches {largest:.4g} degrees, more than a full turn",
                "angles in degrees with inDegrees=yes in the header, in radians with inDegrees=no",
                f"write {name} in the unit of the header: degrees may have been taken for radians and converted",
            )
        notes.append(
            f"{name} of {_called(table)} reaches {largest:.4g} degrees, more than a full turn, first at "
            f"{table.time[beyond[:, column].argmax()]:g} s, in {count_of(angles.size, 'frame')}: frames there and "
            "beside it are not valid."
        )
    _interpolate(table.time, values, beyond)
    return np.asarray(beyond.any(axis=1)), notes


def _interpolate(time: Array, values: Array, unknown: Mask) -> None:
    """Replace some values (T, K) by straight lines between the others of their column, in place."""
    for column in np.flatnonzero(unknown.any(axis=0)):
        known = ~unknown[:, column]
        values[~known, column] = np.interp(time[~known], time[known], values[known, column])


def _within_splines(model: OpenSimModel, names: Sequence[str], values: Array, converted: Mask) -> list[str]:
    """Bring parameters of splines that turn joints into radians, in place; return notes, of values beyond knots too.

    OpenSim counts an angle that turns its joint by a spline as a parameter, and does not convert it. values (T, K),
    converted (K,): whether they are in radians. A coordinate that follows from others is not read from the file.
    """
    coupled, notes = {coupler.dependent for coupler in model.couplers}, []
    for name, column, in_radians in zip(names, values.T, converted, strict=True):
        if name in coupled or name not in model.turning or (between := _knots(model, name)) is None:
            continue
        first, last = between
        low, high = first - ANGLE, last + ANGLE
        least, most = column.min(), column.max()
        leaves = least < low or most > high
        if not in_radians and leaves and low <= np.radians(least) and np.radians(most) <= high:
            column[:] = np.radians(column)
            notes.append(
                f"{name} is read in degrees: as radians, as OpenSim reads it, its {least:.4g} to {most:.4g} would "
                f"leave the splines that it drives ({first:.4g} to {last:.4g})."
            )
        far = np.maximum(first - column, column - last)
        if far.max() > ANGLE:
            notes.append(
                f"{name} is up to {far.max():.3g} rad beyond the knots of a spline that it drives ({first:.4g} to "
                f"{last:.4g}), in {int((far > ANGLE).sum())} of {len(far)} frames: it is extrapolated there."
            )
    return notes


def _knots(model: OpenSimModel, name: str) -> tuple[float, float] | None:
    """First and last knot that all splines of one coordinate share among the joints; None without a spline."""
    ends = []
    for joint in model.joints:
        for axis in (*joint.rotations, *joint.translations):
            function = axis.function.function if isinstance(axis.function, Scaled) else axis.function
            if axis.coordinates == (name,) and isinstance(function, PiecewisePolynomial):
                ends.append((float(function.knots[0]), float(function.knots[-1])))
    return (max(first for first, _ in ends), min(last for _, last in ends)) if ends else None


def plain_name(column: str) -> str:
    """The name of a coordinate in a column: "/jointset/hip_r/hip_flexion_r/value" is hip_flexion_r."""
    names = column.split("/")
    return names[-2] if len(names) > 2 and names[-1] == "value" else names[-1]


def as_table(source: Source, what: str) -> Table:
    """Read columns over time from a table, dataset, mapping or file; `what` names the source in messages."""
    if isinstance(source, Table):
        times = check_increasing(source.time, where=what)
        shape = len(times), len(source.names)
        values = check_real_array(
            source.values, "values", f"numbers of the shape {shape}", where=what, shapes=(shape,)
        )
        return replace(source, time=times, values=values, path=source.path or Path())
    if isinstance(source, str | Path):
        return read_mot(source)
    columns_by_name: Any = source
    columns: dict[str, object] = {}
    if hasattr(columns_by_name, "data_vars") and "time" in columns_by_name.coords:
        time = columns_by_name.coords["time"].values
        for name, variable in columns_by_name.data_vars.items():
            if variable.dims == ("time",):
                degrees = str(variable.attrs.get("units", "rad")).lower() in ("deg", "degree", "degrees")
                columns[str(name)] = np.radians(variable.values) if degrees else variable.values
    elif isinstance(columns_by_name, Mapping) and "time" in columns_by_name:
        time = columns_by_name["time"]
        columns = {name: column for name, column in columns_by_name.items() if name != "time"}
    else:
        raise input_error(
            "bad_type",
            where=what,
            problem=f"{what} is {type(source).__name__}",
            expected="the path of a .mot or .sto file, a Table, a Dataset over time, or arrays by "
            'name with "time"',
        )
    times = check_increasing(time, where=what)
    expected = f"{len(times)} numbers, one for each time"
    checked = [
        check_real_array(column, name, expected, where=what, shapes=((len(times),),))
        for name, column in columns.items()
    ]
    stacked = np.stack(checked, axis=1) if checked else np.empty((len(times), 0))
    return Table(times, tuple(columns), stacked, in_degrees=False, path=Path())


def _file(table: Table) -> Path | None:
    return table.path if table.path.name else None


def _called(table: Table) -> str:
    return table.path.name or "the table"


def _turns(values: Array) -> tuple[Array, Array, Array]:
    """Continuous angles (T, K) near zero [rad], without jumps by whole turns between two frames, and turns of all.

    Returns the angles, the frames (T - 1, K) with a jump behind them, and the number of turns (K,) taken off.
    """
    turn, steps = 2.0 * np.pi, np.diff(values, axis=0)
    jumps = -np.rint(steps / turn)
    jumps[np.abs(steps + turn * jumps) > _STEP] = 0.0
    angles = values.copy()
    angles[1:] += turn * np.cumsum(jumps, axis=0)
    middle = np.median(angles, axis=0)
    off = np.where(np.abs(middle) > _OFF_TURN, np.rint(middle / turn), 0.0)
    return angles - turn * off, jumps != 0.0, off


def _without_turns(table: Table, names: list[str], values: Array, degrees: bool) -> tuple[Array, list[str]]:
    """Angles (T, K) [rad] without whole turns, and notes in the unit of the source."""
    angles, jumps, off = _turns(values)
    turn, unit = (360.0, "degrees") if degrees else (2.0 * np.pi, "rad")
    notes = []
    for name, before, jump in zip(names, values.T, jumps.T, strict=True):
        if jump.any():
            row, in_unit = int(jump.argmax()), turn / (2.0 * np.pi)
            more = int(jump.sum()) - 1
            behind = f", and {more} time{'s' * (more > 1)} more behind" if more else ""
            notes.append(
                f"{name} of {_called(table)} jumps from {in_unit * before[row]:.4g} to {in_unit * before[row + 1]:.4g} "
                f"{unit} at {table.time[row + 1]:.4g} s{behind}: an angle is the same after a full turn, so that it is "
                "continued without the jump."
            )
    if off.any():
        turned = [
            f"{name} ({turn * count:+.4g} {unit})" for name, count in zip(names, off, strict=True) if count
        ]
        notes.append(f"Whole turns are taken off angles of {_called(table)}: {few(turned, 6)}.")
    return angles, notes


def _evenly(table: Table, values: Array, cutoff_hz: float | None) -> tuple[Array, Array]:
    """Even times [s] and the values (T, K) at them, interpolated unless the steps of the source are even.

    Programs that integrate a motion, as RRA does, write rows at the steps of their integrator. Rows that are nearly at
    the same time are left out: between them the rounding of the values would be a great speed.
    """
    time, steps = table.time, np.diff(table.time)
    if np.ptp(steps) <= _EVEN * steps.mean():
        return time, values
    usual, limits = float(np.median(steps)), HoleLimits.from_times(time, cutoff_hz or WALKING_CUTOFF_HZ)
    if _file(table) is None or steps.max() > limits.longest:
        if cutoff_hz is None and _file(table) is None:
            return time, values
        row = int(steps.argmax())
        raise file_error(
            "uneven_sampling",
            _file(table),
            f"the time between frames varies from {steps.min():.4g} to {steps.max():.4g} s "
            f"(from {time[row]:.6g} to {time[row + 1]:.6g} s)",
            "samples over the whole motion, evenly spaced where they are arrays or a table",
            "fill the hole in the software that exported the coordinates, cut the file there, or resample an array",
        )
    kept = [0]
    for row, at in enumerate(time):
        if at - time[kept[-1]] >= _APART * usual:
            kept.append(row)
    even = np.linspace(time[0], time[-1], round(float(time[-1] - time[0]) / usual) + 1)
    return even, spline_through(time[kept], values[kept])(even)


def _in_degrees(table: Table, names: tuple[str, ...], angles: Array) -> tuple[bool, list[str]]:
    """Return whether angles (T, K) are in degrees, and notes on it; columns of translations are zero."""
    if not angles.any():
        return bool(table.in_degrees), []
    # A few rows in which an inverse kinematics failed say nothing about the unit.
    shown = np.abs(angles)
    if np.quantile(shown, 1.0 - MOST_FAILED, axis=0).max() <= FULL_ROTATION:
        shown = np.where(shown <= FULL_ROTATION, shown, 0.0)
    row, column = np.unravel_index(int(shown.argmax()), angles.shape)
    name, largest = names[column], float(angles[row, column])
    reaches = f"{name} reaches {largest:.4g} at {table.time[row]:.6g} s"
    beyond = abs(largest) > FULL_ROTATION
    if table.in_degrees:
        few = f"No angle exceeds {abs(largest):.2g} degrees ({name}): if the file holds radians, its header is wrong."
        return True, [few] if abs(largest) < FEW_DEGREES else []
    if table.in_degrees is None:
        unstated = (
            f"{table.path.name or 'The table'} does not say whether its angles are in degrees (no inDegrees)"
        )
        if beyond:
            return True, [
                f"{unstated}: taken as degrees, because {reaches}, more than a full rotation in radians."
            ]
        return False, [
            f"{unstated}: taken as radians, as OpenSim does, because none exceeds a full rotation in them ({reaches}); "
            "if they are degrees, write inDegrees=yes into the header."
        ]
    if beyond:
        turned, jumps, off = _turns(angles)
        if np.abs(turned).max() <= np.pi and np.mean(jumps.any(axis=0) | (off != 0.0)) <= _FEW_TURNED:
            return False, []
        file = _file(table)
        value = "its header states inDegrees=no, radians" if file else "these angles are in radians"
        raise file_error(
            "bad_units",
            file,
            f"{reaches}, and {value}",
            "less than a full rotation (2 pi)",
            "if these are degrees, write inDegrees=yes into the header"
            if file
            else "if these are degrees, convert them with numpy.radians",
        )
    return False, []


def _filtered(table: Table, time: Array, values: Array, cutoff_hz: float) -> Array:
    steps = np.diff(time)
    rate = 1.0 / steps.mean()
    if rate < SLOWEST_HZ:
        raise file_error(
            "bad_units",
            (_file(table), "time"),
            f"the frames lie {steps.mean():.4g} s apart",
            f"times in seconds, at least {SLOWEST_HZ:g} frames a second",
            "write the times in seconds: these may be milliseconds or numbers of frames",
        )
    named = cutoff_hz
    if cutoff_hz < 0.5 * rate:
        # There the amplitude is halved; `low_pass` names the frequency where it is 1 / sqrt(2).
        named = np.arctan(np.tan(np.pi * cutoff_hz / rate) * HALF_POWER ** (0.5 / ORDER)) / np.pi * rate
    try:
        return low_pass(values, rate, named, ORDER)
    except InputError as error:
        raise input_error(
            error.code,
            file=_file(table),
            where="cutoff_hz",
            problem=f"a cut-off of {cutoff_hz:g} Hz at {rate:g} samples a second in {len(values)} frames",
            expected=error.expected,
            remedy=error.remedy,
        ) from error


ANGLE, LENGTH = np.radians(1.0), 0.002
"""Tolerances of the range of a coordinate [rad, m]: the filter moves values that are clamped at its end."""


@dataclass(frozen=True, eq=False)
class BeyondRange:
    """A coordinate, its largest distance beyond its range [rad or m], and the frames (T,) beyond the range."""

    coordinate: Coordinate
    most: float
    frames: Mask

    @property
    def sentence(self) -> str:
        """Sentence with the range of the coordinate, the largest distance beyond it, and the number of frames."""
        coordinate = self.coordinate
        unit, scale = ("degrees", np.degrees(1.0)) if coordinate.rotational else ("mm", 1000.0)
        share = max(1.0, 100.0 * float(self.frames.mean()))
        return (
            f"{coordinate.name} is up to {scale * self.most:.3g} {unit} beyond the range to which the model clamps it "
            f"({scale * coordinate.lower:.4g} to {scale * coordinate.upper:.4g} {unit}), in {share:.0f} % of the frames"
        )


def beyond_ranges(
    model: OpenSimModel, motion: CoordinateMotion, names: Collection[str]
) -> tuple[BeyondRange, ...]:
    """Find the clamped coordinates among some names that leave their range, the farthest first."""
    beyond_range = []
    for name, value in motion.by_name(motion.value).items():
        limits = model.coordinates[name]
        if name in names and limits.clamped and not limits.locked:
            beyond = np.maximum(limits.lower - value, value - limits.upper)
            limit = ANGLE if limits.rotational else LENGTH
            if beyond.max() > limit:
                beyond_range.append(BeyondRange(limits, float(beyond.max()), np.asarray(beyond > limit)))
    return tuple(sorted(beyond_range, key=lambda coordinate: -coordinate.most))

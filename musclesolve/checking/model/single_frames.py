"""Do coordinates and moments leap in single frames?

The sample x_k differs from the cubic through two samples on either side of it by

    r_k = x_k - (4 (x_{k-1} + x_{k+1}) - x_{k-2} - x_{k+2}) / 6.

Where one sample alone is wrong by s, r is s there and -2/3 s in the frames beside it. Where a signal steps by s, r is
s/2 and -s/2 in two frames. So the three values differ between a leap and a step, and their size beside all other r of
the column separates a leap from noise. Later checks see the cubic in place of the leap.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.message_text import count_of, few
from musclesolve.checking.cost import SERIOUS
from musclesolve.checking.model.given_moments import LEAST_MOMENT_RMS, MomentCase
from musclesolve.pipeline.opensim.coordinate_motion import coordinate_motion
from musclesolve.pipeline.opensim.load_dynamics import COLUMN_ENDINGS
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.recording.data import Table
from musclesolve.results.finding import Finding, Severity, Where, finding

USUAL, TIMES = 0.9, 20.0
"""Quantile of |r| that is usual in a column, and how many times this a leap exceeds."""
BESIDE = 0.5, 0.85
"""Share of a leap that r has beside it, of the opposite sign: 2/3, and noise."""
LEAST = np.radians(2.0), 0.02
"""Least leap of an angle [rad] and of a translation [m]; of a moment `LEAST_MOMENT_RMS`."""
LARGE = np.radians(25.0), 0.1
"""Leap of an angle [rad] and of a translation [m] that is an error: inverse kinematics of public files has leaps of 15
degrees. A leap of a moment is an error from `SERIOUS` on."""
FEWEST = 20
"""Fewest frames that show what is usual."""


def beside_cubic(values: Array) -> Array:
    """How far columns (T, K) differ from the cubic through two samples on either side; zero at the ends and gaps."""
    rest = np.zeros_like(values)
    near, far = values[1:-3] + values[3:-1], values[:-4] + values[4:]
    rest[2:-2] = np.nan_to_num(values[2:-2] - (4.0 * near - far) / 6.0)
    return rest


def single_leaps(values: Array, least: Array) -> Mask:
    """Samples (T, K) of columns that leap alone, by more than `least` (K,)."""
    if len(values) < FEWEST:
        return np.zeros(values.shape, bool)
    rest = beside_cubic(values)
    share = np.zeros_like(rest)
    large = np.abs(rest) > np.maximum(least, TIMES * np.quantile(np.abs(rest), USUAL, axis=0))
    beside = np.ones(values.shape, bool)
    for by in (-1, 1):
        np.divide(-np.roll(rest, by, axis=0), rest, out=share, where=large)
        beside &= (share > BESIDE[0]) & (share < BESIDE[1])
    return large & beside


def _without(values: Array, leaps: Mask) -> Array:
    """Columns (T, K) with the cubic in place of leaps."""
    return np.where(leaps, values - beside_cubic(values), values)


@dataclass(frozen=True)
class Leaps:
    """Columns that leap in the same frames: their places, fields of the finding, whether one is large, and times."""

    columns: list[int]
    said: dict[str, object]
    severity: Severity
    times: tuple[tuple[float, float], ...]


def _together(table: Table, leaps: Mask, units: Array, large: Array) -> Iterator[Leaps]:
    """Collect the leaps (T, K) of columns in some units (K,) that share their frames; the largest one is shown.

    large: leaps (K,) from which one is an error.
    """
    size, columns_of = beside_cubic(table.values), defaultdict[bytes, list[int]](list)
    for k in np.flatnonzero(leaps.any(axis=0)).tolist():
        columns_of[leaps[:, k].tobytes()].append(k)
    for columns in columns_of.values():
        frames = np.flatnonzero(leaps[:, columns[0]])
        share = np.abs(size[frames][:, columns]) / large[columns]
        row, column = np.unravel_index(int(share.argmax()), share.shape)
        at, shown = frames[row], columns[column]
        others = [table.names[k] for k in columns if k != shown]
        more = f", and in {count_of(len(frames) - 1, 'more frame')}" if len(frames) > 1 else ""
        more += f"; {few(others, 3)} leap{'s' * (len(others) == 1)} there, too" if others else ""
        said: dict[str, object] = {"name": table.names[shown], "unit": units[shown], "more": more}
        said |= {"time": table.time[at], "value": table.values[at, shown], "size": size[at, shown]}
        times = tuple((time, time) for time in table.time[frames].tolist())
        yield Leaps(columns, said, "error" if share.max() > 1.0 else "warning", times)


def _angles(body: ModelBody) -> Mask:
    """Coordinates of the motion that are angles; of a spline that turns a joint OpenSim counts them as parameters."""
    model, names = body.model, body.every_motion.names
    return np.array([model.coordinates[name].rotational or name in model.turning for name in names])


def leaps_of_coordinates(body: ModelBody) -> Iterator[Finding]:
    """Find coordinates that leap in single frames of the file, before any filter."""
    motion, angles = body.every_motion, _angles(body)
    if motion.measured is None:
        return
    values = motion.measured * np.where(angles, 180.0 / np.pi, 1.0)
    shown = Table(motion.time, motion.names, values, None, Path())
    large = np.where(angles, np.degrees(LARGE[0]), LARGE[1])
    for each in _together(shown, _leaps_of(body), np.where(angles, "degrees", "m"), large):
        yield finding("single_leap", each.severity, each.said, Where(motion.file, times=each.times))


def _leaps_of(body: ModelBody) -> Mask:
    """Samples of the measured coordinates that leap alone; what follows from others is not read from the file."""
    motion, angles = body.every_motion, _angles(body)
    if motion.measured is None:
        return np.zeros((0, len(motion.names)), bool)
    turned = np.abs(np.abs(beside_cubic(motion.measured)) - 2.0 * np.pi) < LARGE[0]  # the same angle
    free = ~np.isin(motion.names, [coupler.dependent for coupler in body.model.couplers])
    return single_leaps(motion.measured, np.where(angles, *LEAST)) & ~(turned & angles) & free


def without_leaps(body: ModelBody) -> ModelBody:
    """The body along its coordinates without single leaps; loads found in the moments are unknown then."""
    motion = body.every_motion
    assert motion.measured is not None
    values = motion.by_name(_without(motion.measured, _leaps_of(body)))
    every = coordinate_motion(body.model, {"time": motion.time, **values}, motion.cutoff_hz)
    every = replace(every, file=motion.file)
    used = every.frames(np.isin(every.time, body.motion.time))
    return replace(body, motion=used, every_motion=every, dynamics=None)


def leaps_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find moments that leap in single frames."""
    table = case.table
    columns = np.array([name.endswith(COLUMN_ENDINGS) for name in table.names])
    leaps = single_leaps(table.values, np.full(len(columns), LEAST_MOMENT_RMS)) & columns
    units = np.array(["N m" if name.endswith("_moment") else "N" for name in table.names])
    for each in _together(table, leaps, units, np.full(len(columns), SERIOUS * case.fixed.model.mass)):
        own = leaps & np.isin(np.arange(len(columns)), each.columns)

        def repair(given: Table, own: Mask = own) -> Table:
            return replace(given, values=_without(given.values, own))

        yield case.fault("single_leap", each.severity, each.said, repair, times=each.times)

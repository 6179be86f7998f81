"""Do coordinates and moments leap in single frames?

The sample x_k differs from the cubic through two samples on either side of it by

    r_k = x_k - (4 (x_{k-1} + x_{k+1}) - x_{k-2} - x_{k+2}) / 6.

Where one sample alone is wrong by s, r is s there and -2/3 s in the frames beside it. Where a signal steps by s, r is
s/2 and -s/2 in two frames. So the three values differ between a leap and a step, and their size beside all other r of
the column separates a leap from noise. Later checks see the cubic in place of the leap.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.checking.cost import SERIOUS
from musclesolve.checking.model.given_moments import LEAST_MOMENT_RMS, MomentCase
from musclesolve.pipeline.opensim.coordinate_motion import coordinate_motion
from musclesolve.pipeline.opensim.load_dynamics import COLUMN_ENDINGS
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.recording.data import Table
from musclesolve.results.finding import Finding, Where, finding

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


def _said(name: str, unit: str, time: Array, value: Array, size: Array, leaps: Mask) -> dict[str, object]:
    """Fields of the finding of a column (T,): its largest leap, and the number of others."""
    row = int(np.where(leaps, np.abs(size), 0.0).argmax())
    others = int(leaps.sum()) - 1
    more = f", and in {others} more frames" if others else ""
    shown = {"time": time[row], "value": value[row], "size": size[row]}
    return {"name": name, "unit": unit, **shown, "more": more}


def leaps_of_coordinates(body: ModelBody) -> Iterator[Finding]:
    """Find coordinates that leap in single frames of the file, before any filter."""
    motion, leaps = body.every_motion, _leaps_of(body)
    if motion.measured is None:
        return
    size = beside_cubic(motion.measured)
    for k in np.flatnonzero(leaps.any(axis=0)):
        angle = body.model.coordinates[motion.names[k]].rotational
        factor, unit = (180.0 / np.pi, "degrees") if angle else (1.0, "m")
        value = factor * motion.measured[:, k]
        said = _said(motion.names[k], unit, motion.time, value, factor * size[:, k], leaps[:, k])
        times = tuple((time, time) for time in motion.time[leaps[:, k]].tolist())
        large = float(np.abs(size[leaps[:, k], k]).max()) > LARGE[int(not angle)]
        yield finding("single_leap", "error" if large else "warning", said, Where(motion.file, times=times))


def _leaps_of(body: ModelBody) -> Mask:
    """Samples of the measured coordinates that leap alone."""
    motion = body.every_motion
    if motion.measured is None:
        return np.zeros((0, len(motion.names)), bool)
    angles = [body.model.coordinates[name].rotational for name in motion.names]
    turned = np.abs(np.abs(beside_cubic(motion.measured)) - 2.0 * np.pi) < LARGE[0]  # the same angle
    return single_leaps(motion.measured, np.where(angles, *LEAST)) & ~(turned & angles)


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
    size = beside_cubic(table.values)

    for k in np.flatnonzero(leaps.any(axis=0)):
        name = table.names[k]
        unit = "N m" if name.endswith("_moment") else "N"
        said = _said(name, unit, table.time, table.values[:, k], size[:, k], leaps[:, k])
        times = tuple((time, time) for time in table.time[leaps[:, k]].tolist())
        own = leaps & (np.arange(len(columns)) == k)

        def repair(given: Table, own: Mask = own) -> Table:
            return replace(given, values=_without(given.values, own))

        large = float(np.abs(size[leaps[:, k], k]).max()) > SERIOUS * case.fixed.model.mass
        yield case.fault("single_leap", "error" if large else "warning", said, repair, times=times)

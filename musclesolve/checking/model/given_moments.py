"""Do joint moments fit this model in this motion? Units, signs, sides, by the motion alone.

While one leg swings the other one carries the body, so that the ground gives the whole wrench w that all bodies need to
the foot that stands: the moments of both legs follow from the motion alone, without loads, as inverse dynamics with w
on this foot has them. They are known to 5 N m of the leg that swings and to 15 to 25 N m of the one that stands. A leg
swings where its foot goes forward beside the other one, on a belt too. Moments of the file, k M(t + d), are compared
with these. What all columns show together stands in `moment_surplus`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times
from musclesolve._util.message_text import few
from musclesolve._util.sides import has_side, twin
from musclesolve.checking.case import moment_cost
from musclesolve.checking.model.load_units_and_axes import CYCLE, OTHER_UNIT, exceeds, named_unit
from musclesolve.checking.model.model_case import (
    FEWEST_FRAMES,
    MEMORY,
    Examined,
    Motion,
    largest,
    single_supports,
    standard_errors,
)
from musclesolve.checking.model.posture import pressure_along_feet, pressure_of_motion
from musclesolve.opensim.inverse_dynamics import device_forces, joint_forces
from musclesolve.opensim.kinematics import body_motion
from musclesolve.opensim.model import OpenSimModel
from musclesolve.pipeline.opensim.load_dynamics import COLUMN_ENDINGS
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.recording.data import Table
from musclesolve.results.finding import Cost, Finding, Where, finding

LEAST_MOMENT_RMS = 5.0
"""Least rms of a moment that shows something [N m]."""
EXCHANGED = 0.5
"""Share of the misfit after an exchange of right and left from which the sides are exchanged."""
OPPOSITE = -0.6
"""Correlation with the moment of the motion from which a moment is reversed."""
MOMENT_END_S = 0.05
"""Margin to the ends of the moments [s]: the filter errs by up to 7 N m there, and by 2 N m from here on. At the ends
of the motion accelerations make moments wrong by 120 N m, and by up to 3 N m from `MEMORY` on."""
ALONE_S = 0.24
"""Least time during which each foot carries the body alone, to judge the scale of a column [s]. Parts of sound walks
have wrong factors up to 0.22 s; whole files of one stride have 0.26 to 0.35 s."""
LEAST_LIKENESS = 0.6
"""Least likeness of moments of the same motion."""
SHORT = 0.5
"""Least share of the shorter of two recordings in which both are known."""

Change = Callable[[Table], Table]


def away_from_ends(time: Array, motion: Array, moments: Array) -> Mask:
    """Times that lie away from the ends of the times of motion and moments, as far as filters and accelerations err."""
    inside = np.ones(len(time), bool)
    for ends, margin in ((motion, MEMORY), (moments, MOMENT_END_S)):
        inside &= (time > ends[0] + margin - 1e-6) & (time < ends[-1] - margin + 1e-6)
    return inside


@dataclass(frozen=True, eq=False)
class MomentCase(Examined):
    """Moments under examination: of the file, as far as they are repaired, and those that the motion needs."""

    body: ModelBody
    fixed: Motion
    table: Table
    due: Array  # (T, K) moments of all coordinates while one leg swings; NaN otherwise
    findings: tuple[Finding, ...] = ()

    def with_findings(self, findings: list[Finding]) -> MomentCase:
        """The case with what a check found, repaired as far as it has repairs."""
        table = self.table
        for entry in findings:
            table = table if entry.repair is None else entry.repair(table)
        return replace(self, table=table, findings=(*self.findings, *findings))

    @property
    def where(self) -> Where:
        """The file of the moments."""
        return Where(self.body.moment_file)

    @property
    def names(self) -> list[str]:
        """The shared angles with a column, whose moments the motion shows."""
        columns = self.table.names
        return [
            name
            for name in self.body.dofs
            if f"{name}_moment" in columns and not np.isnan(self.due[:, self._column(name)]).all()
        ]

    def _column(self, name: str) -> int:
        return self.fixed.model.coordinate_number[name]

    @property
    def frames(self) -> Mask:
        """Frames (T,) in which one leg swings, and no foot stands without a load, away from the ends of both files."""
        known = np.isfinite(self.due).all(axis=1) & np.isfinite(self.body.moment).all(axis=1)
        return known & away_from_ends(self.fixed.time, self.body.every_motion.time, self.table.time)

    @property
    def common(self) -> float:
        """Time that motion and moments have in common [s]."""
        time, moments = self.fixed.time, self.table.time
        return float(min(time[-1], moments[-1]) - max(time[0], moments[0]))

    @property
    def shows_columns(self) -> bool:
        """Whether columns and shift show: each foot carries the body alone for long enough, or a cycle is known.

        Parts of sound walks have wrong signs where 0.95 s are in common.
        """
        frames = self.frames
        alone = [float((swings & frames).sum()) for _, swings in single_supports(self.fixed)]
        whole = self.common > CYCLE - 1e-6 and frames.sum() >= FEWEST_FRAMES
        return whole or min(alone, default=0.0) >= ALONE_S * self.fixed.rate

    def expected(self, names: list[str]) -> Array:
        """Moments (F, n) of the motion in these frames."""
        return self.due[self.frames][:, [self._column(name) for name in names]]

    def given(self, names: list[str], shift: float = 0.0) -> Array:
        """Moments (F, n) of the file in these frames at later times, filtered as the coordinates are."""
        values = moments_at(self.table, names, self.fixed.time + shift)
        return self.fixed.smooth(np.nan_to_num(values))[self.frames]

    def cost(self, repair: Change) -> Cost | None:
        """The largest change of a moment of the shared coordinates [N m]."""
        repaired = repair(self.table)
        tables, time = (self.table, repaired), self.fixed.time
        names = [name for name in self.body.dofs if all(f"{name}_moment" in each.names for each in tables)]
        if not names:
            return None
        both = np.all([(time >= each.time[0]) & (time <= each.time[-1]) for each in tables], axis=0)
        change, now = np.zeros((len(time), len(self.body.dofs))), moments_at(self.table, names, time)
        shared = np.isin(self.body.dofs, names)
        change[:, shared] = (now - moments_at(repaired, names, time)) * both[:, None]
        return largest(self.body, change)


def moments_at(table: Table, names: list[str], time: Array) -> Array:
    """Columns (T, n) of moments at some times; the values at the ends beyond the file."""
    columns = [table.names.index(f"{name}_moment") for name in names]
    return at_times(table.time, table.values[:, columns], np.clip(time, table.time[0], table.time[-1]))


def moment_case(body: ModelBody, fixed: Motion) -> MomentCase | None:
    """Return the moments to be examined; None where the file or the model does not suffice."""
    if body.moment_table is None:
        return None
    due = np.full((len(fixed.time), len(fixed.model.coordinates)), np.nan)
    of_devices, on_coordinates = device_forces(fixed.model, fixed.motion, fixed.bodies)
    pose = body_motion(fixed.model, fixed.motion.value)
    for foot, swings in single_supports(fixed):
        wrench = fixed.need - of_devices
        wrench[:, fixed.model.body_number[foot]] -= fixed.need.sum(axis=1)
        due[swings] = (joint_forces(fixed.model, pose, wrench) - on_coordinates)[swings]
    return MomentCase(body, fixed, body.moment_table, due)


def changed_columns(names: list[str], factor: float) -> Change:
    """Return the repair that multiplies some columns by a factor."""

    def change(table: Table) -> Table:
        values, columns = table.values.copy(), [table.names.index(name) for name in names]
        values[:, columns] *= factor
        return replace(table, values=values)

    return change


def belonging(body: ModelBody) -> Iterator[Finding]:
    """Compare times and columns of the file of moments with times and columns of the coordinates."""
    table, where = body.moment_table, Where(body.moment_file)
    if table is None:
        return
    (a, b), (c, d) = body.motion.time[[0, -1]], table.time[[0, -1]]
    if min(b, d) - max(a, c) < SHORT * min(b - a, d - c):
        values = {"first": a, "last": b, "moments_first": c, "moments_last": d}
        yield finding("another_trial.times", "warning", values, where)
    if others := foreign_columns(table, body.model):
        values = {"names": few(others, 6), "model": body.model.name}
        yield finding("other_coordinates", "warning", values, where)


def foreign_columns(table: Table, model: OpenSimModel) -> list[str]:
    """Columns of generalized forces that belong to no coordinate of a model."""
    stems = [name.removesuffix(end) for end in COLUMN_ENDINGS for name in table.names if name.endswith(end)]
    return [name for name in stems if name not in model.coordinates]


def empty_columns(case: MomentCase) -> Iterator[Finding]:
    """Find moments that are zero throughout while the motion needs them."""
    names = case.names
    if case.frames.sum() < FEWEST_FRAMES:
        return
    for name, due in zip(names, case.expected(names).T, strict=True):
        column = case.table.values[:, case.table.names.index(f"{name}_moment")]
        size = float(np.sqrt(np.mean(due**2)))
        if size > LEAST_MOMENT_RMS and not np.nan_to_num(column).any():
            cost = moment_cost(float(np.abs(due).max()), name, case.fixed.model.mass)
            values = {"name": name, "size": size}
            yield finding("moment_zero", "error", values, case.where, cost=cost)


def unexplained(given: Array, due: Array) -> float:
    """The share of moments due that given ones leave at the best scale of any sign."""
    return 1.0 - float(np.nan_to_num(likeness_of(given, due))) ** 2


def sides_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find columns of the right and the left leg that are exchanged."""
    names = [name for name in case.names if has_side(name)]
    other = [twin(name) for name in names]
    if case.frames.sum() < FEWEST_FRAMES or set(names) != set(other):
        return
    due = case.expected(names)
    now, then = (unexplained(case.given(columns), due) for columns in (names, other))
    if then > EXCHANGED * now:
        return

    columns = {f"{name}_moment": f"{twin(name)}_moment" for name in names}

    def repair(table: Table) -> Table:
        return replace(table, names=tuple(columns.get(name, name) for name in table.names))

    yield case.fault("sides_swapped.moments", "error", {"now": now, "then": then}, repair)


def likeness_of(given: Array, due: Array) -> float:
    """Correlation of moments of any shape with the moments due; NaN where one of them is zero."""
    size = float(np.linalg.norm(given) * np.linalg.norm(due))
    return float((given * due).sum()) / size if size > 0.0 else np.nan


def unit_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find moments with a reversed sign, or in another unit; columns with a sign of their own show no unit."""
    names, mass = case.names, case.fixed.model.mass
    if not names or case.frames.sum() < FEWEST_FRAMES:
        return
    given, due = case.given(names), case.expected(names)
    likeness = likeness_of(given, due)
    columns = [name for name in case.table.names if name.endswith(COLUMN_ENDINGS)]
    if likeness < OPPOSITE:
        repair = changed_columns(columns, -1.0)
        values = {"names": "all moments", "likeness": likeness}
        yield case.fault("moment_sign", "error", values, repair)
        return
    signed = [likeness_of(one, other) > OPPOSITE for one, other in zip(given.T, due.T, strict=True)]
    given, due = given[:, signed], due[:, signed]
    if not likeness_of(given, due) >= LEAST_LIKENESS:
        return
    (factor,), (error,) = standard_errors(given[:, :, None], due, round(MEMORY * case.fixed.rate))
    if exceeds(np.log(factor), np.log(OTHER_UNIT), error / factor):
        units = {
            "newton millimeters": 0.001,
            "newton centimeters": 0.01,
            "kilonewton meters": 1000.0,
            "newton meters per kilogram": mass,
            "half of the newton meters": 2.0,
            "twice the newton meters": 0.5,
        }
        unit, used = named_unit(units, factor)
        values = {"share": 1.0 / factor, "unit": unit or "no known unit", "factor": used, "mass": mass}
        yield case.fault("moment_units.moments", "error", values, changed_columns(columns, used))


def feet_along_pressure(case: MomentCase) -> Iterator[Finding]:
    """Compare the direction of the feet with the way of the pressure that the motion needs under them."""
    if case.body.dynamics is None:
        yield from pressure_along_feet(
            case.fixed, pressure_of_motion(case.fixed), Where(case.body.motion.file)
        )

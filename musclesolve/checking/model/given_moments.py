"""Do joint moments fit this model in this motion? Units, signs, sides, time, mass, the root's share of weight.

While one leg swings the other one carries the body, so that the ground gives the whole wrench w that all bodies need to
the foot that stands: the moments of both legs follow from the motion alone, without loads, as inverse dynamics with w
on this foot has them. They are known to 5 N m of the leg that swings and to 15 to 25 N m of the one that stands. A leg
swings where its foot goes forward beside the other one, on a belt too. Moments of the file, k M(t + d), are compared
with these; scale and shift as for loads (load_units_and_axes.py).

Inverse dynamics gives tau = tau_0(q) - J_r^T w_r - J_l^T w_l: the forces tau_0 that the motion of the model needs under
gravity, less the forces of the ground through wrenches w on the feet. A file of moments has no wrenches, but they are
only twelve unknowns in every frame, fewer than the coordinates. With the projection P onto forces that no wrench makes,
P tau = P tau_0: the weight and inertia of trunk, arms and swinging leg. Over all frames the check compares

    k = <P tau, P tau_0> / |P tau_0|^2        1 of the same body, m'/m of one of another mass in the same motion,
    r = <P tau, P tau_0> / (|P tau| |P tau_0|)    1 of the same motion, near 0 of another one,

and the mean vertical force at the root: near zero where all ground reactions were applied, m g where none was.

Five recorded strides with their own moments have k of 0.82, 0.82, 0.97, 1.00 and 1.00 and r of 0.97 or more; 0.82
where the moments belong to a model with arms and the model has none: there less than a quarter is no contradiction.
Moments of another person's walk have r below 0.4; on a model that was not scaled to its subject k is 1.26. The check
cannot find moments of another stride of the same person, or of a mass within the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times, true_runs
from musclesolve._util.message_text import few
from musclesolve._util.sides import has_side
from musclesolve.checking.cost import moment_cost
from musclesolve.checking.forces.newtons_law import FARTHEST, SERIOUS, SMALLEST_S, shift_values
from musclesolve.checking.model.load_units_and_axes import CYCLE, OTHER_UNIT, SHIFT_STEP, exceeds, named_unit
from musclesolve.checking.model.model_case import (
    CUTOFF_HZ,
    FEWEST_FRAMES,
    MEMORY,
    Examined,
    Motion,
    below,
    single_supports,
    standard_errors,
)
from musclesolve.checking.model.posture import pressure_along_feet, pressure_of_motion
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import InputError
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.opensim.external_loads import feet_of
from musclesolve.opensim.inverse_dynamics import (
    ModelMotion,
    device_forces,
    inverse_dynamics,
    joint_forces,
)
from musclesolve.opensim.kinematics import body_motion
from musclesolve.opensim.model import GROUND, OpenSimModel
from musclesolve.pipeline.opensim.coordinate_motion import CoordinateMotion
from musclesolve.pipeline.opensim.found_loads import coordinate_columns, foot_pushes
from musclesolve.pipeline.opensim.load_dynamics import COLUMN_ENDINGS, whole_motion
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.recording.data import Table
from musclesolve.results.finding import Cost, Finding, Severity, Where, finding

MASS, OWN_MASS = 0.25, 0.1
"""Largest difference of the factor k from 1, and of moments whose columns are coordinates of the model."""
LEAST_LIKENESS = 0.6
"""Least likeness r of moments of the same motion."""
CARRIED = 0.15
"""Most of the weight that the root may carry on average: a second of walking has a mean acceleration of 3 % of g."""
BORNE = 0.5
"""Least force that the motion needs of the ground where the ground bears the body [body weights]; none in flight."""
_FEWEST_FRAMES = 30
_MOST = 150
_SMALLEST = 5.0
"""Fewest and most frames, and the least rms of P tau_0 that shows anything [N m]."""


@dataclass(frozen=True)
class MomentFit:
    """Agreement of moments: factor k, likeness r, the root's share of the weight, standard errors; NaN if unknown."""

    factor: float = np.nan
    factor_error: float = np.nan
    likeness: float = np.nan
    carried: float = np.nan
    carried_error: float = np.nan


def moment_fit(model: OpenSimModel, table: Table, motion: CoordinateMotion) -> MomentFit | None:
    """Compare moments with the needs of the model; None where model, motion or file do not suffice.

    table: output of OpenSim's inverse dynamics; motion: of all free coordinates.
    """
    if not model.masses or model.mass_faults or not model.mass > 0.0:
        return None
    try:
        whole = whole_motion(model, below(motion))
    except InputError:
        return None
    feet = list(feet_of(model).values())
    if len(feet) < 2 and foreign_columns(table, model):  # the other leg moves and carries, too
        return None
    columns = coordinate_columns(model, table)
    given, time = _smooth(table, list(columns.values()), motion.time), motion.time
    known = np.isfinite(given).all(axis=1) & away_from_ends(time, time, table.time)
    first, stop = max(true_runs(known), key=lambda run: run[1] - run[0], default=(0, 0))
    if not columns or stop - first < _FEWEST_FRAMES:
        return None
    step = max(1, -(-(stop - first) // _MOST))
    frames = np.arange(first, stop, step)
    memory = max(1, round(MEMORY * len(time) / np.ptp(time) / step))
    part = ModelMotion(*(getattr(whole, name)[frames] for name in ("time", "value", "speed", "acceleration")))
    dynamics, numbers = inverse_dynamics(model, part), [model.coordinate_number[name] for name in columns]
    weight = model.mass * STANDARD_GRAVITY
    borne = np.linalg.norm(dynamics.wrench[:, :, 3:].sum(axis=1), axis=1) > BORNE * weight
    if borne.sum() * step < _FEWEST_FRAMES:
        return None
    due, given, value = dynamics.joint_force[borne][:, numbers], given[frames[borne]], part.value[borne]
    fit = MomentFit()
    if feet and len(columns) > 6 * len(feet):
        basis = foot_pushes(model, body_motion(model, value), feet)[:, numbers]
        due_alone, given_alone = _beyond(basis, due), _beyond(basis, given)
        if np.sqrt((due_alone**2).sum(axis=1).mean()) >= _SMALLEST:
            size = float(np.linalg.norm(due_alone) * np.linalg.norm(given_alone)) + 1e-300
            likeness = float((due_alone * given_alone).sum()) / size
            (factor,), (error,) = standard_errors(due_alone[:, :, None], given_alone, memory)
            fit = replace(fit, factor=factor, factor_error=error, likeness=likeness)
    # the vertical translation of a single root, if the file has it, bears the weight of a body that stands on feet
    roots = [joint for joint in model.joints if joint.parent.body == GROUND and feet]
    for name in roots[0].coordinates if len(roots) == 1 else ():
        if name in columns and not model.coordinates[name].rotational:
            column = list(columns).index(name)
            if (mean := due[:, column].mean()) > 0.8 * weight:
                patterns = np.full((len(due), 1, 1), mean)
                (carried,), (error,) = standard_errors(patterns, given[:, [column]], memory)
                return replace(fit, carried=carried, carried_error=error)
    return fit


def _smooth(table: Table, columns: list[int], time: Array) -> Array:
    """Columns of the file at some times, low-passed as the motion; NaN beyond the file and beside gaps in it."""
    values = np.full((len(time), len(columns)), np.nan)
    finite = np.asarray(np.isfinite(table.values[:, columns]).all(axis=1))
    steps = np.diff(table.time)
    for first, stop in true_runs(finite):
        own = table.values[first:stop, columns]
        rate = 1.0 / float(steps[first : stop - 1].mean()) if stop - first > 1 else 0.0
        if stop - first < _FEWEST_FRAMES or np.ptp(steps[first : stop - 1]) > 0.01 / rate:
            continue
        if rate > 4.0 * CUTOFF_HZ:
            own = low_pass(own, rate, CUTOFF_HZ)
        inside = (time >= table.time[first] - 1e-6) & (time <= table.time[stop - 1] + 1e-6)
        values[inside] = at_times(table.time[first:stop], own, time[inside])
    return values


def _beyond(basis: Array, force: Array) -> Array:
    """The part of generalized forces (T, n) that no combination of a basis (T, n, 12) makes."""
    amount = np.einsum("tkn,tn->tk", np.linalg.pinv(basis, rcond=1e-9), force)
    return np.asarray(force - np.einsum("tnk,tk->tn", basis, amount))


LEAST_MOMENT_RMS = 5.0
"""Least rms of a moment that shows something [N m]."""
EXCHANGED = 0.5
"""Share of the misfit after an exchange of right and left from which the sides are exchanged."""
OPPOSITE = -0.6
"""Correlation with the moment of the motion from which a moment is reversed."""
LIKE = 0.5
"""Largest unexplained share of the moments at which a shift is measured."""
MOMENT_END_S = 0.05
"""Margin to the ends of the moments [s]: the filter errs by up to 7 N m there, and by 2 N m from here on. At the ends
of the motion accelerations make moments wrong by 120 N m, and by up to 3 N m from `MEMORY` on."""
ALONE_S = 0.24
"""Least time during which each foot carries the body alone, to judge the scale of a column [s]. Parts of sound walks
have wrong factors up to 0.22 s; whole files of one stride have 0.26 to 0.35 s."""
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
        """Whether sign and shift of columns show. Parts of sound walks have wrong signs where 0.95 s are in common."""
        return self.on_both_feet or (self.common > CYCLE - 1e-6 and self.frames.sum() >= FEWEST_FRAMES)

    @property
    def on_both_feet(self) -> bool:
        """Whether each foot carries the body alone for long enough to judge the scale of a column."""
        frames, both = self.frames, single_supports(self.fixed)
        times = [float((swings & frames).sum()) / self.fixed.rate for _, swings in both]
        return bool(times) and min(times) >= ALONE_S

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
        both = np.all([(time >= each.time[0]) & (time <= each.time[-1]) for each in tables], axis=0)
        if not names or not both.any():
            return None
        change = [moments_at(table, names, time[both]) for table in tables]
        most = np.nan_to_num(np.abs(change[0] - change[1])).max(axis=0)
        if not most.max() > 0.0:
            return None
        return moment_cost(float(most.max()), names[int(most.argmax())], self.fixed.model.mass)


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


def changed_columns(names: list[str], factor: float, offset: float | Array = 0.0) -> Change:
    """Return the repair that multiplies some columns by a factor and adds an offset."""

    def change(table: Table) -> Table:
        values, columns = table.values.copy(), [table.names.index(name) for name in names]
        values[:, columns] = factor * values[:, columns] + offset
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


def unexplained(given: Array, due: Array) -> tuple[float, float]:
    """The share of moments due that given ones leave at the best scale of any sign, and this scale."""
    power = float((given**2).sum())
    scale = float((given * due).sum()) / power if power > 0.0 else 0.0
    return float(((scale * given - due) ** 2).sum() / (due**2).sum()), scale


def sides_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find columns of the right and the left leg that are exchanged."""
    names = [name for name in case.names if has_side(name)]
    other = [f"{name[:-1]}{'l' if name.endswith('r') else 'r'}" for name in names]
    if case.frames.sum() < FEWEST_FRAMES or set(names) != set(other):
        return
    due = case.expected(names)
    now, then = (unexplained(case.given(columns), due)[0] for columns in (names, other))
    if then > EXCHANGED * now:
        return

    to_other = {f"{name}_moment": f"{twin}_moment" for name, twin in zip(names, other, strict=True)}

    def repair(table: Table) -> Table:
        return replace(table, names=tuple(to_other.get(name, name) for name in table.names))

    yield case.fault("sides_swapped.moments", "error", {"now": now, "then": then}, repair)


def unit_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find moments with a reversed sign, or in another unit."""
    names = case.names
    if not names or case.frames.sum() < FEWEST_FRAMES:
        return
    given, due, mass = case.given(names), case.expected(names), case.fixed.model.mass
    if not given.any():
        return
    likeness = float((given * due).sum() / np.sqrt((given**2).sum() * (due**2).sum()))
    columns = [name for name in case.table.names if name.endswith(COLUMN_ENDINGS)]
    if likeness < OPPOSITE:
        repair = changed_columns(columns, -1.0)
        values = {"names": "all moments", "likeness": likeness}
        yield case.fault("moment_sign", "error", values, repair)
        return
    if likeness < LEAST_LIKENESS:
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
        return
    for k, name in enumerate(names if case.shows_columns else ()):
        size = np.sqrt((due[:, k] ** 2).mean())
        own = float((given[:, k] * due[:, k]).sum())
        like = own / (float(np.linalg.norm(given[:, k]) * np.linalg.norm(due[:, k])) + 1e-300)
        if like < OPPOSITE and size > 2.0 * LEAST_MOMENT_RMS:
            repair = changed_columns([f"{name}_moment"], -1.0)
            values = {"names": f"the moment of {name}", "likeness": like}
            yield case.fault("moment_sign", "error", values, repair)


def shift_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find a shift in time between moments and motion."""
    names, time, frames = case.names, case.fixed.time, case.frames
    if not names or not case.shows_columns:
        return
    due = case.expected(names)

    def at(shift: float) -> tuple[Array, Mask]:
        when = time[frames] + shift
        inside = (when >= case.table.time[0]) & (when <= case.table.time[-1])
        return case.given(names, shift), inside

    tried = []
    for shift in np.arange(-FARTHEST, FARTHEST + SHIFT_STEP / 2, SHIFT_STEP):
        given, inside = at(float(shift))
        if inside.mean() >= 0.7:
            tried.append((unexplained(given[inside], due[inside])[0], float(shift)))
    misfit, shift = min(tried, default=(np.inf, 0.0))
    if misfit > LIKE:
        return
    error = np.nan
    for _ in range(5):
        given, inside = at(shift)
        scale = unexplained(given[inside], due[inside])[1]
        late = case.fixed.smooth(moments_at(case.table, names, time + shift))
        rate = np.gradient(late, time, axis=0)[frames]
        patterns = np.stack([scale * rate, given], axis=2)[inside]
        residual = (due - scale * given)[inside]
        change, errors = standard_errors(patterns, residual, round(MEMORY * case.fixed.rate))
        shift, error = shift + float(np.clip(change[0], -SHIFT_STEP, SHIFT_STEP)), float(errors[0])
    limit = SMALLEST_S if case.common >= CYCLE else SERIOUS
    if not exceeds(shift, limit, error):
        return
    severity: Severity = "error" if abs(shift) >= SERIOUS else "warning"
    values = shift_values(shift, limit) | {"error": error}
    yield case.fault(
        "time_offset.moments", severity, values, lambda table: replace(table, time=table.time - shift)
    )


def feet_along_pressure(case: MomentCase) -> Iterator[Finding]:
    """Compare the direction of the feet with the way of the pressure that the motion needs under them."""
    if case.body.dynamics is None:
        yield from pressure_along_feet(
            case.fixed, pressure_of_motion(case.fixed), Where(case.body.motion.file)
        )


def whole_body(case: MomentCase) -> Iterator[Finding]:
    """Compare the moments of all coordinates with weight and inertia of trunk, arms and swinging leg."""
    fit = moment_fit(case.fixed.model, case.table, case.body.motion)
    mass, names = case.fixed.model.mass, case.names
    loads = case.body.dynamics  # found in the moments: these are weighed, where the body stands on them
    stands = loads is not None and loads.stands
    if fit is not None and not stands and exceeds(fit.carried, CARRIED, fit.carried_error):
        why = (
            "ground reactions were left out of inverse dynamics, or do not hold all feet, or belong to a lighter person"
            if fit.carried > 0.0
            else "the ground reactions in inverse dynamics belong to a heavier person"
        )
        values = {"share": fit.carried, "limit": CARRIED, "why": why}
        yield case.fault("root_carries", "warning" if abs(fit.carried) < MASS else "error", values)
        return
    likeness = np.inf if fit is None or np.isnan(fit.likeness) else fit.likeness
    if names and case.frames.sum() >= FEWEST_FRAMES:
        given, due = case.given(names), case.expected(names)
        size = float(np.linalg.norm(given) * np.linalg.norm(due))
        if size > 0.0 and float(np.sqrt((due**2).mean())) > LEAST_MOMENT_RMS:
            likeness = min(likeness, float((given * due).sum()) / size)
    if likeness < LEAST_LIKENESS:
        values = {"likeness": likeness, "limit": LEAST_LIKENESS}
        yield case.fault("another_trial.moments", "error", values)
        return
    limit = MASS if foreign_columns(case.table, case.fixed.model) else OWN_MASS
    if fit is None or case.found("moment_zero"):
        return
    if exceeds(fit.factor - 1.0, limit, fit.factor_error):
        values = {"factor": fit.factor, "limit": limit, "mass": mass}
        yield case.fault("mass.moments", "warning", values)

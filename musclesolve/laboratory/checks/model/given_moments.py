"""Do joint moments fit this model in this motion? Units, signs, sides, mass and time, by the motion alone.

While one leg swings the other one carries the body, so that the ground gives the whole wrench w that all bodies need to
the foot that stands: the moments of both legs follow from the motion alone, without loads, as inverse dynamics with w
on this foot has them. They are known to 5 N m of the leg that swings and to 15 to 25 N m of the one that stands. A leg
swings where its foot goes forward beside the other one, on a belt too. Moments of the file, k M(t + d), are compared
with these.

All columns together show the part of joint moments that no force on the feet explains (`surplus`). Inverse dynamics
gives tau = tau_0(q) - J_r^T w_r - J_l^T w_l: the forces tau_0 that the motion of the model needs under gravity, less
the forces of the ground through wrenches w on the feet. A file of moments has no wrenches, but they are only twelve
unknowns in every frame, six while one foot swings, fewer than the coordinates. With the projection P onto forces that
no wrench makes, P tau = P tau_0: the weight and inertia of trunk, arms and swinging leg. Over all frames `whole_body`
compares

    k = <P tau, P tau_0> / |P tau_0|^2        1 of the same body, m'/m of one of another mass in the same motion,
    r = <P tau, P tau_0> / (|P tau| |P tau_0|)    1 of the same motion, near 0 of another one,

and the mean vertical force at the root: near zero where all ground reactions were applied, m g where none was.

Moments that are late by d add -d P dtau/dt. Beside errors of the model, and with columns weighted by their usual
errors, d is known to 1 to 3 ms; parts of sound walks have up to 9 ms.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, at_times, true_runs, within
from musclesolve._util.messages import few
from musclesolve._util.sides import has_side, twin
from musclesolve.laboratory.checks.case import moment_cost
from musclesolve.laboratory.checks.forces.newtons_law import FARTHEST, SERIOUS, SMALLEST_S, shift_values
from musclesolve.laboratory.checks.model.load_units_and_axes import (
    CYCLE,
    DRIFTS,
    LEAST_OVERLAP,
    OTHER_UNIT,
    SHIFT_STEP,
    exceeds,
    named_unit,
)
from musclesolve.laboratory.checks.model.model_case import (
    MEMORY,
    Examined,
    Motion,
    largest,
    single_supports,
    standard_errors,
)
from musclesolve.laboratory.checks.model.posture import pressure_along_feet, pressure_of_motion
from musclesolve.laboratory.results.finding import Cost, Finding, Where, error_if, finding
from musclesolve.models.opensim.inverse_dynamics import device_forces, joint_forces
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.load_dynamics import COLUMN_ENDINGS
from musclesolve.models.opensim.loads_without_plates import coordinate_columns, foot_pushes
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.tables.sampled import Table

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

    def repaired(self, repair: Change) -> "MomentCase":
        """The case with a repaired table."""
        return replace(self, table=repair(self.table))

    @property
    def where(self) -> Where:
        """The file of the moments."""
        return Where(self.body.moment_file)

    @property
    def names(self) -> list[str]:
        """The shared angles with a column, whose moments the motion shows."""
        columns, number = self.table.names, self.fixed.model.coordinate_number
        return [
            name
            for name in self.body.dofs
            if f"{name}_moment" in columns and not np.isnan(self.due[:, number[name]]).all()
        ]

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
        whole = self.common > CYCLE - 1e-6 and frames.sum() >= self.fixed.fewest
        return whole or min(alone, default=0.0) >= ALONE_S * self.fixed.rate

    def expected(self, names: list[str]) -> Array:
        """Moments (F, n) of the motion in these frames."""
        number = self.fixed.model.coordinate_number
        return self.due[self.frames][:, [number[name] for name in names]]

    def given(self, names: list[str], shift: float = 0.0) -> Array:
        """Moments (F, n) of the file in these frames at later times, filtered as the coordinates are."""
        values = moments_at(self.table, names, self.fixed.time + shift)
        return self.fixed.smooth(np.nan_to_num(values))[self.frames]

    def cost(self, repair: Change) -> Cost | None:
        """The largest change of a moment of the shared coordinates [N m]."""
        repaired = repair(self.table)
        tables, time = (self.table, repaired), self.fixed.time
        names = [name for name in self.body.dofs if all(f"{name}_moment" in table.names for table in tables)]
        if not names:
            return None
        both = np.all([(time >= table.time[0]) & (time <= table.time[-1]) for table in tables], axis=0)
        change, now = np.zeros((len(time), len(self.body.dofs))), moments_at(self.table, names, time)
        shared = np.isin(self.body.dofs, names)
        change[:, shared] = (now - moments_at(repaired, names, time)) * both[:, None]
        return largest(self.body, change)


def moments_at(table: Table, names: list[str], time: Array) -> Array:
    """Columns (T, n) of moments at some times; the values at the ends beyond the file."""
    columns = [table.names.index(f"{name}_moment") for name in names]
    return at_times(table.time, table.values[:, columns], time)


def moment_case(body: ModelBody, fixed: Motion) -> MomentCase | None:
    """Return the moments to be examined; None where the file or the model does not suffice."""
    if body.moment_table is None:
        return None
    return MomentCase(body, fixed, body.moment_table, moments_due(fixed, {}, None))


def moments_due(fixed: Motion, borne_by: Mapping[str, str], without: Array | None) -> Array:
    """Moments (T, K) of all coordinates while one leg swings, NaN otherwise.

    borne_by: foot -> body with its load. without: horizontal part (3, 3) of the force that is missing in the ground.
    """
    due = np.full((len(fixed.time), len(fixed.model.coordinates)), np.nan)
    of_devices, on_coordinates = device_forces(fixed.model, fixed.motion, fixed.bodies)
    pose = body_motion(fixed.model, fixed.motion.value)
    for foot, swings in single_supports(fixed):
        wrench, load = fixed.need - of_devices, fixed.need.sum(axis=1)
        if without is not None:
            up, (moment, force) = fixed.model.up, np.hsplit(load, 2)
            point = next(sole.lowest for sole in fixed.soles if sole.body == foot)[:, None] * up
            point = point + np.cross(up, moment - np.cross(point, force)) / (force @ up)[:, None]
            missing = force @ without
            load -= np.hstack([np.cross(point, missing), missing])
        wrench[:, fixed.model.body_number[borne_by.get(foot, foot)]] -= load
        due[swings] = (joint_forces(fixed.model, pose, wrench) - on_coordinates)[swings]
    return due


def changed_columns(names: list[str], factor: float) -> Change:
    """Return the repair that multiplies some columns by a factor."""
    return lambda table: replace(
        table, values=table.values * np.where(np.isin(table.names, names), factor, 1.0)
    )


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
    if case.frames.sum() < case.fixed.fewest or case.found("noise"):  # rounded to zero
        return
    for name, due in zip(names, case.expected(names).T, strict=True):
        column = case.table.values[:, case.table.names.index(f"{name}_moment")]
        size = float(np.sqrt(np.mean(due**2)))
        if size > LEAST_MOMENT_RMS and not np.nan_to_num(column).any():
            cost = moment_cost(float(np.abs(due).max()), name, case.fixed.model.mass)
            yield finding("moment_zero", "error", {"name": name, "size": size}, case.where, cost=cost)


def unexplained(moments: Array, due: Array) -> float:
    """The share of the moments due that other ones leave at the best scale of any sign."""
    return 1.0 - float(np.nan_to_num(likeness_of(moments, due))) ** 2


def sides_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find columns of the right and the left leg that are exchanged."""
    names = [name for name in case.names if has_side(name)]
    other = [twin(name) for name in names]
    if case.frames.sum() < case.fixed.fewest or set(names) != set(other):
        return
    due = case.expected(names)
    now, then = (unexplained(case.given(columns), due) for columns in (names, other))
    if then > EXCHANGED * now:
        return

    columns = {f"{name}_moment": f"{twin(name)}_moment" for name in names}
    exchanged = tuple(columns.get(name, name) for name in case.table.names)
    values = {"now": now, "then": then}
    yield case.fault("sides_swapped.moments", "error", values, lambda table: replace(table, names=exchanged))


def likeness_of(moments: Array, due: Array) -> float:
    """Correlation of moments of any shape with the moments due; NaN where one of them is zero."""
    size = float(np.linalg.norm(moments) * np.linalg.norm(due))
    return float((moments * due).sum()) / size if size > 0.0 else np.nan


def unit_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find moments with a reversed sign, or in another unit; columns with a sign of their own show no unit."""
    names, mass = case.names, case.fixed.model.mass
    if not names or case.frames.sum() < case.fixed.fewest:
        return
    moments, due = case.given(names), case.expected(names)
    likeness = likeness_of(moments, due)
    columns = [name for name in case.table.names if name.endswith(COLUMN_ENDINGS)]
    if likeness < OPPOSITE:
        values = {"names": "all moments", "likeness": likeness}
        yield case.fault("moment_sign", "error", values, changed_columns(columns, -1.0))
        return
    signed = [likeness_of(one, other) > OPPOSITE for one, other in zip(moments.T, due.T, strict=True)]
    moments, due = moments[:, signed], due[:, signed]
    if not likeness_of(moments, due) >= LEAST_LIKENESS:
        return
    (factor,), (error,) = standard_errors(moments[:, :, None], due, round(MEMORY * case.fixed.rate))
    # no unit is so near; other loads change the moments of legs, and not the part that no load explains
    if abs(np.log(factor)) < 3.0 * np.log(OTHER_UNIT) and 1.0 / OTHER_UNIT < moment_fit(case)[0] < OTHER_UNIT:
        return
    if exceeds(np.log(factor), np.log(OTHER_UNIT), error / factor):
        units = {"newton millimeters": 0.001, "newton centimeters": 0.01, "kilonewton meters": 1000.0}
        units |= {"newton meters per kilogram": mass, "half of the newton meters": 2.0}
        units["twice the newton meters"] = 0.5
        unit, used = named_unit(units, factor)
        values = {"share": 1.0 / factor, "unit": unit or "no known unit", "factor": used, "mass": mass}
        yield case.fault("moment_units.moments", "error", values, changed_columns(columns, used))


def feet_along_pressure(case: MomentCase) -> Iterator[Finding]:
    """Compare the direction of the feet with the way of the pressure that the motion needs under them."""
    if case.body.dynamics is None:
        yield from pressure_along_feet(case.body, case.fixed, pressure_of_motion(case.fixed))


MASS, OWN_MASS = 0.25, 0.1
"""Largest difference of the factor k from 1, and of moments whose columns are coordinates of the model: strides and
parts of them have 0.80 to 0.85 on a model without the arms of the moments, and 0.97 to 1.01 otherwise."""
ALIKE = 0.9
"""Least likeness of moments of another mass: sound ones have 0.97 and more, beside a wrong angle of the root 0.84."""
CLOSE, REMAINS = 0.85, 0.6
"""Likeness of moments with another load that names it, and the share that it leaves of what the likeness with the right
one lacks to 1. Sound moments have up to 0.71, and 2.9 times and more."""
CARRIED = 0.15
"""Most of the weight that the root may carry on average: a second of walking has a mean acceleration of 3 % of g."""
BORNE = 0.5
"""Least force that the motion needs of the ground where the ground bears the body [body weights]; none in flight."""
SHORTEST = 30
"""Fewest frames of whose moments weight and inertia are judged."""
SMALLEST = 5.0
"""Least rms of P tau_0 that shows anything [N m]."""
OF_MASS, OF_CENTER, OF_TWINS, LATE = 0.3, 0.05, 0.1, 0.01
"""Standard deviations of the mass of a segment (as a share), of the center of the trunk [m], of the gain of both sides
of a column in a model with other arms and knees, of a delay [s]."""
SMALLEST_SEGMENT = 0.01
"""Share of the mass of the model from which the mass of a segment is an unknown."""
LEAST_ERROR, SHOWN = 0.5, 0.02
"""Least usual error of a column [N m], and least share of it that no wrench explains."""
MOST_FRAMES = 150
"""Most frames that are compared."""
WIDER = 2.0
"""Cut-off of the moments over the cut-off of the motion. The push of a foot rises and falls faster than the body moves:
filtered like the motion it reaches into the frames after it. From 2 to 3.3 all sound files leave about the same."""
LIKE = 0.5
"""Largest unexplained share of the moments at which a shift is measured."""
FITS = 0.025
"""Most that may be left of P tau at the right times and without faults of columns, as a share of its power: sound
moments leave 0.009, repaired ones up to 0.014. Wrong motions leave 0.032 and more, but for one of 0.019."""

Added = Callable[[Array, Array], Array]
"""A function of times (T,) and of moments (T, R) at these times, of some columns (T, c) or of all (T, R)."""


@dataclass(frozen=True, eq=False)
class Surplus:
    """Moments less all that wrenches on the feet explain, in F frames and R columns weighted by their usual errors."""

    frames: Indices  # (F,) of the motion
    covers: int  # how many known frames they stand for
    time: Array
    columns: dict[str, int]  # R coordinates -> their columns in the file
    moments: Array  # (F, R) of the file [N m], forces of the root [N]
    due: Array  # (F, R) tau_0
    beyond: Array  # (F, R, R) the projection P, times the weights
    errors: Array  # (F, R, b) P tau_0, and errors of the model times their standard deviations; the last is a delay
    twins: int  # gains of both sides of a column among the errors, before the delay
    memory: int  # frames of `MEMORY`
    count: float  # independent errors

    def without(self, faults: Sequence[tuple[Added, float]]) -> Change:
        """Return the repair that takes faults of some sizes out of a file."""
        numbers = list(self.columns.values())

        def repair(table: Table) -> Table:
            values, moments = table.values.copy(), table.values[:, numbers]
            for added, size in faults:
                values[:, numbers] -= size * added(table.time, moments)
            return replace(table, values=values)

        return repair

    @property
    def of_sides(self) -> "Surplus":
        """The surplus with columns of both sides whose gains are no errors of the model."""
        last = self.errors.shape[2] - 1
        errors = np.delete(self.errors, np.arange(last - self.twins, last), axis=2)
        return replace(self, errors=errors, twins=0)

    def of(self, changes: Array) -> Array:
        """Changes (F, R, p) of the moments that no wrench explains."""
        return np.asarray(self.beyond @ changes)

    def left(self, shown: Array) -> Array:
        """Projected changes (F, R, p) without what errors of the model explain, as columns (F R + b, p).

        The last rows belong to the priors of the errors.
        """
        errors = self.errors.reshape(-1, self.errors.shape[2])
        rest, bend = self.of(self.moments[:, :, None]).reshape(-1, 1), errors.T @ errors
        rest = rest - errors @ (np.linalg.pinv(bend, 1e-12, hermitian=True) @ (errors.T @ rest))
        prior = np.diag([0.0] + [1.0] * (len(bend) - 1))  # of any mass
        usual = np.sqrt(self.memory * float((rest**2).mean())) * prior
        columns = shown.reshape(-1, shown.shape[2])
        sizes = np.linalg.pinv(bend + usual**2, 1e-15, hermitian=True) @ (errors.T @ columns)
        return np.vstack([columns - errors @ sizes, -usual @ sizes])

    @property
    def rest(self) -> float:
        """Share of the power of P tau that errors of the model do not explain."""
        rest = self.of(self.moments[:, :, None])
        return float((self.left(rest) ** 2).sum() / (rest**2).sum())

    def delay(self, middle: float) -> tuple[Array, Array]:
        """How late the moments are at a time [s], how much later they get [s/s], and the standard errors, (2,)."""
        (frames, columns), rate = self.errors.shape[:2], self.errors[:, :, -1] / LATE
        shown = [rate, (self.time - middle)[:, None] * rate, self.of(self.moments[:, :, None])[:, :, 0]]
        left = replace(self, errors=self.errors[:, :, :-1]).left(np.stack(shown, axis=2))
        left = left[: frames * columns].reshape(frames, columns, 3)
        change, errors = standard_errors(left[:, :, :2], left[:, :, 2], self.memory)
        return -change, errors


def later(by: float, drift: float = 0.0, middle: float = 0.0) -> Change:
    """Return the repair that delays moments, by + drift (t - middle) [s]."""
    return lambda table: replace(table, time=table.time + by + drift * (table.time - middle))


def surplus(case: MomentCase, weighted: bool = True) -> Surplus | None:
    """Project the moments of a file; None where too few frames show them.

    weighted: by the usual errors of the columns, with a wrench on the standing foot alone while the other one swings;
    otherwise columns are equal, and any foot may carry.
    """
    fixed, table = case.fixed, case.table
    model, time = fixed.model, fixed.time
    columns = coordinate_columns(model, table)
    names, numbers = list(columns), [model.coordinate_number[name] for name in columns]
    values = table.values[:, list(columns.values())]
    known, measured = np.isfinite(case.body.moment).all(axis=1), np.isfinite(values).all(axis=1)
    known &= away_from_ends(time, case.body.every_motion.time, table.time)
    for first, stop in true_runs(np.asarray(~measured)):  # the filter spreads what fills a gap
        known &= ~within(time, table.time[first] - MOMENT_END_S, table.time[stop - 1] + MOMENT_END_S)
    frames = np.flatnonzero(known)
    if len(frames) < fixed.fewest:
        return None
    step = max(1, -(-len(frames) // MOST_FRAMES))
    frames = frames[::step]
    moments = fixed.smooth(at_times(table.time[measured], values[measured], time), WIDER)
    rate, need = np.gradient(moments, time, axis=0), fixed.need[frames]
    pose = body_motion(model, fixed.motion.value[frames])

    def forces(wrench: Array) -> Array:
        return joint_forces(model, pose, wrench)[:, numbers]

    def of_body(name: str, wrench: Array) -> Array:
        alone = np.zeros_like(need)
        alone[:, model.body_number[name]] = wrench
        return forces(alone)

    of_devices, on_coordinates = device_forces(model, fixed.motion, fixed.bodies)
    terms = [forces(need - of_devices[frames]) - on_coordinates[frames][:, numbers]]
    for name, body in model.masses.items():
        if body.mass > SMALLEST_SEGMENT * model.mass:
            terms.append(OF_MASS * of_body(name, need[:, model.body_number[name]]))
    trunk = max(model.masses, key=lambda name: model.masses[name].mass)
    number = model.body_number[trunk]
    for axis in fixed.bodies.pose.rotation[frames, number].transpose(2, 0, 1):
        force = need[:, number, 3:]
        terms.append(OF_CENTER * of_body(trunk, np.hstack([np.cross(axis, force), 0.0 * force])))
    pairs = [[k, names.index(twin(name))] for k, name in enumerate(names) if name < twin(name) in names]
    for pair in pairs:
        terms.append(np.zeros_like(moments[frames]))
        terms[-1][:, pair] = OF_TWINS * moments[frames][:, pair]
    terms.append(LATE * rate[frames])

    feet = [sole.body for sole in fixed.soles]
    push = foot_pushes(model, pose, feet)[:, numbers]
    for foot, swings in single_supports(fixed) if weighted else ():
        first = 6 * (1 - feet.index(foot))
        push[swings[frames], :, first : first + 6] = 0.0
    memory = max(1, round(MEMORY * fixed.rate / step))
    weights = np.ones(len(names))
    for _ in range(1 + weighted):
        left, sizes, _ = np.linalg.svd(push * weights[:, None], full_matrices=False)
        left = left * (sizes > 1e-9 * sizes[:, :1])[:, None]
        projection = np.eye(len(names)) - left @ left.transpose(0, 2, 1)
        beyond, shown = projection * weights, np.einsum("fii->fi", projection)
        seen = Surplus(
            frames=frames,
            covers=int(known.sum()),
            time=time[frames],
            columns=columns,
            moments=moments[frames],
            due=terms[0],
            beyond=beyond,
            errors=beyond @ np.stack(terms, axis=2),
            twins=len(pairs),
            memory=memory,
            count=float(shown.sum()) / memory,
        )
        rest = seen.left(seen.of(seen.moments[:, :, None]))[: beyond[0].shape[0] * len(frames)]
        power = (rest.reshape(shown.shape) ** 2).mean(axis=0) / np.maximum(shown.mean(axis=0), SHOWN)
        size = dict(zip(names, np.sqrt(power), strict=True))
        # a fault of one side is no usual error
        usual = [min(size[name], size.get(twin(name), np.inf)) for name in names]
        weights = 1.0 / np.maximum(usual, LEAST_ERROR)
    return seen


def shift_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find a shift in time, or clocks of other rates, first a shift by the moments of the motion alone."""
    names, frames = case.names, case.frames
    if not names or not case.shows_columns:
        return
    due, when, tried = case.expected(names), case.fixed.time[frames], []
    for by in np.arange(-FARTHEST, FARTHEST + SHIFT_STEP / 2, SHIFT_STEP):
        inside = (when + by >= case.table.time[0]) & (when + by <= case.table.time[-1])
        if inside.mean() >= LEAST_OVERLAP:
            tried.append((unexplained(case.given(names, float(by))[inside], due[inside]), float(by)))
    misfit, shift = min(tried, default=(np.inf, 0.0))
    if misfit > LIKE:
        return
    drift, errors, rest, middle = 0.0, np.full(2, np.nan), np.nan, float(case.fixed.time.mean())
    for _ in range(4):
        seen = surplus(replace(case, table=later(-shift, -drift, middle)(case.table)))
        if seen is None:
            return
        change, errors, rest = *seen.delay(middle), seen.rest
        shift += float(np.clip(change[0], -SHIFT_STEP, SHIFT_STEP))
        drift += float(np.clip(change[1], -DRIFTS, DRIFTS))
    if rest > FITS:
        return  # no time mends moments of another motion
    if case.common >= CYCLE and exceeds(drift, DRIFTS, float(errors[1])):
        values = {"others": "moments", "rate": 1.0 - drift, "error": errors[1], "limit": DRIFTS}
        values |= {"from_time": case.table.time[0], "to_time": case.table.time[-1]}
        yield case.fault("clock_rate", "error", values, later(-shift, -drift, middle))
        return
    limit, error = SMALLEST_S if case.common >= CYCLE else SERIOUS, float(errors[0])
    if not exceeds(shift, limit, error):
        return
    values = shift_values(shift, limit) | {"error": error}
    yield case.fault("time_offset.moments", error_if(abs(shift) >= SERIOUS), values, later(-shift))


def moment_fit(case: MomentCase) -> Array:
    """Compare moments with the needs of the model; NaN where model, motion or file do not suffice.

    Factor k and its standard error, likeness r, the root's share of the weight and its standard error.
    """
    fixed, model, fit = case.fixed, case.fixed.model, np.full(5, np.nan)
    weight, feet = model.weight, len(fixed.soles)
    # of one foot the other leg moves and carries, too
    shown = feet > 1 or (feet and not foreign_columns(case.table, model))
    if not shown or model.mass_faults or not model.mass > 0.0:
        return fit
    seen = surplus(case, weighted=False)
    if seen is None:
        return fit
    borne = np.linalg.norm(fixed.need[seen.frames, :, 3:].sum(axis=1), axis=1) > BORNE * weight
    if borne.sum() * seen.covers < SHORTEST * len(borne):
        return fit
    due, stated = seen.of(np.stack([seen.due, seen.moments], axis=2))[borne].transpose(2, 0, 1)
    if np.sqrt((due**2).sum(axis=1).mean()) >= SMALLEST:
        likeness = float((due * stated).sum() / (np.linalg.norm(due) * np.linalg.norm(stated) + 1e-300))
        (factor,), (error,) = standard_errors(due[:, :, None], stated, seen.memory)
        fit[:3] = factor, error, likeness
    # the vertical translation of a single root, if the file has it, bears the weight of a body that stands on feet
    for name in model.roots[0].coordinates if len(model.roots) == 1 else ():
        if name in seen.columns and not model.coordinates[name].rotational:
            column = list(seen.columns).index(name)
            if (mean := seen.due[borne, column].mean()) > 0.8 * weight:
                patterns, stated = np.full((int(borne.sum()), 1, 1), mean), seen.moments[borne][:, [column]]
                (carried,), (error,) = standard_errors(patterns, stated, seen.memory)
                fit[3:] = carried, error
                break
    return fit


def loads_in_moments(case: MomentCase) -> Iterator[Finding]:
    """Find moments of loads that act on another body than the standing foot, or with other horizontal forces."""
    fixed, names = case.fixed, case.names
    model, feet = fixed.model, [sole.body for sole in fixed.soles]
    if case.frames.sum() < fixed.fewest or len(model.roots) != 1 or len(feet) != 2:
        return
    bodies, ahead = [*feet, model.roots[0].outboard.body], np.cross(model.up, fixed.sideward)
    tried: dict[str, tuple[dict[str, str], Array | None]] = {
        "on the foot that swings": (dict(zip(feet, reversed(feet), strict=True)), None),
        "with its forward force reversed": ({}, 2.0 * np.outer(ahead, ahead)),
        "without horizontal forces": ({}, np.eye(3) - np.outer(model.up, model.up)),
    } | {f"always on {body}": (dict.fromkeys(feet, body), None) for body in bodies}
    moments, columns = case.given(names), [model.coordinate_number[name] for name in names]
    likeness = {
        where: likeness_of(moments, moments_due(fixed, *load)[case.frames][:, columns])
        for where, load in tried.items()
    }
    where = max(likeness, key=lambda load: likeness[load])
    now, then = likeness_of(moments, case.expected(names)), likeness[where]
    if then >= CLOSE and 1.0 - then < REMAINS * (1.0 - now):
        code = "plate_axes" if "force" in where else "load_body"
        yield case.fault(f"{code}.moments", "error", {"where": where, "then": then, "now": now})


def whole_body(case: MomentCase) -> Iterator[Finding]:
    """Compare the moments of all coordinates with weight and inertia of trunk, arms and swinging leg."""
    factor, factor_error, fitting, carried, carried_error = moment_fit(case).tolist()
    mass, names = case.fixed.model.mass, case.names
    loads = case.body.dynamics  # found in the moments: these are weighed, where the body stands on them
    stands = loads is not None and loads.stands
    is_wrong = case.found("load_body", "plate_axes")  # without any load the root carries most of the weight
    if not stands and exceeds(carried, BORNE if is_wrong else CARRIED, carried_error):
        values, name = {"share": carried, "limit": CARRIED}, "root_carries" + ".heavier" * (carried < 0.0)
        yield case.fault(name, error_if(abs(carried) >= MASS), values)
        return
    if is_wrong:
        return
    likeness = np.inf if np.isnan(fitting) else fitting
    due = case.expected(names) if case.frames.sum() >= case.fixed.fewest else np.zeros((0, len(names)))
    # where the loads in the moments carry the body they are examined themselves: wrong ones are no other motion
    belongs = stands and fitting > ALIKE
    if due.size and float(np.sqrt(np.mean(due**2))) > LEAST_MOMENT_RMS and not belongs:
        likeness = float(np.fmin(likeness, likeness_of(case.given(names), due)))
    if likeness < LEAST_LIKENESS:
        values = {"likeness": likeness, "limit": LEAST_LIKENESS}
        yield case.fault("another_trial.moments", "error", values)
        return
    limit = MASS if foreign_columns(case.table, case.fixed.model) else OWN_MASS
    if not case.found("moment_zero", "over_filtered") and exceeds(factor - 1.0, limit, factor_error):
        if fitting < ALIKE:
            yield case.fault("another_trial.moments", "warning", {"likeness": fitting, "limit": ALIKE})
        else:
            yield case.fault("mass.moments", "warning", {"factor": factor, "limit": limit, "mass": mass})

"""The part of joint moments that no force on the feet explains: weight, inertia, time, and faults of columns.

Inverse dynamics gives tau = tau_0(q) - J_r^T w_r - J_l^T w_l: the forces tau_0 that the motion of the model needs under
gravity, less the forces of the ground through wrenches w on the feet. A file of moments has no wrenches, but they are
only twelve unknowns in every frame, six while one foot swings, fewer than the coordinates. With the projection P onto
forces that no wrench makes, P tau = P tau_0: the weight and inertia of trunk, arms and swinging leg. Over all frames
`whole_body` compares

    k = <P tau, P tau_0> / |P tau_0|^2        1 of the same body, m'/m of one of another mass in the same motion,
    r = <P tau, P tau_0> / (|P tau| |P tau_0|)    1 of the same motion, near 0 of another one,

and the mean vertical force at the root: near zero where all ground reactions were applied, m g where none was.

Five recorded strides with their own moments have k of 0.82, 0.82, 0.97, 1.00 and 1.00 and r of 0.97 or more; 0.82
where the moments belong to a model with arms and the model has none: there less than a quarter is no contradiction.
Moments of another person's walk have r below 0.4; on a model that was not scaled to its subject k is 1.27. The check
cannot find moments of another stride of the same person, or of a mass within the limit.

Moments that are late by d add -d P dtau/dt. Beside errors of the model, and with columns weighted by their usual
errors, d is known to 1 to 3 ms; parts of sound walks have up to 9 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Indices, at_times, true_runs, within
from musclesolve._util.sides import twin
from musclesolve.checking.forces.newtons_law import FARTHEST, SERIOUS, SMALLEST_S, shift_values
from musclesolve.checking.model.given_moments import (
    LEAST_LIKENESS,
    LEAST_MOMENT_RMS,
    MOMENT_END_S,
    Change,
    MomentCase,
    away_from_ends,
    foreign_columns,
    likeness_of,
    unexplained,
)
from musclesolve.checking.model.load_units_and_axes import CYCLE, DRIFTS, LEAST_OVERLAP, SHIFT_STEP, exceeds
from musclesolve.checking.model.model_case import FEWEST_FRAMES, MEMORY, single_supports, standard_errors
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.opensim.inverse_dynamics import device_forces, joint_forces
from musclesolve.opensim.kinematics import body_motion
from musclesolve.opensim.model import GROUND
from musclesolve.pipeline.opensim.found_loads import coordinate_columns, foot_pushes
from musclesolve.recording.data import Table
from musclesolve.results.finding import Finding, Severity

MASS, OWN_MASS = 0.25, 0.1
"""Largest difference of the factor k from 1, and of moments whose columns are coordinates of the model."""
ALIKE = 0.9
"""Least likeness of moments of another mass: sound ones have 0.97 and more, beside a wrong angle of the root 0.84."""
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
            values, given = table.values.copy(), table.values[:, numbers]
            for added, size in faults:
                values[:, numbers] -= size * added(table.time, given)
            return replace(table, values=values)

        return repair

    @property
    def of_sides(self) -> Surplus:
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
        own = self.of(self.moments[:, :, None])
        return float((self.left(own) ** 2).sum() / (own**2).sum())

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
    step = max(1, -(-len(frames) // MOST_FRAMES))
    frames = frames[::step]
    if len(frames) < FEWEST_FRAMES:
        return None
    inside = np.clip(time, *table.time[[0, -1]])
    moments = fixed.smooth(at_times(table.time[measured], values[measured], inside), WIDER)
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
        own = dict(zip(names, np.sqrt(power), strict=True))
        # a fault of one side is no usual error
        usual = [min(own[name], own.get(twin(name), np.inf)) for name in names]
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
    severity: Severity = "error" if abs(shift) >= SERIOUS else "warning"
    values = shift_values(shift, limit) | {"error": error}
    yield case.fault("time_offset.moments", severity, values, later(-shift))


@dataclass(frozen=True)
class MomentFit:
    """Agreement of moments: factor k, likeness r, the root's share of the weight, standard errors; NaN if unknown."""

    factor: float = np.nan
    factor_error: float = np.nan
    likeness: float = np.nan
    carried: float = np.nan
    carried_error: float = np.nan


def moment_fit(case: MomentCase) -> MomentFit | None:
    """Compare moments with the needs of the model; None where model, motion or file do not suffice."""
    fixed, model = case.fixed, case.fixed.model
    weight, feet = model.mass * STANDARD_GRAVITY, len(fixed.soles)
    if not model.masses or model.mass_faults or not model.mass > 0.0:
        return None
    # of one foot the other leg moves and carries, too
    if not feet or (feet < 2 and foreign_columns(case.table, model)):
        return None
    seen = surplus(case, weighted=False)
    if seen is None or seen.covers < SHORTEST:
        return None
    borne = np.linalg.norm(fixed.need[seen.frames, :, 3:].sum(axis=1), axis=1) > BORNE * weight
    if borne.sum() * seen.covers < SHORTEST * len(borne):
        return None
    due, given = seen.of(np.stack([seen.due, seen.moments], axis=2))[borne].transpose(2, 0, 1)
    fit = MomentFit()
    if np.sqrt((due**2).sum(axis=1).mean()) >= SMALLEST:
        likeness = float((due * given).sum() / (np.linalg.norm(due) * np.linalg.norm(given) + 1e-300))
        (factor,), (error,) = standard_errors(due[:, :, None], given, seen.memory)
        fit = replace(fit, factor=factor, factor_error=error, likeness=likeness)
    # the vertical translation of a single root, if the file has it, bears the weight of a body that stands on feet
    roots = [joint for joint in model.joints if joint.parent.body == GROUND]
    for name in roots[0].coordinates if len(roots) == 1 else ():
        if name in seen.columns and not model.coordinates[name].rotational:
            column = list(seen.columns).index(name)
            if (mean := seen.due[borne, column].mean()) > 0.8 * weight:
                patterns, given = np.full((int(borne.sum()), 1, 1), mean), seen.moments[borne][:, [column]]
                (carried,), (error,) = standard_errors(patterns, given, seen.memory)
                return replace(fit, carried=carried, carried_error=error)
    return fit


def whole_body(case: MomentCase) -> Iterator[Finding]:
    """Compare the moments of all coordinates with weight and inertia of trunk, arms and swinging leg."""
    fit = moment_fit(case)
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
    due = case.expected(names) if case.frames.sum() >= FEWEST_FRAMES else np.zeros((0, len(names)))
    if due.size and float(np.sqrt(np.mean(due**2))) > LEAST_MOMENT_RMS:
        likeness = float(np.fmin(likeness, likeness_of(case.given(names), due)))
    if likeness < LEAST_LIKENESS:
        values = {"likeness": likeness, "limit": LEAST_LIKENESS}
        yield case.fault("another_trial.moments", "error", values)
        return
    limit = MASS if foreign_columns(case.table, case.fixed.model) else OWN_MASS
    if fit is None or case.found("moment_zero", "over_filtered"):
        return
    if exceeds(fit.factor - 1.0, limit, fit.factor_error):
        if fit.likeness < ALIKE:
            yield case.fault("another_trial.moments", "warning", {"likeness": fit.likeness, "limit": ALIKE})
        else:
            yield case.fault("mass.moments", "warning", {"factor": fit.factor, "limit": limit, "mass": mass})

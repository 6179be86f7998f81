"""Moments of a file against the inverse dynamics of this model in this motion, column by column.

Where no external load can act, because the model is fixed to the ground and has no feet, inverse dynamics gives the
moments tau_0(q) of the file. In a walk the ground acts on the feet. While one foot swings, the other one alone receives
a wrench w, and the moments are

    tau = tau_0 - J^T w,

with J of the standing foot. The six columns of the root determine w. With B = J^T (J_root^T)^-1 follow the moments

    tau - B tau_root = tau_0 - B tau_0,root,

on the left from the file, on the right from model and motion: no load is in them. Both sides are compared as they are,
and with all columns or one column of the file times a factor, at another time, or with two columns exchanged. A fault
is only said where such a change brings the column to its inverse dynamics; a file that differs otherwise may belong to
another filter or to another model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times, within
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.messages import few
from musclesolve.laboratory.checks.model.model_case import SERIOUS, ModelCase, moment_cost
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.models.opensim.inverse_dynamics import device_forces, joint_forces
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.load_dynamics import FREE
from musclesolve.models.opensim.loads_without_plates import coordinate_columns, foot_pushes
from musclesolve.models.opensim.model import TO_GLOBAL
from musclesolve.tables.sampled import Table

RIGHT = 0.08
"""Rms difference of a right column from its inverse dynamics, over its rms; three times this is wrong."""
LEAST = 0.05
"""Rms of inverse dynamics over the mass below which no column is judged [N m/kg]; two programs differ by 0.03."""
SWINGS = 1.0
"""Speed of heel and tip of a foot relative to those of the other foot while it swings [m/s]."""
DELAYS_S = np.arange(-0.2, 0.201, 0.005)
"""Delays that are tried [s]."""
MOST_FRAMES = 400


@dataclass(frozen=True, eq=False)
class Comparison:
    """Moments of a file and of inverse dynamics in some frames (F), without what loads contribute.

    own: (F, n) of n coordinates with a column. transfer: B (F, n, r) of the r columns of the root; r is 0 for a model
    that is fixed to the ground.
    """

    names: Sequence[str]
    time: Array
    own: Array
    root: Sequence[int]  # among the coordinates
    transfer: Array

    def without_loads(self, moments: Array) -> Array:
        """Moments (F, n) less what the wrench on the standing foot contributes to them."""
        return moments - np.einsum("fnr,fr->fn", self.transfer, moments[:, list(self.root)])


def comparison(case: ModelCase, table: Table) -> Comparison | None:
    """The comparison of a table with a motion; None where loads are unknown, or a frame shows nothing."""
    model = case.model
    names = [name for name in coordinate_columns(model, table) if not model.coordinates[name].locked]
    if model.mass_faults or not np.isfinite(case.need).all() or not model.mass > 0.0:
        return None
    roots = model.roots[0].coordinates if len(model.roots) == 1 else ()
    bodies_are_free = any(len(joint.coordinates) >= FREE for joint in model.roots)
    frames = within(case.time, *table.time[[0, -1]]) & np.isfinite(case.body.moment).any(axis=1)
    if not case.feet and not bodies_are_free:
        standing = np.zeros(len(case.time), int)
    elif len(case.feet) == 2 and bodies_are_free and {*roots} <= {*names}:
        standing, swings = _standing(case)
        frames &= swings & case.inside
    else:
        return None
    every = max(1, -(-int(frames.sum()) // MOST_FRAMES))
    some = np.flatnonzero(frames)[::every]
    if not names or len(some) < 2:
        return None
    pose = body_motion(model, case.motion.value[some])
    numbers = [model.coordinate_number[name] for name in names]
    of_devices, on_coordinates = device_forces(model, case.motion, case.bodies)
    own = (joint_forces(model, pose, (case.need - of_devices)[some]) - on_coordinates[some])[:, numbers]
    root, transfer = list[int](), np.zeros((len(some), len(names), 0))
    if case.feet:
        root = [names.index(name) for name in roots]
        push = foot_pushes(model, pose, [foot.body for foot in case.feet])[:, numbers]
        push = push.reshape(len(some), len(names), 2, 6)[np.arange(len(some)), :, standing[some]]
        transfer = push @ np.linalg.pinv(push[:, root])
    return Comparison(
        names, case.time[some], own - np.einsum("fnr,fr->fn", transfer, own[:, root]), root, transfer
    )


def _standing(case: ModelCase) -> tuple[Array, Mask]:
    """The foot (T,) nearer to the center of pressure of the body, and frames (T,) in which the other one swings."""
    moment, force = (part @ TO_GLOBAL.T for part in np.hsplit(case.need.sum(axis=1), 2))
    level = np.min([foot.height for foot in case.feet], axis=0)
    pressure = center_of_pressure(force, moment, level) @ TO_GLOBAL
    ends = np.array([[foot.heel, foot.tip] for foot in case.feet])
    right, left = np.gradient(ends, case.time, axis=2)
    slowest = np.min([np.linalg.norm(one - other, axis=1) for one in right for other in left], axis=0)
    away = np.array([foot.distance(np.nan_to_num(pressure)) for foot in case.feet])
    return away.argmin(axis=0), (slowest > SWINGS) & np.isfinite(pressure).all(axis=1)


def own_moments(case: ModelCase) -> Iterator[Finding]:
    """Compare the moments of a file with inverse dynamics of model and motion; one finding for each kind of fault."""
    table = case.body.moment_table
    compared = None if table is None else comparison(case, table)
    if table is None or compared is None:
        return
    columns = coordinate_columns(case.model, table)
    cells = np.nan_to_num(table.values[:, [columns[name] for name in compared.names]])
    given, *later = (_at(table.time, cells, compared.time + by) for by in (0.0, *DELAYS_S))
    shared = [k for k, name in enumerate(compared.names) if name in case.body.dofs and k not in compared.root]
    found = _faults(compared, given, later, shared, LEAST * case.model.mass)
    off = np.abs(compared.without_loads(given) - compared.own).max(axis=0)
    for kind, by in dict.fromkeys((kind, round(by, 2)) for kind, by, _ in found.values()):
        alike = [k for k, (other, size, _) in found.items() if (other, round(size, 2)) == (kind, by)]
        worst = max(alike, key=lambda k: off[k])
        named = dict.fromkeys(" and ".join(sorted({compared.names[k], found[k][2]} - {""})) for k in alike)
        late = "late" if by > 0.0 else "early"
        values = {"names": few(named, 6), "factor": by, "size": abs(by), "late": late}
        cost = moment_cost(float(off[worst]), compared.names[worst], case.model.mass)
        severity = error_if(cost.size > SERIOUS * case.model.mass)
        place = Where(case.body.moment_file)
        yield finding(f"moments_differ.{kind}", severity, values, place, cost=cost)


def _at(time: Array, cells: Array, later: Array) -> Array:
    """Columns (T, n) of a file at times (F,); NaN beyond its ends."""
    inside = within(later, *time[[0, -1]])
    return np.where(inside[:, None], at_times(time, cells, later), np.nan)


Fault = tuple[str, float, str]
"""Kind of a fault, its factor or delay [s], and the column with which a column is exchanged."""


def _faults(
    compared: Comparison, given: Array, later: Sequence[Array], shared: Sequence[int], least: float
) -> dict[int, Fault]:
    """The faults of columns of a file (F, n): of all columns alike, or else of columns one by one.

    One by one only where they explain half of the wrong columns; a zero column is wrong beside any others. later: the
    columns at `DELAYS_S`. least: rms of the inverse dynamics that is judged [N m].
    """
    free = [k for k in range(len(compared.names)) if k not in compared.root]
    now, moved = compared.without_loads(given), [compared.without_loads(values)[:, free] for values in later]
    judged = [k for k in shared if np.linalg.norm(compared.own[:, k]) > least * np.sqrt(len(given))]
    if given.any() and judged:
        whole = _fault(compared.own[:, free], now[:, free], moved)
        if whole is not None and whole[0]:
            return dict.fromkeys(judged, whole)
    found = dict[int, Fault]()
    for k in judged:
        due = compared.own[:, k] + given[:, k] - now[:, k]
        others = {compared.names[j]: given[:, j] for j in free if j != k}
        fault = _fault(due, given[:, k], [values[:, k] for values in later], others)
        if fault is not None:
            found[k] = fault
    explained = {k: fault for k, fault in found.items() if fault[0]}
    zero = {k: fault for k, fault in explained.items() if fault[0] == "zero"}
    return explained if 2 * len(explained) >= len(found) else zero


def _fault(
    due: Array, given: Array, later: Sequence[Array], others: Mapping[str, Array] = {}
) -> Fault | None:
    """The fault of moments that should be `due`; None where they are right, kind "" where no fault explains them."""

    def left(moments: Array) -> float:
        known = np.isfinite(moments)
        if 2 * known.sum() < known.size:
            return np.inf
        return float(np.linalg.norm((moments - due)[known]) / max(float(np.linalg.norm(due[known])), 1e-12))

    if left(given) < 3.0 * RIGHT:
        return None
    if not given.any():
        return "zero", 0.0, ""
    factor = float((given * due).sum() / (given * given).sum())
    kind = "sign" if abs(factor + 1.0) < RIGHT else "factor"
    tried = [(left(factor * given), kind, 1.0 / factor if factor else np.inf, "")]
    tried += [(left(moved), "delay", float(by), "") for by, moved in zip(DELAYS_S, later, strict=True)]
    tried += [(left(moments), "exchange", 0.0, name) for name, moments in others.items()]
    share, kind, by, other = min(tried)
    return (kind, by, other) if share < RIGHT else ("", 0.0, "")

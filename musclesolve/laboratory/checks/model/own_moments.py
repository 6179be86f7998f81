"""Moments of a file against the inverse dynamics of this model in this motion, column by column.

Where loads are given beside the moments, inverse dynamics under these loads gives the moments of the file. Where no
external load can act, because the model is fixed to the ground and has no feet, they are tau_0(q) without loads. In a
walk whose loads are not given the ground acts on the feet. While one foot swings, the other one alone receives
a wrench w, and the moments are

    tau = tau_0 - J^T w,

with J of the standing foot. The six columns of the root determine w. With B = J^T (J_root^T)^-1 follow the moments

    tau - B tau_root = tau_0 - B tau_0,root,

on the left from the file, on the right from model and motion: no load is in them. Both sides are compared as they are,
and with all columns or one column of the file times a factor, at another time, or with two columns exchanged. A fault
is only said where such a change brings the column to its inverse dynamics; a file that differs otherwise may belong to
another filter. In a walk whose loads are not given, a file that is farther from inverse dynamics than moments of zero
would be belongs to another motion or model. On a model that is fixed to the ground, any difference without an
explanation is noted, and where loads or their absence are stated it is a warning. The cost is the change of the
moments, and of the muscle forces that share them. Half a period of the cut-off is left out at both ends of a motion,
where filters of two programs differ, and three times that long is compared at least: in a shorter time any two columns
are nearly proportional.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, at_times, grouped, within
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.messages import few
from musclesolve.laboratory.checks.model.coordinates import SWINGS
from musclesolve.laboratory.checks.model.model_case import CUTOFF_HZ, SERIOUS, ModelCase, moment_cost
from musclesolve.laboratory.checks.model.shared_forces import shared_forces
from musclesolve.laboratory.results.finding import Finding, Severity, Where, error_if, finding
from musclesolve.models.body import BLOCK
from musclesolve.models.opensim.external_loads import is_whole_person, load_wrench
from musclesolve.models.opensim.inverse_dynamics import device_forces, joint_forces
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.load_dynamics import FREE
from musclesolve.models.opensim.loads_without_plates import coordinate_columns, foot_pushes
from musclesolve.models.opensim.model import TO_GLOBAL
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.tables.sampled import Table

RIGHT = 0.08
"""Rms difference of a right column from its inverse dynamics, over its rms.

A change explains a larger difference if it leaves less than this, and less than a third. Three times this without an
explanation is another motion, model or load.
"""
UNIT = 5.0
"""A factor on all columns beyond this, or below its inverse, is of a unit (N mm, N m per kilogram of the body) and no
difference of two programs: it explains them if it leaves less than three times `RIGHT`. Public files, with other
filters and masses, differ by up to 0.18 from their inverse dynamics, and by a factor of 1.23.
"""
PEAK = 0.1
"""Peak moment over the mass in which nobody stands or moves on the feet [N m/kg]; quiet standing takes 0.2 at an ankle,
walking 1.3, and moments that are divided by the mass of an adult, already, would peak at 0.04.
"""
LEAST = 0.05
"""Rms of inverse dynamics over the mass below which no column is judged [N m/kg]; two programs differ by 0.03."""
DELAYS_S = np.arange(-0.2, 0.201, 0.005)
"""The delays that are tried [s]: less than half of a period of walking, after which curves repeat with another sign."""
END_S = 0.5 / CUTOFF_HZ
"""Time that is left out at both ends of a motion [s]: half a period of the cut-off, where filters of two programs
differ."""
OF_LOADS = "factor", "other"
"""Kinds of faults with other remedies where loads are stated."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Moments of a file and of inverse dynamics in some frames (F), without what loads contribute.

    frames: numbers (F,) in the motion. own: (F, n) of n coordinates with a column. transfer: B (F, n, r) of the r
    columns of the root; r is 0 for a model that is fixed to the ground.
    """

    names: Sequence[str]
    frames: Indices
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
    first, last = case.body.every_motion.time[[0, -1]]
    frames &= within(case.time, first + END_S, last - END_S)
    standing, need, of_feet = np.zeros(len(case.time), int), case.need, False
    if beside := case.loads_beside_moments:
        frames &= case.covered(case.time, beside)
        wrench = load_wrench(model, beside, case.clipped(case.time, beside), case.bodies.pose)
        need = need - np.nan_to_num(wrench)
        frames &= np.isfinite(wrench).all(axis=(1, 2)) & np.isfinite(case.body.moment).all(axis=1)
    elif case.unloaded or (not case.feet and not bodies_are_free):
        pass
    elif len(case.feet) == 2 and bodies_are_free and {*roots} <= {*names}:
        standing, swings = _standing(case)
        frames, of_feet = frames & swings & case.inside, True
    else:
        return None
    some = np.flatnonzero(frames)
    some = some[:: max(1, -(-len(some) // BLOCK))]  # what takes a second
    if not names or len(some) < 2:
        return None
    pose = body_motion(model, case.motion.value[some])
    numbers = [model.coordinate_number[name] for name in names]
    of_devices, on_coordinates = device_forces(model, case.motion, case.bodies)
    own = (joint_forces(model, pose, (need - of_devices)[some]) - on_coordinates[some])[:, numbers]
    root, transfer = list[int](), np.zeros((len(some), len(names), 0))
    if of_feet:
        root = [names.index(name) for name in roots]
        push = foot_pushes(model, pose, [foot.body for foot in case.feet])[:, numbers]
        push = push.reshape(len(some), len(names), 2, 6)[np.arange(len(some)), :, standing[some]]
        transfer = push @ np.linalg.pinv(push[:, root])
    alone = own - np.einsum("fnr,fr->fn", transfer, own[:, root])
    return Comparison(names, some, case.time[some], alone, root, transfer)


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
    if table is None:
        return
    if compared is None:
        yield from _peak_on_feet(case, table)
        return
    columns = coordinate_columns(case.model, table)
    cells = np.nan_to_num(table.values[:, [columns[name] for name in compared.names]])
    given, *later = (_at(table.time, cells, compared.time + by) for by in (0.0, *DELAYS_S))
    shared = [k for k, name in enumerate(compared.names) if name in case.body.dofs and k not in compared.root]
    found = _faults(compared, given, later, shared, LEAST * case.model.mass)
    if compared.time[-1] - compared.time[0] < 3.0 * END_S:
        found = {k: fault for k, fault in found.items() if fault[0] not in ("factor", "delay", "exchange")}
    off = np.abs(compared.without_loads(given) - compared.own).max(axis=0)
    right = _right_moments(compared, given, later, found)
    alike_by = grouped(((kind, f"{by:.2g}"), k) for k, (kind, by, _) in found.items())
    for (kind, _), alike in alike_by.items():
        worst = max(alike, key=lambda k: off[k])
        by = found[worst][1]
        named = dict.fromkeys(" and ".join(sorted({compared.names[k], found[k][2]} - {""})) for k in alike)
        late = "late" if by > 0.0 else "early"
        changed = given.copy()
        changed[:, alike] = right[:, alike]
        newtons, muscle = _force_change(case.body, compared, given, changed)
        values = {"names": few(named, 6), "factor": by, "size": abs(by), "late": late}
        values |= {"newtons": newtons, "muscle": muscle, "most": float(off[worst])}
        cost = moment_cost(float(off[worst]), compared.names[worst], case.model.mass)
        stated = "_unloaded" if case.unloaded else "_beside_loads" if case.loads_beside_moments else ""
        severity: Severity = "warning" if stated else "note"  # without stated loads, one may act
        if kind != "other":
            severity = error_if(cost.size > SERIOUS * case.model.mass)
        name = f"moments_differ.{kind}{stated if kind in OF_LOADS else ''}"
        yield finding(name, severity, values, Where(case.body.moment_file), cost=cost)


def _peak_on_feet(case: ModelCase, table: Table) -> Iterator[Finding]:
    """Warn of moments too small for a person on two feet, where inverse dynamics cannot be compared with them."""
    columns = coordinate_columns(case.model, table)
    moment = np.nan_to_num(table.values[:, [columns[name] for name in case.body.dofs if name in columns]])
    peak, mass = float(np.abs(moment).max(initial=0.0)), case.model.mass
    if len(case.feet) == 2 and is_whole_person(case.model.bodies) and 0.0 < peak < PEAK * mass:
        values = {"peak": peak, "per_mass": peak / mass, "least": PEAK}
        yield finding("moments_differ.small", "warning", values, Where(case.body.moment_file))


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
    fixed = not compared.root
    now, moved = compared.without_loads(given), [compared.without_loads(values)[:, free] for values in later]
    judged = [k for k in shared if np.linalg.norm(compared.own[:, k]) > least * np.sqrt(len(given))]
    if given.any() and judged:
        whole = _fault(compared.own[:, free], now[:, free], moved, unit_right=3.0 * RIGHT)
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
    if 2 * len(explained) < len(found):
        explained = zero
    differing = dict[int, Fault]((k, ("other", 0.0, "")) for k in found if fixed and k not in explained)
    # 1 is left of moments of zero
    if not fixed and not explained and 1.0 < _left(compared.own[:, free], now[:, free]) < np.inf:
        differing = {k: ("another", 0.0, "") for k in found}
    return explained | differing


def _right_moments(
    compared: Comparison, given: Array, later: Sequence[Array], found: Mapping[int, Fault]
) -> Array:
    """Moments (F, n) of a file with each faulty column as its fault explains it; NaN where the file ends before."""
    due = compared.own + given - compared.without_loads(given)
    right = given.copy()
    for k, (kind, by, other) in found.items():
        if kind in ("sign", "factor"):
            right[:, k] = given[:, k] / by
        elif kind == "delay":
            right[:, k] = later[int(np.abs(DELAYS_S - by).argmin())][:, k]
        elif kind == "exchange":
            right[:, k] = given[:, list(compared.names).index(other)]
        else:
            right[:, k] = due[:, k]
    return right


def _force_change(body: ModelBody, compared: Comparison, given: Array, right: Array) -> tuple[float, str]:
    """The largest change of a muscle force [N] from moments (F, n) to right ones, and the muscle."""
    now, then = (shared_forces(body, compared.frames, moments, compared.names) for moments in (given, right))
    differing = np.nan_to_num(np.abs(then - now)).max(axis=0)
    muscle = int(differing.argmax())
    return float(differing[muscle]), body.whole.state.parameters.names[muscle]


def _left(due: Array, given: Array) -> float:
    """Rms difference of moments from `due` over its rms, where they are known; infinite if most of them are not."""
    known = np.isfinite(given)
    if 2 * known.sum() < known.size:
        return np.inf
    return float(np.linalg.norm((given - due)[known]) / max(float(np.linalg.norm(due[known])), 1e-12))


def _fault(
    due: Array,
    given: Array,
    later: Sequence[Array],
    others: Mapping[str, Array] = {},
    unit_right: float = RIGHT,
) -> Fault | None:
    """The fault of moments that should be `due`; None where they are right, kind "" where no fault explains them.

    A factor as large as of a unit explains them if it leaves less than `unit_right`.
    """
    if (before := _left(due, given)) < RIGHT:
        return None
    if not given.any():
        return "zero", 0.0, ""
    factor = float((given * due).sum() / (given * given).sum())
    kind = "sign" if abs(factor + 1.0) < RIGHT else "factor"
    tried = [(_left(due, factor * given), kind, 1.0 / factor if factor else np.inf, "")]
    tried += [(_left(due, moved), "delay", float(by), "") for by, moved in zip(DELAYS_S, later, strict=True)]
    tried += [(_left(due, moments), "exchange", 0.0, name) for name, moments in others.items()]
    share, kind, by, other = min(tried)
    unit = kind == "factor" and not 1.0 / UNIT < abs(by) < UNIT
    if share < min(unit_right if unit else RIGHT, before / 3.0):
        return kind, by, other
    return ("", 0.0, "") if before > 3.0 * RIGHT else None

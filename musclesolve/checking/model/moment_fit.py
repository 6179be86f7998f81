"""Whether moments can be those of this model in this motion: what physics shows, and what it does not.

Inverse dynamics gives tau = tau_0(q) - J_r^T w_r - J_l^T w_l: the forces tau_0 that the motion of the model needs under
gravity, less what the ground gives through wrenches w on the feet. The wrenches are not in a file of moments; but there
are twelve unknowns in every frame and more coordinates. With the projection P onto what no wrench on the feet can make,
P tau = P tau_0: the weight and inertia of trunk, arms and swinging leg. Compared are, over all frames,

    k = <P tau, P tau_0> / |P tau_0|^2        1 of the same body, m'/m of one of another mass in the same motion,
    r = <P tau, P tau_0> / (|P tau| |P tau_0|)    1 of the same motion, near 0 of another one,

and the mean vertical force at the root: near zero where all ground reactions were applied, m g where none was.

Three recorded strides with their own moments have k of 0.82, 0.82 and 1.00 and r of 0.97 or more; 0.82 where the
moments are of a model with arms and the model has none, so that less than a quarter is no contradiction. Moments of
another person's walk have r below 0.4; on a model that was not scaled to its subject k is 1.26. Not found are moments
of another stride of the same person, or of a mass that is off by less than the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from musclesolve._util.arrays import Array, at_times, true_runs
from musclesolve.checking.model.model_case import CUTOFF_HZ, below
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import InputError
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.opensim.external_loads import foot_of_side
from musclesolve.opensim.inverse_dynamics import ModelMotion, inverse_dynamics, joint_forces
from musclesolve.opensim.model import GROUND, OpenSimModel
from musclesolve.pipeline.opensim.coordinate_motion import CoordinateMotion
from musclesolve.pipeline.opensim.load_dynamics import whole_motion
from musclesolve.pipeline.opensim.moments import SUFFIXES
from musclesolve.recording.data import Table

MASS = 0.25
"""Largest difference of the factor k from 1."""
ALIKE = 0.6
"""Least likeness r of moments of the same motion."""
CARRIED = 0.15
"""Most of the weight that the root may carry on average: a second of walking has a mean acceleration of 3 % of g."""
_FEWEST = 30
_MOST = 150
_SMALLEST = 5.0
"""Fewest and most frames, and the least rms of P tau_0 that shows anything [N m]."""


@dataclass(frozen=True)
class MomentFit:
    """What moments show: factor k, likeness r (NaN where they show nothing), and the root's share of the weight."""

    factor: float
    likeness: float
    carried: float


def moment_fit(model: OpenSimModel, table: Table, motion: CoordinateMotion) -> MomentFit | None:
    """Compare moments with what the model needs; None where model, motion or file do not suffice.

    table: what OpenSim's inverse dynamics writes; motion: of all free coordinates.
    """
    if not model.masses or model.mass_faults or not model.mass > 0.0:
        return None
    try:
        whole = whole_motion(model, below(motion))
    except InputError:
        return None
    # Without angles whose forces belong to angular velocities, and joints of the toes, which carry ground reactions
    # or not as the file of loads had it.
    feet = [foot for side in "rl" if (foot := foot_of_side(model, side))]
    without = {name for joint in model.joints if joint.speeds_are_angular for name in joint.coordinates[:3]}
    without |= {name for joint in model.joints if joint.inboard.body in feet for name in joint.coordinates}
    columns = {
        name: table.names.index(f"{name}{suffix}")
        for name in model.coordinates
        for suffix in SUFFIXES
        if f"{name}{suffix}" in table.names and name not in without
    }
    given = _smooth(table, list(columns.values()), motion.time)
    known = true_runs(np.asarray(np.isfinite(given).all(axis=1)))
    first, stop = max(known, key=lambda run: run[1] - run[0], default=(0, 0))
    if not columns or stop - first < _FEWEST:
        return None
    frames = np.arange(first, stop, max(1, -(-(stop - first) // _MOST)))
    part = ModelMotion(*(getattr(whole, name)[frames] for name in ("time", "value", "speed", "acceleration")))
    dynamics, numbers = inverse_dynamics(model, part), [model.coordinate_number[name] for name in columns]
    due, given = dynamics.joint_force[:, numbers], given[frames]
    factor = likeness = carried = np.nan
    if feet and len(columns) > 6 * len(feet):
        pushes = []
        for foot, component in product(feet, range(6)):
            # what all bodies need where the ground gives a foot a unit of a component of a wrench
            wrench = np.zeros((len(frames), len(model.bodies), 6))
            wrench[:, model.body_number[foot], component] = -1.0
            pushes.append(joint_forces(model, dynamics.bodies, wrench)[:, numbers])
        basis = np.stack(pushes, axis=2)
        due_alone, given_alone = _beyond(basis, due), _beyond(basis, given)
        if np.sqrt((due_alone**2).sum(axis=1).mean()) >= _SMALLEST:
            common = float((due_alone * given_alone).sum())
            factor = common / float((due_alone**2).sum())
            likeness = common / float(np.linalg.norm(due_alone) * np.linalg.norm(given_alone) + 1e-300)
    # the vertical translation of a single root, if the file has it, is that which bears the weight
    roots = [joint for joint in model.joints if joint.parent.body == GROUND]
    for name in roots[0].coordinates if len(roots) == 1 else ():
        if name in columns and not model.coordinates[name].rotational:
            column = list(columns).index(name)
            if due[:, column].mean() > 0.8 * model.mass * STANDARD_GRAVITY:
                carried = float(given[:, column].mean() / due[:, column].mean())
                break
    return MomentFit(factor, likeness, carried)


def _smooth(table: Table, columns: list[int], time: Array) -> Array:
    """Columns of the file at some times, low-passed as the motion; NaN beyond the file and beside gaps in it."""
    values = np.full((len(time), len(columns)), np.nan)
    finite = np.asarray(np.isfinite(table.values[:, columns]).all(axis=1))
    steps = np.diff(table.time)
    for first, stop in true_runs(finite):
        own = table.values[first:stop, columns]
        rate = 1.0 / float(steps[first : stop - 1].mean()) if stop - first > 1 else 0.0
        if stop - first < _FEWEST or np.ptp(steps[first : stop - 1]) > 0.01 / rate:
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

"""Are loads in newtons, meters and newton meters, and in the axes of the model?

The force f that the body needs is compared with the force F of all loads where F is great. The sizes |f| / |F| do not
depend on axes and show the unit. The axes follow from the one of 48 signed permutations Q of x, y and z with which
k Q F is nearest to f, each component over its own variation.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, at_times
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.checks.model.model_case import ModelCase, scaled
from musclesolve.laboratory.results.finding import Finding
from musclesolve.models.opensim.external_loads import POINT_UNITS, SIGNED_AXES, ExternalLoad, axes_in_words

OTHER_UNIT = 3.0
"""Factor between loads and need from which loads are in another unit: no mass of a body is wrong by so much."""
LEVER = 0.15
"""Free moment over force [m] that no foot makes: half the width of a foot is 0.05 m."""
UNDER_FOOT = 0.12
"""Distance of a center of pressure from the line of heel and toes within which it is under the foot [m]."""
BETTER = 0.6
"""Share of the misfit that other axes may leave where the axes are wrong; sound walks fit best as they are."""


def force_unit(case: ModelCase) -> Iterator[Finding]:
    """Compare the sizes of the loads with the force that the body needs."""
    force, mass = case.force(), case.model.mass
    great = case.great(force)
    if great.sum() < 2:
        return
    factor = float(np.median(np.linalg.norm(case.due[great], axis=1) / np.linalg.norm(force[great], axis=1)))
    if 1.0 / OTHER_UNIT < factor < OTHER_UNIT:
        return
    units = {"kilonewtons": 1000.0, "newtons per kilogram": mass, "body weights": mass * STANDARD_GRAVITY}
    units |= {"pounds": 4.448, "kilograms": STANDARD_GRAVITY, "millinewtons": 0.001}
    near = [unit for unit, by in units.items() if abs(np.log(by / factor)) < np.log(OTHER_UNIT) / 3.0]
    if not near:
        return
    likely = min(near, key=lambda unit: abs(np.log(units[unit] / factor)))
    values = {"share": 1.0 / factor, "unit": " or ".join(near), "mass": mass}
    values["factor"] = " or ".join(f"{units[unit]:.4g}" for unit in near)
    cost = case.cost_of(lambda load: scaled(load, units[likely], "force"))
    yield case.fault("force_units.loads", "error", values, cost)


def point_unit(case: ModelCase) -> Iterator[Finding]:
    """Find loads whose points lie far from the feet, and under a foot in another unit."""

    def away(load: ExternalLoad) -> float:
        """Median distance [m] of the points of a load from the nearer foot while it acts."""
        points, force = (at_times(load.time, part, case.time) for part in (load.point, load.force))
        size = np.linalg.norm(force, axis=1)
        acts = size > 0.5 * size.max(initial=0.0)
        far = np.min([foot.distance(points) for foot in case.feet], axis=0)[acts]
        return float(np.median(far)) if far.size else 0.0

    for load in case.loads if case.feet else ():
        now = away(load)
        for unit, factor in list(POINT_UNITS.items())[1:]:
            mended = scaled(load, factor, "point")
            if factor < 1.0 and now > UNDER_FOOT > away(mended) and case.foot_of(load):
                values = {"load": load.name, "now": now, "unit": unit, "factor": factor, "limit": UNDER_FOOT}
                cost = case.cost([mended if other is load else other for other in case.loads])
                yield case.fault("point_units.loads", "error", values, cost)
                break


def moment_unit(case: ModelCase) -> Iterator[Finding]:
    """Find free moments of loads on feet that are too large for newton meters.

    A moment with horizontal components is no free moment, but one about another point.
    """
    for load in case.loads:
        upright = float(np.abs(load.moment @ case.model.up).max(initial=0.0))
        most = float(np.linalg.norm(load.moment, axis=1).max(initial=0.0))
        limit = LEVER * float(np.linalg.norm(load.force, axis=1).max(initial=0.0))
        if case.foot_of(load) and most > limit > 0.0 and upright > 0.99 * most:
            mended = [scaled(load, 0.001, "moment") if other is load else other for other in case.loads]
            values = {"load": load.name, "moment": most, "limit": limit}
            yield case.fault("moment_units.loads", "error", values, case.cost(mended))


def axes_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find the axes in which the loads carry and accelerate the body."""
    force, due = case.force(), case.due
    great = case.great(force)
    if great.sum() < 2:
        return
    size = np.median(np.linalg.norm(due[great], axis=1) / np.linalg.norm(force[great], axis=1))
    spread = np.maximum(due.std(axis=0), 0.02 * case.model.weight)

    def misfit(axes: Array) -> float:
        off = (size * force[great] @ axes.T - due[great]) / spread
        return float(np.minimum((off**2).mean(axis=1), 4.0).mean() ** 0.5)

    now, misfits = misfit(np.eye(3)), [misfit(axes) for axes in SIGNED_AXES]
    best = int(np.argmin(misfits))
    if not misfits[best] < BETTER * now or now < 1.0:
        return
    axes = SIGNED_AXES[best]
    mirror = float(np.linalg.det(axes))

    def turned(load: ExternalLoad) -> ExternalLoad:
        point, moment = load.point @ axes.T, mirror * load.moment @ axes.T
        return replace(load, force=load.force @ axes.T, point=point, moment=moment)

    values = {"axes": axes_in_words(axes), "now": now, "then": misfits[best]}
    yield case.fault("plate_axes.loads", "error", values, case.cost_of(turned))

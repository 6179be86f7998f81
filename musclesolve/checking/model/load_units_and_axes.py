"""Are loads in newtons, metres and newton metres, and in the axes of the model?

A body needs the force f of all loads F. Their sizes are compared where F is great, |f| / |F|, which holds in whatever
axes the loads are; axes by which of the 48 signed permutations Q of x, y and z makes k Q F like f, each component over
its own variation. Points are compared with the feet: a center of pressure lies under a sole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.checking.model.load_repairs import scaled, turned
from musclesolve.checking.model.model_case import FEWEST, SCALED, Loads, ModelCase
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.results.finding import Finding, Where, finding

OTHER_UNIT = 1.6
"""Loads off by this factor or more are in another unit, or halved: no person is mistaken for one so much heavier."""
NEAR = 1.3
"""A unit is named where the factor is that of the unit to within this factor."""
BELOW, AWAY = 0.12, 0.4
"""A point so near to a sole [m] can be its center of pressure; one so far from both cannot."""
THICK = 0.1
"""Heel and toe lie no more than this above the ground when the foot carries the body [m]."""
TWISTED = 0.15
"""Greatest free moment over the greatest force [m]: half the width of a foot is less."""
BETTER, UNLIKE = 0.6, 0.35
"""Axes are wrong where others leave this share of the misfit, and the loads are unlike what the body needs."""


def where_loads(case: ModelCase) -> Where:
    """The file of the loads."""
    return Where(next((load.file for load in case.loads if load.file), None))


def roles_of_unit(case: ModelCase, names: Sequence[str] = ()) -> list[str]:
    """Force and moment where moments are small for the forces of all loads or some; else they have another unit."""
    own = [load for load in case.loads if not names or load.name in names]
    twist = max((float(np.abs(load.moment).max(initial=0.0)) for load in own), default=0.0)
    force = max((float(np.linalg.norm(load.force, axis=1).max(initial=0.0)) for load in own), default=0.0)
    return ["force", "moment"] if twist < TWISTED * force else ["force"]


def force_unit(case: ModelCase) -> Iterator[Finding]:
    """Compare the sizes of loads and of what the body needs."""
    given = np.linalg.norm(case.acting(case.loads)[:, 3:], axis=1)
    due = np.linalg.norm(case.fixed.due[:, 3:], axis=1)
    great = given > SCALED * np.quantile(given, 0.9)
    if great.sum() < FEWEST or not given.max() > 0.0:
        return
    factor, mass = float(np.median(due[great] / given[great])), case.fixed.model.mass
    if 1.0 / OTHER_UNIT < factor < OTHER_UNIT:
        return
    units = {
        "kilonewtons": 1000.0,
        "newtons per kilogram": mass,
        "body weights": mass * STANDARD_GRAVITY,
        "pounds": 4.448,
        "kilograms": STANDARD_GRAVITY,
        "half of the newtons": 2.0,
        "twice the newtons": 0.5,
        "millinewtons": 0.001,
    }
    unit, right = min(units.items(), key=lambda each: abs(np.log(each[1] / factor)))
    named = abs(np.log(right / factor)) < np.log(NEAR)
    values = {
        "share": 1.0 / factor,
        "unit": f"in {unit}" if named and "newtons" not in unit else unit if named else "in no known unit",
        "factor": right if named else factor,
        "mass": mass,
    }
    roles = roles_of_unit(case)
    repair = scaled(right if named else factor, roles)
    yield finding("force_units.loads", "error", values, where_loads(case), repair, cost=case.cost(repair))


def nearness(case: ModelCase, loads: Loads) -> float:
    """How far from the nearer sole the points of loads are [m]: the median over their loaded frames, the farthest load.

    NaN where no load carries anything, or there are no feet.
    """
    far = []
    for load in loads:
        _, point, loaded = case.point(load)
        if loaded.sum() >= FEWEST and case.fixed.soles:
            far.append(float(np.median(_from_soles(case, point[loaded], loaded))))
    return max(far, default=np.nan)


def _from_soles(case: ModelCase, point: Array, frames: Mask) -> Array:
    """Distance (F,) [m] of points (F, 3) from the nearer sole, heights included."""
    best = np.full(len(point), np.inf)
    for sole in case.fixed.soles:
        above = np.abs(sole.lowest[frames] - point[:, 1])
        best = np.minimum(best, np.hypot(sole.distance(point, frames), np.maximum(above - THICK, 0.0)))
    return best


def point_unit(case: ModelCase) -> Iterator[Finding]:
    """Compare the points with the feet."""
    now = nearness(case, case.loads)
    if not now > AWAY:
        return
    units = {"millimetres": 0.001, "centimetres": 0.01, "kilometres": 1000.0}
    for unit, factor in units.items():
        repair = scaled(factor, ["point"])
        if any(nearness(case, turned(axes, ["point"])(repair(case.loads))) < BELOW for axes in AXES):
            values = {"now": now, "unit": unit, "factor": factor, "limit": AWAY}
            yield finding(
                "point_units.loads", "error", values, where_loads(case), repair, cost=case.cost(repair)
            )
            return


def moment_unit(case: ModelCase) -> Iterator[Finding]:
    """Compare free moments with forces."""
    force = max(float(np.linalg.norm(load.force, axis=1).max(initial=0.0)) for load in case.loads)
    for load in case.loads:
        most = float(np.quantile(np.linalg.norm(load.moment, axis=1), 0.99))
        if most > TWISTED * force > 0.0 and load.force.any():
            values = {"load": load.name, "moment": most, "limit": TWISTED * force}
            repair = scaled(0.001, ["moment"], [load.name])
            yield finding(
                "moment_units.loads", "error", values, where_loads(case), repair, cost=case.cost(repair)
            )


def _signed_permutations() -> list[Array]:
    found = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            axes = np.zeros((3, 3))
            axes[range(3), order] = signs
            found.append(axes)
    return found


AXES = _signed_permutations()
"""All 48 signed permutations of three axes, the identity first."""


def axes_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find the axes in which forces accelerate the body and points lie under its feet."""
    given, due = case.acting(case.loads)[:, 3:], case.fixed.due[:, 3:]
    weight = case.fixed.weight
    spread = np.maximum(due.std(axis=0), 0.02 * weight)
    great = np.linalg.norm(given, axis=1) > SCALED * np.quantile(np.linalg.norm(given, axis=1), 0.9)
    if great.sum() < FEWEST:
        return
    size = float(np.median(np.linalg.norm(due[great], axis=1) / np.linalg.norm(given[great], axis=1)))

    def left(axes: Array) -> Array:
        """Misfit (T,) of forces in some axes, each component over its spread."""
        off = (size * given @ axes.T - due) / spread
        return np.asarray(np.minimum((off**2).mean(axis=1), 4.0))

    misfits = np.array([left(axes) for axes in AXES])
    # frames in which some axes fit: not those in which a foot stands beside the plates
    fitting = np.linalg.norm(size * given, axis=1) > SCALED * np.linalg.norm(due, axis=1)
    if fitting.sum() < FEWEST:
        return
    scores = misfits[:, fitting].mean(axis=1)
    best = int(scores.argmin())
    now = nearness(case, case.loads)
    force_axes = AXES[best] if scores[best] < BETTER * scores[0] and scores[0] > UNLIKE else AXES[0]
    if np.array_equal(force_axes, -np.eye(3)):
        repair = turned(-np.eye(3), ["force"])
        yield finding(
            "force_sign.loads",
            "error",
            {"share": float((due[:, 1] * given[:, 1]).sum() / (due[:, 1] ** 2).sum())},
            where_loads(case),
            repair,
            cost=case.cost(repair),
        )
        return
    same = next(k for k, axes in enumerate(AXES) if np.array_equal(axes, force_axes))
    near = far = now
    if same:
        # points are turned with the forces, unless they lie under the feet as they are
        near = nearness(case, turned(force_axes, ["point"])(case.loads))
        together = near < max(BELOW, 0.5 * now)
        roles, axes = ["force", "point", "moment"] if together else ["force", "moment"], force_axes
    elif now > AWAY:
        points = [nearness(case, turned(axes, ["point"])(case.loads)) for axes in AXES]
        roles, axes, near = ["point"], AXES[int(np.nanargmin(points))], min(points)
        if not near < BELOW:
            return
    else:
        return
    repair = turned(axes, roles)
    values = {
        "roles": {3: "forces and points", 2: "forces", 1: "points"}[len(roles)],
        "axes": in_words(axes),
        "now": float(np.sqrt(scores[0])),
        "then": float(np.sqrt(scores[same])),
        "near": near,
        "far": far,
    }
    name = "plate_axes.points" if roles == ["point"] else "plate_axes.loads"
    yield finding(name, "error", values, where_loads(case), repair, cost=case.cost(repair))


def in_words(axes: Array) -> str:
    """A signed permutation as "x = +z, y = +x, z = +y" of what is right, by what the file has."""
    letters = "xyz"
    return ", ".join(
        f"{letters[row]} = {'+' if axes[row, column] > 0 else '-'}{letters[column]}"
        for row in range(3)
        for column in [int(np.abs(axes[row]).argmax())]
    )

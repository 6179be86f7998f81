"""Is each load on the body that it acts on? A center of pressure lies under the sole of the foot that it carries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import true_runs
from musclesolve.checking.model.load_repairs import contacts_on, on_bodies
from musclesolve.checking.model.load_units_and_axes import BELOW, where_loads
from musclesolve.checking.model.model_case import ModelCase
from musclesolve.opensim.external_loads import ExternalLoad, side_in
from musclesolve.results.finding import Cost, Finding, Where, finding

NEARER = 0.5
"""A point is under the other foot where its distance from that is less than this share of the one from its own."""
BESIDE = 0.1
"""Half the width of a foot and what coordinates from video leave open [m]."""
NO_MATTER = 1.0
"""Change of a moment that matters to nobody [N m]."""
ON_SOLE = 0.2
"""A center of pressure lies no farther than this above or below heel and toe [m]; a brace on a shank does."""
SHORTEST = 0.03
"""Shortest contact that is looked at [s]."""


def _distances(case: ModelCase, load: ExternalLoad) -> list[tuple[float, float, float, list[float]]]:
    """First and last time of each contact of a load, its share of its impulse, and its distance from each sole [m].

    The distance is the median over the loaded frames of the contact.
    """
    force, point, loaded = case.point(load)
    impulse = np.linalg.norm(force, axis=1)
    found = []
    for first, stop in true_runs(loaded):
        if stop - first >= max(2.0, SHORTEST * case.fixed.rate):
            frames = np.zeros(len(case.time), dtype=bool)
            frames[first:stop] = True
            far = [float(np.median(sole.distance(point[frames], frames))) for sole in case.fixed.soles]
            share = float(impulse[frames].sum() / impulse[loaded].sum())
            found.append((float(case.time[first]), float(case.time[stop - 1]), share, far))
    return found


def bodies_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find loads on bodies that are no feet, while the center of pressure lies under a foot."""
    for load in case.loads:
        soles = case.fixed.soles
        if not soles or any(load.body in sole.bodies for sole in soles):
            continue
        contacts = _distances(case, load)
        near = [
            (first, last, soles[int(np.argmin(far))].body)
            for first, last, _, far in contacts
            if min(far) < BELOW
        ]
        if not near or len(near) < len(contacts):
            continue  # a seat, a handle, an exoskeleton
        _, point, loaded = case.point(load)
        above = [float(np.median(np.abs(sole.lowest - point[:, 1])[loaded])) for sole in soles]
        if min(above) > ON_SOLE:
            continue
        nearest = [float(np.median(sole.distance(point[loaded], loaded))) for sole in soles]
        repair = contacts_on(load.name, near)
        values = {
            "load": load.name,
            "body": load.body,
            "foot": " and ".join(dict.fromkeys(body for *_, body in near)),
            "far": min(nearest),
        }
        sides = {side_in(body) or "" for *_, body in near}
        side = sides.pop() if len(sides) == 1 else ""
        cost = case.cost(repair)
        yield finding("load_body", "error", values, where_loads(case), repair, cost=cost, side=side)


def feet_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find contacts whose center of pressure lies under the other foot than the one that the load acts on."""
    soles = case.fixed.soles
    if len(soles) != 2:
        return
    for load in case.loads:
        own = next((k for k, sole in enumerate(soles) if load.body in sole.bodies), None)
        if own is None:
            continue
        contacts = _distances(case, load)
        exchanged = [far[own] > BESIDE and far[1 - own] < NEARER * far[own] for *_, far in contacts]
        if not any(exchanged):
            continue
        times = tuple(
            (first, last) for (first, last, *_), bad in zip(contacts, exchanged, strict=True) if bad
        )
        here = [each for each, bad in zip(contacts, exchanged, strict=True) if bad]
        shares = np.array([share for _, _, share, _ in here])
        far = [float(np.average([each[3][k] for each in here], weights=shares)) for k in range(2)]
        bodies = [
            (first, last, soles[1 - own].body if bad else load.body)
            for (first, last, *_), bad in zip(contacts, exchanged, strict=True)
        ]
        repair = on_bodies({load.name: bodies[0][2]}) if all(exchanged) else contacts_on(load.name, bodies)
        case_of = "plates_swapped.loads" if all(exchanged) else "plates_swapped.load_contacts"
        values = {
            "load": load.name,
            "body": load.body,
            "other": soles[1 - own].body,
            "own_distance": far[own],
            "other_distance": far[1 - own],
        }
        place = Where(load.file, times=times)
        yield finding(case_of, "error", values, place, repair, cost=case.cost(repair))


def parts_of_feet(case: ModelCase) -> Iterator[Finding]:
    """Find loads on the talus or the toes where that changes moments of joints within the foot."""
    moved: dict[str, str] = {}
    for load in case.loads:
        for sole in case.fixed.soles:
            if load.body in sole.bodies and load.body != sole.body:
                moved[load.name] = sole.body
    if not moved:
        return
    repair = on_bodies(moved)
    cost: Cost | None = case.cost(repair)
    if cost is not None and cost.size > NO_MATTER:
        bodies = sorted({load.body for load in case.loads if load.name in moved})
        values = {
            "loads": ", ".join(moved),
            "bodies": ", ".join(bodies),
            "foot": ", ".join(sorted(set(moved.values()))),
        }
        yield finding("load_body.part", "warning", values, where_loads(case), repair, cost=cost)

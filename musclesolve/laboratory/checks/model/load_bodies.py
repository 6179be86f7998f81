"""Does each load act on the foot that it carries?

The center of pressure of a contact lies under the foot that makes it, wherever the file lets the load act: on another
body, on the other foot, or both feet on one.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve.laboratory.checks.model.load_units import UNDER_FOOT
from musclesolve.laboratory.checks.model.model_case import ModelCase
from musclesolve.laboratory.results.finding import Finding, Run
from musclesolve.models.opensim.external_loads import ExternalLoad, load_in_ground
from musclesolve.models.opensim.load_dynamics import MISSING

NEARER = 0.5
"""Share of the distance from its own foot within which another foot makes the contact."""
SHORTEST_CONTACT_S = 0.03
"""Shortest contact that is examined [s]."""
ON_SOLE = 0.2
"""Height of a point of force over the soles beyond which no foot makes it [m]: of a seat, a handle or a brace."""


def contacts(case: ModelCase, load: ExternalLoad) -> Iterator[tuple[slice, Array]]:
    """Yield the frames of each contact of a load that carries a part of the body, and its distances from the feet [m].

    A distance is the median over the frames of the contact.
    """
    pressure = case.pressure(load)
    away = np.array([foot.distance(pressure) for foot in case.feet])
    upward = case.force(loads=(load,)) @ case.model.up
    for first, stop in true_runs(np.isfinite(pressure).all(axis=1) & case.covered(case.time)):
        frames = slice(first, stop)
        lasts = stop - first >= max(2.0, SHORTEST_CONTACT_S * case.rate)
        if lasts and upward[frames].max() > MISSING * case.model.weight:
            yield frames, np.median(away[:, frames], axis=1)


def load_bodies(case: ModelCase) -> Iterator[Finding]:
    """Find contacts whose center of pressure lies under another foot than the body on which the load acts."""
    for load in case.loads if len(case.feet) == 2 else ():
        own, wrong, right = case.foot_of(load), list[tuple[Run, str]](), 0
        far, near = list[float](), list[float]()
        height = load_in_ground(case.model, load, case.clipped(case.time), case.bodies.pose)[1][:, 1]
        for frames, away in contacts(case, load):
            foot, least = case.feet[int(away.argmin())], float(away.min())
            beside = float(away[case.feet.index(own)]) if own else np.inf
            on_sole = own or np.median(np.abs(height - foot.height)[frames]) < ON_SOLE
            if foot is own or least > min(UNDER_FOOT, NEARER * beside) or not on_sole:
                right += 1
                continue
            first, last = case.time[[frames.start, frames.stop - 1]].tolist()
            wrong.append(((first, last), foot.body))
            far.append(beside)
            near.append(least)
        if not wrong or (own is None and right):
            continue
        feet = sorted({body for _, body in wrong})
        values: dict[str, object] = {"load": load.name, "body": load.body, "foot": " and ".join(feet)}
        values |= {"own_distance": np.mean(far), "other_distance": np.mean(near)}
        cost = case.cost([*(other for other in case.loads if other is not load), *_parts(load, wrong)])
        name = "plates_swapped.load_contacts" if right else "plates_swapped.loads" if own else "load_body"
        times = tuple(run for run, _ in wrong) if right else ()
        yield case.fault(name, "error", values, cost, times)


def _parts(load: ExternalLoad, wrong: list[tuple[Run, str]]) -> Iterator[ExternalLoad]:
    """The load on other bodies in some stretches of time, and on its own body outside of them; for the cost alone."""
    body = np.full(len(load.time), load.body, dtype=object)
    for (first, last), foot in wrong:
        body[(load.time >= first) & (load.time <= last)] = foot
    for name in {*body}:
        force, moment = (np.where((body == name)[:, None], part, 0.0) for part in (load.force, load.moment))
        yield replace(load, body=name, force=force, moment=moment)

"""Small errors of plates under a model, by the balance of all six components: displaced points, reversed free moments.

The statistics are the same as for recordings (`forces/plate_balance.py`); here the residual is about the root of the
model, and each of its bodies may have an error of its mass.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.forces.plate_balance import (
    DISPLACED,
    FOUND,
    HARMLESS,
    REVERSED,
    SHORTEST_BALANCE,
    BalanceFit,
    accusations,
    carrying_alone,
    evidence_of_reversal,
    likeliest,
    observed,
)
from musclesolve.checking.model.load_balance import displaced, flight_spans
from musclesolve.checking.model.load_units_and_axes import UNCLEAR, best_fit, each_load
from musclesolve.checking.model.model_case import CAP, ModelCase
from musclesolve.checking.model.posture import lasts_a_stride
from musclesolve.opensim.model import TO_GLOBAL
from musclesolve.results.finding import Finding

ROOT_HEIGHT = 0.55
"""Height of the pelvis over the floor, as a share of the stature."""
UNLOADED = ("contact_without_force", "unbalanced")
"""Findings on frames that this check leaves out."""
SMALLEST_BODY = 0.01
"""Share of the mass of the model from which an error of the mass of a body counts."""

AGAINST = -0.5
"""Factor of a free moment below which it acts against the motion: without arms, which carry a part of the moment about
the vertical axis, a sound model may need none of it.
"""


def balance_of_model(case: ModelCase) -> tuple[BalanceFit, Array] | None:
    """The balance of a model, and the axes (3, 3) forward, left and up in its ground; None with too little known."""
    fixed = case.fixed
    loads, time = case.loads, case.time
    fitting = best_fit(case)
    if fitting is None or fitting.misfit > UNCLEAR:
        return None
    # a wrong mass, which another check finds, is no error of a plate
    given = [fitting.scale * case.acting([load]) for load in loads]
    left = fixed.due - np.sum(given, axis=0)
    known = (
        case.inside & case.covered(loads, time) & (np.linalg.norm(left[:, 3:], axis=1) < CAP * fixed.weight)
    )
    known &= np.isfinite(left).all(axis=1)
    if not fixed.soles or not lasts_a_stride(fixed) or known.sum() < SHORTEST_BALANCE * fixed.rate:
        return None
    ahead = fixed.ahead.mean(axis=0) @ TO_GLOBAL.T
    ahead /= np.linalg.norm(ahead)
    axes = np.stack([ahead, np.cross([0.0, 0.0, 1.0], ahead), [0.0, 0.0, 1.0]]) @ TO_GLOBAL

    def turned(wrench: Array) -> Array:
        """Moment and force (T, 6) in the ground as force and moment forward, left and up."""
        return np.concatenate([wrench[:, 3:] @ axes.T, wrench[:, :3] @ axes.T], axis=1)

    twists = [fitting.scale * case.acting([replace(load, force=np.zeros_like(load.force))]) for load in loads]
    segments = {}
    for name, body in fixed.model.masses.items():
        share = body.mass / fixed.model.mass
        if share > SMALLEST_BODY:
            own = fixed.about_root(fixed.need[:, fixed.model.body_number[name]])
            segments[name] = turned(own - share * fixed.due)[known]
    total = turned(np.sum(given, axis=0))
    fit = BalanceFit(
        time=time[known],
        residual=turned(left)[known],
        size=fixed.weight * np.array([1.0, 1.0, 1.0, *[fixed.height / ROOT_HEIGHT] * 3]),
        wrench=[turned(each)[known] for each in given],
        twist=[turned(each)[known] for each in twists],
        change=np.gradient(total, time, axis=0)[known],
        segments=segments,
    )
    return fit, axes


def whole_wrench(case: ModelCase) -> Iterator[Finding]:
    """Find plates that are displaced, or whose free moment has the wrong sign, where nothing else was found."""
    harmless = (*HARMLESS, *UNLOADED)
    if any(
        each.severity != "note" and each.code not in harmless and each.repair is None
        for each in case.findings
    ):
        return
    sides = [sole.side for load in case.loads if (sole := case.sole_of(load))]
    on_feet = len(sides) == len(case.loads) and not len(flight_spans(case))
    measured = balance_of_model(case) if on_feet else None
    if measured is None:
        return
    fit, axes = measured
    judged = carrying_alone(fit, sides)
    sample = observed(fit, [], sides, judged)
    every = len(judged) == len(case.loads) > 1
    for _ in [] if case.found("pressure_offset") else judged:
        # where mass and loads disagree one plate alone is not accused: what it lacks may be of the mass
        names = [] if case.found("mass") else [f"place {k}" for k in judged]
        names += ["place"] * every
        found = accusations(sample, names)
        if not found:
            break
        name = likeliest(found)
        offset, error = (np.array([*part, 0.0]) @ axes for part in (found[name].size, found[name].deviation))
        concerned = (case.loads[int(name.split()[1])].name,) if " " in name else ()
        yield displaced(case, concerned, offset, np.abs(error), DISPLACED, "warning")
        sample = sample.freed(name, FOUND)
    groups = {"twist": judged} if every else {}
    groups |= {f"twist {k}": [k] for k in judged}
    for name, plates in groups.items():
        if not sample.terms[name].effect.any():
            continue
        estimate = sample.fit(name)
        (factor,), (deviation,) = 1.0 + estimate.size, estimate.deviation
        evidence = evidence_of_reversal(estimate)
        if evidence is None or evidence < REVERSED or factor > AGAINST:
            continue
        names = [case.loads[k].name for k in plates]
        repair = each_load(lambda load: replace(load, moment=-load.moment), names)
        values = {
            "loads": ", ".join(names),
            "factor": factor,
            "uncertain": deviation,
            "odds": min(np.exp(evidence), 1000.0),
        }
        yield case.fault("free_moment.loads", "warning", values, repair)
        return

"""Are loads and motion of one instant? The shift with which the loads best carry and accelerate the body.

With f(t) what the body needs and g(t) the loads, k g(t + d + b (t - t_m)) = f(t) + e: a shift d, a drift b where one
of both clocks runs at another rate, and a scale k, so that a wrong mass does not count as a shift. From the best shift
of a search, all three follow by Gauss and Newton; their standard errors from the curvature of the misfit and the
correlation of what is left over time (`covariance`).

A second route to the same: a foot that is loaded stands. A shift with which loads act on feet that move is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.forces.newtons_law import FARTHEST, SERIOUS, SMALLEST, shift_values
from musclesolve.checking.model.load_repairs import delayed
from musclesolve.checking.model.load_units_and_axes import where_loads
from musclesolve.checking.model.model_case import (
    CAP,
    FEWEST,
    LOADED,
    MEMORY,
    Fit,
    ModelCase,
    covariance,
)
from musclesolve.results.finding import Finding, Severity, finding

STEP = 0.01
"""Step of the search [s]: the misfit is smooth over a tenth of the period of the usual cut-off."""
CLEAR = 2.5
"""A shift or drift is reported from so many of its standard errors on."""
DRIFTS, FAR = 0.035, 0.06
"""Difference of the rates of two clocks that is reported, and that is an error. Rates in use differ by 4 % and more (50
and 48, 120 and 125 Hz); sound recordings of one cycle show up to 0.024."""
CYCLE = 1.0
"""A cycle lasts about so long [s]: in less of it errors of the body model, which come and go as the legs take turns,
look like a shift of up to `SERIOUS`, and no drift is measured."""
INSIDE = 0.7
"""Least share of the frames that lie within the loads at a shift that is looked at."""
EXPLAINED = 0.5
"""Least share of the misfit without loads that they take away where they are judged at all."""
UNCLEAR = 0.3
"""Misfit at the best shift from which on it is none: sound walks come to 0.19, those that lack a plate to 0.42."""
STANDS = 0.05
"""Loaded feet may move faster by so much at the best shift [m/s]: sound recordings come to 0.01, those that lack a
plate to 0.15."""


def best_fit(case: ModelCase, farthest: float = 0.0) -> Fit | None:
    """The shift, drift and scale with which the loads fit best; None where they do not fit at any.

    farthest: shifts up to this one [s] are tried; without, the best one near zero is found.
    """
    key = f"fit {farthest}"
    if key not in case.known:
        case.known[key] = _best_fit(case, farthest)
    return cast(Fit | None, case.known[key])


def _best_fit(case: ModelCase, farthest: float) -> Fit | None:
    loads, time, due = case.loads, case.time, case.fixed.due[:, 3:]
    found: list[tuple[float, float]] = []
    for shift in np.arange(-farthest, farthest + STEP / 2, STEP):
        inside = case.covered(loads, time + shift)
        if inside.mean() >= INSIDE and inside.sum() >= FEWEST:
            given = case.acting(loads, time + shift)[:, 3:]
            scale = case.scale(given, inside)
            if scale > 0.0:
                found.append((case.misfit(given, scale, inside), float(shift)))
    if not found:
        return None
    _, shift = min(found)
    middle, drift, errors, kept = float(time.mean()), 0.0, np.full(3, np.nan), np.zeros(len(time), dtype=bool)
    memory = round(MEMORY * case.fixed.rate)

    def at(shift: float, drift: float) -> Array:
        return time + shift + drift * (time - middle)

    scale = np.nan
    for _ in range(6):
        now = at(shift, drift)
        given = case.acting(loads, now)[:, 3:]
        inside = case.covered(loads, now)
        scale = case.scale(given, inside)
        if not scale > 0.0:
            return None
        left = due - scale * given
        # frames in which the loads carry the body, and no foot stands beside the plates
        kept = inside & (np.linalg.norm(left, axis=1) < CAP * case.fixed.weight)
        kept &= np.linalg.norm(given, axis=1) > LOADED * case.fixed.weight
        if kept.sum() < FEWEST:
            return None
        rate = np.gradient(given, time, axis=0) / (1.0 + drift)
        patterns = np.stack([scale * rate, scale * (time - middle)[:, None] * rate, given], axis=2)
        if np.ptp(time) < CYCLE:
            patterns[:, :, 1] = 0.0
        change, spread = covariance(patterns[kept], left[kept], memory)
        shift += float(np.clip(change[0], -STEP, STEP))
        drift = float(np.clip(drift + change[1], -0.2, 0.2))
        errors = np.sqrt(np.maximum(np.diag(spread), 0.0))
    now = at(shift, drift)
    inside = case.covered(loads, now)
    given = case.acting(loads, now)[:, 3:]
    inside &= np.linalg.norm(given, axis=1) > LOADED * case.fixed.weight
    if not inside.any():
        return None
    none = case.misfit(0.0 * given, 1.0, inside)
    misfit = case.misfit(given, scale, inside)
    if misfit > (1.0 - EXPLAINED) * none:
        return None
    return Fit(shift, drift, float(scale), errors, misfit)


def sliding(case: ModelCase, shift: float = 0.0, drift: float = 0.0) -> float:
    """Speed [m/s] of the feet over the ground, averaged with the force on them, with loads shifted in time."""
    time = case.time
    when = time + shift + drift * (time - time.mean())
    both = case.covered(case.loads, when) & case.covered(case.loads, time)
    moved = total = 0.0
    for load in case.loads:
        sole = next((sole for sole in case.fixed.soles if load.body in sole.bodies), None)
        if sole is not None:
            force = np.linalg.norm(case.acting([load], when)[:, 3:], axis=1) * both
            moved += float(force @ case.fixed.foot_speed(sole))
            total += float(force.sum())
    return moved / total if total > 0.0 else 0.0


def shift_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find a shift in time between loads and motion, or clocks of different rates."""
    fit = best_fit(case, FARTHEST)
    if fit is None or fit.misfit > UNCLEAR:
        return
    if sliding(case, fit.shift, fit.drift) > sliding(case) + STANDS:
        return  # where a contact lacks its load, others would be pulled onto feet that swing
    where, middle = where_loads(case), float(case.time.mean())
    if abs(fit.drift) > max(DRIFTS, CLEAR * fit.errors[1]):
        repair = delayed(fit.shift, fit.drift, middle)
        values = {
            "rate": 1.0 / (1.0 + fit.drift),
            "error": fit.errors[1],
            "limit": DRIFTS,
            "from_time": case.time[0],
            "to_time": case.time[-1],
        }
        seen: Severity = "error" if abs(fit.drift) > FAR else "warning"
        yield finding("clock_rate", seen, values, where, repair, cost=case.cost(repair))
        return
    limit = SMALLEST if np.ptp(case.time) >= CYCLE else SERIOUS
    if abs(fit.shift) < max(limit, CLEAR * fit.errors[0]):
        return
    repair = delayed(fit.shift)
    severity: Severity = "error" if abs(fit.shift) >= SERIOUS else "warning"
    yield finding(
        "time_offset.loads",
        severity,
        shift_values(fit.shift, limit) | {"error": fit.errors[0]},
        where,
        repair,
        cost=case.cost(repair),
    )

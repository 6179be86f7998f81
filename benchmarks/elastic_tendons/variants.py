"""The recorded walk with tendons of several kinds: results, and the motions that were solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import xarray as xr

from benchmarks.validation.page import recorded_walk
from musclesolve._util.arrays import Array
from musclesolve.constants import USUAL_COST
from musclesolve.forces import prepare
from musclesolve.muscles import ElasticMuscles
from musclesolve.pipeline.body import Analysis, Sharing, SharingGroup, SolvedGroup
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.pipeline.share import motion_problem, share, share_motion, sharing_problem
from musclesolve.results.dataset.assemble import assemble
from musclesolve.trajectory import MotionProblem

SETS = ("gait2392_hip", "rajagopal_2023")
COST = USUAL_COST
COSTS = (COST, "stress_cubed", "soft_saturation", "force_squared")
TRICEPS = ("soleus", "gastrocnemius_medial", "gastrocnemius_lateral")


@dataclass(frozen=True)
class Tendons:
    """How tendons are treated; strain: at one maximum isometric force, of the Achilles tendon (None: of the set)."""

    label: str
    elastic: bool = True
    dynamics: bool = True
    strain: float | None = None


RIGID = Tendons("rigid", elastic=False, dynamics=False)
DYNAMIC = Tendons("rigid, activation dynamics", elastic=False)
OWN = Tendons("elastic, of the set")
SOFT = tuple(Tendons(f"elastic, Achilles {strain:g}", strain=strain) for strain in (0.049, 0.08, 0.1))


def kinds(database: str) -> tuple[Tendons, ...]:
    """The treatments of one set: rajagopal_2023 has 0.049 of its own."""
    return (RIGID, DYNAMIC, OWN, *(SOFT if database == "gait2392_hip" else SOFT[1:]))


@cache
def prepared(database: str, tendons: Tendons, cost: str = COST) -> RecordedBody:
    """The mechanics of both legs."""
    trial = recorded_walk()
    stated = None if tendons.strain is None else {"achilles": tendons.strain}
    kind = "elastic" if tendons.elastic else "rigid"
    chosen = {"database": database, "tendon": kind, "tendon_strain": stated}
    return prepare(trial.with_settings(muscles=chosen), cost)


@cache
def result(database: str, tendons: Tendons, cost: str = COST) -> xr.Dataset:
    """The result of both legs."""
    body = prepared(database, tendons, cost)
    if tendons.elastic or not tendons.dynamics:
        return assemble(share(body))
    legs = tuple(_rigid_with_dynamics(part, body.sharing) for part in body.parts)
    return assemble(Analysis(body, body.sharing, legs))


def _rigid_with_dynamics(part: SharingGroup, sharing: Sharing) -> SolvedGroup:
    """A leg behind rigid tendons, whose activations cannot jump."""
    solution, _, _ = share_motion(
        part, sharing, ElasticMuscles.from_parameters(part.state.parameters).rigid()
    )
    return SolvedGroup(part, sharing_problem(part, sharing).frames, solution)


def motion(
    database: str, side: str, tendons: Tendons = OWN, cost: str = COST, load: float = 1.0
) -> MotionProblem:
    """The problem of one leg over all frames, its moments times a load."""
    part = prepared(database, tendons, cost).parts["rl".index(side)]
    muscles = ElasticMuscles.from_parameters(part.state.parameters)
    whole = motion_problem(part, slice(None), muscles if tendons.elastic else muscles.rigid())
    return replace(whole, moment=load * whole.moment)


def events(found: xr.Dataset, kind: str, side: str) -> Array:
    """Times [s] of the events of a kind ("heel_strike", "toe_off") of a foot, in order."""
    of_kind = (found.event_kind == kind) & (found.event_side == side)
    return np.sort(found.event_time.values[of_kind.values])


def stance(found: xr.Dataset, side: str) -> tuple[float, float]:
    """The stance [s] that ends within the recording: from heel strike, or the first frame, to toe-off."""
    first, last = found.time.values[[0, -1]]
    strikes, lifts = events(found, "heel_strike", side), events(found, "toe_off", side)
    for lift in lifts[(lifts > first) & (lifts < last)]:
        begin = max(first, max((strike for strike in strikes if strike < lift), default=first))
        if lift - begin > 0.2:
            return float(begin), float(lift)
    raise LookupError(f"no stance of {side} ends within the recording")


def moving(found: xr.Dataset, side: str) -> Sequence[xr.Dataset]:
    """Soleus and gastrocnemii of a leg over the stance."""
    begin, end = stance(found, side)
    return [found.sel(muscle=f"{name}_{side}", time=slice(begin - 1e-9, end + 1e-9)) for name in TRICEPS]

"""Why a leg needs reserves, in sentences: what is missing where, and whether the reserves are small enough."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve.muscles.strength import LARGEST_FACTOR
from musclesolve.pipeline.run_options import Options
from musclesolve.pipeline.types import LegResult
from musclesolve.results.dataset.passive_remedy import passive_remedy
from musclesolve.results.dataset.result_quantities import directions
from musclesolve.results.dataset.tendons.elastic_reasons import elastic_reasons
from musclesolve.sharing.analysis.diagnosis import Diagnosis, diagnose
from musclesolve.sharing.analysis.reserve_check import Verdict, check_reserves, worst_frames
from musclesolve.sharing.status import Status

_UNIT = 1e-4  # of a factor on the strength


def reasons(leg: LegResult, moment: AnyArray, time: AnyArray, options: Options) -> list[str]:
    """A sentence on the worst frame of each stretch that the muscles cannot bear, then one on the largest reserves.

    `moment` (T, m) [N m] are the net joint moments of the shared degrees of freedom. Remedies that the trial file has a
    key for are named with it.
    """
    solution = leg.solution
    helped = np.isin(solution.status, (Status.SOLVED_WITH_RESERVE, Status.INFEASIBLE))
    if not helped.any():
        return []
    names = {dof: directions(dof) for dof in leg.dofs}
    if leg.tendons is not None:
        return elastic_reasons(leg.problem, solution, np.asarray(moment), np.asarray(time), names)
    found = diagnose(leg.problem, leg.state.passive_force, worst_frames(helped, solution.reserve))
    sentences = [
        found.sentence(k, time, names) + _key(leg, options, found, k)
        for k in np.argsort(-found.total, kind="stable")
    ]
    check = check_reserves(leg.problem, solution, moment)
    worst = int(check.share.argmax())
    if check.verdict[worst] is not Verdict.NONE:
        sentences.append(check.sentence(check.dof[worst]))
    return sentences


def _key(leg: LegResult, options: Options, found: Diagnosis, number: int) -> str:
    """The line of the trial file that is the remedy of one frame."""
    if found.passive_cause(number) is not None and found.without_passive(number):
        rule = passive_remedy(leg, options.database, int(found.frame[number]))
        return "" if rule is None else f': write passive = "{rule}" in [muscles]'
    remedy, strength = found.remedy(number), 1.0 if options.strength == "table" else options.strength
    if remedy is None or not remedy.also_of_all or isinstance(strength, str):
        return ""
    factor = np.ceil(remedy.factor * strength / _UNIT - 1e-6) * _UNIT
    return f": write strength = {factor:.6g} in [muscles]" if factor <= LARGEST_FACTOR else ""

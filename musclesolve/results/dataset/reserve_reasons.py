"""Why a leg needs reserves, in sentences: what is missing where, and whether the reserves are small enough."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve.pipeline.types import LegResult
from musclesolve.results.dataset.result_quantities import directions
from musclesolve.sharing.analysis.diagnosis import diagnose
from musclesolve.sharing.analysis.reserve_check import Verdict, check_reserves
from musclesolve.sharing.status import Status

MOST = 3
"""Stretches of frames that are explained, those with the largest reserves."""


def reasons(leg: LegResult, moment: AnyArray, time: AnyArray) -> list[str]:
    """A sentence on the worst frame of each stretch that the muscles cannot bear, then one on the largest reserves.

    `moment` (T, m) [N m] are the net joint moments of the shared degrees of freedom.
    """
    solution = leg.solution
    helped = np.isin(solution.status, (Status.SOLVED_WITH_RESERVE, Status.INFEASIBLE))
    if not helped.any():
        return []
    found = diagnose(leg.problem, leg.state.passive_force, _worst(helped, solution.reserve))
    names = {dof: directions(dof) for dof in leg.dofs}
    sentences = [found.sentence(k, time, names) for k in np.argsort(-found.total, kind="stable")]
    check = check_reserves(leg.problem, solution, moment)
    worst = int(check.share.argmax())
    if check.verdict[worst] is not Verdict.NONE:
        sentences.append(check.sentence(check.dof[worst]))
    return sentences


def _worst(helped: AnyArray, reserve: AnyArray) -> AnyArray:
    """The frame with the largest reserves of each stretch, of the worst stretches."""
    size = np.nan_to_num(np.abs(reserve).sum(axis=1))
    runs = [[k for k, _ in run] for inside, run in groupby(enumerate(helped), lambda item: item[1]) if inside]
    frames = [max(run, key=lambda k: size[k]) for run in runs]
    return np.sort(np.array(sorted(frames, key=lambda k: -size[k])[:MOST], dtype=np.int64))

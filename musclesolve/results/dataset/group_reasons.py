"""Why a group of muscles of an OpenSim model needs reserves, in sentences."""

from __future__ import annotations

import numpy as np

from musclesolve.pipeline.opensim.group_result import GroupResult
from musclesolve.pipeline.opensim.model_problem import ModelProblem
from musclesolve.results.dataset.tendons.elastic_reasons import elastic_reasons
from musclesolve.sharing.analysis.diagnosis import diagnose
from musclesolve.sharing.analysis.reserve_check import Verdict, check_reserves, worst_frames
from musclesolve.sharing.status import Status


def group_reasons(found: ModelProblem, group: GroupResult) -> list[str]:
    """A sentence on the worst frame of each stretch that the muscles cannot bear, then one on the largest reserves."""
    solution = group.solution
    helped = np.isin(solution.status, (Status.SOLVED_WITH_RESERVE, Status.INFEASIBLE))
    if not helped.any():
        return []
    if found.options.tendon == "elastic":
        return elastic_reasons(group.problem, solution, found.moment[:, group.dofs], found.motion.time)
    why = diagnose(group.problem, frames=worst_frames(helped, solution.reserve))
    sentences = []
    for k in np.argsort(-why.total, kind="stable"):
        mended = why.passive_cause(k) is not None and why.without_passive(k)
        sentences.append(why.sentence(k, found.motion.time) + (": --passive none" if mended else ""))
    check = check_reserves(group.problem, solution, found.moment[:, group.dofs])
    worst = int(check.share.argmax())
    if check.verdict[worst] is not Verdict.NONE:
        sentences.append(check.sentence(check.dof[worst]))
    return sentences

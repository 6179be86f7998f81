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
    """Why frames of a group need reserves or have no solution.

    A sentence on the worst frame of each stretch that the muscles cannot bear, one on the largest reserves, and one on
    each coordinate that is beyond its range in such frames.
    """
    return [*_of_reserves(found, group), *_beyond_ranges(found, group)]


def _beyond_ranges(found: ModelProblem, group: GroupResult) -> list[str]:
    lacking = ~np.isin(group.solution.status, (Status.SOLVED, Status.NOT_MEASURED))
    names = [found.choice.names[k] for k in group.muscles]
    own = frozenset().union(*(found.choice.crossing[name] for name in names))
    sentences = []
    for each in found.beyond:
        together = int((each.frames & lacking).sum())
        if each.coordinate.name in own and together:
            sentences.append(
                f"{each.sentence}, {together} of the {int(lacking.sum())} that are not simply solved: this may be the "
                "cause"
            )
    return sentences


def _of_reserves(found: ModelProblem, group: GroupResult) -> list[str]:
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

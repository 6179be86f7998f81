"""Why muscles need reserves, in sentences: what is missing where, the remedy, whether the reserves are small enough.

Sentences on elastic tendons: elastic_reasons.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from muscle_db import MuscleDatabase
from musclesolve.muscles.passive.passive_element import PassiveRule, passive_element
from musclesolve.muscles.strength import LARGEST_FACTOR
from musclesolve.pipeline.body import Analysis, Body, SharedPart
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.pipeline.run_options import Options
from musclesolve.results.dataset.elastic_reasons import elastic_reasons
from musclesolve.results.dataset.result_quantities import directions
from musclesolve.sharing.analysis.diagnosis import Diagnosis, diagnose
from musclesolve.sharing.analysis.reserve_check import Verdict, check_reserves, worst_frames
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

_UNIT = 1e-4  # of a factor on the strength


def reasons_of_sides(analysis: Analysis) -> dict[str, list[str]]:
    """The attributes reasons_r, reasons_l and reasons_other: sentences on the parts of each side that lack moments."""
    sentences = {
        side: [line for part in analysis.of_side(side) for line in _reasons(analysis.body, part)]
        for side in analysis.sides
    }
    return {f"reasons_{side}": lines for side, lines in sentences.items() if lines}


def _reasons(body: Body, part: SharedPart) -> list[str]:
    """Sentences on reserves, and on each coordinate of a model that is beyond its range in such frames."""
    if isinstance(body, RecordedBody):
        return reserve_reasons(part, body.options)
    return [*reserve_reasons(part), *(_beyond_ranges(body, part) if isinstance(body, ModelBody) else ())]


def reserve_reasons(part: SharedPart, options: Options | None = None) -> list[str]:
    """Why frames of a part need reserves or have no solution.

    A sentence on the worst frame of each stretch that the muscles cannot bear, then one on the largest reserves. With
    the options of a trial, remedies are named with the key of the trial file that applies them; otherwise with the
    option of the command `share`.
    """
    solution, time, moment = part.solution, part.part.time, part.part.shared_moment
    helped = np.isin(solution.status, (Status.SOLVED_WITH_RESERVE, Status.INFEASIBLE))
    if not helped.any():
        return []
    names = None if options is None else {dof: directions(dof) for dof in part.part.shared}
    if part.tendons is not None:
        return elastic_reasons(part.problem, solution, moment, time, names)
    why = diagnose(part.problem, frames=worst_frames(helped, solution.reserve))
    sentences = []
    for k in np.argsort(-why.total, kind="stable"):
        if options is not None:
            remedy = _key(part, options, why, k)
        else:
            remedy = ": --passive none" if why.passive_cause(k) is not None and why.without_passive(k) else ""
        sentences.append(why.sentence(k, time, names) + remedy)
    check = check_reserves(part.problem, solution, moment)
    worst = int(check.share.argmax())
    if check.verdict[worst] is not Verdict.NONE:
        sentences.append(check.sentence(check.dof[worst]))
    return sentences


def _beyond_ranges(body: ModelBody, part: SharedPart) -> list[str]:
    lacking = ~np.isin(part.solution.status, (Status.SOLVED, Status.NOT_MEASURED))
    crossed = frozenset().union(*(body.choice.crossing[name] for name in part.state.parameters.names))
    sentences = []
    for beyond in body.beyond:
        together = int((beyond.frames & lacking).sum())
        if beyond.coordinate.name in crossed and together:
            frames = f"{together} of the {int(lacking.sum())} that are not simply solved"
            sentences.append(f"{beyond.sentence}, {frames}: this may be the cause")
    return sentences


def _key(part: SharedPart, options: Options, why: Diagnosis, number: int) -> str:
    """The line of the trial file that is the remedy of one frame."""
    if why.passive_cause(number) is not None and why.without_passive(number):
        rule = passive_remedy(part, options.database, int(why.frame[number]))
        return "" if rule is None else f': write passive = "{rule}" in [muscles]'
    remedy, strength = why.remedy(number), 1.0 if options.strength == "table" else options.strength
    if remedy is None or not remedy.also_of_all or isinstance(strength, str):
        return ""
    factor = np.ceil(remedy.factor * strength / _UNIT - 1e-6) * _UNIT
    return f": write strength = {factor:.6g} in [muscles]" if factor <= LARGEST_FACTOR else ""


def passive_remedy(part: SharedPart, database: MuscleDatabase, frame: int) -> str | None:
    """The rule for passive forces, "calibrated" or else "none", that solves a frame; None where neither does."""
    rules: list[PassiveRule] = ["none"] if database.calibrated_passive is None else ["calibrated", "none"]
    solved = (rule for rule in rules if _solved(with_passive_rule(part, database, frame, rule)))
    return next(solved, None)


def with_passive_rule(part: SharedPart, database: MuscleDatabase, frame: int, rule: PassiveRule) -> Problem:
    """The problem of one frame with the passive forces of another rule, without reserves."""
    state, parameters, at = part.state, part.state.parameters, np.array([frame])
    ((family, _),) = parameters.families
    changed = replace(parameters, passive=passive_element(database, family, rule))
    fiber = changed.fibers(state.musculotendon_length[at], state.musculotendon_velocity[at])
    passive = changed.forces(fiber).passive
    one = part.problem.frames(at)
    less = np.einsum("tkm,tm->tk", one.moment_arm, state.passive_force[at] - passive)
    return replace(one, moment=one.moment + less, passive_force=passive, reserve_weight=None)


def _solved(problem: Problem) -> bool:
    return bool((solve(problem, "force_squared").status == Status.SOLVED).all())

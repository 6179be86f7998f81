"""Other passive forces as a remedy: the rule of the trial file with which a frame is solved, tried before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from muscle_db import MuscleDatabase
from musclesolve.muscles.passive.passive_element import PassiveRule, passive_element
from musclesolve.pipeline.types import LegResult
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status


def passive_remedy(leg: LegResult, database: MuscleDatabase, frame: int) -> str | None:
    """The rule for passive forces, "calibrated" or else "none", that solves a frame; None where neither does."""
    rules: list[PassiveRule] = ["none"] if database.calibrated_passive is None else ["calibrated", "none"]
    solved = (rule for rule in rules if _solved(with_passive_rule(leg, database, frame, rule)))
    return next(solved, None)


def with_passive_rule(leg: LegResult, database: MuscleDatabase, frame: int, rule: PassiveRule) -> Problem:
    """The problem of one frame with the passive forces of another rule, without reserves."""
    state, parameters, at = leg.state, leg.state.muscles.parameters, np.array([frame])
    ((family, _),) = parameters.families
    changed = replace(parameters, passive=passive_element(database, family, rule))
    fiber = changed.fibers(state.musculotendon_length[at], state.musculotendon_velocity[at])
    passive = changed.forces(fiber).passive
    one = leg.problem.frames(at)
    less = np.einsum("tkm,tm->tk", one.moment_arm, state.passive_force[at] - passive)
    return replace(one, moment=one.moment + less, passive_force=passive, reserve_weight=None)


def _solved(problem: Problem) -> bool:
    return bool((solve(problem, "force_squared").status == Status.SOLVED).all())

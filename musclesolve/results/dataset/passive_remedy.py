"""Other passive forces as a remedy: the rule of the trial file with which a frame is solved, tried before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from muscle_db import MuscleDatabase
from musclesolve.muscles.hill_model import capacity_and_passive, fiber_state
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
    state, muscles, at = leg.state, leg.state.muscles, np.array([frame])
    fiber = fiber_state(
        state.musculotendon_length[at],
        state.musculotendon_velocity[at],
        muscles.optimal_fiber_length,
        muscles.tendon_slack_length,
        muscles.pennation_angle,
    )
    element = passive_element(database, muscles.curves, rule)
    fields = (muscles.max_isometric_force, muscles.optimal_fiber_length, muscles.max_shortening_velocity)
    passive = capacity_and_passive(fiber, *fields, muscles.curves, element).passive
    one = leg.problem.frames(at)
    less = np.einsum("tkm,tm->tk", one.moment_arm, state.passive_force[at] - passive)
    return replace(one, moment=one.moment + less, passive_force=passive, reserve_weight=None)


def _solved(problem: Problem) -> bool:
    return bool((solve(problem, "force_squared").status == Status.SOLVED).all())

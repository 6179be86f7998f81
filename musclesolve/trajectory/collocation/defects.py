"""The error of a transcription: how far it is from the balance of tendon and fiber where nothing holds it."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.collocation.motion_between_frames import between, motion_at
from musclesolve.trajectory.collocation.transcription import Transcription
from musclesolve.trajectory.local_equilibrium import equilibrium
from musclesolve.trajectory.motion_problem import MotionProblem


def defects(
    problem: MotionProblem, transcription: Transcription, z: Array, rate: Array, activation: Array
) -> Array:
    """(T-1, n) in units of activation, of states, rates and activations (S, n).

    In the middles between neighboring points: the activation that balances tendon and fiber there, less the one on the
    straight line between those of the points; of each time between two frames the one farthest from zero. NaN where
    the states are not finite.
    """
    found = np.zeros((problem.n_frames - 1, z.shape[1]))
    if not all(np.isfinite(part).all() for part in (z, rate, activation)):
        return np.full_like(found, np.nan)
    middles = transcription.middles
    there = motion_at(problem, middles.time)
    value, slope = (by_state @ z + by_rate @ rate for by_state, by_rate in (middles.value, middles.rate))
    lengths = there.musculotendon_length, there.musculotendon_velocity
    state = equilibrium(problem.muscles, *lengths, value, slope)
    straight = between(transcription.time, activation, middles.time)
    missed = state.imbalance(straight) / state.capacity.value
    for interval, row in zip(middles.interval, missed, strict=True):
        found[interval] = np.where(np.abs(row) > np.abs(found[interval]), row, found[interval])
    return found

"""Does the path of a muscle jump in this motion? It slips over a wrap object, or a point of it comes and goes.

The length L of a path changes with its rate Ld, which follows from the moment arms. Between two frames a step h apart

    j = L(t + h) - L(t) - h (Ld(t) + Ld(t + h)) / 2

is zero but for terms of the order h^3, unless the path jumps. Where it changes its side, arms leap with it or without.
A jump moves the fiber along its force-length curve, and an arm that leaps changes the force for the same moment. By how
many newtons shows the frame behind the jump, shared as it is and with a path that goes on: with the length L - j, and
with rate and arms continued from the two frames before, or held where the path jumps between these, too: as they were
before the first of jumps that follow one another.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import count_of, few
from musclesolve._util.sides import sided
from musclesolve.laboratory.checks.model.shared_forces import shared_forces
from musclesolve.laboratory.results.finding import Cost, Finding, Where, finding
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.shared_choice import JUMP_M, beyond_rate, holes
from musclesolve.muscles.muscle_state import MuscleState

LEAP_M = 0.012
"""Change of a moment arm from one frame to the next beyond its changes in the frames beside them [m]."""
WRONG = 0.1
"""Share from which forces are wrong: of the jump in the optimal fiber length, which moves the fiber that far along its
force-length curve, or of the change of a force in the maximum isometric force. Below it a note of the result names the
jump."""
MOST_JUMPS = 40
"""Number of jumps whose forces are computed again, the largest first, in about a second. The others, and those
before a frame that has no solution, are not judged: the finding counts them."""


@dataclass(frozen=True)
class Jump:
    """A jump of the path of a muscle behind a frame, by sizes in units of the limits."""

    muscle: str
    frame: int
    size: float
    length: float  # with its sign [m]
    arm: float  # [m]


def path_jumps(body: ModelBody) -> Iterator[Finding]:
    """Find the muscles whose paths jump so that forces are wrong, the worst one first."""
    every = sorted(_jumps(body), key=lambda jump: -jump.size)
    jumps = every[:MOST_JUMPS]
    if not jumps:
        return
    changes = _force_changes(body, jumps, every)
    muscles = body.whole.state.parameters
    unsolved = [np.isnan(changes[n, muscles.names.index(jump.muscle)]) for n, jump in enumerate(jumps)]
    changes = np.nan_to_num(changes)
    not_judged = len(every) - len(jumps) + int(sum(unsolved))
    share = (changes / muscles.max_isometric_force).max(axis=1)
    optimal = dict(zip(muscles.names, muscles.optimal_fiber_length, strict=True))
    far = np.array([abs(jump.length) / optimal[jump.muscle] for jump in jumps])
    itself = [changes[place].argmax() == muscles.names.index(jump.muscle) for place, jump in enumerate(jumps)]
    ranked = sorted(range(len(jumps)), key=lambda place: (-float(share[place]), not itself[place]))
    wrong = [k for k in ranked if max(share[k], far[k]) > WRONG and np.rint(changes[k].max()) > 0.0]
    if not wrong:  # a note of the result names the other jumps
        return
    worst, muscle = jumps[wrong[0]], int(changes[wrong[0]].argmax())
    changed, newtons = muscles.names[muscle], float(changes[wrong[0], muscle])
    others = dict[str, str]()
    for place in wrong[1:]:
        if (name := jumps[place].muscle) != worst.muscle:
            others.setdefault(name, f"{sided(name)} ({body.time[jumps[place].frame + 1]:.3f} s)")
    values: dict[str, object] = {
        "muscle": sided(worst.muscle),
        "time": body.time[worst.frame + 1],
        "jump": abs(worst.length),
        "leap": worst.arm,
        "more": (f"; likewise {few(list(others.values()), 4)}" if others else "")
        + (f"; {count_of(not_judged, 'further jump')} not judged" if not_judged else ""),
    }
    spans = sorted({(float(body.time[k]), float(body.time[k + 1])) for k in (jumps[n].frame for n in wrong)})
    cost = Cost(newtons, "N", changed)
    yield finding("path_jump", "warning", values, Where(body.model.file, times=tuple(spans)), cost=cost)


def _jumps(body: ModelBody) -> Iterator[Jump]:
    """Every jump of the path of every muscle."""
    state, time = body.whole.state, body.time
    if len(time) < 4:
        return
    angles = np.array([body.model.coordinates[name].rotational for name in body.dofs])
    interval = np.diff(time)
    hole = holes(interval)
    for k, name in enumerate(state.parameters.names):  # one after the other: a motion may be long
        jump = beyond_rate(interval, state.musculotendon_length[:, k], state.musculotendon_velocity[:, k])
        step = np.diff(state.moment_arm[:, angles, k], axis=0)
        steady = np.where(((np.abs(jump) > JUMP_M) & ~hole)[:, None], 0.0, step)
        # what goes back is no change that goes on
        beside = np.maximum(steady[:-2] * np.sign(step[1:-1]), steady[2:] * np.sign(step[1:-1]))
        leap = np.zeros(len(step))
        leap[1:-1] = (np.abs(step[1:-1]) - np.maximum(beside, 0.0)).max(axis=1, initial=0.0)
        size = np.where(hole, 0.0, np.maximum(np.abs(jump) / JUMP_M, leap / LEAP_M))
        for frame in np.flatnonzero(size > 1.0).tolist():
            yield Jump(name, frame, float(size[frame]), float(jump[frame]), float(leap[frame]))


def _force_changes(body: ModelBody, jumps: Sequence[Jump], every: Sequence[Jump]) -> Array:
    """Changes (K, n) [N] of all muscle forces behind each of K jumps, from a path that goes on; NaN if unknown.

    every: all jumps of the motion. Behind jumps that follow one another, the path is the one before the first of them.
    """
    state, names = body.whole.state, list(body.whole.state.parameters.names)
    length_of = {(jump.muscle, jump.frame): jump.length for jump in every}
    frames = np.unique([jump.frame for jump in jumps])
    behind = state.frames(frames + 1)
    length, rate = behind.musculotendon_length.copy(), behind.musculotendon_velocity.copy()
    arm = behind.moment_arm.copy()
    for jump in jumps:
        row, k = int(np.searchsorted(frames, jump.frame)), names.index(jump.muscle)
        first = jump.frame
        while (jump.muscle, first - 1) in length_of:
            first -= 1
        length[row, k] -= sum(length_of[jump.muscle, frame] for frame in range(first, jump.frame + 1))
        earlier = max(first - 1, 0) if first == jump.frame else first
        speeds, arms = state.musculotendon_velocity[:, k], state.moment_arm[:, :, k]
        rate[row, k] = 2.0 * speeds[first] - speeds[earlier]
        arm[row, :, k] = 2.0 * arms[first] - arms[earlier]
    steady = MuscleState.from_lengths(state.parameters, length, rate, arm)
    now, then = (shared_forces(body, frames + 1, state=each) for each in (None, steady))
    return np.asarray(np.abs(then - now)[np.searchsorted(frames, [jump.frame for jump in jumps])])

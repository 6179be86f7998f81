"""Why muscles with elastic tendons need reserves, in sentences.

Activation and fibers depend on the frames before and after, so that a frame may need a reserve although muscles of the
same strength would suffice if it stood alone. The sentences name what is missing, and which limit of the activation the
muscles that could help are at: the upper bound, or how fast activation rises or falls.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.analysis.diagnosis import Directions, at_limit, listed, moment_text, shown
from musclesolve.sharing.analysis.reserve_check import Verdict, check_reserves, worst_frames
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.rate_limits import RateLimits
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.status import Status

_NEAR = 1e-3
"""Activations as near to a limit are at it."""
_PULLS = 1e-3
"""Muscles whose pull along the multipliers is a smaller share of the largest one do not count."""
_REPORTED = 0.05
"""Reserves are soft, and a little is taken everywhere: less than this share of the largest one is not named."""
_FULL = "full"
_UP = "{} cannot be activated faster or relaxed sooner"
_DOWN = "{} cannot be relaxed faster or activated sooner"


def elastic_reasons(
    problem: Problem, solution: Solution, moment: Array, time: Array, directions: Directions | None = None
) -> list[str]:
    """A sentence on the worst frame of each stretch that needs reserves, then one on the largest reserves.

    Args:
        problem: in the solved state of fibers and tendons, T frames.
        solution: of the motion.
        moment: (T, m) [N m], the net joint moments.
        time: (T,) [s].
        directions: what the positive and the negative moment of a degree of freedom are called.
    """
    helped = np.asarray(solution.status == Status.SOLVED_WITH_RESERVE)
    if not helped.any():
        return []
    sizes = np.abs(np.nan_to_num(solution.reserve)).sum(axis=1)
    worst = worst_frames(helped, solution.reserve)
    worst = worst[sizes[worst] > _REPORTED * sizes.max()]
    limits, sentences = _limits(problem, solution, time), []
    for frame in worst[np.argsort(-sizes[worst], kind="stable")].tolist():
        missing = _lacking(problem, solution, moment, frame, directions or {})
        names = {limit: _named(problem, pull, frame) for limit, pull in limits.items()}
        why = [at_limit(names.pop(_FULL)), *(limit.format(shown(own)) for limit, own in names.items() if own)]
        sentences.append("; ".join(part for part in (f"{missing} at {time[frame]:.3f} s", *why) if part))
    check = check_reserves(problem, solution, moment)
    largest = int(check.share.argmax())
    if check.verdict[largest] is not Verdict.NONE:
        sentences.append(check.sentence(check.dof[largest]))
    return sentences


def _lacking(problem: Problem, solution: Solution, moment: Array, frame: int, directions: Directions) -> str:
    """Ankle_dorsiflexion_r lacks 12.3 N m of plantarflexion, and others; the largest first."""
    reserve, dofs = solution.reserve[frame], problem.dof or ()
    needed = needs_reserve(reserve[None], moment[frame][None])[0]
    needed &= np.abs(reserve) > _REPORTED * np.abs(reserve).max()
    order = [k for k in np.argsort(-np.abs(reserve), kind="stable") if needed[k]]
    return listed([f"{dofs[k]} lacks {moment_text(reserve[k], dofs[k], directions)}" for k in order])


def _limits(problem: Problem, solution: Solution, time: Array) -> dict[str, Array]:
    """By limit, the pull of the moments on each activation that is at it, (T, n); zero elsewhere.

    The pull is (A^T lambda), of the multipliers lambda: positive where more activation would help. The activation is at
    the limits of rising or falling where it changes as fast as it can from the frame before or to the next one.
    """
    a = solution.activation
    with np.errstate(invalid="ignore"):
        pull = np.nan_to_num(np.einsum("tkn,tk->tn", problem.moment_matrix, solution.multiplier))
        low, high = RateLimits().reach(a[:-1], np.diff(time)[:, None])
        full = a >= problem.upper - _NEAR
        fastest_rise = a[1:] >= high - _NEAR
        fastest_fall = (a[1:] <= low + _NEAR) & (a[:-1] > _NEAR)
    none = np.zeros_like(full[:1])
    # more activation: too soon to have risen, or too late to be gone in the next frame; less: the other way round
    held_down = np.concatenate([none, fastest_rise]) | np.concatenate([fastest_fall, none])
    held_up = np.concatenate([none, fastest_fall]) | np.concatenate([fastest_rise, none])
    least = _PULLS * np.abs(pull).max(axis=1, keepdims=True)
    return {
        _FULL: np.where(full & (pull > least), pull, 0.0),
        _UP: np.where(held_down & ~full & (pull > least), pull, 0.0),
        _DOWN: np.where(held_up & (pull < -least), -pull, 0.0),
    }


def _named(problem: Problem, pull: Array, frame: int) -> list[str]:
    """The muscles that pull, the strongest first."""
    names, own = problem.muscle or (), pull[frame]
    return [names[i] for i in np.argsort(-own, kind="stable") if own[i] > 0.0]

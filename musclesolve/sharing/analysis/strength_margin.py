"""Strength margin: the least strength of some muscles with which the moments of a frame are still possible.

The strength s multiplies the maximum isometric force of the weak muscles, and with it their contractile and their
passive forces. With A = moment_arm * force_capacity at full strength and the passive moment p of the weak muscles, the
frame is possible if and only if some activation, lower <= a <= upper, gives

    sum_(others) A_i a_i + s sum_(weak) A_i a_i = b + (1 - s) p.

The solver decides whether a frame is possible, with a proof in either case. A proof y of infeasibility (Farkas) at the
strength s excludes all strengths up to

    s' = (y . (b + p) - H_others) / (H_weak + y . p),    H = sum_i max(lower_i (A^T y)_i, upper_i (A^T y)_i),

where its inequality becomes an equality. So the search begins at s = 0, goes to s' of the proof found there, and ends
at the first strength that is possible: no smaller one is (Newton's method on a piecewise linear function; two to six
steps in practice). All frames are searched at once.

The same search finds the least upper bound u of the activations of some muscles (`of="activation"`), with H of these
muscles linear in u, and the least torque t about a degree of freedom d with which a frame is possible
(`least_assistance`): a proof y excludes all torques with t y_d < y . b - H.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_choice
from musclesolve._util.messages import unknown_name, with_sizes
from musclesolve.errors import input_error
from musclesolve.sharing.analysis.force_ranges import chosen_muscles
from musclesolve.sharing.arguments import check_problem
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.batch import Batch
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

SEARCH_STEPS = 50
PROOF_TOLERANCE = 1e-9
"""The search ends when a proof excludes no more than this beyond the strength tried."""
NUDGE = 1e-5
"""Step to the next number where the solver decides nothing."""


@dataclass(frozen=True, eq=False)
class StrengthMargin:
    """The least strength of some muscles with which each frame is possible.

    Attributes:
        strength: (T,) least factor on their maximum isometric force; 0 where the frame is possible without them, NaN
            where it is not possible at full strength, or undecided.
        proof: (T, m) the combination y of moments that excludes every smaller strength; NaN where `strength` is 0 or
            NaN.
    """

    strength: Array
    proof: Array
    __repr__ = with_sizes

    @property
    def tightest(self) -> int:
        """The frame that needs the greatest strength.

        Raises:
            InputError: no frame is possible at full strength.
        """
        if np.isnan(self.strength).all():
            fault = "no frame is possible at full strength"
            expected = "a problem with a frame whose moments the muscles can produce"
            remedy = "see what lacks: diagnose(problem)"
            raise input_error(
                "no_overlap", where="strength_margin", problem=fault, expected=expected, remedy=remedy
            )
        return int(np.nanargmax(self.strength))


def strength_margin(
    problem: Problem,
    muscles: Sequence[str],
    possible: Mask | None = None,
    of: Literal["strength", "activation"] = "strength",
) -> StrengthMargin:
    """Find the least common strength of some muscles with which each frame is possible without reserves.

    Args:
        problem: its reserves are ignored; its passive forces, where there are any, shrink with the strength.
        muscles: names of the muscles that have this strength; the others keep theirs.
        possible: (T,) frames that are possible at full strength, where they are known.
        of: "activation" finds the least upper bound of the activations of these muscles instead, from the lower bound
            of the activation to the upper one: pain or fatigue may bound it. Passive forces then stay as they are.

    Returns:
        Strengths (T,) from 0 to 1 [1], and their proofs; a problem of a single frame counts as one of T = 1. They are
        exact to NUDGE.

    Raises:
        InputError: there is no muscle of that name, or no name at all.
    """
    check_choice(of, "of", ("strength", "activation"), where="strength_margin")
    weak = np.isin(np.arange(check_problem(problem).n_muscles), chosen_muscles(problem, muscles))
    if of == "activation":
        return _activation_margin(problem, weak, possible)
    return _first_possible(
        problem.with_arrays(reserve_weight=None),
        lambda part, strength: with_strength(part, np.where(weak, strength[:, None], 1.0)),
        lambda part, proof: _excluded(part, proof, weak),
        possible=possible,
    )


def _activation_margin(problem: Problem, weak: Mask, possible: Mask | None) -> StrengthMargin:
    """The least upper bounds of the activations of some muscles."""

    def bounded(part: Problem, most: Array) -> Problem:
        limit = np.clip(most[:, None], part.lower, part.upper)
        return part.with_arrays(upper=np.ascontiguousarray(np.where(weak, limit, part.upper)))

    def excluded(part: Problem, proof: Array) -> Array:
        pull = part.pull(proof)
        reach = np.maximum(pull * part.lower, pull * part.upper)
        bound = weak & (pull > 0.0)
        demand = (proof * part.moment).sum(axis=1) - np.where(bound, 0.0, reach).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(demand / np.where(bound, pull, 0.0).sum(axis=1))

    exact = problem.with_arrays(reserve_weight=None)
    return _first_possible(exact, bounded, excluded, float(problem.upper[:, weak].max()), possible)


def least_assistance(problem: Problem, dof: str) -> Array:
    """Find the torque of least size about a degree of freedom with which each frame is possible without reserves.

    Args:
        problem: its reserves are ignored.
        dof: name of the degree of freedom.

    Returns:
        Torques (T,) [N m], positive as the joint moment; 0 where the frame is possible without a torque, NaN where no
        torque about this degree of freedom suffices or a number of the frame is not finite.

    Raises:
        InputError: there is no degree of freedom of that name.
    """
    names = check_problem(problem).dof or ()
    if dof not in names:
        raise unknown_name(dof, "degree of freedom", names)
    exact, row = problem.with_arrays(reserve_weight=None, source_frames=None), names.index(dof)
    sign = np.zeros(problem.n_frames)

    def helped(part: Problem, size: Array) -> Problem:
        moment = part.moment.copy()
        moment[:, row] -= sign[part.frame_number] * size
        return part.with_arrays(moment=moment)

    def excluded(part: Problem, proof: Array) -> Array:
        pull, along, known = part.pull(proof), np.nan_to_num(proof[:, row]), sign[part.frame_number]
        reach = np.maximum(pull * part.lower, pull * part.upper).sum(axis=1)
        sign[part.frame_number] = np.where(known == 0.0, np.sign(along), known)
        # a proof of the other sign, together with the first one, excludes every torque
        agrees = (along != 0.0) & (np.sign(along) == sign[part.frame_number])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(agrees, np.abs(((proof * part.moment).sum(axis=1) - reach) / along), np.inf)

    size = _first_possible(exact, helped, excluded, np.inf, exact.valid).strength
    return np.where(size > 0.0, sign * size, size)


def _first_possible(
    exact: Problem,
    changed: Callable[[Problem, Array], Problem],
    excluded: Callable[[Problem, Array], Array],
    full: float = 1.0,
    possible: Mask | None = None,
) -> StrengthMargin:
    """Search the least number from 0 to `full` with which each frame is possible, and the proof that excludes less.

    changed: the problem of some frames with a number (t,) each; excluded: the number up to which proofs (t, m) exclude;
    possible: frames that are possible at `full`.
    """
    frames, dofs = exact.moment.shape
    least, proof = np.full(frames, np.nan), np.full((frames, dofs), np.nan)
    tried = np.flatnonzero(_decided(exact)[0] if possible is None else possible)
    number = np.zeros(len(tried))
    for _ in range(SEARCH_STEPS):
        if not tried.size:
            break
        part = exact.frames(tried)
        solved, infeasible, proofs = _decided(changed(part, number), number == 0.0)
        least[tried[solved]] = number[solved]
        beyond = excluded(part, proofs)
        excludes = beyond > number + PROOF_TOLERANCE * np.maximum(1.0, number)
        further = infeasible & excludes & np.isfinite(beyond)
        # a proof that excludes no strength beyond the one tried lies at the edge, where the search ends
        edge = infeasible & ~excludes
        least[tried[edge]] = number[edge]
        proof[tried[further]] = proofs[further]
        # where a single activation is possible the solver may decide nothing: a little more strength decides
        undecided = ~solved & ~infeasible & (number < full)
        number = np.minimum(np.where(undecided, number + NUDGE, beyond), full)
        tried, number = tried[further | undecided], number[further | undecided]
    return StrengthMargin(least, np.where(np.isnan(least)[:, None], np.nan, proof))


def _decided(problem: Problem, thoroughly: Mask | None = None) -> tuple[Mask, Mask, Array]:
    """Return the frames (T,) with a solution, the frames with a proof of infeasibility, and the proofs (T, m).

    thoroughly: (T,) frames that compiled code leaves open are solved by the other methods, too; all unless given.
    """
    arrays = Batch().solve_certified(problem, find_cost("force_squared"), allow_reserve=False)
    assert arrays is not None
    status, proofs = arrays.status.copy(), arrays.infeasibility_proof.copy()
    open_frames = ~np.isin(status, (Status.SOLVED, Status.INFEASIBLE)) & problem.valid
    if thoroughly is not None:
        open_frames &= thoroughly
    if open_frames.any():
        solution = solve(problem.frames(open_frames), "force_squared")
        status[open_frames], proofs[open_frames] = solution.status, solution.infeasibility_proof
    return status == Status.SOLVED, status == Status.INFEASIBLE, proofs


def with_strength(problem: Problem, strength: ArrayLike) -> Problem:
    """The problem of muscles whose maximum isometric forces are multiplied by factors, (n,) or (T, n) [1].

    Contractile and passive forces change in proportion; the costs keep the maximum isometric forces of the problem.
    """
    factor = np.broadcast_to(np.asarray(strength, np.float64), problem.force_capacity.shape)
    changed: dict[str, Array] = {"force_capacity": np.ascontiguousarray(problem.force_capacity * factor)}
    if problem.fiber_force_capacity is not None:
        changed["fiber_force_capacity"] = factor * problem.fiber_force_capacity
    if problem.passive_force is not None:
        lost = np.einsum("tmn,tn->tm", problem.moment_arm, (1.0 - factor) * problem.passive_force)
        changed |= {"passive_force": factor * problem.passive_force, "moment": problem.moment + lost}
    return problem.with_arrays(**changed)


def _excluded(problem: Problem, proof: Array, weak: Mask) -> Array:
    """The strength s' (T,): proofs (T, m) exclude every strength of the weak muscles (n,) up to s'."""
    pull = problem.pull(proof)
    reach = np.maximum(pull * problem.lower, pull * problem.upper)
    demand = (proof * problem.moment).sum(axis=1)
    passive = np.zeros(len(demand))
    if problem.passive_force is not None:
        arms = np.einsum("tm,tmn->tn", proof, problem.moment_arm)
        passive = (arms * problem.passive_force)[:, weak].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (demand + passive - reach[:, ~weak].sum(axis=1)) / (reach[:, weak].sum(axis=1) + passive)

"""Strength margin: the least strength of some muscles with which the moments of a frame are still possible.

The strength s multiplies the maximum isometric force of the weak muscles, and with it their contractile and their
passive forces. With A = moment_arm * force_capacity at full strength and the passive moment p of the weak muscles, the
frame is possible if and only if some activation, lower <= a <= upper, gives

    sum_(others) A_i a_i + s sum_(weak) A_i a_i = b + (1 - s) p.

With z_i = s (a_i - lower_i) of the weak muscles the least s is the optimum of a linear program in a, z and s, with the
further rows z_i <= s (upper_i - lower_i). Its multipliers y prove that smaller strengths are impossible (Farkas): at
the strength s they exceed what muscles reach by

    y . (b + (1 - s) p) - H_others - s H_weak,    H = sum_i max(lower_i (A^T y)_i, upper_i (A^T y)_i),

which is linear in s. Both ends are evaluated with their round-off (linear_program.py).

The least upper bound u of the activations of some muscles (`of="activation"`) is the optimum of such a program with
rows a_i <= u. The least torque t about a degree of freedom with which a frame is possible (`least_assistance`) is the
optimum of a program with a column t.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_choice
from musclesolve._util.messages import unknown_name, with_sizes
from musclesolve.errors import input_error
from musclesolve.sharing.analysis.force_ranges import chosen_muscles
from musclesolve.sharing.analysis.linear_program import Ends, Optimum, blocks, ends_of, minimize, with_columns
from musclesolve.sharing.arguments import check_problem
from musclesolve.sharing.problem import Problem


@dataclass(frozen=True, eq=False)
class StrengthMargin:
    """The least strength of some muscles with which each frame is possible, between two ends.

    Attributes:
        strength: (T,) the end that is found: with this factor on their maximum isometric force, activations within
            their bounds produce the moments to round-off; 0 where the frame is possible without these muscles, NaN
            where it is not possible at full strength, or undecided.
        proved: (T,) the end that is proved: every smaller strength is impossible; NaN where `strength` is.
        proof: (T, m) the combination y of moments that proves it; NaN where `proved` is 0 or NaN.
    """

    strength: Array
    proved: Array
    proof: Array
    __repr__ = with_sizes

    @property
    def gap(self) -> Array:
        """The distance (T,) of the two ends, between which the least strength lies."""
        return self.strength - self.proved

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

    The moments are those given, to round-off: a frame that `solve` certifies to 1e-6 N m may prove impossible.

    Args:
        problem: its reserves are ignored; its passive forces, where there are any, shrink with the strength.
        muscles: names of the muscles that have this strength; the others keep theirs.
        possible: (T,) frames that count, such as the solved ones; all unless given.
        of: "activation" finds the least upper bound of the activations of these muscles instead, from their greatest
            lower bound on: pain or fatigue may bound it. Passive forces then stay as they are.

    Returns:
        Strengths (T,) from 0 to 1 [1], found and proved, and their proofs; a problem of a single frame counts as one of
        T = 1.

    Raises:
        InputError: there is no muscle of that name, or no name at all.
    """
    check_choice(of, "of", ("strength", "activation"), where="strength_margin")
    weak = np.isin(np.arange(check_problem(problem).n_muscles), chosen_muscles(problem, muscles))
    shape, least = problem.moment.shape, least_strength if of == "strength" else _least_bound
    margin = StrengthMargin(*(np.full(size, np.nan) for size in (shape[:1], shape[:1], shape)))
    for which in blocks(np.flatnonzero(problem.valid if possible is None else problem.valid & possible)):
        ends = least(problem.frames(which), weak)
        margin.strength[which], margin.proved[which], margin.proof[which] = (
            ends.found,
            ends.proved,
            ends.proof,
        )
    return margin


def least_strength(problem: Problem, weak: Mask, least: float = 0.0, most: float = 1.0) -> Ends:
    """The least factor from `least` to `most` on the strength of the weak muscles (n,), for valid frames."""
    lower, width, count = problem.lower, problem.upper - problem.lower, int(weak.sum())
    arm, passive = problem.moment_arm[:, :, weak], problem.passive_force
    passive = np.zeros((len(lower), count)) if passive is None else passive[:, weak]

    def weaker(strength: Array) -> Problem:
        """The problem at strengths (T,), with the passive forces that are lost as columns of activation s - 1."""
        factor, lost = (
            np.where(weak, strength[:, None], 1.0),
            np.repeat(strength[:, None] - 1.0, count, axis=1),
        )
        part = problem.with_arrays(force_capacity=problem.force_capacity * factor)
        return with_columns(part, arm, passive, lost, lost)

    borne = np.matmul(arm, passive[:, :, None])[:, :, 0]
    resting = np.matmul(problem.moment_matrix[:, :, weak], lower[:, weak, None])[:, :, 0]
    room = np.where(width > 0.0, most * np.where(width > 0.0, width, 1.0), 0.0)
    bounds = np.where(weak, 0.0, lower), np.where(weak, room, problem.upper)
    ends = [np.full(len(lower), end) for end in (least, most)]
    program = problem.moment_matrix, problem.moment + borne, *bounds
    optimum = _least_scale(*program, weak, width[:, weak], resting + borne, *ends)
    activation, strength = optimum.x[:, : len(weak)], optimum.x[:, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(strength[:, None] > 0.0, activation / strength[:, None], 0.0)
    activation = np.where(weak, lower + share, activation)
    activation = np.hstack([activation, np.repeat(strength[:, None] - 1.0, count, axis=1)])
    return ends_of(weaker, optimum, activation, strength, *ends)


def _least_bound(problem: Problem, weak: Mask) -> Ends:
    """The least upper bound of the activations of the weak muscles (n,), for valid frames."""

    def bounded(most: Array) -> Problem:
        limit = np.clip(most[:, None], problem.lower, problem.upper)
        return problem.with_arrays(upper=np.where(weak, limit, problem.upper))

    least, most = (bound[:, weak].max(axis=1) for bound in (problem.lower, problem.upper))
    ones, none = np.ones((len(least), int(weak.sum()))), np.zeros_like(problem.moment)
    program = problem.moment_matrix, problem.moment, problem.lower, problem.upper
    optimum = _least_scale(*program, weak, ones, none, least, most)
    return ends_of(bounded, optimum, optimum.x[:, : len(weak)], optimum.x[:, -1], least, most)


def _least_scale(
    matrix: Array,
    right: Array,
    lower: Array,
    upper: Array,
    weak: Mask,
    share: Array,
    column: Array,
    least: Array,
    most: Array,
) -> Optimum:
    """Minimize s for A x + column s = b, x between bounds, x_i <= s share_i of the weak variables; s is the last one.

    The matrix A is (T, m, n), right b and the column are (T, m), bounds of x (T, n); share is (T, w) for the w weak
    variables, least and most of s (T,).
    """
    (frames, dofs, count), numbers = matrix.shape, np.flatnonzero(weak)
    more = len(numbers)
    rows, slack = dofs + np.arange(more), count + np.arange(more)
    program = np.zeros((frames, dofs + more, count + more + 1))
    program[:, :dofs, :count], program[:, :dofs, -1], program[:, dofs:, -1] = matrix, column, -share
    program[:, rows, numbers] = program[:, rows, slack] = 1.0
    low = np.hstack([lower, np.zeros((frames, more)), least[:, None]])
    high = np.hstack([upper, np.full((frames, more), np.inf), most[:, None]])
    right = np.hstack([right, np.zeros((frames, more))])
    return minimize(program, right, low, high, np.eye(count + more + 1)[-1])


def least_assistance(problem: Problem, dof: str) -> Array:
    """Find the torque of least size about a degree of freedom with which each frame is possible without reserves.

    Args:
        problem: its reserves are ignored.
        dof: name of the degree of freedom.

    Returns:
        Torques (T,) [N m], positive as the joint moment; 0 where the frame is possible without a torque, NaN where no
        torque about this degree of freedom suffices or a number of the frame is not finite. With each of them there
        are activations that produce the moments to round-off.

    Raises:
        InputError: there is no degree of freedom of that name.
    """
    names = check_problem(problem).dof or ()
    if dof not in names:
        raise unknown_name(dof, "degree of freedom", names)
    torque = np.full(problem.n_frames, np.nan)
    for which in blocks(np.flatnonzero(problem.valid)):
        torque[which] = least_moment(problem.frames(which), names.index(dof))
    return torque


def least_moment(problem: Problem, dof: int) -> Array:
    """The moment of least size about a degree of freedom with which frames are possible (T,) [N m], for valid frames.

    It is the end that is found; NaN where no moment about this degree of freedom suffices.
    """
    unit = np.zeros((*problem.moment.shape, 1))
    unit[:, dof] = 1.0

    def helped(size: Array) -> Problem:
        return with_columns(problem, unit, np.ones((len(size), 1)), -size[:, None], size[:, None])

    none = np.zeros((len(unit), 2))
    matrix = np.concatenate([problem.moment_matrix, unit, -unit], axis=2)
    bounds = np.hstack([problem.lower, none]), np.hstack([problem.upper, none + np.inf])
    optimum = minimize(matrix, problem.moment, *bounds, np.append(np.zeros(problem.n_muscles), [1.0, 1.0]))
    moment = optimum.x[:, -2] - optimum.x[:, -1]
    activation = np.hstack([optimum.x[:, :-2], moment[:, None]])
    ends = ends_of(helped, optimum, activation, np.abs(moment), none[:, 0], none[:, 0] + np.inf)
    return np.copysign(ends.found, moment)


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

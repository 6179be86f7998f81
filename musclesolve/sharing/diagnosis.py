"""Why a frame is infeasible: what is missing where, which muscles are at their limit, how much stronger they should be.

Everything is a linear programme in the activations a and in reserves s = p - q, solved by HiGHS frame by frame:

    least shortage           minimise sum_k |s_k|      subject to A a + s = b,               lower <= a <= upper
    of one degree alone      minimise |s_k|            the same with all other s = 0
    of one degree for sure   b_k beyond what row k of A a can be, by itself
    strength of all          minimise phi              A u + (phi - 1) P 1 = b,              phi lower <= u <= phi upper
    strength of the limited  minimise psi >= 1         the same with psi for the limited muscles and 1 for all others

P = moment_arm * passive force: passive forces grow with the strength, the maximum isometric force, as well. The
multiplier y of the first programme is the proof: y . b exceeds what any admissible activation gives by the least
shortage. The muscles that y asks for, (A^T y)_i > 0, are at their upper bound; they are the limited ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve.errors import InputError, MuscleSolveError
from musclesolve.sharing.arguments import a_problem, an_array
from musclesolve.sharing.infeasibility import excess, is_proof
from musclesolve.sharing.problem import Array, Problem

_PULLS = 1e-9
"""A muscle pulls at the moments if its price is more than this share of the largest one."""
_SHOWN = 1e-3
"""Shortages below this share of the largest one of the frame are not spoken of."""
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What is wrong with the k infeasible frames of a problem.

    Attributes:
        frame: (k,) their numbers.
        shortage: (k, m) [N m], signed: the moment that the muscles lack, with the least sum of its sizes.
        certain: (k, m) [N m], signed: what is lacking even if all other degrees of freedom may lack anything.
        limited: (k, n) the muscles that could help, but are at their upper bound.
        weight: (k, n) [N m], what those muscles contribute along the proof; says in which order to name them.
        proof: (k, m) y of the module's text; checked.
        muscle: n names.
        dof: m names.

    What takes programmes of its own is found when it is asked for, from `part`, the k frames of the problem, and
    `passive`, the moments of their passive forces (k, m, n) [N m].
    """

    frame: NDArray[np.int64]
    shortage: Array
    certain: Array
    limited: NDArray[np.bool_]
    weight: Array
    proof: Array
    muscle: tuple[str, ...]
    dof: tuple[str, ...]
    part: Problem = field(repr=False)
    passive: Array = field(repr=False)

    @cached_property
    def alone(self) -> Array:
        """(k, m) [N m], signed: the least shortage if this degree of freedom alone may lack something, or infinite."""
        return np.array([_alone(self.part, k) for k in range(len(self.frame))]).reshape(self.shortage.shape)

    @cached_property
    def strength_factor(self) -> Array:
        """(k,) the smallest factor on the strength of all muscles that makes the frame feasible, or infinite."""
        every = np.ones(self.limited.shape[1], dtype=bool)
        return np.array([_factor_of(self.part, self.passive, k, every, 0.0) for k in range(len(self.frame))])

    @cached_property
    def limited_factor(self) -> Array:
        """(k,) the same with the limited muscles alone made stronger."""
        return np.array(
            [_factor_of(self.part, self.passive, k, who, 1.0) for k, who in enumerate(self.limited)]
        )

    @property
    def total(self) -> Array:
        """(k,) [N m], the sum of the sizes of the shortages."""
        return np.asarray(np.abs(self.shortage).sum(axis=1))

    def lacking(self, number: int) -> list[str]:
        """Degrees of freedom that lack something in one of the k frames, the largest shortage first."""
        size = np.abs(self.shortage[number])
        order = np.argsort(-size, kind="stable")
        return [self.dof[k] for k in order if size[k] > _SHOWN * size.max()]

    def limited_muscles(self, number: int) -> list[str]:
        """Names of the muscles at their limit in one of the k frames, the one that contributes most first."""
        order = np.argsort(-self.weight[number], kind="stable")
        return [self.muscle[i] for i in order if self.limited[number, i]]

    def sentence(
        self,
        number: int,
        time: ArrayLike | None = None,
        directions: Mapping[str, tuple[str, str]] | None = None,
    ) -> str:
        """The reason in words.

        Args:
            number: which of the k frames.
            time: (T,) [s] of all frames of the problem; the number of the frame is given without it.
            directions: what the positive and the negative moment of a degree of freedom are called.
        """
        frame = int(self.frame[number])
        when = f"in frame {frame}" if time is None else f"at {np.asarray(time, dtype=float)[frame]:.3f} s"
        parts = []
        for dof in self.lacking(number):
            short = self.shortage[number, self.dof.index(dof)]
            kind = (directions or {}).get(dof, ("positive moment", "negative moment"))[int(short < 0)]
            parts.append(f"{dof} lacks {_plain(abs(short))} N m of {kind}")
        return f"{_listed(parts)} {when}; {self._remedy(number)}"

    def _remedy(self, number: int) -> str:
        names = self.limited_muscles(number)
        if not names:
            return "no muscle can produce it"
        more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
        shown = _listed(names[:_NAMED] + more)
        verb, whose = ("is", "its") if len(names) == 1 else ("are", "their")
        remedy = "no strength would do"
        if np.isfinite(own := self.limited_factor[number]):
            remedy = f"{_factor(own)} times {whose} strength would do"
        elif np.isfinite(together := self.strength_factor[number]):
            remedy = f"{_factor(together)} times the strength of all muscles would do"
        return f"{shown} {verb} at {whose} limit; {remedy}"


def diagnose(
    problem: Problem,
    passive_force: ArrayLike | None = None,
    frames: Sequence[int] | NDArray[np.int64] | NDArray[np.bool_] | None = None,
) -> Diagnosis:
    """Find the infeasible frames of a problem and what is wrong with each.

    Args:
        problem: its reserves are left out of account; frames that are not valid are passed over.
        passive_force: (T, n) [N] passive tendon forces that grow with the strength; none unless given.
        frames: numbers of the frames to look at, or (T,) truth values; all unless given.

    Raises:
        InputError: passive forces that do not fit, or are negative or not finite in a valid frame; a frame that does
            not exist.
    """
    passive = _passive(a_problem(problem), passive_force)
    number = _chosen(problem, frames)
    found = [_least_shortage(problem, int(t)) for t in number]
    shortage = np.array([one[0] for one in found]).reshape(-1, problem.n_dof)
    proof = np.array([one[1] for one in found]).reshape(-1, problem.n_dof)
    short = is_proof(excess(problem.frames(number), proof)) if number.size else np.zeros(0, dtype=bool)
    number, shortage, proof = number[short], shortage[short], proof[short]
    part = problem.frames(number)
    pull = np.matmul(proof[:, None, :], part.moment_matrix)[:, 0, :]
    largest = np.abs(pull).max(axis=1, keepdims=True)
    limited = pull > _PULLS * np.maximum(largest, np.finfo(float).tiny)
    return Diagnosis(
        frame=number,
        shortage=shortage,
        certain=_certain(part),
        limited=limited,
        weight=np.where(limited, pull * part.upper, 0.0),
        proof=proof,
        muscle=problem.muscle or (),
        dof=problem.dof or (),
        part=part,
        passive=passive[number],
    )


def _chosen(
    problem: Problem, frames: Sequence[int] | NDArray[np.int64] | NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Numbers of the valid frames among those asked for."""
    if frames is None:
        return np.flatnonzero(problem.valid)
    number = _numbers(problem, frames)
    for unknown in number[(number < 0) | (number >= problem.n_frames)]:
        raise InputError(
            f"there is no frame {unknown}", where="diagnose", expected=f"0 to {problem.n_frames - 1}"
        )
    return number[problem.valid[number]]


def _numbers(problem: Problem, frames: object) -> NDArray[np.int64]:
    """Frames that are given by their numbers or by one truth value each."""
    given = np.asarray(frames)
    if given.dtype == bool and given.shape == (problem.n_frames,):
        return np.flatnonzero(given)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise InputError(
            f"the frames are {frames!r}",
            where="diagnose",
            expected=f"whole numbers, or {problem.n_frames} truth values",
        )
    return given.astype(np.int64).reshape(-1)


def _passive(problem: Problem, force: ArrayLike | None) -> Array:
    """Moments of the passive forces, (T, m, n) [N m]."""
    if force is None:
        return np.zeros_like(problem.moment_arm)
    shape = problem.force_capacity.shape
    given = an_array(force, "passive_force", f"{shape} or {shape[1:]} newtons")
    if given.shape not in (shape, shape[1:]):
        raise InputError(
            f"passive_force has the shape {given.shape}", where="diagnose", expected=f"{shape} or {shape[1:]}"
        )
    tension = np.broadcast_to(given, shape)
    for t, i in np.argwhere(problem.valid[:, None] & ~((tension >= 0) & np.isfinite(tension)))[:1]:
        raise InputError(
            f"passive_force is {tension[t, i]:g} for {(problem.muscle or ())[i]} in frame {t}",
            where="diagnose",
            expected="zero or more [N]",
        )
    return problem.moment_arm * tension[:, None, :]


def _least_shortage(problem: Problem, frame: int) -> tuple[Array, Array]:
    """The shortage of least sum and the multiplier that proves it."""
    matrix, dofs = problem.moment_matrix[frame], problem.n_dof
    cost = np.concatenate([np.zeros(problem.n_muscles), np.ones(2 * dofs)])
    found = _programme(
        cost,
        np.hstack([matrix, np.eye(dofs), -np.eye(dofs)]),
        problem.moment[frame],
        _box(problem, frame, 2 * dofs),
    )
    if found is None:
        raise MuscleSolveError(f"HiGHS finds no shortage in frame {frame}, though there always is one")
    x, price = found
    reserve = x[problem.n_muscles :]
    return reserve[:dofs] - reserve[dofs:], price


def _alone(problem: Problem, frame: int) -> Array:
    """(m,) the least shortage of each degree of freedom if no other lacks anything."""
    matrix, dofs = problem.moment_matrix[frame], problem.n_dof
    cost = np.concatenate([np.zeros(problem.n_muscles), np.ones(2)])
    least = np.full(dofs, np.inf)
    for k, unit in enumerate(np.eye(dofs)):
        rows = np.column_stack([matrix, unit, -unit])
        found = _programme(cost, rows, problem.moment[frame], _box(problem, frame, 2))
        if found is not None:
            least[k] = found[0][-2] - found[0][-1]
    return least


def _certain(problem: Problem) -> Array:
    """(T, m) by how much each moment by itself is beyond what all muscles together can do about it."""
    matrix = problem.moment_matrix
    low, high = matrix * problem.lower[:, None, :], matrix * problem.upper[:, None, :]
    least, most = np.minimum(low, high).sum(axis=2), np.maximum(low, high).sum(axis=2)
    return np.asarray(np.maximum(problem.moment - most, 0.0) + np.minimum(problem.moment - least, 0.0))


def _factor_of(problem: Problem, passive: Array, frame: int, who: NDArray[np.bool_], least: float) -> float:
    """Smallest factor on the strength of some muscles; infinite if none will do."""
    matrix, count = problem.moment_matrix[frame], problem.n_muscles
    if not who.any():
        return float("inf")
    moment = passive[frame][:, who].sum(axis=1)
    lower, upper = problem.lower[frame], problem.upper[frame]
    select = np.eye(count)[who]
    limits = np.vstack([np.hstack([select, -upper[who, None]]), np.hstack([-select, lower[who, None]])])
    bounds = [(0.0, None) if inside else (lo, up) for lo, up, inside in zip(lower, upper, who, strict=True)]
    found = _programme(
        np.append(np.zeros(count), 1.0),
        np.column_stack([matrix, moment]),
        problem.moment[frame] + moment,
        [*bounds, (least, None)],
        limits,
    )
    return float("inf") if found is None else float(found[0][-1])


def _box(problem: Problem, frame: int, more: int) -> list[tuple[float, float | None]]:
    inside = zip(problem.lower[frame].tolist(), problem.upper[frame].tolist(), strict=True)
    return [*inside, *([(0.0, None)] * more)]


def _programme(
    cost: Array,
    rows: Array,
    right: Array,
    bounds: Sequence[tuple[float, float | None]],
    limits: Array | None = None,
) -> tuple[Array, Array] | None:
    """Solution and multipliers of minimise cost . x, rows x = right, limits x <= 0; None if there is none."""
    from scipy.optimize import linprog

    below = None if limits is None else np.zeros(len(limits))
    found = linprog(cost, A_ub=limits, b_ub=below, A_eq=rows, b_eq=right, bounds=bounds)
    return (found.x, found.eqlin.marginals) if found.status == 0 else None


def _listed(parts: list[str]) -> str:
    """One, two and three."""
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def _plain(value: float) -> str:
    return f"{value:.1f}" if value >= 0.1 else f"{value:.2g}"


def _factor(value: float) -> str:
    """Rounded up, so that what is said would really do."""
    return f"{np.ceil(value * 100.0 - 1e-9) / 100.0:.2f}"

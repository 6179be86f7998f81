"""Diagnosis of infeasible frames: the missing moments, the muscles at their limit, how much stronger they should be.

Linear programs in the activations a and in reserves s = p - q, solved by a compiled simplex method (linear_program.py):

    least shortage                       minimize sum_k |s_k|   subject to A a + s = b,   lower <= a <= upper
    of one degree of freedom alone       minimize |s_k|         the same with all other s = 0
    of one degree of freedom in any case b_k beyond the range of row k of A a, by itself

The least shortage has two ends: the activations found lack s = b - A a, and the Farkas margin of y, less its round-off,
is a proof that no activations lack less (certificate.farkas_margin). A frame is infeasible where that margin is above
zero, be it by far less than the 1e-6 N m that `solve` allows.

The multiplier y of the first program is the proof: y . b exceeds y . A a for every admissible a by the least
shortage. The muscles that pull along y, (A^T y)_i > 0, are at their upper bound: the limited ones. The others are at
their lower bound; where its part of y . A a makes up the shortage, least activation is the cause. Without limited
muscles and least activation, the moments that y combines contradict each other, or no muscle has the arm for one.

Stronger muscles as a remedy: the strength of a muscle is its maximum isometric force. The force of the contractile
element grows with it, the passive force does not, so that a factor phi on some muscles turns

    A a = b    into    sum_i phi_i A_i a_i = b,

which has a solution from some factor on, or never. With u = phi a it is a linear program in u and phi; the factor is
verified by solving.

Passive forces as the cause, stretched fibers whose moment the other muscles cannot balance: with P = moment_arm *
passive force, and r_i the removed part of the passive force of a muscle,

    least shortage with smaller passive forces    minimize sum_k |s_k|   subject to A a - P r + s = b,   0 <= r <= 1

The muscles in question follow from the proof y of the shortage: those with y . P_i < 0 oppose it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_real_array
from musclesolve._util.messages import as_text, enumerated, with_sizes
from musclesolve.errors import input_error
from musclesolve.sharing.analysis.linear_program import Optimum, blocks, minimize, missed
from musclesolve.sharing.analysis.strength_margin import least_moment, least_strength
from musclesolve.sharing.arguments import check_problem
from musclesolve.sharing.certificate import farkas_margin, within_domain
from musclesolve.sharing.cost.cost_base import Cost, fit
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import refuse_numbers
from musclesolve.sharing.problem_scale import exact_moments, without_reserve
from musclesolve.sharing.solving import solve

_PULLS = 1e-9  # a muscle pulls along the proof if (A^T y)_i is more than this share of the largest |A_ki y_k|
_REPORTED = 1e-3  # shortages below this share of the largest one of the frame are not reported
_NAMED, _SHOWN = 3, 10
_ZERO = 1e-9  # moments below this are reported as none [N m]
MAIN_PART = 0.5
"""Passive forces are named as the cause where they make up at least this share of the shortage."""
WIDE = 0.01
"""Share of the missing moments beyond which the gap between those found and those proved is stated."""
_NEGLIGIBLE = 1e-3  # muscles that oppose the proof by less than this share of all together are not named
_DECIMALS = (2, 3, 4)  # decimals of the factors that are tried; the fewest that suffice are reported


Directions = Mapping[str, tuple[str, str]]
"""What the positive and the negative moment of a degree of freedom are called."""


@dataclass(frozen=True, eq=False)
class PassiveCause:
    """Passive forces that oppose the moments of a frame."""

    muscles: NDArray[np.intp]  # their numbers, the one that opposes most first
    dof: int  # number of the degree of freedom at which they oppose most
    moment: float  # of these passive forces there [N m], signed
    needed: float  # net moment of that degree of freedom, passive and active together [N m], signed


@dataclass(frozen=True, eq=False)
class Remedy:
    """A factor on the strength of some muscles that makes a frame feasible, verified by solving the frame."""

    factor: float  # more than one
    muscles: Mask  # (n,) the muscles whose strength is multiplied
    also_of_all: bool  # whether the same factor on the strength of all muscles suffices as well


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Causes of infeasibility of the k infeasible frames of a problem.

    Attributes:
        frame: (k,) numbers of the infeasible frames.
        shortage: (k, m) [N m], signed: the moments that the muscles lack at the activations found, with the least sum
            of their sizes; 0 where it is no more than round-off.
        proved: (k,) [N m]: the sum of the sizes of missing moments is at least this, by `proof`. It is the lower end of
            `total`.
        certain: (k, m) [N m], signed: the shortage whatever the other degrees of freedom lack, less round-off.
        limited: (k, n) the muscles that could help, but are at their upper bound.
        weight: (k, n) [N m], contribution of the limited muscles along the proof; messages name the largest first.
        proof: (k, m) Farkas multipliers y of the first program above; verified.
        muscle: n names.
        dof: m names.

    Properties that need linear programs of their own are computed on first use, from `part`, the k frames of the
    problem, and `passive`, the moments of their passive forces (k, m, n) [N m].
    """

    frame: NDArray[np.int64]
    shortage: Array
    proved: Array
    certain: Array
    limited: Mask
    weight: Array
    proof: Array
    muscle: tuple[str, ...]
    dof: tuple[str, ...]
    part: Problem = field(repr=False)
    passive: Array = field(repr=False)

    __repr__ = with_sizes

    def __str__(self) -> str:
        """A sentence on each of the first infeasible frames."""
        count = len(self.frame)
        said = [self.sentence(k) for k in range(min(count, _SHOWN))]
        rest = [f"and {count - _SHOWN} more infeasible frames"] * (count > _SHOWN)
        return "\n".join([*said, *rest]) or "Every frame is feasible."

    @cached_property
    def alone(self) -> Array:
        """The least shortage (k, m) [N m], signed, if no other moment is lacking; infinite where none suffices."""
        least = np.stack([least_moment(self.part, dof) for dof in range(self.part.n_dof)], axis=1)
        return np.where(np.isnan(least), np.inf, least)

    @cached_property
    def strength_factor(self) -> Array:
        """The smallest factor (k,) above one on the strength of all muscles that makes the frame feasible.

        Infinite if there is none.
        """
        return _smallest_factor(self.part, np.ones(self.limited.shape[1], dtype=bool))

    @cached_property
    def limited_factor(self) -> Array:
        """The smallest factor (k,) on the strength of the limited muscles alone; infinite if there is none."""
        frames = [self.part.frames(np.array([k])) for k in range(len(self.frame))]
        factors = [_smallest_factor(frame, weak) for frame, weak in zip(frames, self.limited, strict=True)]
        return np.concatenate([np.empty(0), *factors])

    @cached_property
    def passive_shortage(self) -> Array:
        """The part (k,) [N m] of `total` due to passive forces: the decrease if they could be smaller."""
        count, dofs = self.passive.shape[2], self.part.n_dof
        further = np.concatenate([-self.passive, _either_way(self.part)], axis=2)
        cost, most = (
            np.append(np.zeros(count), np.ones(2 * dofs)),
            np.append(np.ones(count), [np.inf] * 2 * dofs),
        )
        less = _least(self.part, further, cost, most).x[:, -2 * dofs :].sum(axis=1)
        return np.maximum(self.total - np.nan_to_num(less, nan=np.inf), 0.0)

    def passive_cause(self, number: int) -> PassiveCause | None:
        """Return the passive forces that cause most of the shortage of one of the k frames, if passive forces do."""
        proof, passive, main = self.proof[number], self.passive[number], MAIN_PART * self.total[number]
        opposition = -(proof @ passive)
        total = max(float(np.maximum(opposition, 0.0).sum()), np.finfo(float).tiny)
        # by duality `passive_shortage` is at most `total`, so that most frames need no linear program
        if total < 0.999 * main or self.passive_shortage[number] < main:
            return None
        muscles = np.flatnonzero(opposition > _NEGLIGIBLE * total)
        if not muscles.size:
            return None
        muscles = muscles[np.argsort(-opposition[muscles], kind="stable")]
        dof = int((-(proof[:, None] * passive[:, muscles]).sum(axis=1)).argmax())
        net_moment = float(self.part.moment[number, dof] + passive[dof].sum())
        return PassiveCause(muscles, dof, float(passive[dof, muscles].sum()), net_moment)

    def without_passive(self, number: int) -> bool:
        """Return whether one of the k frames is feasible without passive forces, by solving the frame."""
        frame = self.part.frames(np.array([number]))
        if frame.passive_force is None:
            return False
        moment = frame.moment + np.einsum("tmn,tn->tm", frame.moment_arm, frame.passive_force)
        return _suffices(frame.with_arrays(moment=moment, passive_force=None))

    def _too_active(self, number: int) -> list[str]:
        """Names of the muscles whose least activation makes up the shortage of one of the k frames, the most first."""
        opposition = -(self.proof[number] @ self.part.moment_matrix[number]) * self.part.lower[number]
        total = float(np.maximum(opposition, 0.0).sum())
        named = (opposition > _NEGLIGIBLE * total) & (total >= 0.999 * self.total[number])
        return [self.muscle[i] for i in np.argsort(-opposition, kind="stable") if named[i]]

    def remedy(self, number: int) -> Remedy | None:
        """Return the strength factor that makes one of the k frames feasible; None where no single factor does.

        First choice is a factor that suffices both for the limited muscles and for all muscles, then a factor for all
        muscles (`strength` of a trial file), then a factor for the limited muscles alone, unless passive forces are
        the cause. The frame has been solved with the factor.
        """
        self._check(number)
        all_muscles = np.ones_like(self.limited[number])
        limited = self._verified(number, self.limited[number], self.limited_factor[number])
        if limited is not None and limited.also_of_all:
            return limited
        together = self._verified(number, all_muscles, self.strength_factor[number])
        if together is not None or self.passive_cause(number) is not None:
            return together
        return limited

    def _verified(self, number: int, chosen: Mask, least: float) -> Remedy | None:
        """Return the factor with the fewest decimals, at least `least`, on the chosen muscles (n,) that solves the
        frame.

        Numbers just above `least` are tried, since a frame exactly at the limit may not be solved; None if all fail.
        """
        if not np.isfinite(least):
            return None
        frame = self.part.frames(np.array([number]))

        def suffices(factors: Array | float) -> bool:  # on the strengths; passive forces do not change
            names = ("force_capacity", "fiber_force_capacity", "max_isometric_force")
            arrays = {name: array for name in names if (array := getattr(frame, name)) is not None}
            stronger = frame.with_arrays(**{name: array * factors for name, array in arrays.items()})
            return _suffices(stronger)

        for decimals in _DECIMALS:
            first = np.ceil(least / 10.0**-decimals - 1e-6)
            for step in (first, first + 1.0):
                factor = round(float(step * 10.0**-decimals), decimals)
                if factor > 1.0 and suffices(np.where(chosen, factor, 1.0)):
                    return Remedy(factor, chosen, bool(chosen.all()) or suffices(factor))
        return None

    @property
    def total(self) -> Array:
        """The sum (k,) [N m] of the sizes of the shortages of each frame, as found."""
        return np.asarray(np.abs(self.shortage).sum(axis=1))

    @property
    def gap(self) -> Array:
        """The distance (k,) [N m] of `total`, which is found, from what is proved."""
        return np.maximum(self.total - self.proved, 0.0)

    def _check(self, number: int) -> None:
        """Refuse another number than one of the k infeasible frames."""
        count = len(self.frame)
        if not isinstance(number, Integral) or not -count <= number < count:
            fault = (
                f"there is no frame {as_text(number)} among the {count} infeasible frames of the diagnosis"
            )
            expected = "0 to k - 1 for the k frames in `frame`; with k = 0 there is nothing to explain"
            remedy = "" if count else "after soft_saturation: diagnose(problem, cost='soft_saturation')"
            raise input_error("bad_value", where="number", problem=fault, expected=expected, remedy=remedy)

    def lacking(self, number: int) -> list[str]:
        """Names of the degrees of freedom that lack a moment in one of the k frames, the largest shortage first."""
        self._check(number)
        size = np.abs(self.shortage[number])
        order = np.argsort(-size, kind="stable")
        return [self.dof[k] for k in order if size[k] > _REPORTED * size.max()]

    def limited_muscles(self, number: int) -> list[str]:
        """Names of the muscles at their limit in one of the k frames, the one that contributes most first."""
        self._check(number)
        order = np.argsort(-self.weight[number], kind="stable")
        return [self.muscle[i] for i in order if self.limited[number, i]]

    def sentence(
        self, number: int, time: ArrayLike | None = None, directions: Directions | None = None
    ) -> str:
        """The reason why one of the k frames is infeasible, as a sentence.

        Args:
            number: which of the k frames.
            time: (T,) [s] of all frames of the problem; the number of the frame is given without it.
            directions: what the positive and the negative moment of a degree of freedom are called.
        """
        self._check(number)
        frame, names = int(self.frame[number]), directions or {}
        times = np.asarray([] if time is None else time, dtype=float)
        if time is not None and (times.ndim != 1 or len(times) <= self.frame[-1]):
            expected = "the times (T,) of all frames of the problem"
            raise input_error("bad_shape", name="time", shape=times.shape, expected=expected)
        when = f"in frame {frame}" if time is None else f"at {times[frame]:.3f} s"
        short = {dof: self.shortage[number, self.dof.index(dof)] for dof in self.lacking(number)}
        parts = [f"{dof} lacks {moment_text(value, dof, names)}" for dof, value in short.items()]
        clauses = [f"{enumerated(parts)} {when}", at_limit(self.limited_muscles(number))]
        if self.gap[number] > WIDE * self.total[number]:
            clauses.insert(1, f"at least {self.proved[number]:.2g} N m are proved to be missing")
        cause, too_active = self.passive_cause(number), self._too_active(number)
        matrix = self.part.moment_matrix[number]
        if cause is not None:
            dof = self.dof[cause.dof]
            clauses.append(
                f"the passive force of {first_names([self.muscle[i] for i in cause.muscles])} gives "
                f"{moment_text(cause.moment, dof, names)} at {dof}, where the motion needs "
                f"{moment_text(cause.needed, dof, names)}"
            )
        if cause is not None and self.without_passive(number):
            clauses.append("without passive forces the muscles would suffice")
        elif (remedy := self.remedy(number)) is not None and (remedy.also_of_all or not too_active):
            digits = max(2, len(f"{remedy.factor:.4f}".rstrip("0").partition(".")[2]))
            whose = "its strength" if self.limited[number].sum() == 1 else "their strength"
            if remedy.muscles.all() and not self.limited[number].all():
                whose = "the strength of all muscles"
            alone = "" if remedy.also_of_all else " alone"
            clauses.append(f"{remedy.factor:.{digits}f} times {whose}{alone} would suffice")
        elif too_active:
            clauses.append(f"the least activation of {first_names(too_active)} is too large")
            bare = self.part.frames(np.array([number]))
            if _suffices(bare.with_arrays(lower=np.zeros_like(bare.lower))):
                clauses.append("without it the muscles would suffice")
        elif not self.limited[number].any():
            rows = self.proof[number][:, None] * matrix
            least = _REPORTED * np.abs(rows).max()
            together = [self.dof[k] for k in np.flatnonzero((np.abs(rows) > least).any(axis=1))]
            contradiction = f"the moments of {' and '.join(together)} contradict each other at any strength"
            clauses.append(contradiction if (rows > least).any() else "no muscle can produce it")
        elif np.isnan(more := _more_strength(self.part.frames(np.array([number])))).any():
            clauses.append("no strength would suffice")
        elif not np.isfinite([self.strength_factor[number], self.limited_factor[number]]).any():
            pulling = more > _PULLS * more.max()
            stronger = [self.muscle[i] for i in np.flatnonzero(pulling)]
            clauses.append(
                f"more strength of {first_names(stronger)} alone would suffice" if stronger else ""
            )
        return "; ".join(part for part in clauses if part)


def diagnose(
    problem: Problem,
    passive_force: ArrayLike | None = None,
    frames: Sequence[int] | NDArray[np.int64] | Mask | None = None,
    cost: str | Cost | None = None,
) -> Diagnosis:
    """Find the infeasible frames of a problem and the reasons.

    Args:
        problem: its reserves are ignored; where some moments have no reserve, the moments with one are left out.
            Frames that are not valid are left out.
        passive_force: (T, n) [N] passive tendon forces; the problem's unless given.
        frames: numbers of the frames to diagnose, or (T,) truth values; all unless given.
        cost: the cost that was minimized. `soft_saturation` ends at the maximum isometric force of a muscle; a least
            activation beyond this end counts as the end.

    Raises:
        InputError: passive forces that do not fit, or are negative or not finite in a valid frame; a frame that does
            not exist.

    Examples:
        >>> weak = ms.Problem(np.array([[0.05, 0.03]]), np.array([60.0]), np.array([600.0, 400.0]), np.full(2, 600.0))
        >>> diagnosis = ms.diagnose(weak)
        >>> diagnosis.shortage.round(1).tolist()         # 60 N m less 0.05 * 600 + 0.03 * 400
        [[18.0]]
    """
    shape, tension = check_problem(problem).force_capacity.shape, problem.passive_force
    if without_reserve(problem).any():
        problem = exact_moments(problem)
    if cost is not None:
        problem = within_domain(problem, fit(find_cost(cost), problem))
        problem = problem.with_arrays(lower=np.minimum(problem.lower, problem.upper))
    if passive_force is not None:
        expected, shapes = f"{shape} or {shape[1:]} newtons", (shape, shape[1:])
        tension = check_real_array(passive_force, "passive_force", expected, where="diagnose", shapes=shapes)
        tension = np.broadcast_to(tension, shape)
    if tension is not None:
        bad = problem.valid[:, None] & ~((tension >= 0) & np.isfinite(tension))
        refuse_numbers(tension, bad, "passive_force", problem.muscle or (), "zero or more [N]", "diagnose")
        if passive_force is not None:
            problem = replace(problem, passive_force=np.where(problem.valid[:, None], tension, np.nan))

    # the numbers of the valid frames among the requested ones
    chosen, count = np.asarray(problem.valid if frames is None else frames), problem.n_frames
    if chosen.dtype == bool and chosen.shape == (count,):
        chosen = np.flatnonzero(chosen)
    if chosen.size and not np.issubdtype(chosen.dtype, np.integer):
        fault, expected = f"the frames are {as_text(frames)}", f"whole numbers, or {count} truth values"
        raise input_error("bad_type", where="diagnose", problem=fault, expected=expected)
    number = chosen.astype(np.int64).reshape(-1)
    for unknown in number[(number < 0) | (number >= count)]:
        fault = f"there is no frame {unknown}"
        raise input_error("bad_number", where="diagnose", problem=fault, expected=f"0 to {count - 1}")
    number = number[problem.valid[number]]
    empty, parts = (
        np.empty((0, problem.n_dof)),
        [_shortage(problem.frames(which)) for which in blocks(number)],
    )
    shortage, proof = (
        (np.concatenate([empty, *arrays]) for arrays in zip(*parts, strict=True)) if parts else 2 * [empty]
    )
    part = problem.frames(number)
    proved = farkas_margin(part, proof)
    short = proved > 0.0
    number, shortage, proof, proved, part = (
        number[short],
        shortage[short],
        proof[short],
        proved[short],
        part.frames(short),
    )
    passive = 0.0 if part.passive_force is None else part.passive_force[:, None, :]
    pull = part.pull(proof)
    largest = np.abs(proof[:, :, None] * part.moment_matrix).max(axis=(1, 2), keepdims=True)[:, 0]
    limited = pull > _PULLS * np.maximum(largest, np.finfo(float).tiny)
    certain = certain_shortage(part)
    weight, passive = np.where(limited, pull * part.upper, 0.0), part.moment_arm * passive
    names = problem.muscle or (), problem.dof or ()
    return Diagnosis(number, shortage, proved, certain, limited, weight, proof, *names, part, passive)


def certain_shortage(problem: Problem) -> Array:
    """By how much each moment is beyond the range that all muscles together have for it, (T, m) [N m], signed.

    Less round-off: whatever other degrees of freedom lack, this one lacks so much.
    """
    certain = np.zeros_like(problem.moment)
    for k, unit in enumerate(np.eye(problem.n_dof)):
        above, below = (
            farkas_margin(problem, sign * np.tile(unit, (len(certain), 1))) for sign in (1.0, -1.0)
        )
        certain[:, k] = np.maximum(above, 0.0) - np.maximum(below, 0.0)
    return certain


def _shortage(problem: Problem) -> tuple[Array, Array]:
    """The moments (T, m) that frames lack, with the least sum of their sizes, and its multipliers (T, m).

    Zero, without a proof, where round-off stops the simplex method: arms alike to 1e-12 leave the frame undecided.
    """
    optimum = _least(problem, _either_way(problem), np.ones(2 * problem.n_dof))
    lacking, rounding = missed(problem, optimum.x[:, : problem.n_muscles])
    return np.where(np.abs(lacking) > rounding, lacking, 0.0), np.nan_to_num(optimum.multiplier)


def _least(problem: Problem, further: Array, weight: Array, most: Array | float = np.inf) -> Optimum:
    """Minimize weight . x for A a + further x = b, lower <= a <= upper, 0 <= x <= most; the unknowns are a, then x.

    The columns `further` (T, m, k) belong to x, weight and most are (k,).
    """
    frames, count, more = problem.n_frames, problem.n_muscles, len(weight)
    matrix = np.concatenate([problem.moment_matrix, further], axis=2)
    lower = np.hstack([problem.lower, np.zeros((frames, more))])
    upper = np.hstack([problem.upper, np.broadcast_to(most, (frames, more))])
    return minimize(matrix, problem.moment, lower, upper, np.append(np.zeros(count), weight))


def _either_way(problem: Problem) -> Array:
    """Columns (T, m, 2 m) of moments of either sign about each degree of freedom."""
    identity = np.eye(problem.n_dof)
    return np.broadcast_to(
        np.hstack([identity, -identity]), (problem.n_frames, problem.n_dof, 2 * problem.n_dof)
    )


def _more_strength(problem: Problem) -> Array:
    """The least sum of activations (n,) beyond all bounds that makes a single frame feasible; NaN if none does."""
    count = problem.n_muscles
    return _least(problem, problem.moment_matrix, np.ones(count)).x[0, count:]


def _smallest_factor(problem: Problem, chosen: Mask) -> Array:
    """Smallest factor (T,), at least 1, on the strength of the chosen muscles (n,); infinite if none suffices."""
    if not chosen.any():
        return np.full(problem.n_frames, np.inf)
    factor = least_strength(problem.with_arrays(passive_force=None), chosen, 1.0, np.inf).found
    return np.where(np.isnan(factor), np.inf, factor)


def _suffices(problem: Problem) -> bool:
    """Whether all frames are solved without reserves, and activations produce their moments to round-off."""
    solution = solve(problem.with_arrays(reserve_weight=None, single_frame=False), "force_squared")
    return bool(solution.solved.all()) and not _shortage(problem)[0].any()


def moment_text(moment: float, dof: str, directions: Directions) -> str:
    """Describe a signed moment [N m] about a degree of freedom, with the word for its direction."""
    size = abs(moment)
    if size < _ZERO:
        return "no moment"
    positive, negative = directions.get(dof, ("positive moment", "negative moment"))
    return f"{size:{'.1f' if size >= 0.1 else '.2g'}} N m of {negative if moment < 0 else positive}"


def at_limit(names: list[str]) -> str:
    """A clause that names the muscles at their limit; empty without names."""
    verb, possessive = ("is", "its") if len(names) == 1 else ("are", "their")
    return f"{first_names(names)} {verb} at {possessive} limit" if names else ""


def first_names(names: list[str]) -> str:
    """The first three names, and how many more there are."""
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return enumerated(names[:_NAMED] + more)

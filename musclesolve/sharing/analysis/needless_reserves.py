"""Reserves that a stated weight makes cheaper than activation, although the muscles could bear the whole moment.

Frames with a reserve are solved again without reserves. Over the frames that are then certified, within the reach of
the muscles, reserves bear of the moment of a degree of freedom

    share_k = sum_t |s_tk| / sum_t |b_tk|

More than LEAST_SHARE is a warning. The weight that it names has been tried: with it reserves bear at most LEAST_SHARE.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import count_of, enumerated
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.sharing.cost.cost_base import Cost, fit
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import without_reserve
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver.solver_registry import REGISTRY, Solver, able_solver
from musclesolve.sharing.status import Status

LEAST_SHARE = 0.01
MOST_FRAMES = 50
"""Largest number of frames, spread over the motion, that are looked at where a solver takes one after the other."""
TRIES, STEP = 24, 4.0
"""Largest number of weights that are tried, and the factor between them."""
MOST_NAMED = 3
"""Largest number of degrees of freedom that the sentence names."""

Solve = Callable[[Problem, Cost, Solver], Solution]


@dataclass(frozen=True, eq=False)
class NeedlessReserves:
    """Reserves in frames whose moments the muscles could bear, of k degrees of freedom, the largest share first.

    Attributes:
        dof: k names.
        share: (k,) of the moment that the reserve bears in these frames.
        reserve: (k,) [N m] size of the largest such reserve.
        moment: (k,) [N m] size of the moment in the same frame, which the muscles could bear.
        frame: (k,) the number of this frame.
        frames: number of frames with reserves that the muscles do not need.
        looked_at: number of frames with reserves that were looked at.
        weight: of the reserves [cost per (N m)^2]; NaN where it is not the same everywhere.
        of_all: whether all moments have a weight, none an infinite one.
        factor: by which the weights have to be multiplied so that reserves bear at most LEAST_SHARE; NaN where none of
            the factors that were tried suffices.
    """

    dof: tuple[str, ...]
    share: Array
    reserve: Array
    moment: Array
    frame: Array
    frames: int
    looked_at: int
    weight: float
    of_all: bool
    factor: float

    @property
    def sentence(self) -> str:
        """The reserves, what the muscles could bear, and what to do."""
        of_weight, change = "the stated weights", f"multiply reserve_weight by {self.factor:g}"
        if np.isfinite(self.weight):
            entries = "reserve_weight" if self.of_all else "the finite entries of reserve_weight"
            of_weight, change = f"weight {self.weight:g}", f"raise {entries} to {self.weight * self.factor:g}"
        rows = zip(self.dof, self.share, self.reserve, self.moment, self.frame, strict=True)
        parts = [
            f"{_percent(share)} % of the moment of {dof} ({reserve:.3g} of {moment:.3g} N m in frame {frame:.0f})"
            for dof, share, reserve, moment, frame in rows
        ]
        more = len(parts) - MOST_NAMED
        named = enumerated(parts[:MOST_NAMED] + ([f"{count_of(more, 'further moment')}"] if more > 0 else []))
        where = count_of(self.frames, "frame")
        if self.looked_at > self.frames:
            where = f"{self.frames} of {self.looked_at} frames with reserves"
        remedy = "leave reserve_weight out and state on_infeasible='reserve'"
        if np.isfinite(self.factor):
            remedy = f"{change}, with which they bear at most {100 * LEAST_SHARE:g} %, or {remedy}"
        return f"Reserves of {of_weight} bear {named} in {where}, although the muscles could bear all of it: {remedy}."


def needless_reserves(
    problem: Problem, cost: Cost, solution: Solution, solve: Solve
) -> NeedlessReserves | None:
    """The stated reserves that bear more than LEAST_SHARE of what the muscles could bear; None without such reserves.

    Args:
        problem: its `reserve_weight` is the stated one; there may be none.
        cost: that was minimized. A cost of levels (min/max) makes its reserves as small as possible.
        solution: of this problem under this cost.
        solve: the solution of a problem under a cost by a solver, with a certificate (`solve_part`).
    """
    helped = np.flatnonzero(np.atleast_1d(solution.status) == Status.SOLVED_WITH_RESERVE)
    if problem.reserve_weight is None or not helped.size or "linear_program" in cost.needs:
        return None
    problem = problem.with_arrays(single_frame=False)
    cost = fit(cost, problem)
    method = able_solver(cost)
    if not REGISTRY[method.name].batched and helped.size > MOST_FRAMES:
        helped = helped[np.linspace(0, helped.size - 1, MOST_FRAMES).astype(np.int64)]
    alone = solve(problem.with_arrays(reserve_weight=None).frames(helped), cost, method)
    within = helped[np.atleast_1d(alone.status) == Status.SOLVED]
    part, stated = problem.frames(within), ~without_reserve(problem)[within]
    reserve = np.where(stated, np.abs(np.atleast_2d(solution.reserve)[within]), 0.0)
    share = _share(reserve, part.moment)
    if not (share > LEAST_SHARE).any():
        return None
    weights = np.asarray(part.reserve_weight)[stated]
    weight = float(weights[0]) if (weights == weights[0]).all() else np.nan
    order = np.argsort(-share, kind="stable")[: int((share > LEAST_SHARE).sum())]
    worst = reserve.argmax(axis=0)[order]
    unit = weight if np.isfinite(weight) else 1.0
    return NeedlessReserves(
        dof=tuple((problem.dof or ())[k] for k in order),
        share=share[order],
        reserve=reserve[worst, order],
        moment=np.abs(part.moment[worst, order]),
        frame=within[worst].astype(np.float64),
        frames=int(within.size),
        looked_at=int(helped.size),
        weight=weight,
        of_all=bool(stated.all()),
        factor=_factor(part, cost, method, solve, min(float(share.max()), 1.0), unit),
    )


def _share(reserve: Array, moment: Array) -> Array:
    """The share (m,) of moments (T, m) that reserves (T, m) bear, over the frames with a reserve."""
    helped = needs_reserve(reserve, moment).any(axis=1)
    borne, whole = np.abs(reserve[helped]).sum(axis=0), np.abs(moment[helped]).sum(axis=0)
    return np.divide(borne, whole, out=np.where(borne > 0, np.inf, 0.0), where=whole > 0)


def _percent(share: float) -> str:
    """A share in percent, with two digits at least."""
    return f"{100 * share:.{0 if share >= 0.1 else 2}{'f' if share >= 0.1 else 'g'}}"


def _factor(part: Problem, cost: Cost, method: Solver, solve: Solve, share: float, unit: float) -> float:
    """The factor on the weights with which reserves bear at most LEAST_SHARE, tried on frames within reach.

    unit: the weight whose product with the factor has two digits.
    """
    factor = share / LEAST_SHARE
    for _ in range(TRIES):
        digit = 10.0 ** (np.floor(np.log10(factor * unit)) - 1.0)
        factor = float(np.ceil(factor * unit / digit) * digit / unit)
        stiffer = part.with_arrays(reserve_weight=factor * np.asarray(part.reserve_weight))
        found = solve(stiffer, cost, method)
        if found.solved.all() and (_share(found.reserve, part.moment) <= LEAST_SHARE).all():
            return factor
        factor *= STEP
    return np.nan

"""Check of reserves: small enough for the muscle forces to be used, or not.

A reserve is a moment that no muscle produces. Its largest size is compared with the peak of the joint's moment over the
motion. The usual limit is a tenth of the peak, the checklist of OpenSim; the strict one is half of that. On such limits
see Hicks et al. 2015, J Biomech Eng 137:020905. Both can be set.

Reserves are found: they are what the activations of a solution lack of the moments. What every sharing needs is proved
(`proved`), and may be less: reserves that cost little bear more than they have to.

A reserve of at most 1 N m always counts as small: moments of toes may have lower peaks, and no joint moment is known
to 1 N m (a center of pressure 2 mm aside is 1 N m under 500 N).
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve._util.checks import check_choice, check_real_array
from musclesolve._util.messages import as_text, with_sizes
from musclesolve.errors import input_error
from musclesolve.sharing.certificate import needs_reserve

if TYPE_CHECKING:
    from musclesolve.sharing.problem import Problem
    from musclesolve.sharing.solution import Solution

STRICT, USUAL_SHARE = 0.05, 0.10
NEGLIGIBLE = 1.0
"""A reserve up to this size [N m] always counts as small."""
MOST_STRETCHES = 3
"""Number of stretches of frames that `worst_frames` picks."""


class Verdict(StrEnum):
    """The verdict on the reserves of one degree of freedom."""

    NONE = "none"
    SMALL = "small"
    TOLERABLE = "tolerable"
    LARGE = "large"


@dataclass(frozen=True, eq=False)
class ReserveCheck:
    """The reserves of a motion, (m,) each.

    Attributes:
        dof: m names.
        peak: largest size of the reserve [N m], as found.
        proved: largest size of the reserve that every sharing needs [N m], whatever reserves the other degrees of
            freedom have: the moment beyond the range of all muscles together, less round-off. The least peak lies
            between `proved` and `peak`. NaN where no problem is known, as of a stored result.
        moment_peak: largest size of the moment [N m].
        share: peak / moment_peak; infinite for a reserve where there is no moment.
        rms_share: root mean square of the reserve over the root mean square of the moment.
        weight: largest weight of the reserve where it was needed [cost per (N m)^2]; NaN where it never was.
        verdict: NONE; SMALL up to the strict limit or up to NEGLIGIBLE; TOLERABLE up to the usual one; LARGE beyond.
        limits: strict and usual.
    """

    dof: tuple[str, ...]
    peak: Array
    proved: Array
    moment_peak: Array
    share: Array
    rms_share: Array
    weight: Array
    verdict: tuple[Verdict, ...]
    limits: tuple[float, float]

    __repr__ = with_sizes

    @property
    def worst(self) -> int:
        """Number of the degree of freedom that decides the verdict on the motion; see `worst_reserve`."""
        return worst_reserve(self.peak, self.share, self.limits[1])

    def sentence(self, dof: str) -> str:
        """The verdict on one degree of freedom as a sentence."""
        check_choice(dof, "dof", self.dof, where="sentence")
        k = self.dof.index(dof)
        verdict, limit = self.verdict[k], self.limits[int(self.verdict[k] is not Verdict.SMALL)]
        if verdict is Verdict.NONE:
            if self.proved[k] > 0.0:
                lacking = f"{self.proved[k]:.1g} N m are proved to be missing"
                return f"{dof} needs no reserve beyond what a solved frame may miss, though {lacking}"
            return f"{dof} needs no reserve"
        if self.peak[k] <= NEGLIGIBLE:
            return (
                f"the reserve of {dof} reaches {self.peak[k]:.2g} N m, at most {NEGLIGIBLE:g} N m: {verdict}"
            )
        if not np.isfinite(self.share[k]):
            return f"the reserve of {dof} has no joint moment to compare with"
        percent = 100.0 * self.share[k]
        reached = f"{percent:.0f}" if percent >= 10.0 else f"{percent:.2g}"
        side = "beyond" if verdict is Verdict.LARGE else "within"
        return (
            f"the reserve of {dof} reaches {reached} % of its peak moment, {side} the limit of "
            f"{100.0 * limit:g} %: {verdict}"
        )


def check_reserves(
    problem: "Problem",
    solution: "Solution",
    moment: ArrayLike | None = None,
    limits: tuple[float, float] = (STRICT, USUAL_SHARE),
) -> ReserveCheck:
    """Compare the reserves of the solved frames with the moments of all valid frames.

    Args:
        moment: (T, m) [N m] joint moments to compare with; the moments of the problem, from which passive forces have
            been subtracted, unless given.
        limits: strict and usual, as shares of the peak moment.

    Raises:
        InputError: a solution of another problem, moments that do not fit or are not finite in a valid frame, limits
            that are not 0 < strict <= usual.
    """
    pair = check_real_array(limits, "limits", "0 < strict <= usual")
    if pair.shape != (2,) or not 0 < pair[0] <= pair[1] < np.inf:
        fault = f"the limits are {as_text(limits)}"
        raise input_error("bad_range", where="check_reserves", problem=fault, expected="0 < strict <= usual")
    from musclesolve.sharing.arguments import check_problem, check_solution  # results need none
    from musclesolve.sharing.problem_arrays import refuse_numbers

    check_solution(check_problem(problem), solution)
    compared, shape = problem.moment, problem.moment.shape
    if moment is not None:
        shapes, expected = (shape, shape[1:]) if len(compared) == 1 else (shape,), f"{shape} newton meters"
        compared = np.atleast_2d(
            check_real_array(moment, "moment", expected, where="check_reserves", shapes=shapes)
        )
        unknown = problem.valid[:, None] & ~np.isfinite(compared)
        expected = "a number in every valid frame [N m]"
        refuse_numbers(
            compared, unknown, "moment", problem.dof or (), expected, "check_reserves", "not_finite"
        )
    from musclesolve.sharing.analysis.diagnosis import certain_shortage

    solved = np.atleast_1d(solution.solved)
    lacking, needed = np.array(np.atleast_2d(solution.reserve)), np.zeros(shape)
    part = problem.frames(solved)
    lacking[solved] = part.moment - part.produced(np.atleast_2d(solution.activation)[solved])
    needed[solved] = np.abs(certain_shortage(part))
    found = replace(solution, reserve=lacking.reshape(np.shape(solution.reserve)))
    return reserve_check(problem.dof or (), found, compared, problem.valid, (pair[0], pair[1]), needed)


def reserve_check(
    dof: tuple[str, ...],
    solution: "Solution",
    compared: Array,
    valid: Mask,
    limits: tuple[float, float] = (STRICT, USUAL_SHARE),
    needed: Array | None = None,
) -> ReserveCheck:
    """Compare the reserves of a solution with moments (T, m) [N m] in the valid frames (T,), as in `check_reserves`.

    needed: (T, m) [N m] the reserves that every sharing needs, if they are known.
    """
    strict, usual = map(float, limits)
    solved = np.atleast_1d(solution.solved)
    reserve = np.atleast_2d(solution.reserve)[solved]
    weight = np.atleast_2d(solution.reserve_weight)[solved]
    helped = needs_reserve(reserve, compared[solved]) & np.isfinite(weight)
    reserve, size = np.where(helped, np.abs(reserve), 0.0), np.abs(compared[valid])
    peak, top = (x.max(axis=0, initial=0.0) for x in (reserve, size))
    rms, rms_moment = (np.sqrt((x**2).sum(axis=0) / max(len(x), 1)) for x in (reserve, size))
    proved = np.full(len(dof), np.nan) if needed is None else needed.max(axis=0, initial=0.0)
    share = share_of_peak(peak, top)
    largest = np.where(helped, weight, 0.0).max(axis=0, initial=0.0)
    # a share is the first of these that it does not exceed
    number = np.searchsorted([0.0, strict, usual], share)
    verdict = [tuple(Verdict)[k] for k in np.where(peak > NEGLIGIBLE, number, np.minimum(number, 1))]
    weight, rms_share = np.where(helped.any(axis=0), largest, np.nan), share_of_peak(rms, rms_moment)
    return ReserveCheck(dof, peak, proved, top, share, rms_share, weight, tuple(verdict), (strict, usual))


def worst_frames(helped: Mask, reserve: Array) -> NDArray[np.int64]:
    """Return the frame with the largest reserve in each of the worst stretches of frames that need reserves.

    Args:
        helped: (T,) the frames that need a reserve.
        reserve: (T, m) [N m].
    """
    size = np.nan_to_num(np.abs(reserve).sum(axis=1))
    frames = [first + int(size[first:stop].argmax()) for first, stop in true_runs(helped)]
    return np.sort(np.array(sorted(frames, key=lambda k: -size[k])[:MOST_STRETCHES], dtype=np.int64))


def worst_reserve(peak: Array, share: Array, limit: float = USUAL_SHARE) -> int:
    """Number of the largest reserve beyond NEGLIGIBLE whose share exceeds the limit; without one, of the largest share.

    Args:
        peak: (m,) [N m] largest size of each reserve.
        share: (m,) peak of each reserve over the peak moment; without one beyond NEGLIGIBLE the largest peak counts.
        limit: of the share.
    """
    counts = peak > NEGLIGIBLE
    large = counts & (share > limit)
    size = np.where(large, peak, -1.0) if large.any() else np.where(counts, share, -1.0)
    return int((size if counts.any() else peak).argmax())


def share_of_peak(part: Array, whole: Array) -> Array:
    """Reserves over moments (m,); infinite for a reserve where there is no moment."""
    return np.divide(part, whole, out=np.where(part > 0, np.inf, 0.0), where=whole > 0)

"""Outlier views: a marker digitised wrongly in one camera, found by what the others agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.recording.cameras.camera import Camera
from musclesolve.recording.cameras.triangulation import SMALLEST_STEP, Triangulation, solve_points

# Probability of suspecting any point of a recording in which all views are equally good.
FALSE_ALARM = 0.01
# A view is named when the others fit as well as all but this share of points do, and no other view can say so.
IMPLAUSIBLE = 0.001
# Leaving out a view needs two others.
FEWEST_VIEWS = 3
# Equations over that count when the noise is given: as good as infinitely many.
KNOWN = 1e9


@dataclass(frozen=True)
class Noise:
    """Variance of a digitised coordinate of good points [px^2], and the spare equations from which it is known."""

    variance: float
    spare: float


@dataclass(frozen=True)
class ViewRejection:
    """Points and the views that are rejected.

    P points from the remaining views, the rejected views (C, P), and doubtful points (P,), whose rays miss each other
    by more than the noise while no single view is the outlier.
    """

    found: Triangulation
    bad: Mask
    doubtful: Mask


def reject_outlier_views(
    cameras: Sequence[Camera], image: Array, seen: Mask, solved: Triangulation, noise: float | None
) -> ViewRejection:
    """Leave out views that are unlikely, at points that three or more cameras saw.

    A point is suspect when its misfit r^T r is too large for its 2 v - 3 spare equations, v views: r^T r / (2 v - 3)
    over the variance of the noise, an F test with the limit of Bonferroni for all points. Each of its views is left out
    in turn; where the rest fits for exactly one of them, that view is an outlier. Where it does for none or for
    several, as always with two views, the point is doubtful and stays where it is.

    Pixels (C, P, 2), which camera saw which point (C, P), the points from all views (changed where a view is left out)
    and the standard deviation of a digitised coordinate [px]; None: from the median of all misfits, which stays the
    same as long as most points are good.
    """
    views = seen.sum(axis=0)
    bad, doubtful = np.zeros(seen.shape, bool), np.zeros(len(views), bool)
    good = _noise(image, seen, solved, views, noise)
    if good is None:
        return ViewRejection(solved, bad, doubtful)
    suspect = solved.misfit > _limits(len(cameras), FALSE_ALARM / len(views), good)[views]
    doubtful[suspect & solved.in_front] = True
    asked = np.flatnonzero(suspect & (views >= FEWEST_VIEWS))
    named, view, without = _without_one(cameras, image[:, asked], seen[:, asked], views[asked], good)
    found = asked[named]
    solved.put(found, without)
    bad[view, found] = True
    doubtful[found] = False
    return ViewRejection(solved, bad, doubtful)


def _noise(
    image: Array, seen: Mask, solved: Triangulation, views: NDArray[np.int64], given: float | None
) -> Noise | None:
    """Return the noise of good points; None where no point has spare equations."""
    from scipy.special import chdtri

    # Below the steps of the solution residuals are round-off, without a distribution.
    least = (SMALLEST_STEP * np.abs(image[seen]).max(initial=0.0)) ** 2
    if given is not None:
        return Noise(max(given**2, least), KNOWN)
    spare = 2.0 * views[solved.in_front] - 3.0
    if not spare.size:
        return None
    middles = chdtri(np.maximum(2.0 * np.arange(len(seen) + 1) - 3.0, 1.0), 0.5)
    middle = float(np.median(solved.misfit[solved.in_front] / middles[views[solved.in_front]]))
    # The median of a sample is as precise as the mean of a third or more of it.
    return Noise(max(middle, least), spare.sum() / 3.0)


def _limits(cameras: int, chance: float, noise: Noise) -> Array:
    """Return by number of views, 0 to C, the misfit [px^2] that a good point exceeds with a probability."""
    from scipy.special import fdtri

    spare = np.maximum(2.0 * np.arange(cameras + 1) - 3.0, 1.0)
    return np.asarray(noise.variance * spare * fdtri(spare, noise.spare, 1.0 - chance))


def _without_one(
    cameras: Sequence[Camera], image: Array, seen: Mask, views: NDArray[np.int64], noise: Noise
) -> tuple[Mask, NDArray[np.int64], Triangulation]:
    """Leave out each view in turn.

    Returns:
        For which of the points (P,) one view is the outlier; which one (N,), and the N points from the other views.
    """
    limit = _limits(len(cameras), IMPLAUSIBLE, noise)[views - 1]
    fits, rests = np.zeros(seen.shape, bool), []
    for k in range(len(cameras)):
        own = np.flatnonzero(seen[k])
        others = seen[:, own]
        others[k] = False
        rest = Triangulation.empty(seen.shape[1])
        rest.put(own, solve_points(cameras, image[:, own], others))
        fits[k] = rest.misfit <= limit
        rests.append(rest)
    named = fits.sum(axis=0) == 1
    view = np.argmax(fits[:, named], axis=0)
    picked = Triangulation.empty(int(named.sum()))
    for k, rest in enumerate(rests):
        chosen = np.flatnonzero(named)[view == k]
        picked.put(
            np.flatnonzero(view == k),
            Triangulation(rest.points[chosen], rest.normal[chosen], rest.misfit[chosen]),
        )
    return named, view, picked

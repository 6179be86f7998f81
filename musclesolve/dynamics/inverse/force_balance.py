"""Whether ground forces balance a motion: the residual force at the pelvis, and loads that feet cannot supply.

The force of the ground and gravity have to accelerate the centers of mass of all segments. The part that is missing
acts as a residual force at the pelvis. Residuals grow with the forces, and so does their limit. Predicted ground forces
leave a residual where the feet cannot supply the loads of the motion.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Mask

BALANCE_LIMIT = 0.25
"""Residual force at the pelvis beyond which the ground forces do not belong to the motion: a share of the greatest
ground force, or of body weight if this is larger. Residuals grow with the forces; Hicks et al. (2015, J Biomech Eng
137:020905) advise to keep them below 5 % of the peak net external force."""
BEYOND_SOLES = 0.15
"""Largest distance beyond the soles at which the predicted force of both feet would have to act [m]: in eight walks, of
recordings and of models, at most 0.12, in a synthetic run 0.05."""
WALKING_FORCE = 1.5
"""Largest force of both feet in walking [body weights]."""


def balanced(residual: Array, limit: float) -> Mask:
    """Return the frames (T,) whose ground forces balance the motion.

    A frame in which a foot was not measured has no residual. It gets the verdict of most other frames: errors of
    masses, plates or clocks apply to it, too. Less than a tenth of the frames judges no others.
    """
    measured, beyond = np.isfinite(residual), residual > limit
    judges = measured.sum() >= max(0.1 * measured.size, 1)
    most_fail = bool(judges) and float(beyond[measured].mean()) > 0.5
    return np.where(measured, ~beyond, not most_fail)


def balance_limit(force: Array, weight: float) -> float:
    """Return the residual force at the pelvis up to which a frame is valid [body weights], see `BALANCE_LIMIT`."""
    peak = float(np.linalg.norm(force, axis=1).max(initial=0.0))
    return BALANCE_LIMIT * max(1.0, peak / weight)


@dataclass(frozen=True)
class Support:
    """Part of the required loads that predicted ground reactions supply, and the part that they lack, over T frames.

    time (T,) [s]; lacking_force, lacking_moment: (T,) sizes at the pelvis [body weights, body weights times m];
    force: (T,) size of both feet [body weights]. spread: time over which the filter of the motion spreads a jump of
    markers [s], half a period of its cut-off.
    """

    time: Array
    lacking_force: Array
    lacking_moment: Array
    force: Array
    spread: float

    @classmethod
    def from_wrenches(
        cls, time: Array, lacking: Array, force: Array, weight: float, cutoff_hz: float | None
    ) -> Self:
        """Support from lacking force and moment (T, 6) [N, N m], force of both feet (T, 3) [N] and weight [N]."""
        force_lacking, moment_lacking, supplied = (
            np.linalg.norm(vectors, axis=1) / weight for vectors in (lacking[:, :3], lacking[:, 3:], force)
        )
        spread = 0.0 if cutoff_hz is None else 0.5 / cutoff_hz
        return cls(time, force_lacking, moment_lacking, supplied, spread)

    @property
    def distance(self) -> Array:
        """Distance (T,) [m] beyond the soles at which the force would act; less than a body weight counts as one."""
        return np.asarray(self.lacking_moment / np.maximum(self.force, 1.0))

    @property
    def limit(self) -> Array:
        """Acceptable lacking force (T,) [body weights], which grows with forces beyond those in walking."""
        return np.asarray(BALANCE_LIMIT * np.maximum(self.force / WALKING_FORCE, 1.0))

    @property
    def carries(self) -> Mask:
        """Mask (T,) of frames in which the feet supply the required loads, with no lacking force within `spread`."""
        carried = np.asarray(self.distance <= BEYOND_SOLES)
        lost = self.time[self.lacking_force > self.limit]
        if not lost.size:
            return carried
        after = np.searchsorted(lost, self.time)
        ends = np.stack([lost[np.maximum(after - 1, 0)], lost[np.minimum(after, lost.size - 1)]])
        return np.asarray(carried & (np.abs(ends - self.time).min(axis=0) > self.spread))

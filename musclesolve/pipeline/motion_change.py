"""The change of a motion that made the residual at its base smaller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from musclesolve._util.arrays import Array
from musclesolve.dynamics.inverse.residual_reduction import CHANGE, ResidualReduction
from musclesolve.motion.motion_plausibility import (
    MotionWarning,
)
from musclesolve.settings.trial import REDUCED

Before = TypeVar("Before")


@dataclass(frozen=True)
class MotionChange(Generic[Before]):
    """The change of a motion that made the residual at the base smaller.

    before: the motion before the change. change (T, n): displacement of each point of the body [m]. carried: body mass
    that would balance the forces best [kg]. reduction: the prepared reduction, which also serves motions near this one.
    """

    before: Before
    change: Array
    carried: float
    reduction: ResidualReduction

    @property
    def warnings(self) -> list[MotionWarning]:
        """Warn where the bound limits the change: the residual then has another cause than errors of the motion."""
        if self.reduction.size >= CHANGE:
            return []
        largest = 1e3 * float(self.change.max())
        sentence = f"the change of the motion that reduces the residual is held at its bound (largest {largest:.0f} mm)"
        remedy = (
            "look for what else does not fit: plates, body mass, clocks (musclesolve check, calibrate-body), or leave "
            f'out residual = "{REDUCED}" in [consistency]'
        )
        return [MotionWarning("motion_change", sentence, remedy, False, ())]

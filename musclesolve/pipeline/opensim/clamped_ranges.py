"""Coordinates of a motion that lie beyond the range to which the model clamps them.

OpenSim's inverse kinematics keeps a clamped coordinate in its range. Its analyses of a given motion do not: they take
the values of the file, as is done here (OpenSim 4.6, MuscleAnalysis of an elbow beyond its range: the same length with
and without the clamp). Beyond the range the model was not made to be used: paths, splines of coupled motions and wraps
are extrapolated there, and moment arms may be implausible.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Mask
from musclesolve.opensim.model import Coordinate, OpenSimModel
from musclesolve.pipeline.opensim.coordinate_motion import CoordinateMotion

ANGLE, LENGTH = np.radians(1.0), 0.002
"""So far beyond its range a coordinate may lie unnoticed [rad, m]: the filter moves values that are kept at its end."""


@dataclass(frozen=True, eq=False)
class BeyondRange:
    """A coordinate, how far beyond its range it gets [rad or m], and in which frames (T,) it is beyond."""

    coordinate: Coordinate
    most: float
    frames: Mask

    @property
    def sentence(self) -> str:
        """How far beyond which range, and in how many frames."""
        given = self.coordinate
        unit, scale = ("degrees", np.degrees(1.0)) if given.rotational else ("mm", 1000.0)
        share = max(1.0, 100.0 * float(self.frames.mean()))
        return (
            f"{given.name} is up to {scale * self.most:.3g} {unit} beyond the range to which the model clamps it "
            f"({scale * given.lower:.4g} to {scale * given.upper:.4g} {unit}), in {share:.0f} % of the frames"
        )


def beyond_ranges(
    model: OpenSimModel, motion: CoordinateMotion, names: Collection[str]
) -> tuple[BeyondRange, ...]:
    """The clamped coordinates of some names that leave their range, the farthest first."""
    found = []
    for name, value in motion.by_name(motion.value).items():
        given = model.coordinates[name]
        if name in names and given.clamped and not given.locked:
            beyond = np.maximum(given.lower - value, value - given.upper)
            limit = ANGLE if given.rotational else LENGTH
            if beyond.max() > limit:
                found.append(BeyondRange(given, float(beyond.max()), np.asarray(beyond > limit)))
    return tuple(sorted(found, key=lambda each: -each.most))

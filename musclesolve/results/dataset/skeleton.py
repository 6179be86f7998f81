"""The skeleton of a result as it is drawn, and the form of variables of a result."""

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import AnyArray

Variable = tuple[tuple[str, ...], AnyArray] | tuple[tuple[str, ...], AnyArray, dict[str, object]]
"""Dimensions, values and attributes of a variable of a result."""


SEGMENT_AXES = ("forward", "left", "up")
"""Names of the axes of a segment by their direction in the standing pose."""

VariablesAndAttributes = tuple[dict[str, Variable], dict[str, object]]
"""Variables and coordinates of a result, named as in quantities.toml."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Drawing of bones, in single precision: points, lines between them, and segments to which surfaces are fixed.

    points (S): names, at position (T, S, 3) [m]. bones: lines from one point to another, with the segment of each.
    segments (B): names, at place (T, B, 3) [m] with rotation (T, B, 3, 3), whose columns are the axes of the segment:
    forward, left and up in the standing pose.
    """

    points: tuple[str, ...]
    position: AnyArray
    bones: tuple[tuple[str, str, str], ...]
    segments: tuple[str, ...]
    place: AnyArray
    rotation: AnyArray

    @property
    def labels(self) -> VariablesAndAttributes:
        """Poses of points and segments; their names, and ends and segments of the bones."""
        bones = np.array(self.bones, np.str_).reshape(-1, 3)
        variables: dict[str, Variable] = {
            "skeleton_position": (("time", "skeleton_point", "axis"), self.position),
            "segment_position": (("time", "segment", "axis"), self.place),
            "segment_rotation": (("time", "segment", "axis", "segment_axis"), self.rotation),
        }
        return variables, {
            "skeleton_point": list(self.points),
            "bone_start": ("bone", bones[:, 0]),
            "bone_end": ("bone", bones[:, 1]),
            "bone_segment": ("bone", bones[:, 2]),
            "segment": list(self.segments),
            "segment_axis": list(SEGMENT_AXES),
        }

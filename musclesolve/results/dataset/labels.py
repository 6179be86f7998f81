"""Labels of a recording or model beside the labels of every result, and angles beside the joint angles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.rotations import to_cardan
from musclesolve.results.dataset.result_quantities import BACKWARD
from musclesolve.settings.trial import REDUCED

if TYPE_CHECKING:  # both load the analysis
    from musclesolve.pipeline.mechanics import MotionChange
    from musclesolve.results.dataset.skeleton import Variable

DIRECTIONS = ("axial", "anterior", "medial")
"""Directions of `contact_force_component`: to the distal end of the segment (compression), forward, medial."""
SEGMENT_OF = {"hip": "thigh", "knee": "shank", "ankle": "shank"}
"""Segment whose axes define the components at a joint."""
MEDIAL = {"r": 1.0, "l": -1.0}
"""Sign of the medial direction relative to left: the median plane is on the left of the right leg."""
COMPONENTS = [f"{kind}_{axis}" for kind in ("force", "moment") for axis in "xyz"]
"""Components of the residual at the base."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Variables, coordinates and attributes beside the labels of every result.

    segment_axes: by joint the unit vectors of `DIRECTIONS` in the axes of the
    laboratory, (T, 3, 3). notes: sentences for the reader. translates: whether a degree of freedom is a translation.
    """

    variables: dict[str, Variable]
    coordinates: dict[str, object]
    attributes: dict[str, object]
    notes: list[str]
    segment_axes: dict[str, Array] = field(default_factory=dict)
    translates: bool = False


def change_attributes(change: MotionChange, largest_mm: float) -> dict[str, object]:
    """Attributes of a result whose motion was changed for a smaller residual; largest_mm: the stated bound."""
    return {
        "consistency_residual": REDUCED,
        "largest_motion_change_m": float(change.change.max()),
        "largest_motion_change_allowed_m": 1e-3 * largest_mm,
        "mass_balancing_forces_kg": change.carried,
    }


ROTATIONS = ["tilt", "list", "rotation"]


def body_angles(
    segments: Mapping[str, Array], feet: Mapping[str, Array], heading: Array, sides: Sequence[str]
) -> dict[str, Variable]:
    """pelvis_angle and trunk_angle (time, rotation), foot_progression_angle (time, side) [rad].

    Pelvis and trunk: R = Rz(rotation) Rx(list) Ry(tilt), where the columns of R are the axes of the segment, forward,
    left and up, in the laboratory; the angles are zero where the segment is as in standing and faces along x.

    Foot progression: with the line f from heel to toes and the walking direction h, both seen from above,

        angle = s atan2(h_x f_y - h_y f_x, h_x f_x + h_y f_y),    s = 1 of the right foot and -1 of the left one,

    positive where the toes point to the median plane, like other inward rotations. If a subject walks backward, h is
    the opposite direction, in which the body faces.

    Args:
        segments: "pelvis", "trunk" -> rotation matrices (T, 3, 3); those that are known.
        feet: side -> line from heel to toes (T, 3), of any length; those that are known.
        heading: walking direction (T,), about the vertical from x to the left [rad].
        sides: of the result, "r", "l", "other"; NaN for those without a foot.
    """
    variables: dict[str, Variable] = {
        f"{name}_angle": (("time", f"{name}_rotation"), np.stack(to_cardan(rotation), axis=1))
        for name, rotation in segments.items()
    }
    if feet:
        if "pelvis" in segments:
            faces = variables["pelvis_angle"][1][:, ROTATIONS.index("rotation")]
            heading = np.where(np.cos(faces - heading) < np.cos(BACKWARD), heading + np.pi, heading)
        angle = np.full((len(heading), len(sides)), np.nan)
        for place, side in enumerate(sides):
            if side in feet:
                forward, left = feet[side][:, 0], feet[side][:, 1]
                cosine, sine = np.cos(heading), np.sin(heading)
                across, along = cosine * left - sine * forward, cosine * forward + sine * left
                angle[:, place] = MEDIAL[side] * np.arctan2(across, along)
        variables["foot_progression_angle"] = (("time", "side"), angle)
    return variables

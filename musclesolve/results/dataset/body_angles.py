"""Angles beside the joint angles: of pelvis and trunk relative to the ground, and of the feet.

Pelvis and trunk: R = Rz(rotation) Rx(list) Ry(tilt), where the columns of R are the axes of the segment, forward, left
and up, in the laboratory; the angles are zero where the segment is as in standing and faces along x.

Foot progression: with the line f from heel to toes and the walking direction h, both seen from above,

    angle = s atan2(h_x f_y - h_y f_x, h_x f_x + h_y f_y),    s = 1 of the right foot and -1 of the left one,

positive where the toes point to the median plane, like other inward rotations. If a subject walks backward, h is the
opposite direction, in which the body faces.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.rotations import to_cardan
from musclesolve.results.dataset.labels import MEDIAL
from musclesolve.results.dataset.result_quantities import BACKWARD
from musclesolve.results.dataset.skeleton import Variable

ROTATIONS = ["tilt", "list", "rotation"]


def body_angles(
    segments: Mapping[str, Array], feet: Mapping[str, Array], heading: Array, sides: Sequence[str]
) -> dict[str, Variable]:
    """pelvis_angle and trunk_angle (time, rotation), foot_progression_angle (time, side) [rad].

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

"""Labels of a recording or model beside the labels of every result: form, skeleton, paths of muscles, angles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import to_cardan
from musclesolve.laboratory.results.dataset.result_quantities import BACKWARD
from musclesolve.models.settings import REDUCED
from musclesolve.muscles.paths.paths import joined_paths
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles

if TYPE_CHECKING:  # both load the analysis
    from musclesolve.dynamics.inverse.residual_reduction import MotionChange

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


def path_labels(muscle: AnyArray, position: AnyArray) -> VariablesAndAttributes:
    """Paths by the muscle (S,) of every point and their positions (T, S, 3) [m]."""
    over = "time", "path_point", "axis"
    return {"path_position": (over, position)}, {"path_muscle": ("path_point", muscle)}


def subject_paths(
    groups: Sequence[ScaledMuscles], motion: Motion, most: Indices | None = None
) -> VariablesAndAttributes:
    """Paths of the muscles of a subject; most: as of `Paths.lines`."""
    names = np.array([name for group in groups for name in group.names])
    lines = joined_paths([group.paths for group in groups]).lines(motion.q, motion.coordinates, most=most)
    return path_labels(names[lines.muscle], lines.position)


def most_points(groups: Sequence[ScaledMuscles], motion: Motion) -> Indices:
    """The largest number of points of the path of each muscle in a motion, (n,)."""
    paths = joined_paths([group.paths for group in groups])
    used = [
        paths.lines(some.q, some.coordinates, trimmed=False).used.max(axis=0) for some in motion.windows()
    ]
    return np.maximum(np.max(used, axis=0), 1)


def hip_distance(model: Model, motion: Motion) -> float:
    """Mean distance between the hip centers of the model in a motion [m]."""
    left, right = model.slot("hip_l"), model.slot("hip_r")
    apart = [np.linalg.norm(some.q[:, left] - some.q[:, right], axis=1) for some in motion.windows()]
    return float(np.concatenate(apart).mean())


def skeleton_table() -> dict[str, Any]:
    """Points and bones that skeleton.toml adds to the points of a model."""
    return bundled_toml(__package__, "skeleton.toml")


def subject_skeleton(model: Model, motion: Motion, hips: float | None = None) -> Skeleton:
    """The points of the model and the points of the pelvis and the hands that skeleton.toml adds.

    hips: `hip_distance` of the whole motion [m], where these frames are a part of it.
    """
    table = skeleton_table()
    names = [point.name for point in model.topology.points]
    places = {name: motion.q[:, model.slot(name)] for name in names}
    for name, (one, other) in table["middle"].items():
        places[name] = 0.5 * (places[one] + places[other])
    # points fixed to the pelvis, by their offsets in half distances of the hip centers
    unit = 0.5 * (hip_distance(model, motion) if hips is None else hips)
    pelvis = model.rigid_bodies.subset(np.array([model.body("pelvis")]))
    rotation = pelvis.rotation(motion.q)[:, 0]
    for name, offset in table["pelvis"].items():
        places[name] = motion.origin + rotation @ (unit * np.array(offset))
    chosen = {name: place for name, place in places.items() if name not in table["subject"]["left_out"]}
    position = np.stack(list(chosen.values()), axis=1).astype(np.float32)
    bones = [(str(start), str(end), str(segment)) for start, end, segment in table["subject"]["bones"]]
    segments = tuple(str(name) for name in dict.fromkeys(segment for *_, segment in bones))
    bodies = model.rigid_bodies.subset(np.array([model.body(name) for name in segments]))
    place, turned = bodies.basic(motion.q)[:, :, 0], bodies.rotation(motion.q)
    return Skeleton(
        *(tuple(chosen), position, tuple(bones), segments),
        *(place.astype(np.float32), turned.astype(np.float32)),
    )


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


def change_attributes(change: "MotionChange", largest_mm: float) -> dict[str, object]:
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

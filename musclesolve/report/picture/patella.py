"""Places of a patella and its ligament: the patella slides in the groove of the femur, held by the ligament.

The cartilage at the back of the patella is tangent to a curve g(s) in the sagittal plane of the femur (bones.toml,
`knee`), and its apex a(s) lies at the constant length L of the patellar ligament from the tibial tuberosity p:
|a(s) - p| = L. This is the mechanism of van Eijden et al. (1986, J Biomech 19:219-229) with a ligament that does not
stretch. Nothing is computed from it: the sharing has a patella of its own (`pipeline.knee`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import SIDES
from musclesolve.report.picture.lofted_bones import Mesh, Placement, interpolated, standard_bones

POSES = 400
"""Number of poses of the patella along the groove; between two poses it is interpolated."""
Pose = tuple[Array, Array]
"""Position (T, 3) [m] and rotation (T, 3, 3) of a segment; the columns point forward, left and up."""


@dataclass(frozen=True, eq=False)
class Knee:
    """The groove of one femur and the ligament of its tibia.

    femur, tibia: names of the segments. center, apex (K, 3) [m]: of the patella at places along the groove, from top to
    bottom, in the axes of the femur from its position; normal (K, 3): forward from the femur. across (3,): to the
    left. insertion (3,) [m]: of the ligament, in the axes of the tibia from its position. ligament [m]: its length.
    """

    femur: str
    tibia: str
    center: Array
    apex: Array
    normal: Array
    across: Array
    insertion: Array
    ligament: float

    def poses(self, femur: Pose, tibia: Pose) -> tuple[Pose, Pose]:
        """The poses of the patella and of the ligament, whose origin is the insertion."""
        (place, turned), (tibia_place, tibia_turned) = femur, tibia
        insertion = tibia_place + tibia_turned @ self.insertion
        own = np.einsum("tji,tj->ti", turned, insertion - place)
        distance = np.linalg.norm(self.apex - own[:, None], axis=2)
        # the first place from the top with the apex within reach, and how far beyond the one before
        after = np.clip(np.argmax(distance < self.ligament, axis=1), 1, None)
        never = ~(distance < self.ligament).any(axis=1)
        after[never] = np.maximum(np.argmin(np.nan_to_num(distance[never], nan=1.0), axis=1), 1)
        above, below = (np.take_along_axis(distance, k[:, None], axis=1)[:, 0] for k in (after - 1, after))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip((above - self.ligament) / (above - below), 0.0, 1.0)[:, None]
        center, apex, normal = (
            (1.0 - share) * each[after - 1] + share * each[after]
            for each in (self.center, self.apex, self.normal)
        )
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        across = np.broadcast_to(self.across, normal.shape)
        patella = turned @ np.stack([normal, across, np.cross(normal, across)], axis=2)
        up = np.einsum("tij,tj->ti", turned, apex) + place - insertion
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        left = np.cross(up, patella[:, :, 0])
        left /= np.linalg.norm(left, axis=1, keepdims=True)
        ligament = np.stack([np.cross(left, up), left, up], axis=2)
        return (place + np.einsum("tij,tj->ti", turned, center), patella), (insertion, ligament)


def patellae(placed: Sequence[Placement]) -> dict[str, tuple[Knee, Mesh, Mesh]]:
    """By side the knee with the surfaces of patella and ligament; none where a body of a model is the patella."""
    table = bundled_toml(__package__, "bones.toml")["knee"]
    of = {(placement.segment, placement.side): placement for placement in placed}
    knees: dict[str, tuple[Knee, Mesh, Mesh]] = {}
    for femur_name, tibia_name in table["segments"]:
        for side in SIDES:
            femur, tibia = of.get((f"{femur_name}_{side}", side)), of.get((f"{tibia_name}_{side}", side))
            if femur is None or tibia is None or (f"patella_{side}", side) in of:
                continue
            patella, ligament = (
                (femur.scale * vertices, faces)
                for part in ("patella", "ligament")
                for vertices, faces in standard_bones("patella", side, part)
            )
            knees[side] = (_knee(femur, tibia, table), patella, ligament)
    return knees


def _knee(femur: Placement, tibia: Placement, table: Mapping[str, object]) -> Knee:
    groove = np.asarray(table["groove"], dtype=float)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(groove, axis=0), axis=1))])
    x, z = interpolated(along, groove, np.linspace(0.0, along[-1], POSES)).T
    down = femur.about["scale"]["z"][2]
    back = femur.placed(np.stack([x, np.zeros(POSES), z - down], axis=1))
    # square to the groove after it is scaled, forward where it runs down
    across = femur.axes[:, 1]
    normal = np.cross(np.gradient(back, axis=0), across)
    normal *= -1.0 / np.linalg.norm(normal, axis=1, keepdims=True)
    normal *= np.sign(normal[0] @ femur.axes[:, 0])
    center = back + femur.scale[0] * float(table["back"]) * normal  # type: ignore[arg-type]
    (apex_x, apex_z), (tub_x, tub_z) = (np.asarray(table[key], dtype=float) for key in ("apex", "tuberosity"))
    upward = np.cross(normal, across)
    apex = center + femur.scale[0] * apex_x * normal + femur.scale[2] * apex_z * upward
    insertion = tibia.placed(np.array([tub_x, 0.0, tub_z]))
    length = femur.scale[2] * float(table["ligament"])  # type: ignore[arg-type]
    return Knee(femur.segment, tibia.segment, center, apex, normal, across, insertion, length)

"""Poses of segments in a C3D file, as markerless programs store them (Theia3D), and the points of the body they show.

The group ROTATION names signals. From the block DATA_START on, each frame has 17 reals a signal: the matrix 4 x 4 from
the axes of a segment to the axes of the file, column after column, with the origin in POINT:UNITS, and its reliability,
negative where the segment was not seen (C-Motion, "ROTATION DATA TYPE", wiki.has-motion.com). Theia3D names a signal
after its segment, "l_thigh_4X4"; the origin of a segment is its proximal joint.

Programs differ in the axes of their segments, so that none is assumed: the axis of a segment that points to the left is
the one nearest to the line from the right hip to the left hip over the recording, and the axis of the pelvis that
points forward the one nearest to the way of the toes beyond the ankles. Widths of knees and ankles, the heel and the
spines of the pelvis are placed by proportions: they show rotations, and no size of the person.
"""

import math

import numpy as np

from musclesolve._util.arrays import Array, unit
from musclesolve.laboratory.files.c3d.c3d_description import BLOCK, Description
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.tables.text_file import damaged, open_input, opening

REALS = 17
"""Numbers of a pose in the file: its matrix, then its residual, negative where nothing was seen."""
ENDING = "_4x4"
"""End of the name of a signal that is a pose."""
JOINTS = {"hip": "thigh", "knee": "shank", "ankle": "foot", "toe": "toes"}
ARMS = {"shoulder": "uarm", "elbow": "larm", "wrist": "hand"}
"""Joint -> the segment whose origin it is."""
HALF_KNEE, HALF_ANKLE = 0.05, 0.035
"""From the middle of a knee and an ankle to their epicondyles and malleoli [m]; they show the axis alone."""
SPINES, DEPTH = (0.19, 0.30), 0.6
"""How far the anterior spines lie in front of and above the hips, in widths of the pelvis, of which the hips are 0.72
apart (Bell et al. 1990, J Biomech 23:617-21), and how far the posterior spines lie behind them."""
HIPS_APART = 0.72
"""Distance of the hips in widths of the pelvis (Bell et al. 1990)."""
TOE_DROP, BEHIND, BELOW = 0.33, 0.48, 0.33
"""How far the joint of the toes lies below the ankle, and the back of the heel behind and below it, in lengths from the
ankle forward to this joint: the skeleton of gait2392 has 0.043, 0.062, 0.043 and 0.130 m."""
ORTHOGONAL = 1e-2
"""Largest deviation of a rotation from orthogonality; a matrix beyond it is a gap."""


def segment_names(description: Description) -> dict[str, int]:
    """Names of the segments of a file, "l_thigh", and their places among its signals; none without poses."""
    labels = [label.casefold() for label in description.texts("ROTATION:LABELS")]
    return {label.removesuffix(ENDING): k for k, label in enumerate(labels) if label.endswith(ENDING)}


def read_poses(description: Description, frames: int, meters: float) -> Array:
    """Matrices (F, S, 4, 4) from the axes of the S signals to the axes of the file [m]; NaN where none was seen.

    Args:
        description: header and parameters of the file.
        frames: number of frames of its points.
        meters: unit of length of the file [m].

    Raises:
        InputError: the file ends before its poses, or states no place of them.
    """
    counts = {name: description.count(f"ROTATION:{name}") for name in ("USED", "DATA_START", "RATIO")}
    count = int(description.number("ROTATION:FRAMES") or (counts["RATIO"] or 1) * frames)
    used, block = counts["USED"] or 0, counts["DATA_START"] or 0
    size = 4 * REALS * used * count
    with open_input(description.path) as stream, opening(description.path):
        stream.seek(BLOCK * max(block - 1, 0))
        raw = stream.read(size)
    if block < 2 or used < 1 or len(raw) < size:
        raise damaged(
            "truncated_file",
            (description.path, "ROTATION"),
            f"{used} poses in {count} frames from block {block} on are stated, but the file has no bytes for them",
            "USED, DATA_START and FRAMES of the poses, and 17 numbers for each",
        )
    values = description.coding.reals(raw).astype(float).reshape(-1, used, REALS)
    poses = np.swapaxes(values[..., :16].reshape(-1, used, 4, 4), 2, 3)
    rotation = poses[..., :3, :3]
    off = np.abs(np.swapaxes(rotation, 2, 3) @ rotation - np.eye(3)).max(axis=(2, 3))
    lost = ~(off < ORTHOGONAL) | (values[..., 16] < 0.0)
    poses[..., :3, 3] *= meters
    poses[lost] = np.nan
    return poses


def points_of_segments(description: Description, frames: int, meters: float) -> dict[str, Array]:
    """Points (F, 3) [m] of the body by their names, "r_knee_lateral", in the axes of a file; none without poses.

    Points of absent segments are left out. Arguments: see `read_poses`.

    Raises:
        InputError: as of `read_poses`.
    """
    segments, points = segment_names(description), dict[str, Array]()
    if not segments:
        return points
    poses = read_poses(description, frames, meters)
    segments = {name: k for name, k in segments.items() if np.isfinite(poses[:, k]).all(axis=(1, 2)).any()}
    origin = {name: poses[:, k, :3, 3] for name, k in segments.items()}
    for side in SIDES:
        for joint, segment in (JOINTS | ARMS).items():
            if f"{side}_{segment}" in origin:
                points[f"{side}_{joint}"] = origin[f"{side}_{segment}"]
    hips = [points.get(f"{side}_hip") for side in SIDES]
    if hips[0] is None or hips[1] is None:
        return points
    left = hips[1] - hips[0]

    def axis_along(segment: str, way: Array) -> Array:
        """The axis (F, 3) of a segment, or its opposite, that is nearest to a way (F, 3) over the recording."""
        axes = np.moveaxis(poses[:, segments[segment], :3, :3], 2, 0)
        along = np.nanmean(np.einsum("afx,fx->af", axes, unit(way)), axis=1)
        k = int(np.argmax(np.abs(along)))
        return np.asarray(np.sign(along[k]) * axes[k])

    for side, outward in zip(SIDES, (-1.0, 1.0), strict=True):
        for joint, segment, half in (("knee", "thigh", HALF_KNEE), ("ankle", "shank", HALF_ANKLE)):
            if f"{side}_{joint}" in points:
                out = outward * half * axis_along(f"{side}_{segment}", left)
                points[f"{side}_{joint}_lateral"] = points[f"{side}_{joint}"] + out
                points[f"{side}_{joint}_medial"] = points[f"{side}_{joint}"] - out
        if all(f"{side}_{joint}" in points for joint in ("knee", "ankle", "toe")):
            shank = points[f"{side}_ankle"] - points[f"{side}_knee"]
            points[f"{side}_heel"] = _heel(
                points[f"{side}_ankle"], points[f"{side}_toe"], axis_along(f"{side}_foot", left), shank
            )
    toes = [points[f"{side}_toe"] - points[f"{side}_ankle"] for side in SIDES if f"{side}_heel" in points]
    if "pelvis" in segments and toes:
        across, forward = axis_along("pelvis", left), axis_along("pelvis", np.asarray(sum(toes)))
        middle = 0.5 * (hips[0] + hips[1])
        width = float(np.nanmedian(np.linalg.norm(left, axis=1))) / HIPS_APART
        front = middle + width * (SPINES[0] * forward + SPINES[1] * np.cross(forward, across))
        for side, outward in zip(SIDES, (-0.5, 0.5), strict=True):
            points[f"{side}_asis"] = front + outward * width * across
            points[f"{side}_psis"] = front - DEPTH * width * forward + 0.4 * outward * width * across
    return points


def _heel(ankle: Array, toe: Array, left: Array, shank: Array) -> Array:
    """The back of the heel (F, 3) [m]: behind and below the ankle, in the plane of ankle and toes.

    left: axis of the foot; shank: from knee to ankle, so downward (F, 3).
    """
    way = toe - ankle
    way = way - np.einsum("fx,fx->f", way, left)[:, None] * left
    length = np.nanmedian(np.linalg.norm(way, axis=1)) / math.hypot(1.0, TOE_DROP)
    down = np.cross(way, left)
    down *= np.sign(np.nanmean(np.einsum("fx,fx->f", down, shank)))
    sloping, beneath = unit(way), unit(down)
    forward, below = (sloping - TOE_DROP * beneath), (beneath + TOE_DROP * sloping)
    return np.asarray(ankle + length / math.hypot(1.0, TOE_DROP) * (BELOW * below - BEHIND * forward))

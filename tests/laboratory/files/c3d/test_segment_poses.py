"""Poses of segments in a C3D file (Theia3D): written by ezc3d from a known motion, read as points, analyzed."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import ezc3d
import numpy as np
from refusals import refused
from scipy.spatial.transform import Rotation

import musclesolve as ms
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory import read_c3d
from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.laboratory.forces import mechanics, recording_of

SEGMENTS = {
    "pelvis": ("pelvis", None),
    **{
        f"{side}_{segment}": (f"{body}_{side}", f"{joint}_{side}")
        for side in "rl"
        for segment, body, joint in (
            ("thigh", "thigh", "hip"),
            ("shank", "shank", "knee"),
            ("foot", "foot", "ankle"),
            ("toes", "foot", "toe"),
            ("uarm", "upper_arm", "shoulder"),
            ("larm", "forearm", "elbow"),
            ("hand", "hand", "wrist"),
        )
    },
}
"""Segment of Theia3D -> body and joint of the model."""
DOFS = ("hip_flexion", "hip_adduction", "hip_internal_rotation", "knee_flexion", "ankle_dorsiflexion")


@cache
def truth():
    return mechanics(recording_of(ms.studies.synthetic_recording(mkdtemp()), "this test"))


def written(path: Path, turned: Rotation | None = None) -> Path:
    """A C3D file of the poses of the synthetic walk [mm], z up, each segment with axes of its own."""
    found = truth()
    model, q = found.model, found.motion.q
    rotation = model.rigid_bodies.rotation(q)
    hips = 0.5 * (q[:, model.slot("hip_r")] + q[:, model.slot("hip_l")])
    poses = np.zeros((4, 4, len(SEGMENTS), len(q)))
    poses[3, 3] = 1.0
    for k, (body, joint) in enumerate(SEGMENTS.values()):
        axes = rotation[:, model.body(body)]
        if turned is not None:
            axes = axes @ turned.as_matrix()
        poses[:3, :3, k] = np.moveaxis(axes, 0, 2)
        poses[:3, 3, k] = 1000.0 * (hips if joint is None else q[:, model.slot(joint)]).T
    file = ezc3d.c3d()
    rate = 1.0 / float(np.mean(np.diff(found.motion.time)))
    file["parameters"]["POINT"]["RATE"]["value"] = [rate]
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["parameters"]["POINT"]["LABELS"]["value"] = ["extra"]
    file["data"]["points"] = np.ones((4, 1, len(q)))
    file.add_parameter("ROTATION", "LABELS", [f"{name}_4X4" for name in SEGMENTS])
    file.add_parameter("ROTATION", "RATE", [rate])
    file["data"]["rotations"] = poses
    file.write(str(path))
    return path


def test_joints_and_axes_come_back_whatever_the_axes_of_the_segments(tmp_path: Path) -> None:
    found = truth()
    model, q = found.model, found.motion.q
    turns = [
        None,
        Rotation.from_euler("xyz", [90, 0, 90], degrees=True),
        Rotation.from_euler("z", 180, degrees=True),
    ]
    read = [read_c3d(written(tmp_path / f"{k}.c3d", turn)).markers() for k, turn in enumerate(turns)]
    for markers in read:
        for side in "rl":
            for joint in ("hip", "knee", "ankle", "toe", "shoulder"):
                np.testing.assert_allclose(
                    markers[f"{side}_{joint}"], q[:, model.slot(f"{joint}_{side}")], atol=1e-5
                )
            knee = markers[f"{side}_knee_lateral"] - markers[f"{side}_knee_medial"]
            assert (knee[:, 1] * (1.0 if side == "l" else -1.0) > 0.08).all()
            heel = markers[f"{side}_heel"] - q[:, model.slot(f"heel_{side}")]
            assert np.linalg.norm(heel, axis=1).max() < 0.04
        for name in read[0].names[1:]:
            np.testing.assert_allclose(markers[name], read[0][name], atol=1e-5)


def test_a_folder_with_poses_is_drafted_and_analyzed_without_plates(tmp_path: Path) -> None:
    written(tmp_path / "walk.c3d")
    draft = draft_folder(tmp_path, subject=GivenSubject(mass_kg=70.0, stature_m=1.7, sex="male"))
    path = write_drafts(draft)[0]
    trial = recording_of(path, "this test")
    assert trial.settings.files.predicted and trial.settings.markers.set == "theia"
    found, known = mechanics(trial), truth()
    time = known.motion.time - known.motion.time[0]
    for dof in DOFS:
        ours, theirs = (each.motion.coordinates[:, each.model.dof(f"{dof}_r")] for each in (found, known))
        off = np.degrees(ours - np.interp(found.motion.time, time, theirs))
        assert np.sqrt(np.mean(off**2)) < 1.5, dof
    weight = found.model.mass.total * STANDARD_GRAVITY
    for ours, plates in zip(found.reactions, known.reactions, strict=True):
        truth_there = np.stack([np.interp(found.motion.time, time, each) for each in plates.force.T], axis=1)
        size = np.sqrt(np.mean((ours.force - truth_there) ** 2, axis=0)) / weight
        assert (size < (0.03, 0.015, 0.04)).all()


def test_poses_without_points_and_poses_cut_off(tmp_path: Path) -> None:
    """Theia3D writes files without any point; here the points of a file are no longer counted."""
    path = written(tmp_path / "walk.c3d")
    raw = bytearray(path.read_bytes())
    place = raw.index(b"USED", raw.index(b"POINT"))
    raw[2:4] = raw[place + 8 : place + 10] = struct.pack("<h", 0)
    path.write_bytes(raw)
    alone = read_c3d(path).markers()
    assert "extra" not in alone.names and len(alone.time) == len(truth().motion.time)
    path.write_bytes(raw[: len(raw) // 2])
    with refused("truncated_file", "ROTATION"):
        read_c3d(path).markers()
    path.write_bytes(raw.replace(b"_4X4", b"_pos"))
    with refused("missing_marker", "its poses are called", "_4X4"):
        read_c3d(path).markers()
    with refused("missing_file", "no recording can be read: walk.c3d, POINT:LABELS: the file has no labeled"):
        draft_folder(tmp_path)

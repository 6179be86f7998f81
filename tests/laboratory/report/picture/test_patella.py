"""The patella slides on the femur at the end of a ligament of constant length; other bones that touch do so."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from package_tables import package_table
from scipy.spatial import KDTree
from scipy.spatial.transform import Rotation

from musclesolve.laboratory.report.picture.bones import Bones, bones_of
from musclesolve.laboratory.report.picture.lofted_bones import nearest_points, standard_bones
from musclesolve.laboratory.report.picture.picture_data import picture_data
from musclesolve.laboratory.results.dataset.labels import Skeleton

FLEXION = np.arange(0.0, 121.0, 10.0)
TABLE = package_table("laboratory/report/picture/bones.toml")


def surface(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Points (k, 3) spread over triangles."""
    weights = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    return np.einsum("kw,fwi->fki", weights, vertices[faces]).reshape(-1, 3)


def gap(bones: Bones, frame: int, one: str, other: str) -> float:
    """Distance of the vertices of one bone from the surface of another [m]."""
    names, placed = bones.segments, bones.placed(frame)
    k = names.index(other)
    return float(KDTree(surface(placed[k], bones.surfaces[k].faces)).query(placed[names.index(one)])[0].min())


def skeleton(side: str, size: float) -> Skeleton:
    """A leg with a vertical thigh that flexes its knee, a frame for each angle."""
    count, angle = len(FLEXION), np.radians(FLEXION)
    turned = Rotation.from_rotvec(angle[:, None] * [0.0, 1.0, 0.0]).as_matrix()
    hip = np.tile([0.3, 0.1, 0.9], (count, 1))
    knee = hip - [0.0, 0.0, 0.431 * size]
    ankle = knee - 0.443 * size * turned[:, :, 2]
    points = tuple(f"{name}_{side}" for name in ("hip", "knee", "ankle"))
    rotation = np.stack([np.tile(np.eye(3), (count, 1, 1)), turned], axis=1)
    segments = (f"thigh_{side}", f"shank_{side}")
    position = np.stack([hip, knee, ankle], axis=1)
    return Skeleton(points, position, (), segments, position[:, :2], rotation)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("side", "size", "width"), [("r", 1.0, None), ("l", 0.9, 0.105), ("r", 1.05, 0.12)])
def test_the_patella_stays_on_the_femur_and_its_ligament_keeps_its_length(
    side: str, size: float, width: float | None
) -> None:
    """It flexes with the knee from 0 to 120 degrees, but less, and stays in front of or below the condyles."""
    bones = bones_of(skeleton(side, size), ("",), {} if width is None else {side: width})
    thigh, _, patella, ligament = range(4)
    assert bones.segments[2:] == (f"patella_{side}", f"patellar_ligament_{side}")
    knee = bones.standard.knees["", side][0]
    length = size * 1e-3 * TABLE["knee"]["ligament"]
    center = bones.place[:, patella] - bones.place[:, 1]
    for frame in range(len(FLEXION)):
        assert 0.002 < gap(bones, frame, f"patella_{side}", f"thigh_{side}") < 0.011, (
            "the cartilage of both bones"
        )
        assert gap(bones, frame, f"patellar_ligament_{side}", f"patella_{side}") < 0.004
        assert gap(bones, frame, f"patellar_ligament_{side}", f"shank_{side}") < 0.004
        middle = bones.place[frame, patella] - bones.place[frame, thigh]
        k = int(np.argmin(np.linalg.norm(knee.center - middle, axis=1)))
        apart = np.linalg.norm(knee.apex[k] + bones.place[frame, thigh] - bones.place[frame, ligament])
        assert apart == pytest.approx(length, abs=0.5e-3), "to the nearest of the places along the groove"
    turned = np.degrees(np.arctan2(-bones.rotation[:, patella, 2, 0], bones.rotation[:, patella, 0, 0]))
    assert (np.diff(turned) > 0.0).all() and 50.0 < np.ptp(turned) < 120.0
    assert (np.abs(center[:, 1]) < 1e-9).all() and (center[:, 0] > -0.012).all()


def test_the_quadriceps_ends_at_the_patella(stride: xr.Dataset) -> None:
    """Within half a centimeter of its surface in every frame."""
    data = picture_data(stride)
    for side in "rl":
        number = data.bones.segments.index(f"patella_{side}")
        for k, name in enumerate(data.muscles):
            if name.startswith("vastus") and name.endswith(f"_{side}"):
                for frame in range(0, len(data.time), 10):
                    end = data.path[frame, data.first[k + 1] - 1]
                    mesh = data.bones.placed(frame)[number], data.bones.surfaces[number].faces
                    assert nearest_points(end[None], mesh)[1] < 0.005, name


@pytest.mark.parametrize(
    ("frame", "one", "other"),
    [
        ("shank", "fibula", "tibia"),
        ("pelvis", "sacrum", "ilium at the sacrum"),
        ("pelvis", "ilium at the sacrum", "ilium"),
    ],
)
def test_bones_that_are_joined_touch(frame: str, one: str, other: str) -> None:
    """Within a millimeter [mm]."""
    names = []
    for bone in TABLE["bone"]:
        names += [bone["name"]] * (bone["frame"] == frame)
    meshes = dict(zip(names, standard_bones(frame, "r"), strict=True))
    assert KDTree(surface(*meshes[other])).query(surface(*meshes[one]))[0].min() < 1.0


def test_the_fibula_ends_beside_the_talus() -> None:
    (fibula, _), talus = standard_bones("shank", "r")[-1], standard_bones("foot", "r", "talus")[0]
    low = fibula[fibula[:, 2] < -430.0] + [0.0, 0.0, 443.0]
    assert KDTree(surface(*talus)).query(low)[0].min() < 3.0

"""Files of surfaces: the same box in every layout, fewer triangles of the same shape, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from meshes import BOX, ball, save_vtp, triangles, vtp
from opensim_answers import answers, task
from refusals import refused

from musclesolve.laboratory.report.picture.model_bones import read_mesh, simplified

LAYOUTS = ("ascii", "binary", "zlib", "appended", "raw")


def volume(mesh: tuple[np.ndarray, np.ndarray]) -> float:
    """Positive where faces are counterclockwise seen from outside."""
    a, b, c = (mesh[0][mesh[1][:, k]] for k in range(3))
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6.0)


def is_box(mesh: tuple[np.ndarray, np.ndarray]) -> None:
    vertices, faces = mesh
    assert len(vertices) == 8 and len(faces) == 12
    order = np.lexsort(np.round(vertices, 6).T[::-1])
    np.testing.assert_allclose(vertices[order], BOX[0], atol=1e-7)
    assert volume(mesh) == pytest.approx(0.1 * 0.4 * 0.05, rel=1e-6)


@pytest.mark.every_pair
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_vtp_file_is_the_box_in_every_layout(layout: str, order: str, tmp_path: Path) -> None:
    path = tmp_path / "box.vtp"
    path.write_bytes(vtp(*BOX, layout=layout, order=order))
    is_box(read_mesh(path))


def test_strips_alternate_their_sense(tmp_path: Path) -> None:
    """Two strips go about the box: its sides, and both ends as strips of two triangles."""
    about = (0, 1, 4, 5, 6, 7, 2, 3, 0, 1)
    path = tmp_path / "box.vtp"
    path.write_bytes(vtp(BOX[0], (tuple(reversed(about)), (1, 3, 5, 7), (0, 4, 2, 6)), cells="Strips"))
    assert abs(volume(read_mesh(path))) == pytest.approx(0.1 * 0.4 * 0.05, rel=1e-6)


@pytest.mark.parametrize("suffix", ["stl", "STL", "obj"])
def test_stl_and_obj_files_are_the_box_with_its_corners_joined(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"box.{suffix}"
    whole = trimesh.Trimesh(BOX[0], triangles(BOX[1]), process=False)
    content = whole.export(file_type=suffix.lower())
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    is_box(read_mesh(path))


def test_opensim_reads_the_same_vertices(tmp_path: Path) -> None:
    path = save_vtp(tmp_path / "box.vtp", (BOX[0], triangles(BOX[1])))
    (theirs,) = answers(task("vertices", path, []))
    np.testing.assert_allclose(sorted(read_mesh(path)[0].tolist()), sorted(theirs), atol=1e-6)


def test_fewer_triangles_keep_the_shape() -> None:
    full = ball(0.05, 60)
    for most in (2000, 300):
        vertices, faces = simplified(full, most)
        assert 0.5 * most < len(faces) <= most
        assert volume((vertices, faces)) == pytest.approx(volume(full), rel=0.12)
        radii = np.linalg.norm(vertices, axis=1)
        assert radii.max() < 0.0505 and radii.min() > 0.045
    assert simplified(full, 10**6) is full


TEXT = vtp(*BOX).decode()
DAMAGED = {
    "empty.vtp": b"",
    "cut.vtp": TEXT[: len(TEXT) // 2].encode(),
    "other.vtp": TEXT.replace('"PolyData"', '"UnstructuredGrid"', 1).encode(),
    "no_polygons.vtp": vtp(BOX[0], ((0, 1),)),
    "beyond.vtp": vtp(BOX[0], ((0, 1, 9),)),
    "words.vtp": TEXT.replace("-0.4", "none", 1).encode(),
    "not_finite.vtp": TEXT.replace("-0.4", "nan", 1).encode(),
    "points.vtp": TEXT.replace('NumberOfPoints="8"', 'NumberOfPoints="9"').encode(),
    "short.vtp": vtp(*BOX, layout="raw").replace(b"\x60\x00\x00\x00", b"\xff\xff\x00\x00", 1),
    "lz4.vtp": TEXT.replace("<VTKFile ", '<VTKFile compressor="vtkLZ4DataCompressor" ').encode(),
    "text.stl": b"no triangles here",
    "text.obj": b"no triangles here",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(DAMAGED[name])
    with refused("bad_format", name):
        read_mesh(path)


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "bone.vtp").mkdir()
    with refused("unreadable_file", "bone.vtp"):
        read_mesh(tmp_path / "bone.vtp")

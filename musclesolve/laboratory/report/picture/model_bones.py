"""The bones of an OpenSim model, from the files of geometry that it names: VTP (PolyData of VTK), STL and OBJ.

STL and OBJ are read by trimesh, which the package needs anyway. VTP is read here: trimesh and meshio do not support it,
and vtk, which does, is a hundred times as large as this reader. Polygons become fans of triangles, strips
alternate their sense. Arrays stand as text, in base64, or appended at the end (raw or base64), compressed by zlib or
LZMA or not, in either byte order ("VTK XML file formats", docs.vtk.org).
"""

import base64
import io
import lzma
import re
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path, PureWindowsPath
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from muscle_db.regular_file import MEBIBYTE, UnsuitableFileError, read_regular
from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve._util.messages import shortened
from musclesolve.errors import file_error
from musclesolve.laboratory.report.picture.bones import Surface
from musclesolve.laboratory.report.picture.lofted_bones import Mesh, joined
from musclesolve.models.opensim.model import TO_GLOBAL, AttachedMesh
from musclesolve.models.opensim.read_model import read_osim

MESH_SUFFIXES = (".vtp", ".stl", ".obj")
_TYPES = {"Float32": "f4", "Float64": "f8"} | {
    f"{sign}Int{8 * size}": f"{'u' if sign else 'i'}{size}" for sign in ("", "U") for size in (1, 2, 4, 8)
}
_LARGEST = 64 * MEBIBYTE
"""Size of a file of a surface, and of a part of it unpacked, that is never reached by a bone."""
_DECOMPRESS: dict[str, Callable[[], Any]] = {
    "vtkZLibDataCompressor": zlib.decompressobj,
    "vtkLZMADataCompressor": lzma.LZMADecompressor,
}
SAME_VERTEX = 1e-7
"""Distance below which vertices are equal, as a share of the extent."""


def read_mesh(path: Path) -> Mesh:
    """Vertices (V, 3) and triangles (F, 3) of a file, in its own unit; equal vertices are one."""
    try:
        content = read_regular(path, _LARGEST)
        read = _read_vtp if path.suffix.casefold() == ".vtp" else _read_by_trimesh
        vertices, faces = read(content, path.suffix.casefold().removeprefix("."))
        if not len(faces):
            raise ValueError("no polygons")
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise ValueError("points that are not three finite numbers each")
        if not (faces.min() >= 0 and faces.max() < len(vertices)):
            raise ValueError(f"a polygon of points beyond the {len(vertices)} that there are")
    except (OSError, UnsuitableFileError) as fault:
        raise file_error(
            "unreadable_file",
            path,
            f"the geometry cannot be read ({fault})",
            "a file of a surface: .vtp, .stl or .obj",
            "replace the file, or take it out of the folder: the bone is drawn without it",
        ) from fault
    except Exception as fault:  # any exception of the readers from a damaged file
        raise file_error(
            "bad_format",
            path,
            f"the file holds no surface ({type(fault).__name__}: {fault})",
            {".vtp": "PolyData of VTK as XML", ".stl": "an STL file", ".obj": "a Wavefront OBJ file"}.get(
                path.suffix.casefold(), "a .vtp, .stl or .obj file"
            ),
            "export it again, or take it out of the folder: the bone is drawn without it",
        ) from fault
    return merged(vertices, faces, SAME_VERTEX * max(float(np.ptp(vertices, axis=0).max(initial=0.0)), 1e-12))


def _read_by_trimesh(content: bytes, kind: str) -> Mesh:
    import trimesh

    options: dict[str, Any] = {"skip_materials": True} if kind == "obj" else {}
    loaded: Any = trimesh.load_mesh(io.BytesIO(content), file_type=kind, process=False, **options)
    return np.asarray(loaded.vertices, float), np.asarray(loaded.faces, np.intp)


def _read_vtp(content: bytes, _: str) -> Mesh:
    """All pieces of a file, one after the other."""
    # raw appended data are no XML: they are taken out before it is read
    appended, raw = b"", False
    if mark := re.search(rb'<AppendedData[^>]*encoding\s*=\s*"raw"[^>]*>\s*_', content):
        raw, end = True, content.rfind(b"</AppendedData>")
        appended, content = content[mark.end() : end], content[: mark.end()] + content[end:]
    root = ElementTree.fromstring(content)
    if root.tag != "VTKFile" or root.get("type") != "PolyData":
        raise ValueError(f"a {root.tag} of type {root.get('type')}, not a VTKFile of type PolyData")
    holder = root.find("AppendedData")
    if holder is not None and not raw:
        appended = (holder.text or "").strip().removeprefix("_").encode("ascii")
    order = ">" if root.get("byte_order") == "BigEndian" else "<"
    header = np.dtype(order + _TYPES[root.get("header_type", "UInt32")])
    compressor = root.get("compressor")
    if compressor and compressor not in _DECOMPRESS:
        raise ValueError(f"compressed by {compressor}, not by zlib or LZMA")

    def values(array: ElementTree.Element) -> AnyArray:
        """Return the values of a DataArray, flat."""
        kind, coded = array.get("format", "ascii"), True
        if kind == "ascii":
            return np.array((array.text or "").split(), dtype=float)
        if kind == "appended":
            data, coded = appended[int(array.get("offset", "0")) :], not raw
        else:
            data = (array.text or "").encode("ascii")
        if coded:
            # header and data are encoded one by one, or together
            data = b"".join(map(base64.b64decode, re.findall(rb"[A-Za-z0-9+/]+={0,2}", data)))
        if compressor:
            blocks = int(np.frombuffer(data, header, 1)[0])
            sizes = np.frombuffer(data, header, blocks, 3 * header.itemsize).astype(int)
            ends = (3 + blocks) * header.itemsize + np.cumsum([0, *sizes])
            block = b"".join(
                _DECOMPRESS[compressor]().decompress(data[a:b], _LARGEST) for a, b in pairwise(ends)
            )
        else:
            size = int(np.frombuffer(data, header, 1)[0])
            block = data[header.itemsize : header.itemsize + size]
            if len(block) < size:
                raise ValueError(f"{len(block)} bytes of an array of {size}")
        return np.frombuffer(block, np.dtype(order + _TYPES[array.get("type", "")]))

    vertices: list[Array] = []
    faces: list[Indices] = []
    for piece in root.iterfind("PolyData/Piece"):
        points = piece.find("Points/DataArray")
        if points is None:
            raise ValueError("a piece without points")
        start = sum(map(len, vertices))
        vertices.append(values(points).astype(float).reshape(-1, 3))
        if len(vertices[-1]) != int(piece.get("NumberOfPoints", len(vertices[-1]))):
            raise ValueError(f"{len(vertices[-1])} points of {piece.get('NumberOfPoints')}")
        for cells, triangles in (("Polys", _fans), ("Strips", _strips)):
            arrays = {one.get("Name"): one for one in piece.iterfind(f"{cells}/DataArray")}
            if {"connectivity", "offsets"} <= set(arrays):
                corners, ends = (values(arrays[name]).astype(np.intp) for name in ("connectivity", "offsets"))
                if ends.size and (ends[-1] > len(corners) or (np.diff(ends, prepend=0) < 0).any()):
                    raise ValueError(f"{cells} of {len(corners)} corners that end at {ends[-1]}")
                faces.append(triangles(corners, ends) + start)
    none = np.zeros((0, 3))
    return np.concatenate([none, *vertices]), np.concatenate([none.astype(np.intp), *faces])


def _fans(corners: Indices, ends: Indices) -> Indices:
    """Triangles (F, 3) about the first corner of each polygon."""
    first, number = _in_turn(ends)
    return np.stack([corners[first], corners[first + number + 1], corners[first + number + 2]], axis=1)


def _strips(corners: Indices, ends: Indices) -> Indices:
    """Triangles (F, 3) of three corners in a row of each strip, every second one turned."""
    first, number = _in_turn(ends)
    at, odd = first + number, number % 2
    return np.stack([corners[at], corners[at + 1 + odd], corners[at + 2 - odd]], axis=1)


def _in_turn(ends: Indices) -> tuple[Indices, Indices]:
    """The first corner of the cell of each triangle (F,), and the number of the triangle in it, from 0."""
    starts = np.concatenate([[0], ends[:-1]]).astype(np.intp)
    counts = np.maximum(ends - starts - 2, 0)
    return np.repeat(starts, counts), np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def merged(vertices: Array, faces: Indices, cell: float) -> Mesh:
    """Merge the vertices in each cell of a grid to their mean; faces that lose a corner are left out.

    cell: edge of the cells, in the unit of the vertices.
    """
    cells = _alike(np.floor((vertices - vertices.min(axis=0)) / cell + 0.5).astype(np.int64))
    counts = np.bincount(cells)
    means = np.stack([np.bincount(cells, column, len(counts)) / counts for column in vertices.T], axis=1)
    corners = cells[faces]
    kept = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    corners = corners[kept]
    _, single = np.unique(_alike(np.sort(corners, axis=1)), return_index=True)
    corners = corners[np.sort(single)]
    used, renumbered = np.unique(corners, return_inverse=True)
    return means[used], renumbered.reshape(-1, 3)


def _alike(rows: Indices) -> Indices:
    """Numbers (k,), the same for equal rows (k, 3)."""
    return pd.DataFrame(rows).groupby([0, 1, 2]).ngroup().to_numpy(np.intp)


def simplified(mesh: Mesh, most: int) -> Mesh:
    """Simplify a surface to at most `most` triangles, by the finest sufficient grid of cells, to a tenth."""
    vertices, faces = mesh
    if len(faces) <= most:
        return mesh
    extent = float(np.ptp(vertices, axis=0).max())
    low, high = 1e-4 * extent, extent
    coarse = merged(vertices, faces, high)
    while high > 1.1 * low:
        middle = float(np.sqrt(low * high))
        less = merged(vertices, faces, middle)
        if len(less[1]) <= most:
            high, coarse = middle, less
        else:
            low = middle
    return coarse


GEOMETRY_FOLDER = "Geometry"
"""The folder beside a model in which OpenSim looks for its geometry."""
MOST_FACES = 24_000
"""Largest number of faces of all bones, which a page without graphics hardware draws fast enough."""
LEAST_FACES = 40
"""Least number of faces of one file."""
NAMED = 4
"""Number of missing files named in the note."""


def model_surfaces(
    model_file: Path, segments: tuple[str, ...], folder: Path | None = None
) -> tuple[dict[str, Surface], list[str]]:
    """The surfaces of the bodies of a model by name, and sentences on missing files.

    A file is looked for in the folder, in the folder Geometry beside the model, and beside the model.

    Args:
        model_file: the .osim file.
        segments: bodies that are drawn.
        folder: of .vtp, .stl and .obj files, whose names need not have the model's capitals.
    """
    if model_file.suffix.casefold() != ".osim":
        return {}, [f"Bones are drawn simply: {model_file.name} names no geometry."]
    if not model_file.is_file():
        return {}, [f"Bones are drawn simply: the model is no longer at {model_file}."]
    attached = [mesh for mesh in read_osim(model_file).meshes if mesh.frame.body in segments]
    places = [at for at in (folder, model_file.parent / GEOMETRY_FOLDER, model_file.parent) if at is not None]
    files = {bone.file: _find(bone.file, places) for bone in attached}
    meshes = {name: read_mesh(path) for name, path in files.items() if path is not None}
    total = sum(len(meshes[bone.file][1]) for bone in attached if bone.file in meshes)
    parts: dict[str, list[Mesh]] = {}
    for bone in attached:
        if bone.file in meshes:
            share = max(LEAST_FACES, int(len(meshes[bone.file][1]) * MOST_FACES / max(total, MOST_FACES)))
            parts.setdefault(bone.frame.body, []).append(
                placed_mesh(bone, simplified(meshes[bone.file], share))
            )
    missing = [name for name, path in files.items() if path is None]
    notes = [] if not missing else [_note(missing, len(files), places)]
    return {body: Surface(*joined(parts_of), closed=False) for body, parts_of in parts.items()}, notes


def placed_mesh(attached: AttachedMesh, mesh: Mesh) -> Mesh:
    """The surface on its body, in axes that point forward, left and up where the axes of the body do
    so as OpenSim's.
    """
    vertices, faces = mesh
    placed = attached.frame.place(attached.scale * vertices) @ TO_GLOBAL.T
    return placed, faces if attached.scale.prod() > 0.0 else faces[:, ::-1]


def _find(name: str, places: Sequence[Path]) -> Path | None:
    """A file by its name or path in a model, in the first of the places that has it."""
    # paths of Windows are read on every system
    parts = PureWindowsPath(name)
    if parts.suffix.casefold() not in MESH_SUFFIXES:
        return None
    for place in places:
        for path in (place / parts.as_posix(), place / parts.name):
            if path.is_file():
                return path
        if place.is_dir():
            for path in sorted(place.iterdir()):
                if path.name.casefold() == parts.name.casefold():
                    return path
    return None


def _note(missing: Sequence[str], count: int, places: Sequence[Path]) -> str:
    names = shortened(missing, NAMED)
    return (
        f"{len(missing)} of {count} files of geometry are not in {places[0]}: {names}. Simple bones are drawn in their "
        "place; `musclesolve report RESULT.nc --geometry FOLDER` draws them from the .vtp, .stl or .obj files of a "
        "folder."
    )

"""Surfaces for tests, and files of them as VTK, OpenSim's geometry and other programs write them."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]

BOX = (
    np.array([[x, y, z] for x in (0.0, 0.1) for y in (-0.4, 0.0) for z in (-0.02, 0.03)]),
    ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)),
)
"""Corners (8, 3) [m] and the quadrilaterals of a box, counterclockwise seen from outside."""


def triangles(polygons: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """(F, 3) about the first corner of each polygon."""
    return np.array([(each[0], each[k], each[k + 1]) for each in polygons for k in range(1, len(each) - 1)])


def ball(radius: float, rings: int = 40) -> Mesh:
    """A sphere of triangles about the origin."""
    theta, phi = np.meshgrid(
        np.linspace(0.0, np.pi, rings), np.linspace(0.0, 2.0 * np.pi, 2 * rings, False), indexing="ij"
    )
    places = radius * np.stack(
        [np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=2
    )
    k, m = np.meshgrid(np.arange(rings - 1), np.arange(2 * rings), indexing="ij")
    a, b = k * 2 * rings + m, k * 2 * rings + (m + 1) % (2 * rings)
    corners = [np.stack([a, a + 2 * rings, b], axis=2), np.stack([b, a + 2 * rings, b + 2 * rings], axis=2)]
    return places.reshape(-1, 3), np.concatenate(corners).reshape(-1, 3)


def vtp(
    vertices: np.ndarray,
    polygons: tuple[tuple[int, ...], ...] | np.ndarray,
    layout: str = "ascii",
    cells: str = "Polys",
    order: str = "<",
) -> bytes:
    """A VTP file; layout: ascii, binary, zlib, appended (base64) or raw."""
    appended, header = b"", order + "I"

    def array(name: str, kind: str, values: np.ndarray) -> str:
        nonlocal appended
        about = f'type="{kind}" Name="{name}"' + (' NumberOfComponents="3"' if name == "Points" else "")
        own = np.ascontiguousarray(values, {"Float32": order + "f4", "Int32": order + "i4"}[kind]).tobytes()
        if layout == "ascii":
            text = " ".join(f"{value:.9g}" for value in np.ravel(values))
            return f'<DataArray {about} format="ascii">\n{text}\n</DataArray>'
        if layout == "zlib":
            blocks = [own[k : k + 64] for k in range(0, len(own), 64)]
            packed = [zlib.compress(block) for block in blocks]
            head = struct.pack(
                f"{order}{3 + len(blocks)}I", len(blocks), 64, len(blocks[-1]), *map(len, packed)
            )
            text = (base64.b64encode(head) + base64.b64encode(b"".join(packed))).decode()
            return f'<DataArray {about} format="binary">{text}</DataArray>'
        content = struct.pack(header, len(own)) + own
        if layout == "binary":
            return f'<DataArray {about} format="binary">{base64.b64encode(content).decode()}</DataArray>'
        place = len(appended)
        appended += content if layout == "raw" else base64.b64encode(content)
        return f'<DataArray {about} format="appended" offset="{place}"/>'

    corners = np.array([k for each in polygons for k in each])
    ends = np.cumsum([len(each) for each in polygons])
    piece = (
        f'<Piece NumberOfPoints="{len(vertices)}" NumberOfPolys="{len(ends)}">'
        f"<Points>{array('Points', 'Float32', vertices)}</Points>"
        f"<{cells}>{array('connectivity', 'Int32', corners)}{array('offsets', 'Int32', ends)}</{cells}></Piece>"
    )
    compressor = ' compressor="vtkZLibDataCompressor"' if layout == "zlib" else ""
    byte_order = "LittleEndian" if order == "<" else "BigEndian"
    text = (
        f'<?xml version="1.0"?>\n<VTKFile type="PolyData" version="0.1" byte_order="{byte_order}"{compressor}>'
        f"<PolyData>{piece}</PolyData>"
    ).encode()
    if layout in ("appended", "raw"):
        encoding = "raw" if layout == "raw" else "base64"
        text += f'<AppendedData encoding="{encoding}">\n_'.encode() + appended + b"\n</AppendedData>"
    return text + b"</VTKFile>\n"


def save_vtp(path: Path, mesh: Mesh) -> Path:
    """A VTP file of triangles, as text."""
    path.write_bytes(vtp(mesh[0], mesh[1]))
    return path

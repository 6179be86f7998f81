"""The bones of an OpenSim model, from the files of geometry that it names."""

from collections.abc import Sequence
from pathlib import Path, PureWindowsPath

from musclesolve._util.names import shortened
from musclesolve.errors import input_error
from musclesolve.opensim.model import TO_GLOBAL, AttachedMesh
from musclesolve.opensim.read_model import read_osim
from musclesolve.report.picture.bones import Surface
from musclesolve.report.picture.lofted_bones import Mesh, joined
from musclesolve.report.picture.mesh_file import MESH_SUFFIXES, read_mesh, simplified

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
    if folder is not None and not folder.is_dir():
        raise input_error(
            "missing_file",
            file=folder,
            problem="there is no such folder",
            expected="a folder with the geometry of the model: .vtp, .stl or .obj files",
            remedy="name OpenSim's own, Geometry in its installation, or leave --geometry out",
        )
    if model_file.suffix.casefold() != ".osim":
        return {}, [f"Bones are simple bodies or lines: {model_file.name} names no geometry."]
    if not model_file.is_file():
        return {}, [f"Bones are simple bodies or lines: the model is no longer at {model_file}."]
    attached = [mesh for mesh in read_osim(model_file).meshes if mesh.frame.body in segments]
    places = [
        each for each in (folder, model_file.parent / GEOMETRY_FOLDER, model_file.parent) if each is not None
    ]
    files = {bone.file: _find(bone.file, places) for bone in attached}
    meshes = {name: read_mesh(path) for name, path in files.items() if path is not None}
    total = sum(len(meshes[bone.file][1]) for bone in attached if bone.file in meshes)
    parts: dict[str, list[Mesh]] = {}
    for bone in attached:
        if bone.file in meshes:
            faces = len(meshes[bone.file][1])
            share = max(LEAST_FACES, int(faces * MOST_FACES / max(total, MOST_FACES)))
            parts.setdefault(bone.frame.body, []).append(
                placed_mesh(bone, simplified(meshes[bone.file], share))
            )
    missing = [name for name, path in files.items() if path is None]
    notes = [] if not missing else [_note(missing, len(files), places)]
    return {body: Surface(*joined(own), closed=False) for body, own in parts.items()}, notes


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
        f"{len(missing)} of {count} files of geometry are not in {places[0]}: {names}. Their bones are simple bodies "
        "or lines; --geometry FOLDER names the folder of the .vtp, .stl or .obj files."
    )

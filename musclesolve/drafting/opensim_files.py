"""What XML files of OpenSim state about a recording: which foot a plate acts on, and who the subject is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from musclesolve.opensim.external_loads import identified_columns, side_in
from musclesolve.opensim.read_context import last_part
from musclesolve.opensim.xml_tree import Element, read_xml
from musclesolve.recording.data import Side, Table

_ROLES = {"force": "force", "point": "point", "torque": "moment"}
_GROUND = "ground"


@dataclass(frozen=True)
class StatedLoad:
    """One force of an ExternalLoads file: the foot, and what its columns begin with, by role."""

    body: str
    side: Side | None
    identifiers: dict[str, str]
    in_ground: bool


@dataclass(frozen=True)
class LoadsFile:
    """An ExternalLoads file: its data file by name, and its forces."""

    path: Path
    data_file: str
    loads: tuple[StatedLoad, ...]


@dataclass(frozen=True)
class ScaleSetup:
    """A setup file of OpenSim's scale tool: what it states of the subject, None where it states nothing."""

    path: Path
    name: str | None
    mass: float | None
    stature: float | None


def read_opensim(path: Path) -> LoadsFile | ScaleSetup | str:
    """Read an XML file: external loads, a scale setup, or the name of what else it describes.

    Raises:
        InputError: a file that cannot be read.
    """
    root = read_xml(path, "an ExternalLoads or scale setup file of OpenSim (.xml)")
    for element in root.descendants():
        if element.tag == "ExternalLoads":
            return _loads(path, element)
        if element.tag == "ScaleTool":
            mass, height = _number(element, "mass"), _number(element, "height")
            # In millimetres, unless it is no more than three.
            stature = None if height is None else height * (0.001 if height > 3.0 else 1.0)
            return ScaleSetup(path, element.name or None, mass, stature)
    return root.children[0].tag if root.children else root.tag


def _loads(path: Path, element: Element) -> LoadsFile:
    """The forces of an ExternalLoads file that are applied."""
    loads = []
    for force in [child for child in element.descendants() if child.tag == "ExternalForce"]:
        if _text(force, "appliesForce") == "false" or _text(force, "isDisabled") == "true":
            continue
        body = last_part(_text(force, "applied_to_body"))
        named = {role: _text(force, f"{kind}_identifier") for kind, role in _ROLES.items()}
        frames = {last_part(_text(force, f"{kind}_expressed_in_body")) for kind in ("force", "point")}
        identifiers = {role: name for role, name in named.items() if name}
        loads.append(StatedLoad(body, side_in(body), identifiers, frames <= {"", _GROUND}))
    file_name = _text(element, "datafile").replace("\\", "/").rpartition("/")[2]
    return LoadsFile(path, file_name, tuple(loads))


def columns_of(load: StatedLoad, table: Table) -> dict[str, tuple[str, str, str]]:
    """The columns that a load names, by role; without those that the table does not have."""
    columns = {}
    for role, stem in load.identifiers.items():
        names = identified_columns(table, stem)
        if len(names) == 3:
            columns[role] = (names[0], names[1], names[2])
    return columns


def _number(element: Element, tag: str) -> float | None:
    """A positive number; -1 or 0 stand for what is not known."""
    try:
        value = float(_text(element, tag))
    except ValueError:
        return None
    return value if 0.0 < value < 1e4 else None


def _text(element: Element, tag: str) -> str:
    child = element.find(tag)
    return "" if child is None else child.text.strip()

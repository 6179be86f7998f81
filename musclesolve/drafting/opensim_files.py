"""What XML files of OpenSim state about a recording: which foot a plate acts on, and who the subject is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from musclesolve.opensim.inverse.plate_columns import identified_columns
from musclesolve.opensim.read_context import last_part
from musclesolve.opensim.xml_tree import Element, read_xml
from musclesolve.recording.data import Side, Table

_SIDE = re.compile(r"(?:^|[^a-z])(r|l|right|left)(?:[^a-z]|$)", re.IGNORECASE)
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
            return _setup(path, element)
    return root.children[0].tag if root.children else root.tag


def _loads(path: Path, element: Element) -> LoadsFile:
    forces = [each for each in element.descendants() if each.tag == "ExternalForce" and _applies(each)]
    return LoadsFile(path, _file_name(_text(element, "datafile")), tuple(map(_load, forces)))


def _applies(element: Element) -> bool:
    return _text(element, "appliesForce") != "false" and _text(element, "isDisabled") != "true"


def _load(element: Element) -> StatedLoad:
    body = last_part(_text(element, "applied_to_body"))
    found = _SIDE.search(body)
    side: Side | None = None if found is None else "r" if found[1][0].lower() == "r" else "l"
    named = {role: _text(element, f"{kind}_identifier") for kind, role in _ROLES.items()}
    frames = {last_part(_text(element, f"{kind}_expressed_in_body")) for kind in ("force", "point")}
    return StatedLoad(
        body, side, {role: name for role, name in named.items() if name}, frames <= {"", _GROUND}
    )


def columns_of(load: StatedLoad, table: Table) -> dict[str, tuple[str, str, str]]:
    """The columns that a load names, by role; without those that the table does not have."""
    found = {}
    for role, stem in load.identifiers.items():
        names = identified_columns(table, stem)
        if len(names) == 3:
            found[role] = (names[0], names[1], names[2])
    return found


def _setup(path: Path, element: Element) -> ScaleSetup:
    mass, height = _number(element, "mass"), _number(element, "height")
    return ScaleSetup(
        path,
        element.name or None,
        mass,
        None if height is None else height * (0.001 if height > 3.0 else 1.0),
    )


def _number(element: Element, tag: str) -> float | None:
    """A positive number; -1 or 0 stand for what is not known."""
    try:
        value = float(_text(element, tag))
    except ValueError:
        return None
    return value if 0.0 < value < 1e4 else None


def _text(element: Element, tag: str) -> str:
    found = element.find(tag)
    return "" if found is None else found.text.strip()


def _file_name(text: str) -> str:
    return text.replace("\\", "/").rpartition("/")[2]

"""Components of a model file by their paths, found as OpenSim 4 finds them.

The path of a component is the path of its owner and its name: "/bodyset/femur_r", "/jointset/hip_r/femur_offset",
"/ground". Sets of the model are called like their class in lower case, whatever name the file gives them. Elements
in lower case (<components>, <frames>, <objects>, <path>) are properties: what they hold belongs to the owner of the
property, and so do the points of a path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from musclesolve.opensim.model import GROUND
from musclesolve.opensim.xml_tree import Element

_NO_COMPONENTS = ("defaults", "groups", "Appearance", "attached_geometry")
_NOT_IN_PATHS = ("PathPointSet", "PathWrapSet")
_FIRST = ("Ground", "BodySet", "JointSet")
"""Order in which OpenSim visits the parts of a model; the others follow in that of the file."""


@dataclass(frozen=True, eq=False)
class Components:
    """Components of a model: all in the order in which OpenSim visits them, an owner before what it owns.

    frames: ground, bodies and frames on them by path.
    """

    every: tuple[Element, ...]
    frames: dict[str, Element]

    def of_kind(self, ending: str) -> list[Element]:
        """Components whose class ends like this."""
        return [each for each in self.every if each.tag.endswith(ending)]

    def frame(self, path: str, owner: str) -> Element | None:
        """The frame at a path, absolute or relative to its owner; None where there is none."""
        parts = [] if path.startswith("/") else owner.split("/")[1:]
        for part in path.split("/"):
            if part == "..":
                if not parts:
                    return None
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        return self.frames.get("/" + "/".join(parts))

    def frames_called(self, name: str) -> list[Element]:
        """The body of this name, else all frames of this name."""
        called = [each for each in self.frames.values() if each.name == name]
        return [each for each in called if each.tag in ("Body", "Ground")] or called


def components(model: Element) -> Components:
    """The components of a <Model> in the layout of version 4; sets their paths."""
    if model.find("Ground") is None:
        model.children.append(Element("Ground", GROUND, model.file, model.line))
    order = {tag: place for place, tag in enumerate(_FIRST)}
    parts = sorted(model.children, key=lambda child: order.get(child.tag, len(order)))
    every = tuple(each for part in parts for each in _walk(part, ""))
    frames: dict[str, Element] = {}
    for each in every:
        if each.tag in ("Body", "Ground") or each.tag.endswith("Frame"):
            frames.setdefault(each.path, each)
    return Components(every, frames)


def _walk(element: Element, owner: str) -> Iterator[Element]:
    if element.tag in _NO_COMPONENTS:
        return
    is_component = element.tag[0].isupper() and element.tag not in _NOT_IN_PATHS
    if is_component:
        is_called = element.name and not element.tag.endswith("Set") and element.tag != "Ground"
        element.path = f"{owner}/{element.name if is_called else element.tag.lower()}"
        yield element
    for child in element.children:
        yield from _walk(child, element.path if is_component else owner)

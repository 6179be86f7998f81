"""Model files of version 4 rewritten as versions 2 and 3 laid them out: joints in bodies, bodies named in points."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

_DRAWN = ("attached_geometry", "FrameGeometry", "Appearance", "components", "frames")
_RENAMED = {
    "socket_parent_frame": "body",
    "socket_coordinate": "coordinate",
    "socket_x_coordinate": "x_coordinate",
    "socket_y_coordinate": "y_coordinate",
    "socket_z_coordinate": "z_coordinate",
}
_INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")


def save_old(path: Path, text: str, version: int) -> Path:
    """The model in the layout of an older version, as a file."""
    root = ElementTree.fromstring(text)
    root.set("Version", str(version))
    model = root.find("Model")
    assert model is not None
    bodies = _bodies(model)
    for joint in model.findall("JointSet/objects/*"):
        _into_body(joint, bodies)
    model.remove(model.find("JointSet"))  # type: ignore[arg-type]
    for point in model.iter():
        if point.tag.endswith("PathPoint"):
            _name_body(point)
    for tag in ("isEnforced", "appliesForce"):
        for switch in model.iter(tag):
            switch.tag, switch.text = "isDisabled", str((switch.text or "").strip() != "true").lower()
    for axis in model.iter("TransformAxis"):
        _wrap_function(axis)
    for owner in list(model.iter()):
        for child in [child for child in owner if child.tag in _DRAWN]:
            owner.remove(child)
    path.write_bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))
    return path


def _bodies(model: Element) -> dict[str, Element]:
    """Bodies by name, with the ground among them and inertia as six elements."""
    objects = model.find("BodySet/objects")
    assert objects is not None
    ground = model.find("Ground")
    if ground is not None:
        model.remove(ground)
    ground = Element("Body") if ground is None else ground
    ground.tag, ground.attrib = "Body", {"name": "ground"}
    objects.insert(0, ground)
    for body in objects:
        inertia = body.find("inertia")
        if inertia is not None:
            body.remove(inertia)
        numbers = "0 0 0 0 0 0" if inertia is None else inertia.text or ""
        for axes, number in zip(_INERTIA, numbers.split(), strict=True):
            SubElement(body, f"inertia_{axes}").text = number
    return {body.get("name", ""): body for body in objects}


def _into_body(joint: Element, bodies: dict[str, Element]) -> None:
    frames = {frame.get("name"): frame for frame in joint.findall("frames/*")}
    ends = {}
    for end, suffix in (("parent", "_in_parent"), ("child", "")):
        socket = joint.find(f"socket_{end}_frame")
        assert socket is not None
        joint.remove(socket)
        name = (socket.text or "").rsplit("/", 1)[-1]
        frame = frames.get(name)
        if frame is not None:
            name = (frame.findtext("socket_parent") or "").rsplit("/", 1)[-1]
            SubElement(joint, f"location{suffix}").text = frame.findtext("translation")
            SubElement(joint, f"orientation{suffix}").text = frame.findtext("orientation")
        ends[end] = name
    SubElement(joint, "parent_body").text = ends["parent"]
    coordinates = joint.find("coordinates")
    if coordinates is not None:
        coordinates.tag = "CoordinateSet"
        inside = list(coordinates)
        for each in inside:
            coordinates.remove(each)
        SubElement(coordinates, "objects").extend(inside)
    SubElement(joint, "reverse").text = "false"
    SubElement(bodies[ends["child"]], "Joint").append(joint)


def _name_body(point: Element) -> None:
    for child in point:
        if child.tag in _RENAMED:
            child.tag, child.text = _RENAMED[child.tag], (child.text or "").rsplit("/", 1)[-1]


def _wrap_function(axis: Element) -> None:
    for child in [child for child in axis if child.tag not in ("coordinates", "axis", "function")]:
        axis.remove(child)
        child.attrib.pop("name", None)
        SubElement(axis, "function").append(child)

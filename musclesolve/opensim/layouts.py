"""Elements of a model file in the layout of version 4: elements of version 2 or 3 rewritten, and found by their paths.

Components are found as OpenSim 4 finds them. The path of a component is the path of its owner and its name:
"/bodyset/femur_r", "/jointset/hip_r/femur_offset", "/ground". The name of a set of the model is its class in lower
case; its name in the file is ignored. Elements in lower case (<components>, <frames>, <objects>, <path>) are
properties: their content belongs to the owner of the property, and so do the points of a path.
"""

from collections.abc import Iterator

from musclesolve.opensim.model import GROUND
from musclesolve.opensim.xml_tree import Element

CURRENT = 40000
"""First version of the layout that the reader reads."""
_SOCKETS = {
    "body": "socket_parent_frame",
    "coordinate": "socket_coordinate",
    "x_coordinate": "socket_x_coordinate",
    "y_coordinate": "socket_y_coordinate",
    "z_coordinate": "socket_z_coordinate",
}
"""Tags, before version 4 and since, of the body of a path point and of the coordinate on which it depends."""
_MUSCLE = {"pennation_angle": "pennation_angle_at_optimal"}
_SWITCHES = {"ForceSet": "appliesForce", "ConstraintSet": "isEnforced"}
"""Flag that is the opposite of <isDisabled>."""
_INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")


def upgrade(model: Element) -> None:
    """Convert the elements of a <Model> to version 4 in place; they keep their lines."""
    for element in list(model.descendants()):
        # sockets as the versions between 3 and 4 wrote them: <connectors>, or a longer tag
        holders = [child for child in element.children if child.tag == "connectors"]
        for connector in (member for holder in holders for member in holder.children):
            connectee = connector.find("connectee_name")
            if connectee is not None:
                connectee.tag = f"socket_{connector.name}"
                element.children.append(connectee)
        for child in element.children:
            if child.tag.startswith("socket_"):
                child.tag = child.tag.removesuffix("_connectee_name")
    for body in model.listed("BodySet"):
        parts = [body.find(f"inertia_{axes}") for axes in _INERTIA]
        if body.find("inertia") is None and any(parts):
            numbers = [0.0 if part is None else part.number() for part in parts]
            _child(body, "inertia", " ".join(map(repr, numbers)))
    _move_joints(model)
    for kind, switch in _SWITCHES.items():
        for element in model.listed(kind):
            disabled = element.filled("isDisabled")
            if disabled is not None and element.find(switch) is None:
                disabled.text = "false" if disabled.flag() else "true"
                disabled.tag = switch
    for muscle in model.listed("ForceSet"):
        _rename(muscle, _MUSCLE)
        for path in (child for child in muscle.children if child.tag == "GeometryPath"):
            for point in path.listed("PathPointSet"):
                _rename(point, _SOCKETS)


def _rename(element: Element, tags: dict[str, str]) -> None:
    for child in element.children:
        child.tag = tags.get(child.tag, child.tag)


_PARENT = ("location_in_parent", "orientation_in_parent")
_CHILD = (("location_in_child", "orientation_in_child"), ("location", "orientation"))
_ENDS = ("parent_frame", "child_frame")


def _child(owner: Element, tag: str, text: str = "", name: str = "") -> Element:
    """The child of this tag; created, on the line of its owner, if it is absent."""
    child = owner.find(tag)
    if child is None:
        child = Element(tag, name, owner.file, owner.line, text)
        owner.children.append(child)
    return child


def _move_joints(model: Element) -> None:
    """Move each joint from its body into <JointSet>, and the body "ground" into <Ground>, in place."""
    joints, others = model.listed("JointSet"), []
    bodies = model.find("BodySet")
    for body in model.listed("BodySet"):
        holder = body.find("Joint")
        if holder is not None:
            body.children.remove(holder)
            for joint in holder.children:
                _child(joint, "socket_child_frame", body.name)
                joints.append(joint)
        if body.name == GROUND:
            _child(model, "Ground", name=GROUND).children += body.children
        else:
            others.append(body)
    if bodies is not None:
        bodies.children = others
    _child(model, "JointSet").children = joints
    for joint in joints:
        _use_frames(joint)


def _use_frames(joint: Element) -> None:
    """Convert the frames and coordinates of a joint to version 4."""
    coordinates = joint.find("CoordinateSet")
    if coordinates is not None and joint.find("coordinates") is None:
        _child(joint, "coordinates").children = joint.listed("CoordinateSet")
    parent = joint.find("parent_body")
    if parent is not None:
        parent.tag = "socket_parent_frame"
    of_child = next((tags for tags in _CHILD if any(joint.find(tag) for tag in tags)), _CHILD[0])
    for end, tags in zip(_ENDS, (_PARENT, of_child), strict=True):
        if not any(joint.find(tag) for tag in tags):
            continue
        # an offset frame of the joint between the body and the joint
        socket = joint.require(f"socket_{end}")
        frame = Element("PhysicalOffsetFrame", f"{joint.name}_{end}", joint.file, joint.line)
        _child(frame, "socket_parent", socket.text)
        for tag, old in zip(("translation", "orientation"), tags, strict=True):
            stated = joint.find(old)
            if stated is not None:
                frame.children.append(stated)
                joint.children.remove(stated)
                stated.tag = tag
        _child(joint, "frames").children.append(frame)
        socket.text = frame.name
    reverse = joint.filled("reverse")
    if reverse is not None and reverse.flag():
        sockets = [joint.require(f"socket_{end}") for end in _ENDS]
        for socket, end in zip(sockets, reversed(_ENDS), strict=True):
            socket.tag = f"socket_{end}"


_NO_COMPONENTS = ("defaults", "groups", "Appearance", "attached_geometry")
_NOT_IN_PATHS = ("PathPointSet", "PathWrapSet")
_FIRST = ("Ground", "BodySet", "JointSet")
"""Order in which OpenSim visits the parts of a model; the others follow in the order of the file."""


def components(model: Element) -> tuple[Element, ...]:
    """The components of a <Model> in the layout of version 4; sets their paths.

    They are in the order in which OpenSim visits them, an owner before its parts.
    """
    if model.find("Ground") is None:
        model.children.append(Element("Ground", GROUND, model.file, model.line))
    order = {tag: place for place, tag in enumerate(_FIRST)}
    parts = sorted(model.children, key=lambda child: order.get(child.tag, len(order)))
    return tuple(component for part in parts for component in _walk(part, ""))


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

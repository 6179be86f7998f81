"""Joints inside the bodies that they place, as files before version 4 have them."""

from __future__ import annotations

from musclesolve.opensim.model import GROUND
from musclesolve.opensim.xml_tree import Element

_PARENT = ("location_in_parent", "orientation_in_parent")
_CHILD = (("location_in_child", "orientation_in_child"), ("location", "orientation"))
_ENDS = ("parent_frame", "child_frame")


def require_child(owner: Element, tag: str, text: str = "", name: str = "") -> Element:
    """The child of this tag; it is made, on the line of its owner, when there is none."""
    found = owner.find(tag)
    if found is None:
        found = Element(tag, name, owner.file, owner.line, text)
        owner.children.append(found)
    return found


def move_joints(model: Element) -> None:
    """Move each joint from its body into <JointSet>, and the body "ground" into <Ground>, in place."""
    joints, kept = model.listed("JointSet"), []
    bodies = model.find("BodySet")
    for body in model.listed("BodySet"):
        holder = body.find("Joint")
        if holder is not None:
            body.children.remove(holder)
            for joint in holder.children:
                require_child(joint, "socket_child_frame", body.name)
                joints.append(joint)
        if body.name == GROUND:
            require_child(model, "Ground", name=GROUND).children += body.children
        else:
            kept.append(body)
    if bodies is not None:
        bodies.children = kept
    require_child(model, "JointSet").children = joints
    for joint in joints:
        _use_frames(joint)


def _use_frames(joint: Element) -> None:
    """Frames and coordinates of a joint as version 4 has them."""
    coordinates = joint.find("CoordinateSet")
    if coordinates is not None and joint.find("coordinates") is None:
        require_child(joint, "coordinates").children = joint.listed("CoordinateSet")
    parent = joint.find("parent_body")
    if parent is not None:
        parent.tag = "socket_parent_frame"
    own = next((tags for tags in _CHILD if any(joint.find(tag) for tag in tags)), _CHILD[0])
    for end, tags in zip(_ENDS, (_PARENT, own), strict=True):
        if any(joint.find(tag) for tag in tags):
            _offset(joint, end, *tags)
    reverse = joint.find("reverse")
    if reverse is not None and reverse.words() and reverse.flag():
        for end in _ENDS:
            socket = joint.require(f"socket_{end}")
            socket.tag = f"socket_{_ENDS[1 - _ENDS.index(end)]}_of_reversed"
        for child in joint.children:
            child.tag = child.tag.removesuffix("_of_reversed")


def _offset(joint: Element, end: str, location: str, orientation: str) -> None:
    """Put an offset frame of the joint between a body and the joint."""
    socket = joint.require(f"socket_{end}")
    frame = Element("PhysicalOffsetFrame", f"{joint.name}_{end}", joint.file, joint.line)
    require_child(frame, "socket_parent", socket.text)
    for tag, old in (("translation", location), ("orientation", orientation)):
        found = joint.find(old)
        if found is not None:
            frame.children.append(found)
            joint.children.remove(found)
            found.tag = tag
    require_child(joint, "frames").children.append(frame)
    socket.text = frame.name

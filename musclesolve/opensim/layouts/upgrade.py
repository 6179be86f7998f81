"""Rewrites the elements of a model file of version 2 or 3 in the layout of version 4."""

from __future__ import annotations

from musclesolve.opensim.layouts.joints_in_bodies import move_joints, require_child
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
"""What a point of a path is attached to, and depends on: its tag before version 4, and since."""
_MUSCLE = {"pennation_angle": "pennation_angle_at_optimal"}
_SWITCHES = {"ForceSet": "appliesForce", "ConstraintSet": "isEnforced"}
"""Flag that is the opposite of <isDisabled>."""
_INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")


def upgrade(model: Element) -> None:
    """Change the elements of a <Model> in place; they keep their lines."""
    for element in list(model.descendants()):
        _connect(element)
    for body in model.listed("BodySet"):
        _join_inertia(body)
    move_joints(model)
    for kind, switch in _SWITCHES.items():
        for element in model.listed(kind):
            _enable(element, switch)
    for muscle in model.listed("ForceSet"):
        _rename(muscle, _MUSCLE)
        for path in (child for child in muscle.children if child.tag == "GeometryPath"):
            for point in path.listed("PathPointSet"):
                _rename(point, _SOCKETS)


def _rename(element: Element, tags: dict[str, str]) -> None:
    for child in element.children:
        child.tag = tags.get(child.tag, child.tag)


def _connect(element: Element) -> None:
    """Sockets as the versions between 3 and 4 wrote them: <connectors>, or a longer tag."""
    holders = [child for child in element.children if child.tag == "connectors"]
    for connector in (each for holder in holders for each in holder.children):
        connectee = connector.find("connectee_name")
        if connectee is not None:
            connectee.tag = f"socket_{connector.name}"
            element.children.append(connectee)
    for child in element.children:
        if child.tag.startswith("socket_"):
            child.tag = child.tag.removesuffix("_connectee_name")


def _join_inertia(body: Element) -> None:
    """<inertia> of six numbers from an element for each of them."""
    parts = [body.find(f"inertia_{axes}") for axes in _INERTIA]
    if body.find("inertia") is None and any(parts):
        numbers = [0.0 if part is None else part.number() for part in parts]
        require_child(body, "inertia", " ".join(map(repr, numbers)))


def _enable(element: Element, switch: str) -> None:
    disabled = element.find("isDisabled")
    if disabled is not None and disabled.words() and element.find(switch) is None:
        disabled.text = "false" if disabled.flag() else "true"
        disabled.tag = switch

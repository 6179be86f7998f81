"""What is common to all parts of a model file: default properties, frames by name, what is not supported."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.opensim.functions import KNOTTED, Constant, Function, Linear, Polynomial, Scaled
from musclesolve.opensim.model import GROUND, Frame, rotation_xyz
from musclesolve.opensim.xml_tree import Element

_NESTED = 20
"""Most offset frames on one another."""


def last_part(path: str) -> str:
    """The name at the end of a path of components: "/bodyset/femur_r" -> "femur_r"."""
    return path.strip().rsplit("/", 1)[-1]


@dataclass(eq=False)
class Context:
    """The file being read.

    defaults: elements of <defaults> by tag, whose properties hold where an object does not state its own;
    bodies: their names; frames: offset frames that no joint owns; unsupported: see OpenSimModel.
    """

    root: Element
    defaults: dict[str, Element]
    bodies: tuple[str, ...]
    frames: dict[str, Element]
    unsupported: dict[str, str] = field(default_factory=dict)

    def property(self, element: Element, tag: str) -> Element | None:
        """A property of an object: its own, or that of the defaults of its class."""
        found = element.find(tag)
        if found is None and element.tag in self.defaults:
            found = self.defaults[element.tag].find(tag)
        return found

    def number(self, element: Element, tag: str, otherwise: float) -> float:
        """A number of an object, of the defaults of its class, or of the class itself."""
        found = self.property(element, tag)
        return otherwise if found is None else found.number()

    def flag(self, element: Element, tag: str, otherwise: bool) -> bool:
        """A flag likewise."""
        found = self.property(element, tag)
        return otherwise if found is None or not found.words() else found.flag()

    def frame(self, element: Element, tag: str, own: dict[str, Element] | None = None) -> Frame:
        """The frame that a socket of an object names; `own`: offset frames of the object itself."""
        socket = element.require(tag)
        return self._named(socket, last_part(socket.text), own or {}, _NESTED)

    def frame_of(self, owner: Element) -> Frame:
        """The frame of a body, or of an offset frame that no joint owns."""
        return self._named(owner, owner.name or GROUND, {}, _NESTED)

    def _named(self, socket: Element, name: str, own: dict[str, Element], left: int) -> Frame:
        offset = own.get(name) or self.frames.get(name)
        if offset is not None and left:
            parent_socket = offset.require("socket_parent")
            parent = self._named(parent_socket, last_part(parent_socket.text), {}, left - 1)
            rotation = rotation_xyz(_vector(offset, "orientation"))
            position = parent.place(_vector(offset, "translation"))
            return Frame(parent.body, parent.rotation @ rotation, position)
        if name != GROUND and name not in self.bodies:
            socket.fail(
                f"there is no body or frame '{name}'",
                expected="the path of a body or of an offset frame",
                remedy="open the model in OpenSim and save it again",
                code="unknown_name",
            )
        return Frame(name, np.eye(3), np.zeros(3))


def _vector(element: Element, tag: str) -> Array:
    found = element.find(tag)
    return np.zeros(3) if found is None else found.vector()


def read_function(element: Element, count: int = 1) -> Function | None:
    """The function of `count` coordinates that an element is; None for one of another kind."""
    if element.tag == "Constant":
        return Constant(element.require("value").number())
    if element.tag == "LinearFunction":
        return _linear(element.require("coefficients"), count)
    if element.tag == "MultiplierFunction":
        inner = function_in(element.require("function"), count)
        return None if inner is None else Scaled(inner, element.require("scale").number())
    if element.tag != "PolynomialFunction" and element.tag not in KNOTTED:
        return None
    if count != 1:
        element.fail(
            f"{count} coordinates",
            expected="one coordinate, which the function depends on",
            remedy="correct <coordinates>",
            code="bad_model",
        )
    return _knotted(element) if element.tag in KNOTTED else _polynomial(element)


def function_in(holder: Element, count: int = 1) -> Function | None:
    """The function inside an element; None where there is none, or one of another kind."""
    return read_function(holder.children[0], count) if holder.children else None


def _linear(coefficients: Element, count: int) -> Function:
    values = coefficients.numbers()
    if values.size != count + 1:
        coefficients.fail(
            f"{values.size} coefficients for {count} coordinate(s)",
            expected=f"{count + 1}: one for each coordinate and the constant",
            remedy="correct the coefficients",
            code="bad_model",
        )
    return Linear(values[:-1], float(values[-1]))


def _polynomial(element: Element) -> Function:
    coefficients = element.require("coefficients")
    values = coefficients.numbers()
    if not values.size:
        coefficients.fail("no coefficients", expected="one or more", remedy="state them", code="bad_model")
    return Polynomial(values)


def _knotted(element: Element) -> Function:
    knots, values = element.require("x").numbers(), element.require("y").numbers()
    if knots.size < 2 or knots.size != values.size or (np.diff(knots) <= 0.0).any():
        element.fail(
            f"{knots.size} x and {values.size} y",
            expected="two or more, as many y as x, with increasing x",
            remedy="correct the knots of the function",
            code="bad_model",
        )
    return KNOTTED[element.tag](knots, values)

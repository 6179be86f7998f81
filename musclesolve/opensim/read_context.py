"""What is common to all parts of a model file: default properties, frames by path, what is not supported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.opensim.functions import (
    Constant,
    Function,
    Linear,
    Polynomial,
    Scaled,
    Sine,
    multivariate_powers,
    natural_spline,
    piecewise_constant,
    piecewise_linear,
    polynomial,
    simm_spline,
    smooth_step,
)
from musclesolve.opensim.layouts import CURRENT, Components
from musclesolve.opensim.model import GROUND, Frame, rotation_xyz
from musclesolve.opensim.xml_tree import Element

_NESTED = 20
"""Most offset frames on one another."""
_HIGHEST = 12
"""Highest order of a polynomial of several coordinates."""


def last_part(path: str) -> str:
    """The name at the end of a path of components: "/bodyset/femur_r" -> "femur_r"."""
    return path.strip().rsplit("/", 1)[-1]


@dataclass(eq=False)
class Context:
    """The file being read.

    defaults: elements of <defaults> by tag, whose properties hold where an object does not state its own;
    bodies: their names; unsupported, notes: see OpenSimModel.
    """

    root: Element
    defaults: dict[str, Element]
    components: Components
    bodies: tuple[str, ...]
    unsupported: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

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
        """A flag of an object, of the defaults of its class, or of the class itself."""
        found = self.property(element, tag)
        return otherwise if found is None or not found.words() else found.flag()

    def frame(self, owner: Element, tag: str) -> Frame | None:
        """The frame that a socket of a component names; None for one of a kind that is not supported."""
        socket = owner.require(tag)
        return self.pose(self.connectee(owner, socket))

    def connectee(self, owner: Element, socket: Element) -> Element:
        """The component that a socket names by a path.

        In files of versions before 4 a name alone is that of a body, or of the only frame of this name.
        """
        text = socket.text.strip()
        found = self.components.frame(text, owner.path)
        if found is not None:
            return found
        called = self.components.frames_called(last_part(text)) if int(self.root.version) < CURRENT else []
        if len(called) == 1:
            return called[0]
        socket.fail(
            f"{len(called)} frames are called '{text}': {', '.join(each.path for each in called)}"
            if called
            else f"there is no body or frame '{text}'",
            expected="the path of a body or of an offset frame",
            remedy="write the whole path, /bodyset/NAME or /jointset/JOINT/NAME",
            code="unknown_name",
        )

    def pose(self, frame: Element, inside: int = 0) -> Frame | None:
        """The frame that an element describes, on its body; None for one of a kind that is not supported."""
        if frame.tag in ("Body", "Ground"):
            return Frame(frame.name if frame.tag == "Body" else GROUND, np.eye(3), np.zeros(3))
        if frame.tag != "PhysicalOffsetFrame":
            self.unsupported[f"frame {frame.path}"] = frame.tag
            return None
        socket = frame.require("socket_parent")
        if inside > _NESTED:
            socket.fail(
                "offset frames are attached to one another in a circle",
                expected="frames that lead to a body",
                remedy="correct <socket_parent>",
                code="bad_model",
            )
        parent = self.pose(self.connectee(frame, socket), inside + 1)
        if parent is None:
            return None
        rotation = rotation_xyz(_vector(frame, "orientation"))
        return Frame(parent.body, parent.rotation @ rotation, parent.place(_vector(frame, "translation")))


def _vector(element: Element, tag: str) -> Array:
    found = element.find(tag)
    return np.zeros(3) if found is None else found.vector()


def read_function(element: Element, count: int = 1) -> Function | None:
    """The function of `count` coordinates that an element is; None for one of another kind."""
    match element.tag:
        case "Constant":
            return Constant(element.require("value").number())
        case "LinearFunction":
            return _linear(element.require("coefficients"), count)
        case "MultiplierFunction":
            inner, scale = function_in(element.require("function"), count), element.find("scale")
            return None if inner is None else Scaled(inner, 1.0 if scale is None else scale.number())
        case "MultivariatePolynomialFunction":
            return _multivariate(element, count)
    reader = _OF_ONE.get(element.tag)
    if reader is not None and count != 1:
        element.fail(
            f"{count} coordinates",
            expected="one coordinate, which the function depends on",
            remedy="correct <coordinates>",
            code="bad_model",
        )
    return None if reader is None else reader(element)


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


def _multivariate(element: Element, count: int) -> Function:
    coefficients, dimension = element.require("coefficients"), element.require("dimension").number()
    powers = multivariate_powers(count, int(min(element.require("order").number(), _HIGHEST)))
    values = coefficients.numbers()
    if dimension != count or len(values) != len(powers):
        coefficients.fail(
            f"{len(values)} coefficients, dimension {dimension:g}, for {count} coordinate(s)",
            expected=f"{len(powers)} coefficients, as the order demands, and dimension {count}",
            remedy="correct the function",
            code="bad_model",
        )
    return Polynomial(values, powers)


def _polynomial(element: Element) -> Function:
    coefficients = element.require("coefficients")
    values = coefficients.numbers()
    if not values.size:
        coefficients.fail("no coefficients", expected="one or more", remedy="state them", code="bad_model")
    return polynomial(values)


def _knots(element: Element, fewest: int = 2) -> tuple[Array, Array]:
    knots, values = element.require("x").numbers(), element.require("y").numbers()
    if knots.size < fewest or knots.size != values.size or (np.diff(knots) <= 0.0).any():
        element.fail(
            f"{knots.size} x and {values.size} y",
            expected=f"{fewest} or more, as many y as x, with increasing x",
            remedy="correct the knots of the function",
            code="bad_model",
        )
    return knots, values


def _gcv_spline(element: Element) -> Function | None:
    """A spline through its knots; None for one that smooths them."""
    variance, half_order = element.find("error_variance"), element.require("half_order").number()
    if half_order not in (1, 2, 3, 4):
        element.fail(
            f"half_order {half_order:g}",
            expected="1, 2, 3 or 4",
            remedy="correct <half_order>",
            code="bad_model",
        )
    if variance is not None and variance.number() != 0.0:
        return None
    return natural_spline(*_knots(element, 2 * int(half_order)), int(half_order))


def _step(element: Element) -> Function:
    names = ("transition_start_time", "transition_end_time", "start_value", "end_value")
    start, end, before, after = (element.require(name).number() for name in names)
    if not end > start:
        element.fail(
            f"a transition from {start:g} to {end:g}",
            expected="an end after the start",
            remedy="correct the function",
            code="bad_model",
        )
    return smooth_step(start, end, before, after)


def _sine(element: Element) -> Function:
    usual = {"amplitude": 1.0, "omega": 1.0, "phase": 0.0, "offset": 0.0}
    found = {name: element.find(name) for name in usual}
    return Sine(*(usual[name] if each is None else each.number() for name, each in found.items()))


_OF_ONE: dict[str, Callable[[Element], Function | None]] = {
    "PolynomialFunction": _polynomial,
    "SimmSpline": lambda element: simm_spline(*_knots(element)),
    "NaturalCubicSpline": lambda element: simm_spline(*_knots(element)),
    "natCubicSpline": lambda element: simm_spline(*_knots(element)),
    "PiecewiseLinearFunction": lambda element: piecewise_linear(*_knots(element)),
    "PiecewiseConstantFunction": lambda element: piecewise_constant(*_knots(element)),
    "GCVSpline": _gcv_spline,
    "StepFunction": _step,
    "Sine": _sine,
}
"""Functions of one coordinate; the cubic spline by its names in older files too."""

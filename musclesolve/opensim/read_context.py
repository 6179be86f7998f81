"""Context of reading a model file: default properties, frames by path, unsupported parts."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.opensim.functions import (
    ByPartials,
    Constant,
    LinearFunction,
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
from musclesolve.opensim.model import GROUND, Frame, rotation_xyz
from musclesolve.opensim.xml_tree import CURRENT, Element

_NESTED = 20
"""Largest number of offset frames on each other."""
_HIGHEST = 12
"""Highest order of a polynomial of several coordinates."""


def last_part(path: str) -> str:
    """The last name in a path of components: "/bodyset/femur_r" -> "femur_r"."""
    return path.strip().rsplit("/", 1)[-1]


@dataclass(eq=False)
class Context:
    """The file being read.

    defaults: elements of <defaults> by tag, with properties of objects that do not state them; components:
    from `layouts.components`; unsupported, notes: see OpenSimModel; prescribed: coordinates that follow a function of
    time.
    """

    root: Element
    defaults: dict[str, Element]
    components: tuple[Element, ...]
    unsupported: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    prescribed: list[str] = field(default_factory=list)

    def of_kind(self, ending: str) -> list[Element]:
        """Components whose class has this ending."""
        return [component for component in self.components if component.tag.endswith(ending)]

    @cached_property
    def frames(self) -> dict[str, Element]:
        """Ground, bodies and frames on them by path, the first of each path."""
        frames: dict[str, Element] = {}
        for component in self.components:
            if component.tag in ("Body", "Ground") or component.tag.endswith("Frame"):
                frames.setdefault(component.path, component)
        return frames

    def property(self, element: Element, tag: str) -> Element | None:
        """A property of an object: as stated, or the default of its class."""
        stated = element.find(tag)
        if stated is None and element.tag in self.defaults:
            stated = self.defaults[element.tag].find(tag)
        return stated

    def number(self, element: Element, tag: str, otherwise: float) -> float:
        """A number of an object: as stated, the default of its class in the file, or `otherwise`."""
        stated = self.property(element, tag)
        return otherwise if stated is None or not stated.words() else stated.number()

    def flag(self, element: Element, tag: str, otherwise: bool) -> bool:
        """A flag of an object: as stated, the default of its class in the file, or `otherwise`."""
        stated = self.property(element, tag)
        return otherwise if stated is None or not stated.words() else stated.flag()

    def frame(self, owner: Element, tag: str) -> Frame | None:
        """The frame in a socket of a component; None for an unsupported kind."""
        socket = owner.require(tag)
        return self.pose(self.connectee(owner, socket))

    def path_of(self, owner: Element, socket: Element) -> str:
        """The path in a socket of a component, from the model on."""
        text = socket.text.strip()
        parts = [] if text.startswith("/") else owner.path.split("/")[1:]
        for part in text.split("/"):
            if part == ".." and parts and parts[-1] != "..":
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)  # also ".." that leads out of the model
        return "/" + "/".join(parts)

    def connectee(self, owner: Element, socket: Element) -> Element:
        """The component in a socket, by its path.

        In files before version 4 a name alone is a body, or the only frame of this name.
        """
        text = socket.text.strip()
        frame = self.frames.get(self.path_of(owner, socket))
        if frame is not None:
            return frame
        called = []
        if int(self.root.version) < CURRENT:
            called = [component for component in self.frames.values() if component.name == last_part(text)]
            called = [component for component in called if component.tag in ("Body", "Ground")] or called
        if len(called) == 1:
            return called[0]
        if called:
            paths = [component.path for component in called]
            socket.fail(
                "unknown_name",
                f"{len(called)} frames are called '{text}': {', '.join(map(str, paths))}",
                "the path of a body or of an offset frame",
                "write the whole path, /bodyset/NAME or /jointset/JOINT/NAME",
            )
        socket.fail(
            "unknown_name",
            f"there is no body or frame '{text}'",
            "the path of a body or of an offset frame",
            "write the whole path, /bodyset/NAME or /jointset/JOINT/NAME",
        )

    def pose(self, frame: Element, inside: int = 0) -> Frame | None:
        """The frame of an element, on its body; None for an unsupported kind."""
        if frame.tag in ("Body", "Ground"):
            return Frame(frame.name if frame.tag == "Body" else GROUND, np.eye(3), np.zeros(3))
        if frame.tag != "PhysicalOffsetFrame":
            self.unsupported[f"frame {frame.path}"] = frame.tag
            return None
        socket = frame.require("socket_parent")
        if inside > _NESTED:
            socket.fail(
                "bad_model",
                "offset frames are attached to one another in a circle",
                "frames that lead to a body",
                "correct <socket_parent>",
            )
        parent = self.pose(self.connectee(frame, socket), inside + 1)
        if parent is None:
            return None
        angles, place = (frame.vector_in(tag, 0.0) for tag in ("orientation", "translation"))
        return Frame(parent.body, parent.rotation @ rotation_xyz(angles), parent.place(place))


def read_function(element: Element, count: int = 1) -> ByPartials | None:
    """The function of `count` coordinates from an element; None for another kind."""

    def number(tag: str, otherwise: float | None = None) -> float:
        holder = element.require(tag) if otherwise is None else element.find(tag)
        if holder is None or (otherwise is not None and not holder.words()):
            return float(otherwise or 0.0)
        return holder.number()

    def knots(fewest: int = 2) -> tuple[Array, Array]:
        x, y = element.require("x").numbers(), element.require("y").numbers()
        if x.size < fewest or x.size != y.size or (np.diff(x) <= 0.0).any():
            element.fail(
                "bad_model",
                f"{x.size} x and {y.size} y",
                f"{fewest} or more, as many y as x, with increasing x",
                "correct the knots of the function",
            )
        return x, y

    if count != 1 and element.tag in _OF_ONE:
        expected = "one coordinate, which the function depends on"
        element.fail("bad_model", f"{count} coordinates", expected, "correct <coordinates>")
    match element.tag:
        case "Constant":
            return Constant(number("value"))
        case "LinearFunction":
            holder = element.require("coefficients")
            values = holder.numbers()
            if values.size != count + 1:
                problem = f"{values.size} coefficients for {count} coordinate(s)"
                expected = f"{count + 1}: one for each coordinate and the constant"
                holder.fail("bad_model", problem, expected, "correct the coefficients")
            return LinearFunction(values[:-1], float(values[-1]))
        case "MultiplierFunction":
            inner = function_in(element.require("function"), count)
            return None if inner is None else Scaled(inner, number("scale", 1.0))
        case "MultivariatePolynomialFunction":
            holder, dimension = element.require("coefficients"), number("dimension")
            powers = multivariate_powers(count, int(min(number("order"), _HIGHEST)))
            values = holder.numbers()
            if dimension != count or len(values) != len(powers):
                problem = f"{len(values)} coefficients, dimension {dimension:g}, for {count} coordinate(s)"
                expected = f"{len(powers)} coefficients, as the order demands, and dimension {count}"
                holder.fail("bad_model", problem, expected, "correct the function")
            return Polynomial(values, powers)
        case "PolynomialFunction":
            holder = element.require("coefficients")
            values = holder.numbers()
            if not values.size:
                holder.fail("bad_model", "no coefficients", "one or more", "state them")
            return polynomial(values)
        case "SimmSpline" | "NaturalCubicSpline" | "natCubicSpline":  # its names in older files too
            return simm_spline(*knots())
        case "PiecewiseLinearFunction":
            return piecewise_linear(*knots())
        case "PiecewiseConstantFunction":
            return piecewise_constant(*knots())
        case "GCVSpline":
            half_order = number("half_order")
            if half_order not in (1, 2, 3, 4):
                element.fail(
                    "bad_model", f"half_order {half_order:g}", "1, 2, 3 or 4", "correct <half_order>"
                )
            if number("error_variance", 0.0) != 0.0:  # one that smooths its knots
                return None
            return natural_spline(*knots(2 * int(half_order)), int(half_order))
        case "StepFunction":
            names = ("transition_start_time", "transition_end_time", "start_value", "end_value")
            start, end, before, after = map(number, names)
            if not end > start:
                problem = f"a transition from {start:g} to {end:g}"
                element.fail("bad_model", problem, "an end after the start", "correct the function")
            return smooth_step(start, end, before, after)
        case "Sine":
            usual = {"amplitude": 1.0, "omega": 1.0, "phase": 0.0, "offset": 0.0}
            return Sine(*(number(tag, value) for tag, value in usual.items()))
    return None


_OF_ONE = (
    *("PolynomialFunction", "SimmSpline", "NaturalCubicSpline", "natCubicSpline", "PiecewiseLinearFunction"),
    *("PiecewiseConstantFunction", "GCVSpline", "StepFunction", "Sine"),
)
"""Functions of one coordinate."""


def function_in(holder: Element, count: int = 1) -> ByPartials | None:
    """The function inside an element; None without one, or for another kind."""
    return read_function(holder.children[0], count) if holder.children else None

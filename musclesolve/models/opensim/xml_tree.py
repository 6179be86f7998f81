"""XML elements with their file and line, elements of a model file in the layout of version 4 and found by their paths.

Components are found as OpenSim 4 finds them. The path of a component is the path of its owner and its name:
"/bodyset/femur_r", "/jointset/hip_r/femur_offset", "/ground". The name of a set of the model is its class in lower
case; its name in the file is ignored. Elements in lower case (<components>, <frames>, <objects>, <path>) are
properties: their content belongs to the owner of the property, and so do the points of a path. `Context` holds
default properties, frames by path and unsupported parts of a file.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from muscle_db.regular_file import RECORDING, UnsuitableFileError, read_regular
from musclesolve._util.arrays import Array
from musclesolve.errors import InputError, file_error
from musclesolve.models.opensim.functions import (
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
from musclesolve.models.opensim.model import GROUND, Frame, rotation_xyz
from musclesolve.tables.text_file import file_path

_DEEPEST, _MOST = 200, 1_000_000  # the largest models of today have a twentieth of so many elements
FARTHEST = 100.0
"""Largest component of a place [m] or angle [rad]; published models stay below 2."""
_TRUE = {"true": True, "1": True, "false": False, "0": False}


@dataclass(eq=False)
class Element:
    """One element: tag, attribute `name`, text, children in order, and its place in the file.

    start, close: places of its first byte and of its closing tag; path: of a component of a model, see `Components`.
    """

    tag: str
    name: str
    file: Path
    line: int
    text: str = ""
    version: str = ""
    start: int = 0
    close: int = 0
    path: str = ""
    owner: "Element | None" = field(default=None, repr=False)
    children: "list[Element]" = field(default_factory=list)

    @property
    def label(self) -> str:
        """The element for messages: tag and name, or tag and the element that it is in."""
        inside = f" of {self.owner.label}" if self.owner else ""
        return f"{self.tag} '{self.name}'" if self.name else f"{self.tag}{inside}"

    def fail(self, code: str, problem: str, expected: str, remedy: str) -> NoReturn:
        """Refuse the file because of this element."""
        where = f"line {self.line}, {self.label}"
        raise file_error(code, (self.file, where), problem, expected, remedy)

    def fail_repeated(self, what: str) -> NoReturn:
        """Refuse the file because another element of this kind, in the plural, has the same name."""
        self.fail(
            "duplicate_name", f"there are two {what} '{self.name}'", "every name once", "rename one of them"
        )

    def check_coordinates(self, names: Iterable[str], known: Collection[str], remedy: str) -> None:
        """Refuse the file because of the first of some names in this element that is no known coordinate."""
        for name in names:
            if name not in known:
                self.fail(
                    "unknown_name", f"there is no coordinate '{name}'", f"one of {', '.join(known)}", remedy
                )

    def find(self, tag: str) -> "Element | None":
        """The first child of this tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def text_of(self, tag: str) -> str:
        """The text of the first child of this tag, without blanks around it; "" without a child."""
        child = self.find(tag)
        return "" if child is None else child.text.strip()

    def filled(self, tag: str) -> "Element | None":
        """The first child of this tag, None also for one without text."""
        child = self.find(tag)
        return child if child is not None and child.words() else None

    def require(self, tag: str) -> "Element":
        """The first child of this tag; refuses the file without it."""
        child = self.find(tag)
        if child is None:
            self.fail(
                "bad_format", f"<{tag}> is missing", f"<{tag}> in it", "save the model again in OpenSim"
            )
        return child

    def listed(self, tag: str) -> "list[Element]":
        """The objects of a set: children of <tag><objects>, or of <tag> itself."""
        holder = self.find(tag)
        if holder is None:
            return []
        objects = holder.find("objects")
        return (holder if objects is None else objects).children

    def descendants(self) -> "Iterator[Element]":
        """Yield this element and all elements below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.descendants()

    def words(self) -> list[str]:
        """The text, split at white space."""
        return self.text.split()

    def finite_numbers(self) -> Array | None:
        """The text as finite numbers, between spaces or between commas and spaces; None for other text."""
        try:
            values = np.array([float(word.removesuffix(",")) for word in self.words()])
        except ValueError:
            return None
        return values if np.isfinite(values).all() else None

    def numbers(self, count: int | None = None, within: float = np.inf) -> Array:
        """The text as finite numbers, `count` of them unless None, none of which is larger than `within`."""
        values = self.finite_numbers()
        if values is None:
            self.fail(
                "not_numbers",
                f"{self.text.strip()[:40]!r} is not numbers",
                "finite numbers, separated by spaces",
                "correct the text of the element",
            )
        if count is not None and values.size != count:
            self.fail(
                "bad_format",
                f"{values.size} numbers",
                {1: "one number", 2: "two numbers", 3: "three numbers", 6: "six numbers"}[count],
                "correct the element",
            )
        if np.abs(values).max(initial=0.0) > within:
            expected = f"numbers up to {within:g}, in m, rad or m/s^2"
            remedy = "correct the element; where all lengths of the file are in millimeters, divide all of them by 1000"
            self.fail("bad_model", f"{self.text.strip()[:40]!r} is out of reach", expected, remedy)
        return values

    def vector(self) -> Array:
        """The text as a vector of three numbers (3,) within `FARTHEST`."""
        return self.numbers(3, FARTHEST)

    def vector_in(self, tag: str, otherwise: float, within: float = FARTHEST) -> Array:
        """The vector (3,) in the first child of this tag; each number is `otherwise` without a child or its text."""
        child = self.filled(tag)
        return np.full(3, otherwise) if child is None else child.numbers(3, within)

    def transform(self) -> Array:
        """The text as three angles [rad] and a place [m], (6,) within `FARTHEST`."""
        return self.numbers(6, FARTHEST)

    def number(self) -> float:
        """The text as one number."""
        return float(self.numbers(1)[0])

    def pair(self) -> tuple[float, float]:
        """The text as two numbers."""
        first, second = self.numbers(2).tolist()
        return first, second

    def flag(self) -> bool:
        """The text as true or false."""
        value = _TRUE.get((self.words() or [""])[0].lower())
        if value is None:
            self.fail(
                "bad_format", f"{self.text.strip()[:40]!r} is not a flag", "true or false", "correct it"
            )
        return value


class _Builder:
    """Handlers of expat that build the tree."""

    def __init__(self, file: Path, encoding: str | None) -> None:
        self.file = file
        self.open: list[Element] = []
        self.root: Element | None = None
        self.count = 0
        self.parser = parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = self.entity
        parser.SkippedEntityHandler = self.entity

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name, version = attributes.get("name", ""), attributes.get("Version", "")
        place = self.parser.CurrentLineNumber, "", version, self.parser.CurrentByteIndex
        element = Element(tag, name, self.file, *place)
        if len(self.open) > _DEEPEST:
            element.fail("bad_format", "elements are nested too deep", "an OpenSim model", "check the file")
        self.count += 1
        if self.count > _MOST:
            element.fail(
                "too_large", f"the file has more than {_MOST} elements", "an OpenSim model", "check the file"
            )
        if self.open:
            element.owner = self.open[-1]
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop().close = self.parser.CurrentByteIndex

    def characters(self, text: str) -> None:
        self.open[-1].text += text

    def entity(self, *parts: object) -> None:
        raise file_error(
            "bad_format",
            (self.file, self.parser.CurrentLineNumber),
            "the file declares or uses entities",
            "plain XML, as OpenSim writes it",
            "replace each of them by its text",
        )


def read_xml(path: str | Path, expected: str = "an OpenSim model (.osim)") -> Element:
    """The root element of an XML file; expected: the expected content, for messages."""
    file = file_path(path)
    remedy = "check the name and the folder"
    try:
        raw = read_regular(file, RECORDING)
    except FileNotFoundError as fault:
        raise file_error("missing_file", file, "there is no such file", expected, remedy) from fault
    except UnsuitableFileError as fault:
        raise file_error("unreadable_file", file, fault.problem, fault.expected, fault.remedy) from fault
    except (OSError, ValueError) as fault:
        raise file_error(
            "unreadable_file", file, f"the file cannot be read ({fault})", expected, remedy
        ) from fault
    return parse_xml(raw, file, expected)


def parse_xml(raw: bytes, file: Path, expected: str, encoding: str | None = None) -> Element:
    """The root element of the bytes of a file, in the encoding that the file declares unless another is stated."""
    builder = _Builder(file, encoding)
    try:
        builder.parser.Parse(raw, True)
    except expat.ExpatError as fault:
        raise file_error(
            "bad_format",
            (file, fault.lineno),
            f"not well-formed XML: {expat.ErrorString(fault.code)}",
            expected,
            "save it again in OpenSim, or name another file",
        ) from fault
    except InputError:
        raise
    except (LookupError, ValueError) as fault:  # of the encoding that the file declares
        raise file_error(
            "bad_encoding",
            (file, "line 1"),
            f"the file cannot be decoded: {fault}",
            "the encoding that its first line names, UTF-8 for example",
            "save it again in OpenSim",
        ) from fault
    assert builder.root is not None  # expat refuses a file without an element
    return builder.root


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
    for element in (*model.listed("ForceSet"), *model.listed("ConstraintSet")):
        if element.tag.endswith("BushingForce") or element.tag == "WeldConstraint":
            _use_offsets(element)
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


def _use_offsets(element: Element) -> None:
    """Convert two bodies, and a place and a turn in each, to the two offset frames of a bushing or a weld."""
    for end in "12":
        body = element.filled(f"body_{end}")
        if body is None or element.filled(f"socket_frame{end}") is not None:
            continue
        frame = Element("PhysicalOffsetFrame", f"{element.name}_{end}", element.file, element.line)
        _child(frame, "socket_parent", body.text)
        for tag, old in (("translation", "location"), ("orientation", "orientation")):
            stated = element.find(f"{old}_body_{end}")
            if stated is not None:
                frame.children.append(stated)
                element.children.remove(stated)
                stated.tag = tag
        _child(element, "frames").children.append(frame)
        body.tag, body.text = f"socket_frame{end}", frame.name


def name_all(elements: Iterable[Element]) -> None:
    """Name the elements that have no name by their class and number among all, in place."""
    elements = list(elements)
    taken = {element.name for element in elements}
    for number, element in enumerate(elements, start=1):
        if not element.name:
            name = f"{element.tag}_{number}"
            while name in taken:
                name += "_"
            element.name = name
            taken.add(name)


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
    from `components`; unsupported, notes: see OpenSimModel; prescribed: coordinates that follow a function of
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

    def number(self, element: Element, tag: str, otherwise: float, within: float = np.inf) -> float:
        """A number of an object: as stated, the default of its class in the file, or `otherwise`."""
        stated = self.property(element, tag)
        return otherwise if stated is None or not stated.words() else float(stated.numbers(1, within)[0])

    def flag(self, element: Element, tag: str, otherwise: bool) -> bool:
        """A flag of an object: as stated, the default of its class in the file, or `otherwise`."""
        stated = self.property(element, tag)
        return otherwise if stated is None or not stated.words() else stated.flag()

    def frame(self, owner: Element, tag: str) -> Frame | None:
        """The frame in a socket of a component; None for an unsupported kind."""
        return self.pose(self.connectee(owner, owner.require(tag)))

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
        several = f"{len(called)} frames are called '{text}': {', '.join(one.path for one in called)}"
        socket.fail(
            "unknown_name",
            several if called else f"there is no body or frame '{text}'",
            "the path of a body or of an offset frame",
            "write the whole path, /bodyset/NAME or /jointset/JOINT/NAME",
        )

    def pose(self, frame: Element, inside: int = 0) -> Frame | None:
        """The frame of an element, on its body; None for an unsupported kind."""
        if frame.tag in ("Body", "Ground"):
            return Frame(frame.name if frame.tag == "Body" else GROUND, np.eye(3), np.zeros(3))
        if frame.tag == "StationDefinedFrame":
            return self._of_stations(frame, inside)
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

    def _of_stations(self, frame: Element, inside: int) -> Frame | None:
        """The frame of a StationDefinedFrame: one axis along a to b, one along (b - a) x (c - a), its origin a station.

        None where a station lies on a frame of an unsupported kind, or the stations are on several bodies.
        """
        stations = {station.path: station for station in self.of_kind("Station")}
        places, bodies = list[Array](), set[str]()
        for end in ("point_a", "point_b", "point_c", "origin_point"):
            socket = frame.require(f"socket_{end}")
            station = stations.get(self.path_of(frame, socket))
            if station is None or inside > _NESTED:
                socket.fail(
                    "unknown_name",
                    f"there is no station '{socket.text.strip()}'",
                    "the path of a station",
                    "write the whole path, /bodyset/BODY/STATION",
                )
            base = self.pose(self.connectee(station, station.require("socket_parent_frame")), inside + 1)
            if base is None:
                return None
            places.append(base.place(station.vector_in("location", 0.0)))
            bodies.add(base.body)
        a, b, c, origin = places
        words = [frame.text_of("ab_axis") or "+x", frame.text_of("ab_x_ac_axis") or "+y"]
        signed = [(-1.0 if word.startswith("-") else 1.0, "xyz".find(word.strip("+-"))) for word in words]
        along, across = b - a, np.cross(b - a, c - a)
        sizes = float(np.linalg.norm(along)), float(np.linalg.norm(across))
        (one, first), (other, second) = signed
        if len(bodies) > 1 or min(sizes) < _FLAT or {first, second} - {0, 1, 2} or first == second:
            frame.fail(
                "bad_model",
                "its stations and axes define no frame",
                "three stations of one body that form a triangle, and two different axes",
                "correct the stations or axes",
            )
        axes = np.zeros((3, 3))
        axes[:, first], axes[:, second] = one * along / sizes[0], other * across / sizes[1]
        third = 3 - first - second
        axes[:, third] = np.cross(axes[:, (third + 1) % 3], axes[:, (third + 2) % 3])
        return Frame(bodies.pop(), axes, origin)


_FLAT = 1e-9
"""Least length [m] and area [m2] of the triangle of a StationDefinedFrame."""


def read_function(element: Element, count: int = 1) -> ByPartials | None:
    """The function of `count` coordinates from an element; None for another kind."""

    def number(tag: str, otherwise: float | None = None) -> float:
        holder = element.require(tag) if otherwise is None else element.filled(tag)
        return float(otherwise or 0.0) if holder is None else holder.number()

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

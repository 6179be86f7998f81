"""XML elements with their file and line, for messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from muscle_db.regular_file import RECORDING, UnsuitableFileError, read_regular
from musclesolve._util.arrays import Array
from musclesolve.errors import InputError, file_error
from musclesolve.recording.text.text_file import file_path

_DEEPEST, _MOST = 200, 1_000_000  # the largest models of today have a twentieth of so many elements
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
    children: list[Element] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The element for messages: tag and name."""
        return f"{self.tag} '{self.name}'" if self.name else self.tag

    def fail(self, code: str, problem: str, expected: str, remedy: str) -> NoReturn:
        """Refuse the file because of this element."""
        where = f"line {self.line}, {self.label}"
        raise file_error(code, (self.file, where), problem, expected, remedy)

    def fail_repeated(self, what: str) -> NoReturn:
        """Refuse the file because another element of this kind, in the plural, has the same name."""
        self.fail(
            "duplicate_name", f"there are two {what} '{self.name}'", "every name once", "rename one of them"
        )

    def find(self, tag: str) -> Element | None:
        """The first child of this tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def text_of(self, tag: str) -> str:
        """The text of the first child of this tag, without blanks around it; "" without a child."""
        child = self.find(tag)
        return "" if child is None else child.text.strip()

    def filled(self, tag: str) -> Element | None:
        """The first child of this tag, None also for one without text."""
        child = self.find(tag)
        return child if child is not None and child.words() else None

    def require(self, tag: str) -> Element:
        """The first child of this tag; refuses the file without it."""
        child = self.find(tag)
        if child is None:
            self.fail(
                "bad_format", f"<{tag}> is missing", f"<{tag}> in it", "save the model again in OpenSim"
            )
        return child

    def listed(self, tag: str) -> list[Element]:
        """The objects of a set: children of <tag><objects>, or of <tag> itself."""
        holder = self.find(tag)
        if holder is None:
            return []
        objects = holder.find("objects")
        return (holder if objects is None else objects).children

    def descendants(self) -> Iterator[Element]:
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

    def numbers(self, count: int | None = None) -> Array:
        """The text as finite numbers, `count` of them unless None."""
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
        return values

    def vector(self) -> Array:
        """The text as a vector of three numbers (3,)."""
        return self.numbers(3)

    def vector_in(self, tag: str, otherwise: float) -> Array:
        """The vector (3,) in the first child of this tag; each number is `otherwise` without a child or its text."""
        child = self.filled(tag)
        return np.full(3, otherwise) if child is None else child.vector()

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
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop().close = self.parser.CurrentByteIndex

    def characters(self, text: str) -> None:
        self.open[-1].text += text

    def entity(self, *given: object) -> None:
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

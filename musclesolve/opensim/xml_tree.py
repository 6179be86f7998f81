"""XML elements that know their file and line, so that a message can name the place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from muscle_db.regular_file import RECORDING, UnsuitableFileError, read_regular
from musclesolve._util.arrays import Array
from musclesolve.errors import InputError

_DEEPEST = 200
_TRUE = {"true": True, "1": True, "false": False, "0": False}


@dataclass(eq=False)
class Element:
    """One element: tag, attribute `name`, its own text, its children in order, and where it stands.

    path: of a component of a model, see `Components`.
    """

    tag: str
    name: str
    file: Path
    line: int
    text: str = ""
    version: str = ""
    path: str = ""
    children: list[Element] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The element in a message: tag and name."""
        return f"{self.tag} '{self.name}'" if self.name else self.tag

    def fail(self, problem: str, *, expected: str, remedy: str, code: str = "bad_format") -> NoReturn:
        """Refuse the file because of this element."""
        where = f"line {self.line}, {self.label}"
        raise InputError(problem, code=code, file=self.file, where=where, expected=expected, remedy=remedy)

    def fail_repeated(self, what: str) -> NoReturn:
        """Refuse the file because another element of this kind, in the plural, has the same name."""
        self.fail(
            f"there are two {what} '{self.name}'",
            expected="every name once",
            remedy="rename one of them",
            code="duplicate_name",
        )

    def find(self, tag: str) -> Element | None:
        """The first child of this tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def require(self, tag: str) -> Element:
        """The first child of this tag; the file is refused when there is none."""
        child = self.find(tag)
        if child is None:
            self.fail(
                f"<{tag}> is missing", expected=f"<{tag}> in it", remedy="save the model again in OpenSim"
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
        """This element and all below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.descendants()

    def words(self) -> list[str]:
        """The text, split at white space."""
        return self.text.split()

    def finite_numbers(self) -> Array | None:
        """The text as finite numbers; None where it is something else."""
        try:
            values = np.array([float(word) for word in self.words()])
        except ValueError:
            return None
        return values if np.isfinite(values).all() else None

    def numbers(self, count: int | None = None) -> Array:
        """The text as finite numbers, as many as `count` says."""
        values = self.finite_numbers()
        if values is None:
            self.fail(
                f"{self.text.strip()[:40]!r} is not numbers",
                expected="finite numbers, separated by spaces",
                remedy="correct the text of the element",
                code="not_numbers",
            )
        if count is not None and values.size != count:
            expected = {1: "one number", 2: "two numbers", 3: "three numbers", 6: "six numbers"}[count]
            self.fail(f"{values.size} numbers", expected=expected, remedy="correct the element")
        return values

    def vector(self) -> Array:
        """The text as a vector of three numbers (3,)."""
        return self.numbers(3)

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
                f"{self.text.strip()[:40]!r} is not a flag", expected="true or false", remedy="correct it"
            )
        return value


class _Builder:
    """Handlers of expat that build the tree."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.open: list[Element] = []
        self.root: Element | None = None
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = self.entity
        parser.SkippedEntityHandler = self.entity

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name, version = attributes.get("name", ""), attributes.get("Version", "")
        made = Element(tag, name, self.file, self.parser.CurrentLineNumber, version=version)
        if len(self.open) > _DEEPEST:
            made.fail("elements are nested too deep", expected="an OpenSim model", remedy="check the file")
        if self.open:
            self.open[-1].children.append(made)
        else:
            self.root = made
        self.open.append(made)

    def end(self, tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        self.open[-1].text += text

    def entity(self, *given: object) -> None:
        raise InputError(
            "the file declares or uses entities",
            code="bad_format",
            file=self.file,
            where=f"line {self.parser.CurrentLineNumber}",
            expected="plain XML, as OpenSim writes it",
            remedy="replace them by what they stand for",
        )


def read_xml(path: str | Path, expected: str = "an OpenSim model (.osim)") -> Element:
    """The root element of an XML file; expected: what it should be, for messages.

    Raises:
        InputError: there is no such file, it cannot be read, or it is not well-formed XML.
    """
    file = Path(path)
    remedy = "check the name and the folder"
    try:
        raw = read_regular(file, RECORDING)
    except FileNotFoundError as fault:
        raise InputError(
            "there is no such file", code="missing_file", file=file, expected=expected, remedy=remedy
        ) from fault
    except UnsuitableFileError as fault:
        raise InputError(
            fault.problem, code="unreadable_file", file=file, expected=fault.expected, remedy=fault.remedy
        ) from fault
    except (OSError, ValueError) as fault:
        problem = f"the file cannot be read ({fault})"
        raise InputError(
            problem, code="unreadable_file", file=file, expected=expected, remedy=remedy
        ) from fault
    builder = _Builder(file)
    try:
        builder.parser.Parse(raw, True)
    except expat.ExpatError as fault:
        raise InputError(
            f"not well-formed XML: {expat.ErrorString(fault.code)}",
            code="bad_format",
            file=file,
            where=f"line {fault.lineno}",
            expected=expected,
            remedy="save it again in OpenSim, or name another file",
        ) from fault
    except (LookupError, ValueError) as fault:  # of the encoding that the file declares
        raise InputError(
            f"the file cannot be decoded: {fault}",
            code="bad_encoding",
            file=file,
            where="line 1",
            expected="the encoding that its first line names, UTF-8 for example",
            remedy="save it again in OpenSim",
        ) from fault
    assert builder.root is not None  # expat refuses a file without an element
    return builder.root

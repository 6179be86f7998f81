"""A table of a database file that checks each value while reading, and finds its line for messages."""

import math
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NoReturn, Self

from muscle_db.errors import MuscleDatabaseError
from muscle_db.model import SIDES, Vector
from muscle_db.similar_names import suggestion

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_KINDS = {
    bool: "true or false",
    str: "a text",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


@dataclass(frozen=True)
class TomlTable:
    """One TOML table: values from tomllib, its lines, its file.

    locate: function that finds its lines, only for messages; place: for messages, such as "muscle 3 (soleus)"; "" for
    the whole file.
    """

    values: dict[str, Any]
    locate: "Callable[[], Region]"
    file: str
    place: str = ""

    def fail(
        self,
        key: str | None,
        problem: str,
        *,
        expected: str | None = None,
        remedy: str | None = None,
        row: int | None = None,
    ) -> NoReturn:
        """Refuse the file because of this key, or of a row of its list."""
        field = ", ".join(part for part in (self.place, key) if part)
        region = self.locate()
        line = region.line_of(key) if row is None or key is None else region.line_of_row(key, row)
        raise MuscleDatabaseError(
            problem, file=self.file, line=line, field=field or None, expected=expected, remedy=remedy
        )

    def require_keys(self, required: Iterable[str], optional: Iterable[str] = ()) -> None:
        """Refuse unknown keys, with the nearest known one, and then missing keys."""
        required = tuple(required)
        known = (*required, *optional)
        for key in self.values:
            if key not in known:
                remedy = suggestion(key, known) or f"the keys are: {', '.join(known)}"
                self.fail(key, f'unknown key "{key}"', remedy=remedy)
        for key in required:
            if key not in self.values:
                self.fail(key, f'missing key "{key}"', remedy=f"add `{key} = ...` to it")

    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not empty, unless it is the default."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            self._wrong_kind(key, value, "a text in quotes")
        if not value.strip() and default is None:
            self.fail(key, "the text is empty", expected="a text")
        return value

    def choice(self, key: str, allowed: Iterable[str], default: str | None = None) -> str:
        """A text from a list of allowed ones, or the default if the key is absent."""
        if default is not None and key not in self.values:
            return default
        value, allowed = self.text(key), tuple(allowed)
        if value not in allowed:
            expected = "one of " + ", ".join(allowed)
            self.fail(key, f'unknown {key} "{value}"', expected=expected, remedy=suggestion(value, allowed))
        return value

    def number(
        self,
        key: str,
        low: float,
        high: float,
        unit: str,
        *,
        open_low: bool = False,
        closed_high: bool = False,
        default: float | None = None,
    ) -> float:
        """A finite number in [low, high), or the default if the key is absent.

        With `open_low` low is excluded; with `closed_high` high is included.
        """
        if default is not None and key not in self.values:
            return default
        value = self._finite(key, self.values[key])
        below = value <= low if open_low else value < low
        beyond = value > high if closed_high else value >= high
        if below or beyond:
            sense = "above" if open_low else "from"
            limit = "at most" if closed_high else "below"
            upper = f", {limit} {high:g}" if math.isfinite(high) else ""
            self.fail(
                key,
                f"{value:g} is out of range",
                expected=f"a number {sense} {low:g}{upper} {unit}".strip(),
                remedy="check the value and its unit",
            )
        return value

    def names(self, key: str) -> tuple[str, ...]:
        """A list of one or more different names; see `name`."""
        value = self.values[key]
        if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
            self._wrong_kind(key, value, "a list of names in quotes")
        for k, name in enumerate(value):
            if name in value[:k]:
                self.fail(
                    key, f'"{name}" occurs twice', expected="every name once", remedy="remove one of them"
                )
        return tuple(replace(self, values={key: name}).name(key) for name in value)

    def name(self, key: str) -> str:
        """A name in lower snake case, without side."""
        name = self.text(key)
        if not _NAME.fullmatch(name):
            self.fail(
                key,
                f'"{name}" is not a name',
                expected="lower snake case: letters, digits, single underscores",
            )
        if key != "group" and name.endswith(tuple(f"_{side}" for side in SIDES)):
            self.fail(
                key,
                f'"{name}" ends in a side',
                remedy="leave it out: the file holds one side, sides are added later",
            )
        return name

    def count(self, key: str) -> int:
        """A whole number from 1."""
        value = self.values[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self._wrong_kind(key, value, "a whole number from 1")
        return value

    def vector(self, key: str, limit: float, unit: str) -> Vector:
        """Three finite numbers, none larger than `limit`."""
        value = self.values[key]
        if not isinstance(value, list) or len(value) != 3:
            self._wrong_kind(key, value, f"three numbers, [forward, left, up] in {unit}")
        x, y, z = (self._finite(key, part) for part in value)
        if max(abs(x), abs(y), abs(z)) >= limit:
            self.fail(
                key, f"{value} is out of range", expected=f"positions in {unit}, below {limit:g} {unit}"
            )
        return x, y, z

    def table(self, key: str, full_name: str | None = None, place: str | None = None) -> "TomlTable":
        """A sub-table of this table; full_name, place: dotted name and place for messages, by default from the key."""
        value = self.values[key]
        if not isinstance(value, dict):
            self._wrong_kind(key, value, "a table")
        place = place or (f"{self.place}, {key}" if self.place else key)
        return TomlTable(value, lambda: self.locate().table(full_name or key), self.file, place)

    def tables(self, key: str, full_name: str | None = None, what: str | None = None) -> "list[TomlTable]":
        """The tables of a list, empty if absent; what: word for one of them in messages, by default the key; full_name:
        see `table`.
        """
        values = self.values.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            self._wrong_kind(key, values, "a list of tables")
        made = []
        for k, value in enumerate(values):
            name = value.get("name")
            place = f"{what or key} {k + 1}" + (f" ({name})" if isinstance(name, str) and name else "")
            place = f"{self.place}, {place}" if self.place else place
            made.append(TomlTable(value, partial(self._nth, full_name or key, k), self.file, place))
        return made

    def _nth(self, full_name: str, number: int) -> "Region":
        return self.locate().table(full_name, number)

    def rows(self, key: str, columns: str) -> list[list[float]]:
        """A list of rows of finite numbers, one for each word of `columns`."""
        value, count = self.values[key], len(columns.split(", "))
        if not isinstance(value, list):
            self._wrong_kind(key, value, f"a list of rows [{columns}]")
        made = []
        for k, row in enumerate(value):
            numbers = isinstance(row, list) and all(
                type(each) in (int, float) and abs(each) < 1e300 for each in row
            )
            if not numbers or len(row) != count:
                self.fail(key, f"row {k + 1} is {reprlib.repr(row)}", expected=f"numbers [{columns}]", row=k)
            made.append([float(each) for each in row])
        return made

    def _finite(self, key: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._wrong_kind(key, value, "a number")
        if not abs(value) < 1e300:
            self.fail(key, f"{reprlib.repr(value)} is not finite", expected="a finite number")
        return float(value)

    def _wrong_kind(self, key: str, value: object, expected: str) -> NoReturn:
        kind = _KINDS.get(type(value), type(value).__name__)
        size = f" of {len(value)}" if isinstance(value, list) else ""
        remedy = f"state {key} as {expected}"
        if isinstance(value, str) and expected == "a number":
            remedy = "write it without quotes and with a decimal point"
        self.fail(key, f"{reprlib.repr(value)} is {kind}{size}", expected=expected, remedy=remedy)


_HEADER = re.compile(r"""\s*\[\[?(?P<name>[\w.\-"' ]+)\]\]?\s*(#.*)?$""")
_STRING = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'')
_COMMENT = re.compile(r"#.*")


@dataclass(frozen=True)
class Region:
    """The lines of one table: `lines[start:stop]` of the file, the header line included."""

    lines: tuple[str, ...]
    start: int
    stop: int

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The region of the whole file."""
        lines = tuple(text.split("\n"))
        return cls(lines, 0, len(lines))

    def line_of(self, key: str | None = None) -> int:
        """Line of a key of this table, counted from 1; the line of the table itself when the key is not found."""
        if key is not None:
            assignment = re.compile(rf"(^|[{{,\s])[\"']?{re.escape(key)}[\"']?\s*=")
            for k in range(self.start, self.stop):
                if k > self.start and _HEADER.match(self.lines[k]):
                    break
                if assignment.search(_bare(self.lines[k])):
                    return k + 1
        return self.start + 1

    def table(self, name: str, number: int = 0) -> "Region":
        """The `number`-th table with this full dotted name, with its sub-tables; this region if it is not found.

        The table may have a header, `[[muscle.path]]`, or be inline, `path = [ {...}, {...} ]`.
        """
        headers = [k for k in range(self.start, self.stop) if _header(self.lines[k]) == name]
        if number < len(headers):
            start = headers[number]
            for k in range(start + 1, self.stop):
                header = _header(self.lines[k])
                if header is not None and not header.startswith(name + "."):
                    return Region(self.lines, start, k)
            return Region(self.lines, start, self.stop)
        # the brace of this number at the outermost level after `key =`
        begin = self.line_of(name.rpartition(".")[2]) - 1
        for k, (start, last) in enumerate(self._spans(begin, "{", "}", outermost=0)):
            if k == number:
                return Region(self.lines, start, last + 1)
        return Region(self.lines, begin, begin + 1)

    def line_of_row(self, key: str, number: int) -> int:
        """Line of the `number`-th list inside the list of a key, counted from 1."""
        spans = self._spans(self.line_of(key) - 1, "[", "]", outermost=1)
        return next((start + 1 for k, (start, _) in enumerate(spans) if k == number), self.line_of(key))

    def _spans(self, begin: int, opening: str, closing: str, outermost: int) -> Iterator[tuple[int, int]]:
        """First and last line of each bracket of this depth, from a line on."""
        depth, start = 0, begin
        for k in range(begin, self.stop):
            bare = _bare(self.lines[k])
            if k > begin and depth == 0 and _HEADER.match(self.lines[k]):
                return
            for character in bare:
                if character == opening:
                    if depth == outermost:
                        start = k
                    depth += 1
                elif character == closing:
                    depth -= 1
                    if depth == outermost:
                        yield start, k


@lru_cache(maxsize=4096)
def _header(line: str) -> str | None:
    """The name in a header line, if any; cached, because every table of a file searches the same lines."""
    match = _HEADER.match(line)
    return re.sub(r"[\s\"']", "", match["name"]) if match else None


def _bare(line: str) -> str:
    """The line without the text inside strings and without its comment."""
    return _COMMENT.sub("", _STRING.sub('""', line))

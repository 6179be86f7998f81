"""Where in a TOML file a table or key stands: tomllib keeps no line numbers, so the text is searched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

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
    def of_text(cls, text: str) -> Region:
        """The whole file."""
        lines = tuple(text.split("\n"))
        return cls(lines, 0, len(lines))

    def line_of(self, key: str | None = None) -> int:
        """Line of a key of this table, counted from 1; that of the table itself when the key is not found."""
        if key is not None:
            assignment = re.compile(rf"(^|[{{,\s])[\"']?{re.escape(key)}[\"']?\s*=")
            for k in range(self.start, self.stop):
                if k > self.start and _HEADER.match(self.lines[k]):
                    break
                if assignment.search(_bare(self.lines[k])):
                    return k + 1
        return self.start + 1

    def table(self, name: str, number: int = 0) -> Region:
        """The `number`-th table with this full dotted name, with its sub-tables; failing that, this region.

        It may stand under a header, `[[muscle.path]]`, or inline, `path = [ {...}, {...} ]`.
        """
        headers = [k for k in range(self.start, self.stop) if _header(self.lines[k]) == name]
        if number < len(headers):
            start = headers[number]
            return Region(self.lines, start, self._end(start, name))
        return self._inline(name.rpartition(".")[2], number)

    def _end(self, start: int, name: str) -> int:
        for k in range(start + 1, self.stop):
            header = _header(self.lines[k])
            if header is not None and not header.startswith(name + "."):
                return k
        return self.stop

    def line_of_row(self, key: str, number: int) -> int:
        """Line of the `number`-th list inside the list of a key, counted from 1."""
        spans = self._spans(self.line_of(key) - 1, "[", "]", outermost=1)
        return next((start + 1 for k, (start, _) in enumerate(spans) if k == number), self.line_of(key))

    def _inline(self, key: str, number: int) -> Region:
        """The `number`-th brace at the outermost level after `key =`."""
        begin = self.line_of(key) - 1
        for k, (start, last) in enumerate(self._spans(begin, "{", "}", outermost=0)):
            if k == number:
                return Region(self.lines, start, last + 1)
        return Region(self.lines, begin, begin + 1)

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
    """The name that a line heads, if any; every table of a file looks through the same lines."""
    found = _HEADER.match(line)
    return re.sub(r"[\s\"']", "", found["name"]) if found else None


def _bare(line: str) -> str:
    """The line without the text inside strings and without its comment."""
    return _COMMENT.sub("", _STRING.sub('""', line))

"""Where in a TOML file a table or key stands: tomllib keeps no line numbers, so the text is searched."""

from __future__ import annotations

import re
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

    def _inline(self, key: str, number: int) -> Region:
        """The `number`-th brace at the outermost level after `key =`."""
        begin = self.line_of(key) - 1
        depth, count = 0, -1
        for k in range(begin, self.stop):
            for character in _bare(self.lines[k]):
                if character == "{":
                    count += depth == 0
                    if depth == 0 and count == number:
                        return Region(self.lines, k, k + 1)
                    depth += 1
                elif character == "}":
                    depth -= 1
        return Region(self.lines, begin, begin + 1)


@lru_cache(maxsize=4096)
def _header(line: str) -> str | None:
    """The name that a line heads, if any; every table of a file looks through the same lines."""
    found = _HEADER.match(line)
    return re.sub(r"[\s\"']", "", found["name"]) if found else None


def _bare(line: str) -> str:
    """The line without the text inside strings and without its comment."""
    return _COMMENT.sub("", _STRING.sub('""', line))

"""Citations: numbered in the order of their first use, as a list and as BibTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup, escape

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.version import __version__

_CITED = re.compile(r" ?\[(@[\w;@]+)\]")
_NAME = re.compile(r"^(?P<family>[^,]+), (?P<given>.+)$")


def works() -> dict[str, dict[str, Any]]:
    """Every work that may be cited, by its key."""
    return bundled_toml("musclesolve.report", "texts", "citations.toml")


@dataclass
class Citations:
    """The works cited so far, in the order of their numbers."""

    version: str = __version__  # of musclesolve, in its own citation
    keys: list[str] = field(default_factory=list)

    def number(self, key: str) -> int:
        """The number of a work; a new one at its first use."""
        if key not in works():
            raise KeyError(key)
        if key not in self.keys:
            self.keys.append(key)
        return self.keys.index(key) + 1

    def cite(self, *keys: str) -> Markup:
        """Numbers in brackets, linked to the list."""
        numbers = sorted(self.number(key) for key in keys)
        links = Markup(", ").join(Markup('<a href="#cite-{0}">{0}</a>').format(number) for number in numbers)
        return Markup(" [") + links + Markup("]")

    def marked(self, text: str) -> Markup:
        """A text with its [@key;@key] as linked numbers."""
        parts, end = [], 0
        for found in _CITED.finditer(text):
            parts += [escape(text[end : found.start()]), self.cite(*found[1].replace("@", "").split(";"))]
            end = found.end()
        return Markup("").join([*parts, escape(text[end:])])

    def listed(self) -> list[tuple[int, str]]:
        """Number and text of every work cited."""
        return [(number, as_text(key, self.version)) for number, key in enumerate(self.keys, start=1)]

    def bibtex(self) -> str:
        """BibTeX entries of the works cited."""
        return "\n\n".join(as_bibtex(key, self.version) for key in self.keys)


def as_text(key: str, version: str) -> str:
    """One work as an entry of a list."""
    work = works()[key]
    authors = [_short(name) for name in work["author"].strip("{}").split(" and ")]
    title = f"{work['title']}." if work["title"][-1] not in ".?!" else work["title"]
    if work["kind"] == "software":
        return f"{authors[0]}. {title} Version {version}."
    if work["kind"] == "phdthesis":
        return f"{', '.join(authors)}. {title} PhD thesis, {work['school']}, {work['year']}."
    if work["kind"] == "book":
        return (
            f"{', '.join(authors)}. {title} Edition {work['edition']}. {work['publisher']}, {work['year']}."
        )
    pages = work["pages"].replace("--", "–")
    return f"{', '.join(authors)}. {title} {work['journal']} {work['volume']}:{pages}, {work['year']}."


def _short(name: str) -> str:
    """Family name and initials."""
    found = _NAME.match(name)
    if not found:
        return name
    initials = "".join(part[0] for part in re.split(r"[ .]+", found["given"]) if part[:1].isupper())
    small = " ".join(part for part in found["given"].split() if part.islower())
    return " ".join(filter(None, (small, found["family"], initials)))


def as_bibtex(key: str, version: str) -> str:
    """One work as BibTeX."""
    work = works()[key]
    fields = {name: str(value) for name, value in work.items() if name != "kind"}
    if work["kind"] == "software":
        fields["version"] = version
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@{work['kind']}{{{key},\n{lines}\n}}"

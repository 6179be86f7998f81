"""The table of facts: name, value, unit and sentence of each.

The summary of a command, the document of --json, pages and desk are read from such a table. Nothing that reads it
formats a number again: it chooses by subject, section and severity. `result_facts` makes the table of a result,
`tables` the tables of answers to questions, of a comparison, an average and the tests of a study.
"""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.laboratory.results.finding import Units
from musclesolve.laboratory.results.tables.lines import line

ROW = "row"
"""Severity of the rows of tables, whose columns are the parts of the value."""
SHORT = "in short"
"""Subject of the plain sentences that come first."""
REMARK = "good to know"
"""Subject of the remarks on a terminal."""


@dataclass(frozen=True)
class Number:
    """A number in a sentence, printed with few digits; a page keeps its full value and its name."""

    name: str  # such as "pelvis_residual.peak_moment_nm"
    value: float
    text: str  # as it is printed

    def __html__(self) -> str:
        """Return the number as an element of a page."""
        name, shown = html.escape(self.name), html.escape(self.text)
        return f'<data data-name="{name}" value="{float(self.value)!r}">{shown}</data>'

    def __str__(self) -> str:
        """Return the number as it is printed."""
        return self.text


@dataclass(frozen=True)
class Fact:
    """A fact: a row of the table."""

    name: tuple[str, ...]  # the keys of the value in the document of --json; () where it has no place there
    value: Any  # a number, a text, or several by their keys
    unit: str = ""  # of a value that is one number; keys of several name theirs
    pieces: tuple[str | Number, ...] = ()  # of the sentence; () where only the value counts
    subject: str = ""  # what the sentence is about, the first column of the summary
    severity: str = ""  # severity of a finding; "remark", "limit", "method" or "row"; "" for any other
    section: str = ""  # of the report, which prints the sentence

    @property
    def sentence(self) -> str:
        """The fact as it is printed; "" where there is nothing to print."""
        return "".join(map(str, self.pieces))

    def __html__(self) -> str:
        """Return the sentence as a part of a page, in which numbers keep their full value."""
        return "".join(
            html.escape(piece) if isinstance(piece, str) else piece.__html__() for piece in self.pieces
        )


def sentences() -> dict[str, dict[str, Any]]:
    """The entries of facts.toml by their codes."""
    return bundled_toml(__package__, "facts.toml")


def number(name: str, value: float, spec: str) -> Number:
    """A number that is printed by a format; a dash where it is not finite."""
    return Number(name, value, Units().format_field(value, spec))


def fact(code: str, value: Any = None, *within: str, subject: str = "", **words: Any) -> Fact:
    """Make a fact with the sentence of a code of facts.toml.

    Args:
        code: the entry.
        value: what the document holds under the key of the entry; the sentence may name its parts, or itself as
            `value`. None: not known, and where the entry has a key the sentence `otherwise` is printed, or nothing.
        within: names below the key.
        subject: instead of the entry's.
        words: further fields of the sentence: numbers, texts, sequences of both; None or "" leaves its part out.
    """
    about = sentences()[code]
    name = (*about["key"].split("."), *within) if "key" in about else ()
    known = {"value": value, **(value if isinstance(value, Mapping) else {}), **words}
    parts = about["sentence"] if isinstance(about["sentence"], list) else [about["sentence"]]
    filled: list[str | Number] = []
    if name and value is None:
        filled = [about["otherwise"]] if words.get("asked", False) else []
    else:
        for part in parts:
            if (pieces := _filled(code, part, known)) is not None:
                filled += [about.get("join", ""), *pieces] if filled else pieces
    unit, severity, section = (about.get(key, "") for key in ("unit", "severity", "section"))
    return Fact(name, value, unit, tuple(filled), subject or about.get("subject", ""), severity, section)


def _filled(code: str, part: str, words: Mapping[str, Any]) -> list[str | Number] | None:
    """The pieces of a part of a sentence; None where a field is missing."""
    pieces: list[str | Number] = []
    for literal, name, spec, conversion in Units().parse(part):
        pieces.append(literal)
        if name is None:
            continue
        value = words[name.partition("[")[0]]
        if value is None or (isinstance(value, str | Sequence) and not value):
            return None
        value = Units().get_field(name, (), words)[0]
        if isinstance(value, Real):
            value = Units().convert_field(value, conversion)
            pieces.append(number(f"{code}.{name}", value, spec) if spec else str(value))
        elif isinstance(value, str):
            pieces.append(value)
        else:
            pieces += value
    return pieces


def plain_fact(subject: str, sentence: str, value: Any = None, *name: str, severity: str = "") -> Fact:
    """A fact whose sentence is written beside its condition."""
    return Fact(name, value, pieces=(sentence,), subject=subject, severity=severity)


def silent(value: Any, *name: str) -> Fact:
    """A fact without a sentence."""
    return Fact(name, value)


def chosen(table: Iterable[Fact], *severities: str, section: str | None = None) -> list[Fact]:
    """The facts with a sentence that have one of some severities; facts of a section where it is given."""
    return [
        each
        for each in table
        if each.pieces and each.severity in severities and section in (None, each.section)
    ]


def rows(table: Iterable[Fact]) -> list[tuple[str, str]]:
    """Subject and sentence of all facts except limits; a subject only in its first row.

    What is said in short comes first, then the remarks, as on a page.
    """
    texts: dict[str, list[str]] = {SHORT: [], REMARK: []}
    for each in chosen(table, "", "error", "warning", "remark"):
        subject = REMARK if each.severity == "remark" else each.subject
        texts.setdefault(subject, []).append(each.sentence)
    return [("" if k else subject, text) for subject, of in texts.items() for k, text in enumerate(of)]


def summary(table: Iterable[Fact]) -> str:
    """The rows as lines."""
    return "\n".join(line(*row) for row in rows(table))


def document(table: Iterable[Fact]) -> dict[str, Any]:
    """The values of the facts by their names, as --json prints them."""
    content: dict[str, Any] = {}
    for each in table:
        if each.name:
            inner = content
            for key in each.name[:-1]:
                inner = inner.setdefault(key, {})
            inner[each.name[-1]] = each.value
    return content

"""The trial file as edited by the desk: its text is the only state, and handwritten parts are kept.

Every change is on disk before the page shows it. A line that a draft has left open, `# stature_m = 1.86` below a
`# TODO:`, is a suggestion: to state its value replaces it.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import tomlkit
from tomlkit.exceptions import TOMLKitError

from muscle_db.parsed_toml import toml_table
from musclesolve.apps.desk.words import by_click, title_of
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.draft.choose_mapping import MARKER
from musclesolve.laboratory.recording.trial_document import HEADER, OPEN_KEY, open_decisions
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.laboratory.results.recipe import settings_hash
from musclesolve.tables.document import key_text, value_text

Place = tuple[str | int, ...]
"""Place of a value: names of tables and keys, and numbers of tables of a list: ("force", 0, "side")."""
Kept = TypeVar("Kept")
MOST_STEPS = 100
"""Largest number of changes that can be undone."""
LONGEST_VALUE = 30
"""Largest number of characters of a value in the words for a change."""


@dataclass(frozen=True)
class Open:
    """Decision that a draft has left open.

    table: its name. key: None for the whole table. why: the sentence of the file. value: what is suggested, None where
    nothing is. first, last: its lines in the text, from 0, the last not included.
    """

    table: str
    key: str | None
    why: str
    value: Any
    first: int
    last: int

    @property
    def names_marker(self) -> bool:
        """Whether the decision is the marker of a landmark."""
        return self.key is not None and self.table.rpartition(".")[2] == "mapping" and self.value == MARKER


@dataclass(frozen=True)
class Edit:
    """A change of the text that can be undone or redone.

    what: the change in words, "“Subject: Mass [kg]” from 70 to 57.6". place: of its first value, empty for a change of
    the text itself. text: the text on the other side of the change. beside: the text of a table beside the file.
    """

    what: str
    place: Place
    text: str
    beside: str = ""


class TrialDocument:
    """A trial file that is open on the desk.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = _read(path)
        self.beside = ""  # the text of a table beside the file, see `StudyDocument`
        self._parsed: tuple[str, Mapping[str, Any], str] | None = None  # the text, its content and fault
        self._before: list[Edit] = []  # changes to undo, the last one last
        self._after: list[Edit] = []  # changes to redo

    @property
    def content(self) -> Mapping[str, Any]:
        """Tables and values; empty where the text is no TOML."""
        return self._read_text()[0]

    @property
    def fault(self) -> str:
        """Fault of the text as TOML, "" without fault."""
        return self._read_text()[1]

    def _read_text(self) -> tuple[Mapping[str, Any], str]:
        """`content` and `fault`, found once for a text."""
        if self._parsed is None or self._parsed[0] != self.text:
            try:
                self._parsed = self.text, toml_table(self.text), ""
            except tomllib.TOMLDecodeError as error:
                self._parsed = self.text, {}, str(error)
        return self._parsed[1:]

    @property
    def settings(self) -> str:
        """Hash of the settings, on which results and findings depend; the text where it is no TOML."""
        return self.text if self.fault else settings_hash(self.content)

    def of_settings(self, kept: tuple[str, Kept] | None) -> Kept | None:
        """The value kept together with settings, None where they have changed since."""
        return kept[1] if kept is not None and kept[0] == self.settings else None

    def value(self, *place: str | int) -> Any:
        """The value at a place, None where there is none."""
        value: Any = self.content
        for part in place:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def reload(self) -> bool:
        """Read the file again where another program has changed it; returns whether it has."""
        text = _read(self.path)
        if text == self.text:
            return False
        self._keep(Edit("a change by another program", (), self.text, self.beside))
        self.text = text
        return True

    def state(self, place: Place, value: Any) -> None:
        """Write a value at a place; None removes it. A suggestion for it is replaced, a question removed."""
        self.state_all({place: value})

    def state_all(self, values: Mapping[Place, Any]) -> None:
        """Write several values as one change, which `undo` takes back at once; see `state`."""
        what = ", ".join(change_words(place, self.value(*place), value) for place, value in values.items())
        self.write(self.with_values(values), what, next(iter(values), ()))

    def with_values(self, values: Mapping[Place, Any]) -> str:
        """The text with values at their places."""
        before = self.text
        try:
            for place, value in values.items():
                if value != self.value(*place):
                    self.text = self._with_value(place, value)
            return self.text
        finally:
            self.text = before

    def after_check(self, change: Iterable[tuple[Place, Any]]) -> dict[Place, Any]:
        """The change of a finding: a table [[exchanged]] that it adds follows those that were added since the check."""
        stands = len(self.value("exchanged") or ())
        return {("exchanged", stands, *p[2:]) if p[0] == "exchanged" else p: v for p, v in change}

    def _with_value(self, place: Place, value: Any) -> str:
        """The text with a value at a place."""
        open_line, text = self._open_at(place), self.text
        if open_line is not None and value is not None:
            lines = text.splitlines()
            if open_line.key is not None:
                lines[open_line.first : open_line.last] = [
                    f"{key_text(str(place[-1]))} = {value_text(value)}"
                ]
                return "\n".join(lines) + "\n"
            del lines[open_line.first : open_line.last]
            text = "\n".join(lines) + "\n"
        elif value is not None and (entry := self.asked(place)) is not None:
            lines = text.splitlines()
            del lines[entry.first : entry.last]
            text = "\n".join(lines) + "\n"
        try:
            document = tomlkit.parse(text)
        except TOMLKitError as error:
            raise self._no_toml(error) from error
        within: Any = document
        for part, following in pairwise(place):
            if isinstance(part, str) and part not in within:
                if value is None:
                    return text
                within[part] = tomlkit.aot() if isinstance(following, int) else tomlkit.table()
            elif isinstance(part, int) and part == len(within):
                within.append(tomlkit.table())
            within = within[part]
        before, fresh = text, isinstance(place[-1], str) and place[-1] not in within
        if value is not None:
            # As drafts write it: what is no table of its own stands in one line.
            within[place[-1]] = tomlkit.value(value_text(value))
        else:
            _removed(within, place[-1])
        text = tomlkit.dumps(document)
        if fresh and value is not None:
            text = _before_comments(before, text)
        return text if text.endswith("\n") else text + "\n"

    def write(
        self, text: str, what: str = "the text of the file", place: Place = (), beside: str | None = None
    ) -> None:
        """Replace the text, on disk first; what, place, beside: as of `Edit`."""
        beside = self.beside if beside is None else beside
        if (text, beside) == (self.text, self.beside):
            return
        edit = Edit(what, place, self.text, self.beside)
        self._swap(text, beside)
        self._keep(edit)

    def _swap(self, text: str, beside: str) -> None:
        """Write the text, and the text of the table beside it."""
        self._replace(text)

    def _keep(self, edit: Edit) -> None:
        self._before, self._after = [*self._before, edit][-MOST_STEPS:], []

    def _replace(self, text: str) -> None:
        """Write a text to disk, then keep it; refused where it is no TOML or the file has changed meanwhile."""
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise self._no_toml(error) from error
        if self.path.exists() and _read(self.path) != self.text:
            self.reload()
            raise file_error(
                "conflict",
                self.path,
                "the file has been changed by another program meanwhile; it was read again",
                remedy="look at it, and make the change once more",
            )
        write_files(self.path.parent, {self.path.name: text.encode()})
        self.text = text

    @property
    def to_undo(self) -> Edit | None:
        """The last change."""
        return self._before[-1] if self._before else None

    @property
    def to_redo(self) -> Edit | None:
        """The change that was undone last, unless another one followed."""
        return self._after[-1] if self._after else None

    def undo(self) -> Edit | None:
        """Write the text of before the last change; return the change."""
        return self._step(self._before, self._after)

    def redo(self) -> Edit | None:
        """Write the text of after the change that was undone last; return the change."""
        return self._step(self._after, self._before)

    def _step(self, of: list[Edit], to: list[Edit]) -> Edit | None:
        """Write the text of the last of some changes, which becomes one of the others."""
        if not of:
            return None
        edit, now, beside = of[-1], self.text, self.beside
        self._swap(edit.text, edit.beside)
        of.pop()
        to.append(replace(edit, text=now, beside=beside))
        return edit

    @property
    def opens(self) -> list[Open]:
        """Decisions that the draft has left open, in the order of the file."""
        opens, lines = list[Open](), self.text.splitlines()
        for first, last, why in open_decisions(lines):
            headers = filter(None, map(HEADER.match, reversed(lines[:first])))
            table = header[2] if (header := next(headers, None)) else ""
            following = lines[last] if last < len(lines) else ""
            suggested = OPEN_KEY.match(following)
            value = _value(suggested[2] or "") if suggested else None
            # A key without a value suggests nothing; words that happen to look like one belong to what follows.
            if suggested and (value is not None or not suggested[2]):
                opens.append(Open(table, suggested[1], why, value, first, last + 1))
            elif header := HEADER.match(following):
                end = _end_of_open(lines, last, header[2]) if header[1] else last
                opens.append(Open(header[2], None, why, None, first, end))
            elif key := re.match(r"([A-Za-z0-9_-]+) = ", following):
                opens.append(Open(table, key[1], why, None, first, last))
            else:
                opens.append(Open(table, None, why, None, first, last))
        return opens

    def decided(self, entry: Open) -> None:
        """Remove a TODO, if it is still there: its value is right as it stands, or is not needed."""
        for item in self.opens:  # its lines may have moved
            if (item.table, item.key, item.why) == (entry.table, entry.key, entry.why):
                lines = self.text.splitlines()
                del lines[item.first : item.last]
                name = f"[{item.table}] {item.key or ''}".rstrip()
                return self.write("\n".join(lines) + "\n", f"{name}: decided", (item.table, item.key or ""))

    def asked(self, place: Place) -> Open | None:
        """The open decision whether the value stated at a place is right."""
        wanted = ".".join(map(str, place[:-1])), place[-1]
        return next((item for item in self.opens if (item.table, item.key) == wanted), None)

    def _open_at(self, place: Place) -> Open | None:
        """Return the open decision at a place: its value, or the whole table that contains the place."""
        wanted = ".".join(map(str, place[:-1]))
        for item in self.opens:
            if (item.table, item.key) == (wanted, place[-1]) and self.value(*place) is None:
                return item
            if (item.table, item.key) == (place[0], None) and self.value(item.table) is None:
                return item
        return None

    def _no_toml(self, error: Exception) -> InputError:
        return file_error(
            "bad_format",
            self.path,
            f"no TOML: {error}",
            "tables, and lines of the form key = value",
            "correct the line, or take the change back",
        )


def change_words(place: Place, before: Any, after: Any) -> str:
    """A change of a value in words: "“Subject: Mass [kg]” from 70 to 57.6"."""
    return f"{place_words(place)} from {_value_words(before)} to {_value_words(after)}"


def place_words(place: Place) -> str:
    """A place in the words of its field: "“Subject: Mass [kg]”"."""
    table, key = ".".join(map(str, place[:-1])), str(place[-1])
    if place[0] == "trials" and len(place) > 2:  # a cell of the table of a study
        return f"“{title_of(key)}” of {place[1]}"
    return by_click(f"[{table}] {key}" if table else f"[{key}]")


def now_words(place: Place, value: Any) -> str:
    """The present value of a place in words: "“Subject: Mass [kg]” is 70 now"."""
    return f"{place_words(place)} is {_value_words(value)} now"


def _value_words(value: Any) -> str:
    return "not stated" if value is None else _short(value_text(value))


def _short(text: str) -> str:
    """A text, cut where it is too long for a button."""
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def change_title(change: Collection[tuple[Place, Any]]) -> str:
    """Return the title of a button that makes a change of the trial file: "Take “Subject: Mass [kg]” as 57.6"."""
    stated = [f"{place_words(place)} as {value_text(value)}" for place, value in change]
    exchanged = [value for place, value in change if place[0] == "exchanged" and place[-1] != "times_s"]
    if labels := {frozenset(pair): pair for pairs in exchanged for pair in pairs.items()}:
        whose = " and ".join(*labels.values()) if len(labels) == 1 else f"of {len(labels)} pairs"
        return f"Exchange the labels {whose}"
    pair = [str(place[-1]) for place, _ in change]
    if len(pair) == 2 and all(place[0] == "mapping" for place, _ in change):
        sides = pair[0][:-2] == pair[1][:-2]
        return f"Exchange right and left of {pair[0][:-2]}" if sides else f"Exchange {pair[0]} and {pair[1]}"
    return f"Take {' and '.join(stated)}"


def _before_comments(before: str, after: str) -> str:
    """A text with its new lines moved up, above comments and blank lines: these are of the next table."""
    old, lines = before.splitlines(), after.splitlines()
    new = next((k for k, (one, other) in enumerate(zip(old, lines, strict=False)) if one != other), len(old))
    stop = new + len(lines) - len(old)
    if lines[:new] + lines[stop:] != old:
        return after
    added = lines[new:stop]
    if any(line.startswith("[") for line in added):
        if new == len(old):
            return after
        added.insert(0, "")
    to = new
    while to > 0 and (not lines[to - 1].strip() or lines[to - 1].startswith("#")):
        to -= 1
    return "\n".join([*old[:to], *added, *old[to:]]) + "\n"


def _end_of_open(lines: list[str], start: int, table: str) -> int:
    """Return the line where a table ends that a draft has written as comments, with the tables within it."""
    end = start
    while end < len(lines):
        header = HEADER.match(lines[end]) if lines[end].startswith("# ") else None
        if not lines[end].strip():
            header = HEADER.match(lines[end + 1]) if end + 1 < len(lines) else None
            if header is None or not header[1] or not header[2].startswith(f"{table}."):
                break
        elif not lines[end].startswith("# ") or (header and not f"{header[2]}.".startswith(f"{table}.")):
            break
        end += 1
    return end


def _removed(within: Any, name: str | int) -> None:
    if isinstance(name, int) and name < len(within):
        del within[name]
    elif isinstance(name, str) and name in within:
        within.remove(name)


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise file_error(
            "unreadable_file",
            path,
            f"the trial file cannot be read: {getattr(error, 'strerror', None) or error}",
            "a text file in UTF-8",
        ) from error

"""Settings: fields of dataclasses with kind, range, default and sentence, the check of a value, the JSON Schema.

Plain dataclasses, not pydantic (0.1 s of a start of 0.3 s) or msgspec (stops at the first fault): all faults of a file
are reported at once, with line, remedy and a possibly mistaken unit, which libraries of types do not support.

With the JSON Schema of the files editors complete their keys and check their values (taplo, Even Better TOML). The
first line of a file names its schema, ``#:schema .musclesolve/trial.schema.json``; `init` writes both.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, ItemsView, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar, Self

from musclesolve._util.messages import as_text, check_keywords


def is_number(value: Any) -> bool:
    """Return whether a value is a number that can be a measurement."""
    return isinstance(value, float) or _is_whole(value)


def _is_whole(value: Any) -> bool:
    # A TOML integer has any number of digits; one that no float can hold is no measure of anything.
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_name_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, str) and part for part in value)


def _is_text_or_names(value: Any) -> bool:
    return _is_text(value) or _is_name_list(value)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_number, value))


def _is_triple(value: Any) -> bool:
    return _is_numbers(value) and len(value) == 3


def _is_range(value: Any) -> bool:
    return _is_numbers(value) and len(value) == 2 and bool(-math.inf < value[0] < value[1] < math.inf)


def _are_ranges(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_range, value)) and not _overlapping(value)


def _overlapping(value: Any) -> tuple[list[float], list[float]] | None:
    """Return two ranges of a list, of which the second begins before the end of the first; None without such ranges."""
    ranges = sorted(value) if isinstance(value, list) and all(map(_is_range, value)) else []
    return next(((one, other) for one, other in pairwise(ranges) if other[0] < one[1]), None)


def _table_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(holds, value.values()))


_is_weights = _table_of(is_number)


@dataclass(frozen=True)
class ValueKind:
    """A kind of value: its name in messages, its form in a file, the test of a value, its JSON Schema.

    `holds_part`: of a table whose parts are values of one kind, so that a message can name the part at fault.
    """

    called: str
    form: str
    holds: Callable[[Any], bool]
    json: Mapping[str, Any]
    holds_part: Callable[[Any], bool] | None = None


_TEXT, _NUMBER = {"type": "string", "minLength": 1}, {"type": "number"}
_NAMES = {"type": "array", "items": _TEXT, "minItems": 1}
_TRIPLE = {"type": "array", "items": _NUMBER, "minItems": 3, "maxItems": 3}


def _named(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": part}


KINDS = {
    "text": ValueKind("a text in quotes", '"..."', _is_text, _TEXT),
    "number": ValueKind("a number", "1.5, with your number", is_number, _NUMBER),
    "whole": ValueKind("a whole number", "1, with your number", _is_whole, {"type": "integer"}),
    "truth": ValueKind(
        "true or false", "true, or false", lambda value: isinstance(value, bool), {"type": "boolean"}
    ),
    "name_list": ValueKind("a list of names", '["...", "..."]', _is_name_list, _NAMES),
    "columns": ValueKind(
        "a list of three column names, or their common beginning",
        '["...x", "...y", "...z"], or their common beginning "..."',
        lambda value: (isinstance(value, str) and value != "") or (_is_name_list(value) and len(value) == 3),
        {"anyOf": [_TEXT, {**_NAMES, "minItems": 3, "maxItems": 3}]},
    ),
    "triple": ValueKind("a list of three numbers", "[0.01, 0.01, 0.002]", _is_triple, _TRIPLE),
    "numbers": ValueKind(
        "a list of numbers", "[0.01, 0.002]", _is_numbers, {"type": "array", "items": _NUMBER, "minItems": 1}
    ),
    "ranges": ValueKind(
        "a list of ranges that do not overlap, each of two numbers, the smaller first",
        "[[0.4, 1.5], [1.5, 2.6]]",
        _are_ranges,
        {"type": "array", "items": {**_TRIPLE, "minItems": 2, "maxItems": 2}, "minItems": 1},
    ),
    "weights": ValueKind(
        "names with a number each", "{ heel_r = 2.0 }", _is_weights, _named(_NUMBER), is_number
    ),
    "triples": ValueKind(
        "names with three numbers each",
        "{ 1 = [4.0, 0.0, -1.5] }",
        _table_of(_is_triple),
        _named(_TRIPLE),
        _is_triple,
    ),
    "number_or_weights": ValueKind(
        "a number, or names with a number each",
        "1.5, or { ... = 1.5 }, with your numbers",
        lambda value: is_number(value) or _is_weights(value),
        {"anyOf": [_NUMBER, _named(_NUMBER)]},
    ),
    "name_lists": ValueKind(
        "names with a name or a list of names each",
        '{ SOL = "soleus_r" }',
        _table_of(_is_text_or_names),
        _named({"anyOf": [_TEXT, _NAMES]}),
        _is_text_or_names,
    ),
    "names": ValueKind(
        "names with a name each",
        '{ GM = "gastrocnemius_medial_r" }',
        _table_of(_is_text),
        _named(_TEXT),
        _is_text,
    ),
    "tables": ValueKind(
        "a table of its own for each name",
        "{ shank_r = { mass_kg = 1.5 } }",
        _table_of(lambda part: isinstance(part, dict)),
        _named({"type": "object"}),
    ),
    "file_tables": ValueKind(
        "tables by name, each of its keys",
        '{ laboratory = { forward = "-x" } }',
        _table_of(
            lambda part: (
                isinstance(part, dict)
                or (isinstance(part, list) and all(isinstance(one, dict) for one in part))
            )
        ),
        _named({"anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]}),
    ),
}
"""The kinds of values that a setting may have."""
LISTS = ("name_list", "columns", "triple", "numbers")
"""Kinds whose values are lists in a file and tuples in the program."""
REPEATABLE = ("name_list", "numbers", "number_or_weights")
"""Kinds of settings whose option may be repeated."""
USUAL_KINDS = {
    **{"float": "number", "int": "whole", "str": "text", "bool": "truth"},
    **{"tuple[str, ...]": "name_list", "tuple[float, ...]": "numbers", "str | tuple[str, ...]": "columns"},
    **{"float | str": "number", "int | str": "whole"},
    **{"Mapping[str, float]": "weights", "Mapping[str, tuple[float, ...]]": "triples"},
}
"""Type of an attribute -> kind of a setting that states none."""


class Setting:
    """Setting at a key of a file: its kind, its range, its meaning, and its default.

    Args:
        about: its meaning, with its unit in brackets and its value when absent.
        kind: of `KINDS`; by the type of its attribute if empty (`USUAL_KINDS`).
        default: None without a default.
        required: whether a file must have it.
        within: least and largest value of a number, or of each of several; minimum, maximum, above: one of them.
        choices: the only values of a text, or of the texts of a list.
        words: texts allowed instead of a number.
        example: a value in the right form, for the remedy.
        mistaken_units: unit -> factor to the unit of the setting, for the remedy. needed_with, only_with: required, or
            used, only with forces from "columns" (a file of text) or "plates" (C3D). of: kinds of bodies with this
            error: "recording", an OpenSim model with "moments" or "loads", a "person"; empty: all. of_run: whether
            `run` has it as an option, which replaces the value in the trial file; `share` has all of a model. option:
            its name in commands, by KEY if empty; metavar: the form of its value in their help, by its kind if empty;
            argument: the keyword of Python functions, KEY if empty.
    """

    about: str
    kind: str = ""
    default: Any = None
    required: bool = False
    minimum: float = -math.inf
    maximum: float = math.inf
    above: float = -math.inf
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    example: str = ""
    mistaken_units: Mapping[str, float] = MappingProxyType({})
    needed_with: str = ""
    only_with: str = ""
    of: tuple[str, ...] = ()
    of_run: bool = False
    option: str = ""
    metavar: str = ""
    argument: str = ""

    def __init__(self, about: str, within: tuple[float, float] | None = None, **rules: Any) -> None:
        limits = dict(zip(("minimum", "maximum"), within or (), strict=False))
        self.__dict__.update({"about": about} | rules | limits)

    def changed(self, **rules: Any) -> Setting:
        """Return the setting with some rules changed."""
        return Setting(**(vars(self) | rules))

    def option_of(self, key: str) -> str:
        """The option of the setting at a key: in the singular if repeatable, with its opposite if true by default."""
        name = f"--{key.replace('_', '-')}"
        if self.kind in REPEATABLE:
            name = name.removesuffix("s")
        return self.option or (f"{name}/--no-{name[2:]}" if self.default is True else name)

    @property
    def unit(self) -> str:
        """The unit of its numbers, from the brackets in its sentence; "" without one."""
        match = re.search(r"\[([^\[\].]+)\]", self.about)
        return match[1] if match and "number" in f"{self.kind} {KINDS[self.kind].called}" else ""

    def contains(self, value: float) -> bool:
        """Return whether a number is finite and in the range."""
        return bool(self.minimum <= value <= self.maximum and value > self.above and math.isfinite(value))

    @property
    def range(self) -> str:
        """The range in words."""
        number = "a whole number" if self.kind == "whole" else "a finite number"
        return f"{number} {self.limits}".strip()

    @property
    def limits(self) -> str:
        """The ends of the range in words; "" without any."""
        limits = ((self.minimum, "at least"), (self.above, "above"), (self.maximum, "at most"))
        return " and ".join(f"{word} {n:g}" for n, word in limits if math.isfinite(n))

    def problem(self, value: Any) -> tuple[str, str] | None:
        """Return the problem of a value from a TOML file, and the expected value; None for a valid one."""
        if isinstance(value, str) and value in self.words:
            return None
        name = self.kind
        if name == "number_or_weights":
            name = "weights" if isinstance(value, dict) else "number"
        kind = KINDS[name]
        if not kind.holds(value):
            instead = f" or one of {listed(self.words)}" if self.words else ""
            wrong = f"is {as_text(value)}"
            if kind.holds_part and isinstance(value, dict):
                part = next(part for part in value if not kind.holds_part(value[part]))
                wrong = f"of '{part}' is {as_text(value[part])}"
            elif name == "ranges" and (pair := _overlapping(value)):
                wrong = f"has ranges that overlap: {pair[0]} and {pair[1]}"
            return f"the value {wrong}", f"{KINDS[self.kind].called}{instead}: {self.about}"
        if self.choices and (beyond := [part for part in self.texts(value) if part not in self.choices]):
            of_list = "a list of some of" if name == "name_list" else "one of"
            is_or_are = "values are" if len(beyond) > 1 else "value is"
            return f"the {is_or_are} {', '.join(map(as_text, beyond))}", f"{of_list} {listed(self.choices)}"
        if name in ("number", "whole") and not self.contains(value):
            return f"the value is {as_text(value)}", f"{self.range}: {self.about}"
        if name == "weights" and (beyond := [part for part in value if not self.contains(value[part])]):
            problem = f"the value of '{beyond[0]}' is {as_text(value[beyond[0]])}"
            return problem, f"{kind.called}, {self.range}: {self.about}"
        if name in ("numbers", "triple", "triples"):
            parts = value.values() if name == "triples" else [value]
            if outside := [part for part in parts if not all(map(self.contains, part))]:
                return f"a value is {as_text(outside[0])}", f"{kind.called}, {self.range}: {self.about}"
        return None

    @staticmethod
    def texts(value: Any) -> list[Any]:
        """Return the parts of a value that may each be one of the choices."""
        return list(value) if isinstance(value, list) else [value]

    def in_another_unit(self, value: Any) -> str:
        """Return the remedy for a number that is within the range in another unit; "" for others."""
        if not is_number(value):
            return ""
        for unit, factor in self.mistaken_units.items():
            if self.contains(value * factor):
                return f"{value:g} looks like {unit}: write {value * factor:.4g}"
        return ""

    def line(self, key: str) -> str:
        """Return a line of a file in the right form."""
        if self.choices:
            texts = [f'"{choice}"' for choice in self.choices]
            forms = [f"[{', '.join(texts)}]"] if self.kind == "name_list" else texts
        else:
            forms = [self.example or KINDS[self.kind].form, *(f'"{word}"' for word in self.words)]
        return ", or ".join(f"{key} = {form}" for form in forms)

    def converted(self, value: Any) -> Any:
        """Return the value in the program: numbers as floats except counts, lists as tuples."""
        if self.kind == "ranges" and isinstance(value, list):
            return tuple((float(start), float(end)) for start, end in value)
        if self.kind in LISTS and isinstance(value, list):
            return tuple(value)
        if self.kind not in ("number", "number_or_weights", "weights"):
            return value
        if isinstance(value, dict):
            return {name: float(part) for name, part in value.items()}
        return float(value) if isinstance(value, int) else value


@dataclass(frozen=True)
class FileTable:
    """A table of a file: the class that holds its values, and whether there may be many of it.

    free: keys are chosen by the user and checked by code; one_per: for a list of tables, the subject of each table.
    """

    holds: type[Settings] | None = None
    required: bool = False
    needed_with: str = ""
    free: bool = False
    one_per: str = ""

    @property
    def settings(self) -> Mapping[str, Setting]:
        """Settings of the table by key; empty if the keys are free."""
        return {} if self.holds is None else settings_of(self.holds)

    def empty(self) -> Any:
        """Return the value of an absent table."""
        return () if self.one_per else {} if self.holds is None else self.holds()


class Settings:
    """Values of settings by name, with their defaults: a table of a file, or the tables of a file.

    A subclass states each value as an annotated attribute, `setting` or `table`. (The decorator of dataclasses compiles
    six methods for each of 30 classes, which takes 40 ms of every start.)

    Raises:
        TypeError: a value that is no setting.
    """

    __settings__: ClassVar[Mapping[str, Setting]] = {}
    __tables__: ClassVar[Mapping[str, FileTable]] = {}

    def __init_subclass__(cls) -> None:
        """Collect the settings or tables of the subclass."""
        stated = vars(cls).items()
        for key, kind in vars(cls).get("__annotations__", {}).items():
            if isinstance(rule := vars(cls).get(key), Setting) and not rule.kind:
                rule.kind = USUAL_KINDS[kind.removesuffix(" | None")]
        cls.__settings__ = {**cls.__settings__, **{key: s for key, s in stated if isinstance(s, Setting)}}
        cls.__tables__ = {**cls.__tables__, **{name: t for name, t in stated if isinstance(t, FileTable)}}

    def __init__(self, **values: Any) -> None:
        check_keywords(values, [*self.__settings__, *self.__tables__], type(self).__name__)
        defaults = {key: rule.default for key, rule in self.__settings__.items()}
        empty = {name: rule.empty() for name, rule in self.__tables__.items() if name not in values}
        self.__dict__.update(defaults | empty | values)

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(f"settings cannot be changed: {key}; `changed` returns others")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Text of the settings that are not the default."""
        usual = type(self)().__dict__
        stated = (f"{key}={value!r}" for key, value in self.__dict__.items() if value != usual[key])
        return f"{type(self).__name__}({', '.join(stated)})"

    def __getitem__(self, key: str) -> Any:
        """Return the value of a setting by its name."""
        return self.__dict__[key]

    def items(self) -> ItemsView[str, Any]:
        """Return every name with its value."""
        return self.__dict__.items()

    @property
    def stated(self) -> dict[str, Any]:
        """The settings by name that have a value."""
        return {key: value for key, value in self.items() if value is not None}

    def changed(self, **values: Any) -> Self:
        """Return the settings with some values changed; a table of a file may be changed by a dict of its keys."""
        for name, value in values.items():
            if isinstance(value, dict) and isinstance(table := getattr(self, name, None), Settings):
                values[name] = table.changed(**value)
        return type(self)(**(self.__dict__ | values))


def setting(about: str, **rules: Any) -> Any:
    """A setting as an attribute of `Settings`; arguments as of `Setting`."""
    return Setting(about, **rules)


def same(holds: type[Settings], key: str, **changed: Any) -> Any:
    """The setting at a key of another table, with some rules changed."""
    return settings_of(holds)[key].changed(**changed)


def table(holds: type[Settings] | None = None, **rules: Any) -> Any:
    """A table as an attribute of `Settings`; arguments as of `FileTable`, without a class for free keys."""
    return FileTable(holds, free=holds is None, **rules)


def settings_of(holds: type[Settings]) -> Mapping[str, Setting]:
    """Return the settings of a table by key."""
    return holds.__settings__


def tables_of(file: type[Settings]) -> Mapping[str, FileTable]:
    """Return the tables of a kind of file by name."""
    return file.__tables__


def settings_class(name: str, stated: Mapping[str, Any]) -> type[Settings]:
    """Return a class of settings or tables that are known only at run time, such as one for every segment."""
    return type(name, (Settings,), dict(stated))


def listed(names: Iterable[object]) -> str:
    """Names between commas."""
    return ", ".join(map(str, names))


FOLDER = ".musclesolve"
"""Folder beside a drafted file with its schema."""


def schema_line(kind: str) -> str:
    """Return the first line of a file of a kind, such as "trial", which names its schema."""
    return f"#:schema {FOLDER}/{schema_name(kind)}"


def schema_name(kind: str) -> str:
    """Return the name of the file with the schema of a kind of file."""
    return f"{kind}.schema.json"


def schema_text(file: type[Settings], more: Mapping[str, Any] | None = None) -> str:
    """Return the JSON Schema (draft 7) of a kind of file.

    Args:
        file: class of the tables of the file. more: schemas of keys above all tables, and of tables with free keys.
    """
    tables = tables_of(file)
    described = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": (file.__doc__ or file.__name__).strip().split("\n")[0],
        "type": "object",
        "properties": {name: _of_table(table) for name, table in tables.items()} | dict(more or {}),
        "required": [name for name, table in tables.items() if table.required],
        "additionalProperties": False,
    }
    return json.dumps(described, indent=1) + "\n"


def of_settings(settings: Mapping[str, Setting]) -> dict[str, Any]:
    """Return the schema of a table with some settings."""
    return {
        "type": "object",
        "properties": {key: of_setting(setting) for key, setting in settings.items()},
        "required": [key for key, setting in settings.items() if setting.required],
        "additionalProperties": False,
    }


def _of_table(table: FileTable) -> dict[str, Any]:
    """Return the schema of a table, or of a list of tables."""
    described: dict[str, Any] = {"type": "object"} if table.holds is None else of_settings(table.settings)
    return {"type": "array", "items": described} if table.one_per else described


def of_setting(setting: Setting) -> dict[str, Any]:
    """Return the schema of the values of a setting."""
    described = _in_range(dict(KINDS[setting.kind].json), setting)
    if setting.choices:
        texts = {"enum": list(setting.choices)}
        described = {**described, "items": texts} if setting.kind == "name_list" else described | texts
    if setting.words:
        described = {"anyOf": [described, {"enum": list(setting.words)}]}
    described["description"] = setting.about
    if setting.default is not None:
        described["default"] = setting.default
    return described


def _in_range(described: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """Return the schema of a value with the range of the setting at every number in it."""
    if described.get("type") in ("number", "integer"):
        limits = {"minimum": setting.minimum, "exclusiveMinimum": setting.above, "maximum": setting.maximum}
        return described | {word: limit for word, limit in limits.items() if math.isfinite(limit)}
    described = {
        key: _in_range(value, setting) if isinstance(value, dict) else value
        for key, value in described.items()
    }
    if "anyOf" in described:
        described["anyOf"] = [_in_range(value, setting) for value in described["anyOf"]]
    return described

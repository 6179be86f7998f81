"""The sentences of errors: at their condition, or in a template that several places share."""

from __future__ import annotations

import ast
import pickle
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter

import musclesolve
from musclesolve.errors import InputError, error_templates, input_error
from tests.package.test_imports import FUNCTION, nodes, place, sources
from tests.support.refusals import refused

PACKAGE = Path(musclesolve.__file__).parent
KEY = re.compile(r"[a-z_]\w*(\.\w+)*")
OVERRIDES = {"problem", "code", "where", "expected", "remedy"}


@cache
def templates() -> dict[str, dict[str, str]]:
    """Every template by its key."""
    found = {}
    for file in PACKAGE.rglob("errors.toml"):
        folder = ".".join(file.parent.relative_to(PACKAGE).parts)
        texts = error_templates(folder)
        found |= {f"{folder}.{name}" if folder else name: text for name, text in texts.items()}
    return found


def fields(key: str) -> set[str]:
    """The fields of a template."""
    parsed = (each for text in templates()[key].values() for each in Formatter().parse(text))
    return {name for _, name, _, _ in parsed if name is not None}


@dataclass
class Taker:
    """A function that takes a key and fields, and hands both on: its parameters, and the fields that it adds."""

    parameters: set[str]
    adds: set[str]


@cache
def takers() -> dict[str, list[tuple[Path | None, Taker]]]:
    """Functions whose first parameter is a key and whose last are `**fields`, by name, with the module."""
    found: dict[str, list[tuple[Path | None, Taker]]] = defaultdict(list)
    for name in ("input_error", "from_template"):
        found[name].append((None, Taker({"file", *OVERRIDES}, set())))
    for path in sources().values():
        for node in nodes(path):
            if not isinstance(node, FUNCTION) or node.args.kwarg is None or path.name == "errors.py":
                continue
            given = node.args
            names = [each.arg for each in [*given.posonlyargs, *given.args, *given.kwonlyargs]]
            names = names[1:] if names[:1] in (["self"], ["cls"]) else names
            if names[:1] != ["key"] or given.kwarg.arg != "fields":
                continue
            free = {
                each.arg for each in given.posonlyargs
            }  # a field may have the name of a positional parameter
            adds = {
                word.arg
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and any(passes_fields(word) for word in call.keywords)
                for word in call.keywords
                if word.arg
            }
            found[node.name].append((path, Taker({*names} - free | {"file", *OVERRIDES}, adds - {"file"})))
    return found


def passes_fields(word: ast.keyword) -> bool:
    return word.arg is None and isinstance(word.value, ast.Name) and word.value.id == "fields"


Use = tuple[str, str, list[tuple[set[str], set[str]]]]


@cache
def uses() -> list[Use]:
    """Every key in a call with its place and what the call gives: fields, and parts of the message."""
    return list(found_uses())


def found_uses() -> Iterator[Use]:
    for path in sources().values():
        if not path.is_relative_to(PACKAGE):
            continue
        defined = {node.name for node in nodes(path) if isinstance(node, FUNCTION)}
        for node in nodes(path):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            named = node.func
            last = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
            candidates = takers().get(last, [])
            if not candidates:
                continue
            own = [taker for where, taker in candidates if where == path]
            if not own and ast.unparse(node.func).removeprefix("self.") in defined:
                continue  # a function of the module with the same name
            for key in literals(node.args[0]):
                words = {word.arg for word in node.keywords if word.arg}
                given = [
                    ((words - taker.parameters) | (taker.adds - OVERRIDES), (words | taker.adds) & OVERRIDES)
                    for taker in own or [taker for _, taker in candidates]
                ]
                yield key, f"{place(path)}:{node.lineno}", given


def literals(node: ast.expr) -> list[str]:
    """The keys that an argument can be: a text, or one of two."""
    if isinstance(node, ast.IfExp):
        return literals(node.body) + literals(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def in_place(given: list[tuple[set[str], set[str]]]) -> bool:
    """Whether the sentences of an error stand in the call."""
    return all("problem" in parts for _, parts in given)


def test_every_error_names_a_template_or_has_a_known_code_and_its_sentences():
    codes = tomllib.loads(PACKAGE.joinpath("error_codes.toml").read_text(encoding="utf-8"))
    assert len(uses()) > 10
    assert [
        (where, key) for key, where, given in uses() if key not in (codes if in_place(given) else templates())
    ] == []


def test_every_code_of_an_error_in_the_order_of_its_sentences_is_known():
    codes = tomllib.loads(PACKAGE.joinpath("error_codes.toml").read_text(encoding="utf-8"))
    taken = [
        (key, f"{place(path)}:{node.lineno}")
        for path in sources().values()
        for node in nodes(path)
        if path.is_relative_to(PACKAGE)
        and isinstance(node, ast.Call)
        and node.args
        and ast.unparse(node.func).endswith(
            ("document.fault", "file.fault", ".fail", "file_error", "damaged")
        )
        for key in literals(node.args[0])
    ]
    assert len(taken) > 200
    assert [(key, where) for key, where in taken if key not in codes] == []


def test_a_template_is_shared():
    """A sentence of one place stands at its condition, unless it chooses among keys or hands on what it is given."""
    used = {key for key, _, given in uses() if not in_place(given)}
    assert sorted(set(templates()) - used) == []


def test_calls_give_the_fields_of_their_template():
    wrong = []
    for key, where, given in uses():
        if in_place(given):
            continue
        wanted = fields(key)
        if all(found != wanted for found, _ in given):
            wrong.append((where, key, sorted(wanted ^ given[0][0])))
    assert wrong == []


def test_every_error_has_one_code_and_no_part_twice():
    wrong = []
    for key, where, given in uses():
        text = templates().get(key, {})
        parts = given[0][1] if len(given) == 1 else set.intersection(*(parts for _, parts in given))
        if in_place(given):
            continue
        wrong += [(where, key, part) for part in OVERRIDES - {"where"} & parts & set(text)]
        if not {"problem", "code"} <= {*text, *parts}:
            wrong.append((where, key, "lacks a code or a problem"))
    assert wrong == []


def test_a_message_has_place_problem_expectation_and_remedy():
    with refused("bad_cost", "stress_cubd", "cannot be read", "in quotes on a command line") as raised:
        raise input_error("sharing.unreadable_cost", where="cost", cost="'stress_cubd'")
    error = raised.value
    assert isinstance(error, InputError)
    assert (error.code, error.key, error.where) == ("bad_cost", "sharing.unreadable_cost", "cost")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.key, again.remedy) == (str(error), error.key, error.remedy)


def test_a_number_as_place_is_a_line():
    assert str(input_error("not_finite", file="a.csv", where=3, name="x", value=1)).startswith(
        "a.csv, line 3: x"
    )


def test_a_moved_error_keeps_what_it_says():
    error = input_error("too_few_frames", count=1, least=3, remedy="take more")
    moved = error.moved("trial.toml", 7, "leg: ")
    assert (moved.file, moved.where, moved.problem) == ("trial.toml", "line 7", "leg: 1 frames")
    assert (moved.code, moved.key, moved.expected, moved.remedy) == (
        error.code,
        error.key,
        "at least 3",
        "take more",
    )

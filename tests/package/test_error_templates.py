"""The sentences of errors: every key has a template, every template is used, and calls give its fields."""

from __future__ import annotations

import ast
import pickle
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

import musclesolve
from musclesolve.errors import InputError, error_templates, input_error
from tests.package.test_imports import FUNCTION, nodes, place, sources
from tests.support.refusals import refused

PACKAGE = Path(musclesolve.__file__).parent
KEY = re.compile(r"[a-z_]\w*(\.\w+)*")
OVERRIDES = {"code", "where", "expected", "remedy"}


@cache
def templates() -> dict[str, dict[str, str]]:
    """Every template by its key, with the phrases of its folder in place."""
    found = {}
    for file in PACKAGE.rglob("errors.toml"):
        folder = ".".join(file.parent.relative_to(PACKAGE).parts)
        texts = dict(error_templates(folder))
        texts.pop("phrases", None)
        found |= {f"{folder}.{name}" if folder else name: text for name, text in texts.items()}
    return found


def phrases(key: str) -> dict[str, str]:
    return error_templates(key.rpartition(".")[0]).get("phrases", {})


def fields(key: str) -> set[str]:
    """The fields of a template, phrases among them."""
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


def test_every_key_has_a_template():
    assert len(uses()) > 10
    assert [(where, key) for key, where, _ in uses() if key not in templates()] == []


def test_no_template_is_unused():
    used = {key for key, _, _ in uses()}
    assert sorted(set(templates()) - used) == []


def test_calls_give_the_fields_of_their_template():
    wrong = []
    for key, where, given in uses():
        wanted = fields(key) - set(phrases(key))
        if all(found != wanted for found, _ in given):
            wrong.append((where, key, sorted(wanted ^ given[0][0])))
    assert wrong == []


def test_every_error_has_one_code_and_no_part_twice():
    wrong = []
    for key, where, given in uses():
        text = templates()[key]
        parts = given[0][1] if len(given) == 1 else set.intersection(*(parts for _, parts in given))
        wrong += [(where, key, part) for part in OVERRIDES - {"where"} & parts & set(text)]
        if "problem" not in text or "code" not in {*text, *parts}:
            wrong.append((where, key, "lacks a code or a problem"))
    assert wrong == []


def test_phrases_are_used_by_several_sentences():
    for file in PACKAGE.rglob("errors.toml"):
        text = file.read_text(encoding="utf-8")
        folder = ".".join(file.parent.relative_to(PACKAGE).parts)
        for name in error_templates(folder).get("phrases", {}):
            assert text.count(f"{{{name}}}") > 1, (folder, name)


def test_a_message_has_place_problem_expectation_and_remedy():
    with refused("trajectory.too_few_frames", "time", "1 frame in a row", "at least 3") as raised:
        raise input_error("trajectory.too_few_frames", where="time", count=1, fewest_frames=3)
    error = raised.value
    assert isinstance(error, InputError)
    assert (error.code, error.key) == ("too_few_frames", "trajectory.too_few_frames")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.key, again.remedy) == (str(error), error.key, error.remedy)


@pytest.mark.parametrize(("count", "shown"), [(0, "0 frames"), (1, "1 frame "), (2, "2 frames")])
def test_nouns_are_singular_or_plural(count, shown):
    assert shown in str(input_error("trajectory.too_few_frames", count=count, fewest_frames=3))


def test_names_are_joined_as_the_template_says():
    error = input_error("no_such_choice", name="method", given="'x'", known=map(repr, ["a", "b"]))
    assert error.expected == "'a' or 'b'"


def test_a_number_as_place_is_a_line():
    assert str(input_error("not_finite", file="a.csv", where=3, name="x", value=1)).startswith(
        "a.csv, line 3: x"
    )


def test_a_moved_error_keeps_what_it_says():
    error = input_error("no_such_choice", name="method", given="'x'", known=["a"], remedy="take a")
    moved = error.moved("trial.toml", 7, "leg: ")
    assert (moved.file, moved.where, moved.problem) == ("trial.toml", "line 7", "leg: method is 'x'")
    assert (moved.code, moved.key, moved.expected, moved.remedy) == (error.code, error.key, "a", "take a")

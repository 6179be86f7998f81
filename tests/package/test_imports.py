"""The order of the rooms, the codes of errors: read from the sources, nothing is imported."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import musclesolve

ROOT = Path(musclesolve.__file__).parents[1]
BASE = ("errors", "constants", "version", "_util", "data", "tables")
TOOLKIT = ("sharing", "dynamics", "muscles", "trajectory", "models", "symbolic")
"""From arrays and models to certified forces: none of it knows a recording."""
LABORATORY = (
    *("recording", "markers", "files", "trial", "motion", "bodies", "forces", "results"),
    *("plotting", "checks", "run_trial", "draft", "report"),
)
"""From recordings to results."""
ORDER = (
    *(*BASE, *TOOLKIT),
    *(*(f"laboratory.{room}" for room in LABORATORY), "laboratory"),
    *("studies", "apps", "cli", "__main__"),
)
"""A room imports from those before it."""
ALONE = ("dynamics", "sharing")
"""Rooms that import from the base alone."""
KERNEL = "musclesolve/sharing/kernel/"
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def sources() -> dict[str, Path]:
    """Every module of both packages by its name; a package by the name of its folder."""
    files = [*(ROOT / "musclesolve").rglob("*.py"), *(ROOT / "muscle_db").rglob("*.py")]
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(files)}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Imports, functions, classes and calls of a file."""
    kinds = ast.Import | ast.ImportFrom | FUNCTION | ast.ClassDef | ast.Call
    return tuple(node for node in ast.walk(tree(path)) if isinstance(node, kinds))


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(path: Path, package: str) -> set[str]:
    """Every module that a file names in an import: at the top, inside functions and for type checkers."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {known(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            base = ".".join(part for part in (base, node.module) if part)
            found |= {known(f"{base}.{alias.name}") for alias in node.names}
    return found - {""}


def known(name: str) -> str:
    """The module that a dotted name belongs to; empty for those of other packages."""
    while name and name not in sources():
        name = name.rpartition(".")[0]
    return name


@cache
def graph() -> dict[str, set[str]]:
    """Return the imports of every module; a package whose names are in a stub imports the modules of the stub."""
    edges = {}
    for name, path in sources().items():
        is_package = path.name == "__init__.py"
        package = name if is_package else name.rpartition(".")[0]
        edges[name] = imported(path, package)
        if is_package and path.with_suffix(".pyi").exists():
            edges[name] |= imported(path.with_suffix(".pyi"), package)
        edges[name].discard(name)
    return edges


def room(module: str) -> str:
    parts = module.split(".")[1:]
    return ".".join(parts[: 2 if parts[0] == "laboratory" else 1]) if parts else ""


def test_there_is_no_circle():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_rooms_import_only_from_rooms_before_them():
    assert {room(module) for module in sources() if module.startswith("musclesolve.")} <= set(ORDER)
    wrong = [
        (module, other)
        for module, others in graph().items()
        for other in others
        if module != "musclesolve" and not may_import(module, other)
    ]
    assert wrong == []


def may_import(module: str, other: str) -> bool:
    """Whether an import points to the base, to the own room or to one before it; muscle_db stands alone."""
    if not other.startswith("musclesolve."):
        return other.startswith("muscle_db")
    own, target = room(module), room(other)
    if module.startswith("muscle_db"):
        return False
    if own in ALONE and target not in (own, *BASE):
        return False
    return ORDER.index(target) <= ORDER.index(own)


def test_nothing_inside_the_package_imports_a_facade():
    """Names of a facade are for users; inside they come from the module that defines them."""
    facades = {name for name, path in sources().items() if path.with_suffix(".pyi").exists()}
    inside = {
        name: others for name, others in graph().items() if name not in facades and name != "musclesolve"
    }
    wrong = [(module, other) for module, others in inside.items() for other in others & facades]
    assert wrong == []


def test_inner_packages_are_docstrings_or_facades():
    for name, path in sources().items():
        if path.name != "__init__.py" or name == "muscle_db":
            continue
        docstring, *rest = tree(path).body
        assert isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant), name
        shown = [ast.unparse(statement) for statement in rest]
        facade = (
            "from musclesolve._util import lazy_names\n__getattr__, __dir__, __all__ = lazy_names.attach_stub"
        )
        named = re.fullmatch(re.escape(facade) + r"\(__name__, __file__(, '\w+')?\)", "\n".join(shown))
        assert not shown or named, name


def functions() -> Iterator[tuple[Path, FUNCTION]]:
    for path in sources().values():
        if not place(path).startswith(KERNEL):
            yield from ((path, node) for node in nodes(path) if isinstance(node, FUNCTION))


@cache
def codes() -> set[str]:
    return set(tomllib.loads((ROOT / "musclesolve" / "error_codes.toml").read_text(encoding="utf-8")))


@cache
def calls() -> list[tuple[Path, ast.Call, str]]:
    """Every call with the last part of the name of its function, "" where it has none."""
    return [
        (path, node, node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
        for path in sources().values()
        for node in nodes(path)
        if isinstance(node, ast.Call)
    ]


@cache
def input_errors() -> set[str]:
    """InputError and the classes below it."""
    classes = [each for path in sources().values() for each in nodes(path) if isinstance(each, ast.ClassDef)]
    found = {"InputError"}
    while (
        more := {each.name for each in classes if {ast.unparse(base) for base in each.bases} & found} - found
    ):
        found |= more
    return found


def test_every_input_error_has_a_code():
    assert {"InputError", "BusyError"} <= input_errors()
    wrong = [
        f"{place(path)}:{node.lineno}"
        for path, node, name in calls()
        if name in input_errors() and "code" not in {word.arg for word in node.keywords}
    ]
    assert wrong == []


def given_codes() -> Iterator[tuple[str, str]]:
    """Every code of a template, in a call, or as the default of a parameter, with its place; not those of findings."""
    for file in (ROOT / "musclesolve").rglob("errors.toml"):
        templates = tomllib.loads(file.read_text(encoding="utf-8"))
        yield from (
            (f"{place(file)}: {name}", each["code"]) for name, each in templates.items() if "code" in each
        )
    for path, node, name in calls():
        for word in node.keywords:
            if word.arg == "code" and name != "Finding":
                yield from ((f"{place(path)}:{node.lineno}", text) for text in texts(word.value))
    for path, function in functions():
        given = function.args
        ordered = [*given.posonlyargs, *given.args]
        pairs = [
            *zip(ordered[::-1], given.defaults[::-1], strict=False),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ]
        for each, default in pairs:
            if each.arg == "code" and default is not None:
                yield from ((f"{place(path)}:{function.lineno}", text) for text in texts(default))


def texts(node: ast.expr) -> list[str]:
    constants = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


def test_every_code_of_an_error_is_listed():
    given = list(given_codes())
    assert len(given) > 50
    assert [(where, code) for where, code in given if code not in codes()] == []


def test_every_listed_code_is_used():
    files = [*sources().values(), *(ROOT / "musclesolve").rglob("errors.toml")]
    texts = [path.read_text(encoding="utf-8") for path in files]
    assert [code for code in sorted(codes()) if not any(f'"{code}"' in text for text in texts)] == []

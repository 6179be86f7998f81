"""Public names of `import musclesolve as ms`: every name exists, is described, and docs/api.md leads to its stub."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import musclesolve as ms
from tests.package.test_imports import nodes, sources

ROOT = Path(ms.__file__).parents[1]
NAMESPACES = (
    *("sharing", "dynamics", "muscles", "models", "models.opensim", "trajectory", "symbolic", "tables"),
    *("laboratory", "studies", "studies.synthetic", "apps", "apps.live", "plotting", "data"),
)
FEWEST, MOST = 20, 30
"""Number of names beside the namespaces: one screen."""


def public_names() -> Iterator[str]:
    yield from (name for name in ms.__all__ if not isinstance(getattr(ms, name), ModuleType))
    for namespace in NAMESPACES:
        names = (f"{namespace}.{name}" for name in meaning(namespace).__all__)  # type: ignore[attr-defined]
        yield from (name for name in names if not isinstance(meaning(name), ModuleType))


def meaning(name: str) -> object:
    found: object = ms
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_every_public_name_is_there():
    assert all(meaning(name) is not None for name in public_names())
    with pytest.raises(AttributeError, match="walk"):
        ms.walk  # noqa: B018


def test_the_package_has_some_names_and_the_rest_in_namespaces():
    modules = {name for name in ms.__all__ if isinstance(getattr(ms, name), ModuleType)}
    assert modules == {name for name in NAMESPACES if "." not in name}
    assert FEWEST <= len(ms.__all__) - len(modules) <= MOST


def test_the_list_of_names_leads_to_every_stub():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    stubs = {stub.relative_to(ROOT).as_posix() for stub in (ROOT / "musclesolve").rglob("__init__.pyi")}
    inner = {"musclesolve/data/__init__.pyi", "musclesolve/laboratory/plotting/__init__.pyi"}
    assert {f"../{stub}" for stub in stubs - inner} <= set(re.findall(r"\]\((\.\./musclesolve[^)]*)\)", text))


def test_every_public_name_is_described_and_arrays_have_units():
    described = {
        name: inspect.getdoc(found) or "" for name in public_names() if callable(found := meaning(name))
    }
    assert [name for name, text in described.items() if len(text) < 20] == []
    lacking = [
        name
        for name, text in described.items()
        if inspect.isfunction(found := meaning(name))
        and any("Array" in str(each.annotation) for each in inspect.signature(found).parameters.values())
        and "[" not in text
    ]
    assert lacking == []


def test_the_errors_can_be_caught_by_their_public_names():
    with pytest.raises(ms.InputError):
        ms.solve(None)
    assert issubclass(ms.InputError, ms.MuscleSolveError) and issubclass(ms.InputError, ValueError)
    with pytest.raises(ValueError, match="there is no cost"):
        ms.run(ms.data.reference_stride(), cost="stress_cubd")


def test_a_solution_introduces_itself_in_a_line():
    problem = ms.Problem(np.ones((3, 1, 2)), np.full((3, 1), 10.0), np.full((3, 2), 100.0), np.full(2, 100.0))
    assert repr(problem).startswith(
        "<Problem of 3 frames, 2 muscles, 1 moment: moment_arm 1 to 1 m, moment 10"
    )
    solution = ms.solve(problem)
    assert (
        repr(solution)
        == "<Solution of 3 frames, 2 muscles, 1 moment by 'batch' for 'knee_sparing_activation': 3 solved>"
    )
    assert repr(solution.drop_frame_axis()).startswith("<Solution of 1 frame, 2 muscles")


@pytest.mark.parametrize(
    ("within", "name", "meant"),
    [(ms, "runn", "run"), (ms.sharing, "progra", "program"), (ms.plotting, "activation", "activations")],
    ids=["runn", "progra", "activation"],
)
def test_an_unknown_name_suggests_the_nearest(within, name, meant):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; did you mean '{meant}'"):
        getattr(within, name)
    assert not hasattr(within, "_repr_nothing_")


def test_a_suggestion_is_a_class_for_a_class_and_a_function_for_a_function():
    for name in ("cost", "Costt", "plot"):
        with pytest.raises(AttributeError) as refusal:
            getattr(ms, name)
        meant = re.findall(r"'(\w+)'", str(refusal.value))[2:]
        assert meant and {each[0].isupper() for each in meant} == {name[0].isupper()}


def test_what_a_user_looks_at_is_described_in_a_few_lines():
    """A record of arrays shows their sizes, a report its sentences."""
    stride = ms.data.reference_stride()
    shown = {
        "human_model": (ms.dynamics.human_model(), "topology 'inverse_human'"),
        "read_markers": (ms.laboratory.read_markers(stride.parent / "walk.trc"), "position (102, 38, 3)"),
        "read_mot": (ms.tables.read_mot(stride.parent / "forces.mot"), "names (18)"),
        "reference_stride": (ms.studies.synthetic.reference_stride(), "coefficients"),
        "check": (ms.check("no_such_trial.toml"), "there is no such file"),
    }
    for name, (thing, words) in shown.items():
        assert words in repr(thing) and len(repr(thing)) < 400, name


def test_the_arguments_that_a_docstring_explains_are_arguments() -> None:
    """Keyword arguments of no name are explained beside the others."""
    others = list[str]()
    for path in sources().values():
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef) and node.args.kwarg is None:
                _, _, after = (ast.get_docstring(node) or "").partition("Args:\n")
                explained = re.findall(r"^    (\w+(?:, \w+)*): ", re.split(r"\n\S", after)[0], re.MULTILINE)
                names = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
                unknown = {*", ".join(explained).split(", ")} - names - {""}
                others += [f"{path.name}, {node.name}: {name}" for name in unknown]
    assert not others

"""Public names of `import musclesolve as ms`: every name exists, is described, and is in a document."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import musclesolve as ms
from musclesolve._util.old_names import NEW_PLACES, OLD_ATTRIBUTES
from musclesolve.recording.data import Trial
from musclesolve.recording.trial.model_trial import ModelTrial
from musclesolve.settings.trial import ModelSettings, RecordedSettings

ROOT = Path(ms.__file__).parents[1]
NAMESPACES = ("signals", "cameras", "files", "dynamics", "trajectory", "live", "studies", "synthetic")


def public_names() -> Iterator[str]:
    yield from (name for name in ms.__all__ if not isinstance(getattr(ms, name), ModuleType))
    for namespace in NAMESPACES:
        yield from (f"{namespace}.{name}" for name in getattr(ms, namespace).__all__)


def meaning(name: str) -> object:
    found: object = ms
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_every_public_name_is_there():
    assert 35 <= sum("." not in name for name in public_names()) <= 50
    assert all(meaning(name) is not None for name in public_names())
    with pytest.raises(AttributeError, match="walk"):
        ms.walk  # noqa: B018


def test_every_public_name_stands_in_a_document():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert [name for name in public_names() if not re.search(rf"\b{name.split('.')[-1]}\b", text)] == []


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


@pytest.mark.parametrize("old", NEW_PLACES)
def test_an_old_name_works_and_names_the_new_place(old):
    package, _, name = old.rpartition(".")
    new = NEW_PLACES[old]
    with pytest.warns(FutureWarning, match=re.escape(f"{old} is now {new}")):
        found = getattr(import_module(package), name)
    home, _, last = new.rpartition(".")
    assert getattr(found, "func", found) is getattr(import_module(home), last)
    assert name not in import_module(package).__dict__.get("__all__", ())


def test_old_class_methods_work():
    numbers = (["soleus"], "de_groote_2016", 3500.0, 0.05, 0.25)
    with pytest.warns(FutureWarning, match="MuscleParameters.from_values"):
        calf = ms.muscles.MuscleParameters.of(*numbers)
    with pytest.warns(FutureWarning, match="ElasticMuscles.from_parameters"):
        assert ms.muscles.ElasticMuscles.of(calf).parameters.names == ("soleus",)


def test_the_errors_can_be_caught_by_their_public_names():
    with pytest.raises(ms.InputError):
        ms.solve(None)
    assert issubclass(ms.InputError, ms.MuscleSolveError)


def test_a_solution_introduces_itself_in_a_line():
    problem = ms.Problem(np.ones((3, 1, 2)), np.full((3, 1), 10.0), np.full((3, 2), 100.0), np.full(2, 100.0))
    solution = ms.solve(problem)
    assert (
        repr(solution)
        == "<Solution of 3 frames, 2 muscles, 1 moments by 'batch' for 'joint_weighted_activation': 3 solved>"
    )
    assert repr(solution.drop_frame_axis()).startswith("<Solution of 1 frames, 2 muscles")


def test_old_attributes_of_trials_name_their_place():
    """Old attributes of recordings and of models name their new place; a name that never was one is an error."""
    for kind, holds in (("Trial", RecordedSettings), ("ModelTrial", ModelSettings)):
        settings = holds()
        trial = object.__new__({"Trial": Trial, "ModelTrial": ModelTrial}[kind])
        object.__setattr__(trial, "settings", settings)
        for old, place in OLD_ATTRIBUTES[kind].items():
            with pytest.warns(FutureWarning, match=rf"{kind}\.{old} is now {kind}\.{place};"):
                found = getattr(trial, old)
            assert found is attrgetter(place)(trial)
        with pytest.raises(AttributeError, match="no attribute 'walk'"):
            trial.walk  # noqa: B018

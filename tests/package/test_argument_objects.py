"""Public functions refuse what is no object of the class that an argument is annotated with, by its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms
from musclesolve._util.argument_objects import rules_of
from musclesolve.dynamics import Model, Wrench

ROOMS = ("cameras", "files", "dynamics", "trajectory", "sharing", "muscles", "opensim", "synthetic")
FUNCTIONS = {
    f"{room}.{name}": function
    for room in ROOMS
    for name, function in inspect.getmembers(getattr(ms, room), inspect.isfunction)
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_text_is_no_object_of_the_package(name: str) -> None:
    function = FUNCTIONS[name]
    try:
        rules = rules_of(function)
    except NameError:  # annotations that are imported for type checkers only
        pytest.skip("annotated with classes that are not imported")
    if not rules:
        pytest.skip("takes no objects of the package")
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    needed = {each.name for each in parameters if each.default is each.empty and each.kind in plain}
    with pytest.raises(ms.InputError):
        function(**dict.fromkeys(needed | set(rules), "a text"))


def test_the_argument_and_its_class_are_named() -> None:
    with refused("bad_type", "model: the argument is of type str"):
        ms.dynamics.segment_table("a")
    with refused("bad_type", "targets: the argument is of type str"):
        ms.dynamics.fit_pose(ms.dynamics.human_model(), "a", np.arange(3.0))


def test_objects_in_lists_and_dicts_are_looked_at_and_generators_are_not_consumed(model, wrenches) -> None:
    def lists(model: Model | None, wrenches: list[Wrench], models: Mapping[str, Model] = {}) -> int:
        return len(list(wrenches))

    from musclesolve._util.argument_objects import objects_checked

    checked: Callable[..., Any] = objects_checked(lists)
    assert checked(None, (each for each in wrenches), models={"a": model}) == len(wrenches)
    for given, where in (
        ((3, wrenches), "model"),
        ((model, 3), "wrenches"),
        ((model, [*wrenches, 3]), "wrenches"),
        ((model, wrenches, {"a": 3}), "models"),
        ((model, wrenches, [model]), "models"),
    ):
        with pytest.raises(ms.InputError) as error:
            checked(*given)
        assert error.value.where == where

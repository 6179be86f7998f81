"""Packages that some tests need: a test is skipped where its package is missing, and the reason names it."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from musclesolve.sharing.solver.solver_registry import SolverRecord

NEEDS = "needs the package "
"""The beginning of the reason of a test that was skipped for want of a package; the name of its module follows."""


def need(*modules: str) -> None:
    """Skip the test, or all tests of a module that calls it at its top, where one of the packages is not installed."""
    __tracebackhide__ = True  # the place of the skip is the test
    for module in modules:
        if find_spec(module) is None:
            pytest.skip(f"{NEEDS}{module}", allow_module_level=True)


def imported(name: str) -> ModuleType:
    """Return the module of a package, or of a part of it; skip as `need` does where the package is not installed."""
    __tracebackhide__ = True
    need(name.partition(".")[0])
    return import_module(name)


class Later:
    """A package that takes seconds to import: with its first use in a test, and not where tests are collected."""

    def __init__(self, name: str) -> None:
        __tracebackhide__ = True
        need(name.partition(".")[0])
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what pytest asks every name of a module for
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def need_solver(name: str) -> SolverRecord:
    """Return the record of a solver; skip as `need` does where one of its packages is not installed."""
    from musclesolve import solvers  # not above: CasADi and OpenSim do not load together (opensim_answers.py)

    __tracebackhide__ = True
    record = solvers()[name]
    need(*record.packages)
    return record

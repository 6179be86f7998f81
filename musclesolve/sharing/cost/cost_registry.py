"""The costs that have a name: all that the modules of `named` define."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.sharing.cost import named
from musclesolve.sharing.cost.cost_base import Cost, bad_cost


def named_costs() -> dict[str, type[Cost]]:
    """The subclasses of Cost that the modules of `named` define, by name, in alphabetical order."""
    kinds: dict[str, type[Cost]] = {}
    for place in iter_modules(named.__path__):
        module = import_module(f"{named.__name__}.{place.name}")
        for kind in vars(module).values():
            here = isinstance(kind, type) and kind.__module__ == module.__name__
            if here and issubclass(kind, Cost) and not isabstract(kind):
                if kinds.setdefault(kind.name, kind) is not kind:
                    first, fault = kinds[kind.name].__module__, f"there are two costs {kind.name!r}"
                    raise InputError(fault, code="duplicate_name", where=f"{first}, {module.__name__}")
    return dict(sorted(kinds.items()))


REGISTRY = named_costs()


@dataclass(frozen=True)
class CostRecord:
    """A registered cost."""

    name: str  # by which `solve` finds it
    formula: str  # what is minimised (F force, F0 maximum isometric force, a activation)
    source: str  # where it comes from
    data: tuple[str, ...] = ()  # optional fields of Problem that it needs
    needs: frozenset[str] = frozenset({"separable"})  # what a solver has to be able to take


def costs() -> dict[str, CostRecord]:
    """Every named cost."""
    return {
        name: CostRecord(name, kind.formula, kind.source, kind.data, kind().needs)
        for name, kind in REGISTRY.items()
    }


def find_cost(cost: str | Cost) -> Cost:
    """The cost object for a name; an object is returned as it is."""
    if isinstance(cost, Cost):
        if type(cost).__hash__ is None:
            expected = "a cost that does not change while it is used"
            raise bad_cost(cost, "cannot be hashed", expected, remedy="make its class a frozen dataclass")
        return cost
    if isinstance(cost, str) and cost in REGISTRY:
        return REGISTRY[cost]()
    error = unknown_name(cost, "cost", REGISTRY)
    if not isinstance(cost, str):
        expected = f"{error.expected}, or a Cost object"
        raise InputError(error.problem, code=error.code, expected=expected, remedy=error.remedy)
    raise error

"""The costs that have a name: all that the modules of `named` define, and those that other packages add."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

from musclesolve._util.message_text import as_text
from musclesolve._util.names import unknown_name
from musclesolve._util.plugins import plugins
from musclesolve.errors import input_error
from musclesolve.sharing.cost import named
from musclesolve.sharing.cost.cost_base import Cost


def named_costs() -> dict[str, type[Cost]]:
    """The subclasses of Cost that the modules of `named` define, by name, in alphabetical order."""
    kinds: dict[str, type[Cost]] = {}
    for place in iter_modules(named.__path__):
        module = import_module(f"{named.__name__}.{place.name}")
        for kind in vars(module).values():
            here = isinstance(kind, type) and kind.__module__ == module.__name__
            if here and issubclass(kind, Cost) and not isabstract(kind):
                if kinds.setdefault(kind.name, kind) is not kind:
                    first = kinds[kind.name].__module__
                    raise input_error(
                        "sharing.same_cost_name_twice", where=f"{first}, {module.__name__}", kind=kind.name
                    )
    return dict(sorted(kinds.items()))


REGISTRY = named_costs()


@cache
def _add_plugins() -> None:
    """Add the costs of other packages (entry points `musclesolve.costs`)."""
    REGISTRY.update(plugins("costs", REGISTRY))


@dataclass(frozen=True)
class CostRecord:
    """A registered cost."""

    name: str  # by which `solve` finds it
    formula: str  # what is minimised (F force, F0 maximum isometric force, a activation)
    source: str  # where it comes from
    data: tuple[str, ...] = ()  # optional fields of Problem that it needs
    needs: frozenset[str] = frozenset({"separable"})  # what a solver has to be able to take


def costs() -> dict[str, CostRecord]:
    """Every named cost: its formula, its source, the data that it needs and what a solver has to be able to take."""
    _add_plugins()
    return {
        name: CostRecord(name, kind.formula, kind.source, kind.data, kind().needs)
        for name, kind in REGISTRY.items()
    }


def find_cost(cost: str | Cost) -> Cost:
    """The cost object for a name; an object is returned as it is."""
    if isinstance(cost, Cost):
        if type(cost).__hash__ is None:
            raise input_error("sharing.cost_not_hashable", cost=cost.name)
        return cost
    if isinstance(cost, str) and cost not in REGISTRY:
        _add_plugins()
    if isinstance(cost, str) and cost in REGISTRY:
        return REGISTRY[cost]()
    error = unknown_name(cost, "cost", REGISTRY)
    if not isinstance(cost, str):
        raise input_error("sharing.no_cost", remedy=error.remedy, cost=as_text(cost), known=error.expected)
    raise error

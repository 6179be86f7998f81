"""The costs that have a name: all that the modules of `named` define, and those that other packages add.

A cost is found by the text that `Cost.label` prints: a name, options in parentheses, sums and positive multiples.

    stress_cubed    activation_power(exponent=3)    1e-6 * joint_reaction_squared(weights={'knee': 1}) + stress_cubed

The text is parsed as a Python expression and never evaluated: names, numbers, texts, lists, tuples and tables.
"""

import ast
from collections.abc import Set
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import isabstract
from operator import attrgetter
from pkgutil import iter_modules
from typing import Any

from musclesolve._util.checks import check_number
from musclesolve._util.messages import as_text, unknown_name
from musclesolve._util.plugins import plugins
from musclesolve.errors import input_error
from musclesolve.sharing.cost import named
from musclesolve.sharing.cost.cost_base import Cost, single_costs


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
                    fault = f"there are two costs {kind.name!r}"
                    raise input_error("duplicate_name", where=f"{first}, {module.__name__}", problem=fault)
    return dict(sorted(kinds.items()))


REGISTRY = named_costs()


@cache
def _add_plugins() -> None:
    """Add the costs of other packages (entry points `musclesolve.costs`)."""
    REGISTRY.update(plugins("costs", REGISTRY))


@dataclass(frozen=True)
class CostRecord:
    """A registered cost."""

    name: str  # the name for `solve(cost=...)`
    formula: str  # what is minimized (F force, F0 maximum isometric force, a activation)
    source: str  # where it comes from
    data: tuple[str, ...] = ()  # optional fields of Problem that it needs
    needs: frozenset[str] = frozenset({"separable"})  # abilities that a solver must have
    options: tuple[str, ...] = ()  # names of the options in parentheses after the name
    use: str = ""  # for whom it is
    kind: type[Cost] | None = None  # its class; calling the record makes the cost

    def __call__(self, *unnamed: Any, **options: Any) -> Cost:
        """The cost itself, with options by name, or without name as of its class."""
        unknown = sorted(set(options) - set(self.options))
        if unknown:
            raise unknown_name(unknown[0], f"option of {self.name}", self.options)
        assert self.kind is not None
        return self.kind(*unnamed, **options)


def costs() -> dict[str, CostRecord]:
    """List every named cost: its formula, source and options, and the data and solver abilities that it needs.

    Returns:
        Name -> record.

    Examples:
        >>> ms.costs()["stress_cubed"].formula
        'sum_i (sigma_bar F_i / F0_i)^3'
        >>> ms.costs()["activation_power"](exponent=3)
        ActivationPower(weights=(), exponent=3)
    """
    _add_plugins()
    return {
        name: CostRecord(
            name, kind.formula, kind.source, kind.data, kind().needs, options_of(kind), kind.use, kind
        )
        for name, kind in REGISTRY.items()
    }


def options_of(kind: type[Cost]) -> tuple[str, ...]:
    """The names of the options of a class of costs, the ones that a value without a name may mean first."""
    options = fields(kind) if is_dataclass(kind) else ()
    return tuple(option.name for option in sorted(options, key=attrgetter("kw_only")) if option.init)


def find_cost(cost: str | Cost) -> Cost:
    """The cost object for a text such as "activation_power(exponent=3)"; an object is returned as it is."""
    if isinstance(cost, Cost):
        if type(cost).__hash__ is None:
            fault = f"the cost {cost.name} cannot be hashed"
            expected = "a cost that does not change while it is used"
            remedy = "make its class a frozen dataclass"
            raise input_error("bad_cost", problem=fault, expected=expected, remedy=remedy)
        for stated, kind, expected in (("name", str, "a text"), ("needs", Set, "a set of words")):
            if not isinstance(value := getattr(cost, stated, None), kind):
                problem = f"{stated} of the cost {type(cost).__name__} is {as_text(value)}"
                raise input_error("bad_cost", problem=problem, expected=expected)
        for part in single_costs(cost):
            if not part.built_in and REGISTRY.get(part.name, type(part)) is not type(part):
                fault = f"{part.name!r} is the name of a cost of the library"
                expected = "another name, by which results tell the two apart"
                raise input_error("duplicate_name", problem=fault, expected=expected)
        return cost
    if not isinstance(cost, str):
        error = unknown_name(cost, "cost", REGISTRY)
        problem, remedy = f"there is no cost {as_text(cost)}", error.remedy
        if isinstance(cost, CostRecord):
            problem = f"the record of the cost {cost.name} is no cost"
            remedy = f'take its name, {cost.name!r}, or call the record: ms.costs()["{cost.name}"]()'
        elif getattr(cost, "over_frames", False):
            problem = f"{cost.name} is a cost over several frames, and frames are solved one by one here"
            remedy = "ms.sharing.program(problem, cost, motion_costs=[...]) takes costs over several frames"
        elif isinstance(cost, type) and issubclass(cost, Cost):
            problem, remedy = f"{cost.__name__} is a class", f"make an object of it: {cost.__name__}()"
        elif callable(cost):
            remedy = "make a cost of a function: ms.sharing.expression_cost"
        expected = f"{error.expected}, or a Cost object"
        raise input_error("unknown_name", problem=problem, expected=expected, remedy=remedy)
    cost = cost.strip()
    if cost not in REGISTRY:
        _add_plugins()
    if cost in REGISTRY:
        return REGISTRY[cost]()
    if not set(cost) & set("()*+=/ "):  # a plain name
        raise unknown_name(cost, "cost", REGISTRY)
    try:
        tree = ast.parse(cost, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise input_error("sharing.unreadable_cost", cost=as_text(cost)) from None
    return _cost_of(tree, cost)


def _cost_of(tree: ast.expr, text: str) -> Cost:
    """Make the cost of a part of a text: a sum, a multiple, a name with or without options."""
    match tree:
        case ast.BinOp(left, ast.Add(), right):
            return _cost_of(left, text) + _cost_of(right, text)
        case ast.BinOp(left, ast.Mult(), right):
            factor = check_number(
                _value_of(left, text), "the factor", "a positive number", above=0.0, where=text
            )
            return factor * _cost_of(right, text)
        case ast.Name(name):
            return _kind_of(name)()
        case ast.Call(ast.Name(name), [], keywords) if all(option.arg for option in keywords):
            kind = _kind_of(name)
            options, values = options_of(kind), dict[str, Any]()
            if keywords and not options:
                raise input_error(
                    "unknown_name", where=text, problem=f"the cost {name!r} has no options", remedy=name
                )
            for option in keywords:
                if option.arg not in options:
                    raise unknown_name(
                        str(option.arg), "option", options, f" of the cost {name!r}", where=text
                    )
                if option.arg in values:
                    raise input_error(
                        "duplicate_name", where=text, problem=f"the option {option.arg!r} occurs twice"
                    )
                values[option.arg] = _value_of(option.value, text)
            return kind(**values)
        case ast.Call(ast.Name(name), [first, *_]):
            options = options_of(_kind_of(name))
            value = ast.get_source_segment(text, first)
            remedy = f"{name}({options[0]}={value})" if options else name
            fault = f"a value of the cost {name!r} has no name"
            raise input_error("bad_cost", where=text, problem=fault, expected="option=value", remedy=remedy)
    raise input_error("sharing.unreadable_cost", cost=as_text(text))


def _kind_of(name: str) -> type[Cost]:
    if name not in REGISTRY:
        raise unknown_name(name, "cost", REGISTRY)
    return REGISTRY[name]


def _value_of(tree: ast.expr, text: str) -> Any:
    """Return the value of a literal without evaluating code."""
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, RecursionError, MemoryError):
        part = ast.get_source_segment(text, tree)
        fault = f"{as_text(part)} is no value"
        expected = "a number such as 2.5, a text in quotes, or a table such as {'knee': 1}"
        raise input_error("bad_cost", where=text, problem=fault, expected=expected) from None

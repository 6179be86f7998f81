"""What a fault is, and how a function becomes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from musclesolve.synthetic.faults.trial_copy import Copy

Spoil = Callable[[Copy], None]


@dataclass(frozen=True)
class Fault:
    """One fault."""

    name: str  # of the fault
    about: str  # what was done wrong
    code: str  # the finding of `musclesolve.check` that it should lead to
    spoil: Spoil  # does it to a copy


_FAULTS: dict[str, dict[str, Fault]] = {}


def fault(code: str) -> Callable[[Spoil], Spoil]:
    """Register a function that spoils a copy; its name is that of the fault, its docstring says what is wrong."""

    def register(spoil: Spoil) -> Spoil:
        name = spoil.__name__
        about = (spoil.__doc__ or "").strip()
        _FAULTS.setdefault(spoil.__module__, {})[name] = Fault(name, about, code, spoil)
        return spoil

    return register


def registered(module: str) -> dict[str, Fault]:
    """Return the faults that a module has registered, by name."""
    return dict(_FAULTS[module])

"""A CasADi function of a muscle chain whose refusals name the angles and muscles."""

from collections.abc import Mapping, Sequence
from typing import Any
from warnings import warn

import numpy as np

from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.messages import as_text, few
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.problem_arrays import LARGEST

TURN = {"q": LARGEST["joint_angle"], "qd": LARGEST["joint_rate"]}
"""Input -> size that no angle and no rate of a joint reaches, its unit, and the remedy."""


class ChainFunction(ca.Function):  # type: ignore[misc]
    """The function, called as any other one; numbers and symbols that do not fit are refused by name.

    entries: names of the entries of each input. turns: names of the entries of q that are angles.
    """

    def __init__(self, function: Any, entries: Mapping[str, Sequence[str]], turns: Sequence[str]) -> None:
        super().__init__(function)
        self._entries, self._turns = dict(entries), frozenset(turns)

    def __reduce__(self) -> tuple[Any, ...]:
        """How `pickle` and `copy` make the function again: from CasADi's function and the names."""
        return ChainFunction, (ca.Function(self), self._entries, tuple(self._turns))

    def __copy__(self) -> "ChainFunction":
        """Return the function again: functions of CasADi cannot change."""
        return ChainFunction(ca.Function(self), self._entries, tuple(self._turns))

    def __deepcopy__(self, memo: Any = None) -> "ChainFunction":
        """Return a copy, as `__copy__` does."""
        return self.__copy__()

    def __call__(self, *values: Any, **named: Any) -> Any:
        """The results, as of `casadi.Function`; no input has a default."""
        for name, value in (*zip(self.name_in(), values, strict=False), *named.items()):
            if name in TURN:
                self._warn_of_degrees(name, value)
        # with some names missing CasADi would compute with zeros
        if named and (error := self._misfit(values, named)) is not None:
            raise error
        try:
            return super().__call__(*values, **named)
        except (RuntimeError, NotImplementedError, TypeError, SyntaxError):
            if (error := self._misfit(values, named)) is None:
                raise
            raise error from None

    def _warn_of_degrees(self, name: str, value: Any) -> None:
        """Warn of angles and rates that only degrees explain."""
        if not isinstance(value, np.ndarray | list | tuple | ca.DM):
            return
        try:
            numbers = np.abs(np.array(value, dtype=float))
        except (TypeError, ValueError):
            return
        most, unit, _ = TURN[name]
        entries = self._entries[name]
        if numbers.size != len(entries):
            if numbers.ndim < 2 or numbers.shape[0] != len(entries):
                return
            numbers = numbers.max(axis=1, initial=0.0)  # of several poses
        for entry, number in zip(entries, numbers.ravel().tolist(), strict=True):
            if number > most and entry in self._turns:
                text = f"{name} of {self.name()} is {number:g}{unit} for {entry}, as no joint turns"
                warn(f"{text}; if these are degrees, give numpy.radians({name})", stacklevel=3)
                return

    def _misfit(self, values: Sequence[Any], named: Mapping[str, Any]) -> InputError | None:
        """The first input that does not fit, in words; None where all fit."""
        inputs = self.name_in()
        if len(values) > len(inputs):
            return self._error("", f"it got {len(values)} inputs", ", ".join(inputs))
        if values and named:
            problem = "it got inputs by their places and others by their names"
            return self._error("", problem, f"{', '.join(inputs)}, all by their places or all by their names")
        for name, value in (*zip(inputs, values, strict=False), *named.items()):
            if name not in inputs:
                return self._error("", f"it has no input {name!r}", ", ".join(inputs))
            entries = self._entries[name]
            order = few(entries, 12)
            wanted = f"{len(entries)} numbers, in this order: {order}" if len(entries) > 1 else "one number"
            if isinstance(value, Mapping):
                order = (
                    f"a list, such as [angles[name] for name in chain.{'muscles' if name == 'a' else 'dofs'}]"
                )
                return self._error(name, f"{as_text(value)} is a dict", wanted, f"give {order}")
            if (fault := _no_numbers(value)) is not None:
                return self._error(name, fault, wanted)
            shape = tuple(getattr(value, "shape", None) or np.shape(value))
            size = int(np.prod(shape))
            if size not in (1, len(entries)) and (len(shape) < 2 or shape[0] != len(entries)):
                return self._error(name, f"its shape is {shape}", wanted)
        if missing := [name for name in inputs[len(values) :] if name not in named]:
            return self._error("", f"it lacks {', '.join(missing)}", ", ".join(inputs))
        return None

    def _error(self, name: str, problem: str, expected: str, remedy: str | None = None) -> InputError:
        where = f"{name} of chain.{self.name()}" if name else f"chain.{self.name()}"
        return input_error("bad_value", where=where, problem=problem, expected=expected, remedy=remedy)


def _no_numbers(value: Any) -> str | None:
    """Return why a value is neither numbers nor symbols; None where it is."""
    if isinstance(value, ca.SX | ca.MX | ca.DM):
        return None
    try:
        kinds = np.array(value).dtype.kind
    except ValueError:
        return f"{as_text(value)} has rows of different lengths"
    if kinds in "biuf" or (kinds == "O" and _has_symbols(value)):
        return None
    return f"{as_text(value)} is no array of numbers or symbols"


def _has_symbols(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray) and any(
        isinstance(each, ca.SX | ca.MX | ca.DM) for each in np.asarray(value, dtype=object).ravel()
    )

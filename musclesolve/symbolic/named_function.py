"""A CasADi function whose refusals name the coordinates and muscles that its inputs consist of."""

from collections.abc import Mapping, Sequence
from typing import Any
from warnings import warn

import numpy as np

from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.messages import as_text, few
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.problem_arrays import LARGEST

_ANGLE, _RATE = LARGEST["joint_angle"], LARGEST["joint_rate"]
TURN = {"q": _ANGLE, "qd": _RATE, "c": _ANGLE, "cd": _RATE}
"""Input -> size that no angle and no rate of a joint reaches, its unit, and the remedy."""
SYMBOLS = ca.SX | ca.MX
LISTED = 12
"""Most entries of an input that a refusal lists."""


class NamedFunction(ca.Function):  # type: ignore[misc]
    """The function, called as any other one; numbers and symbols that do not fit are refused by name.

    owner: what has the function, such as "chain". entries: names of the entries of each input. turns: names of the
    entries that are angles. finite: whether numbers that are not finite are refused; else they make the results NaN.
    """

    def __init__(
        self,
        function: Any,
        owner: str,
        entries: Mapping[str, Sequence[str]],
        turns: Sequence[str] = (),
        finite: bool = False,
    ) -> None:
        super().__init__(function)
        self._owner, self._entries = owner, {name: tuple(of) for name, of in entries.items()}
        self._turns, self._finite = frozenset(turns), finite

    def __reduce__(self) -> tuple[Any, ...]:
        """How `pickle` and `copy` make the function again: from CasADi's function and the names."""
        names = self._owner, self._entries, tuple(self._turns), self._finite
        return NamedFunction, (ca.Function(self), *names)

    def __copy__(self) -> "NamedFunction":
        """Return the function again: functions of CasADi cannot change."""
        make, arguments = self.__reduce__()
        return make(*arguments)  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: Any = None) -> "NamedFunction":
        """Return a copy, as `__copy__` does."""
        return self.__copy__()

    def __call__(self, *values: Any, **named: Any) -> Any:
        """The results, as of `casadi.Function`; no input has a default."""
        given = (*zip(self.name_in(), values, strict=False), *named.items())
        for name, value in given:
            if name in TURN and name in self._entries:
                self._warn_of_degrees(name, value)
        # with some names missing CasADi would compute with zeros
        if named and (error := self._misfit(values, named)) is not None:
            raise error
        try:
            found = super().__call__(*values, **named)
        except (RuntimeError, NotImplementedError, TypeError, SyntaxError):
            if (error := self._misfit(values, named)) is None:
                raise
            raise error from None
        for name, value in given if self._finite else ():
            self._check_finite(name, value)
        return found

    def _numbers(self, name: str, value: Any) -> Any:
        """The numbers of an input as an array (entries, poses); None where there are others, or symbols."""
        if not isinstance(value, np.ndarray | list | tuple | ca.DM):
            return None
        try:
            numbers = np.array(value, dtype=float)
        except (TypeError, ValueError):
            return None
        count = len(self._entries[name])
        if numbers.size == count:
            return numbers.reshape(count, 1)
        return numbers if numbers.ndim == 2 and numbers.shape[0] == count else None

    def _warn_of_degrees(self, name: str, value: Any) -> None:
        """Warn of angles and rates that only degrees explain."""
        if not self._turns or (numbers := self._numbers(name, value)) is None:
            return
        most, unit, _ = TURN[name]
        for entry, number in zip(self._entries[name], _largest(numbers).tolist(), strict=True):
            if number > most and entry in self._turns:
                text = f"{name} of {self.name()} is {number:g}{unit} for {entry}, as no joint turns"
                warn(f"{text}; if these are degrees, give numpy.radians({name})", stacklevel=3)
                return

    def _check_finite(self, name: str, value: Any) -> None:
        """Refuse the first number that is not finite."""
        if isinstance(value, float | int):
            value = np.full(len(self._entries[name]), float(value))
        if (numbers := self._numbers(name, value)) is None or np.isfinite(numbers).all():
            return
        entry, pose = (int(k) for k in np.argwhere(~np.isfinite(numbers))[0])
        where = "" if numbers.shape[1] == 1 else f" in column {pose}"
        raise input_error(
            "not_finite",
            where=f"{name} of {self._owner}.{self.name()}",
            problem=f"{self._entries[name][entry]} is {numbers[entry, pose]:g}{where}",
            expected="finite numbers",
            remedy="leave these frames out",
        )

    def _misfit(self, values: Sequence[Any], named: Mapping[str, Any]) -> InputError | None:
        """The first input that does not fit, in words; None where all fit."""
        inputs, poses = self.name_in(), dict[str, int]()
        if len(values) > len(inputs):
            return self._error("", f"it got {len(values)} inputs", ", ".join(inputs))
        if values and named:
            problem = "it got inputs by their places and others by their names"
            return self._error("", problem, f"{', '.join(inputs)}, all by their places or all by their names")
        for name, value in (*zip(inputs, values, strict=False), *named.items()):
            if name not in inputs:
                return self._error("", f"it has no input {name!r}", ", ".join(inputs))
            entries = self._entries[name]
            wanted = self._wanted(name)
            if isinstance(value, Mapping):
                names = f"{self._owner}.{'muscles' if name in ('a', 'F') else 'dofs'}"
                order = f"give a list, such as [values[name] for name in {names}]"
                return self._error(name, f"{as_text(value)} is a dict", wanted, order)
            if (fault := _no_numbers(value)) is not None:
                return self._error(name, fault, wanted)
            shape = tuple(getattr(value, "shape", None) or np.shape(value))
            size = int(np.prod(shape))
            if size not in (1, len(entries)) and (len(shape) < 2 or shape[0] != len(entries)):
                remedy = (
                    "give its transpose: one column for each frame" if shape[1:] == (len(entries),) else None
                )
                if not entries:
                    remedy = "name the bodies on which loads act: skeleton(loads=...)"
                return self._error(name, f"its shape is {shape}", wanted, remedy)
            if len(shape) == 2 and size not in (1, len(entries)):
                poses[name] = shape[1]
        if missing := [name for name in inputs[len(values) :] if name not in named]:
            text = "; ".join(f"{name}: {self._wanted(name)}" for name in missing)
            return self._error("", f"it lacks {', '.join(missing)}", f"{', '.join(inputs)}; {text}")
        if len(set(poses.values())) > 1:
            counts = ", ".join(f"{count} of {name}" for name, count in poses.items())
            return self._error("", f"the numbers of columns differ: {counts}", "one column for each pose")
        if any(isinstance(value, ca.SX) for value in (*values, *named.values())):
            problem = "it got SX symbols, but has iterations or splines inside"
            return self._error("", problem, "matrices", "casadi.MX.sym in the place of casadi.SX.sym")
        return None

    def _wanted(self, name: str) -> str:
        """The entries of an input, in words."""
        entries = self._entries[name]
        if len(entries) == 1:
            return "one number"
        if not entries:
            return "no numbers, []"
        return f"{len(entries)} numbers, in this order: {few(entries, LISTED)}"

    def _error(self, name: str, problem: str, expected: str, remedy: str | None = None) -> InputError:
        of = f"{self._owner}.{self.name()}"
        where = f"{name} of {of}" if name else of
        return input_error("bad_value", where=where, problem=problem, expected=expected, remedy=remedy)


def _no_numbers(value: Any) -> str | None:
    """Return why a value is neither numbers nor symbols; None where it is."""
    if isinstance(value, SYMBOLS | ca.DM):
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
        isinstance(each, SYMBOLS | ca.DM) for each in np.asarray(value, dtype=object).ravel()
    )


def _largest(numbers: Any) -> Any:
    """Largest finite size in each row (n,) of numbers (n, T)."""
    return np.abs(np.where(np.isfinite(numbers), numbers, 0.0)).max(axis=1, initial=0.0)

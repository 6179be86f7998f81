"""Checks of arguments that many functions share: what does not fit is named before anything is computed."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from musclesolve.errors import InputError
from musclesolve.sharing.cost.base import Cost
from musclesolve.sharing.problem import Array, Problem


def a_problem(given: object) -> Problem:
    """What was given, if it is a Problem.

    Raises:
        InputError: it is something else.
    """
    if not isinstance(given, Problem):
        raise InputError(f"a {type(given).__name__} was given", where="problem", expected="a Problem")
    return given


def a_number(
    given: object, name: str, expected: str, least: float = -np.inf, above: float = -np.inf
) -> float:
    """What was given, if it is a finite number, at least `least` and larger than `above`.

    Args:
        given: what to check.
        name: of the argument.
        expected: the number in words.
        least: smallest number.
        above: a number that it has to be larger than.

    Raises:
        InputError: it is something else, a truth value, not finite or too small.
    """
    real = isinstance(given, Real) and not isinstance(given, bool)
    if not (real and np.isfinite(given) and given >= least and given > above):  # type: ignore[call-overload,operator]
        raise InputError(f"{name} is {given!r}", where=name, expected=expected)
    return float(given)  # type: ignore[arg-type]


def a_whole_number(given: object, name: str, least: int) -> int:
    """What was given, if it is a whole number and at least `least`.

    Raises:
        InputError: it is something else, a truth value or too small.
    """
    if isinstance(given, bool) or not isinstance(given, Integral) or given < least:
        raise InputError(f"{name} is {given!r}", where=name, expected=f"a whole number, {least} or more")
    return int(given)


def an_array(given: Any, name: str, expected: str) -> Array:
    """What was given as an array in double precision; masked numbers are missing ones, NaN.

    Raises:
        InputError: it holds something else, such as words, dates or complex numbers.
    """
    try:
        raw = np.asanyarray(given)
        if raw.dtype.kind not in "biufO":
            raise TypeError(f"numbers of the kind {raw.dtype}")
        return np.asarray(np.ma.filled(raw.astype(np.float64, copy=False), np.nan))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is no array of numbers", where=name, expected=expected) from error


def members(given: object) -> list[Any]:
    """What is in a list, a tuple or a generator; nothing for a name, a cost or what is no collection."""
    if isinstance(given, str | Cost):
        return []
    try:
        each = iter(given)  # type: ignore[call-overload]
    except TypeError:  # an array without an axis calls itself iterable
        return []
    return list(each)

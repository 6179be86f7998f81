"""Checks of arguments that many functions share: what does not fit is named before anything is computed."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem


def a_problem(given: object, where: str = "problem") -> Problem:
    """What was given, if it is a Problem.

    Raises:
        InputError: it is something else.
    """
    if not isinstance(given, Problem):
        raise InputError(f"a {type(given).__name__} was given", where=where, expected="a Problem")
    return given


def one_of(given: object, what: str, words: tuple[str, ...], where: str | None = None) -> None:
    """See that a word is one of those that are known.

    Args:
        given: what to check.
        what: it is, for the message.
        words: those that are known.
        where: the argument, for the message.

    Raises:
        InputError: it is another word, or none.
    """
    if given not in words:
        raise InputError(f"{what} is {given!r}", where=where, expected=" or ".join(map(repr, words)))


def a_smooth_convex_cost(cost: str | Cost, problem: Problem, deed: str, where: str, expected: str) -> Cost:
    """The cost object, if it is smooth and convex and the problem has what it is made of.

    Args:
        cost: a name or a Cost.
        problem: what it is a cost of.
        deed: what cannot be done with other costs, for the message.
        where: the argument, for the message.
        expected: the right cost in words.

    Raises:
        InputError: it is not, or does not fit the problem.
    """
    chosen = find_cost(cost)
    if lacking := chosen.needs & {"linear_programme", "nonconvex", "nonsmooth"}:
        raise InputError(
            f"the cost {chosen.name} cannot be {deed} (it is {', '.join(sorted(lacking))})",
            where=where,
            expected=expected,
        )
    chosen.require(problem)
    return chosen


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

"""Checks of arguments, one function for each kind: wrong values are refused by name before any computation."""

import contextlib
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from muscle_db.similar_names import suggestion
from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.messages import as_text
from musclesolve.errors import InputError, input_error

Kind = TypeVar("Kind")
Shape = tuple[int | str, ...]
"""A shape as in messages: numbers are fixed, letters fit any size."""


def check_number(
    given: object,
    name: str,
    expected: str,
    *,
    least: float = -np.inf,
    above: float = -np.inf,
    most: float = np.inf,
    below: float = np.inf,
    where: str | None = None,
) -> float:
    """Return a finite number from `least` to `most`, larger than `above` and smaller than `below`.

    An array without axes counts as its number; true, false and masked numbers are refused.
    """
    plain = isinstance(given, np.ndarray) and not given.ndim and not isinstance(given, np.ma.MaskedArray)
    number = given.item() if plain else given  # type: ignore[attr-defined]
    if isinstance(number, Real) and not isinstance(number, bool):
        try:
            value = float(number)
        except OverflowError:  # an integer larger than any float
            value = np.inf
        if np.isfinite(value) and least <= value <= most and above < value < below:
            return value
    raise input_error("bad_number", where=where or name, expected=expected, name=name, given=as_text(given))


def check_type(value: object, kind: type[Kind], where: str, expected: str) -> Kind:
    """Return the argument; refuse an object of another class."""
    if not isinstance(value, kind):
        raise input_error("wrong_type", where=where, expected=expected, given=type(value).__name__)
    return value


def check_integer(
    value: object, name: str, least: int, most: int | None = None, *, where: str | None = None
) -> int:
    """Return an integer that is at least `least`, and at most `most`; refuse true, false and 2.0."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):  # type: ignore[operator]
        expected = f"a whole number, {least} " + ("or more" if most is None else f"to {most}")
        raise input_error(
            "bad_number", where=where or name, expected=expected, name=name, given=as_text(value)
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def check_choice(value: object, name: str, known: Collection[str], *, where: str | None = None) -> None:
    """Check that a word is one of the known ones."""
    if not isinstance(value, str) or value not in known:
        raise input_error(
            "unknown_name",
            where=where,
            problem=f"{name} is {as_text(value)}",
            expected=" or ".join(map(repr, known)),
            remedy=suggestion(value, known) if isinstance(value, str) else None,
        )


def check_array(
    value: object,
    name: str,
    shape: Shape,
    entries: tuple[str, ...] = (),
    *,
    axis: int = 1,
    finite: bool = True,
    real: bool = False,
    where: str | None = None,
) -> AnyArray:
    """Return an array of real or complex numbers of a shape, of which a letter fits any size; integers become floats.

    `entries` are the names of the entries along `axis`; if it is not 0, the first axis is frames. With `real`, complex
    numbers are refused, None becomes NaN, and the array has double precision; `finite=False` allows numbers that are
    not finite. Masked numbers become NaN.
    """
    size = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    expected = f"numbers of the shape ({size})" if shape else "a number"
    if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "biuf":
        value = np.ma.filled(value.astype(float), np.nan)
    try:
        array = np.asarray(value)
    except ValueError:
        raise input_error(
            "bad_shape", where=where, problem=f"{name} has rows of different lengths", expected=expected
        ) from None
    except TypeError:  # a Dataset
        raise input_error(
            "no_numbers",
            where=where,
            expected=expected,
            name=name,
            reason=f"its type is {type(value).__name__}",
        ) from None
    if real and array.ndim and array.dtype.kind in "fO":
        with contextlib.suppress(TypeError, ValueError):  # objects that are no numbers are refused below
            array = array.astype(np.float64, copy=False)
    if array.dtype.kind not in ("buif" if real else "buifc"):
        entry = _first_entry(array)
        raise input_error("no_numbers", where=where, expected=expected, name=name, reason=entry)
    if array.dtype.kind in "bui":
        array = array.astype(float)
    fits = len(array.shape) == len(shape) and all(
        isinstance(want, str) or have == want for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise input_error("bad_shape", where=where, expected=expected, name=name, shape=array.shape)
    if finite and not np.isfinite(array).all():
        raise _not_finite(array, name, entries, axis, where)
    return array


def check_real_array(
    value: object,
    name: str,
    expected: str,
    *,
    where: str | None = None,
    shapes: tuple[tuple[int, ...], ...] = (),
    remedy: str | None = None,
) -> Array:
    """Return numbers as an array in double precision, of one of some shapes if given; masked numbers become NaN.

    True and false are no numbers.
    """
    try:
        raw = np.asanyarray(value)
        if raw.dtype.kind not in "iufO" or value is None:
            raise TypeError(_first_entry(raw))
        array: Array = np.asarray(np.ma.filled(raw.astype(np.float64, copy=False), np.nan))
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError: a tensor that requires a gradient
        raise input_error(
            "no_numbers", where=where or name, expected=expected, remedy=remedy, name=name, reason=error
        ) from error
    if shapes and array.shape not in shapes:
        raise input_error(
            "bad_shape", where=where or name, expected=expected, remedy=remedy, name=name, shape=array.shape
        )
    return array


def check_increasing(value: object, least: int = 1, *, where: str | None = None) -> Array:
    """Return the times (T,) [s] of frames; refuse masked and not increasing ones."""
    plain = check_real_array(value, "time", "increasing times [s]", where=where)
    time = check_array(plain, "time", ("T",), real=True, where=where)
    if len(time) < least:
        raise input_error("too_few_frames", where=where, count=len(time), least=least)
    late = np.flatnonzero(~(np.diff(time) > 0.0))
    if len(late):
        k = int(late[0])
        raise input_error(
            "time_not_increasing",
            where=where,
            problem=f"time does not increase from frame {k} ({time[k]:g} s) to frame {k + 1} ({time[k + 1]:g} s)",
            expected="increasing times [s]",
        )
    return time


def one_or_several(value: Any) -> list[Any]:
    """Return a list: of the things in anything that can be iterated, or of one thing alone, as a text or path is."""
    return [value] if isinstance(value, str | Path) or not isinstance(value, Iterable) else list(value)


def _first_entry(array: AnyArray) -> str:
    """Return a description of the content of an array without numbers, for a message."""
    return f"it holds {array.ravel()[:1].tolist()[0]!r:.60}" if array.size else f"its type is {array.dtype}"


def _not_finite(
    array: AnyArray, name: str, entries: tuple[str, ...], axis: int, where: str | None
) -> InputError:
    if not array.ndim:
        return input_error("not_finite", where=where, name=name, value=array)
    bad = np.argwhere(~np.isfinite(array))
    first = tuple(int(part) for part in bad[0])
    entry = f" of {entries[first[axis]]}" if entries and axis < array.ndim else ""
    at = f" in frame {first[0]}" if axis else ""
    count = f" ({len(bad)} such numbers in all)" if len(bad) > 1 else ""
    place = "" if entry or array.ndim == 1 else f", at {list(first)}"
    return input_error(
        "not_finite",
        where=where,
        problem=f"{name}{entry} is {array[first]}{at}{place}{count}",
        expected="finite numbers",
    )

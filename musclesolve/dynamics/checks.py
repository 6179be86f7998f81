"""What comes in from outside: arrays of finite numbers of the right shape, and names that exist; else an InputError."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

import numpy as np

from musclesolve.errors import InputError

Array = np.ndarray
Shape = tuple[int | str, ...]
"""A shape as messages print it: numbers are fixed, letters stand for any size."""

_LISTED = 12
"""More names than this are not listed in a message."""


class Names(dict[str, int]):
    """Positions by name. A name that is not there is refused, and the nearest one suggested."""

    def __init__(self, names: Iterable[str], what: str, whose: str, first: Mapping[str, int] | None = None):
        """Number the names, from the end of `first` on.

        Args:
            names: in order.
            what: what they are names of, for messages.
            whose: the model.
            first: names that are numbered already.
        """
        super().__init__(first or {})
        self.what, self.whose = what, whose
        for name in names:
            self[name] = len(self)

    def __missing__(self, name: str) -> int:
        """Raise InputError."""
        raise unknown_name(name, self.what, self, f" in {self.whose!r}")


def unknown_name(
    name: str, what: str, known: Iterable[str], where: str = "", file: object = None
) -> InputError:
    """The error for a name that does not exist, with the names that it may have been meant to be."""
    known = list(known)
    near = similar(name, known)
    listed = (
        ", ".join(known)
        if len(known) <= _LISTED
        else f"{', '.join(known[:_LISTED])} ... ({len(known)} names)"
    )
    return InputError(
        f"there is no {what} {name!r}{where}",
        file=None if file is None else str(file),
        expected=f"one of {listed or 'none'}",
        remedy=f"did you mean {' or '.join(near)}?" if near else None,
    )


def similar(name: str, known: Iterable[str]) -> list[str]:
    """Up to three names that are spelled nearly so, or have this one in them."""
    known, name = list(dict.fromkeys(known)), str(name)
    near = get_close_matches(name, known, n=3, cutoff=0.6)
    return near or [other for other in known if len(name) > 2 and name in other][:3]


def numbers(
    value: object, what: str, shape: Shape, names: tuple[str, ...] = (), axis: int = 1, finite: bool = True
) -> Array:
    """An array of real or complex numbers, checked in one sweep; whole numbers become floats.

    Args:
        value: what was given.
        what: its name in messages.
        shape: the shape it must have; a letter fits any size.
        names: of the entries along `axis`, for messages.
        axis: see names. Where it is not 0, the first axis are frames.
        finite: False lets numbers pass that are not finite.

    Raises:
        InputError: no numbers, another shape, or a number that is not finite; says which and where.
    """
    wanted = f"numbers of the shape ({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
    if not shape:
        wanted = "a number"
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{what} has rows of different lengths", expected=wanted) from None
    if array.dtype.kind not in "buifc":
        raise InputError(f"{what} has the type {array.dtype}", expected=wanted)
    if array.dtype.kind in "bui":
        array = array.astype(float)
    fits = len(array.shape) == len(shape) and all(
        isinstance(want, str) or have == want for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise InputError(f"{what} has the shape {array.shape}", expected=wanted)
    if finite and not np.isfinite(array).all():
        raise _not_finite(array, what, names, axis)
    return array


def _not_finite(array: Array, what: str, names: tuple[str, ...], axis: int) -> InputError:
    if not array.ndim:
        return InputError(f"{what} is {array}", expected="a finite number")
    bad = np.argwhere(~np.isfinite(array))
    first = tuple(int(part) for part in bad[0])
    of = f" of {names[first[axis]]}" if names and axis < array.ndim else ""
    at = f" in frame {first[0]}" if axis else ""
    count = f" ({len(bad)} such numbers in all)" if len(bad) > 1 else ""
    where = "" if of or array.ndim == 1 else f", at {list(first)}"
    return InputError(f"{what}{of} is {array[first]}{at}{where}{count}", expected="finite numbers")


def increasing(time: object, least: int = 1) -> Array:
    """Times (T,) [s] of frames.

    Raises:
        InputError: not finite, not increasing, or fewer than `least`.
    """
    array = numbers(time, "time", ("T",))
    if len(array) < least:
        raise InputError(f"{len(array)} frames", expected=f"at least {least}")
    late = np.flatnonzero(~(np.diff(array) > 0.0))
    if len(late):
        k = int(late[0])
        raise InputError(
            f"time does not increase from frame {k} ({array[k]:g} s) to frame {k + 1} ({array[k + 1]:g} s)",
            expected="increasing times [s]",
        )
    return array

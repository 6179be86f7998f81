"""Names that do not exist, and the known ones that may have been meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from musclesolve.errors import InputError

_LISTED = 12
"""More names than this are not listed in a message."""


def similar(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Up to `count` known names that are spelled nearly so, without regard to case, or have this one in them."""
    name, by_folded = str(name), {other.casefold(): other for other in known}
    near = get_close_matches(name.casefold(), by_folded, n=count, cutoff=0.5)
    if not near and len(name) > 2:
        near = [folded for folded in by_folded if name.casefold() in folded][:count]
    return [by_folded[folded] for folded in near]


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """A remedy that names the known names most like `name`, or None when none is like it."""
    near = similar(name, known)
    return "did you mean " + " or ".join(f"'{other}'" for other in near) + "?" if near else None


def unknown_name(
    name: str,
    what: str,
    known: Iterable[str],
    within: str = "",
    file: object = None,
    where: str | None = None,
) -> InputError:
    """The error for a name that does not exist, with the names that may have been meant.

    Args:
        name: as it was given.
        what: it should be the name of, such as "joint".
        known: the names that exist.
        within: what has these names, as the end of the sentence: " in 'model.toml'".
        file: at fault.
        where: in it.
    """
    known = list(known)
    listed = ", ".join(known[:_LISTED]) + (f" ... ({len(known)} names)" if len(known) > _LISTED else "")
    return InputError(
        f"there is no {what} {name!r}{within}",
        code="unknown_name",
        file=None if file is None else str(file),
        where=where,
        expected=f"one of {listed or 'none'}",
        remedy=suggestion(name, known),
    )


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

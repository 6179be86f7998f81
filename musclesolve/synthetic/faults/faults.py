"""Faults as a careless laboratory makes them, each planted into the files of a copy of a trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from musclesolve._util.names import suggestion
from musclesolve.errors import InputError
from musclesolve.synthetic.faults.trial_copy import Copy, open_copy, write_copy


@dataclass(frozen=True)
class Fault:
    """One fault.

    Args:
        name: of the fault.
        about: what was done wrong.
        code: the finding of ``musclesolve.check`` that it should lead to.
        spoil: does it to a copy.
    """

    name: str
    about: str
    code: str
    spoil: Callable[[Copy], None]


_PLANTABLE: dict[str, Fault] = {}


def fault(code: str) -> Callable[[Callable[[Copy], None]], Callable[[Copy], None]]:
    """Register a function that spoils a copy; its name is that of the fault, its docstring says what is wrong."""

    def register(spoil: Callable[[Copy], None]) -> Callable[[Copy], None]:
        name = spoil.__name__
        _PLANTABLE[name] = Fault(name, (spoil.__doc__ or "").strip(), code, spoil)
        return spoil

    return register


def faults() -> dict[str, Fault]:
    """Return every fault by its name."""
    # The faults register themselves.
    from musclesolve.synthetic.faults import force_faults, marker_faults, trial_faults

    del force_faults, marker_faults, trial_faults
    return dict(_PLANTABLE)


def plant(name: str, trial_path: str | Path, folder: str | Path) -> Path:
    """Copy a trial into a folder with one fault planted.

    Args:
        name: one of ``faults()``.
        trial_path: the trial file to copy, with TRC markers and MOT forces.
        folder: where to write; made if need be.

    Returns:
        The trial file of the copy.

    Raises:
        InputError: no such fault, or a trial that cannot be read.
    """
    return plant_all([name], trial_path, folder)


def plant_all(names: Iterable[str], trial_path: str | Path, folder: str | Path) -> Path:
    """Copy a trial into a folder with faults planted one after the other, those of the written text last.

    All go into one copy, so that a fault that makes a file unreadable does not stand in the way of the others.

    Args:
        names: of ``faults()``.
        trial_path: as for ``plant``.
        folder: as for ``plant``.

    Returns:
        The trial file of the copy.

    Raises:
        InputError: no such fault, or a trial that cannot be read.
    """
    chosen = [_known(name) for name in names]
    copy = open_copy(Path(trial_path))
    for each in chosen:
        each.spoil(copy)
    return write_copy(copy, Path(folder))


def _known(name: str) -> Fault:
    known = faults()
    if name not in known:
        raise InputError(
            f"there is no fault '{name}'",
            expected=f"one of {', '.join(known)}",
            remedy=suggestion(name, known) or "choose one of these",
        )
    return known[name]

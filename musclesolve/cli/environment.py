"""Process-wide settings of a command: environment variables that libraries read, and a short start."""

from __future__ import annotations

import gc
import logging
import os
import sys

LONGEST = 11
"""Digits of a number that a library can take for an integer of the machine."""
ALLOCATIONS = 300_000
"""Container objects between two collections of cyclic garbage: importing makes a million that all stay."""

LOG = logging.getLogger("musclesolve")


def prepare() -> None:
    """Set up a command before numba, xarray or matplotlib are imported; a library leaves this to its user."""
    gc.set_threshold(ALLOCATIONS)
    if not any(word.startswith("--scheduler") for word in sys.argv):
        # xarray imports dask.array wherever it is installed, a quarter of a second; None reads as "not installed".
        sys.modules.setdefault("dask", None)  # type: ignore[arg-type]
    correct_variables()


def finish() -> None:
    """Skip the last collections of cyclic garbage: the operating system takes the memory back anyway.

    In a program that has called `main` dask can be imported again.
    """
    gc.freeze()
    if sys.modules.get("dask", LOG) is None:
        del sys.modules["dask"]


def correct_variables() -> None:
    """Ignore, with a warning, what libraries would fail on."""
    # Figures go into files: no window is opened, whatever is asked for.
    os.environ["MPLBACKEND"] = "agg"
    if _on(os.environ.get("NUMBA_DISABLE_JIT", "")):
        _ignore("NUMBA_DISABLE_JIT", "without its compiled kernel force sharing takes many times as long")
    for name, least in (("NUMBA_NUM_THREADS", 1), ("SOURCE_DATE_EPOCH", 0)):  # the other is read by numpy
        given = os.environ.get(name, str(least))
        if not (given.isdecimal() and given.isascii() and len(given) < LONGEST and int(given) >= least):
            _ignore(name, f"{given!r} is not an integer of at least {least}")


def _on(text: str) -> bool:
    return text.strip() not in ("", "0")


def _ignore(name: str, reason: str) -> None:
    LOG.warning("%s is ignored: %s", name, reason)
    del os.environ[name]

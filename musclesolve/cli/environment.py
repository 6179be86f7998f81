"""Variables of the environment that libraries stumble over: a command sets right what it needs, with a warning."""

from __future__ import annotations

import logging
import os

LONGEST = 11
"""Digits of a number that a library can take for an integer of the machine."""

LOG = logging.getLogger("musclesolve")


def set_right() -> None:
    """To be called by a command before numba or matplotlib are imported; a library leaves them to its user."""
    # Figures go into files: no window is opened, whatever is asked for.
    os.environ["MPLBACKEND"] = "agg"
    if _on(os.environ.get("NUMBA_DISABLE_JIT", "")):
        _ignore("NUMBA_DISABLE_JIT", "without its compiled kernel force sharing takes many times as long")
    for name, least in (("NUMBA_NUM_THREADS", 1), ("SOURCE_DATE_EPOCH", 0)):  # the other is read by numpy
        given = os.environ.get(name, str(least))
        if not (given.isdecimal() and given.isascii() and len(given) < LONGEST and int(given) >= least):
            _ignore(name, f"{given!r} is no whole number from {least}")


def _on(text: str) -> bool:
    return text.strip() not in ("", "0")


def _ignore(name: str, reason: str) -> None:
    LOG.warning("%s is ignored: %s", name, reason)
    del os.environ[name]

"""Variables of the environment that libraries stumble over: a command sets right what it needs, and says so."""

from __future__ import annotations

import logging
import os

LOG = logging.getLogger("musclesolve")


def set_right() -> None:
    """To be called by a command before numba or matplotlib are imported; a library leaves them to its user."""
    # Figures go into files: no window is opened, whatever is asked for.
    os.environ["MPLBACKEND"] = "agg"
    if _on(os.environ.get("NUMBA_DISABLE_JIT", "")):
        _ignore("NUMBA_DISABLE_JIT", "the force-sharing kernel has to be compiled")
    threads = os.environ.get("NUMBA_NUM_THREADS", "1")
    if not (threads.isdecimal() and threads.isascii() and 0 < int(threads) < 2**31):
        _ignore("NUMBA_NUM_THREADS", f"{threads!r} is no number of threads")


def _on(text: str) -> bool:
    return text.strip() not in ("", "0")


def _ignore(name: str, reason: str) -> None:
    LOG.warning("%s is ignored: %s", name, reason)
    del os.environ[name]

"""What only one thread may do at a time."""

from __future__ import annotations

import os
from threading import RLock


class OneThread:
    """A lock to be used with `with`; whoever holds it may take it again. A forked process begins with it free."""

    def __init__(self) -> None:
        self._lock = RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


CASADI = OneThread()
"""CasADi's functions, and Ipopt with its linear solver MUMPS: they keep state, and crash where threads share it."""

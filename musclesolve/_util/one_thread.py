"""A lock for libraries that are not thread-safe."""

from __future__ import annotations

import os
from threading import RLock


class OneThread:
    """A reentrant lock, used with `with`; in a forked process it is free."""

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
"""CasADi functions, and Ipopt with its linear solver MUMPS, keep state and crash where threads share it."""

"""File locks, which the operating system releases at any end of a process; a lock for libraries that are not
thread-safe.
"""

import contextlib
import io
import os
import threading
from pathlib import Path
from threading import RLock
from typing import Self

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

LOCK_OFFSET = 1 << 30
"""Offset of the byte that is locked on Windows, beyond the content: a locked byte cannot be read or written."""
TRIES = 10


class Lock:
    """A locked file, open for reading and writing; it is removed when the lock is released."""

    def __init__(self, path: Path) -> None:
        self.path, self.thread, self._there = path, threading.get_ident(), True
        self.exclusive = False  # no protection on a file system without locks
        # A file object, unlike a bare descriptor, is closed too where Ctrl-C ends its owner.
        self._file = io.FileIO(path, "r+", opener=_opened)

    @property
    def is_held(self) -> bool:
        """Whether the lock has not been released."""
        return not self._file.closed

    @property
    def number(self) -> int:
        """File descriptor of the locked file."""
        return self._file.fileno()

    @classmethod
    def acquire(cls, path: Path) -> "Lock | None":
        """Lock a file, created if missing; None if another holder has locked it.

        Raises:
            OSError: the file cannot be created.
        """
        for _ in range(TRIES):
            lock = cls(path)
            try:
                lock.exclusive = _lock(lock.number)
            except BlockingIOError:
                lock._file.close()
                return None
            # Between opening and locking, the last holder may have removed or moved it.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), os.fstat(lock.number)):
                    return lock
            lock._file.close()
        return None

    def move(self, target: Path) -> None:
        """Move the file to another name, replacing an existing file, and release the lock."""
        if os.name == "nt":  # a file that is open cannot be moved there
            self._file.close()
        os.replace(self.path, target)
        self._there = False
        self._file.close()

    def release(self) -> None:
        """Remove the file, unless it has been moved, and release the lock."""
        if os.name == "nt":
            self._file.close()
        if self._there:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT, 0o600)


def _lock(number: int) -> bool:
    """Lock an open file; return False if the file system has no locks.

    Raises:
        BlockingIOError: another holder has locked it.
    """
    try:
        if fcntl is not None:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            os.lseek(number, LOCK_OFFSET, os.SEEK_SET)
            try:
                msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            except PermissionError as error:
                raise BlockingIOError(error.errno, error.strerror) from None
            os.lseek(number, 0, os.SEEK_SET)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


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
"""Lock of CasADi functions, and of Ipopt with its linear solver MUMPS, which keep state and crash if threads share
it.
"""

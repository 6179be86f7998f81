"""Standard output and error that never end a command with a traceback: closed pipes, full disks, narrow encodings."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

CLOSED = {errno.EPIPE, errno.ESHUTDOWN} | ({errno.EINVAL} if os.name == "nt" else set())
"""What writing to a pipe leads to that nobody reads any more."""


class OutputError(OSError):
    """Standard output cannot be written, as on a full disk."""


class _Guarded(io.FileIO):
    """A file descriptor on which a write that fails is the last one: what follows is dropped.

    A reader that has gone, such as `head`, is no error: it has what it wanted.
    """

    def __init__(self, number: int, silent: bool) -> None:
        super().__init__(number, "wb", closefd=False)
        self.silent, self.ended = silent, False

    def write(self, content: Any, /) -> int:
        """All of it, or nothing of it once a write has failed."""
        size = memoryview(content).nbytes
        if self.ended:
            return size
        try:
            return super().write(content) or 0
        except OSError as error:
            self.ended = True
            if self.silent or error.errno in CLOSED:
                return size
            raise OutputError(error.errno, error.strerror) from None


def guard_streams() -> None:
    """Let letters that an encoding lacks be written as escapes, and every write fail at most once."""
    sys.stdout = _guarded(sys.stdout, silent=False)
    # Where standard error cannot be written, no place is left for a message.
    sys.stderr = _guarded(sys.stderr, silent=True)


def _guarded(stream: Any, silent: bool) -> Any:
    if type(stream) is not io.TextIOWrapper:  # none at all, or one of somebody else's
        return stream
    stream.reconfigure(errors="backslashreplace")
    try:
        number = stream.fileno()
    except OSError:
        return stream
    if stream.isatty():
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Guarded(number, silent)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=silent,
    )

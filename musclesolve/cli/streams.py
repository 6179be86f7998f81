"""Standard output and error without tracebacks: closed pipes, full disks, narrow encodings."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

CLOSED = {errno.EPIPE, errno.ESHUTDOWN} | ({errno.EINVAL} if os.name == "nt" else set())
"""Error numbers of writing to a closed pipe."""


class OutputError(OSError):
    """Standard output cannot be written, as on a full disk."""


class _Guarded(io.FileIO):
    """A file descriptor that drops all output after the first failed write.

    A reader that has closed the pipe, such as `head`, is no error.
    """

    def __init__(self, number: int, silent: bool) -> None:
        super().__init__(number, "wb", closefd=False)
        self.silent, self.ended = silent, False

    def write(self, content: Any, /) -> int:
        """Write all of it; nothing once a write has failed."""
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
    """Write characters that the encoding lacks as escapes, and let writing fail at most once."""
    sys.stdout = _guarded(sys.stdout, silent=False)
    # Where standard error cannot be written, there is no place for a message.
    sys.stderr = _guarded(sys.stderr, silent=True)


def _guarded(stream: Any, silent: bool) -> Any:
    if type(stream) is not io.TextIOWrapper:  # none, or one that a caller has replaced
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

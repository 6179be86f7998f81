"""The process of a command: environment variables, a short start, and streams that end in no traceback.

Standard output and error may be closed pipes, full disks or of a narrow encoding.
"""

import errno
import gc
import io
import logging
import os
import sys
from typing import Any

from musclesolve._util.processes import collect_rarely, one_blas_thread

MOST_DIGITS = 11
"""Largest number of digits that fits a machine integer of a library."""

LOG = logging.getLogger("musclesolve")


WITHOUT_TABLES = ("check", "compare", "demo", "picture", "report", "run", "share")
"""Commands that write no tables in columns (Parquet)."""


def prepare() -> None:
    """Set up a command before numpy, numba, xarray or matplotlib are imported; a library leaves this to its user."""
    collect_rarely()
    one_blas_thread()
    # xarray imports dask.array, and pandas pyarrow, wherever they are installed: a quarter and a fifteenth of a second.
    needed = {
        "dask": any(word.startswith("--scheduler") for word in sys.argv),
        "pyarrow": not any(word in WITHOUT_TABLES for word in sys.argv[1:2]),
    }
    for name in needed:
        if not needed[name]:
            sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # None reads as "not installed"
    correct_variables()


def finish() -> None:
    """Skip the last collections of cyclic garbage: the operating system takes the memory back anyway.

    In a program that has called `main` dask and pyarrow can be imported again.
    """
    gc.freeze()
    for name in ("dask", "pyarrow"):
        if sys.modules.get(name, LOG) is None:
            del sys.modules[name]


def correct_variables() -> None:
    """Ignore, with a warning, values on which libraries would fail."""
    # Figures go into files: no window is opened, whatever the environment requests.
    os.environ["MPLBACKEND"] = "agg"
    if os.environ.get("NUMBA_DISABLE_JIT", "").strip() not in ("", "0"):
        _ignore("NUMBA_DISABLE_JIT", "without its compiled kernel force sharing takes many times as long")
    for name, least in (("NUMBA_NUM_THREADS", 1), ("SOURCE_DATE_EPOCH", 0)):  # the other is read by numpy
        value = os.environ.get(name, str(least))
        if not (value.isdecimal() and value.isascii() and len(value) < MOST_DIGITS and int(value) >= least):
            _ignore(name, f"{value!r} is not an integer of at least {least}")


def _ignore(name: str, reason: str) -> None:
    LOG.warning("%s is ignored: %s", name, reason)
    del os.environ[name]


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

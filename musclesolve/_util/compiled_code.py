"""Functions compiled by numba once per machine and kept in its cache on disk."""

import atexit
import contextlib
import hashlib
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from pickle import PickleError
from subprocess import DEVNULL
from types import ModuleType
from typing import Any

import numba
import numpy as np
from llvmlite.binding import get_host_cpu_name  # type: ignore[import-untyped]
from numba import njit, types

from musclesolve._util.locks import Lock, OneThread
from musclesolve._util.processes import cores

LOG = logging.getLogger("musclesolve")

JOINS = ("0.61", "0.62", "0.63", "0.64", "0.65", "0.66", "0.67", "0.68", "0.69")
"""Versions of numba whose insides `joined_compilation` knows."""
try:
    if not numba.__version__.startswith(JOINS):
        raise ImportError(f"numba {numba.__version__}")
    from musclesolve._util.joined_compilation import PartCompiler, WholeCompiler, without_detours
except Exception:  # plain numba: half as much time again for the compilation, a tenth slower code
    PART, WHOLE = dict[str, Any](), dict[str, Any]()
    compiling: Callable[[], AbstractContextManager[None]] = nullcontext
else:
    PART, WHOLE = {"pipeline_class": PartCompiler}, {"pipeline_class": WholeCompiler}
    compiling = without_detours

DAMAGED = (
    *(PickleError, EOFError, AttributeError, ImportError, LookupError, TypeError, ValueError, OverflowError),
    *(MemoryError, RuntimeError),
)
"""Exceptions of numba for a cache file that is empty, truncated, or not a cache file."""

# No "_nrt": nothing is allocated in compiled code, so numba need not count references.
# No "nnan" or "ninf": numbers that broke down are recognized by not being finite.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
    "no_cfunc_wrapper": True,
}
IN_ORDER: dict[str, Any] = {"fastmath": {"contract", "nsz", "arcp"}}
"""Options in place of others: sums are not reordered."""

# for functions only called from compiled code: no entry point from Python, no array expressions to rewrite
WITHIN: dict[str, Any] = OPTIONS | {"no_cpython_wrapper": True, "no_rewrites": True, **PART}

WAIT = 0.1  # s between two looks whether another process has compiled
_COMPILING = OneThread()
_REPORTED: set[str] = set()
"""Log messages of compilations, one for all functions of a folder."""


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of those that call it."""
    return njit(**WITHIN)(function)


def compiled_in_order(function: Callable[..., Any]) -> Any:
    """Compile without reordering of sums, for sums so short that vectorizing costs more than it saves."""
    return njit(**(WITHIN | IN_ORDER))(function)


def compiled_for_some(function: Callable[..., Any]) -> Any:
    """Compile as `compiled_in_order` does, without what stands behind `if argument is None` where it is None."""
    return njit(**(WITHIN | IN_ORDER | {"no_rewrites": False}))(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Inline a function that is called once into its caller, before compilation."""
    return njit(inline="always", **WITHIN)(function)


def int64(number: int) -> Any:
    """A numpy integer: for a Python integer as an argument numba would compile the function again."""
    return np.int64(number)


_KINDS = dict(r=types.float64, f=types.float32, i=types.intp, s=types.int8, b=types.boolean, n=types.none)


def types_of(words: str) -> list[Any]:
    """The compiled types that words state: a kind (`_KINDS`), and of an array the number of its axes.

    "r2": real numbers in a table. Arrays are contiguous; "r2?" may be a read-only one, "r2:" any part of one.
    """
    stated = [(_KINDS[word[0]], word[1:].rstrip("?:"), word[-1]) for word in words.split()]
    return [
        types.Array(kind, int(axes), "A" if end == ":" else "C", readonly=end == "?") if axes else kind
        for kind, axes, end in stated
    ]


def tuple_of(kind: Any, words: str) -> types.NamedTuple:
    """The compiled type of a named tuple, whose fields have the types of some words."""
    return types.NamedTuple(types_of(words), kind)


def source_version(*sources: Path) -> str:
    """A hash of data that numba ignores: source files or folders, options of compilation, the processor."""
    files = [
        file for place in sources for file in (sorted(place.glob("*.py")) if place.is_dir() else [place])
    ]
    compilers = Path(__file__), Path(__file__).with_name("joined_compilation.py")
    content = b"".join(file.read_bytes() for file in (*files, *compilers))
    content += f"{numba.__version__} {get_host_cpu_name()}".encode()
    return hashlib.sha256(content).hexdigest()[:16]


class CompiledFunction:
    """A function with one signature, compiled when it is first needed.

    version: of its sources, part of the names of numba's cache files. message: for the log at a compilation.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: tuple[Any, ...],
        options: Mapping[str, Any],
        version: str,
        message: str,
    ) -> None:
        self.signature, self.message = signature, message
        self._file = f"{Path(function.__code__.co_filename).stem}.{function.__name__}_{version}"
        self.options = {**WHOLE, **options}
        self._loaded: Any = None
        # numba names its files after the module and the function: other sources, other files
        function.__qualname__ = function.__name__ = f"{function.__name__}_{version}"
        try:
            self.dispatcher = njit(cache=True, **self.options)(function)
        except RuntimeError:  # no folder for the cache
            self.dispatcher = njit(**self.options)(function)

    def is_kept(self) -> bool:
        """Return whether compiled code of this version is in the cache on disk, as it was written.

        A changed bit in machine code ends the process without a word: the code counts with its checksum alone.
        """
        if self.dispatcher.stats.cache_path is None or not any(self._files("-*.nbc")):
            return False
        try:
            return self._seal().read_text(encoding="ascii") == self._checksum()
        except (OSError, ValueError):
            return False

    def _seal(self) -> Path:
        """The file with the checksum of the compiled code."""
        return Path(self.dispatcher.stats.cache_path) / f"{self._file}.sha256"

    def _checksum(self) -> str:
        return hashlib.sha256(
            b"".join(file.read_bytes() for file in sorted(self._files("-*.nb[ci]")))
        ).hexdigest()

    def _compile(self) -> None:
        """Compile, without what lies in the cache, and keep the code with its checksum."""
        for file in (*self._files("-*.nb[ci]"), *self._files(".sha256")):
            file.unlink(missing_ok=True)
        self.dispatcher.compile(self.signature)
        if self.dispatcher.stats.cache_path is not None:
            self._seal().write_text(self._checksum(), encoding="ascii")

    def stays_in_memory(self) -> bool:
        """Return whether compiled code is not stored on disk: no folder, or NUMBA_DISABLE_JIT."""
        return not hasattr(self.dispatcher, "compile") or self.dispatcher.stats.cache_path is None

    def report(self) -> None:
        """Log that the functions of a folder are compiled, once."""
        if self.message not in _REPORTED:
            _REPORTED.add(self.message)
            LOG.warning(self.message)

    def _warn(self, why: str) -> None:
        LOG.warning("compiled code on this disk cannot be read (%s): %s", why, self.message)

    def _files(self, ending: str) -> list[Path]:
        if self.dispatcher.stats.cache_path is None:
            return []
        return list(Path(self.dispatcher.stats.cache_path).glob(f"{self._file}{ending}"))

    def load(self) -> Any:
        """The function from the cache, or compiled now by one thread if the cache is missing, damaged or read-only."""
        if self._loaded is None:
            with _COMPILING, compiling():
                if self._loaded is None:
                    self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        if not hasattr(self.dispatcher, "compile"):  # NUMBA_DISABLE_JIT
            return self.dispatcher
        with nullcontext() if self.is_kept() else self._alone():
            kept = self.is_kept()
            if (
                not kept and self._files("-*.nbc") and self._files(".sha256")
            ):  # no seal: its compilation was cut short
                self._warn("its checksum is another one")
            elif not kept:
                self.report()
            try:
                if not kept:
                    self._compile()
                elif not self._from_disk():
                    self.dispatcher.compile(self.signature)
            except OSError:  # the folder exists, but is not writable
                return self._in_memory()
            except DAMAGED as error:
                self._warn(type(error).__name__)
                try:
                    self._compile()
                except OSError:
                    return self._in_memory()
        self.dispatcher.disable_compile()
        return self.dispatcher

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other process compiles this function: two that write one file spoil its checksum."""
        lock = None
        if self.dispatcher.stats.cache_path is not None:
            with contextlib.suppress(OSError):  # a folder that is not writable
                while (
                    lock := Lock.acquire(
                        Path(self.dispatcher.stats.cache_path) / f"compiling.{self._file}.lock"
                    )
                ) is None:
                    self.report()
                    time.sleep(WAIT)
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def _from_disk(self) -> bool:
        """Load machine code without numba's rules of compilation for every known function and type.

        They take several times as long as the code. Returns whether it was loaded: where the insides of numba differ
        from these, numba loads it its own way.
        """
        try:
            from numba.core.compiler_lock import global_compiler_lock
            from numba.core.runtime import rtsys

            target = self.dispatcher.targetctx
            with global_compiler_lock:
                rtsys.initialize(target)  # the C functions that take arrays from Python
                overload = self.dispatcher._cache._load_overload(self.signature, target)
                if overload is not None:
                    self.dispatcher.add_overload(overload)
        except DAMAGED:
            return False
        return overload is not None

    def _in_memory(self) -> Any:
        run = njit(**self.options)(self.dispatcher.py_func)
        run.compile(self.signature)
        run.disable_compile()
        return run


def compile_beside(module: ModuleType, *names: str, outlives: bool = False) -> subprocess.Popen[bytes] | None:
    """Begin to compile functions of a module in one more process; None where no process can, or all code is kept.

    numba compiles one function at a time: a second process uses the second core. `load` waits for the function that
    it compiles then, and compiles what it has not begun. It ends with this process unless it outlives it.
    """
    functions: list[CompiledFunction] = [vars(module)[name] for name in names]
    if any(each.stays_in_memory() for each in functions) or cores() < 2:
        return None
    if all(each.is_kept() for each in functions):
        return None
    functions[0].report()
    loads = "; ".join(f"module.{name}.load()" for name in names)
    code = f"import sys; sys.path[:] = {sys.path!r}; import {module.__name__} as module; {loads}"
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=outlives,
        )
    except OSError:  # no more processes: compiled by this one, when it is needed
        return None
    if not outlives:
        atexit.register(process.terminate)
    return process


def on_disk(
    message: str, *sources: Path, options: Mapping[str, Any] = OPTIONS
) -> Callable[..., CompiledFunction]:
    """The maker of the compiled functions of some source files or folders.

    It takes a function and the types of its arguments, some of them as words of `types_of`.
    """
    version = source_version(*sources)

    def make(function: Callable[..., Any], *signature: Any) -> CompiledFunction:
        kinds = [types_of(part) if isinstance(part, str) else [part] for part in signature]
        return CompiledFunction(function, tuple(chain.from_iterable(kinds)), options, version, message)

    return make

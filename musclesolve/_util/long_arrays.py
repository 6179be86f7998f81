"""Arrays of long motions in temporary files that are mapped into memory, so that few pages are there at a time.

Pages that a process has used count as its memory until `let_go` hands them back to the operating system. Blocks of
frames do so where they take more than `ROOM`, as often as `LOOK` allows, and a thread does so whatever else uses them.
Their numbers stay in the file and are read again when they are needed. The file has no name and ends with its arrays.
Its space on the disk is reserved before an array is made; where there is none, or no such file is possible, arrays lie
in memory.
"""

import ctypes
import mmap
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from math import inf, prod
from threading import Thread
from time import monotonic, sleep
from typing import Any, TypeVar, cast

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve._util.locks import OneThread

Item = TypeVar("Item")
Values = TypeVar("Values", AnyArray, tuple[AnyArray, ...])

LARGE, BEGINS = 1 << 19, 4
"""Size from which an array lies in a file [bytes], and how many times larger one begins a file: a walk needs none."""
FILE = 1 << 30
"""Size of a file, of which the part that arrays use is on the disk [bytes]."""
FOLDER = "/var/tmp"
"""Folder of the files unless the environment names one (TMPDIR): /tmp lies in memory on some machines."""
BLOCK = 500
"""Number of frames in a block."""
MOST_FRAMES = 4096
"""Largest number of frames of which everything is held in memory together."""
ROOM = 48 << 20
"""Size of the pages of files in memory, beside the program, from which they are handed back [bytes]."""
LOOK, WATCH = 0.0005, 0.02
"""Time after which the pages in memory are counted again after a block, and by the thread [s]."""
FREED = 32 << 20
"""Growth of the other memory after which what is free of it is handed back, too [bytes]: the C library keeps it."""
MAP_FIXED = 0x10
"""Flag of mmap on Linux: at this address, in the place of what is there."""


class _Pages(mmap.mmap):
    """The pages of a file, of which the first `used` bytes belong to arrays."""

    descriptor: int
    used: int
    counted = -inf
    """Time at which the pages of all files were counted last [s]."""
    beside = inf
    """Size of the pages of other files in memory, such as the program [bytes]."""
    others = inf
    """Least size of the other memory since free memory was handed back [bytes]."""

    def reserved(self, size: int) -> int | None:
        """The place of an array of some bytes after the others; None where the file ends."""
        place = -(-self.used // mmap.PAGESIZE) * mmap.PAGESIZE
        if place + size > len(self):
            return None
        os.posix_fallocate(self.descriptor, place, size)
        self.used = place + size
        return place


_LOCK, _FILES = OneThread(), weakref.WeakSet[_Pages]()
_WATCHES = list[Thread]()


def _as_copies() -> None:
    """Map the arrays of a forked process anew: it writes into copies, as into its other memory, and in own files."""
    map_at = ctypes.CDLL(None).mmap
    map_at.restype = ctypes.c_void_p
    for pages in tuple(_FILES):
        address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        fixed, use = mmap.MAP_PRIVATE | MAP_FIXED, mmap.PROT_READ | mmap.PROT_WRITE
        size, place = ctypes.c_size_t(len(pages)), ctypes.c_long(0)
        if map_at(ctypes.c_void_p(address), size, use, fixed, pages.descriptor, place) != address:
            os._exit(1)  # the arrays of the other process would change
    _FILES.clear()
    _WATCHES.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_as_copies)


def long_array(shape: tuple[int, ...], dtype: Any = float) -> AnyArray:
    """An array of zeros, which lies in a file if it is large (`LARGE`)."""
    size = prod(shape) * np.dtype(dtype).itemsize
    large = size >= (LARGE if _FILES else BEGINS * LARGE)
    if large and hasattr(os, "posix_fallocate") and hasattr(mmap, "MADV_DONTNEED"):
        with suppress(OSError, RuntimeError), _LOCK:
            places = ((pages, pages.reserved(size)) for pages in tuple(_FILES))
            pages, place = next((one for one in places if one[1] is not None), (None, None))
            if pages is None or place is None:
                pages = _new_file(max(size, FILE))
                place = pages.reserved(size)
            return np.ndarray(shape, dtype, pages, place or 0)
    return np.zeros(shape, dtype)


def unknown(shape: tuple[int, ...], dtype: Any = float) -> AnyArray:
    """An array of NaN, which lies in a file as a `long_array`."""
    values = long_array(shape, dtype)
    values.fill(np.nan)
    return values


def in_files(value: Item, moved: dict[int, Any] | None = None) -> Item:
    """A value whose large arrays move into files, at any depth: it stays while others are computed.

    Its dataclasses and dictionaries stay and refer to the moved arrays; tuples and lists with arrays are made anew.
    Views stay views of one array, in the same order in memory. An array to which others refer stays in memory, too.
    moved: arrays in files, each with the array in memory, by the number (`id`) of the array in memory.
    """
    if moved is None:
        return in_files(value, {}) if _FILES else value
    if isinstance(value, np.ndarray) and type(value) is np.ndarray:
        return cast(Item, _moved(value, moved))
    if isinstance(value, tuple | list):
        parts = [in_files(part, moved) for part in value]
        if any(old is not new for old, new in zip(value, parts, strict=True)):
            return cast(Item, type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts))
    elif isinstance(value, dict) or (is_dataclass(value) and hasattr(value, "__dict__")):
        if id(value) not in moved and not isinstance(value, type):
            moved[id(value)] = value, value
            named = value if isinstance(value, dict) else vars(value)
            for name, part in named.items():
                named[name] = in_files(part, moved)
    return value


def _moved(array: AnyArray, moved: dict[int, Any]) -> AnyArray:
    """The array in a file, or itself: one that is small, is in a file or belongs to something else than numpy."""
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    if whole.base is not None or whole.nbytes < LARGE or whole.dtype.hasobject or not whole.flags.forc:
        return array
    if id(whole) not in moved:
        moved[id(whole)] = whole, long_array((whole.nbytes,), np.uint8)
        moved[id(whole)][1][:] = whole.ravel("K").view(np.uint8)
    place = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    view = np.ndarray(array.shape, array.dtype, moved[id(whole)][1], place, array.strides)
    view.flags.writeable = array.flags.writeable
    return view


def _new_file(size: int) -> _Pages:
    """A file without arrays, which is not yet on the disk."""
    file = tempfile.TemporaryFile(dir=os.environ.get("TMPDIR", FOLDER))
    try:
        os.truncate(file.fileno(), size)
        pages = _Pages(file.fileno(), size)
    except OSError:
        file.close()
        raise
    pages.descriptor, pages.used = file.fileno(), 0
    _Pages.beside = min(_Pages.beside, _in_memory()[0])
    weakref.finalize(pages, file.close)
    _FILES.add(pages)
    if not _WATCHES:
        _WATCHES.append(Thread(target=_watch, daemon=True))
        _WATCHES[0].start()
    return pages


def _watch() -> None:
    """Hand pages back from time to time, until there are no files."""
    while True:
        sleep(WATCH)
        let_go()
        with _LOCK:
            if not _FILES:
                return _WATCHES.clear()


def let_go() -> None:
    """Hand the pages of all long arrays back to the operating system if they are many; their numbers do not change."""
    if not _FILES or monotonic() < _Pages.counted + LOOK:
        return
    with _LOCK:
        files, _Pages.counted = tuple(_FILES), monotonic()
    mapped, others = _in_memory()
    if mapped >= ROOM + _Pages.beside:
        for pages in files:
            pages.madvise(mmap.MADV_DONTNEED)
        _Pages.beside = _in_memory()[0]
    if others > _Pages.others + FREED:
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
        _Pages.others = _in_memory()[1]
    _Pages.others = min(_Pages.others, others)


def _in_memory() -> tuple[float, float]:
    """Size of what the process has in memory [bytes]: the pages of all files, the program among them, and the rest."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:
            whole, mapped = (float(pages) * mmap.PAGESIZE for pages in file.read().split()[1:3])
            return mapped, whole - mapped
    except OSError:
        return inf, 0.0  # not known on this system: as if there were many


def blocks(frames: int, size: int = BLOCK) -> Iterator[slice]:
    """Slices that cover all frames, at least one; the pages of long arrays are let go after each."""
    for first in range(0, max(frames, 1), size):
        yield slice(first, first + size)
        let_go()


def in_memory(frames: AnyArray) -> AnyArray:
    """A copy of some frames (F, m, ...), row by row: where frames are last, they lie on pages of all m rows."""
    copied = np.empty(frames.shape, frames.dtype)
    for row in range(frames.shape[1]):
        copied[:, row] = frames[:, row]
        let_go()
    return copied


def sum_of(function: Callable[..., AnyArray], *arrays: AnyArray) -> AnyArray:
    """Sum (...) over the frames of what a function returns (T, ...), by blocks, in the order of `numpy.sum`."""
    total = np.zeros(1)
    for part in blocks(len(arrays[0])):
        values = function(*(array[part] for array in arrays))
        total = np.add.reduce(np.concatenate([np.broadcast_to(total, (1, *values.shape[1:])), values]))
    return total


def in_blocks(function: Callable[..., Values], *arrays: AnyArray) -> Values:
    """Values of a function of arrays (T, ...) whose frames do not depend on each other, computed block by block.

    The work arrays of the function are then as small as a block, however long the motion is. A function may return
    several arrays.
    """
    frames, whole = len(arrays[0]), list[AnyArray]()

    def unfilled(values: AnyArray) -> AnyArray:
        return long_array((frames, *values.shape[1:]), values.dtype)

    if frames <= BLOCK:
        return function(*(array[:] for array in arrays))
    for part in blocks(frames):
        values = function(*(array[part] for array in arrays))
        several: tuple[AnyArray, ...] = values if isinstance(values, tuple) else (values,)
        whole = whole or list(map(unfilled, several))
        for every, some in zip(whole, several, strict=True):
            every[part] = some
    return cast(Values, tuple(whole) if isinstance(values, tuple) else whole[0])

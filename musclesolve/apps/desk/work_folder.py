"""The folder that the desk works in: recordings that are brought to it, and nothing outside it.

Whatever comes from a browser is a name and bytes. A name is taken where it is the plain name of a recording, and
refused otherwise; bytes are counted as they are written, so that neither an endless upload nor a small archive that
unpacks to a large one fills the disk.

Each recording is read once, until it changes.
"""

import filecmp
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from muscle_db.regular_file import file_state
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.laboratory.files.formats import read_markers
from musclesolve.laboratory.results.files.atomic_writing import written_whole
from musclesolve.tables.sampled import Markers
from musclesolve.tables.text_file import OPENSIM, PACKED, RECORDED

RECORDINGS = (*RECORDED, PACKED, *OPENSIM)
"""Endings of files that belong to a trial."""
RESULTS = "results"
"""Folder of all results, in the folder of the desk."""
ARCHIVE = ".zip"
LARGEST = 1 << 30
"""Bytes of one upload, and of all that an archive holds once it is unpacked."""
MOST_FILES = 500
"""In an archive."""
LONGEST_NAME = 150
RESERVED = frozenset('<>:"/\\|?*')
"""Signs that some system does not allow in a name."""
CHUNK = 1 << 20
SLIP = 0.8
"""Likeness (`difflib`) of the names of a new folder and of one that is there above which it may be a slip."""
UNREADABLE = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    zlib.error,
)
"""What `zipfile` raises on archives that are damaged, of another method, or locked by a password."""


class WorkFolder:
    """A folder of recordings: what is brought to it is checked first.

    Args:
        folder: made if missing, unless its name is a slip of the name of one that is there; the folder above it is not.
    """

    def __init__(self, folder: Path) -> None:
        meant = None if folder.exists() else _meant(folder)
        if meant is not None:
            raise file_error(
                "missing_file",
                folder,
                "there is no such folder",
                "a folder that is there, or a new name unlike the names of the others",
                f"was {meant} meant? Otherwise make the folder first: mkdir {folder}",
            )
        try:
            folder.mkdir(exist_ok=True)
            self.path = folder.resolve(strict=True)
        except OSError as error:
            why = "this is a file" if folder.is_file() else error.strerror or error
            raise file_error(
                "not_writable",
                folder,
                f"the folder cannot be used: {why}",
                "a folder with recordings, or a new one",
                "name another folder: musclesolve desk FOLDER",
            ) from error

    def inside(self, name: str) -> Path:
        """The path of a file in the folder or below it."""
        try:
            path = (self.path / name).resolve()
            if path != self.path and path.is_relative_to(self.path):
                return path
        except (OSError, ValueError, RuntimeError):  # such as a null sign, or links in a circle
            pass
        raise file_error(
            "bad_path", self.path, f"{name!r:.200} is not in the folder of the desk", "a file in this folder"
        )

    def bring(self, name: str, source: Path) -> list[str]:
        """Copy a file into the folder, or the files of an archive; all of them, or none. Returns their names.

        Args:
            name: as the browser states it.
            source: where its bytes are now.
        """
        checked_name(name, (*RECORDINGS, ARCHIVE))
        with tempfile.TemporaryDirectory(prefix="musclesolve-") as held:
            if name.lower().endswith(ARCHIVE):
                brought = list(_unpacked(name, source, Path(held)))
            else:
                if source.stat().st_size > LARGEST:
                    raise too_large(name)
                brought = [source]
            names = [name] if brought == [source] else [file.name for file in brought]
            for file, path in zip(names, brought, strict=True):
                there = self.path / file
                if there.is_dir() or (there.is_file() and not filecmp.cmp(there, path, shallow=False)):
                    raise file_error(
                        "occupied_folder",
                        there,
                        "there is a file of this name with other content",
                        "a new name, or the same file",
                        "rename the file before you bring it, or remove the one that is there",
                    )
            for file, path in zip(names, brought, strict=True):
                if not (self.path / file).exists():
                    with written_whole(self.path / file) as part:
                        shutil.copyfile(path, part)
        return names


def _meant(folder: Path) -> Path | None:
    """The folder that a new one is a slip of: of a like name with the same numbers; None where there is none."""
    try:
        there = [path.name for path in folder.parent.iterdir() if path.is_dir()]
    except OSError:
        return None
    digits = re.findall(r"\d+", folder.name)
    near = get_close_matches(folder.name, there, cutoff=SLIP)
    alike = [name for name in near if re.findall(r"\d+", name) == digits]
    return folder.parent / alike[0] if alike else None


def checked_name(name: str, endings: tuple[str, ...] = RECORDINGS) -> str:
    """A name that any system can store, of a file that belongs to a trial."""
    if not name or name != name.strip(" .") or len(name.encode(errors="replace")) > LONGEST_NAME:
        expected = f"1 to {LONGEST_NAME} characters, no blank or period at either end"
        raise refused("bad_name", name, "not a name for a file", expected)
    if odd := sorted({sign for sign in name if sign in RESERVED or not sign.isprintable()}):
        what = f"a name with {' '.join(map(repr, odd))[:60]}"
        raise refused("bad_name", name, what, "a name without folders and such signs")
    if not name.lower().endswith(endings):
        what = "not a kind of file that belongs to a trial"
        raise refused("bad_name", name, what, ", ".join(endings))
    return name


def refused(code: str, name: str, what: str, expected: str, remedy: str | None = None) -> InputError:
    """The error of an upload that is refused."""
    problem = f"{name!r:.120}: {what}"
    return input_error(code, where="upload", problem=problem, expected=expected, remedy=remedy)


def too_large(name: str) -> InputError:
    """The error of an upload that is larger than any recording."""
    remedy = "copy it into the folder yourself, if it is one"
    return refused("too_large", name, f"larger than {LARGEST >> 20} MB", "recordings of one subject", remedy)


def _unpacked(name: str, source: Path, folder: Path) -> Iterator[Path]:
    """Unpack the recordings of an archive, without its folders; no more bytes are read than it states."""
    try:
        with zipfile.ZipFile(source) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            recordings = [entry for entry in entries if entry.filename.lower().endswith(RECORDINGS)]
            if sum(entry.file_size for entry in recordings) > LARGEST:
                raise too_large(name)
            if len(entries) > MOST_FILES:
                raise refused("bad_archive", name, f"it holds {len(entries)} files", f"{MOST_FILES} at most")
            for entry in entries:
                path = PurePosixPath(entry.filename.replace("\\", "/"))
                if path.is_absolute() or ".." in path.parts or stat.S_ISLNK(entry.external_attr >> 16):
                    what = f"it holds {entry.filename!r:.80}, which leads out of it"
                    raise refused("bad_archive", name, what, "files and folders")
                if not path.name.lower().endswith(RECORDINGS) or path.name.startswith((".", "__")):
                    continue
                target = folder / checked_name(path.name)
                if target.exists():
                    what = f"two files are called {path.name!r:.80}"
                    raise refused("bad_archive", name, what, "each name once")
                with archive.open(entry) as packed, target.open("wb") as out:
                    shutil.copyfileobj(packed, out, CHUNK)
                yield target
    except InputError:
        raise
    except UNREADABLE as error:
        what, expected = f"it cannot be unpacked: {error}", "a zip archive without a password"
        raise refused("bad_archive", name, what, expected) from error


MOST_KEPT = 12
Stamp = dict[Path, tuple[int, int] | None]
"""Files with their `file_state`."""


class Recordings:
    """Marker recordings by their path; may be used from several threads at once."""

    def __init__(self) -> None:
        self._kept = dict[Path, tuple[Stamp, Markers | InputError]]()

    def markers(self, path: Path) -> Markers:
        """The markers of a file, as `read_markers` returns them; read where the file is new or has changed."""
        known = self.known(path)
        if known is None:
            stamp = _stamp((path,))
            try:
                known = read_markers(path)
                stamp = _stamp((path, *known.sources))
            except InputError as error:
                known = error
            # a new one, for other threads read the present one
            others = [item for item in self._kept.items() if item[0] != path]
            self._kept = dict([*others, (path, (stamp, known))][-MOST_KEPT:])
        if isinstance(known, InputError):
            raise known
        return known

    def known(self, path: Path) -> Markers | InputError | None:
        """The markers of a file or the error that refuses it; None where the file has to be read for them."""
        kept = self._kept.get(path)
        return kept[1] if kept is not None and _stamp(kept[0]) == kept[0] else None


def _stamp(paths: Iterable[Path]) -> Stamp:
    """The state of some files."""
    return {path: file_state(path) for path in paths}

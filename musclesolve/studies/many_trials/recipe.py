"""Recipe of a result: its inputs and options, which show whether it has to be computed again."""

import hashlib
import io
import json
import pickle
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import FunctionType
from typing import Any

import muscle_db
from muscle_db.regular_file import FileState, file_state
from musclesolve.constants import TRIAL_FILE
from musclesolve.plotting.page.page_style import PageStyle, current_style
from musclesolve.recording.data import AnyTrial
from musclesolve.recording.text.text_file import hash_of, name_in
from musclesolve.recording.trial.trial_file import named_hashes
from musclesolve.version import __version__

BUNDLED = Path(muscle_db.__file__).resolve().parent, Path(__file__).resolve().parents[2]
"""Folders of the program, whose files the version identifies."""
CHANGED = "changed"
"""In place of the hash of a file that changed after it was opened."""
ATTRIBUTE = "recipe"
"""Name of the attribute of result.nc: JSON with version, options, hash of every input file, names of all outputs."""


def input_hashes(trial: AnyTrial) -> dict[str, str]:
    """Hash of every file of a trial as it was read, by its path from the folder of the trial file."""
    return dict(named_hashes(trial).values())


def opened_hashes(opened: Mapping[Path, FileState], trial: Path) -> dict[str, str]:
    """Hash of every file that was opened for a trial, its `noted_files`, by its path from the folder of the trial file.

    Some of them only another input file names, such as the data of external loads.
    """
    folder = trial.resolve().parent
    return {
        name_in(folder, path.resolve()): hash_of(path) if file_state(path) == state else CHANGED
        for path, state in opened.items()
        if not any(path.resolve().is_relative_to(bundled) for bundled in BUNDLED)
    }


def settings_hash(content: Mapping[str, Any]) -> str:
    """Hash of the settings of a trial file on which its result depends: comments and [questions] do not matter."""
    settings = {table: values for table, values in content.items() if table != "questions"}
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def recipe(
    hashes: Mapping[str, str], settings: str, options: Mapping[str, object], written: Iterable[str]
) -> str:
    """JSON with version, options, `input_hashes`, `settings_hash`, and the names of the files with the result."""
    made = _choices(options) | {
        "files": dict(hashes),
        "settings": settings,
        "written": sorted(written),
        "page": _page(current_style()),
    }
    return json.dumps(made, sort_keys=True)


def is_current(text: str, trial: Path, folder: Path, options: Mapping[str, object], figures: bool) -> bool:
    """Return whether a result of this recipe is current: same version, options and contents of all input files.

    No file of the result may be missing in the folder, nor its figures, in the style in force, if they are wanted.
    """
    made = _read(text)
    return (
        {key: made.get(key) for key in ("version", "options")} == _choices(options)
        and not changed_inputs(made["files"], trial)
        and all((folder / name).is_file() for name in made["written"])
        and (not figures or _drawn(made.get("page", _page(PageStyle())), made["written"]))
    )


def _read(text: str) -> dict[str, Any]:
    """The parts of the JSON of a recipe; empty without any."""
    try:
        made = json.loads(text)
    except ValueError:
        return {}
    return (
        made if isinstance(made, dict) and {"files", "written", "options", "settings"} <= made.keys() else {}
    )


def changed_inputs(files: Mapping[str, str], trial: Path) -> list[str]:
    """The names of the files of a trial that differ from the files of `input_hashes`."""
    # These are all files of the trial: a trial file that names others has another hash itself.
    names = [name for name, sha in files.items() if hash_of(trial.resolve().parent / name) != sha]
    return names if trial.name in files else [trial.name, *names]


def hashed_files(text: str) -> dict[str, str]:
    """The `input_hashes` in the JSON of a recipe; empty without any."""
    return dict(_read(text).get("files", {}))


def inputs_hash(text: str) -> str:
    """One hash of the contents of the recordings in the JSON of a recipe, whatever their names; "" without any.

    The trial file is not part of it: it names the recordings from the folder of the results.
    """
    hashes = sorted(sha for name, sha in hashed_files(text).items() if not name.endswith(TRIAL_FILE))
    return hashlib.sha256("".join(hashes).encode()).hexdigest()[:16] if hashes else ""


def has_settings(text: str, content: Mapping[str, Any]) -> bool:
    """Return whether the result of a recipe belongs to the settings of a trial file as they are."""
    return bool(_read(text).get("settings") == settings_hash(content))


def options_in(text: str) -> dict[str, Any]:
    """The options in the JSON of a recipe, except objects; empty without any."""
    options = _read(text).get("options", {})
    return {key: value for key, value in options.items() if " sha256:" not in str(value)}


def _drawn(page: dict[str, Any], written: list[str]) -> bool:
    """Whether figures were written, in the style in force."""
    return page == _page(current_style()) and any(name.endswith(page["file_format"]) for name in written)


def _page(style: PageStyle) -> dict[str, Any]:
    """The style of figures in the form of JSON."""
    page: dict[str, Any] = json.loads(json.dumps(asdict(style)))
    return page


def _choices(options: Mapping[str, object]) -> dict[str, Any]:
    return {"version": __version__, "options": {key: _plain(value) for key, value in options.items()}}


def _plain(value: object) -> object:
    """An option in the form of JSON; an object, such as a cost, by name, content and its code."""
    if value is None or isinstance(value, str | int | float):
        return value
    content = io.BytesIO()
    pickler = _Pickler(content)
    pickler.dump(pickle.loads(pickle.dumps(value)))  # which objects of it are one object does not count
    parts = [content.getvalue(), *(file.read_bytes() for file in pickler.sources())]
    sha = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return f"{getattr(value, 'label', type(value).__name__)} sha256:{sha}"


class _Pickler(pickle.Pickler):
    """A pickler that stores the modules of pickled classes and functions: a pickle has only their names."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.modules: set[str] = set()

    def reducer_override(self, thing: object) -> Any:
        """Store the module; pickle as usual."""
        if isinstance(thing, type | FunctionType):
            self.modules.add(thing.__module__)
        return NotImplemented

    def sources(self) -> list[Path]:
        """Files of the stored modules, except files of musclesolve, which the version identifies."""
        others = sorted(name for name in self.modules if name.partition(".")[0] != "musclesolve")
        files = (getattr(sys.modules.get(name), "__file__", None) for name in others)
        return [Path(file) for file in files if file]

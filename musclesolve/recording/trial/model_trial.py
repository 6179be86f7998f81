"""Trial files of OpenSim models: a model, its coordinates, and its joint moments or the loads on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from musclesolve.errors import InputError
from musclesolve.recording.data import Emg, Fascicles, SharingOptions
from musclesolve.recording.schema import Document, described_keys, trial_document, trial_keys, validated
from musclesolve.recording.trial.emg_channels import read_emg
from musclesolve.recording.trial.fascicle_lengths import read_fascicles
from musclesolve.recording.trial.settings import (
    check_strain,
    errors_of,
    muscle_files,
    sharing_of,
    stated_cycles,
)

MODEL_FILES = frozenset({"model", "coordinates", "moments", "loads"})
"""Files that only the trial of a model has."""
SHARED_TABLES = ("time", "knee", "emg", "fascicle", "uncertainty")
"""Tables that are those of the trial files of recordings."""


@dataclass(frozen=True)
class ModelTrial:
    """What the trial file of an OpenSim model names and asks for; the files themselves are read with the model.

    Args:
        model, coordinates: files.
        moments, loads: one of these files.
        passive: "table" or "none"; tendon: "rigid" or "elastic"; tendon_strain: see `ModelOptions`.
        muscles: their names; None: all that act on the shared coordinates.
        database: file of one person's muscles; None: the muscles of the model as they are.
        sharing: force-sharing options.
        cutoff_hz: of the filter of the coordinates; None without one.
        start_s, end_s: of the analysed range [s]; None: as far as the files go.
        emg: measured signals of muscles; None without [emg].
        fascicles: measured fascicle lengths; None without [fascicle].
        uncertainty: standard deviations that the trial file gives, by its keys and in its units.
        contact_spacing: distance of the medial and the lateral contact of a knee [m]; None: by the length of the shank.
        files: role -> path, for provenance.
        hashes: role -> SHA-256 of these files when `read_trial` read the trial file.
        notes: sentences a reader of the results should see.
        movement: what the file says that the subject does; None where it does not say it.
        cycles: beginning and end of each cycle of the movement [s], where the file gives them.
        feet: "stated" or "nearest"; see `read_external_loads`.
    """

    document: Document
    model: Path
    coordinates: Path
    moments: Path | None
    loads: Path | None
    passive: str
    tendon: str
    tendon_strain: float | dict[str, float] | None
    muscles: tuple[str, ...] | None
    sharing: SharingOptions
    cutoff_hz: float | None
    start_s: float | None
    end_s: float | None
    emg: Emg | None = None
    fascicles: Fascicles | None = None
    uncertainty: Mapping[str, float] = field(default_factory=dict)
    contact_spacing: float | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    movement: str | None = None
    cycles: tuple[tuple[float, float], ...] = ()
    database: Path | None = None
    feet: str = "stated"

    @property
    def path(self) -> Path:
        """Path of the trial file."""
        return self.document.path

    def __repr__(self) -> str:
        """Path, model and coordinates in a line."""
        return f"<ModelTrial {str(self.path)!r}: {self.model.name}, {self.coordinates.name}>"


def is_model_trial(content: Mapping[str, Any]) -> bool:
    """Whether the tables of a trial file name an OpenSim model instead of recorded markers."""
    files = content.get("files")
    return isinstance(files, dict) and "markers" not in files and not MODEL_FILES.isdisjoint(files)


def names_model(path: Path) -> bool:
    """Whether a file is the trial file of an OpenSim model; not of what cannot be read."""
    try:
        return is_model_trial(trial_document(path).content)
    except InputError:
        return False


def named_files(document: Document, content: Mapping[str, Any]) -> dict[str, Path]:
    """Return role -> file, of the files that [files] names."""
    named = [(role, name) for role, name in content["files"].items() if name is not None]
    return {role: document.input_file("files", role, name) for role, name in named}


def read_model_trial(path: Path) -> ModelTrial:
    """Read the trial file of an OpenSim model, and its EMG and fascicle lengths.

    Raises:
        InputError: anything that is missing, contradictory or out of its range, with the place.
    """
    keys = described_keys("model_keys.toml") | {name: trial_keys()[name] for name in SHARED_TABLES}
    document = trial_document(path, keys)
    content = validated(document)
    files = named_files(document, content)
    if ("moments" in files) == ("loads" in files):
        problem, key, code = "neither moments nor loads are named", None, "missing_key"
        if "moments" in files:
            problem, key, code = "both moments and loads are named", "loads", "conflict"
        expected = "joint moments, or the loads that they are computed from"
        remedy = 'name one of them: moments = "..." or loads = "..."'
        raise document.error(problem, "files", key, 0, expected, remedy, code=code)
    emg, notes = read_emg(document, content, files["coordinates"])
    if emg is not None:
        files["emg"] = emg.path
    fascicles, fascicle_notes = read_fascicles(document, content)
    if fascicles is not None:
        files["fascicles"] = fascicles.path
    database = content["muscles"]["database"]
    if database is not None:
        files |= muscle_files(document.input_file("muscles", "database", database))
    muscles, cutoff, time = content["muscles"], content["filter"]["cutoff_hz"], content["time"]
    check_strain(document, muscles["tendon_strain"])
    if None not in (time["start_s"], time["end_s"]) and not time["start_s"] < time["end_s"]:
        problem = f"the time range ends at {time['end_s']:g} s and begins at {time['start_s']:g} s"
        expected, remedy = "start_s before end_s", "exchange them, or leave one out"
        raise document.error(problem, "time", "end_s", 0, expected, remedy, code="bad_range")
    return ModelTrial(
        document=document,
        model=files["model"],
        coordinates=files["coordinates"],
        moments=files.get("moments"),
        loads=files.get("loads"),
        passive=muscles["passive"],
        tendon=muscles["tendon"],
        tendon_strain=muscles["tendon_strain"],
        muscles=None if muscles["names"] is None else tuple(muscles["names"]),
        sharing=sharing_of(content["sharing"]),
        cutoff_hz=None if cutoff == "none" else cutoff,
        start_s=time["start_s"],
        end_s=time["end_s"],
        emg=emg,
        fascicles=fascicles,
        uncertainty=errors_of(
            document, content["uncertainty"], "loads" if "loads" in files else "moments", database is not None
        ),
        contact_spacing=content["knee"]["contact_spacing_m"],
        files={"trial": document.path, **files},
        notes=(*notes, *fascicle_notes),
        movement=time["movement"],
        cycles=stated_cycles(time),
        database=files.get("muscles"),
        feet=content["plates"]["feet"],
    )

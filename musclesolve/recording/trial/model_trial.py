"""Trial files of OpenSim models: a model, its coordinates, and its joint moments or the loads on it."""

from dataclasses import dataclass
from pathlib import Path

from musclesolve.errors import InputError
from musclesolve.recording.data import AnyTrial
from musclesolve.recording.schema import Document, trial_document, validated
from musclesolve.recording.trial.muscle_signals import check_signals, read_emg, read_fascicles
from musclesolve.recording.trial.settings import check_errors, check_strain, muscle_files
from musclesolve.settings.trial import ModelSettings, TrialSettings, is_predicted


@dataclass(frozen=True, kw_only=True, repr=False)
class ModelTrial(AnyTrial):
    """Settings and file names in the trial file of an OpenSim model; the files are read with the model.

    Args:
        model, coordinates: files.
        moments, loads: one of these files; neither with predicted ground reactions.
    """

    settings: ModelSettings
    model: Path
    coordinates: Path
    moments: Path | None
    loads: Path | None

    def __repr__(self) -> str:
        """Path, model and coordinates in one line."""
        return f"<ModelTrial {str(self.path)!r}: {self.model.name}, {self.coordinates.name}>"


def names_model(path: Path) -> bool:
    """Return whether a file is the trial file of an OpenSim model; False for a file that cannot be read."""
    try:
        return trial_document(path).of_model
    except InputError:
        return False


def named_files(document: Document, settings: TrialSettings) -> dict[str, Path]:
    """Return role -> path of the files in [files]."""
    named = [(role, name) for role, name in settings.files.items() if name is not None]
    return {
        role: document.input_file("files", role, name)
        for role, name in named
        if not (role in ("forces", "loads") and is_predicted(name))
    }


def read_model_trial(document: Document) -> ModelTrial:
    """Read what the trial file of an OpenSim model names, its EMG and fascicle lengths."""
    settings = validated(document, ModelSettings)
    files = named_files(document, settings)
    with_loads = settings.files.loads is not None
    if ("moments" in files) == with_loads:
        problem, key, code = "neither moments nor loads are named", None, "missing_key"
        if with_loads:
            problem, key, code = "both moments and loads are named", "loads", "conflict"
        raise document.fault(
            code,
            ("files", key),
            problem,
            "joint moments, or the loads that they are computed from",
            'name one of them: moments = "..." or loads = "..."',
        )
    emg, notes = read_emg(document, settings, files["coordinates"])
    if emg is not None:
        check_signals(document, emg)
        files["emg"] = emg.path
    fascicles, fascicle_notes = read_fascicles(document, settings)
    if fascicles is not None:
        files["fascicles"] = fascicles.path
    database, time = settings.muscles.database, settings.time
    if database is not None:
        files |= muscle_files(document.input_file("muscles", "database", database))
        settings = settings.changed(muscles={"database": str(files["muscles"])})
    if settings.muscles.paths is not None:
        files["paths"] = document.input_file("muscles", "paths", settings.muscles.paths)
        settings = settings.changed(muscles={"paths": str(files["paths"])})
    check_strain(document, settings.muscles)
    if time.start_s is not None and time.end_s is not None and not time.start_s < time.end_s:
        raise document.fault(
            "bad_range",
            ("time", "end_s"),
            f"the time range ends at {time.end_s:g} s and begins at {time.start_s:g} s",
            "start_s before end_s",
            "exchange them, or leave one out",
        )
    body = "loads" if with_loads else "moments"
    check_errors(document, settings.uncertainty, body, database is not None, settings.files.predicted)
    return ModelTrial(
        document=document,
        settings=settings,
        model=files["model"],
        coordinates=files["coordinates"],
        moments=files.get("moments"),
        loads=files.get("loads"),
        emg=emg,
        fascicles=fascicles,
        files={"trial": document.path, **files},
        notes=(*notes, *fascicle_notes),
    )

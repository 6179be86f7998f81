"""Reading a trial file: the recordings, the subject, the marker mapping, what to compute, and the hash of each file.

The hash of a trial file is the SHA-256 of the parsed text. Recordings are hashed while they are read, or at the end of
`read_trial`; a file whose size or time of change has changed since it was opened is refused. The files of an OpenSim
model are read later, in the analysis: a warning states that a file changed during it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from muscle_db.regular_file import file_state
from musclesolve._util.arrays import Array
from musclesolve._util.messages import WarningNote
from musclesolve.constants import PREDICTED
from musclesolve.errors import file_error
from musclesolve.laboratory.files.c3d.c3d_file import is_c3d, read_c3d, stated_events
from musclesolve.laboratory.files.formats import Faults, Rows, read_forces_table, read_markers
from musclesolve.laboratory.markers.gaps.gap_filling import completed_trial, ghost_notes, without_ghosts
from musclesolve.laboratory.markers.landmarks import FUNCTIONAL
from musclesolve.laboratory.markers.marker_names import marker_sets
from musclesolve.laboratory.recording.axes import rotation_of, standing_axes
from musclesolve.laboratory.recording.data import (
    SIDE_NAMES,
    SIDES,
    AnyTrial,
    FunctionalTrials,
    PlateForce,
    Subject,
    Trial,
)
from musclesolve.laboratory.recording.trial_document import of_model, trial_document
from musclesolve.laboratory.recording.trial_settings import (
    AUTO,
    ModelSettings,
    RecordedSettings,
    TimeSettings,
    TrialSettings,
)
from musclesolve.laboratory.trial.dependent_settings import (
    check_consistency,
    check_errors,
    check_filter,
    check_strain,
    muscle_files,
    resolved,
    subject_notes,
    subject_of,
    with_stated_events,
)
from musclesolve.laboratory.trial.functional_trials import read_functional
from musclesolve.laboratory.trial.marker_mapping import MarkerMapping, read_marker_mapping
from musclesolve.laboratory.trial.muscle_signals import check_overlap, check_signals, read_emg, read_fascicles
from musclesolve.laboratory.trial.plates.foot_forces import (
    c3d_forces,
    corrected_plates,
    is_stated,
    plate_notes,
    plate_of,
    with_feet,
)
from musclesolve.laboratory.trial.plates.plate_checks import instant_notes, without_instants
from musclesolve.laboratory.trial.recording_checks import (
    check_in_space,
    check_trial,
    steady,
    with_arms_on_their_sides,
)
from musclesolve.laboratory.trial.time_range import finds_range, ranged, time_range_of, with_predicted_spans
from musclesolve.models.opensim.read_model import of_another_program
from musclesolve.models.settings import PREDICTED_NOTE, is_predicted, replaces_file
from musclesolve.models.simulated_body import is_simulated
from musclesolve.muscles.person import is_own_set, parent_of_person
from musclesolve.tables.document import Document, validated
from musclesolve.tables.lost_rows import with_lost_rows
from musclesolve.tables.sampled import Markers
from musclesolve.tables.text_file import file_path, hash_of, name_in, sha256


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


def named_files(document: Document, settings: TrialSettings) -> dict[str, Path]:
    """Return role -> path of the files in [files]."""
    named = [(role, name) for role, name in settings.files.items() if name is not None]
    return {
        role: document.input_file("files", role, name)
        for role, name in named
        if not ((role == "forces" and is_predicted(name)) or (role == "loads" and replaces_file(name)))
    }


def read_model_trial(document: Document) -> ModelTrial:
    """Read what the trial file of an OpenSim model names, its EMG and fascicle lengths."""
    settings = validated(document, ModelSettings)
    files = named_files(document, settings)
    if is_simulated(files["model"]):
        raise document.placed(of_another_program(files["model"]), "files", "model")
    if "moments" in files and settings.files.predicted:
        raise document.fault(
            "conflict",
            ("files", "loads"),
            "both moments and loads are named, and the loads are predicted",
            "joint moments, or the loads that they are computed from",
            'name one of them: moments = "..." or loads = "predicted"',
        )
    if "moments" not in files and settings.files.loads is None:
        raise document.fault(
            "missing_key",
            ("files", None),
            "neither moments nor loads are named",
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
    body = "moments" if "moments" in files else "loads"
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


SAME_DIAMETER = 0.0005
"""Difference of two stated marker diameters that is ignored [m]."""
WITHOUT_PARTS: dict[str, Any] = {"segments": None, "skeleton": None}
"""Keys of [subject], of segments and the skeleton, that are read separately from the rest after a fault."""


def read_trial(path: AnyTrial | str | Path) -> AnyTrial:
    """Read a trial file, of a recording or of an OpenSim model.

    The recordings that a trial file names are read and checked, too; the files of a model are read when the model is
    analyzed.

    Args:
        path: of the trial file; a trial is returned unchanged.

    Returns:
        The trial: `Trial` of a recording, `ModelTrial` of an OpenSim model.

    Raises:
        InputError: anything that is missing, contradictory or implausible, with the file and the place in it.

    Examples:
        >>> trial = ms.read_trial(ms.data.reference_stride())
        >>> trial.subject.mass                            # [kg]
        70.25
    """
    if isinstance(path, AnyTrial):
        return path
    return read_document(trial_document(file_path(path, "read_trial")))


def read_document(document: Document) -> AnyTrial:
    """Read the trial of the content of a trial file: `read_trial`."""
    named = document.content.get("files")
    if isinstance(named, dict) and {"markers", "model"} <= set(named):
        raise document.fault(
            "conflict",
            ("files", "model"),
            "both recorded markers and an OpenSim model are named",
            "markers and forces of a recording, or a model with its coordinates and moments or loads",
            'keep one of them; a model as muscle set of a recording is [muscles] database = "M.osim"',
        )
    if of_model(document):
        trial = read_model_trial(document)
        return replace(trial, hashes=hashes_as_read(trial))
    recorded, remarks = _recording(document)
    return as_read(recorded, examined=not remarks)


def read_standing(path: str | Path) -> Trial:
    """Read the trial file of a standing subject without checks of its plates."""
    return analysable(_recording(trial_document(Path(path)))[0], plates_tested=False)


def _recording(document: Document) -> tuple[Trial, bool]:
    """Return a recording with the content of its files, and whether a header states a wrong number of rows."""
    reader = TrialReader(document, validated(document, RecordedSettings))
    recorded = reader.trial()
    assert recorded is not None  # an error that prevents reading was raised
    return recorded, bool(reader.faults.found)


def as_read(recorded: Trial, examined: bool = True) -> Trial:
    """Return the trial of `read_trial` from a recording with the content of its files.

    examined: whether the recording is checked unchanged; otherwise its files are read again and repaired.
    """
    trial = analysable(recorded)
    trial = replace(trial, hashes=hashes_as_read(trial))
    object.__setattr__(trial, "recorded", recorded if examined else None)
    object.__setattr__(trial, "as_read", True)
    return trial


def analysable(trial: Trial, plates_tested: bool = True) -> Trial:
    """Return a recording with filled gaps and its analyzed range, after all checks."""
    document, settings = trial.document, trial.settings
    if trial.emg is not None:
        check_signals(document, trial.emg)
    trial, ghosts = without_ghosts(trial, settings.gaps)
    trial = ranged(replace(trial, notes=(*trial.notes, *ghost_notes(trial, ghosts))), settings)
    trial, completed = completed_trial(with_arms_on_their_sides(trial), settings.gaps)
    trial = replace(trial, notes=(*trial.notes, *(marker.sentence for marker in completed)))
    if plates_tested:
        trial = replace(trial, forces=tuple(without_instants(trial, plate) for plate in trial.forces))
        trial = replace(trial, notes=(*trial.notes, *instant_notes(trial)))
    trial = with_predicted_spans(trial, settings)
    check_trial(trial, document, plates_tested)
    for measured in (trial.emg, trial.fascicles):
        if measured is not None:
            check_overlap(document, measured, *trial.time_range)
    return trial


@dataclass
class TrialReader:
    """Reader of the files of a trial file, as recorded: without filled gaps and checks.

    document: the trial file. settings: with defaults; if faults are collected, settings at fault are replaced by
    substitutes. faults: collects or raises every fault. read: reader of the markers of a file.
    """

    document: Document
    settings: RecordedSettings
    faults: Faults = field(default_factory=Faults)
    read: Callable[[Path], Markers] = read_markers
    files: dict[str, Path] = field(default_factory=dict, init=False)
    rotation: Array = field(default_factory=lambda: np.eye(3), init=False)
    hashes: dict[str, str] = field(default_factory=dict, init=False)

    def trial(self) -> Trial | None:
        """Return the trial with everything that can be read; None without a motion."""
        document, faults = self.document, self.faults
        mapped = self.markers()
        files, settings = self.files, self.settings
        if mapped is None:
            # Without the feet, only the file of the forces can be checked.
            if "forces" in files and not is_c3d(files["forces"]):
                faults.rows(files["forces"], read_forces_table)
            return None
        walk, rotation = mapped.walk, self.rotation
        functional, keys = FunctionalTrials(), (*settings.files.items(), *settings.joint_centers.items())
        if any(value == FUNCTIONAL or key.startswith(FUNCTIONAL) for key, value in keys if value):
            functional = faults.attempt(
                "functional trials", functional, read_functional, document, settings, rotation, mapped
            )
        forces, force_notes = self._forces(mapped)
        uncorrected: tuple[tuple[PlateForce, ...], tuple[str, ...]] = (forces, ())
        forces, corrections = faults.attempt(
            "corrections of plates", uncorrected, corrected_plates, document, settings, forces, rotation
        )
        subject, diameter_notes = with_marker_diameter(document, self.subject(), mapped)
        # Without forces the time range is checked against the time of the motion.
        zero = np.zeros((walk.time.size, 3))
        plates = forces or (PlateForce("r", walk.time, zero, zero, zero, walk.path),)
        time_range = faults.attempt("time range", None, time_range_of, document, settings.time, walk, plates)
        if time_range is None:
            self.settings = settings = settings.changed(time=TimeSettings())
            time_range = float(walk.time[0]), float(walk.time[-1])
        emg, signal_notes = faults.attempt(
            "EMG", (None, []), read_emg, document, settings, files["markers"], walk.time
        )
        fascicles, notes_of_lengths = faults.attempt(
            "fascicle lengths", (None, []), read_fascicles, document, settings
        )
        self._check("filter", check_filter, "method", "order", "cutoff_hz")
        self._check("consistency", check_consistency, "method")
        self._check("muscles", check_strain, "tendon_strain")
        self.settings = settings = resolved(document, self.settings)
        muscle_file = Path(settings.muscles.database) if is_own_set(settings.muscles.database) else None
        person = muscle_file is not None and parent_of_person(muscle_file) is not None
        predicted = settings.files.predicted or settings.plates.unmeasured_steps == PREDICTED
        of_errors = settings.uncertainty, "recording", person, predicted
        faults.passes("trial file", check_errors, document, *of_errors)
        of_file, event_notes = faults.attempt("events of the file", ((), []), stated_events, files)
        stated = faults.attempt(
            "trial file", None, with_stated_events, document, settings.events, of_file, walk
        )
        events, complete = stated or (of_file, frozenset())
        notes = (
            *subject_notes(subject),
            *diameter_notes,
            *mapped.notes,
            *trial_notes(settings, forces),
            *corrections,
            *marker_notes(mapped, functional),
            *force_notes,
            *event_notes,
            *signal_notes,
            *notes_of_lengths,
        )
        return Trial(
            document=document,
            subject=subject,
            markers=walk,
            static=mapped.static,
            forces=forces,
            mapping=mapped.mapping,
            clusters=mapped.clusters,
            carried=mapped.carried,
            time_range=time_range,
            settings=settings,
            functional=functional.hips,
            hinges=functional.hinges,
            events=events,
            all_events_of=complete,
            emg=emg,
            fascicles=fascicles,
            files=self._all_files(mapped, functional, muscle_file)
            | ({} if emg is None else {"emg": emg.path})
            | ({} if fascicles is None else {"fascicles": fascicles.path}),
            hashes=self.hashes,
            notes=notes,
            plate_corrections=corrections,
        )

    def markers(self) -> MarkerMapping | None:
        """Return motion and standing trial in the global frame with the marker mapping; None without a motion."""
        document, faults = self.document, self.faults
        for role, name in self.settings.files.items():
            if name is not None and not (role == "forces" and self.settings.files.predicted):
                path = faults.attempt("files", None, document.input_file, "files", role, name)
                self.files |= {} if path is None else {role: path}
        self.rotation, standing = self._rotations()
        settings = self.settings
        walk, static = (
            self._rows(role, self.read) if role in self.files else None for role in ("markers", "static")
        )
        if walk is None:
            return None
        # Nothing else that is found in such a motion is a fault of its own.
        if not faults.passes("markers", check_in_space, walk):
            return None
        static = None if static is None else static.rotated(standing)
        return read_marker_mapping(document, settings, steady(walk).rotated(self.rotation), static, faults)

    def _rows(
        self, role: Literal["markers", "static", "forces"], reader: Callable[[Path], Rows]
    ) -> Rows | None:
        """Read a recording; remember the hash of its file."""
        recorded = self.faults.rows(self.files[role], reader)
        if recorded is not None and recorded.sha256:
            self.hashes[role] = recorded.sha256
        return None if recorded is None else with_lost_rows(recorded)

    def _rotations(self) -> tuple[Array, Array]:
        """Return the rotations (3, 3) from the files to the global frame, of the motion and of the standing trial."""
        document, laboratory, faults = self.document, self.settings.laboratory, self.faults
        # A faulty axis is None; any axes serve to find further faults.
        if laboratory.up is None:
            laboratory = laboratory.changed(up="+y" if laboratory.forward in ("+z", "-z") else "+z")
        if laboratory.forward is None:
            laboratory = laboratory.changed(forward="+y" if laboratory.up in ("+x", "-x") else "+x")
        rotation = faults.attempt("trial file", None, rotation_of, document, laboratory)
        if rotation is None:
            laboratory = laboratory.changed(forward="+x" if laboratory.up[1] != "x" else "+y")
            rotation = rotation_of(document, laboratory)
        standing = faults.attempt("trial file", None, rotation_of, document, laboratory, standing=True)
        if standing is None:
            laboratory = laboratory.changed(static_forward=None, static_up=None)
            standing = rotation
        self.settings = self.settings.changed(laboratory=laboratory)
        return rotation, standing

    def _forces(self, mapped: MarkerMapping) -> tuple[tuple[PlateForce, ...], list[str]]:
        """Return the force on each foot, global frame, and notes on its derivation."""
        document, settings, faults, rotation = self.document, self.settings, self.faults, self.rotation
        shown, none = (mapped.walk, mapped.mapping), (tuple[PlateForce, ...](), list[str]())
        if settings.files.predicted:
            return none
        path = self.files.get("forces", self.files["markers"])
        if is_c3d(path):
            file = faults.attempt("plates", None, read_c3d, path)
            if file is None:
                return none
            return faults.attempt("plates", none, c3d_forces, document, settings, file, *shown, rotation)
        table = self._rows("forces", read_forces_table) if "forces" in self.files else None
        if table is None:
            return none
        plates = dict[int, PlateForce]()
        for place, entry in enumerate(settings.force):
            if is_stated(entry):
                plate = faults.attempt("forces", None, plate_of, document, settings, place, table, rotation)
                plates |= {} if plate is None else {place: plate}
        forces, notes = faults.attempt(
            "feet on the plates", none, with_feet, document, settings, plates, *shown
        )
        return forces, [*table.sentences, *plate_notes(list(plates.values())), *notes]

    def subject(self, **others: Any) -> Subject:
        """Return the subject, with NaN for unknown numbers. others: values instead of the values of [subject]."""
        table = self.settings.subject.changed(**others)
        unknown = {key: float("nan") for key in ("mass_kg", "stature_m") if table[key] is None}
        table = table.changed(**unknown, sex=table.sex or "male")
        subject = self.faults.attempt("subject", None, subject_of, self.document, table)
        return subject or subject_of(self.document, table.changed(**WITHOUT_PARTS))

    def _check(self, name: str, check: Callable[[Document, Any], None], *keys: str) -> None:
        """Check a table; if some of `keys` contradict each other, all of them get their defaults."""
        if not self.faults.passes("trial file", check, self.document, self.settings[name]):
            rules = self.document.tables[name].settings
            self.settings = self.settings.changed(**{name: {key: rules[key].default for key in keys}})

    def _all_files(
        self, mapped: MarkerMapping, functional: FunctionalTrials, muscles: Path | None
    ) -> dict[str, Path]:
        """Return role -> path of all files; muscles: the user's muscle set."""
        document, marker_set = self.document, self.settings.markers.set
        files = {"trial": document.path, **self.files}
        # Sources of the marker files, such as the pixels of cameras.
        recordings = (mapped.walk, mapped.static, *functional.recordings)
        sources = dict.fromkeys(source for markers in recordings if markers for source in markers.sources)
        files |= {f"markers_part_{k}": source for k, source in enumerate(sources, start=1)}
        stated = document.content.get("subject")
        skeleton = stated.get("skeleton") if isinstance(stated, dict) else None
        if isinstance(skeleton, str):
            files["skeleton"] = document.path.parent / skeleton
        if marker_set is not None and marker_set not in marker_sets():
            files["marker_set"] = document.path.parent / marker_set
        return files if muscles is None else files | muscle_files(muscles)


def with_marker_diameter(
    document: Document, subject: Subject, marker_mapping: MarkerMapping
) -> tuple[Subject, list[str]]:
    """Return the subject with the diameter of the markers, from the trial file or else from a C3D file, and notes.

    There is a note if both differ, or if the diameter in a C3D file is unusual.
    """
    recordings = (marker_mapping.static, marker_mapping.walk)
    named = [(m.diameter, m.path.name) for m in recordings if m is not None and m.diameter is not None]
    if not named:
        return subject, []
    diameter, name = named[0]
    stated = document.content.get("subject")
    if isinstance(stated, dict) and "marker_diameter_m" in stated:
        apart = abs(diameter - subject.marker_diameter) > SAME_DIAMETER
        note = (
            f"The diameter of the markers is {1000 * subject.marker_diameter:g} mm as the trial file states it; "
            f"{name} states {1000 * diameter:g} mm."
        )
        return subject, [note] if apart else []
    note = f"The diameter of the markers is {1000 * diameter:g} mm, as {name} states it."
    return replace(subject, marker_diameter=diameter), [note]


def marker_notes(mapped: MarkerMapping, functional: FunctionalTrials) -> tuple[str, ...]:
    """Return the notes of the readers of the marker files."""
    standing = (
        () if mapped.static is None else (f"Standing trial: {note}" for note in mapped.static.sentences)
    )
    notes = (note for markers in functional.recordings for note in markers.sentences)
    return (*mapped.walk.sentences, *standing, *dict.fromkeys(f"Functional trial: {note}" for note in notes))


def _plate_notes(settings: RecordedSettings, forces: tuple[PlateForce, ...]) -> Iterator[str]:
    """Yield notes on plates and moments that are not in the trial file."""
    if settings.plates.unmeasured_steps == PREDICTED:
        without = "all its steps are predicted"
    elif finds_range(settings):
        without = "its stances are not analyzed"
    else:
        without = "it is taken as unloaded all the time"
    for side in SIDES:
        if all(map(is_stated, settings.force)) and not any(plate.side == side for plate in forces):
            yield f"No plate is given for the {SIDE_NAMES[side]} foot: {without}."
    for entry in settings.force:
        if entry.moment is None and entry.plate is None and entry.side is not None:
            whose = "a plate" if entry.side == AUTO else f"the plate of the {SIDE_NAMES[entry.side]} foot"
            yield f"No moment is given for {whose}: it is set to zero."


def trial_notes(settings: RecordedSettings, forces: tuple[PlateForce, ...]) -> Iterator[str]:
    """Yield notes on data that are not in the trial file."""
    if settings.files.predicted:
        yield PREDICTED_NOTE
    else:
        yield from _plate_notes(settings, forces)
    laboratory = settings.laboratory
    if settings.files.static is None:
        yield "There is no standing trial: segments are measured on the motion itself."
    elif standing_axes(laboratory) != (laboratory.forward, laboratory.up):
        forward, up = standing_axes(laboratory)
        yield f"The standing trial is read in axes of its own: forward {forward}, up {up}."


def hashes_as_read(trial: AnyTrial) -> dict[str, str]:
    """Return role -> SHA-256 of the files of a trial that has just been read.

    A missing muscle set is refused later, when it is needed.
    """
    document, known = trial.document, {"trial": trial.document.sha256, **trial.hashes}
    hashes = {role: known.get(role) or sha256(path) for role, path in trial.files.items() if path.is_file()}
    for role, path in trial.files.items():
        if role != "trial" and path in document.states and document.states[path] != file_state(path):
            raise file_error(
                "file_changed",
                path,
                "the file was changed while it was read",
                "a file that nothing writes to",
                "wait until it has been written, then run again",
            )
    return hashes


def named_hashes(trial: AnyTrial) -> dict[str, tuple[str, str]]:
    """Return role -> path of a file from the folder of the trial file, and SHA-256 of the file as read.

    For a trial that is not from `read_trial` the files are hashed as they are now.
    """
    folder, read = trial.path.resolve().parent, trial.hashes
    return {
        role: (name_in(folder, path.resolve()), read.get(role) or sha256(path))
        for role, path in trial.files.items()
    }


def input_lines(trial: AnyTrial) -> list[str]:
    """Return the lines "role path sha256:..." of `named_hashes`; no role contains a space."""
    return [f"{role} {name} sha256:{sha}" for role, (name, sha) in named_hashes(trial).items()]


def change_notes(trial: AnyTrial, read_later: bool = False) -> list[str]:
    """Return a warning for every file of a trial that has changed since `read_trial`.

    A file of the same size and time of change as before it was read has not changed.
    `read_later`: the files, except the trial file, were hashed before they were read, as for an OpenSim model.
    """
    notes, states = list[str](), trial.document.states
    for role, path in trial.files.items():
        if path in states and states[path] == file_state(path):
            continue
        if role in trial.hashes and hash_of(path) != trial.hashes[role]:
            unsure = read_later and role != "trial"
            changed = "may be of either content" if unsure else "is the hash of the content read before"
            sentence = (
                f"{path.name} was changed or removed during the analysis: the result {changed}. "
                "Run again to analyze the file as it is now."
            )
            notes.append(WarningNote(sentence, "file_changed"))
    return notes

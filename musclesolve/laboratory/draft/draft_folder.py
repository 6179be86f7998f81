"""Trial files drafted from the recordings in a folder, one for every motion, or from the OpenSim models in it."""

import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import muscle_db
from musclesolve._util.messages import count_of, few
from musclesolve.constants import (
    FLIGHT_CUTOFF_HZ,
    KEY_POINT_CUTOFF_HZ,
    PREDICTED,
    USUAL_MASS,
    WALKING_CUTOFF_HZ,
)
from musclesolve.errors import InputError, MuscleSolveError, file_error
from musclesolve.laboratory.checks.case import Case, Role, load
from musclesolve.laboratory.checks.recording.sides import labels_exchanged
from musclesolve.laboratory.draft.choose_mapping import MarkerChoice, choose_mapping, marker_tables
from musclesolve.laboratory.draft.column_names import emg_tables, left_out_text
from musclesolve.laboratory.draft.draft_model import (
    MODEL_KIND,
    SHARING,
    filter_line,
    model_tables,
    recognized,
)
from musclesolve.laboratory.draft.draft_text import NAME, DraftTable, Line, draft_text, lines_of, read_back
from musclesolve.laboratory.draft.folder_contents import (
    FileRoles,
    FolderContents,
    MarkerFile,
    MotionFiles,
    bent_joints,
    file_roles,
    folder_contents,
    is_plane,
    is_standing,
    is_static_folder,
    too_large,
)
from musclesolve.laboratory.draft.laboratory_axes import (
    LOADED_FROM_N,
    LaboratoryAxes,
    PlateFoot,
    both,
    found_feet,
    laboratory_axes,
    middle_path,
    stated_feet,
)
from musclesolve.laboratory.draft.study_trials import FoundStudy, FoundTrial, common_words, study_trials
from musclesolve.laboratory.draft.subject_size import GivenSubject, check_given, subject_table
from musclesolve.laboratory.files.b3d import SUFFIX as B3D
from musclesolve.laboratory.files.c3d.c3d_file import is_c3d, stated_events
from musclesolve.laboratory.files.service_folders import subjects_in
from musclesolve.laboratory.markers.marker_names import split_label
from musclesolve.laboratory.motion.events.foot_events import FootLoads, flights, jumps
from musclesolve.laboratory.recording.axes import global_from_laboratory
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Trial
from musclesolve.laboratory.recording.trial_settings import AUTO, ModelSettings, RecordedSettings
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.laboratory.trial.functional_trials import file_key
from musclesolve.laboratory.trial.plates.foot_contacts import IN_PLACE, ground_velocity
from musclesolve.models.opensim.read_model import read_osim
from musclesolve.tables.sampled import Markers, Table
from musclesolve.tables.settings import FOLDER, schema_line, schema_name, schema_text
from musclesolve.tables.text_file import file_path, name_from, stem_of, suffix_of

TITLE = (
    "Drafted by `musclesolve init` from the recordings. Comments state where a value comes from.",
    "Decide the lines that begin with TODO; `musclesolve check` reports those that are needed.",
)
TIME = (
    "No [time]: for each leg, what was measured of it is found and analyzed; `musclesolve check` reports it."
)
KEY_POINT_SETS = ("opencap", "halpe_26", "blazepose", "theia")
"""Marker sets of key points that programs find in video."""
NO_PLATES = "no file here has columns of a plate"
PLACEHOLDER = {"mass_kg": USUAL_MASS, "stature_m": 1.7, "sex": "male"}
"""Placeholder of the subject while the recording is read; it is never written."""
SPLIT = 0.1
"""Difference of the speeds of the feet on their belts from which both are stated [m/s]."""
RUNNING, JUMPING, NO_FLIGHT = "running", "jumping: both feet together", "no flight, as in walking"
"""Words on a motion by its flights."""
_WHOSE = {**{side: f"{name} foot" for side, name in SIDE_NAMES.items()}, AUTO: "each foot in turn"}
_NOBODY = GivenSubject()


@dataclass(frozen=True)
class TrialDraft:
    """A draft of a trial file: path, text, recognized facts, and open decisions."""

    path: Path
    text: str
    recognized: tuple[tuple[str, str], ...] = ()
    todos: tuple[str, ...] = ()
    tables: tuple[DraftTable, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class FolderDraft:
    """The drafts of a folder, and sentences on unused files."""

    folder: Path
    trials: tuple[TrialDraft, ...]
    unread: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """Commands that compute the same motions with an OpenSim model of the folder, beside the trial files."""


def draft_folder(
    folder: str | Path, output: Path | None = None, subject: GivenSubject = _NOBODY
) -> FolderDraft:
    """Draft a trial file for every motion in a folder; nothing is written.

    Args:
        folder: the folder with the recordings, or one above the folders of one subject; the standing trial may lie in a
            folder beside or below that is called so. Without any: the folder of a service (AddBiomechanics, OpenCap),
            or of an OpenSim model with coordinates, in it or below.
        output: the trial file; `trial.toml` in the folder when None. With several motions every one has a file of its
            own, whose name ends in the name of the recording. A folder means `trial.toml` in it.
        subject: stated data of the subject.
    """
    check_given(subject)
    folder = file_path(folder)
    alone, study = folder_contents(folder), study_trials(folder)
    contents = _completed(alone, study)
    roles = file_roles(contents)
    whole = [one for one in study.trials if {"model", "coordinates"} <= {*one.source} and not one.exclude]
    modeled = [] if roles.motions else whole
    if not roles.motions and not modeled:
        raise _no_motion(contents, roles, study)
    target = folder / NAME if output is None else output
    target = target / NAME if target.is_dir() else target
    recordings = [files.motion.path for files in roles.motions]
    stems = [stem_of(path) for path in recordings]
    kinds = [suffix_of(path)[1:] for path in recordings]
    names = [f"{s}_{kind}" if stems.count(s) > 1 else s for s, kind in zip(stems, kinds, strict=True)]
    names += [trial.levels[-1] for trial in modeled]
    several = [target.with_name(f"{target.stem}_{name}.toml") for name in names]
    paths = several if len(several) > 1 else [target]
    if modeled:
        of_models = zip(modeled, paths, strict=True)
        trials = tuple(_draft_model(trial, path, subject.mass_kg) for trial, path in of_models)
    else:
        of_motions = zip(with_persons(roles.motions), paths, strict=True)
        trials = tuple(draft_trial(contents, roles, files, path, subject) for files, path in of_motions)
    drafted = {trial.path.absolute() for trial in trials}
    beside = modeled or [trial for trial in whole if trial.source.get("loads") != PREDICTED]
    drafted |= {Path(source).absolute() for trial in beside for source in trial.source.values()}
    others = tuple(x for x in contents.others if (folder / x.partition(" (")[0]).absolute() not in drafted)
    # Forces and moments are of the trials of the model where there are such.
    commands = () if modeled else tuple(map(_share_command, beside))
    left_out = study.copies if modeled else roles.left_out
    return FolderDraft(folder, trials, contents.every_unread, left_out, others, commands)


def with_persons(motions: Sequence[MotionFiles]) -> list[MotionFiles]:
    """The motions with their subjects: the words that begin the names of the motion and of its own standing trial.
    Nothing where the names show no subject, or one for all.
    """
    stems = [stem_of(files.motion.path) for files in motions]
    standing = ["" if files.static is None else stem_of(files.static.path) for files in motions]
    names = [common_words(*pair) for pair in zip(stems, standing, strict=True)]
    several = len(set(names) - {""}) > 1
    return [replace(files, person=name * several) for files, name in zip(motions, names, strict=True)]


def _completed(contents: FolderContents, study: FoundStudy) -> FolderContents:
    """Return the contents of a folder with standing trials of folders called so, in it or beside it.

    A folder without markers has the markers that were found below it, if all of them lie in one folder.
    """
    folder = contents.folder
    if not contents.markers and not contents.unread:
        places = [levels for levels in study.recordings.values() if not any(map(is_static_folder, levels))]
        if len({levels[:-1] for levels in places}) == 1 and not study.trials:
            about = [stated.path for stated in contents.subjects]
            contents = folder_contents(folder, [*sorted(study.recordings), *about])
            contents.left_out += study.copies
    elif not any(is_standing(file) for file in contents.markers):
        for place in (*folder.iterdir(), *folder.absolute().parent.iterdir()):
            if place.is_dir() and place.name != folder.absolute().name and is_static_folder(place.name):
                contents.markers += filter(is_standing, folder_contents(place).markers)
    contents.subjects += subjects_in(folder.absolute().parents[:2])
    return contents


def _share_command(trial: FoundTrial) -> str:
    """The command that shares the moments of a trial of a model."""
    options = {**trial.source, "cutoff-hz": filter_line(trial, read_osim(trial.source["model"])).value}
    options["output"] = Path(trial.source["coordinates"]).with_suffix("")
    if options["cutoff-hz"] == WALKING_CUTOFF_HZ:  # the default
        del options["cutoff-hz"]
    return shlex.join(
        ["musclesolve", "share", *(f"{word}" for key in options for word in (f"--{key}", options[key]))]
    )


def write_drafts(draft: FolderDraft, force: bool = False) -> list[Path]:
    """Write the trial files of a folder; all of them appear, or none."""
    there = [trial.path for trial in draft.trials if trial.path.exists()]
    if there and not force:
        folder = there[0].parent
        raise file_error(
            "occupied_folder",
            folder,
            f"there is a trial file already: {', '.join(path.name for path in there)}",
            "a folder without a trial file",
            "write to another file with -o, or replace it with --force",
        )
    folder = draft.trials[0].path.parent
    schemas = {
        schema_name(kind): schema_text(file).encode("utf-8")
        for kind, file in {"trial": RecordedSettings, MODEL_KIND: ModelSettings}.items()
        if any(trial.text.startswith(schema_line(kind)) for trial in draft.trials)
    }
    write_files(folder / FOLDER, schemas)
    return write_files(folder, {trial.path.name: trial.text.encode("utf-8") for trial in draft.trials})


def _draft_model(trial: FoundTrial, path: Path, mass: float | None) -> TrialDraft:
    """Draft the trial file of an OpenSim model."""
    tables = model_tables(trial, path, mass)
    todos = tuple(todo for table in tables for todo in table.todos)
    return TrialDraft(path, draft_text(TITLE, tables, MODEL_KIND), tuple(recognized(trial)), todos, tables)


def _no_motion(contents: FolderContents, roles: FileRoles, study: FoundStudy) -> InputError:
    """The error of a folder without a motion, with the files found instead."""
    drafted = [Path(trial.source["file"]) for trial in study.trials if "file" in trial.source]
    if drafted and not study.recordings:
        return file_error(
            "occupied_folder",
            contents.folder,
            f"the motions have trial files already: {few(map(contents.name_of, drafted))}",
            "recordings, or a motion of a model without a trial file",
            f"musclesolve check {shlex.quote(str(drafted[0]))}; to draft them again, remove them first",
        )
    inside = sorted(at.name for at in contents.folder.iterdir() if at.is_dir() and at.name[0] != ".")
    if contents.unread:
        problem = "no recording can be read: " + "; ".join(contents.unread)
        remedy = "do what stands in brackets behind the fault of each file"
    elif roles.static is not None:
        problem = f"{roles.static.path.name} shows a subject who stands, and no file shows a motion"
        remedy = "add the recording of the motion"
    elif contents.others or contents.forces or contents.emg:
        tables = [*(file.path.name for file in contents.forces), *(file.path.name for file in contents.emg)]
        names = few([*contents.others, *dict.fromkeys(tables)], 6)
        problem = f"no file here shows markers that can be read; there are {names}"
        remedy = "export the motion as C3D or TRC, or name the folder with the recorded markers"
        remedy += f", perhaps one of {few(inside, 4)}" if inside else ""
        by_kind = {path.suffix.casefold(): path.name for path in contents.folder.iterdir()}
        if ".zip" in by_kind:
            remedy = f"unpack {by_kind['.zip']} in this folder, and give the command again"
        if B3D in by_kind:
            place = shlex.quote(str(contents.folder))
            remedy = (
                "a .b3d file holds trials with kinematics and ground forces: compute the forces of all of them, "
                f"musclesolve dataset {place} -o results, or compare them in a study, musclesolve init --study {place}"
            )
    else:
        problem, remedy = "the folder has no files", "name the folder with the recordings, not one above it"
        if inside:
            problem += f", but folders: {few(inside, 4)}"
            remedy = (
                "name one of them, or draft a study of all: musclesolve init --study "
                f"{shlex.quote(str(contents.folder))}"
            )
    if roles.left_out:
        problem += f" ({'; '.join(roles.left_out)})"
    expected = "markers of a motion: TRC, C3D, CSV, or a camera file (.toml)"
    return file_error("missing_file", contents.folder, problem, expected, remedy)


def draft_trial(
    contents: FolderContents,
    roles: FileRoles,
    files: MotionFiles,
    path: Path,
    subject: GivenSubject,
    exchanged: Mapping[Role, Mapping[str, str]] | None = None,
) -> TrialDraft:
    """Draft the trial file of one motion.

    exchanged: file -> pairs of markers that carry each other's label, in whose place `files` has them.
    """
    bending = {joint: file.markers for joint, file in roles.bending.items()}
    static = None if files.static is None else files.static.markers
    choice = choose_mapping(files.motion.markers, static, bending)
    used = functional_paths(choice, roles)
    files = _without_empty_forces(files)
    forces = None if files.forces is None else (files.forces.table, files.forces.plates)
    axes = laboratory_axes(choice, forces)
    feet: list[PlateFoot] = []
    if files.forces is not None:
        feet = [] if files.loads is None else stated_feet(files.forces, files.loads)
        rotation = None
        if axes.forward is not None and axes.up is not None:
            rotation = global_from_laboratory(axes.forward, axes.up)
        feet = feet or found_feet(files.forces, choice, rotation)
    in_use = tuple(foot.table for foot in feet if not foot.idle)
    paths = _paths(files) | used
    labels = _exchanged_table(files, exchanged or {})
    case = working_case((axes.table, *choice.tables, *labels, *in_use), paths) if axes.complete else None
    if case is not None and exchanged is None and (pairs := labels_exchanged(case)):
        return draft_trial(contents, roles, _with_exchanged(files, pairs), path, subject, pairs)
    large = too_large(files.motion.markers)
    flying, moves = np.zeros((0, 2)), NO_FLIGHT
    if case is not None and not large:
        loads = FootLoads.from_trial(case.trial)
        if len(flying := flights(case.trial, loads)):
            moves = JUMPING if jumps(case.trial, loads, flying) else RUNNING
    muscles = [
        f'The muscles of {model.name} may serve instead: database = "{name_from(model, path)}".'
        for model in contents.models
    ]
    cutoff, why = WALKING_CUTOFF_HZ, "usual for walking; running needs 10 to 20 Hz"
    if case is not None and not large:
        why = NO_FLIGHT
    if choice.set in KEY_POINT_SETS:
        cutoff, why = KEY_POINT_CUTOFF_HZ, "walking, by key points of video; at 6 Hz their noise counts twice"
    if len(flying):
        cutoff, why = FLIGHT_CUTOFF_HZ, "there is flight, as in running and jumping"
    if moves == RUNNING:
        muscles.append(
            "Running asks for more than the muscles of the table can give in many subjects: "
            'strength = "handsfield_2014" takes their strength from mass and stature.'
        )
    emg: tuple[DraftTable, ...] = ()
    if files.emg is not None:
        inside = files.emg.path == files.motion.path and is_c3d(files.emg.path)
        first, *others = emg_tables(files.emg, name_from(files.emg.path, path), inside, case)
        emg = (replace(first, todo=files.unclear.get("emg", first.todo)), *others)
    why += '; or "residual_analysis": chosen from the data'
    bundled = Line("database", muscle_db.DEFAULT, "the default; others: musclesolve list muscles")
    tables = (
        subject_table(files, contents.subjects, choice, case, subject),
        axes.table,
        _files_table(contents, files, roles, path, choice),
        DraftTable("time", about=(TIME,)),
        DraftTable("filter", (Line("cutoff_hz", min(cutoff, 0.2 * files.motion.markers.rate), why),)),
        *marker_tables(choice),
        *labels,
        *_force_tables(files, feet),
        *emg,
        DraftTable("muscles", (bundled,), tuple(muscles)),
        SHARING,
    )
    tables = read_back(TITLE, tables)
    todos = tuple(todo for table in tables for todo in table.todos)
    recognized = tuple(_recognized(files, choice, axes, feet, case, moves))
    return TrialDraft(path, draft_text(TITLE, tables), recognized, todos, tables)


def _with_exchanged(files: MotionFiles, exchanged: Mapping[Role, Mapping[str, str]]) -> MotionFiles:
    """Return the files of a motion with markers in the place of those whose label they carry."""
    changed: dict[Role, MarkerFile] = {}
    for role, pairs in exchanged.items():
        file = files.static if role == "static" else files.motion
        if file is not None:
            label = {split_label(name)[1]: name for name in file.markers.names}
            by_label = {label[one]: label[other] for one, other in pairs.items()}
            changed[role] = replace(file, markers=file.markers.exchanged(by_label))
    return replace(
        files, motion=changed.get("markers", files.motion), static=changed.get("static", files.static)
    )


def _exchanged_table(
    files: MotionFiles, exchanged: Mapping[Role, Mapping[str, str]]
) -> tuple[DraftTable, ...]:
    """The table [[exchanged]] of labels that are exchanged in whole files; none without any."""
    if not exchanged:
        return ()
    todo = (
        f"confirm that all labels of right and left are exchanged in {files.motion.path.name}: right landmarks lie on "
        "the left of the subject, and the pressure on the plates lies under the feet"
    )
    lines = tuple(Line(role, dict(pairs)) for role, pairs in exchanged.items())
    return (DraftTable("exchanged", lines, todo=todo, listed=True),)


def _without_empty_forces(files: MotionFiles) -> MotionFiles:
    """Return the files without a table of forces that is never loaded: a plate on which nobody stepped."""
    if files.forces is None:
        return files
    names = [name for plate in files.forces.plates for name in plate.columns["force"]]
    if max(np.nanmax(np.abs(files.forces.table[name]), initial=0.0) for name in names) >= LOADED_FROM_N:
        return files
    todo = (
        "enter the file of the ground reaction forces, or confirm that no plate measured them: the forces in "
        f"{files.forces.path.name} stay below {LOADED_FROM_N:g} N: they are of an empty plate, or not in newtons"
    )
    return replace(files, forces=None, unclear=files.unclear | {"forces": todo})


def _paths(files: MotionFiles) -> dict[str, Path]:
    """Role -> file, as [files] names them."""
    roles = {"markers": files.motion, "static": files.static, "forces": files.forces}
    paths = {role: file.path for role, file in roles.items() if file is not None}
    if files.plates is not None and files.plates.path != files.motion.path:
        paths.setdefault("forces", files.plates.path)
    return paths


def functional_paths(choice: MarkerChoice, roles: FileRoles) -> dict[str, Path]:
    """Key of [files] -> the recording in which a joint bends, of joints that are found by their motion."""
    return {
        file_key(joint, side): roles.bending[f"{joint}_{side}"].path
        for joint in choice.functional
        for side in SIDES
    }


def _length(recorded: Markers | Table, what: str, count: int | None = None) -> str:
    """Return the number of recorded items, the duration and the rate, in words."""
    count = len(recorded.names) if count is None else count
    return f"{count} {what}, {np.ptp(recorded.time):.2f} s at {recorded.rate:g} Hz"


def _files_table(
    contents: FolderContents, files: MotionFiles, roles: FileRoles, trial: Path, choice: MarkerChoice
) -> DraftTable:
    """The table [files]; the line of the forces is left open where there are none."""
    motion, static, about = files.motion, files.static, []
    if todo := too_large(motion.markers):
        in_space = "name a recording in three dimensions and in meters"
        todo = f"{in_space if is_plane(motion.markers) else 'correct the unit'}: {todo}"
    lines = [Line("markers", name_from(motion.path, trial), _length(motion.markers, "markers"), todo)]
    if static is not None:
        comment = f"{_length(static.markers, 'markers')}, the subject stands"
        lines.append(Line("static", name_from(static.path, trial), comment, files.unclear.get("static", "")))
    else:
        about.append("No standing trial was found: segments are measured on the motion itself.")
    if files.forces is not None:
        comment = _length(files.forces.table, "plates", len(files.forces.plates))
        name, todo = name_from(files.forces.path, trial), files.unclear.get("forces", "")
        lines.append(Line("forces", name, comment, todo))
    elif files.plates is None:
        unread = f"; not read: {'; '.join(contents.unread)}" if contents.unread else ""
        todo = (
            "enter the file of the ground reaction forces (.mot, .sto, .csv, .tsv, .txt, .forces or .c3d), or confirm "
            f"that no plate measured them: {NO_PLATES} that belong to {motion.path.name}, and it holds none{unread}"
        )
        todo = files.unclear.get("forces", todo)
        lines.append(Line("forces", PREDICTED, "from the motion, without force plates", todo))
    elif files.plates.path != motion.path:
        lines.append(
            Line("forces", name_from(files.plates.path, trial), count_of(files.plates.plates, "plate"))
        )
    by_motion = functional_paths(choice, roles)
    bends = "the joint bends and straightens"
    lines += [Line(key, name_from(path, trial), bends) for key, path in by_motion.items()]
    for file in roles.functional:
        joints = bent_joints(file.path.stem)
        if not joints:
            about.append(
                f"{file.path.name} seems to show a hip that moves in all directions: functional_r and functional_l "
                'name such files, hip = "functional" in [joint_centers] uses them.'
            )
        elif file.path not in by_motion.values():
            keys = " and ".join(f"functional_{joint}_r and functional_{joint}_l" for joint in joints)
            uses = " and ".join(f'{joint} = "functional"' for joint in joints)
            about.append(
                f"{file.path.name} seems to show how the {' and the '.join(joints)} bends: {keys} name such files, "
                f"{uses} in [joint_centers] use them, with clusters on both segments of the joint."
            )
    return DraftTable("files", tuple(lines), tuple(about))


def _force_tables(files: MotionFiles, feet: list[PlateFoot]) -> list[DraftTable]:
    if files.plates is not None:
        about = (
            f"Each contact with a plate of {files.plates.path.name} goes to the foot that is nearest to it; no "
            "[[force]] is needed."
        )
        return [DraftTable("force", about=(about,))]
    if files.forces is None:
        about = "With a file of forces: [[force]] with side, force and point for every plate."
        return [DraftTable("force", about=(about,))]
    left = [f"Left out, {foot.todo or foot.source}: {foot.plate.label}." for foot in feet if foot.idle]
    notes = [DraftTable("force", about=(text,)) for text in left]
    return [*(foot.table for foot in feet if not foot.idle), *notes]


def _recognized(
    files: MotionFiles,
    choice: MarkerChoice,
    axes: LaboratoryAxes,
    feet: list[PlateFoot],
    case: Case | None,
    moves: str,
) -> Iterator[tuple[str, str]]:
    """Yield the recognized facts, subject and statement, for the terminal."""
    motion = f"{files.motion.path.name}: {_length(files.motion.markers, 'markers')}"
    if large := too_large(files.motion.markers):
        motion += f"; {large}"
    elif is_plane(files.motion.markers):
        motion += "; a plane recording: all markers lie in one plane"
    if case is not None and not large:
        motion += _pace(case.trial, moves)
    yield "motion", motion
    if files.static is not None:
        yield "standing trial", f"{files.static.path.name}: {_length(files.static.markers, 'markers')}"
    named = "no set; landmarks by the names of the markers" if choice.set is None else f"the set {choice.set}"
    yield "markers", f"{named}, {len(choice.resolved)} landmarks"
    if axes.complete:
        rotated = ", ".join(f"{line.key.removeprefix('static_')} {line.value}" for line in axes.standing)
        standing = f"; the standing trial, rotated: {rotated}" if rotated else ""
        yield "axes", f"forward {axes.forward} ({axes.forward_from}), up {axes.up}{standing}"
    if choice.functional:
        joints = " and ".join(choice.functional)
        yield "functional", f"axes of {joints} by the movement of {', '.join(choice.clusters)}"
    if carried := choice.carried:
        clusters = ", ".join(dict.fromkeys(carried.values()))
        yield "carried", f"{len(carried)} markers of the standing trial by {clusters}"
    if files.plates is not None:
        yield (
            "forces",
            f"{count_of(files.plates.plates, 'plate')} in {files.plates.path.name}, divided by the contacts",
        )
    for foot in feet:
        if files.forces is not None and not foot.idle:
            side = "foot not known" if foot.side is None else _WHOSE[foot.side]
            source = f", {foot.source}" if foot.source else ""
            yield "forces", f"{files.forces.path.name}, {foot.plate.label}: {side}{source}"
    if files.emg is not None:
        left = {name for several in files.emg.left_out.values() for name in several}
        used = [name for name in files.emg.channels.muscles if name not in left]
        yield "EMG", f"{files.emg.path.name}: {', '.join(used) or 'no channel names a muscle'}"
        if reasons := files.emg.left_out:
            yield "EMG left out", left_out_text(reasons)
    if events := stated_events(_paths(files))[0]:
        yield "events", f"{len(events)} heel strikes and toe-offs are stated in the file, and used"


def _pace(trial: Trial, kind: str) -> str:
    """Say how fast a motion goes: over the floor, on a treadmill by the feet that stand on it, or in place."""
    markers, names = trial.markers, [*both("asis", "psis", "hip_center"), "sacrum"]
    pelvis = middle_path(markers, trial.mapping, names)
    known = np.zeros(0, int) if pelvis is None else np.flatnonzero(np.isfinite(pelvis).all(axis=1))
    if pelvis is None or known.size < 2:
        return ""
    way = float(np.linalg.norm((pelvis[known[-1]] - pelvis[known[0]])[:2]))
    speed = way / (int(known[-1] - known[0]) / markers.rate)
    if speed > IN_PLACE:
        return f"; {kind}, {speed:.2f} m/s over {way:.1f} m"
    paths = [middle_path(markers, trial.mapping, [f"heel_{side}", f"toe_{side}"]) for side in SIDES]
    feet = [path for path in paths if path is not None]
    belts = [ground_velocity(markers.time, pelvis, foot) for foot in feet]
    speeds = [float(np.median(np.linalg.norm(belt, axis=1))) for belt in belts if belt.any()]
    if not speeds:
        return f"; {kind}, in place"
    of_belts = speeds if np.ptp(speeds) > SPLIT else [np.mean(speeds)]
    return f"; {kind}, on a treadmill at {' and '.join(f'{speed:.2f}' for speed in of_belts)} m/s"


def working_case(tables: tuple[DraftTable, ...], files: dict[str, Path]) -> Case | None:
    """The case of a draft, None where there is none: no motion, or nothing that could be looked at."""
    subject = DraftTable("subject", lines_of(PLACEHOLDER))
    named = DraftTable("files", lines_of({role: str(path.absolute()) for role, path in files.items()}))
    kept = tuple(table for table in tables if table.name not in ("subject", "files") and table.written)
    try:
        with tempfile.TemporaryDirectory(prefix="musclesolve-") as folder:
            path = Path(folder) / NAME
            path.write_text(draft_text((), (subject, named, *kept)), encoding="utf-8")
            return load(path)[0]
    except (MuscleSolveError, ArithmeticError, LookupError, ValueError):
        # `check` reports faults of the recording; the draft continues without the affected data.
        return None

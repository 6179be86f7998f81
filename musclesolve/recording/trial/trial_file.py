"""Reading a trial file: the recordings, the subject, the marker mapping, and what to compute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from musclesolve._util.arrays import Array
from musclesolve._util.message_text import as_text
from musclesolve.errors import InputError
from musclesolve.recording.c3d.c3d_file import is_c3d, read_c3d, stated_events
from musclesolve.recording.data import SIDE_NAMES, SIDES, Emg, Fascicles, Markers, PlateForce, Subject, Trial
from musclesolve.recording.file_axes import global_from_laboratory, standing_axes
from musclesolve.recording.formats import read_forces_table, read_markers
from musclesolve.recording.gaps.gap_filling import Completed, complete_upper_body, fill_trial
from musclesolve.recording.gaps.ghosts import Ghost, ghost_notes, without_ghosts
from musclesolve.recording.markers.mapping_tables import FUNCTIONAL
from musclesolve.recording.markers.marker_mapping import MarkerMapping, read_marker_mapping
from musclesolve.recording.markers.marker_set import marker_sets
from musclesolve.recording.plates.foot_forces import (
    AUTO,
    c3d_forces,
    is_stated,
    plate_gap_notes,
    plate_of,
    with_feet,
)
from musclesolve.recording.plates.plate_checks import instants_of, without_instants
from musclesolve.recording.plates.plate_corrections import corrected_plates
from musclesolve.recording.schema import Document, trial_document, validated
from musclesolve.recording.trial.analysed_range import find_range, finds_range, nothing_found, without_ends
from musclesolve.recording.trial.body_file import body_path
from musclesolve.recording.trial.emg_channels import check_overlap, read_emg
from musclesolve.recording.trial.fascicle_lengths import check_fascicle_overlap, read_fascicles
from musclesolve.recording.trial.functional_trials import COMPARED, FunctionalTrials, read_functional
from musclesolve.recording.trial.input_hashes import hashes_as_read
from musclesolve.recording.trial.model_trial import (
    ModelTrial,
    is_model_trial,
    named_files,
    read_model_trial,
)
from musclesolve.recording.trial.recording_checks import check_trial
from musclesolve.recording.trial.settings import (
    consistency_of,
    errors_of,
    filter_of,
    is_own_set,
    muscle_files,
    muscles_of,
    parent_of_person,
    sharing_of,
    stated_cycles,
    subject_notes,
    subject_of,
    with_stated_events,
)

FEWEST_FRAMES = 10
SAME_DIAMETER = 0.0005
"""Diameters of markers that are stated twice differ by less [m]."""


def read_trial(path: str | Path) -> Trial | ModelTrial:
    """Read a trial file, of a recording or of an OpenSim model.

    The recordings that it names are read, too, and checked that they can be analysed; the files of a model are read
    when it is analysed.

    Raises:
        InputError: anything that is missing, contradictory or implausible, with the file and the place in it.
    """
    if not isinstance(path, str | Path):
        problem, expected = f"{as_text(path)} is not a path", "the path of a trial file"
        remedy = 'read_trial("trial.toml")'
        raise InputError(problem, code="bad_type", where="read_trial", expected=expected, remedy=remedy)
    document = trial_document(Path(path))
    named = document.content.get("files")
    if isinstance(named, dict) and {"markers", "model"} <= set(named):
        problem = "both recorded markers and an OpenSim model are named"
        expected = "markers and forces of a recording, or a model with its coordinates and moments or loads"
        remedy = 'keep one of them; a model as muscle set of a recording is [muscles] database = "M.osim"'
        raise document.error(problem, "files", "model", 0, expected, remedy, code="conflict")
    trial = read_model_trial(Path(path)) if is_model_trial(document.content) else _recorded_trial(document)
    trial = replace(trial, hashes=hashes_as_read(trial.document, trial.files))
    if isinstance(trial, Trial):
        object.__setattr__(trial, "as_read", True)
    return trial


def read_standing(path: str | Path) -> Trial:
    """Read the trial file of a subject who stands anywhere: what its plates measured is not tested.

    Raises:
        InputError: see `read_trial`.
    """
    return _recorded_trial(trial_document(Path(path)), plates_tested=False)


def _recorded_trial(document: Document, plates_tested: bool = True) -> Trial:
    """Return the trial of a recording, checked."""
    content = validated(document)
    files = named_files(document, content)
    rotation = rotation_of(document, content["laboratory"])
    walk = read_markers(files["markers"]).rotated(rotation)
    standing = rotation_of(document, content["laboratory"], standing=True)
    static = read_markers(files["static"]).rotated(standing) if "static" in files else None
    marker_mapping = read_marker_mapping(document, content, walk, static)
    functional = read_functional(document, content, rotation, marker_mapping)
    path = files.get("forces", files["markers"])
    if is_c3d(path):
        shown = marker_mapping.walk, marker_mapping.mapping
        forces, force_notes = c3d_forces(document, content, read_c3d(path), *shown, rotation)
    else:
        table = read_forces_table(path)
        places = range(len(content["force"]))
        plates = {place: plate_of(document, content, place, table, rotation) for place in places}
        shown = marker_mapping.walk, marker_mapping.mapping
        forces, found = with_feet(document, content, plates, *shown)
        force_notes = [*table.sentences, *plate_gap_notes(list(plates.values())), *found]
    forces, corrections = corrected_plates(document, content, forces, rotation)
    subject = subject_of(document, content["subject"])
    time_range = time_range_of(document, content["time"], walk, forces)
    trial = assembled(document, content, files, marker_mapping, functional, forces, subject, time_range)
    notes = *trial.notes, *corrections, *marker_notes(walk, static, functional), *force_notes
    trial = replace(trial, notes=notes, plate_corrections=corrections)
    trial = with_emg(trial, *read_emg(document, content, files["markers"]))
    trial, ghosts = without_reflections(trial, content)
    trial = replace(trial, notes=(*trial.notes, *ghost_notes(trial, ghosts)))
    trial = ranged(with_fascicles(trial, *read_fascicles(document, content)), content)
    trial, completed = completed_trial(trial, content)
    trial = replace(trial, notes=(*trial.notes, *(marker.sentence for marker in completed)))
    if plates_tested:
        trial = without_impossible(trial)
    check_trial(trial, document, plates_tested)
    if trial.emg is not None:
        check_overlap(trial, trial.emg)
    if trial.fascicles is not None:
        check_fascicle_overlap(document, trial.fascicles, *trial.time_range)
    return trial


def read_recording(path: str | Path, purpose: str) -> Trial:
    """Read the trial file of a recording; one of an OpenSim model is refused, which the purpose cannot have.

    Raises:
        InputError: see `read_trial`.
    """
    trial = read_trial(path)
    if isinstance(trial, ModelTrial):
        problem = f"this is the trial of an OpenSim model, and {purpose} needs recorded markers and forces"
        expected = "the trial file of a recording"
        remedy = "name markers, forces and the subject instead of a model"
        raise trial.document.error(problem, "files", "model", 0, expected, remedy, code="unsupported")
    return trial


def with_emg(trial: Trial, emg: Emg | None, notes: list[str]) -> Trial:
    """Return a trial with its signals of EMG, where it has any."""
    if emg is None:
        return trial
    files = {**trial.files, "emg": emg.path}
    return replace(trial, emg=emg, files=files, notes=(*trial.notes, *notes))


def with_fascicles(trial: Trial, fascicles: Fascicles | None, notes: list[str]) -> Trial:
    """Return a trial with its measured fascicle lengths, where it has any."""
    if fascicles is None:
        return trial
    files = {**trial.files, "fascicles": fascicles.path}
    return replace(trial, fascicles=fascicles, files=files, notes=(*trial.notes, *notes))


def ranged(trial: Trial, content: dict[str, Any]) -> Trial:
    """Return a trial with the range that its recording allows; unchanged where the trial file gives one."""
    if not finds_range(content):
        return trial
    filled = filled_trial(trial, content)
    analysed = find_range(filled)
    if analysed is None:
        return replace(trial, time_range=without_ends(trial), analysed=(nothing_found(filled),))
    return replace(trial, time_range=analysed.time_range, legs=analysed.legs, analysed=analysed.sentences)


def completed_trial(trial: Trial, content: dict[str, Any]) -> tuple[Trial, tuple[Completed, ...]]:
    """Return a trial with its gaps filled, those above the hips completed, and the markers that were completed."""
    return complete_upper_body(filled_trial(trial, content))


def without_reflections(trial: Trial, content: dict[str, Any]) -> tuple[Trial, list[Ghost]]:
    """Return a trial in which reflections that were taken for markers are gaps, as long as splines fill, and these."""
    return without_ghosts(trial, content["gaps"]["spline_s"], lambda spoiled: filled_trial(spoiled, content))


def without_impossible(trial: Trial) -> Trial:
    """Return a trial of which no plate shows for an instant what cannot be of its foot, with a note on each plate."""
    forces = tuple(without_instants(trial, plate) for plate in trial.forces)
    remarks = [instants_of(trial, plate) for plate in forces if plate.impossible]
    notes = (f"{what[0].upper()}{what[1:]}; {remedy}." for what, remedy in remarks)
    return replace(trial, forces=forces, notes=(*trial.notes, *notes))


def filled_trial(trial: Trial, content: dict[str, Any]) -> Trial:
    """Return a trial with gaps filled as its trial file asks for."""
    return fill_trial(trial, content["gaps"]["spline_s"], content["gaps"]["rigid_s"])


def with_marker_diameter(
    document: Document, subject: Subject, marker_mapping: MarkerMapping
) -> tuple[Subject, list[str]]:
    """Return the subject with the diameter of the markers: as the trial file states it, else as a C3D file, and notes.

    A note where they differ, or where the diameter of a C3D file is not the usual one.
    """
    recordings = (marker_mapping.static, marker_mapping.walk)
    named = next(
        ((m.diameter, m.path.name) for m in recordings if m is not None and m.diameter is not None), None
    )
    if named is None:
        return subject, []
    found, name = named
    given = document.content.get("subject")
    if isinstance(given, dict) and "marker_diameter_m" in given:
        apart = abs(found - subject.marker_diameter) > SAME_DIAMETER
        note = (
            f"The diameter of the markers is {1000 * subject.marker_diameter:g} mm as the trial file states it; "
            f"{name} states {1000 * found:g} mm."
        )
        return subject, [note] if apart else []
    note = f"The diameter of the markers is {1000 * found:g} mm, as {name} states it."
    return replace(subject, marker_diameter=found), [note]


def assembled(
    document: Document,
    content: dict[str, Any],
    files: dict[str, Path],
    marker_mapping: MarkerMapping,
    functional: FunctionalTrials,
    forces: tuple[PlateForce, ...],
    subject: Subject,
    time_range: tuple[float, float],
) -> Trial:
    """Return the trial made of its parts, not checked yet."""
    subject, diameter_notes = with_marker_diameter(document, subject, marker_mapping)
    walk, static = marker_mapping.walk, marker_mapping.static
    marker_set, database = content["markers"]["set"], content["muscles"]["database"]
    hip = content["joint_centers"]["hip"]
    files = {"trial": document.path, **files}
    # What the files of markers were put together from, such as the pixels of cameras.
    recordings = (markers for markers in (walk, static, *functional.recordings) if markers is not None)
    sources = dict.fromkeys(source for markers in recordings for source in markers.sources)
    files |= {f"markers part {k}": source for k, source in enumerate(sources, start=1)}
    files |= body_path(document)
    if marker_set is not None and marker_set not in marker_sets():
        files["marker set"] = document.path.parent / marker_set
    own = document.path.parent / database if is_own_set(database) else None
    if own is not None:
        files |= muscle_files(own)
    person = own is not None and parent_of_person(own) is not None
    events, complete = with_stated_events(document, content["events"], stated_events(files), walk)
    return Trial(
        document=document,
        subject=subject,
        markers=walk,
        static=static,
        forces=forces,
        mapping=marker_mapping.mapping,
        clusters=marker_mapping.clusters,
        carried=marker_mapping.carried,
        time_range=time_range,
        filter=filter_of(document, content["filter"]),
        # Functional hip centers are compared with a regression.
        hip_regression=COMPARED if hip == FUNCTIONAL else hip,
        functional=functional.hips,
        hinges=functional.hinges,
        consistency=consistency_of(document, content["consistency"]),
        muscles=muscles_of(document, content["muscles"]),
        sharing=sharing_of(content["sharing"]),
        uncertainty=errors_of(document, content["uncertainty"], "recording", person),
        contact_spacing=content["knee"]["contact_spacing_m"],
        events=events,
        all_events_of=complete,
        files=files,
        movement=content["time"]["movement"],
        cycles=stated_cycles(content["time"]),
        notes=(*subject_notes(subject), *diameter_notes, *marker_mapping.notes, *_notes(content, forces)),
    )


def rotation_of(document: Document, laboratory: Mapping[str, Any], standing: bool = False) -> Array:
    """Return the rotation (3, 3) from the axes of the files, or of the standing trial's, to the global frame."""
    axes, key = (laboratory["forward"], laboratory["up"]), "up"
    if standing:
        axes, key = standing_axes(laboratory), "static_up" if laboratory["static_up"] else "static_forward"
    try:
        return global_from_laboratory(*axes)
    except InputError as error:
        raise document.placed(error, "laboratory", key) from None


def recorded_range(walk: Markers, forces: tuple[PlateForce, ...]) -> tuple[float, float]:
    """Return first and last time at which both markers and forces were recorded [s]; the last first if never."""
    times = [walk.time, *(plate.time for plate in forces)]
    return float(max(t[0] for t in times)), float(min(t[-1] for t in times))


def time_range_of(
    document: Document, table: Mapping[str, Any], walk: Markers, forces: tuple[PlateForce, ...]
) -> tuple[float, float]:
    """Return first and last time to analyse [s].

    Refused are times outside of what was recorded, a range that ends before it begins, and one of too few frames.
    """
    earliest, latest = recorded_range(walk, forces)
    recorded = (
        f"markers {walk.time[0]:g} to {walk.time[-1]:g} s, "
        f"forces {forces[0].time[0]:g} to {forces[0].time[-1]:g} s"
    )
    if latest <= earliest:
        problem = "markers and forces were not recorded at the same time"
        expected = f"recordings that overlap, not {recorded}"
        remedy = "name files of one trial, or export both with the same start of time"
        raise document.error(problem, "files", "forces", 0, expected, remedy, code="no_overlap")
    start = earliest if table["start_s"] is None else table["start_s"]
    end = latest if table["end_s"] is None else table["end_s"]
    half = 0.5 / walk.rate
    for key, value in (("start_s", start), ("end_s", end)):
        if not earliest - half < value < latest + half:
            problem = f"{value:g} s lies outside of what was recorded"
            expected = f"a time within both: {recorded}"
            remedy = f"choose a time from {earliest:g} to {latest:g} s"
            raise document.error(problem, "time", key, 0, expected, remedy, code="bad_range")
    if start >= end:
        problem = f"the start, {start:g} s, does not lie before the end, {end:g} s"
        key = "end_s" if table["start_s"] is None else "start_s"
        remedy = "exchange the two times, or correct one of them"
        raise document.error(problem, "time", key, 0, "start_s before end_s", remedy, code="bad_range")
    if end - start < FEWEST_FRAMES / walk.rate:
        problem = f"the range from {start:g} to {end:g} s has fewer than {FEWEST_FRAMES} frames"
        expected = f"a longer range within both recordings: {recorded}"
        remedy = f"choose an end after {start + FEWEST_FRAMES / walk.rate:g} s, or an earlier start"
        raise document.error(problem, "time", "end_s", 0, expected, remedy, code="bad_range")
    return start, end


def marker_notes(walk: Markers, static: Markers | None, functional: FunctionalTrials) -> tuple[str, ...]:
    """Return the notes of the readers of the marker files."""
    standing = () if static is None else (f"Standing trial: {note}" for note in static.sentences)
    notes = (note for markers in functional.recordings for note in markers.sentences)
    return (*walk.sentences, *standing, *dict.fromkeys(f"Functional trial: {note}" for note in notes))


def _notes(content: dict[str, Any], forces: tuple[PlateForce, ...]) -> Iterator[str]:
    """Yield notes on what the trial file leaves out."""
    swings = "only swings of its leg are analysed"
    without = swings if finds_range(content) else "it is taken as unloaded all the time"
    for side in SIDES:
        if all(map(is_stated, content["force"])) and not any(plate.side == side for plate in forces):
            yield f"No plate is given for the {SIDE_NAMES[side]} foot: {without}."
    for entry in content["force"]:
        if entry["moment"] is None and entry["plate"] is None and entry["side"] is not None:
            whose = {AUTO: "a plate"} | {
                side: f"the plate of the {name} foot" for side, name in SIDE_NAMES.items()
            }
            yield f"No moment is given for {whose[entry['side']]}: it is taken as zero."
    laboratory = content["laboratory"]
    if content["files"]["static"] is None:
        yield "There is no standing trial: segments are measured on the motion itself."
    elif standing_axes(laboratory) != (laboratory["forward"], laboratory["up"]):
        forward, up = standing_axes(laboratory)
        yield f"The standing trial is read in axes of its own: forward {forward}, up {up}."

"""The settings of a trial file: its tables, with defaults, as the subject and the options that the stages take.

A table comes as the schema leaves it: numbers are floats, keys that are absent have their default or None.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, product
from operator import attrgetter
from pathlib import Path
from typing import Any

from musclesolve.recording.data import (
    SIDES,
    ConsistencyOptions,
    Event,
    EventKind,
    FilterOptions,
    Markers,
    MuscleOptions,
    SegmentValues,
    SharingOptions,
    Side,
    Subject,
)
from musclesolve.recording.schema import Document, described_keys, trial_keys, value_problem
from musclesolve.recording.text.text_file import is_file, stated_table, without_detours
from musclesolve.recording.trial.body_file import read_body

ADULT = 18.0
"""Age from which the inertia table is taken to hold [years]."""
SMALL = 1.40
"""Stature below which a subject of unknown age is taken for a child [m]; some tenths per cent of adults are smaller."""
SPLINE_ORDERS = (2, 3)
OF_SPLINES = "cross_validation"
"""The choice of the cut-off that only the spline has."""
Values = Mapping[str, Any]


def stated_cycles(table: Values) -> tuple[tuple[float, float], ...]:
    """Return beginning and end of each cycle that [time] gives [s]."""
    return tuple((float(start), float(end)) for start, end in table["cycles_s"] or ())


def with_stated_events(
    document: Document, table: Values, of_file: tuple[Event, ...], walk: Markers
) -> tuple[tuple[Event, ...], frozenset[tuple[EventKind, Side]]]:
    """Return the events that are stated, and the kinds of which [events] states all.

    of_file: those that a C3D file states; they stay for the kinds that [events] leaves out. walk: the markers.

    Raises:
        InputError: times that do not increase, or at which nothing was recorded.
    """
    events, complete = list[Event](), set[tuple[EventKind, Side]]()
    kinds: tuple[EventKind, ...] = ("heel_strike", "toe_off")
    for kind, side in product(kinds, SIDES):
        key, first, last = f"{kind}_{side}", float(walk.time[0]), float(walk.time[-1])
        times = table[key]
        if times is None:
            continue
        if any(later <= earlier for earlier, later in pairwise(times)):
            problem, expected = "the times do not increase", "each event once, in the order of time"
            raise document.error(problem, "events", key, 0, expected, code="time_not_increasing")
        if outside := [time for time in times if not first <= time <= last]:
            problem = f"{outside[0]:g} s lies outside of what was recorded"
            expected = f"times from {first:g} to {last:g} s"
            remedy = (
                "correct it, or leave it out; strikes before and after are found where walking is periodic"
            )
            raise document.error(problem, "events", key, 0, expected, remedy, code="bad_range")
        complete.add((kind, side))
        events += [Event(kind, side, float(time), "stated") for time in times]
    events += [event for event in of_file if (event.kind, event.side) not in complete]
    return tuple(sorted(events, key=attrgetter("time"))), frozenset(complete)


def subject_of(document: Document, table: Values) -> Subject:
    """Return the subject of [subject], with what is stated of single segments, and of a body: prostheses, children.

    Raises:
        InputError: an unknown segment or key, a value that no segment has, masses that leave nothing of the body, or
            the calibrated body of another subject.
    """
    rules, segments = described_keys("segment_keys.toml"), {}
    for name, values in (table["segments"] or {}).items():
        if name not in rules["segments"]:
            problem, known = "there is no such segment", rules["segments"]
            raise document.unknown(problem, name, known, f"subject.segments.{name}")
        segments[name] = _segment(document, f"subject.segments.{name}", values, rules["keys"])
    stated = sum(segment.mass or 0.0 for segment in segments.values())
    if stated > 0.9 * table["mass_kg"] and set(segments) != set(rules["segments"]):
        problem = f"the stated segments weigh {stated:g} kg together, the body {table['mass_kg']:g} kg"
        expected = "segments that are parts of the body"
        remedy = "correct mass_kg of [subject], which counts prostheses in, or of the segments"
        raise document.error(problem, "subject", "mass_kg", 0, expected, remedy, code="conflict")
    body = read_body(document, table)
    return Subject(
        name=table["name"],
        mass=table["mass_kg"] if body is None else body.total,
        stature=table["stature_m"],
        sex=table["sex"],
        leg_length=table["leg_length_m"],
        shoe_mass=table["shoe_mass_kg"],
        knee_width=table["knee_width_m"],
        ankle_width=table["ankle_width_m"],
        marker_diameter=table["marker_diameter_m"],
        segments=segments,
        age=table["age_years"],
        body=body,
    )


def _segment(document: Document, table: str, values: Values, keys: Values) -> SegmentValues:
    """Return one [subject.segments.NAME]; a body has moments of inertia above 0, each at most the sum of the others."""
    for key, value in values.items():
        if key not in keys:
            raise document.unknown("there is no such key", key, keys, table, key, code="unknown_key")
        if wrong := value_problem(value, keys[key]):
            raise document.error(wrong[0], table, key, 0, wrong[1], "check the value and its unit")
    if not values or {"mass_kg", "mass_factor"} <= set(values):
        problem = "both mass_kg and mass_factor are given" if values else "nothing is stated of the segment"
        expected = "one of mass_kg and mass_factor, center, inertia_kg_m2"
        remedy = "write what is known of it"
        raise document.error(problem, table, None, 0, expected, remedy, code="conflict")
    mass, factor, center = (
        float(values[key]) if key in values else None for key in ("mass_kg", "mass_factor", "center")
    )
    if "inertia_kg_m2" not in values:
        return SegmentValues(mass, factor, center)
    front, side, long = inertia = [float(moment) for moment in values["inertia_kg_m2"]]
    problem = ""
    if not all(0.0 < moment < 100.0 for moment in inertia) and not (mass == 0.0 and not any(inertia)):
        problem = f"the moments of inertia are {values['inertia_kg_m2']}"
    elif 2.0 * max(inertia) > sum(inertia) * (1.0 + 1e-9):
        problem = f"the moment of inertia {max(inertia):g} exceeds the sum of the others"
    elif mass == 0.0 and any(inertia):
        problem = "a segment without mass has moments of inertia"
    if problem:
        expected = (
            "three moments above 0 [kg m2], each at most the sum of the other two, and none without mass"
        )
        raise document.error(problem, table, "inertia_kg_m2", 0, expected, "check the values and their unit")
    return SegmentValues(mass, factor, center, (front, side, long))


def subject_notes(subject: Subject) -> list[str]:
    """Return notes on a subject whom the inertia table does not describe."""
    notes, age, stated = [], subject.age, subject.segments
    if (age is not None and age < ADULT) or (age is None and subject.stature < SMALL):
        seen = f"is {age:g} years old" if age is not None else f"is {subject.stature:g} m tall, as a child is"
        notes.append(
            f"The subject {seen}; the inertia table (de Leva 1996) is of young adults, whose head is lighter and whose "
            "legs are heavier for their body mass. State masses, centers and inertias of the segments in "
            "[subject.segments.NAME], from measurements or as Jensen (1989) gives them by age"
            + (f"; stated are those of {', '.join(stated)}." if stated else ".")
        )
    if stated:
        parts = "; ".join(f"{name} {values.sentence}" for name, values in stated.items())
        notes.append(
            f"Segments as stated, not those of the inertia table: {parts}. The others share what is left of the body "
            "mass as in the table. Muscles and joints of the model are those of an intact body."
        )
    if subject.body is not None:
        notes.append(subject.body.sentence)
    return notes


def filter_of(document: Document, table: Values) -> FilterOptions:
    """Return the options of [filter]; refused is a choice of the cut-off that the filter does not have."""
    method, order, cutoff = table["method"], int(table["order"]), table["cutoff_hz"]
    if method == "spline" and order not in SPLINE_ORDERS:
        problem = f"there is no smoothing spline of half order {order}"
        raise document.error(problem, "filter", "order", 0, "2 (cubic) or 3 (quintic)", "order = 3")
    if cutoff == OF_SPLINES and method != "spline":
        problem = "cross-validation chooses the smoothness of splines"
        expected = "a number or a residual analysis for a Butterworth filter"
        remedy = 'method = "spline", or cutoff_hz = "residual_analysis"'
        raise document.error(problem, "filter", "cutoff_hz", 0, expected, remedy, code="conflict")
    if cutoff == "residual_analysis" and order < 2:
        problem = "a filter of order 1 has no optimal cut-off"
        expected = "order 2 or higher where cutoff_hz is chosen from accelerations"
        remedy = 'order = 2, or cutoff_hz = "residual_analysis_silva_2003"'
        raise document.error(problem, "filter", "order", 0, expected, remedy)
    chosen = {"cutoff_hz": None, "choice": cutoff} if isinstance(cutoff, str) else {"cutoff_hz": cutoff}
    unloaded, force_cutoff = table["unloaded_below_n"], table["force_cutoff_hz"]
    return FilterOptions(method, order, **chosen, unloaded_below=unloaded, force_cutoff_hz=force_cutoff)


def consistency_of(document: Document, table: Values) -> ConsistencyOptions:
    """Return how the motion is made consistent; with method = "none" derivatives are by splines, weights of no use."""
    if table["method"] != "none":
        return ConsistencyOptions(table["method"], table["derivatives"], table["weights"] or {})
    stated = document.content["consistency"]
    for key in ("derivatives", "weights"):
        if key in stated and stated[key] != "splines":
            problem = f'{key} of a motion that is not made consistent (method = "none")'
            expected = "derivatives by splines of every point, and no weights"
            remedy = f"leave out {key}"
            raise document.error(problem, "consistency", key, 0, expected, remedy, code="conflict")
    return ConsistencyOptions(table["method"], "splines")


def is_own_set(database: str) -> bool:
    """Return whether a muscle database is a file of the user's: a set (TOML) or an OpenSim model."""
    return database.casefold().endswith((".toml", ".osim"))


def parent_of_person(path: str | Path) -> str | None:
    """Return what a file of one person's muscles names as their parent, "" for nothing; None of any other file."""
    person = stated_table(Path(path), "person")
    return None if person is None else str(person.get("parent", ""))


def muscle_files(path: Path) -> dict[str, Path]:
    """Return role -> file of a muscle database of the user's: the file itself, and of a person's muscles the parent."""
    parent = parent_of_person(path)
    file = None if parent is None or not is_own_set(parent) else without_detours(path.parent / parent)
    # a parent that is not there is refused with its line where the factors are read
    return (
        {"muscles": path} if file is None or not is_file(file) else {"muscles": path, "muscle parent": file}
    )


def muscles_of(document: Document, table: Values) -> MuscleOptions:
    """Return the options of [muscles]; see `check_strain`."""
    check_strain(document, table["tendon_strain"])
    # A path is relative to the trial file, like every other path in it.
    database = table["database"]
    path = str(document.path.parent / database) if is_own_set(database) else database
    return MuscleOptions(**{**table, "database": path})


def check_strain(document: Document, strain: object) -> None:
    """Refuse a strain of tendons that are rigid."""
    # The tendon as written: not the default in place of a faulty word.
    if strain is not None and document.content["muscles"].get("tendon", "rigid") == "rigid":
        problem, expected = "a strain of rigid tendons", 'tendon = "elastic" beside tendon_strain'
        remedy = 'write tendon = "elastic", or leave out tendon_strain'
        raise document.error(problem, "muscles", "tendon_strain", 0, expected, remedy, code="conflict")


def sharing_of(table: Values) -> SharingOptions:
    """Return the options of [sharing]."""
    dofs = None if table["dofs"] is None else tuple(table["dofs"])
    return SharingOptions(**{**table, "dofs": dofs, "without": tuple(table.get("without") or ())})


def error_keys(body: str, person: bool = False) -> list[str]:
    """Return the keys of [uncertainty] of the sources of error that a body has, in their order.

    Args:
        body: "recording", or an OpenSim model with "moments" or "loads".
        person: whether its muscles are those of one person.
    """
    rules, kinds = trial_keys()["uncertainty"]["keys"], {body, "person"} if person else {body}
    return [key for key, rule in rules.items() if kinds & set(rule.get("of", kinds))]


def errors_of(document: Document, table: Values, body: str, person: bool = False) -> dict[str, float]:
    """Return the standard deviations that [uncertainty] states, by key.

    Args:
        document: the trial file.
        table: its [uncertainty].
        body, person: what the errors are of, see `error_keys`.

    Raises:
        InputError: one of a source that the body does not have, but for 0.
    """
    known = error_keys(body, person)
    stated = {key: sd for key, sd in table.items() if sd is not None}
    for key, sd in stated.items():
        if sd and key not in known:
            about = trial_keys()["uncertainty"]["keys"][key]["about"]
            problem = f"there is no such error here: {about}"
            expected, remedy = f"errors of {_BODIES[body]}: {', '.join(known)}", "leave it out, or write 0"
            raise document.error(problem, "uncertainty", key, 0, expected, remedy, code="conflict")
    return stated


_BODIES = {
    "recording": "a recording",
    "moments": "an OpenSim model whose moments are given",
    "loads": "an OpenSim model with loads",
}

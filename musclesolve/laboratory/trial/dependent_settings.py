"""Settings of a trial file that depend on each other: subject, events and errors; and the paths of its files."""

from collections.abc import Mapping
from itertools import pairwise, product
from operator import attrgetter
from pathlib import Path
from typing import Any

from musclesolve.constants import ADULT_AGE, RIGID
from musclesolve.laboratory.markers.marker_names import marker_sets
from musclesolve.laboratory.recording.data import SIDES, Event, EventKind, SegmentValues, Side, Subject
from musclesolve.laboratory.recording.trial_settings import (
    SEGMENTS,
    ConsistencySettings,
    EventSettings,
    FilterSettings,
    RecordedSettings,
    SegmentSettings,
    SubjectSettings,
    UncertaintySettings,
)
from musclesolve.models.settings import ModelMuscleSettings, replaces_file
from musclesolve.muscles.person import is_own_set, parent_of_person
from musclesolve.muscles.settings import MuscleSettings
from musclesolve.tables.document import Document
from musclesolve.tables.sampled import Markers
from musclesolve.tables.settings import settings_of
from musclesolve.tables.text_file import is_file, name_from, without_detours

CHILD_STATURE = 1.40
"""Stature below which a subject of unknown age is probably a child [m]; some tenths of a per cent of adults are
smaller.
"""
SPLINE_ORDERS = (2, 3)
OF_SPLINES = "cross_validation"
"""The rule for the cut-off that only the spline has."""


def with_stated_events(
    document: Document, table: EventSettings, of_file: tuple[Event, ...], walk: Markers
) -> tuple[tuple[Event, ...], frozenset[tuple[EventKind, Side]]]:
    """Return the stated events, and the kinds for which [events] states all events.

    of_file: events of a C3D file, used for the kinds that [events] does not state. walk: the markers.
    """
    events, complete = list[Event](), set[tuple[EventKind, Side]]()
    kinds: tuple[EventKind, ...] = ("heel_strike", "toe_off")
    for kind, side in product(kinds, SIDES):
        key, first, last = f"{kind}_{side}", float(walk.time[0]), float(walk.time[-1])
        times: tuple[float, ...] | None = table[key]
        if times is None:
            continue
        if any(later <= earlier for earlier, later in pairwise(times)):
            raise document.fault(
                "time_not_increasing",
                ("events", key),
                "the times do not increase",
                "each event once, in the order of time",
            )
        if outside := [time for time in times if not first <= time <= last]:
            raise document.fault(
                "bad_range",
                ("events", key),
                f"{outside[0]:g} s is outside of the recording",
                f"times from {first:g} to {last:g} s",
                "correct it, or leave it out; strikes before and after are found where walking is periodic",
            )
        complete.add((kind, side))
        events += [Event(kind, side, float(time), "stated") for time in times]
    events += [event for event in of_file if (event.kind, event.side) not in complete]
    return tuple(sorted(events, key=attrgetter("time"))), frozenset(complete)


def subject_of(document: Document, table: SubjectSettings) -> Subject:
    """Return the subject of [subject], with stated segments (prostheses, children)."""
    segments = {}
    for name, values in (table.segments or {}).items():
        document.check_known([name], "there is no segment", SEGMENTS, f"subject.segments.{name}")
        segments[name] = _segment(document, f"subject.segments.{name}", values)
    stated = sum(segment.mass or 0.0 for segment in segments.values())
    if stated > 0.9 * table.mass_kg and set(segments) != set(SEGMENTS):
        raise document.fault(
            "conflict",
            ("subject", "mass_kg"),
            f"the stated segments weigh {stated:g} kg together, the body {table['mass_kg']:g} kg",
            "segments that are parts of the body",
            "correct mass_kg of [subject], which counts prostheses in, or of the segments",
        )
    return Subject(
        name=table.name,
        mass=table.mass_kg,
        stature=table.stature_m,
        sex=table.sex,
        leg_length=table.leg_length_m,
        shoe_mass=table.shoe_mass_kg,
        knee_width=table.knee_width_m,
        ankle_width=table.ankle_width_m,
        marker_diameter=table.marker_diameter_m,
        segments=segments,
        age=table.age_years,
        skeleton=None
        if table.skeleton is None
        else document.input_file("subject", "skeleton", table.skeleton),
        date=table.recorded_on or "",
        condition=table.recorded_as or "",
        mass_from=table.mass_from,
    )


def _segment(document: Document, table: str, values: Mapping[str, Any]) -> SegmentValues:
    """Return one [subject.segments.NAME]; a body has moments of inertia above 0, each at most the sum of the others."""
    keys = settings_of(SegmentSettings)
    for key, value in values.items():
        if key not in keys:
            raise document.unknown("unknown_key", key, keys, table, key, problem="there is no such key")
        if wrong := keys[key].problem(value):
            raise document.fault(
                "bad_value", (table, key), wrong[0], wrong[1], "check the value and its unit"
            )
    if not values or {"mass_kg", "mass_factor"} <= set(values):
        problem = "both mass_kg and mass_factor are given" if values else "nothing is stated of the segment"
        expected = "one of mass_kg and mass_factor, center, inertia_kg_m2"
        raise document.fault("conflict", table, problem, expected, "write what is known of it")
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
        raise document.fault(
            "bad_value",
            (table, "inertia_kg_m2"),
            problem,
            "three moments above 0 [kg m2], each at most the sum of the other two, and none without mass",
            "check the values and their unit",
        )
    return SegmentValues(mass, factor, center, (front, side, long))


def subject_notes(subject: Subject) -> list[str]:
    """Return notes on a subject whom the inertia table of adults does not describe."""
    notes, age, stated = [], subject.age, subject.segments
    if age is not None and age < ADULT_AGE:
        notes.append(
            f"The subject is {age:g} years old: the masses of segments follow the growth of boys of 4 to 18 years "
            "(Jensen 1989); centers and radii of gyration, as shares of the length, are as in adults (de Leva "
            "1996). What is measured is stated in [subject.segments.NAME]."
        )
    elif age is None and subject.stature < CHILD_STATURE:
        notes.append(
            f"The subject is {subject.stature:g} m tall, as a child is; the inertia table (de Leva 1996) is of young "
            "adults, whose head is lighter and whose thighs are heavier for their body mass (14 % of it; at 8 years "
            "12 %). State age_years in [subject]."
        )
    if stated:
        parts = "; ".join(f"{name} {values.sentence}" for name, values in stated.items())
        notes.append(
            f"Segments as stated, not as in the inertia table: {parts}. The others share the rest of the body "
            "mass as in the table. Muscles and joints of the model belong to an intact body."
        )
    return notes


def check_filter(document: Document, table: FilterSettings) -> None:
    """Refuse an order or a rule for the cut-off that the filter does not have."""
    method, order, cutoff = table.method, table.order, table.cutoff_hz
    if method == "spline" and order not in SPLINE_ORDERS:
        raise document.fault(
            "bad_value",
            ("filter", "order"),
            f"there is no smoothing spline of half order {order}",
            "2 (cubic) or 3 (quintic)",
            "order = 3",
        )
    if cutoff == OF_SPLINES and method != "spline":
        raise document.fault(
            "conflict",
            ("filter", "cutoff_hz"),
            "cross-validation chooses the smoothness of splines",
            "a number or a residual analysis for a Butterworth filter",
            'method = "spline", or cutoff_hz = "residual_analysis"',
        )
    if cutoff == "residual_analysis" and order < 2:
        raise document.fault(
            "bad_value",
            ("filter", "order"),
            "a filter of order 1 has no optimal cut-off",
            "order 2 or higher where cutoff_hz is chosen from accelerations",
            'order = 2, or cutoff_hz = "residual_analysis_silva_2003"',
        )


def check_consistency(document: Document, table: ConsistencySettings) -> None:
    """Refuse settings without effect on a motion that is not made consistent."""
    stated = document.content.get("consistency", {}) if table.method == "none" else {}
    for key in ("derivatives", "weights"):
        if key in stated and stated[key] != "splines":
            raise document.fault(
                "conflict",
                ("consistency", key),
                f'{key} has no effect on a motion that is not made consistent (method = "none")',
                "derivatives by splines of every point, and no weights",
                f"leave out {key}",
            )


def resolved(document: Document, settings: RecordedSettings) -> RecordedSettings:
    """The settings with the path of a muscle file and, for a motion not consistent, derivatives by splines."""
    if settings.consistency.method == "none":
        settings = settings.changed(consistency={"derivatives": "splines"})
    # A path is relative to the trial file, like every other path in it.
    if is_own_set(database := settings.muscles.database):
        settings = settings.changed(muscles={"database": str(document.path.parent / database)})
    return settings


def muscle_files(path: Path) -> dict[str, Path]:
    """Return role -> file of a user's muscle database: the file itself, and the parent of a person's muscles."""
    parent = parent_of_person(path)
    file = None if parent is None or not is_own_set(parent) else without_detours(path.parent / parent)
    # a missing parent is refused with its line when the factors are read
    return (
        {"muscles": path} if file is None or not is_file(file) else {"muscles": path, "muscle_parent": file}
    )


def check_strain(document: Document, table: MuscleSettings | ModelMuscleSettings) -> None:
    """Refuse a tendon strain with rigid tendons."""
    # The tendon as written: not the default in place of a faulty word.
    if table.tendon_strain is not None and document.content["muscles"].get("tendon", RIGID) == RIGID:
        raise document.fault(
            "conflict",
            ("muscles", "tendon_strain"),
            "a strain of rigid tendons",
            'tendon = "elastic" beside tendon_strain',
            'write tendon = "elastic", or leave out tendon_strain',
        )


def error_keys(body: str, person: bool = False, predicted: bool = False) -> list[str]:
    """Return the keys of [uncertainty] for the sources of error of a body, in their order.

    Args:
        body: "recording", or an OpenSim model with "moments" or "loads".
        person: whether its muscles belong to one person.
        predicted: whether ground reactions are predicted.
    """
    kinds = {body} | ({"person"} if person else set()) | ({"predicted"} if predicted else set())
    return [key for key, rule in settings_of(UncertaintySettings).items() if kinds & set(rule.of or kinds)]


def check_errors(
    document: Document, table: UncertaintySettings, body: str, person: bool = False, predicted: bool = False
) -> None:
    """Refuse a standard deviation, other than 0, of a source of error that a body does not have.

    Args:
        document: the trial file.
        table: its [uncertainty].
        body, person, predicted: as in `error_keys`.
    """
    keys = error_keys(body, person, predicted)
    for key, sd in table.stated.items():
        if sd and key not in keys:
            about = settings_of(UncertaintySettings)[key].about
            raise document.fault(
                "conflict",
                ("uncertainty", key),
                f"there is no such error here: {about}",
                f"errors of {_BODIES[body]}: {', '.join(map(str, keys))}",
                "leave it out, or write 0",
            )


_BODIES = {
    "recording": "a recording",
    "moments": "an OpenSim model whose moments are given",
    "loads": "an OpenSim model with loads",
}


def with_paths(content: Mapping[str, Any], folder: Path, path: Path) -> dict[str, Any]:
    """The tables of a trial file in a folder, with paths relative to the folder of another trial file."""

    def moved(name: Any) -> Any:
        return name_from(folder / name, path) if isinstance(name, str | Path) else name

    tables = {name: dict(table) if isinstance(table, Mapping) else table for name, table in content.items()}
    if isinstance(tables.get("files"), dict):
        tables["files"] = {
            role: name if replaces_file(name) else moved(name) for role, name in tables["files"].items()
        }
    files = (
        ("subject", "skeleton"),
        ("emg", "file"),
        ("fascicle", "file"),
        ("markers", "set"),
        ("muscles", "database"),
    )
    for section, key in files:
        values = tables.get(section)
        name = values.get(key) if isinstance(values, dict) else None
        if not isinstance(name, str):
            continue
        bundled = (key == "set" and name in marker_sets()) or (key == "database" and not is_own_set(name))
        if not bundled:
            tables[section][key] = moved(name)
    return tables

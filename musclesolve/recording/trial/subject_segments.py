"""Segments of the subject that are not those of the inertia table: prostheses, missing segments, children, casts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from musclesolve.recording.data import SegmentValues, Subject
from musclesolve.recording.schema import Document, described_keys, value_problem

ADULT = 18.0
"""Age from which the inertia table is taken to hold [years]."""
SMALL = 1.40
"""Stature below which a subject of unknown age is taken for a child [m]; some tenths per cent of adults are smaller."""


def segments_of(document: Document, given: Mapping[str, Any]) -> dict[str, SegmentValues]:
    """Return what the trial file states of single segments; given: its table [subject].

    Raises:
        InputError: an unknown segment or key, a value that no segment has, or masses that leave nothing of the body.
    """
    rules = described_keys("segment_keys.toml")
    found = {}
    for name, values in (given["segments"] or {}).items():
        table = f"subject.segments.{name}"
        if name not in rules["segments"]:
            raise document.unknown("there is no such segment", name, rules["segments"], table)
        found[name] = _segment(document, table, values, rules["keys"])
    stated = sum(each.mass or 0.0 for each in found.values())
    if stated > 0.9 * given["mass_kg"] and set(found) != set(rules["segments"]):
        problem = f"the stated segments weigh {stated:g} kg together, the body {given['mass_kg']:g} kg"
        expected = "segments that are parts of the body"
        remedy = "correct mass_kg of [subject], which counts prostheses in, or of the segments"
        raise document.error(problem, "subject", "mass_kg", 0, expected, remedy, code="conflict")
    return found


def _segment(
    document: Document, table: str, values: Mapping[str, Any], keys: dict[str, Any]
) -> SegmentValues:
    for key, value in values.items():
        if key not in keys:
            raise document.unknown("there is no such key", key, keys, table, key, code="unknown_key")
        if wrong := value_problem(value, keys[key]):
            raise document.error(wrong[0], table, key, 0, wrong[1], "check the value and its unit")
    if not values or {"mass_kg", "mass_factor"} <= set(values):
        problem = "both mass_kg and mass_factor are given" if values else "nothing is stated of the segment"
        expected, remedy = (
            "one of mass_kg and mass_factor, center, inertia_kg_m2",
            "write what is known of it",
        )
        raise document.error(problem, table, None, 0, expected, remedy, code="conflict")
    inertia = values.get("inertia_kg_m2")
    if inertia is not None:
        _check_inertia(document, table, inertia, values.get("mass_kg"))
    return SegmentValues(
        mass=_number(values, "mass_kg"),
        mass_factor=_number(values, "mass_factor"),
        center=_number(values, "center"),
        inertia=None if inertia is None else (float(inertia[0]), float(inertia[1]), float(inertia[2])),
    )


def _check_inertia(document: Document, table: str, inertia: list[float], mass: float | None) -> None:
    """Refuse moments that no body can have: not positive, or one above the sum of the others."""
    problem = None
    if not all(0.0 < moment < 100.0 for moment in inertia) and not (mass == 0.0 and not any(inertia)):
        problem = f"the moments of inertia are {inertia}"
    elif 2.0 * max(inertia) > sum(inertia) * (1.0 + 1e-9):
        problem = f"the moment of inertia {max(inertia):g} exceeds the sum of the others"
    elif mass == 0.0 and any(inertia):
        problem = "a segment without mass has moments of inertia"
    if problem:
        expected = (
            "three moments above 0 [kg m2], each at most the sum of the other two, and none without mass"
        )
        raise document.error(problem, table, "inertia_kg_m2", 0, expected, "check the values and their unit")


def _number(values: Mapping[str, Any], key: str) -> float | None:
    return float(values[key]) if key in values else None


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
    return notes

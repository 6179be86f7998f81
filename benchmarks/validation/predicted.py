"""The section on ground reactions without plates: recordings whose plates are hidden."""

from __future__ import annotations

from collections.abc import Iterator

import musclesolve as ms
from benchmarks.instrumented_knee import HEAD, Agreement
from benchmarks.predicted_forces import Way, differences, from_live, from_motion, hidden_trials
from benchmarks.validation.page import data_folder, recorded_walk, table
from musclesolve._util.arrays import Array
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import mechanics, recording_of

FORCES = ("forward [% BW] (r)", "sideways", "upward")
MOMENTS = ("hip flexion, adduction [N m/kg]", "knee", "ankle")


def recordings() -> Iterator[tuple[str, Trial]]:
    """Name and trial of the recordings with plates."""
    data = data_folder()
    yield "recorded walk", recorded_walk()
    for walk in ("ss1", "ss9"):
        yield (
            f"instrumented knee, {walk}",
            recording_of(data / "instrumented_knee" / f"walk_{walk}.toml", "this"),
        )
    for person in ("p1", "p3"):
        yield f"treadmill, {person}", recording_of(data / "treadmill_walk" / person / "walk.toml", "this")


def cells(size: Array, r: Array, moments: Array) -> list[str]:
    """Forces with their correlations, then the moments."""
    forces = [f"{100.0 * one:.1f} ({two:.2f})" for one, two in zip(size, r, strict=True)]
    hip, adduction, knee, ankle = (f"{each:.2f}" for each in moments)
    return [*forces, f"{hip}, {adduction}", knee, ankle]


def predicted() -> str:
    """Forces and moments by the whole motion and live; the knee."""
    rows: list[list[str]] = []
    for name, trial in recordings():
        recorded = mechanics(trial)
        hidden = hidden_trials(trial, recorded, one_plate=False)
        ways: dict[str, Way] = {"prediction": from_motion, "live, 25 ms": from_live}
        for number, (how, way) in enumerate(ways.items()):
            found = cells(*differences(trial, recorded, hidden, way))
            rows.append(["" if number else name, how, *found])
    knees = []
    for walk in ("ss1", "ss9"):
        trial = recording_of(data_folder() / "instrumented_knee" / f"walk_{walk}.toml", "this")
        hidden_trial = hidden_trials(trial, mechanics(trial), one_plate=False)[0]
        for name, one in (("plates", trial), ("predicted", hidden_trial)):
            knees.append([walk, name, *Agreement.from_result(ms.run(one), walk).cells])
    return "\n\n".join(
        [
            table(("recording", "way", *FORCES, *MOMENTS), rows),
            table(("knee beside implant", "ground reactions", *HEAD), knees),
        ]
    )

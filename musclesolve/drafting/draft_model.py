"""Trial files drafted for OpenSim models: of a service, or of a model with coordinates and what lies beside them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from musclesolve.constants import KEY_POINT_CUTOFF_HZ, USUAL_COST, WALKING_CUTOFF_HZ
from musclesolve.drafting.draft_text import DraftTable, Line
from musclesolve.drafting.study.study_trials import FoundTrial, study_trials
from musclesolve.opensim.read_model import read_osim
from musclesolve.opensim.service_folders import METADATA, OPENCAP
from musclesolve.recording.text.text_file import name_from
from musclesolve.settings.trial import PREDICTED

SAME_MASS = 0.02
"""A stated mass that differs from that of the model by more is reported, as a share of it."""


def model_trials(folder: Path) -> tuple[FoundTrial, ...]:
    """The trials of OpenSim models in a folder that have no trial file yet, but those without a model or a motion."""
    return tuple(
        each
        for each in study_trials(folder).trials
        if {"model", "coordinates"} <= each.source.keys() and not each.exclude
    )


def model_tables(trial: FoundTrial, path: Path, stated_mass: float | None) -> tuple[DraftTable, ...]:
    """The tables of the trial file of a model.

    Args:
        trial: found in a folder.
        path: of the trial file.
        stated_mass: of the subject, as somebody says it [kg]; the trial's own unless given.
    """
    model = read_osim(trial.source["model"])
    mass = trial.subject.get("mass_kg") if stated_mass is None else stated_mass
    weighs, todo = f"its bodies have {model.mass:.1f} kg", ""
    if mass is not None and abs(float(mass) / model.mass - 1.0) > SAME_MASS:
        todo = (
            f"scale the model to the mass of the subject: its bodies have {model.mass:.1f} kg, stated are "
            f"{float(mass):g} kg; all forces and moments are in proportion to it"
        )
    lines = [Line("model", _name(trial, "model", path), weighs, todo)]
    lines.append(Line("coordinates", _name(trial, "coordinates", path), "its inverse kinematics"))
    if "moments" in trial.source:
        lines.append(Line("moments", _name(trial, "moments", path), "its joint moments"))
    elif trial.source["loads"] == PREDICTED:
        todo = (
            "enter the file of the ground reactions, or confirm that no plate measured them: none lies here"
        )
        lines.append(Line("loads", PREDICTED, "from the motion, without force plates", todo))
    else:
        lines.append(Line("loads", _name(trial, "loads", path), "ground reactions"))
    cutoff, why = WALKING_CUTOFF_HZ, "usual for walking; running needs 10 to 20 Hz"
    if OPENCAP in trial.kind:
        cutoff = KEY_POINT_CUTOFF_HZ
        why = "walking, by key points of video; running needs more, and better points"
    return (
        DraftTable("files", tuple(lines), tuple(dict.fromkeys(f"{note}." for note in trial.notes))),
        DraftTable("filter", (Line("cutoff_hz", cutoff, why),)),
        DraftTable("sharing", (Line("cost", USUAL_COST, "the default; others: docs/costs.md"),)),
    )


def recognized(trial: FoundTrial) -> Iterator[tuple[str, str]]:
    """Yield the recognized facts, subject and statement, for the terminal."""
    yield (
        "motion",
        f"{Path(trial.source['coordinates']).name}: coordinates of {Path(trial.source['model']).name}",
    )
    if trial.of_service:
        said = ", ".join(f"{key} {value}" for key, value in trial.subject.items())
        stated = (
            f"; stated of the subject: {said}" if said else f"; nothing is stated of the subject ({METADATA})"
        )
        yield "source", f"{trial.kind}{stated if OPENCAP in trial.kind or said else ''}"
    due: Any = trial.source.get("loads", trial.source.get("moments"))
    yield "forces", "predicted from the motion" if due == PREDICTED else Path(due).name


def _name(trial: FoundTrial, key: str, path: Path) -> str:
    return name_from(Path(trial.source[key]), path)

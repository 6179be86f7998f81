"""Drafted trial files of an OpenSim model and its motion."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve.constants import (
    FLIGHT_CUTOFF_HZ,
    KEY_POINT_CUTOFF_HZ,
    PREDICTED,
    USUAL_COST,
    WALKING_CUTOFF_HZ,
)
from musclesolve.errors import InputError
from musclesolve.laboratory.checks.model.model_case import feet_of_model
from musclesolve.laboratory.draft.draft_text import DraftTable, Line
from musclesolve.laboratory.draft.study_trials import FoundTrial
from musclesolve.laboratory.files.service_folders import METADATA, OPENCAP, WITHOUT_PLATES
from musclesolve.laboratory.motion.events.foot_events import UNLOADED_WEIGHTS, falls_with_lifted_feet
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.external_loads import load_force, read_external_loads
from musclesolve.models.opensim.inverse_dynamics import body_dynamics
from musclesolve.models.opensim.load_dynamics import whole_motion
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.read_model import read_osim
from musclesolve.tables.opensim_text import read_mot
from musclesolve.tables.text_file import name_from, read_lines

SHARING = DraftTable("sharing", (Line("cost", USUAL_COST, "the default; others: docs/costs.md"),))
MODEL_KIND = "model_trial"
"""Name of the schema of trial files of OpenSim models."""


SAME_MASS = 0.02
"""Difference of a stated mass from the mass of the model, as a share, above which it is reported."""


def model_tables(trial: FoundTrial, path: Path, stated_mass: float | None) -> tuple[DraftTable, ...]:
    """The tables of the trial file of a model.

    Args:
        trial: found in a folder.
        path: of the trial file.
        stated_mass: stated mass of the subject [kg]; by default the mass of the trial.
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
        named = " or ".join(f'"{name_from(file, path)}"' for file in trial.unclear)
        beside = f"; loads = {named} beside it adds contact forces, and compares both" if named else ""
        lines.append(Line("moments", _name(trial, "moments", path), f"its joint moments{beside}"))
    elif trial.source["loads"] == PREDICTED:
        candidates = ", ".join(name_from(file, path) for file in trial.unclear)
        todo = (
            f"enter the file of its ground reactions or moments, whose name does not show it: {candidates}"
            if candidates
            else "enter the file of the ground reactions, or confirm that no plate measured them: none lies here"
        )
        lines.append(Line("loads", PREDICTED, "from the motion, without force plates", todo))
    else:
        lines.append(Line("loads", _name(trial, "loads", path), "ground reactions"))
    return (
        DraftTable("files", tuple(lines), tuple(dict.fromkeys(f"{note}." for note in trial.notes))),
        DraftTable("filter", (filter_line(trial, model),)),
        SHARING,
    )


def filter_line(trial: FoundTrial, model: OpenSimModel) -> Line:
    """The cut-off frequency for the coordinates of a trial, and where it comes from."""
    if OPENCAP in trial.kind:
        why = "walking, by key points of video; running needs more, and better points"
        return Line("cutoff_hz", KEY_POINT_CUTOFF_HZ, why)
    if _is_simulated(Path(trial.source["coordinates"])):
        why = "rows at the steps of an integrator: a simulated motion, smooth as it is"
        return Line("cutoff_hz", "none", why)
    if has_flight(trial, model):
        return Line("cutoff_hz", FLIGHT_CUTOFF_HZ, "there is flight, as in running and jumping")
    return Line("cutoff_hz", WALKING_CUTOFF_HZ, "usual for walking; running needs 10 to 20 Hz")


def has_flight(trial: FoundTrial, model: OpenSimModel) -> bool:
    """Whether the model falls at times while no load carries it and both feet are over the floor, as far as files show.

    A seat carries, too, and the feet may leave the floor then: the loads under the feet remain.
    """
    loads = trial.source.get("loads", PREDICTED)
    try:
        motion = coordinate_motion(model, trial.source["coordinates"], WALKING_CUTOFF_HZ)
        bodies = body_dynamics(model, whole_motion(model, motion))
        feet, pose = feet_of_model(model, bodies), bodies.pose
        acting = () if loads == PREDICTED else read_external_loads(loads, model, motion.time, pose)
    except InputError:  # `check` reports it
        return False
    if len(feet) < 2 or len(motion.time) < 2:
        return False
    force = np.nan_to_num(load_force(model, acting, motion.time, pose)[:, 1])
    root = bodies.pose.position[:, model.body_number[model.roots[0].outboard.body], 1]
    rate = 1.0 / float(np.diff(motion.time).mean())
    points = [end[:, 1] for foot in feet for end in (foot.heel, foot.tip)]
    unloaded = force < UNLOADED_WEIGHTS * model.weight
    return len(falls_with_lifted_feet(motion.time, rate, root, points, unloaded)) > 0


def _is_simulated(coordinates: Path) -> bool:
    """Whether the last row repeats the row before, as where RRA wrote the steps of its integrator."""
    try:
        table = read_mot(coordinates)
        last = [line.split() for line in read_lines(coordinates) if line.strip()][-2:]
    except InputError:
        return False
    return len(table.time) > 1 and last[0] == last[1]


def recognized(trial: FoundTrial) -> Iterator[tuple[str, str]]:
    """Yield the recognized facts, subject and statement, for the terminal."""
    motion, model = (Path(trial.source[key]).name for key in ("coordinates", "model"))
    yield "motion", f"{motion}: coordinates of {model}"
    if trial.of_service:
        said = ", ".join(f"{key} {value}" for key, value in trial.subject.items())
        stated = (
            f"; stated of the subject: {said}" if said else f"; nothing is stated of the subject ({METADATA})"
        )
        yield "source", f"{trial.kind}{stated if OPENCAP in trial.kind or said else ''}"
    due: Any = trial.source.get("loads", trial.source.get("moments"))
    yield "forces", "predicted from the motion" if due == PREDICTED else Path(due).name
    for note in trial.notes:
        if note != WITHOUT_PLATES:
            yield "", note


def _name(trial: FoundTrial, key: str, path: Path) -> str:
    return name_from(Path(trial.source[key]), path)

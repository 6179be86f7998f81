"""A model file of the user's as a muscle set: `[muscles] database = "my_model.osim"`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from muscle_db import Muscle, MuscleDatabase
from musclesolve.errors import InputError
from musclesolve.opensim.leg.left_leg import is_left, left_leg_note, listed
from musclesolve.opensim.leg.leg_bodies import leg_bodies
from musclesolve.opensim.model import OpenSimModel, OpenSimMuscle
from musclesolve.opensim.muscle_set import SetDescription, leg_muscles, muscle_set
from musclesolve.opensim.neutral_leg import NeutralLeg
from musclesolve.opensim.read_model import read_osim
from musclesolve.opensim.tendon_shift import shift_note
from musclesolve.recording.text.text_file import sha256


def leg_muscle_set(path: str | Path) -> MuscleDatabase:
    """The muscles of the right leg of a model file as a set; the left leg is its mirror image.

    The file does not state the stature that the model has: pelvis and foot grow with the length of thigh and shank
    (`segment_scales`). Muscles known to `leg_names.toml` have the names and groups of every set, others their own names
    and the group "other". `notes` say which muscles of the model are left out, where its left leg differs, and which
    tendons are longer than in the model since OpenSim reports lengths that are not those of the path (`tendon_shift`).

    Raises:
        InputError: the file cannot be read, has no leg, or a muscle of it needs something that is not supported.
    """
    return _made(str(path), sha256(Path(path)))


@lru_cache(maxsize=8)
def _made(path: str, sha: str) -> MuscleDatabase:
    """Made once for each content of a file."""
    model = read_osim(path)
    about = SetDescription(
        name=model.file.stem,
        source=f"{model.file.name}: {model.publications or model.credits or 'an OpenSim model'}",
        stature=None,
        bodies=leg_bodies(model),
    )
    made, own = muscle_set(model, about), leg_muscles(NeutralLeg(model, about.bodies))
    # Files that are written for this model need its own spelling.
    pairs = zip(made, own, strict=True)
    muscles = tuple(replace(muscle, short_name=other.name.removesuffix("_r")) for muscle, other in pairs)
    _require_names_once(model, own, muscles)
    shift = [muscle.tendon_slack_length - muscle.printed().tendon_slack_length for muscle in muscles]
    longer = shift_note([muscle.name for muscle in own], np.array(shift))
    return replace(made, muscles=muscles, notes=(*_notes(model, own), *([longer] if longer else [])))


def _require_names_once(model: OpenSimModel, own: list[OpenSimMuscle], muscles: tuple[Muscle, ...]) -> None:
    known: dict[str, str] = {}
    for muscle, other in zip(muscles, own, strict=True):
        if known.setdefault(muscle.name, other.name) != other.name:
            raise InputError(
                f"{known[muscle.name]} and {other.name} are both the {muscle.name.replace('_', ' ')}",
                code="duplicate_name",
                file=model.file,
                expected="every muscle once",
                remedy="rename one of them in OpenSim",
            )


def _notes(model: OpenSimModel, own: list[OpenSimMuscle]) -> tuple[str, ...]:
    names = [muscle.name for muscle in own]
    others = [name for name in model.muscles if name not in names and not is_left(name)]
    left_out = f"Muscles of {model.file.name} whose path is not on pelvis and leg alone are left out: {listed(others)}."
    return tuple(note for note in (left_out if others else "", left_leg_note(model, own)) if note)

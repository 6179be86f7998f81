"""Names that the result of a trial will have, from its trial file and the files of set, skeleton or model.

Skeleton and muscle set, or the OpenSim model, define the names of degrees of freedom, joints and muscles. So a misspelt
name is found before any computation; no recording is read.

The words of a question name a muscle, a muscle of both sides, or a function group.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeVar

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, grouped
from musclesolve._util.checks import check_number, check_type
from musclesolve._util.messages import check_known, unknown_name
from musclesolve._util.sides import has_side, joint_kind, side_of, split_side, with_side
from musclesolve.dynamics.model.topology import load_topology
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.laboratory.recording.trial_document import of_model, trial_document
from musclesolve.laboratory.recording.trial_settings import ModelSettings, RecordedSettings
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES
from musclesolve.models.body import SharingGroup
from musclesolve.models.opensim.find_muscle_set import find_muscle_set
from musclesolve.models.opensim.muscle_set import long_name
from musclesolve.models.opensim.person_file import person_of_set
from musclesolve.models.opensim.read_model import read_osim
from musclesolve.muscles.person import is_own_set
from musclesolve.muscles.scaling.scale_muscles import served_dofs
from musclesolve.tables.document import examined

COMPARTMENTS = ("medial", "lateral")
"""Contacts of a knee."""
ROTATIONS = ("tilt", "list", "rotation")
FIXED = {
    "axis": ("x", "y", "z"),
    "direction": ("axial", "anterior", "medial"),
    "pelvis_rotation": ROTATIONS,
    "trunk_rotation": ROTATIONS,
}
"""Labels that every trial has, by dimension."""
NOT_NAMED = ("time", "side", "contact", "stride", "cycle")
"""Dimensions whose labels are in no name of a curve."""


@dataclass(frozen=True)
class KnownNames:
    """Labels of a trial without side, by dimension, and the questions of its file."""

    labels: Mapping[str, frozenset[str]]
    questions: frozenset[str]

    def curves(self, variable: str) -> list[str] | None:
        """The names of the curves of a quantity; None where the labels of a dimension are not known here."""
        dims = ["part" if dim == "of" else dim for dim in QUANTITIES[variable].dims if dim not in NOT_NAMED]
        named = [FIXED.get(dim) or sorted(self.labels.get(dim, ())) for dim in dims]
        if not all(named):
            return None
        return [" ".join(labels) for labels in product(*named)] if dims else [variable]

    def check(self, name: str, what: str, dims: Sequence[str]) -> None:
        """Refuse a name of a question, with or without its side, that no label has, where groups are known."""
        known = [label for dim in dims for label in sorted(self.labels.get(dim, ()))]
        if "part" in self.labels and name not in known and split_side(name)[0] not in known:
            raise unknown_name(name, what, known)


def known_names(path: Path) -> KnownNames:
    """Find the names of the curves of a trial from its trial file and set, skeleton or model; read no recording."""
    document = trial_document(path)
    labels: dict[str, set[str]] = {"dof": set(), "joint": set(), "muscle": set()}

    def add(dim: str, names: Iterable[str]) -> None:
        labels[dim] |= {split_side(name)[0] for name in names if has_side(name)}

    if of_model(document):
        settings = examined(document, ModelSettings)[0]
        model = read_osim(document.input_file("files", "model", settings.files.model))
        add("dof", model.coordinates)
        add("joint", (joint.name for joint in model.joints))
        add("muscle", model.muscles)
        groups = {long_name(split_side(name)[0])[1] for name in model.muscles}
        if all(has_side(name) for name in model.muscles) and "other" not in groups:
            labels["part"] = groups  # else groups are named by joints, which depend on what is shared
        questions = settings.questions.ask
    else:
        of_recording = examined(document, RecordedSettings)[0]
        skeleton = of_recording.subject.skeleton
        topology = (
            load_topology()
            if skeleton is None
            else load_topology(document.input_file("subject", "skeleton", skeleton))
        )
        add("dof", (dof.name for dof in topology.dofs))
        name = of_recording.muscles.database
        stated = document.path.parent / name if is_own_set(name) else name
        person = person_of_set(stated)
        database = find_muscle_set(stated if person is None else person.parent)
        served = {dof for side in SIDES for dof in served_dofs(topology, database, side)}
        add("joint", (dof.pivot for dof in topology.dofs if dof.name in served))
        labels["muscle"] |= {muscle.name for muscle in database}
        labels["part"] = {muscle.group for muscle in database}
        questions = of_recording.questions.ask
    joints = labels["joint"]
    labels["place"] = {
        *joints,
        *(f"{joint}_{of}" for joint in joints if joint_kind(joint) == "knee" for of in COMPARTMENTS),
    }
    return KnownNames({dim: frozenset(names) for dim, names in labels.items()}, frozenset(questions or ()))


def muscle_groups(result: xr.Dataset) -> dict[str, tuple[str, ...]]:
    """The muscles of each function group of a side, by the name of the group with the side: ankle_dorsiflexors_r."""
    pairs = zip(map(str, result["muscle"].values), map(str, result["group"].values), strict=True)
    groups = grouped((with_side(group, side_of(muscle)), muscle) for muscle, group in pairs)
    return {name: tuple(muscles) for name, muscles in groups.items()}


def muscles_named(name: str, result: xr.Dataset) -> tuple[str, ...]:
    """The muscles that a name means: soleus_r, soleus (both sides), ankle_dorsiflexors_r, ankle_dorsiflexors."""
    known = names_of_muscles(result)
    check_known([name], "muscle or group of muscles", known)
    return known[name]


def names_of_muscles(result: xr.Dataset) -> dict[str, tuple[str, ...]]:
    """The muscles of every name that `muscles_named` knows."""
    muscles = [str(value) for value in result["muscle"].values]
    single = muscle_groups(result) | {muscle: (muscle,) for muscle in muscles}
    known: dict[str, tuple[str, ...]] = {}
    for name, muscles_of_name in single.items():
        stem, side = split_side(name)
        if side_of(name) == side and stem not in muscles:
            known[stem] = tuple(dict.fromkeys((*known.get(stem, ()), *muscles_of_name)))
    return known | single


def strength_factors(strength: Mapping[str, float], result: xr.Dataset) -> dict[str, float]:
    """Muscle -> factor on its maximum isometric force; of a muscle that is named twice the product.

    strength: muscle or group (see `muscles_named`) -> factor from 0 to 10; zero: the muscle is missing.
    """
    factors: dict[str, float] = {}
    check_type(strength, Mapping, "strength", "a dict: muscle or group -> factor")
    for name, value in strength.items():
        factor = check_factor(name, value)
        for muscle in muscles_named(name, result):
            factors[muscle] = factors.get(muscle, 1.0) * factor
    return factors


Stated = TypeVar("Stated")


def of_sides(stated: Mapping[str, Stated], names: Sequence[str], what: str, more: str) -> dict[str, Stated]:
    """Give each of some names the value that is stated for it; a name without side is of both sides."""
    values: dict[str, Stated] = {}
    for name, value in stated.items():
        meant = [known for known in names if name in (known, split_side(known)[0])]
        if not meant:
            stems = dict.fromkeys(split_side(known)[0] for known in names)
            raise unknown_name(name, what, [*stems, *names], more)
        values |= dict.fromkeys(meant, value)
    return values


def check_factor(name: str, value: object) -> float:
    """The factor from 0 to 10 on the strength of a muscle or group."""
    expected = "the name of a muscle or group with a factor from 0 to 10 on its strength, such as soleus=0.5"
    return check_number(value, name, expected, least=0.0, most=10.0, where="strength")


def factors_of(part: SharingGroup, factors: Mapping[str, float]) -> Array:
    """The factors (n,) of the muscles of a part; 1 where none is given."""
    return np.array([factors.get(name, 1.0) for name in part.state.parameters.names])

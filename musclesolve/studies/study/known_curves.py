"""Quantities and outcomes of a study, held against the names that its trials have, before anything is computed.

The names of degrees of freedom, joints and muscles stand in skeleton and muscle set, or in the OpenSim model. Trials
are looked at until all names are found; where a trial cannot be read, or its names are known only from its result, such
as the function groups of a model, the outcome is looked up again in the means.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from musclesolve._util.sides import has_side, split_side
from musclesolve.dynamics.model.topology_file import load_topology
from musclesolve.errors import InputError
from musclesolve.opensim.find_muscle_set import find_muscle_set
from musclesolve.opensim.person_file import person_of_set
from musclesolve.opensim.read_model import read_osim
from musclesolve.recording.schema import examined, trial_document
from musclesolve.recording.trial.model_trial import is_model_trial
from musclesolve.recording.trial.settings import is_own_set
from musclesolve.results.cycles.outcomes import value_of
from musclesolve.results.dataset.quantities import QUANTITIES
from musclesolve.settings.trial import ModelSettings, RecordedSettings
from musclesolve.studies.study.study_file import Study

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
RESULTANT = "resultant"


@dataclass(frozen=True)
class KnownNames:
    """Labels of a trial without side, by dimension, and the questions that it asks."""

    labels: Mapping[str, frozenset[str]]
    asked: frozenset[str]

    def curves(self, variable: str) -> list[str] | None:
        """The names of the curves of a quantity; None where a dimension has other names than are known here."""
        dims = ["part" if dim == "of" else dim for dim in QUANTITIES[variable].dims if dim not in NOT_NAMED]
        named = [FIXED.get(dim) or sorted(self.labels.get(dim, ())) for dim in dims]
        if not all(named):
            return None
        return [" ".join(labels) for labels in product(*named)] if dims else [variable]


def known_names(path: Path) -> KnownNames:
    """The names that the curves of a trial will have, of its trial file and what that names; no recording is read.

    Raises:
        InputError: a file that is named cannot be read.
    """
    of_model = is_model_trial(trial_document(path).content)
    document = trial_document(path, ModelSettings if of_model else RecordedSettings)
    labels: dict[str, set[str]] = {"dof": set(), "joint": set(), "muscle": set()}

    def add(dim: str, names: Iterable[str]) -> None:
        labels[dim] |= {split_side(name)[0] for name in names if has_side(name)}

    if of_model:
        settings = examined(document, ModelSettings)[0]
        model = read_osim(document.input_file("files", "model", settings.files.model))
        add("dof", model.coordinates)
        add("joint", (joint.name for joint in model.joints))
        add("muscle", model.muscles)
        asked = settings.questions.ask
    else:
        of_recording = examined(document, RecordedSettings)[0]
        skeleton = of_recording.subject.skeleton
        topology = (
            load_topology()
            if skeleton is None
            else load_topology(document.input_file("subject", "skeleton", skeleton))
        )
        add("dof", (dof.name for dof in topology.dofs))
        add("joint", (dof.pivot for dof in topology.dofs))
        name = of_recording.muscles.database
        stated = document.path.parent / name if is_own_set(name) else name
        person = person_of_set(stated)
        database = find_muscle_set(stated if person is None else person.parent)
        labels["muscle"] |= {muscle.name for muscle in database}
        labels["part"] = {muscle.group for muscle in database}
        asked = of_recording.questions.ask
    return KnownNames({dim: frozenset(names) for dim, names in labels.items()}, frozenset(asked or ()))


def check_curves(study: Study, trials: Iterable[Path]) -> None:
    """Refuse quantities and outcomes of [design] that no trial of a study has.

    Args:
        study: the study file.
        trials: the trial files of its trials.

    Raises:
        InputError: a name that no trial has, with those most like it; an outcome of a question that no trial asks.
    """
    design = study.design
    stated = [("quantities", name, name, "") for name in design.quantities or ()]
    for text in design.outcomes or ():
        variable, _, name = text.partition(" ")
        if (value := value_of(text)) is not None:
            variable, name = value[0], value[1]
        stated.append(("outcomes", text, variable, name or variable))
    open_ones = [each for each in stated if each[2] in QUANTITIES]
    there: dict[str, None] = {}
    unknown, unasked = dict[str, str](), dict[str, str]()
    for path in trials:
        if not open_ones:
            return
        try:
            known = known_names(path)
        except InputError:
            return  # the trial itself is refused, with the reason
        left = []
        for key, text, variable, name in open_ones:
            answer = QUANTITIES[variable].answer
            curves = known.curves(variable)
            if answer and answer not in known.asked:
                unasked[text] = answer
            elif name and curves is not None and name not in {*curves, *_resultants(variable, curves)}:
                there |= dict.fromkeys(f"{variable} {curve}" for curve in curves)
                unknown[text] = variable
            else:
                continue
            left.append((key, text, variable, name))
        open_ones = left
    for key, text, variable, _ in open_ones:
        if text in unknown:
            known_ones = [curve for curve in there if curve.startswith(f"{variable} ")]
            raise study.document.unknown("studies.no_such_curve", text, known_ones, "design", key, name=text)
        raise study.document.error(
            "studies.question_not_asked", "design", key, name=text, question=unasked[text]
        )


def _resultants(variable: str, curves: Iterable[str]) -> set[str]:
    """The names of magnitudes, which values of vectors have."""
    if QUANTITIES[variable].dims[-1:] != ("axis",):
        return set()
    return {f"{curve.rpartition(' ')[0]} {RESULTANT}".strip() for curve in curves}

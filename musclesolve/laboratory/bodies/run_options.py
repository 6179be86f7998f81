"""Options of a run, looked up by name before anything is computed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import muscle_db
from musclesolve._util.checks import check_choice
from musclesolve._util.messages import as_text, check_keywords, check_known
from musclesolve._util.sides import BOTH, SIDES, split_side
from musclesolve.constants import ELASTIC
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.topology import HUMAN, load_topology
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.laboratory.bodies.emg_informed import informed_cost
from musclesolve.laboratory.bodies.measured_activation import (
    Channels,
    channel_muscles,
    channel_names,
    fascicle_muscles,
)
from musclesolve.laboratory.recording.data import SIDE_NAMES, AnyTrial, Trial
from musclesolve.laboratory.recording.trial_document import of_model, trial_document
from musclesolve.laboratory.recording.trial_settings import RecordedSettings, run_arguments
from musclesolve.laboratory.trial.trial_file import read_document, read_trial
from musclesolve.models.body import Sharing
from musclesolve.models.body_sharing import motion_cost, solver_search
from musclesolve.models.opensim.find_muscle_set import fitting_muscle_set
from musclesolve.models.opensim.person_file import person_of_set
from musclesolve.muscles.curves.curve_family import curve_family
from musclesolve.muscles.person import PersonMuscles
from musclesolve.muscles.scaling.scale_muscles import (
    MUSCLE_SETTINGS,
    ScaledMuscles,
    checked_passive,
    joined,
    scale_muscles,
    served_dofs,
)
from musclesolve.muscles.strength import (
    TendonStrain,
    check_tendon_strains,
    checked_strength,
    set_tendon_strains,
)
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import Solver, find_solver, refuse_unfit
from musclesolve.tables.document import Document, check_value
from musclesolve.tables.settings import tables_of
from musclesolve.tables.text_file import file_path

_SIDES: dict[str, tuple[str, ...]] = {**{side: (side,) for side in SIDES}, BOTH: SIDES}

Found = TypeVar("Found")
TrialOfKind = TypeVar("TrialOfKind", bound=AnyTrial)


@dataclass(frozen=True)
class Options:
    """The sides to analyze, the muscles with their strength, passive forces and lengths, and the sharing settings.

    dofs are names without side; channels: the muscles of every channel of EMG; fascicles: the muscle of every measured
    fascicle length; curves and tendon_strain: see `scale_muscles`; person: the person whose factors multiply the scaled
    muscles of the set, with the names of the set.
    """

    sides: tuple[str, ...]
    database: muscle_db.MuscleDatabase
    sharing: Sharing
    dofs: tuple[str, ...]
    strength: str | float = MUSCLE_SETTINGS["strength"].default
    passive: str = MUSCLE_SETTINGS["passive"].default
    fiber_lengths: str | None = None  # None: the rule of the set
    channels: Channels = ()
    fascicles: tuple[str, ...] = ()
    curves: str | None = None  # None: the family of the set
    tendon_strain: TendonStrain | None = None  # None: the strains of the set
    person: PersonMuscles | None = None

    @property
    def curve_name(self) -> str:
        """The family of Hill curves: `curves`, or the family of the muscle set."""
        return self.curves or self.database.curves

    @property
    def fiber_length_rule(self) -> str:
        """Scaling rule of fiber and tendon lengths: `fiber_lengths`, or the rule of the muscle set."""
        return self.fiber_lengths or self.database.fiber_lengths

    def muscles(self, model: Model, near: Sequence[ScaledMuscles] | None = None) -> tuple[ScaledMuscles, ...]:
        """The groups of muscles on the analyzed sides of a subject (see `scale_muscles`, `ScaledMuscles.apart`).

        near: the muscles of each side (`on_sides`) of a nearly equal subject.
        """
        sides = self.on_sides(model, near)
        served = [set(one.dof_names) for one in sides]
        if len(sides) > 1 and set.intersection(*served):  # joints of the trunk, which both sides move
            sides = [joined(sides)]
        if self.person is not None:
            sides = [one.of_person(self.person) for one in sides]
        return tuple(group for one in sides for group in one.apart())

    def on_sides(self, model: Model, near: Sequence[ScaledMuscles] | None = None) -> list[ScaledMuscles]:
        """The muscles of the set on each analyzed side of a subject, without the factors of a person."""
        rules = (self.strength, self.passive, self.fiber_lengths, self.curves, self.tendon_strain)
        known = dict(zip(self.sides, near or (), strict=False))
        return [scale_muscles(model, self.database, side, *rules, known.get(side)) for side in self.sides]


def find_options(
    trial: Trial, cost: str | Cost | None = None, solver: str | Solver | None = None, side: str = "both"
) -> Options:
    """Look up the options: arguments first, then the trial file."""
    check_choice(side, "side", _SIDES)
    sides, sharing, muscles = _SIDES[side], trial.settings.sharing, trial.settings.muscles

    def in_trial(table: str, key: str, find: Callable[..., Found], value: object) -> Found:
        """Find the option named in the trial file; an error without a file gets the place of the key."""
        try:
            return find(value)
        except InputError as error:
            if error.file is not None:
                raise
            raise trial.document.placed(error, table, key) from error

    of_muscles = partial(in_trial, "muscles")
    bundled = muscles.database in muscle_db.available()
    person = None if bundled else of_muscles("database", person_of_set, muscles.database)
    set_name = muscles.database if person is None else person.parent
    database = of_muscles("database", lambda name: fitting_muscle_set(name, muscles.fiber_lengths), set_name)
    topology = load_topology(trial.subject.skeleton or HUMAN)
    served = of_muscles(
        "database", lambda name: sum((served_dofs(topology, name, side) for side in sides), ()), database
    )
    of_feet = topology.dofs_between([topology.root, *(f"foot_{foot_side}" for foot_side in sides)])
    if trial.legs and not set(sides) & set(trial.legs) and set(served) & set(of_feet):
        name = SIDE_NAMES[sides[0]]  # type: ignore[index]
        legs = [SIDE_NAMES[leg] for leg in trial.legs]
        raise file_error(
            "bad_forces",
            (trial.path, "side"),
            f"the {name} leg was not measured: no contact of its foot is completely on a plate",
            f"a leg that was measured: {', '.join(map(str, legs))}",
            "choose the other leg, or a time range in [time]",
        )
    elastic = muscles.tendon == ELASTIC
    cost_of = motion_cost if elastic else find_cost
    chosen = in_trial("sharing", "cost", cost_of, sharing.cost) if cost is None else cost_of(cost)
    check_emg(trial, chosen)
    chosen = in_trial("emg", "weight", partial(informed_cost, trial), chosen)
    solver_of = solver_search(chosen, elastic, solver)
    method = in_trial("sharing", "solver", solver_of, sharing.solver) if solver is None else solver_of(solver)
    if not elastic:
        refuse_unfit(method, chosen, reserves=True)
    dof_names = tuple(dict.fromkeys(split_side(dof)[0] for dof in served))
    nominal = {split_side(dof.name)[0] for dof in topology.dofs if dof.nominal}
    usual = tuple(dof for dof in dof_names if dof not in nominal)
    dofs = in_trial(
        "sharing", "dofs", partial(_dofs, known=dof_names, database=database), sharing.dofs or usual
    )
    channels, fascicles = Channels(), tuple[str, ...]()
    if trial.emg is not None:
        channels = channel_muscles(trial, database)
    if trial.fascicles is not None:
        fascicles = fascicle_muscles(trial.fascicles, trial.document, channel_names(database), database.name)
    strain = of_muscles(
        "tendon_strain", lambda strains: set_tendon_strains(database, strains), muscles.tendon_strain
    )
    if elastic:
        names = [muscle.name for muscle in database]
        of_muscles("database", lambda strains: check_tendon_strains(strains, names, database.name), strain)
    if muscles.curves is not None:
        of_muscles("curves", curve_family, muscles.curves)
    return Options(
        sides=sides,
        database=database,
        sharing=Sharing(chosen, method, muscles.tendon, sharing.reserve_weight, sharing.least_activation),
        dofs=dofs,
        strength=of_muscles("strength", lambda rule: checked_strength(rule, database), muscles.strength),
        passive=of_muscles("passive", lambda rule: checked_passive(rule, database), muscles.passive),
        fiber_lengths=muscles.fiber_lengths,
        channels=channels,
        fascicles=fascicles,
        curves=muscles.curves,
        tendon_strain=muscles.tendon_strain,
        person=person,
    )


_TIMES = {"start_s": "start_s (--start)", "end_s": "end_s (--end)"}
"""Arguments of a time range, with their options on the command line."""


def read_in_time_range(
    trial: AnyTrial | str | Path, settings: Mapping[str, Any]
) -> tuple[AnyTrial, dict[str, Any]]:
    """Read a trial in the time range of `start_s` and `end_s`, if some are stated; the trial and the other settings."""
    times = _stated_times(settings)
    if isinstance(trial, AnyTrial) or not times:
        return in_time_range(read_trial(trial), settings)
    document = trial_document(file_path(trial, "read_trial"))
    if of_model(document) or not isinstance(document.content.get("time", {}), Mapping):
        return read_document(document), dict(settings)
    return _in_times(document, times), {key: settings[key] for key in settings if key not in times}


def in_time_range(trial: TrialOfKind, settings: Mapping[str, Any]) -> tuple[TrialOfKind, dict[str, Any]]:
    """The trial in the time range of `start_s` and `end_s`, if some are stated, and the other settings.

    Gaps, events and plates are examined in the time range, so that the files are read again.
    """
    times = _stated_times(settings)
    if not times or not isinstance(trial, Trial) or not trial.as_read:
        return trial, dict(settings)
    changed = _in_times(trial.document, times)
    return cast(TrialOfKind, changed), {key: settings[key] for key in settings if key not in times}


def _stated_times(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: settings[key] for key in _TIMES if settings.get(key) is not None}


def _in_times(document: Document, times: Mapping[str, Any]) -> Trial:
    """Read the recording of a trial file in another time range; a copy is no trial as its file states it."""
    return replace(cast(Trial, read_document(document.changed("time", times, _TIMES))))


def with_arguments(trial: TrialOfKind, **settings: Any) -> TrialOfKind:
    """The trial with settings by their keyword in `run` instead of the settings of its file; None leaves the setting of
    the file.

    Raises:
        TypeError: there is no such keyword.
        InputError: a value that the trial file would refuse.
    """
    places, tables = run_arguments(), dict[str, dict[str, Any]]()
    others = "other settings by read_trial(path).with_settings"
    check_keywords(settings, (*places, "side", "progress"), "run()", others)
    trial, settings = in_time_range(trial, settings)
    for name, value in settings.items():
        if value is not None:
            table, key = places[name]
            if table not in tables_of(type(trial.settings)):
                raise input_error(
                    "conflict",
                    where=name,
                    problem=f"{name} of an OpenSim model",
                    expected="a recording of markers: the motion of a model is the one of its coordinates",
                    remedy=f"leave out {name}; residuals of a model are reduced by OpenSim (RRA) "
                    "before its motion is given",
                )
            setting = tables_of(RecordedSettings)[table].settings[key]
            check_value(value, setting, name)
            tables.setdefault(table, {})[key] = setting.converted(value)
    return trial if not tables else trial.with_settings(**tables)


def check_emg(trial: Trial, cost: Cost) -> None:
    """Refuse a cost that needs EMG where the trial has none."""
    if "emg" in cost.data and trial.emg is None:
        raise trial.document.error(
            "missing_key",
            "emg",
            problem=f"the cost {cost.label} needs measured EMG, which this trial file does not name",
            expected="[emg] with a file, and [emg.channels] with the muscles of its channels",
            remedy="add [emg] to the trial file, or choose another cost",
        )


def check_consistent(trial: AnyTrial | None, study: str) -> None:
    """Refuse a study of muscle forces on a motion that is not made consistent: none of its frames is shared."""
    if isinstance(trial, Trial) and trial.settings.consistency.method == "none":
        raise trial.document.fault(
            "conflict",
            ("consistency", "method"),
            f'{study} of a motion that is not made consistent (method = "none"), which no muscles share',
            "a motion that satisfies the constraints of the model",
            'choose method = "nearest"',
        )


def check_rigid(trial: Trial, study: str) -> None:
    """Refuse elastic tendons for a study that requires rigid ones."""
    if trial.settings.muscles.tendon == ELASTIC:
        addition = "" if trial.settings.muscles.tendon_strain is None else ", and remove tendon_strain"
        raise trial.document.fault(
            "conflict",
            ("muscles", "tendon"),
            f"{study} with elastic tendons",
            "rigid tendons",
            f'write tendon = "rigid"{addition}',
        )


def check_choices(cost: str | Cost | None, solver: str | Solver | None, side: str) -> None:
    """Refuse unknown names before a trial is read; None means the choice of the trial."""
    check_choice(side, "side", _SIDES)
    if cost is not None:
        find_cost(cost)
    if solver is not None:
        find_solver(solver)


def _dofs(
    names: tuple[str, ...], known: tuple[str, ...], database: muscle_db.MuscleDatabase
) -> tuple[str, ...]:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise input_error(
                "duplicate_name",
                problem=f"{as_text(name)} occurs twice",
                expected="every degree of freedom once",
            )
        check_known([name], "degree of freedom", known, f" of the muscles of {database.name}")
    return names

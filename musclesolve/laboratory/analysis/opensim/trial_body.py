"""The body of an OpenSim model from its trial file or keywords: errors about settings name their keys."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.checks import check_choice
from musclesolve._util.messages import check_keywords
from musclesolve._util.sides import ALL_SIDES, split_side, with_side
from musclesolve.constants import ELASTIC
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.analysis.emg_informed import informed_cost
from musclesolve.laboratory.analysis.measured_activation import (
    Channels,
    MeasuredActivation,
    MeasuredFascicles,
    fascicle_muscles,
)
from musclesolve.laboratory.analysis.opensim.assemble_body import TIME_RANGE, model_body
from musclesolve.laboratory.analysis.opensim.model_body import ModelBody
from musclesolve.laboratory.recording.trial_settings import (
    REDUCED,
    ModelSettings,
    TimeSettings,
    share_arguments,
)
from musclesolve.laboratory.trial.muscle_signals import CHANNELS, check_overlap
from musclesolve.laboratory.trial.trial_file import ModelTrial
from musclesolve.models.body import Sharing
from musclesolve.models.opensim.read_model import known_osim
from musclesolve.models.share import motion_cost, solver_search
from musclesolve.muscles.strength import check_tendon
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import Solver
from musclesolve.tables.document import check_value
from musclesolve.tables.settings import settings_of, tables_of
from musclesolve.tables.text_file import file_path


def body_of_trial(
    trial: ModelTrial, cost: str | Cost | None = None, solver: str | Solver | None = None, side: str = "both"
) -> ModelBody:
    """Make the body of the trial file of a model; `cost` and `solver` override the file."""
    settings = trial.settings
    options, of_muscles, time = settings.sharing, settings.muscles, settings.time
    elastic = of_muscles.tendon == ELASTIC
    with _placed(trial, "sharing", "cost", cost is None):
        chosen = (motion_cost if elastic else find_cost)(options.cost if cost is None else cost)
    with _placed(trial, "emg", "weight"):
        chosen = informed_cost(trial, chosen)
    with _placed(trial, "sharing", "solver", solver is None):
        method = solver_search(chosen, elastic, solver)(options.solver if solver is None else solver)
    with (
        _placed(trial, "plates", "feet", where="feet"),
        _placed(trial, "consistency", "residual", where="residual"),
    ):
        if trial.loads is not None:
            settings = settings.changed(files={"loads": trial.loads})
        check_model_settings(settings)
    sharing = Sharing(chosen, method, of_muscles.tendon, options.reserve_weight, options.least_activation)
    model = known_osim(trial.model)
    check, owner = trial.document.check_known, f" in {trial.model.name}"
    for key in ("dofs", "without"):
        check(options[key] or (), "there is no coordinate", model.coordinates, "sharing", key, after=owner)
    check(of_muscles.names or (), "there is no muscle", model.muscles, "muscles", "names", after=owner)
    with (
        _placed(trial, "filter", "cutoff_hz", where="cutoff_hz"),
        _placed(trial, "time", "end_s" if time.start_s is None else "start_s", where=TIME_RANGE),
        _placed(trial, "muscles", "tendon_strain", of_muscles.tendon_strain is not None),
        _placed(trial, "sharing", "without", where="without"),
        _placed(trial, "consistency", "residual", where="residual"),
    ):
        body = model_body(model, trial.coordinates, trial.moments, settings, sharing, side)
    body = replace(body, trial=trial, notes=(*trial.notes, *body.notes))
    if trial.fascicles is not None:
        names = channel_names(body.muscles)
        muscles = fascicle_muscles(trial.fascicles, trial.document, names, trial.model.name)
        check_overlap(trial.document, trial.fascicles, *body.time[[0, -1]].tolist())
        measured = MeasuredFascicles.from_fascicles(trial.fascicles, muscles, ALL_SIDES)
        measured.check_unit(trial.document, body.whole.state.parameters)
        body = replace(body, fascicles=measured, notes=(*body.notes, *measured.notes(body.time)))
    if trial.emg is None:
        with _placed(trial, "sharing", "cost", cost is None):
            body.check(sharing)
        return body
    fitted = {} if body.person is None else body.person.emg
    emg = MeasuredActivation.from_emg(trial.emg, model_channels(trial, body.muscles), ALL_SIDES, fitted)

    parts = tuple(
        replace(part, emg=emg.expected(part.time, part.state.parameters.names)) for part in body.parts
    )
    return replace(body, emg=emg, parts=parts, notes=(*body.notes, *emg.notes(body.time)))


@contextmanager
def _placed(
    trial: ModelTrial, table: str, key: str, stated: bool = True, where: str | None = None
) -> Iterator[None]:
    """Point errors about settings of the trial file, without a file or with the place `where`, at their key."""
    try:
        yield
    except InputError as error:
        if not stated or (error.file is not None if where is None else error.where != where):
            raise
        raise trial.document.placed(error, table, key) from error


def model_channels(trial: ModelTrial, muscles: Sequence[str]) -> Channels:
    """The muscles of every channel of EMG among the muscles of the body."""
    assert trial.emg is not None
    muscles_of = channel_names(muscles)
    channels = []
    for channel, names in zip(trial.emg.names, trial.emg.muscles, strict=True):
        trial.document.check_known(
            names, "there is no muscle", muscles_of, CHANNELS, channel, after=" that shares the moments"
        )
        channels.append(tuple(dict.fromkeys(muscle for name in names for muscle in muscles_of[name])))
    return tuple(channels)


def channel_names(muscles: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Names that a channel of a measurement may have -> its muscles among the muscles of a model.

    A name without a number before its side means all numbered muscles: glmed_r means glmed1_r and glmed2_r.
    """
    muscles_of: dict[str, tuple[str, ...]] = {}
    for muscle in muscles:
        stem, side = split_side(muscle)
        name = with_side(stem.rstrip("0123456789"), side)
        muscles_of[name] = (*muscles_of.get(name, ()), muscle)
    return muscles_of | {muscle: (muscle,) for muscle in muscles}


def model_settings(loads: str | Path | None = None, **choices: Any) -> ModelSettings:
    """Return the settings that keywords of `opensim_problem` state; see there.

    Raises:
        TypeError: there is no such keyword.
        InputError: a value that no model can have.
    """
    if loads is not None:
        file_path(loads)
    arguments, tables = share_arguments(), dict[str, dict[str, Any]](files={"loads": loads})
    check_keywords(choices, (*arguments, "cost", "solver", "side"), "opensim_problem() or share_model()")
    for name, value in choices.items():
        table, key = arguments[name]
        tables.setdefault(table, {})[key] = value
    settings = ModelSettings().changed(**tables)
    check_model_settings(settings)
    return settings


def check_model_settings(settings: ModelSettings) -> None:
    """Refuse settings that no model can have."""
    time, muscles, feet, loads = settings.time, settings.muscles, settings.plates.feet, settings.files.loads
    for name, (table, key) in share_arguments().items():
        setting, value = tables_of(ModelSettings)[table].settings[key], settings[table][key]
        if setting.kind == "text" and setting.choices and value is not None:
            check_choice(value, name, setting.choices)
        elif setting.kind in ("number", "whole", "truth") and value is not None:
            check_value(value, setting, name)
    if time.cycles_s is not None and len(time.cycles_s):
        cycles = np.asarray(time.cycles_s, dtype=object).tolist()
        check_value(cycles, settings_of(TimeSettings)["cycles_s"], "cycles_s")
    if settings.consistency.residual == REDUCED and (loads is None or settings.files.predicted):
        raise input_error("laboratory.analysis.residual_of_predicted_forces", where="residual")
    if feet != "stated" and loads is None:
        fault = f"without loads there are no feet to be found: feet = {feet!r}"
        expected = "feet with loads, which are assigned to them"
        remedy = "give loads instead of moments, or leave it out"
        raise input_error("conflict", where="feet", problem=fault, expected=expected, remedy=remedy)
    check_tendon(muscles.tendon, muscles.tendon_strain)

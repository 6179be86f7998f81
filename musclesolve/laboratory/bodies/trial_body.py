"""The body of an OpenSim model from its trial file, with its measurements: errors about settings name their keys."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from musclesolve._util.sides import ALL_SIDES, split_side, with_side
from musclesolve.constants import ELASTIC
from musclesolve.errors import InputError
from musclesolve.laboratory.bodies.emg_informed import informed_cost
from musclesolve.laboratory.bodies.measured_activation import (
    Channels,
    MeasuredActivation,
    MeasuredFascicles,
    fascicle_muscles,
)
from musclesolve.laboratory.bodies.measured_body import MeasuredModel
from musclesolve.laboratory.trial.muscle_signals import CHANNELS, check_overlap
from musclesolve.laboratory.trial.trial_file import ModelTrial
from musclesolve.models.body import Sharing
from musclesolve.models.body_sharing import motion_cost, solver_search
from musclesolve.models.opensim.assemble_body import TIME_RANGE, model_body
from musclesolve.models.opensim.model_settings import check_model_settings
from musclesolve.models.opensim.read_model import known_osim
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import Solver


def body_of_trial(
    trial: ModelTrial, cost: str | Cost | None = None, solver: str | Solver | None = None, side: str = "both"
) -> MeasuredModel:
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
        shared = model_body(model, trial.coordinates, trial.moments, settings, sharing, side)
    body = MeasuredModel.from_body(replace(shared, notes=(*trial.notes, *shared.notes)), settings, trial)
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

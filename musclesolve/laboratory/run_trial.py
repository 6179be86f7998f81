"""The front door: `run` and `share_model` compute muscle forces, label them and judge them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import xarray as xr

from musclesolve._util.messages import Progress, no_progress
from musclesolve.constants import USUAL_COST
from musclesolve.laboratory.bodies.measured_body import MeasuredModel
from musclesolve.laboratory.bodies.run_options import read_in_time_range, with_arguments
from musclesolve.laboratory.checks.check import findings_of
from musclesolve.laboratory.checks.named_causes import causes_named
from musclesolve.laboratory.files.formats import read_positions_table
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.recording.trial_settings import ModelSettings
from musclesolve.laboratory.results.dataset.assemble import judged_result
from musclesolve.laboratory.results.finding import Where, finding
from musclesolve.models.opensim.coordinate_motion import Source
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.model_settings import stated_settings
from musclesolve.models.opensim.opensim_problem import sharing_body
from musclesolve.models.simulated_body import is_simulated
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.solver_registry import Solver
from musclesolve.tables.text_file import file_path


def run(
    trial: AnyTrial | str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
    **settings: Any,
) -> xr.Dataset:
    """Compute muscle forces from recorded motion and ground forces.

    Args:
        trial: a checked trial, from `read_trial`, or the path of a trial file.
        cost: name of a cost, or a Cost; the trial file's unless given.
        solver: name of a solver, or a Solver; the trial file's unless given.
        side: "r", "l" or "both".
        progress: called with the name of each stage and the share of the work that is done.
        settings: settings of the trial file that are replaced here, by keyword. emg_weight: w of EMG-informed sharing,
            cost + w sum (a - e)^2 over the muscles with EMG, in units of the cost; 0 compares EMG without following it.

    Returns:
        Dataset over time, dof, muscle, side, joint, axis and component; every variable has its unit in
        attrs["units"]. `valid` (time, side) marks the frames that may be used, with `status` SOLVED or
        SOLVED_WITH_RESERVE. Frames without a valid solution have NaN for all variables of the solution: activations,
        muscle and contact forces, reserves, cost and certificate. Motion, joint moments, net reactions and the state of
        the muscles remain, because they show the cause. `plausible` (side) states whether the values of a leg are near
        measured ones; its attributes give the reasons. attrs["findings"] has the findings of `check` on the recording
        or model, as JSON; `ms.laboratory.judge_result` returns the verdict and all findings.

    Raises:
        TypeError: there is no such setting.
        InputError: the trial requests an impossible analysis; the message names the field.

    Examples:
        >>> result = ms.run(ms.data.reference_stride(), cost="stress_cubed")
        >>> result["muscle_force"].attrs["units"], bool(result["valid"].all())
        ('N', True)
    """
    report = progress or no_progress
    with causes_named(trial):
        trial, others = read_in_time_range(trial, settings)
        trial = with_arguments(trial, **others)
        body = prepare(trial, cost, solver, side, report)
    return judged_result(body, findings_of(body, trial), report)


def share_model(
    model: OpenSimModel | str | Path,
    coordinates: Source,
    moments: Source | None = None,
    cost: str | Cost = USUAL_COST,
    solver: str | Solver | None = None,
    side: str = "both",
    **choices: Any,
) -> xr.Dataset:
    """Compute the muscle forces of an OpenSim model from its motion and joint moments or loads.

    Such as ``ms.share_model("M.osim", "ik.mot", "id.sto")`` (docs/opensim.md). The path of a model of MuJoCo or biorbd
    is taken likewise, with the path of a table of its positions: ``ms.share_model("leg.xml", "qpos.csv")``.

    Args:
        model, coordinates, moments, side, choices: see `opensim_problem`.
        cost: a name (`costs()` lists them) or a Cost.
        solver: a name (`solvers()` lists them) or a Solver. None: "batch", or the first one that takes the cost where
            "batch" does not.

    Returns:
        Dataset over time, dof, muscle and side with the variables of `run`, under the names of the model. Groups of
        coordinates that no muscle connects, such as the legs, are solved apart; the status of a side is the worst of
        its groups.

    Raises:
        InputError: see `opensim_problem`; an unknown cost or solver.
    """
    if is_simulated(model):
        return _simulated_result(Path(model), coordinates, moments, cost, solver, side, choices)
    settings = stated_settings(ModelSettings, **choices)
    body = MeasuredModel.from_body(
        sharing_body(model, coordinates, moments, settings, cost, solver, side), settings
    )
    return judged_result(body, findings_of(body))


def _simulated_result(
    path: Path,
    coordinates: Any,
    moments: Any,
    cost: str | Cost,
    solver: str | Solver | None,
    side: str,
    choices: Mapping[str, Any],
) -> xr.Dataset:
    """Share the moments of a model of MuJoCo or biorbd along its positions; arguments as of `share_model`."""
    from musclesolve.models.simulated_files import read_simulated, simulated_body, simulated_settings

    settings = simulated_settings(ModelSettings, path, moments, side, choices)
    model = read_simulated(path)
    table = read_positions_table(file_path(coordinates, "coordinates"))
    body = simulated_body(model, path, table, settings, cost, solver)
    findings = [
        replace(finding(note.code, "warning", {"sentence": note}, Where(file=path)), remedy=note.remedy)
        for note in body.warnings
    ]
    return judged_result(body, findings)

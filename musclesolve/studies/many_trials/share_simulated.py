"""Forces of a model of MuJoCo or biorbd from a motion: result, activations, certificates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from musclesolve._util.message_text import few
from musclesolve.biorbd import BiorbdModel
from musclesolve.constants import BIORBD, RESULT_FILE
from musclesolve.errors import input_error
from musclesolve.mujoco import MujocoModel
from musclesolve.recording.formats import read_channels
from musclesolve.recording.text.text_file import suffix_of
from musclesolve.results.files.atomic_writing import write_files
from musclesolve.results.files.result_netcdf import check_inputs, netcdf_bytes
from musclesolve.settings.trial import ModelSettings, share_arguments
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solving import solve

_OPTIONS = ("cost", "solver", "least_activation", "reserve_weight")
"""Options of `share` that do not ask for anatomy."""
ACTIVATIONS = "activations.csv"


def share_simulated(
    folder: Path, model: Path, motion: Path, options: Mapping[str, Any]
) -> tuple[Solution, list[Path]]:
    """Share the moments of a model along a motion, a table of text in the coordinates of the program.

    Returns the solution and the files: result.nc, a table of the activations, figures.

    Raises:
        InputError: the model cannot be read, the motion has other columns, an option is for OpenSim models.
    """
    from musclesolve.plotting.page.figure_files import figures_of, named  # loads matplotlib
    from musclesolve.plotting.result.certificate_figure import certificates
    from musclesolve.plotting.result.muscle_figures import activations

    usual, places = ModelSettings(), share_arguments()
    defaults = {name: usual[table][key] for name, (table, key) in places.items()}
    given = {name: value for name, value in options.items() if value not in (None, defaults.get(name))}
    if others := [name for name in given if name not in _OPTIONS]:
        raise input_error(
            "conflict",
            file=model,
            where=others[0],
            problem=f"{few(others)}: for OpenSim models",
            expected=f"of the options of share for this model {', '.join(_OPTIONS)}",
            remedy="leave it out",
        )
    given = {name: defaults[name] for name in _OPTIONS} | given
    table = read_channels(motion)
    read = (BiorbdModel if suffix_of(model) == BIORBD else MujocoModel).read(model)
    if table.values.shape[1] != read.positions or table.in_degrees:
        raise input_error(
            "bad_format",
            file=motion,
            problem=f"{table.values.shape[1]} columns beside the time"
            + " in degrees" * bool(table.in_degrees),
            expected=f"the {read.positions} positions of the model in its order, radians, meters and quaternions",
            remedy="export the motion as the program has it",
        )
    check_inputs([model, motion], folder, [RESULT_FILE, ACTIVATIONS])
    weights = {name: given[name] for name in ("least_activation", "reserve_weight")}
    problem = read.problem(table.time, table.values, **weights)
    solution = solve(problem, given["cost"], given["solver"])
    result = solution.to_dataset(problem).assign_attrs(model=str(model), coordinates=str(motion))
    lines = result["activation"].to_pandas().to_csv(float_format="%.6g").encode()
    drawn = figures_of(result, named(activations, certificates))
    return solution, write_files(folder, {RESULT_FILE: netcdf_bytes(result), ACTIVATIONS: lines, **drawn})

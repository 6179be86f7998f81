"""Forces of a model of MuJoCo or biorbd from a motion: result, activations, certificates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.message_text import few
from musclesolve._util.names import folded
from musclesolve.biorbd import BiorbdModel
from musclesolve.constants import BIORBD, RESULT_FILE
from musclesolve.errors import input_error
from musclesolve.mujoco import MujocoModel, check_limits
from musclesolve.recording.formats import read_channels
from musclesolve.recording.text.text_file import suffix_of
from musclesolve.results.files.atomic_writing import write_files
from musclesolve.results.files.result_netcdf import check_inputs, netcdf_bytes
from musclesolve.settings.trial import ModelSettings, share_arguments
from musclesolve.sharing.analysis.diagnosis import diagnose
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

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
    names, values = read.positions, table.values
    words = [word for name in table.names for word in (name, *name.replace("/", " ").split())]
    # of a quaternion biorbd has the same name twice
    by_name = len({*names}) == len(names) and {*map(folded, names)} & {*map(folded, words)} - {""}
    if table.in_degrees or len(table.names) != len(names) or (by_name and {*names} != {*table.names}):
        raise input_error(
            "bad_format",
            file=motion,
            problem=f"the columns beside the time are {few(table.names, 12)}"
            + ", in degrees" * bool(table.in_degrees),
            expected=f"the {len(names)} positions {few(names, 12)}, in radians, meters and quaternions",
            remedy="name the columns so, or all of them otherwise (qpos_0, ...) in the order of the model",
        )
    if by_name:
        values = values[:, [table.names.index(name) for name in names]]
    for row, column in np.argwhere(~np.isfinite(values))[:1]:
        place = f"line {table.lines[row]}" if len(table.lines) else f"{table.time[row]:g} s"
        raise input_error(
            "not_finite",
            file=motion,
            where=f"{place}, column '{names[column] if by_name else table.names[column]}'",
            problem="there is no number",
            expected="a number for every position at every time",
            remedy="fill the gap or leave out the rows",
        )
    check_limits(values, names, read.limits, motion)
    check_inputs([model, motion], folder, [RESULT_FILE, ACTIVATIONS])
    weights = {name: given[name] for name in ("least_activation", "reserve_weight")}
    problem = read.problem(table.time, values, **weights)
    solution = solve(problem, given["cost"], given["solver"])
    infeasible = np.flatnonzero(solution.status == Status.INFEASIBLE)
    if (diagnosis := diagnose(problem, frames=infeasible[:1])).frame.size:
        said = f"The first of {infeasible.size} infeasible frames: {diagnosis.sentence(0, table.time)}."
        solution = replace(solution, notes=(*solution.notes, said))
    result = solution.to_dataset(problem).assign_attrs(model=str(model), coordinates=str(motion))
    lines = result["activation"].to_pandas().to_csv(float_format="%.6g").encode()
    drawn = figures_of(result, named(activations, certificates))
    return solution, write_files(folder, {RESULT_FILE: netcdf_bytes(result), ACTIVATIONS: lines, **drawn})

"""Models of MuJoCo and biorbd from their files, along the positions of a table: the body that shares moments."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import few, folded
from musclesolve._util.sides import BOTH
from musclesolve.constants import BIORBD
from musclesolve.errors import InputError, file_error
from musclesolve.models.biorbd import BiorbdModel
from musclesolve.models.body import Sharing
from musclesolve.models.mujoco import MujocoModel
from musclesolve.models.opensim.model_settings import Stated, stated_settings
from musclesolve.models.settings import OpenSimSettings, is_predicted, model_arguments
from musclesolve.models.simulated_body import ANGLE, LENGTH, SimulatedBody, SimulatedModel
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import Solver, able_solver, find_solver
from musclesolve.tables.cells import role_and_size
from musclesolve.tables.sampled import Table
from musclesolve.tables.settings import tables_of

_OPTIONS = ("least_activation", "reserve_weight", "mass_kg", "loads", "contacts")
"""Keywords of settings, beside cost and solver, that such a model takes."""
_ROLES = {ANGLE: "angle", LENGTH: "point", "": ""}
"""Unit of a position -> role of a column in a unit of it."""


def read_simulated(path: Path) -> SimulatedModel:
    """Read a model of biorbd, by the end of its name, or of MuJoCo."""
    return BiorbdModel.read(path) if path.suffix.casefold() == BIORBD else MujocoModel.read(path)


def simulated_body(
    model: SimulatedModel,
    path: Path,
    table: Table,
    settings: OpenSimSettings,
    cost: str | Cost,
    solver: str | Solver | None = None,
) -> SimulatedBody:
    """Make the body of a model along the positions of a table, under the loads of the settings.

    path: of the model; cost, solver: a name or an object; solver None: the first one that takes the cost.

    Raises:
        InputError: the table has other columns, or a position beyond its limits; an unknown cost or solver.
    """
    positions, notes = _positions(table, model)
    model.check_limits(positions, table.path)
    files = {"model": path, "coordinates": table.path}
    if settings.files.loads is not None and not settings.files.unloaded:
        files["loads"] = Path(settings.files.loads)
    motion = model.along(table.time, positions, files.get("loads"), settings.simulator.contacts or ())
    chosen, weights = find_cost(cost), settings.sharing
    method = able_solver(chosen) if solver is None else find_solver(solver)
    sharing = Sharing(
        chosen, method, reserve_weight=weights.reserve_weight, least_activation=weights.least_activation
    )
    body = SimulatedBody.from_motion(model, positions, motion, sharing, files, [*table.sentences, *notes])
    return replace(body, person_mass=settings.subject.mass_kg)


def simulated_settings(
    kind: type[Stated], model: Path, moments: Any, side: str, choices: Mapping[str, Any]
) -> Stated:
    """The settings, of a class of settings, that keywords state; refuse those that only an OpenSim model takes."""
    places = model_arguments(kind)
    others = ["moments"] * (moments is not None) + ["side"] * (side != BOTH)
    others += ["loads predicted from the motion"] * is_predicted(choices.get("loads"))
    for name, (table, key) in places.items():
        if name not in _OPTIONS and choices.get(name) is not None:
            option = tables_of(kind)[table].settings[key].option_of(key)
            others.append(f"{name} ({option})" if option != f"--{name.replace('_', '-')}" else name)
    if others:
        raise file_error(
            "conflict",
            model,
            f"only OpenSim models take {few(others)}",
            f"of the options of share cost, solver, {', '.join(_OPTIONS[:-2])} and, for MuJoCo, "
            f"{' and '.join(_OPTIONS[-2:])}",
            "leave it out",
        )
    return stated_settings(kind, **choices)


def _positions(table: Table, model: SimulatedModel) -> tuple[Array, list[str]]:
    """The positions (T, nq) of a table in radians and meters, in the order of the model; notes on their units."""
    names, units = model.positions, np.array(model.units)
    roles = np.array(table.roles or [""] * len(table.names), dtype=object)
    columns, values = list(table.names), table.values.copy()
    for k, column in enumerate(columns):  # hip_deg
        base, _, suffix = column.rpartition("_")
        role, size = role_and_size(suffix)
        if column not in names and base in names and size is not None and not roles[k]:
            columns[k], roles[k] = base, role
            values[:, k] *= size
    words = [word for name in columns for word in (name, *name.replace("/", " ").split())]
    # of a quaternion biorbd has the same name twice
    by_name = len({*names}) == len(names) and {*map(folded, names)} & {*map(folded, words)} - {""}
    if by_name:  # what other positions determine may be absent
        computed = [name for name in names if name in model.followers and name not in columns]
        values = np.column_stack([values, np.zeros((len(values), len(computed)))])
        of_angle = "angle" if "angle" in roles else ""
        of_computed = [of_angle if units[names.index(name)] == ANGLE else "" for name in computed]
        columns, roles = [*columns, *computed], np.array([*roles, *of_computed], dtype=object)
    if len(columns) != len(names) or (by_name and {*names} != {*columns}):
        raise _unlike(table, f"the columns beside the time are {few(columns, 12)}", model)
    if by_name:
        order = [columns.index(name) for name in names]
        values, roles = values[:, order], roles[order]
    for row, column in np.argwhere(~np.isfinite(values))[:1]:
        place = f"line {table.lines[row]}" if len(table.lines) else f"{table.time[row]:g} s"
        raise file_error(
            "not_finite",
            (table.path, f"{place}, column '{names[column] if by_name else table.names[column]}'"),
            "there is no number",
            "a number for every position at every time",
            "fill the gap or leave out the rows",
        )
    for name, unit, role in zip(names, units, roles, strict=True):
        if role not in ("", _ROLES[unit]):
            other = {"point": "a length", "angle": "an angle"}.get(role, f"a {role}")
            raise _unlike(table, f"the column of {name} is in the unit of {other}", model)
    angles = units == ANGLE
    stated = angles & (roles == "angle")
    if table.in_degrees:
        values[:, angles & ~stated] *= np.radians(1.0)
    elif stated.any() and not stated[angles].all():
        lacking = [name for name, some in zip(names, angles & ~stated, strict=True) if some]
        raise _unlike(table, f"some angles have a unit, {few(lacking, 6)} none", model)
    unknown = angles.any() and table.in_degrees is None and not stated.any()
    return values, [f"{table.path.name} states no unit of its angles: they are read as radians."] * bool(
        unknown
    )


def _unlike(table: Table, problem: str, model: SimulatedModel) -> InputError:
    names = model.positions
    return file_error(
        "bad_format",
        table.path,
        problem,
        f"the {len(names)} positions {few(names, 12)}, in radians, meters and quaternions, or with units: "
        "'knee [deg]'",
        "name the columns so, or all of them otherwise (qpos_0, ...) in the order of the model",
    )

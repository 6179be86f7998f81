"""The series of a result as named columns over time, or over the percentage of a gait cycle.

Columns have the names, signs and axes of this project, or of an OpenSim model. STO and MOT files have them for OpenSim
and its GUI, and a table for other programs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, product
from pathlib import Path

import numpy as np
import xarray as xr

from muscle_db import MuscleDatabase, load
from muscle_db.model import Vector
from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import check_known, unknown_name
from musclesolve._util.sides import SIDES
from musclesolve.constants import RIGID
from musclesolve.dynamics.rotations import from_cardan, to_cardan
from musclesolve.errors import file_error, input_error
from musclesolve.laboratory.results.dataset.checked import MODEL
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, in_set
from musclesolve.laboratory.results.dataset.result_quantities import choice_name
from musclesolve.laboratory.results.files.atomic_writing import Content, text_content
from musclesolve.laboratory.results.tables.lines import frame_csv
from musclesolve.models.opensim.model import TO_GLOBAL
from musclesolve.tables.opensim_text import mot_text
from musclesolve.tables.sampled import Table
from musclesolve.version import __version__

OWN, NEWEST = "own", "rajagopal"
NAMES = (OWN, "gait2392", NEWEST)
"""Namings that can be requested; NEWEST is used where a muscle set belongs to no model."""


@dataclass(frozen=True)
class Naming:
    """Names of columns.

    coordinates: degree of freedom without side -> coordinate without side, and the sign of its values; muscles, joints:
    name -> name; opensim: other names than the names of the result; y_up: axes x forward, y up, z right instead of
    x forward, y left, z up. hip_center: the right hip in the pelvis of the model [m], forward, left, up. Other labels
    keep their names and signs.
    """

    label: str
    opensim: bool = False
    y_up: bool = False
    coordinates: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    muscles: Mapping[str, str] = field(default_factory=dict)
    joints: Mapping[str, str] = field(default_factory=dict)
    hip_center: Vector = (0.0, 0.0, 0.0)

    def coordinate(self, dof: str) -> tuple[str, float]:
        """Name and sign of a degree of freedom with side: knee_flexion_r -> knee_angle_r, -1."""
        plain, _, side = dof.rpartition("_")
        if plain not in self.coordinates:
            return dof, 1.0
        name, sign = self.coordinates[plain]
        return f"{name}_{side}", sign

    @property
    def sentence(self) -> str:
        """A sentence on the names, signs and axes of the written file."""
        axes = "x forward, y up, z right" if self.y_up else "x forward, y left, z up"
        if not self.opensim:
            return f"{self.label}; axes: {axes}"
        flipped = [
            f"{name} opposite to {dof}" for dof, (name, sign) in self.coordinates.items() if sign < 0.0
        ]
        return "; ".join([f"names and signs of {self.label}; axes: {axes}", *flipped])


def find_naming(result: xr.Dataset, names: str | None, opensim: bool) -> Naming:
    """The requested naming; None: the naming of the model of the muscle set in files for OpenSim, else the own one.

    A result of `share` keeps the names and signs of its model; files for OpenSim have the axes of an OpenSim model.
    """
    if names is not None and names not in NAMES:
        raise unknown_name(names, "naming", NAMES, where="--names")
    database = result.attrs.get("muscle_database")
    if database is None or MODEL in result.attrs:
        model = choice_name(result, MODEL)
        if names not in (None, OWN):
            fault = f"the result has the names and signs of {model or 'an unknown model'} already"
            expected = "a result of `musclesolve run`"
            remedy = "leave out --names"
            raise input_error("conflict", where="--names", problem=fault, expected=expected, remedy=remedy)
        label = f"names and signs of {model}" if model else "names and signs as in the result"
        return Naming(label, y_up=opensim and names is None and str(model).casefold().endswith(".osim"))
    if names == OWN or (names is None and not opensim):
        return Naming("names and signs of musclesolve")
    sets = bundled_toml(__package__, "opensim_names.toml")["sets"]
    if names is not None:
        return _of_set(result, names, load(sets[names][0]))
    for model, known in sets.items():
        if database in known:
            return _of_set(result, model, load(known[0]))
    stated = np.atleast_1d(result.attrs.get("muscle_coordinates", []))
    if stated.size:
        pairs = dict(str(text).split(" ", 1) for text in stated)
        return _naming(choice_name(result, "muscle_database"), pairs, _short_names(result))
    return _of_set(result, NEWEST, load(sets[NEWEST][0]))


def _of_set(result: xr.Dataset, model: str, database: MuscleDatabase) -> Naming:
    muscles = _short_names(result)
    spelling = bundled_toml(__package__, "opensim_names.toml")["spelling"]
    for name in muscles:
        plain, _, side = name.rpartition("_")
        if plain in database:
            short = database[plain].short_name
            muscles[name] = f"{spelling.get(short, short)}_{side}"
    return _naming(model, database.coordinates, muscles, database.reference["pelvis"].position)


def _naming(
    model: str, coordinates: Mapping[str, str], muscles: Mapping[str, str], hip_center: Vector | None = None
) -> Naming:
    data = bundled_toml(__package__, "opensim_names.toml")
    names = {
        dof: (name.removeprefix("-"), -1.0 if name.startswith("-") else 1.0)
        for dof, name in coordinates.items()
    }
    texts = data["joints"].get(model, data["joints"][NEWEST])
    joints = {f"{joint}_{side}": text.format(side=side) for joint, text in texts.items() for side in SIDES}
    hip_center = hip_center or load(data["sets"][NEWEST][0]).reference["pelvis"].position
    return Naming(
        model,
        opensim=True,
        y_up=True,
        coordinates=names,
        muscles=muscles,
        joints=joints,
        hip_center=hip_center,
    )


def _short_names(result: xr.Dataset) -> dict[str, str]:
    """Short name of every muscle."""
    if "short_name" not in result.variables:
        return {}
    names, shorts = (map(str, result[name].values) for name in ("muscle", "short_name"))
    return dict(zip(names, shorts, strict=True))


ABSCISSAS = ("time", "percent")
_ORDER, _SIGN = [0, 2, 1], [1.0, 1.0, -1.0]
"""OpenSim's x, y, z from forward, left, up."""
_OTHER_LAYOUTS = ("quantile", "cost", "percent")
"""Dimensions of averages, comparisons and uncertainties, which keep the names of this project."""
FOR_PICTURES = {"skeleton_point", "path_point", "segment"}
"""Dimensions of points that serve only pictures."""


@dataclass(frozen=True)
class Columns:
    """The k columns of a variable: labels of each column by dimension, unit, values (T, k)."""

    variable: str
    unit: str
    labels: list[dict[str, str]]
    values: AnyArray

    @property
    def names(self) -> list[str]:
        """variable.label.label of each column."""
        return [".".join([self.variable, *label.values()]) for label in self.labels]


def abscissa_of(result: xr.Dataset) -> str:
    """Name of the dimension along which series run."""
    for name in ABSCISSAS:
        if result.sizes.get(name) and name in result.coords:
            return name
    raise input_error(
        "bad_result",
        problem="there is no series over time or over the gait cycle",
        expected="a result of musclesolve.run, or result.nc; an average, a comparison",
        remedy="name a result.nc",
    )


def chosen(result: xr.Dataset, variables: Sequence[str] | None) -> list[str]:
    """Names of the requested series; by default all except the points that serve only pictures."""
    over = abscissa_of(result)
    known = [str(name) for name, variable in result.data_vars.items() if over in variable.dims]
    check_known(variables or (), "series", known, " in this result", where="--variable")
    if variables is not None:
        return list(dict.fromkeys(variables))
    return [name for name in known if not FOR_PICTURES & set(map(str, result[name].dims))]


def check_layout(result: xr.Dataset, naming: Naming) -> None:
    """Refuse names of a model for data whose columns differ from a single run."""
    others = [name for name in _OTHER_LAYOUTS if name in result.dims]
    if naming.opensim and others:
        fault = f"names and signs of a model are for one run; this has the dimension {others[0]!r}"
        expected = "the result.nc of one run"
        remedy = "--names own, with --format csv, mat or parquet"
        raise input_error("conflict", where="--names", problem=fault, expected=expected, remedy=remedy)


def columns(result: xr.Dataset, variable: str, naming: Naming) -> Columns:
    """The columns of a variable, in the order of its dimensions, named and signed."""
    over, array = abscissa_of(result), result[variable]
    array = array.transpose(over, ...)
    dims = [str(dim) for dim in array.dims[1:]]
    texts, factor, values = [], np.ones(array.shape[1:]), array.values
    signed = variable in in_set("signed")
    for place, dim in enumerate(dims):
        names = labels(result, dim)
        shape = [-1 if k == place else 1 for k in range(len(dims))]
        if dim == "dof":
            pairs = [naming.coordinate(name) for name in names]
            names = [name for name, _ in pairs]
            factor = factor * np.reshape([sign if signed else 1.0 for _, sign in pairs], shape)
        elif naming.y_up and dim in ("axis", "component"):
            order, signs = _rotated(names)
            values = np.take(values, order, axis=place + 1)
            factor = factor * np.reshape(signs, shape)
        else:
            renamed = {"muscle": naming.muscles, "joint": naming.joints}.get(dim, {})
            names = [renamed.get(name, name) for name in names]
        texts.append(names)
    values = values * factor if (factor != 1.0).any() else values
    places = [dict(zip(dims, combination, strict=True)) for combination in product(*texts)]
    unit = str(array.attrs.get("units", ""))
    return Columns(variable, unit, places, values.reshape(len(array), len(places)))


def _rotated(names: list[str]) -> tuple[list[int], list[float]]:
    """Order and signs of components in OpenSim's axes; names stay the names of the axes, x, y, z."""
    if len(names) % 3 or [name[-1:] for name in names] != ["x", "y", "z"] * (len(names) // 3):
        raise input_error(
            "bad_result",
            problem=f"a vector has the components {', '.join(map(str, names))}",
            expected="x, y and z",
            remedy="export the whole result, or --names own",
        )
    starts = range(0, len(names), 3)
    return [start + k for start in starts for k in _ORDER], _SIGN * len(starts)


def labels(result: xr.Dataset, dim: str) -> list[str]:
    """Names along a dimension, numbers from 1 where it has none."""
    if dim in result.coords:
        return [
            f"{value:g}" if isinstance(value, float) else str(value) for value in result[dim].values.tolist()
        ]
    return [str(k + 1) for k in range(result.sizes[dim])]


def flag_names(result: xr.Dataset, values: AnyArray) -> AnyArray:
    """Codes of `status` as the names of their flags."""
    flags = result["status"].attrs
    if not {"flag_values", "flag_meanings"} <= set(flags):
        return values
    pairs = zip(np.atleast_1d(flags["flag_values"]), str(flags["flag_meanings"]).split(), strict=False)
    meaning = {int(code): name for code, name in pairs}
    return np.array([[meaning.get(int(code), str(code)) for code in row] for row in values], dtype=object)


_SI = "Units are S.I. units (seconds, meters, Newtons, ...); nan: no valid solution."
_DEGREES = "Angles in degrees, lengths in meters."


def sto_files(
    result: xr.Dataset, path: Path, variables: Sequence[str] | None, naming: Naming
) -> dict[str, Content]:
    """One STO file for each variable by its name: STEM_activation.sto, STEM_force.sto, ... (quantities.toml).

    The default is activations, forces, normalized fiber lengths, joint moments, reserves, joint reactions, and what
    actuators exert. A single requested variable goes into the file of the path itself. Columns without any number are
    left out; frames without a valid solution are nan.
    """
    _check_time(result, path)
    chosen = in_set("sto") if variables is None else list(variables)
    chosen = [name for name in chosen if name in result]
    if not chosen:
        raise unknown_name(", ".join(in_set("sto")), "series", map(str, result.data_vars), " in this result")
    files = {}
    for name in chosen:
        entry = (QUANTITIES[name].sto if name in QUANTITIES else {}) or {"file": name, "column": ""}
        alone = variables is not None and len(chosen) == 1
        target = path if alone else path.with_name(f"{path.stem}_{entry['file']}.sto")
        # by the names of the table, where these use every label: a comparison has more
        series, column = columns(result, name, naming), entry["column"]
        names = [
            column.format(**labels)
            if column and all(f"{{{dim}}}" in column for dim in labels)
            else ".".join(labels.values()) or series.variable
            for labels in series.labels
        ]
        values: Array = np.asarray(series.values, dtype=float)
        # OpenSim's Storage ends before the first row with a nan: columns without any number are left out.
        known: Mask = np.asarray(~np.isnan(values).all(axis=0))
        named = tuple(compress(names, known))
        table = Table(
            result["time"].values, named, values if known.all() else values[:, known], False, target
        )
        files[target.name] = _text(target, table, naming, _SI)
    return files


def mot_files(
    result: xr.Dataset, path: Path, variables: Sequence[str] | None, naming: Naming
) -> dict[str, Content]:
    """Joint angles in degrees as the motion of a model, with rotation and position of the pelvis where they are known.

    pelvis_tilt, list and rotation are R = Rz(tilt) Rx(list) Ry(rotation) in OpenSim's axes; pelvis_tx, ty, tz put the
    hips of the unscaled model at the hips of the subject. Joints that the named model lacks keep their own names.
    """
    if variables is not None and list(variables) != ["joint_angle"]:
        raise input_error(
            "conflict",
            where="--variable",
            problem="a MOT file of joint angles has no "
            f"{', '.join(map(str, (name for name in variables if name != 'joint_angle')))}",
            expected="joint_angle, or nothing",
            remedy="--format sto",
        )
    _check_time(result, path)
    if "joint_angle" not in result:
        raise unknown_name("joint_angle", "series", map(str, result.data_vars), " in this result")
    unit = str(result["joint_angle"].attrs.get("units", "rad"))
    if unit != "rad":  # coordinates in meters among the angles: a result does not say which they are
        fault = f"the coordinates of this result are in {unit}"
        expected = "rotations alone, which a MOT file has in degrees"
        remedy = "--format csv, or share without the coordinates that are translations"
        raise input_error("conflict", where="joint_angle", problem=fault, expected=expected, remedy=remedy)
    angles = columns(result, "joint_angle", naming)
    names = [label["dof"] for label in angles.labels]
    pelvis_names, pelvis = _pelvis(result, naming)
    values = np.hstack([pelvis, np.degrees(angles.values)])
    table = Table(result["time"].values, (*pelvis_names, *names), values, True, path)
    return {path.name: _text(path, table, naming, _DEGREES)}


def _check_time(result: xr.Dataset, path: Path) -> None:
    if abscissa_of(result) != "time":
        raise file_error(
            "conflict",
            path,
            "STO and MOT files run over time, an average over the gait cycle",
            "the result.nc of one run",
            "--format csv, mat or parquet",
        )


def _text(path: Path, table: Table, naming: Naming, units: str) -> Content:
    remarks = (f"musclesolve {__version__}", naming.sentence, units)
    return text_content(mot_text(path, table, decimals=None, remarks=remarks))


def _pelvis(result: xr.Dataset, naming: Naming) -> tuple[tuple[str, ...], Array]:
    """Names and values (T, 6) of rotation [deg] and position [m] of the pelvis; none where the result lacks them."""
    if not {"pelvis_angle", "pelvis_position"} <= set(result.data_vars):
        return (), np.empty((result.sizes["time"], 0))
    angles = result["pelvis_angle"].transpose("time", "pelvis_rotation").values
    position = result["pelvis_position"].transpose("time", "axis").values
    rotations = ("pelvis_tilt", "pelvis_list", "pelvis_rotation")
    if not naming.opensim:
        names = (*rotations, *(f"pelvis_position_{axis}" for axis in "xyz"))
        return names, np.hstack([np.degrees(angles), position])
    rotation = from_cardan(*angles.T)
    forward, _, up = naming.hip_center
    place = position - rotation @ np.array([forward, 0.0, up])
    about_y, list_, about_z = to_cardan(TO_GLOBAL.T @ rotation @ TO_GLOBAL)
    rotations_deg = np.degrees(np.stack([about_z, list_, about_y], axis=1))
    return (*rotations, "pelvis_tx", "pelvis_ty", "pelvis_tz"), np.hstack([rotations_deg, place @ TO_GLOBAL])


ENDINGS = ("activation", "force", "normalized_fiber_length")


def storage_files(result: xr.Dataset, stem: str) -> dict[str, Content]:
    """STEM_activation.sto, STEM_force.sto [N; reserves N m] and STEM_normalized_fiber_length.sto.

    Frames without a valid solution hold nan. Reserves are columns NAME_reserve of the forces, where there are any.
    """
    muscles, time = [str(name) for name in result["muscle"].values], result["time"].values
    activation, force = result["activation"].values, result["muscle_force"].values
    names, reserve = list(muscles), result["reserve_moment"].values
    used = np.flatnonzero(np.nan_to_num(reserve).any(axis=0))
    names += [f"{result['dof'].values[k]}_reserve" for k in used]
    force = np.concatenate([force, reserve[:, used]], axis=1)
    normal = (result["fiber_length"] / result["optimal_fiber_length"]).values
    tables = {
        "activation": ("Static Optimization", muscles, activation),
        "force": ("ModelForces", names, force),
        "normalized_fiber_length": ("Normalized Fiber Lengths", muscles, normal),
    }
    files, remarks = {}, [f"musclesolve {__version__}", f"{result.attrs.get('tendon', RIGID)} tendons"]
    for ending, (title, names, values) in tables.items():
        path = Path(f"{stem}_{ending}.sto")
        table = Table(time, tuple(names), values, False, path)
        text = mot_text(path, table, decimals=8, title=title, remarks=remarks)
        files[path.name] = text_content(text)
    return files


def activation_csv(result: xr.Dataset) -> bytes:
    """Times [s] and a column of activations for each muscle, as comma-separated values; empty without a number."""
    return frame_csv(result["activation"].to_dataset("muscle").to_dataframe().reset_index(), missing="")

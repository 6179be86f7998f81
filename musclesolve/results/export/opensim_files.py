"""STO and MOT files of a result for OpenSim and its GUI, and a table for other programs."""

from collections.abc import Sequence
from itertools import compress
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.rotations import from_cardan, to_cardan
from musclesolve.errors import file_error, input_error
from musclesolve.opensim.model import TO_GLOBAL
from musclesolve.recording.data import Table
from musclesolve.recording.text.opensim_text import mot_text
from musclesolve.results.dataset.quantities import QUANTITIES, in_set
from musclesolve.results.export.time_series import Naming, abscissa_of, columns
from musclesolve.results.files.atomic_writing import Content, text_content
from musclesolve.results.tables.lines import frame_csv
from musclesolve.version import __version__

_SI = "Units are S.I. units (seconds, meters, Newtons, ...); nan: no valid solution."
_DEGREES = "Angles in degrees, lengths in meters."


def sto_files(
    result: xr.Dataset, path: Path, variables: Sequence[str] | None, naming: Naming
) -> dict[str, Content]:
    """One STO file for each variable by its name: STEM_activation.sto, STEM_force.sto, ... (quantities.toml).

    The default is activations, forces, normalized fiber lengths, joint moments, reserves and joint reactions. A single
    requested variable goes into the file of the path itself. Columns without any number are left out; frames without a
    valid solution are nan.
    """
    _check_time(result, path)
    chosen = in_set("sto") if variables is None else list(variables)
    chosen = [name for name in chosen if name in result]
    if not chosen:
        raise unknown_name(", ".join(in_set("sto")), "series", map(str, result.data_vars), " in this result")
    files = {}
    for name in chosen:
        entry = (QUANTITIES[name].sto if name in QUANTITIES else {}) or {"file": name, "column": ""}
        own = variables is not None and len(chosen) == 1
        target = path if own else path.with_name(f"{path.stem}_{entry['file']}.sto")
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
        raise input_error(
            "conflict",
            where="joint_angle",
            problem=f"the coordinates of this result are in {unit}",
            expected="rotations alone, which a MOT file has in degrees",
            remedy="--format csv, or share without the coordinates that are translations",
        )
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
    files = {}
    for ending, (title, names, values) in tables.items():
        path = Path(f"{stem}_{ending}.sto")
        table = Table(time, tuple(names), values, False, path)
        files[path.name] = text_content(mot_text(path, table, decimals=8, title=title))
    return files


def activation_csv(result: xr.Dataset) -> bytes:
    """Times [s] and a column of activations for each muscle, as comma-separated values; empty without a number."""
    return frame_csv(result["activation"].to_dataset("muscle").to_dataframe().reset_index(), missing="")

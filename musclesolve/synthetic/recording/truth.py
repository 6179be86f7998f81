"""What was true when a synthetic recording was made, as a dataset to compare results with."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve.recording.data import SIDES
from musclesolve.results.files.result_netcdf import netcdf_bytes
from musclesolve.synthetic.recording.recording_options import RecordingOptions
from musclesolve.synthetic.stride.reference_stride import Stride

AXES = ["forward", "left", "up"]

VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "joint_angle": (("time", "dof"), "rad", "joint angle, zero in standing"),
    "joint_moment": (("time", "dof"), "N m", "moment on the distal segment"),
    "ground_force": (("time", "side", "axis"), "N", "force of the ground on the foot"),
    "center_of_pressure": (("time", "side", "axis"), "m", "where it acts; NaN below 20 N"),
    "free_moment": (("time", "side"), "N m", "moment about the vertical through it"),
    "marker": (("time", "landmark", "axis"), "m", "landmark without noise"),
    "pelvis_residual": (("time", "component"), "N, N m", "force and moment that nothing supplies"),
}
"""Dimensions, units and meaning of the variables."""


def truth_bytes(stride: Stride, options: RecordingOptions, time: Array) -> bytes:
    """truth.nc: the dataset of `truth`, on the clock of the files."""
    dataset = truth(stride, time).assign_coords(time=time + options.margin_s)
    dataset["time"].attrs["units"] = "s"
    dataset.attrs |= {"noise_mm": options.noise_mm, "noise": options.noise, "seed": options.seed}
    return netcdf_bytes(dataset)


def truth(stride: Stride, time: Array) -> xr.Dataset:
    """Joint angles and moments, ground reaction and markers (global frame) at times (T,) of the stride.

    The names are those of `musclesolve.run` where both give the same thing.
    """
    values = _values(stride, time)
    return xr.Dataset(
        {
            name: (dims, values[name], {"units": units, "long_name": about})
            for name, (dims, units, about) in VARIABLES.items()
        },
        coords={
            "time": ("time", time, {"units": "s"}),
            "dof": list(stride.dof_names),
            "side": list(SIDES),
            "axis": AXES,
            "landmark": list(stride.marker_names),
            "component": ["force_x", "force_y", "force_z", "moment_x", "moment_y", "moment_z"],
        },
        attrs={
            "period_s": stride.period,
            "stride_length_m": stride.length,
            "mass_kg": stride.person.subject.mass,
            "stature_m": stride.person.subject.stature,
        },
    )


def _values(stride: Stride, time: Array) -> dict[str, Array]:
    ground = stride.ground(time)

    def by_side(name: str) -> Array:
        return np.stack([getattr(ground[side], name) for side in SIDES], axis=1)

    return {
        "joint_angle": stride.joint_angles(time),
        "joint_moment": stride.joint_moments(time),
        "ground_force": by_side("force"),
        "center_of_pressure": by_side("point"),
        "free_moment": by_side("free_moment"),
        "marker": stride.markers(time),
        "pelvis_residual": stride.pelvis_residual(time),
    }

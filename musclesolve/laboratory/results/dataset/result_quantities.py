"""Values read from a result: attributes, subject and choices, vectors in walking axes, moved points, residuals, and the
kinetics of a leg.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import LEG_JOINTS, joint_kind, joint_titles, side_of, split_side, with_side
from musclesolve.constants import ELASTIC, RIGID, STANDARD_GRAVITY
from musclesolve.laboratory.results.dataset import frame_validity as frames

BODY_WEIGHTS = "body weights"
OF_LEG = ("subtalar", "mtp", "patell", "tib_pat", "tarsal", "toe")
"""Parts of the names of the joints of a leg beside hip, knee and ankle."""
_BYTE = re.compile(r"[\udc80-\udcff]")
NO_CHARACTER = re.compile(r"[\x00\ud800-\udfff]")


def storable(value: Any) -> Any:
    r"""Replace bytes that are no characters by "\xff" in texts, alone or in a list; other values are unchanged."""
    if isinstance(value, str):
        text = _BYTE.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", value)
        return NO_CHARACTER.sub(lambda letter: f"\\u{ord(letter[0]):04x}", text)
    return [storable(part) for part in value] if isinstance(value, list | tuple) else value


def texts(value: object) -> list[str]:
    """The texts of an attribute: a list, or one text with several lines (as in NetCDF); empty for None."""
    if value is None:
        return []
    if isinstance(value, str):
        return value.splitlines()
    return [str(entry) for entry in np.atleast_1d(np.asarray(value, dtype=object)).tolist()]


def listed(data: xr.Dataset, name: str) -> list[str]:
    """The texts of the attribute of a name; empty where there is no such attribute."""
    return texts(data.attrs.get(name))


def shared_dofs(data: xr.Dataset) -> list[str]:
    """The degrees of freedom whose moments the muscles share; all of them where a result does not name them."""
    return texts(data.attrs.get("shared_dofs", data["dof"].values))


def inputs_of(data: xr.Dataset) -> list[tuple[str, str, str]]:
    """Return role, path and SHA-256 of the files that a result was computed from.

    Paths of a trial are relative to the folder of the trial file.
    """
    files = []
    for line in listed(data, "inputs"):
        named, _, sha = line.rpartition(" sha256:")
        role, _, name = named.partition(" ")
        files.append((role, name, sha))
    return files


def number(data: xr.Dataset, name: str) -> float | None:
    """An attribute that holds a finite number; None where there is none."""
    try:
        value = float(data.attrs[name])
    except (KeyError, TypeError, ValueError):
        return None
    return value if np.isfinite(value) else None


def text(data: xr.Dataset, name: str, default: str = "") -> str:
    """An attribute as text."""
    value = data.attrs.get(name)
    return default if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def trial_name(data: xr.Dataset) -> str:
    """The name of the file that a result was computed from, without suffix."""
    return Path(text(data, "trial_file").replace("\\", "/")).stem


def choice_name(data: xr.Dataset, name: str) -> str:
    """Name of a choice, without the folder if the choice is a path."""
    return text(data, name).replace("\\", "/").rpartition("/")[2]


TURN = 360.0
FAR_ANGLE = 0.75 * TURN
"""Median beyond which an angle is shifted by whole turns [deg]; an arm may be raised beyond half a turn."""


def without_turns(angle_deg: Array) -> Array:
    """Remove jumps of more than half a turn from an angle (T,) [deg], and shift it by whole turns nearest to zero."""
    known = np.isfinite(angle_deg)
    if not known.any():
        return angle_deg
    curve = np.array(angle_deg, dtype=float)
    curve[known] = np.unwrap(curve[known], period=TURN)
    middle = float(np.median(curve[known]))
    return curve - TURN * np.round(middle / TURN) if abs(middle) > FAR_ANGLE else curve


def is_elastic(result: xr.Dataset) -> bool:
    """Return whether the tendons of a result are elastic; results of early versions have rigid tendons."""
    return text(result, "tendon", RIGID) == ELASTIC


OPPOSITE = {
    "hip_flexion": "extension",
    "hip_adduction": "abduction",
    "hip_internal_rotation": "external rotation",
    "knee_flexion": "extension",
    "ankle_dorsiflexion": "plantarflexion",
    "ankle_inversion": "eversion",
    "ankle_adduction": "abduction",
}
"""The negative direction of each degree of freedom, without side."""


def leg_joint(result: xr.Dataset, kind: str, side: str) -> str | None:
    """Name of the hip, knee or ankle of a leg, such as knee_r or, in a model, walker_knee_r; None without such a joint.

    Among several joints with the name in them, an equal name comes first, then a name that ends so.
    """
    names = [str(name) for name in result["joint"].values] if "joint" in result.coords else []
    of_side = [name for name in names if side_of(name) == side and joint_kind(name) == kind]
    called = with_side(kind, side)
    return min(of_side, key=lambda name: (name != called, not name.lower().endswith(called)), default=None)


CONSISTENCY_METHODS = {
    "nearest": "nearest pose",
    "joint_angles": "driven by measured joint angles",
    "none": "not made consistent",
}
"""Name of a method of consistency -> its description."""


def directions(dof: str) -> tuple[str, str]:
    """Positive and negative direction of a degree of freedom with its side, hip_flexion_r: flexion, extension."""
    stem = split_side(dof)[0]
    motion = stem.partition("_")[2] or stem
    plain = motion.replace("_", " ")
    alike = (opposite for known, opposite in OPPOSITE.items() if known.endswith(f"_{motion}"))
    return plain, OPPOSITE.get(stem) or next(alike, f"the opposite of {plain}")


def along_heading(result: xr.Dataset, vector: xr.DataArray, spread: bool = False) -> xr.DataArray:
    """Rotate a vector of the laboratory so that x points along the walking direction, y to the subject's left, z up.

    For a subject who walks backward these axes are left-handed: moments are the moments of the mirror image.

    spread: the components are standard deviations; x and y count as independent, so that their squares are
    turned: s_x'^2 = s_x^2 cos^2 + s_y^2 sin^2.

    The direction is ``heading``. A model has no heading: its direction is the displacement of the mean of its joints
    from the first to the last frame, if it exceeds `TRAVEL`; otherwise x remains the axis of the laboratory.
    """
    angle = heading_angle(result)
    if angle is None:
        return vector
    cosine, sine = np.cos(angle), np.sin(angle)
    axes = [str(axis) for axis in vector["axis"].values]
    x, y, z = (vector.variable.isel(axis=axes.index(axis)) for axis in "xyz")
    along = {"x": x * cosine + y * sine, "y": y * cosine - x * sine, "z": z}
    if (backward := walks_backward(result)) is not None and not spread:
        for axis in "xz" if is_moment(vector) else "y":
            along[axis] = xr.where(backward, -along[axis], along[axis])
    if spread:
        same, other = np.square(cosine), np.square(sine)
        along["x"] = np.sqrt(np.square(x) * same + np.square(y) * other)
        along["y"] = np.sqrt(np.square(y) * same + np.square(x) * other)
    rotated = xr.Variable.concat([along[axis].transpose(*z.dims) for axis in axes], "axis")
    return vector.copy(data=rotated.transpose(*vector.dims).values)


def is_moment(vector: xr.DataArray) -> bool:
    """Return whether a vector is a moment, whose mirror image is opposite to the mirror image of a force."""
    return vector.attrs.get("units") == "N m"


BACKWARD = np.radians(120.0)
"""Angle between the walking direction and where the pelvis faces from which a subject walks backward [rad]."""


def walks_backward(result: xr.Dataset) -> xr.Variable | None:
    """Mask (time) of the frames in which the subject walks backward; None where heading or pelvis is not known."""
    if not {"heading", "pelvis_angle"} <= set(result.variables):
        return None
    faces = result["pelvis_angle"].sel(pelvis_rotation="rotation").variable
    return np.cos(faces - result["heading"].variable) < np.cos(BACKWARD)


TRAVEL = 0.5
"""Least displacement of a body that walks over the ground [m]."""


def heading_angle(result: xr.Dataset) -> xr.Variable | None:
    """Angle of the walking direction about the vertical [rad], (time) or of all frames; None where it is not known."""
    if "heading" in result:
        return result["heading"].variable
    if "skeleton_position" not in result or result.sizes.get("time", 0) < 2:
        return None
    place = result["skeleton_position"]
    ends = place.isel(time=[0, -1]).mean([dim for dim in place.dims if dim not in ("time", "axis")])
    x, y = (np.diff(ends.sel(axis=axis).values)[0] for axis in "xy")
    return xr.Variable((), float(np.arctan2(y, x))) if np.hypot(x, y) >= TRAVEL else None


def magnitude(vector: xr.DataArray) -> xr.DataArray:
    """Magnitude of a vector over its dimension axis; NaN where a component is."""
    size: xr.DataArray = (vector**2).sum("axis", skipna=False) ** 0.5
    return size


def body_weight(result: xr.Dataset) -> float:
    """Weight of the subject [N]."""
    return float(result.attrs["subject_mass_kg"]) * STANDARD_GRAVITY


def force_unit(result: xr.Dataset) -> tuple[float, str]:
    """Unit of joint forces [N] and its name: the weight of the person where the mass is known, else newtons."""
    return (body_weight(result), BODY_WEIGHTS) if number(result, "subject_mass_kg") else (1.0, "N")


def short_unit(unit: str) -> str:
    """A unit of joint forces in short: BW for body weights."""
    return "BW" if unit == BODY_WEIGHTS else unit


def shows_legs(result: xr.Dataset) -> bool:
    """Return whether a result is of a hip, knee or ankle: recordings are, and models by the names of their joints."""
    if "model_file" not in result.attrs:
        return True
    names = [*shared_dofs(result), *(result["joint"].values if "joint" in result.coords else ())]
    return any(joint_kind(str(name)) in LEG_JOINTS for name in names)


def drawn_joints(result: xr.Dataset) -> dict[str, dict[str, str]]:
    """Joints whose forces are drawn -> side -> name: hip, knee and ankle, then the joints beside a leg."""
    sides = [str(side) for side in result["side"].values]
    joints: dict[str, dict[str, str]] = {}
    for kind in LEG_JOINTS:
        names = {side: name for side in sides if (name := leg_joint(result, kind, side))}
        if names:
            joints[kind] = names
    others = dict[str, dict[str, str]]()
    for name in map(str, result["joint"].values if "joint" in result.coords else ()):
        stem, side = split_side(name)
        if joint_kind(stem) not in LEG_JOINTS and not any(part in stem.lower() for part in OF_LEG):
            others.setdefault(stem, {})[side] = name
    titles = joint_titles(others)
    return joints | {titles[stem]: names for stem, names in others.items()}


def identity(result: xr.Dataset) -> str:
    """Return the subject, the trial and the choices, in a line for the margin of a figure."""
    facts = result.attrs
    parts = {
        "": facts.get("subject"),
        "trial ": Path(str(facts["trial_file"])).name if "trial_file" in facts else None,
        "cost ": facts.get("cost"),
        "solver ": facts.get("solver"),
        "muscles ": Path(str(facts["muscle_database"])).name if "muscle_database" in facts else None,
        "of ": facts.get("muscle_person"),
        "passive ": facts.get("passive"),
        "strength ": text(result, "strength"),
        "tendons ": ELASTIC if is_elastic(result) else None,
    }
    return ",  ".join(f"{label}{value}" for label, value in parts.items() if value)


def pelvis_residual(result: xr.Dataset, name: str = "pelvis_residual") -> tuple[Array, Array]:
    """Magnitude of the residual force [N] and of the residual moment [N m], each of shape (T,).

    name: "pelvis_residual_before" for the one before the motion was changed to reduce it.
    """
    residual = result[name].transpose("time", "component").values
    is_force = np.array([str(name).startswith("f") for name in result["component"].values])
    return np.linalg.norm(residual[:, is_force], axis=1), np.linalg.norm(residual[:, ~is_force], axis=1)


def moved_points(result: xr.Dataset) -> tuple[list[str], Array, Array]:
    """Names of the measured points (n); root mean square and largest distance (n,) [m] by which each was moved."""
    # in a fixed memory order: sums of a result and of its file are then equal to the last digit
    shift = np.ascontiguousarray(result["consistency_shift"].transpose("time", "point").values)
    return (
        [str(name) for name in result["point"].values],
        np.sqrt(np.mean(shift**2, axis=0)),
        shift.max(axis=0),
    )


def filter_line(result: xr.Dataset) -> str:
    """The filter in a few words; empty where the result has none."""
    facts = result.attrs
    name, order = "low-pass filter", ""
    if facts.get("filter_method") == "spline":
        name = {2: "cubic", 3: "quintic"}[int(facts["filter_order"])] + " smoothing spline"
    elif facts.get("filter_order", 2) != 2:
        order = f" of order {facts['filter_order']},"
    if "cutoff_hz" in facts:
        forces = f" (forces {facts['force_cutoff_hz']:g} Hz)" if "force_cutoff_hz" in facts else ""
        return f"{name}{order} {facts['cutoff_hz']:g} Hz{forces}"
    if "marker_cutoff" not in result:
        return ""
    cutoff, noise = result["marker_cutoff"].values, 1000.0 * result["marker_noise"].values
    return (
        f"{name}{order.rstrip(',')}, cut-off {cutoff.min():.1f} to {cutoff.max():.1f} Hz from the data (forces "
        f"{facts['force_cutoff_hz']:.1f} Hz), noise {np.median(noise):.2g} mm"
    )


def joint_dofs(result: xr.Dataset, joint: str, side: str, *, sagittal: bool = False) -> list[str]:
    """The degrees of freedom of hip, knee or ankle that a result has, or flexion alone."""
    table = bundled_toml(__package__, "joint_dofs.toml")[joint]
    stems = [*table["sagittal"], *([] if sagittal else table["others"])]
    known = set(map(str, result.variables["dof"].values))
    return [name for name in (f"{stem}_{side}" for stem in stems) if name in known]


def joint_power(result: xr.Dataset, joint: str, side: str, *, sagittal: bool = False) -> Array:
    """Power of all rotations of a joint, or of flexion and extension alone, (T,) [W]."""
    dofs = joint_dofs(result, joint, side, sagittal=sagittal)
    columns = [name in dofs for name in map(str, result.variables["dof"].values)]
    power = result.variables["joint_power"].transpose("time", "dof").values
    return np.asarray(power[:, columns].sum(axis=1))


def powered_joints(result: xr.Dataset) -> list[str]:
    """The joints among hip, knee and ankle that have a degree of freedom in the result, on any side."""
    sides = [str(side) for side in result["side"].values]
    return [joint for joint in LEG_JOINTS if any(joint_dofs(result, joint, side) for side in sides)]


def support_moment(result: xr.Dataset, side: str) -> Array | None:
    """Sum of the moments that extend a leg: hip extension, knee extension, plantarflexion, (T,) [N m].

    Winter (1980), J Biomech 13:923-927. None where a joint is missing or the sense of its angle is not known.
    """
    table = bundled_toml(__package__, "joint_dofs.toml")
    total = np.zeros(result.sizes["time"])
    for joint in LEG_JOINTS:
        dofs = joint_dofs(result, joint, side, sagittal=True)
        sign = table[joint]["sagittal"][dofs[0].removesuffix(f"_{side}")] if dofs else 0
        if not sign:
            return None
        total += sign * np.asarray(result["joint_moment"].sel(dof=dofs[0]).values)
    return total


def group_muscles(result: xr.Dataset, group: str, side: str) -> list[str]:
    """The muscles of a group of the muscle set (`group` of its muscles) on one side."""
    pairs = zip(result.variables["muscle"].values, result.variables["group"].values, strict=True)
    sides = frames.muscle_sides(result)
    return [str(name) for name, of in pairs if str(of) == group and sides[str(name)] == side]


def group_force(result: xr.Dataset, group: str, side: str) -> tuple[Array, float] | None:
    """Sums of the forces (T,) [N] and of the maximum isometric forces [N] of a group; None of a side without it."""
    names = group_muscles(result, group, side)
    if not names:
        return None
    columns = np.isin(result.variables["muscle"].values, names)
    force = result.variables["muscle_force"].transpose("time", "muscle").values[:, columns].sum(axis=1)
    return force, float(np.nansum(result.variables["max_isometric_force"].values[columns]))

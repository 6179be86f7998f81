"""Muscle geometry in any pose, without a recording."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

import muscle_db
from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_type
from musclesolve._util.messages import as_text, check_known, enumerated
from musclesolve._util.sides import SIDES, split_side
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_joint_angle, motion_from
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.muscles.muscle_parameters import load_muscle_set
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.paths.paths import muscle_rows
from musclesolve.muscles.scaling.scale_muscles import joined, scale_muscles

if TYPE_CHECKING:
    import xarray as xr


LARGEST_ANGLE = 3.5
"""Angle [rad] of a single pose that no joint exceeds, 200 degrees; motions may add turns of the shoulder."""
REACHED = {"hip_flexion": (-1.0, 2.6), "knee_flexion": (-0.5, 2.9), "ankle_dorsiflexion": (-1.6, 1.0)}
"""Angles [rad] that people reach, with room for dancers and deep squats beyond the mean ranges of men of 30 to 40
years: hip -0.2 to 2.1, knee 0 to 2.5, ankle -0.7 to 0.3 (Roaas and Andersson 1982)."""
LARGEST_RATE = 50.0
"""Rate [rad/s] that no joint but a thrower's shoulder exceeds: 40 at the elbow of a pitcher (Fleisig et al. 1999)."""
SUBJECT = {"mass_kg": "mass", "stature_m": "stature", "sex": "sex"}
"""Key of a subject -> argument of `human_model`."""


def muscle_geometry(
    angles: Mapping[str, ArrayLike],
    rates: Mapping[str, ArrayLike] | None = None,
    muscles: muscle_db.MuscleDatabase | str | Path = muscle_db.DEFAULT,
    subject: Model | Mapping[str, Any] | None = None,
) -> "xr.Dataset":
    """Musculotendon lengths, moment arms, fiber lengths and capacities over a set of poses.

    Args:
        angles: joint angles [rad] by name ("knee_flexion_r"), scalars or (P,) arrays; every other angle is zero.
        rates: rates [rad/s] of joint angles, likewise; every other rate is zero. None: at rest.
        muscles: a muscle set, its name ("rajagopal_2023"), or the path of its file.
        subject: a subject's model, or a dict of mass_kg, stature_m and sex; the standard subject (1.70 m, 70.25 kg,
            male) unless given.

    Returns:
        Dataset over pose, dof, muscle (both sides): musculotendon_length, musculotendon_velocity, fiber_length,
        normalized_fiber_length, fiber_velocity, moment_arm, force_capacity, fiber_force_capacity, passive_force,
        max_isometric_force, optimal_fiber_length, joints_crossed; the angles, and the rates as "knee_flexion_r_rate",
        are coordinates of pose. Passive forces follow `[muscles] passive = "table"` of a trial file, strains of the
        muscle set; the usual rule has no passive force.

    Raises:
        InputError: a subject that is no model, an unknown or faulty muscle set, an unknown angle, angles or rates of
            different lengths, not finite, angles of more than 3.5 rad, rates of more than 50 rad/s (not of a shoulder).

    Examples:
        >>> poses = ms.muscle_geometry({"knee_flexion_r": np.radians([0.0, 45.0, 90.0])})
        >>> arm = poses["moment_arm"].sel(dof="knee_flexion_r", muscle="vastus_lateralis_r")     # (pose) [m]
        >>> bool((arm < 0.0).all())
        True
    """
    import xarray as xr

    model = pose_model(subject)
    database = muscle_set(muscles)
    angle, rate = pose_angles(model, angles, rates)
    motion = pose_motion(model, angle=angle, rate=rate)
    scaled = joined([scale_muscles(model, database, side, passive="table") for side in SIDES])
    state = muscle_state(model, scaled, motion)
    parameters = state.parameters
    quantities = {
        "musculotendon_length": (state.musculotendon_length, "m"),
        "musculotendon_velocity": (state.musculotendon_velocity, "m/s"),
        "fiber_length": (state.fiber_length, "m"),
        "normalized_fiber_length": (state.fiber_length / parameters.optimal_fiber_length, "1"),
        "fiber_velocity": (state.fiber_velocity, "m/s"),
        "moment_arm": (state.moment_arm, "m"),
        "force_capacity": (state.force_capacity, "N"),
        "fiber_force_capacity": (state.fiber_force_capacity, "N"),
        "passive_force": (state.passive_force, "N"),
        "max_isometric_force": (parameters.max_isometric_force, "N"),
        "optimal_fiber_length": (parameters.optimal_fiber_length, "m"),
        "joints_crossed": (parameters.joints_crossed, "1"),
    }
    dims = {3: ("pose", "dof", "muscle"), 2: ("pose", "muscle"), 1: ("muscle",)}
    return xr.Dataset(
        {name: (dims[array.ndim], array, {"units": unit}) for name, (array, unit) in quantities.items()},
        coords={"dof": list(state.muscles.dof_names), "muscle": list(state.muscles.names)}
        | {name: ("pose", motion.coordinates[:, model.dof(name)], {"units": "rad"}) for name in angle}
        | {f"{name}_rate": ("pose", motion.rates[:, model.dof(name)], {"units": "rad/s"}) for name in rate},
    )


@dataclass(frozen=True, eq=False)
class PoseRows:
    """Rows of muscles in the Jacobian of the body, over P poses.

    With a tension F of a muscle its generalized force on the points and vectors is -F times its row, and F is the
    multiplier of the row (Silva 2003, 6.8, correction A1).

    Attributes:
        model: the body.
        motion: its poses q, and velocities qd of the stated rates, (P, N, 3) [m, m/s].
        muscle: names of the n muscles, both sides.
        rows: dL_MT/dq (P, n, N, 3) over the N points and vectors [1].
        length: musculotendon lengths L_MT (P, n) [m].
        velocity: their rates (P, n) [m/s], the rows times qd.
    """

    model: Model
    motion: Motion
    muscle: tuple[str, ...]
    rows: Array
    length: Array
    velocity: Array


def pose_rows(
    angles: Mapping[str, ArrayLike],
    rates: Mapping[str, ArrayLike] | None = None,
    muscles: muscle_db.MuscleDatabase | str | Path = muscle_db.DEFAULT,
    subject: Model | Mapping[str, Any] | None = None,
) -> PoseRows:
    """The muscles of a set as constraints of the whole body: their rows in the Jacobian, over a set of poses.

    Args:
        angles: joint angles [rad] by name ("knee_flexion_r"), scalars or (P,) arrays; every other angle is zero.
        rates: rates [rad/s] of joint angles, likewise; every other rate is zero. None: at rest.
        muscles: a muscle set, its name ("silva_2003"), or the path of its file.
        subject: a subject's model, or a dict of mass_kg, stature_m and sex; the standard subject (1.70 m, 70.25 kg,
            male) unless given.

    Raises:
        InputError: as of `muscle_geometry`; points of the set move with angles of a model with spherical joints.

    Examples:
        >>> found = ms.muscles.pose_rows({"knee_flexion_r": 0.4}, {"knee_flexion_r": 2.0}, "silva_2003")
        >>> np.allclose(np.einsum("tnix,tix->tn", found.rows, found.motion.qd), found.velocity)
        True
    """
    model, database = pose_model(subject), muscle_set(muscles)
    angle, rate = pose_angles(model, angles, rates)
    motion = pose_motion(model, angle=angle, rate=rate)
    state = muscle_state(model, joined([scale_muscles(model, database, side) for side in SIDES]), motion)
    return PoseRows(
        model=model,
        motion=motion,
        muscle=state.muscles.names,
        rows=muscle_rows(model, motion, state.path),
        length=state.musculotendon_length,
        velocity=state.musculotendon_velocity,
    )


def muscle_set(muscles: object) -> muscle_db.MuscleDatabase:
    """A muscle set itself, or of its name or the path of its file."""
    muscles = load_muscle_set(muscles) if isinstance(muscles, str | Path) else muscles
    expected = "a muscle set, its name, or the path of its file"
    return check_type(muscles, muscle_db.MuscleDatabase, "muscles", expected)


def pose_model(subject: Model | Mapping[str, Any] | None) -> Model:
    """The model of a subject: the model itself, of a dict of mass_kg, stature_m and sex, or the standard subject."""
    if isinstance(subject, Mapping):
        for key in subject:
            check_known([str(key)], "key of a subject", SUBJECT)
        return human_model(**{SUBJECT[key]: value for key, value in subject.items()})
    expected = "a model, such as human_model() makes, or a dict of mass_kg, stature_m and sex"
    return human_model() if subject is None else check_type(subject, Model, "subject", expected)


def pose_angles(
    model: Model, angles: Mapping[str, ArrayLike], rates: Mapping[str, ArrayLike] | None
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Angles [rad] and rates [rad/s] by joint angle of a model, (P,) or (1,) each, checked."""
    known = model.topology.dof_names[: model.tree.joint_count]
    angle = numbers_by_name(angles, "joint angle", "rad", known)
    rate = {} if rates is None else numbers_by_name(rates, "joint rate", "rad/s", known)
    for name, values in angle.items():
        check_joint_angle(name, values, LARGEST_ANGLE)
        low, high = REACHED.get(split_side(name)[0], (-np.inf, np.inf))
        worst = values[np.maximum(low - values, values - high).argmax()]
        if not low <= worst <= high:
            warn(
                f"{name} of {worst:.3g} rad ({np.degrees(worst):.0f} degrees) is beyond the {low:g} to {high:g} rad "
                "that people reach: if angles are in degrees, give numpy.radians(angle); else look at the sign",
                stacklevel=3,
            )
    for name, values in rate.items():
        if not name.startswith("shoulder"):
            check_joint_angle(name, values, LARGEST_RATE, "/s")
    return angle, rate


def pose_motion(model: Model, **stated: Mapping[str, Array]) -> Motion:
    """A motion through P poses without accelerations, of arrays (P,) or (1,): `angle`, `rate` and further kinds."""
    sizes = {a.size: f"{a.size} ({kind} of {name})" for kind, of in stated.items() for name, a in of.items()}
    count, *others = sorted(size for size in sizes if size != 1) or [1]
    if others:
        named = enumerated([sizes[k] for k in (count, *others)])
        raise input_error("muscles.angles_different_lengths", sizes=named)
    coordinates, speeds = np.zeros((2, count, len(model.topology.dof_names)))
    for values, kind in ((coordinates, "angle"), (speeds, "rate")):
        for name, column in stated[kind].items():
            values[:, model.dof(name)] = column
    return motion_from(model, np.arange(count, dtype=float), coordinates, speeds, np.zeros_like(speeds))


def numbers_by_name(
    stated: Mapping[str, ArrayLike], kind: str, unit: str, known: Sequence[str], within: str = ""
) -> dict[str, Array]:
    """Numbers by name of a degree of freedom, (P,) or (1,) each; refuses unknown names and what is not finite."""
    if not hasattr(stated, "keys"):  # a table of pandas has it, too
        raise input_error(
            "bad_type",
            problem=f"the {kind}s are {as_text(stated)}",
            expected=f"a dict: name of a degree of freedom -> {kind}s, a number or (P,) [{unit}]",
        )
    numbers = {}
    for name, value in dict(stated).items():
        check_known([name], kind, known, within)
        try:
            array = np.atleast_1d(np.asarray(value, dtype=float))
        except (TypeError, ValueError):
            array = np.full(1, np.nan)
        if array.ndim > 1 or not array.size or not np.isfinite(array).all():
            raise input_error(
                "bad_number",
                where=name,
                problem=f"{as_text(value)} is no {kind}",
                expected=f"a finite number or a list of them, in {unit}",
            )
        numbers[name] = array
    return numbers

"""Public names and attributes that have moved: they work for one more version, and a warning names the new place."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any
from warnings import warn

_MOVED = {
    (
        "",
        ".signals",
    ): "low_pass smoothing_spline residual_analysis HeadInjury head_injury_criterion severity_index",
    ("", ".cameras"): "Camera read_camera_file write_camera_file reconstruct",
    (
        "",
        ".files",
    ): "Markers Table read_forces_table read_markers read_mot write_mot read_trc write_trc read_person "
    "write_person",
    ("", ".muscles"): "MuscleForces muscle_forces ElasticMuscles MuscleParameters PersonMuscles",
    (
        "",
        ".sharing",
    ): "feasible_range near_optimal_range pareto_front check_reserves expression_cost compile_kernel "
    "RateLimits solution_derivatives",
    ("", ".trajectory"): "MotionProblem solve_motion solve_rate_limited Collocation",
    ("", ".live"): "Frame Replay",
    (
        "",
        ".studies",
    ): "Calibration BodyCalibration TrialRecord StudyResult center_of_pressure_correction emg_offset "
    "emg_trade_off force_sensitivity",
    ("", ".synthetic"): "reference_stride",
    ("", ".pipeline.forward_problem"): "ForwardProblem",
    ("", ".report.picture.inline_picture"): "MovingPicture",
    (
        ".recording",
        ".files",
    ): "C3D read_c3d Event Gap Markers PlateForce Subject Table Trial read_forces_table "
    "read_markers read_mot write_mot read_trc write_trc Landmark landmarks MarkerSet marker_sets",
    (".recording", ".cameras"): "CameraFile read_camera_file write_camera_file",
    (".recording", ""): "read_trial",
    (".recording.cameras", ".cameras"): "Calibration Camera camera_at ring Reconstruction reconstruct",
}
"""Former package and present package of names (both below musclesolve), and the names."""
_RENAMED = {
    ".calibrate": ".cameras.calibrate_cameras",
    ".recording.cameras.calibrate": ".cameras.calibrate_cameras",
    ".explain": ".sharing.fit_cost_weights",
    ".sharing.explain": ".sharing.fit_cost_weights",
    ".Structured": ".trajectory.BandedInteriorPoint",
    ".trajectory.Structured": ".trajectory.BandedInteriorPoint",
    ".muscles.place_muscles": ".muscles.scale_muscles",
    ".gait_cycles": ".cycles",
    ".normalised": ".normalized",
}
ARGUMENTS = {"musclesolve.gait_cycles": {"strides": True}}
"""What an old name asked of the function that replaces it."""
NEW_PLACES = {
    f"musclesolve{old}": f"musclesolve{new}"
    for old, new in [
        *(
            (f"{had}.{name}", f"{has}.{name}")
            for (had, has), names in _MOVED.items()
            for name in names.split()
        ),
        *_RENAMED.items(),
    ]
}
"""Full old name -> full new name."""

_TABLES = {
    name: f"settings.{name}" for name in ("filter", "consistency", "muscles", "sharing", "uncertainty")
}
_KEYS = {
    "contact_spacing": "settings.knee.contact_spacing_m",
    "movement": "settings.time.movement",
    "cycles": "settings.time.cycles_s",
}
OLD_ATTRIBUTES = {
    "Trial": {**_TABLES, **_KEYS, "analysed": "analyzed"},
    "ModelTrial": {
        **_KEYS,
        **{name: f"settings.muscles.{name}" for name in ("passive", "tendon", "tendon_strain", "database")},
        **{name: f"settings.time.{name}" for name in ("start_s", "end_s")},
        **{name: f"settings.{name}" for name in ("sharing", "uncertainty")},
        "muscles": "settings.muscles.names",
        "cutoff_hz": "settings.filter.cutoff_hz",
        "feet": "settings.plates.feet",
    },
}
"""Class of a trial -> former attribute -> its present place in the trial."""


def old_attribute(trial: Any, attribute: str) -> Any:
    """Return the value of a former attribute of trials from its present place.

    Raises:
        AttributeError: an attribute that trials of this class neither have nor had.
    """
    name = type(trial).__name__
    if attribute not in OLD_ATTRIBUTES[name]:
        raise AttributeError(f"{name!r} object has no attribute {attribute!r}")
    place = OLD_ATTRIBUTES[name][attribute]
    text = f"{name}.{attribute} is now {name}.{place}; the old name goes with the next version"
    warn(text, FutureWarning, stacklevel=3)
    return attrgetter(place)(trial)


def with_old_names(package: str, names: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that also finds old names; names: finds the present ones.

    Raises:
        AttributeError: a name that the package neither has nor had.
    """

    def find(name: str) -> Any:
        old = f"{package}.{name}"
        if old not in NEW_PLACES:
            if names is None:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            return names(name)
        new, arguments = NEW_PLACES[old], ARGUMENTS.get(old, {})
        shown = (
            f"{new}(..., {', '.join(f'{key}={value}' for key, value in arguments.items())})"
            if arguments
            else new
        )
        warn(f"{old} is now {shown}; the old name goes with the next version", FutureWarning, stacklevel=2)
        home, _, last = new.rpartition(".")
        found = getattr(import_module(home), last)
        return partial(found, **arguments) if arguments else found

    return find


def old_of(new: str) -> Any:
    """Return a class method for the old name `of` of the class method `new`."""

    def of(cls: type, *values: Any, **keywords: Any) -> Any:
        text = f"{cls.__name__}.of is now {cls.__name__}.{new}; the old name goes with the next version"
        warn(text, FutureWarning, stacklevel=2)
        return getattr(cls, new)(*values, **keywords)

    return classmethod(of)

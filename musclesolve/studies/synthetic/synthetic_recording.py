"""The reference stride as an ordinary recording: markers walking and standing, plates, trial file, and the truth.

Markers go into TRC files, or into the views of virtual cameras around the walkway. The truth is a dataset to compare
results with.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, within
from musclesolve._util.messages import check_keywords, check_known
from musclesolve.constants import LOADED_FROM_N, TRIAL_FILE
from musclesolve.errors import file_error, input_error
from musclesolve.laboratory.files.cameras.camera import Camera, camera_ring
from musclesolve.laboratory.files.cameras.camera_file import write_camera_file
from musclesolve.laboratory.recording.axes import global_from_laboratory
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, Quantity
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.laboratory.results.files.result_netcdf import netcdf_bytes
from musclesolve.studies.synthetic.places import (
    Places,
    marker_places,
    on_plates,
    plate_middles,
    segment_clusters,
    segment_places,
)
from musclesolve.studies.synthetic.recording_options import NOISES, RecordingOptions, white
from musclesolve.studies.synthetic.reference_stride import (
    CurvedStride,
    ReferenceStride,
    pressure,
    reference_stride,
)
from musclesolve.studies.synthetic.running_stride import running_stride
from musclesolve.tables.opensim_text import write_mot, write_trc
from musclesolve.tables.sampled import Markers, Table
from musclesolve.tables.settings import settings_of
from musclesolve.tables.text_file import file_path

TRIAL, FORCES, TRUTH = TRIAL_FILE, "forces.mot", "truth.nc"
WALK, STANDING, BENDING = "walk", "static", "bending"
MILLIMETER = 1e-3
FORCE_DECIMALS = 5
MOMENT_NOISE = 0.01
"""Noise of a moment of a plate [N m] per newton of noise of its force: an arm of a centimeter. Both act at the middle
of the plate, like the sensors: the noise of the center of pressure is equal everywhere.
"""


_MOTIONS: dict[str, Callable[[], ReferenceStride]] = {"walk": reference_stride, "run": running_stride}


def synthetic_recording(
    folder: str | Path, stride: ReferenceStride | None = None, truth: bool = True, **options: object
) -> Path:
    """Record the reference stride with virtual cameras and plates.

    Writes trial.toml, walk.trc, static.trc (with cameras: walk.toml and static.toml and their tables) and forces.mot,
    and truth.nc with the true joint angles and moments, ground reaction and landmarks, which no laboratory knows.

    Args:
        folder: of the files; created if missing.
        stride: another stride than the bundled one.
        truth: write truth.nc.
        options: settings of `SyntheticSettings`: noise_mm, noise, marker_rate_hz, strides, marker_set, ...; and gaps:
            (marker, first time, last time) [s] of markers that are not seen.

    Returns:
        The trial file.

    Raises:
        TypeError: there is no such option.
        InputError: an option that does not allow a recording, or files that cannot be written.

    Examples:
        >>> trial = ms.studies.synthetic_recording("noisy", noise_mm=2.0, seed=1)
        >>> sorted(path.name for path in trial.parent.iterdir())
        ['forces.mot', 'static.trc', 'trial.toml', 'truth.nc', 'walk.trc']
    """
    folder = file_path(folder)
    write_files(folder, recording_files(stride, truth, **options))
    return folder / TRIAL


def recording_files(
    stride: ReferenceStride | None = None, truth: bool = True, **options: object
) -> dict[str, bytes]:
    """The content of the files of a synthetic recording, by name; arguments and errors as of `synthetic_recording`."""
    names = ("gaps", *settings_of(RecordingOptions))
    check_keywords(options, names, "synthetic_recording()")
    chosen = RecordingOptions(**options)  # type: ignore[arg-type]
    stride = on_path(stride or _MOTIONS[chosen.motion](), chosen)
    places = marker_places(stride.person, chosen.marker_set, by_motion=chosen.functional_deg > 0.0)
    _check_gaps(stride, chosen, places)
    recordings = {WALK: walking(stride, chosen, places), STANDING: standing(stride, chosen, places)}
    if chosen.functional_deg > 0.0:
        recordings[BENDING] = bending(stride, chosen, places)
    with tempfile.TemporaryDirectory(prefix="musclesolve-") as name:
        beside = Path(name)
        if chosen.cameras:
            write_views(beside, chosen, recordings, _axes(chosen))
        else:
            for kind, markers in recordings.items():
                write_trc(beside / f"{kind}.trc", markers, decimals=chosen.decimals)
        write_mot(beside / FORCES, plates(stride, chosen), decimals=FORCE_DECIMALS)
        (beside / TRIAL).write_text(trial_text(stride, chosen), encoding="utf-8")
        contents = {file.name: file.read_bytes() for file in sorted(beside.iterdir()) if file.is_file()}
    if truth:
        contents[TRUTH] = truth_bytes(stride, chosen, times(stride, chosen, chosen.marker_rate_hz))
    return contents


def on_path(stride: ReferenceStride, options: RecordingOptions) -> ReferenceStride:
    """The stride on the path of the options."""
    if options.heading_deg == 0.0 and options.turn_deg == 0.0:
        return stride
    if type(stride) is not ReferenceStride:
        raise input_error(
            "conflict",
            where="heading_deg, turn_deg",
            problem=f"{stride.about} already has another direction",
            expected="the strides of a walk, which alone are carried along another path",
            remedy="leave out heading_deg and turn_deg",
        )
    curvature = np.deg2rad(options.turn_deg) / (options.strides * stride.length)
    return CurvedStride.from_stride(stride, np.deg2rad(options.heading_deg), curvature)


def check_free(folder: Path, names: Iterable[str]) -> None:
    """Refuse to replace a recording that may not be synthetic: one without a file of its truth."""
    existing = [name for name in names if (folder / name).exists()]
    if existing and not (folder / TRUTH).is_file():
        raise file_error(
            "occupied_folder",
            folder,
            f"there is another recording: {', '.join(map(str, existing))}",
            f"a new folder, or one with a synthetic recording and its {TRUTH}",
            "choose another folder with -o",
        )


def _check_gaps(stride: ReferenceStride, options: RecordingOptions, places: Places) -> None:
    seen = times(stride, options, options.marker_rate_hz) + options.margin_s
    names = tuple(name for name in places.names if name not in places.removed)
    for marker, first, last in options.gaps:
        check_known([marker], "marker", names, where="gaps")
        if not within(seen, first, last).any():
            raise input_error(
                "bad_range",
                where="gaps",
                problem=f"there is no frame in the gap of {marker} from {first:g} to {last:g} s",
                expected=f"times from 0 to {seen[-1]:.2f} s, with a frame every {1.0 / options.marker_rate_hz:.2g} s",
                remedy="choose other times, or record more strides",
            )


def times(stride: ReferenceStride, options: RecordingOptions, rate_hz: float) -> AnyArray:
    """Times of the frames on the clock of the stride [s]: the files' clock starts at the first of them."""
    count = int((options.strides * stride.period + 2.0 * options.margin_s) * rate_hz + 1e-6) + 1
    return np.asarray(np.arange(count) / rate_hz - options.margin_s)


def walking(stride: ReferenceStride, options: RecordingOptions, places: Places) -> Markers:
    """Markers of the strides and their margins, as in the files."""
    time = times(stride, options, options.marker_rate_hz)
    true = stride.carried(time, places.standing, places.bodies)
    noise = NOISES[options.noise](np.random.default_rng([options.seed, 1]), true.shape, time / stride.period)
    position = true + options.noise_mm * MILLIMETER * noise
    seen = time + options.margin_s
    for marker, first, last in options.gaps:
        position[within(seen, first, last), places.names.index(marker)] = np.nan
    kept = [k for k, name in enumerate(places.names) if name not in places.removed]
    names = tuple(places.names[k] for k in kept)
    return Markers(seen, names, position[:, kept] @ _axes(options), Path(WALK))


def standing(stride: ReferenceStride, options: RecordingOptions, places: Places) -> Markers:
    """Markers of the standing subject, soles on the ground."""
    count = options.standing_frames
    position = np.repeat((places.standing + stride.standing_origin)[None], count, axis=0)
    # Standing still: skin does not slide, only the cameras have noise.
    noise = white(np.random.default_rng([options.seed, 2]), position.shape, np.zeros(count))
    position = position + options.noise_mm * MILLIMETER * noise
    time = np.arange(count) / options.marker_rate_hz
    return Markers(time, places.names, position @ _axes(options), Path(STANDING))


BENDS, BENDING_PERIOD = 4, 2.0
"""How often, and how long each time [s], knees and ankles bend and straighten."""

HIP_SHARE, DORSAL_SHARE = 0.5, 1.0 / 3.0
"""Flexion of the hips over flexion of the knees, and share of dorsiflexion in the ankles' range."""


def bending(stride: ReferenceStride, options: RecordingOptions, places: Places) -> Markers:
    """Markers while knees and ankles bend and straighten, all at once, and the pelvis sways.

    Skin slides with the movement, as it does with the stride.
    """
    model = stride.model
    time = np.arange(round(BENDS * BENDING_PERIOD * options.marker_rate_hz) + 1) / options.marker_rate_hz
    phase = time / BENDING_PERIOD
    bent = np.deg2rad(options.functional_deg) * 0.5 * (1.0 - np.cos(2.0 * np.pi * phase))
    coordinates = np.zeros((time.size, model.tree.joint_count + 6))
    for side in SIDES:
        coordinates[:, model.dof(f"knee_flexion_{side}")] = bent
        coordinates[:, model.dof(f"hip_flexion_{side}")] = HIP_SHARE * bent
        coordinates[:, model.dof(f"ankle_dorsiflexion_{side}")] = bent - (1.0 - DORSAL_SHARE) * np.deg2rad(
            options.functional_deg
        )
    sway = np.sin(np.pi * phase)[:, None]
    coordinates[:, -6:] = np.concatenate(
        [stride.standing_origin + 0.02 * sway, 0.05 * np.repeat(sway, 3, 1)], axis=1
    )
    true = stride.posed(coordinates, places.standing, places.bodies)
    noise = NOISES[options.noise](np.random.default_rng([options.seed, 5]), true.shape, phase)
    position = true + options.noise_mm * MILLIMETER * noise
    return Markers(time, places.names, position @ _axes(options), Path(BENDING))


def plates(stride: ReferenceStride, options: RecordingOptions) -> Table:
    """Force, center of pressure and free moment of the plates of each foot, zero while unloaded."""
    time = times(stride, options, options.force_rate_hz)
    rng = np.random.default_rng([options.seed, 3])
    names, columns = [], []
    for side, wrench in zip(("right", "left"), stride.wrenches(time), strict=True):
        borne = on_plates(side[0], wrench.force[:, 2], options.steps)[:, None]
        noise, twist = options.force_noise_n * rng.normal(size=(2, *wrench.force.shape))
        middle = plate_middles(wrench.force[:, 2], pressure(wrench.force, wrench.moment, LOADED_FROM_N)[0])
        force = borne * wrench.force + noise
        moment = borne * wrench.moment + MOMENT_NOISE * twist + np.cross(middle, noise)
        point, free = pressure(force, moment, options.unloaded_below)
        loaded = (force[:, 2] >= options.unloaded_below)[:, None]
        for what, values in (("force", np.where(loaded, force, 0.0)), ("point", point), ("moment", free)):
            names += [f"{side}_{what}_{axis}" for axis in "xyz"]
            columns.append(values @ _axes(options))
    return Table(time + options.margin_s, tuple(names), np.concatenate(columns, axis=1), False, Path(FORCES))


def _axes(options: RecordingOptions) -> AnyArray:
    """Rotation R (3, 3) with p_global = R p_file: rows of global positions times R are rows of the file's."""
    return global_from_laboratory(options.forward, options.up)


CLEARANCE = 0.4
"""How far the control points reach beyond the markers [m]."""

NEAREST = 5.0
"""Least distance of a camera from the middle of the walkway [m]."""

FOCAL_LENGTH = 1200.0
"""Focal length of a camera at the least distance [px]; it increases with the distance, so that a pixel shows the
same length from everywhere.
"""


def write_views(
    folder: Path, options: RecordingOptions, recordings: Mapping[str, Markers], axes: Array
) -> None:
    """Write the images of each recording in the cameras as a camera file NAME.toml with its tables.

    recordings: markers by the name of their file, in the axes of the files; axes R (3, 3): p_global = R p_file.
    """
    seen = np.concatenate([markers.position.reshape(-1, 3) @ axes.T for markers in recordings.values()])
    low, high = np.nanmin(seen, axis=0) - CLEARANCE, np.nanmax(seen, axis=0) + CLEARANCE
    low[2] = 0.0
    middle = 0.5 * (low + high)
    target = [middle[0], middle[1], 0.9]
    radius = max(NEAREST, high[0] - low[0])
    focal_length = FOCAL_LENGTH * radius / NEAREST
    cameras = []
    for camera in camera_ring(options.cameras, radius=radius, target=target, focal_length=focal_length):
        # The same camera for points in the axes of the files: a . p_global = (a R) . p_file.
        rows = np.append(camera.coefficients, 1.0).reshape(3, 4)
        rows = np.column_stack([rows[:, :3] @ axes, rows[:, 3]])
        cameras.append(Camera(camera.name, rows.reshape(-1)[:11], camera.front))
    control = np.stack(np.meshgrid(*np.linspace(low, high, 3).T, indexing="ij"), axis=-1).reshape(-1, 3)
    for number, (name, markers) in enumerate(recordings.items()):
        random = np.random.default_rng([options.seed, 4, number])
        write_camera_file(folder, cameras, control @ axes, markers, options.noise_px, random, name=name)


PLATES = """[[force]]
side = "r"
force = "right_force_"
point = "right_point_"
moment = "right_moment_"

[[force]]
side = "l"
force = "left_force_"
point = "left_point_"
moment = "left_moment_"
"""


def trial_text(stride: ReferenceStride, options: RecordingOptions) -> str:
    """The text of the trial file."""
    subject, kind, turn = stride.person.subject, "toml" if options.cameras else "trc", options.turn_deg
    side = "left" if turn > 0.0 else "right"
    path = f", on a path that turns by {abs(turn):g} degrees to the {side}" if turn else ""
    repeated = f", {options.strides} times" if options.strides > 1 else ""
    # With contacts that have no plate the time range is for the reader to find.
    end = options.margin_s + options.strides * stride.period
    first, last = (f"{round(at, 8):.12g}" for at in (options.margin_s, end))
    time = f"[time]\nstart_s = {first}\nend_s = {last}\n\n" if options.steps is None else ""
    highest = f"{max(max(entry['harmonics']) for entry in stride.layout.series.values()) / stride.period:.1f}"
    cutoff = f"{options.cutoff:g}" if not isinstance(options.cutoff, str) else f'"{options.cutoff}"'
    filtering = (
        'method = "spline"\n' if options.cutoff == "cross_validation" else ""
    ) + f"cutoff_hz = {cutoff}"
    if options.force_cutoff_hz is not None:
        filtering += f"\nforce_cutoff_hz = {options.force_cutoff_hz:g}"
    if options.marker_set is not None:
        mapping = f'[markers]\nset = "{options.marker_set}"'
    else:
        mapping = "[mapping]\n" + "\n".join(f'{name} = "{name}"' for name in stride.marker_names)
    bending = ""
    if options.functional_deg:
        bent = set(segment_places(stride.person).names)
        mapping = "[mapping]\n" + "\n".join(f'{n} = "{n}"' for n in stride.marker_names if n in bent)
        listed = "\n".join(f"{name} = {json.dumps(names)}" for name, names in segment_clusters().items())
        mapping += f'\n\n[clusters]\n{listed}\n\n[joint_centers]\nknee = "functional"\nankle = "functional"'
        keys = [f"functional_{joint}_{side}" for joint in ("knee", "ankle") for side in SIDES]
        bending = "".join(f'{key} = "{BENDING}.trc"\n' for key in keys)
    return f"""# {stride.about + path}, right heel strike to right heel strike{repeated}.
# It was not recorded: it follows from {stride.source} and the laws of motion (musclesolve.studies.synthetic).

[subject]
name = "{subject.name}"
mass_kg = {subject.mass:g}
stature_m = {subject.stature:.2f}
sex = "{subject.sex}"

[laboratory]
forward = "{options.forward}"
up = "{options.up}"

[files]
markers = "walk.{kind}"
static = "static.{kind}"
{bending}forces = "forces.mot"

{time}# Noise of the markers: {options.noise_mm:g} mm. The highest harmonic of the motion itself lies at {highest} Hz.
[filter]
{filtering}
unloaded_below_n = {options.unloaded_below:g}

{stride.muscles}{mapping}

{PLATES}"""


AXIS_NAMES = ["forward", "left", "up"]

OF_TRUTH = {
    quantity.name: quantity
    for quantity in (
        Quantity("ground_force", ("time", "side", "axis"), "N", "force of the ground on the foot"),
        Quantity(
            "free_moment", ("time", "side"), "N m", "moment about the vertical through the center of pressure"
        ),
        Quantity("marker", ("time", "landmark", "axis"), "m", "landmark without noise"),
    )
}
"""What results do not have under these names."""


def truth_bytes(stride: ReferenceStride, options: RecordingOptions, time: Array) -> bytes:
    """truth.nc: the dataset of `truth`, on the clock of the files."""
    dataset = truth(stride, time).assign_coords(time=time + options.margin_s)
    dataset["time"].attrs["units"] = "s"
    dataset.attrs |= {"noise_mm": options.noise_mm, "noise": options.noise, "seed": options.seed}
    return netcdf_bytes(dataset)


def truth(stride: ReferenceStride, time: Array) -> xr.Dataset:
    """Joint angles and moments, ground reaction and markers (global frame) at times (T,) of the stride.

    The names are as in `musclesolve.run` where both give the same thing.
    """
    ground = stride.ground(time)

    def by_side(name: str) -> Array:
        return np.stack([getattr(ground[side], name) for side in SIDES], axis=1)

    values = {
        "joint_angle": stride.joint_angles(time),
        "joint_moment": stride.joint_moments(time),
        "ground_force": by_side("force"),
        "center_of_pressure": by_side("point"),
        "free_moment": by_side("free_moment"),
        "marker": stride.markers(time),
        "pelvis_residual": stride.pelvis_residual(time),
    }
    return xr.Dataset(
        {
            name: (about.dims, values[name], about.attrs)
            for name, about in (
                OF_TRUTH | {name: QUANTITIES[name] for name in values if name in QUANTITIES}
            ).items()
        },
        coords={
            "time": ("time", time, {"units": "s"}),
            "dof": list(stride.dof_names),
            "side": list(SIDES),
            "axis": AXIS_NAMES,
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

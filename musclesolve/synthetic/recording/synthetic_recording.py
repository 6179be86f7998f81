"""The reference stride as an ordinary recording: markers walking and standing, plates, trial file, and the truth."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.file_axes import global_from_laboratory
from musclesolve.recording.text.mot_file import write_mot
from musclesolve.recording.text.text_file import file_path
from musclesolve.recording.text.trc_file import write_trc
from musclesolve.results.files.atomic_writing import write_files
from musclesolve.synthetic.faults.fault_registry import plant_all
from musclesolve.synthetic.recording.camera_views import write_views
from musclesolve.synthetic.recording.marker_places import Places, marker_places
from musclesolve.synthetic.recording.plate_places import LOADED, on_plates, plate_middles
from musclesolve.synthetic.recording.recording_options import NOISES, RecordingOptions, white
from musclesolve.synthetic.recording.trial_text import trial_text
from musclesolve.synthetic.recording.truth import truth_bytes
from musclesolve.synthetic.running.running_stride import running_stride
from musclesolve.synthetic.stride.curved_stride import CurvedStride
from musclesolve.synthetic.stride.reference_stride import Stride, reference_stride

TRIAL, FORCES, TRUTH = "trial.toml", "forces.mot", "truth.nc"
WALK, STANDING = "walk", "static"
MILLIMETRE = 1e-3
FORCE_DECIMALS = 5
SAME_TIME = 1e-9
"""Times that differ by less are the same [s]."""
MOMENT_NOISE = 0.01
"""Noise of a moment of a plate [N m] for each newton of the noise of its force: an arm of a centimetre.

Both act at the middle of the plate, as the sensors do: the noise of the center of pressure is the same anywhere.
"""


_MOTIONS: dict[str, Callable[[], Stride]] = {"walk": reference_stride, "run": running_stride}


def synthetic_recording(
    folder: str | Path, stride: Stride | None = None, truth: bool = True, **options: object
) -> Path:
    """Record the reference stride with virtual cameras and plates.

    Writes trial.toml, walk.trc, static.trc (with cameras: walk.toml and static.toml and their tables) and forces.mot,
    and truth.nc with what no laboratory knows: joint angles and moments, ground reaction and landmarks as they were.

    Args:
        folder: where to; made when it is missing.
        stride: another stride than the bundled one.
        truth: write truth.nc.
        options: those of `RecordingOptions`: noise_mm, noise, marker_rate_hz, strides, gaps, marker_set, cameras, ...

    Returns:
        The trial file.

    Raises:
        InputError: an option that is unknown or makes no recording, or files that cannot be written.
    """
    folder = file_path(folder)
    write_files(folder, recording_files(stride, truth, **options))
    return folder / TRIAL


def recording_files(stride: Stride | None = None, truth: bool = True, **options: object) -> dict[str, bytes]:
    """The content of the files of a synthetic recording, by name; arguments and errors as of `synthetic_recording`."""
    chosen = _options(options)
    stride = on_path(stride or _MOTIONS[chosen.motion](), chosen)
    places = marker_places(stride.person, chosen.marker_set)
    _check_gaps(stride, chosen, places)
    recordings = {WALK: walking(stride, chosen, places), STANDING: standing(stride, chosen, places)}
    with tempfile.TemporaryDirectory(prefix="musclesolve-") as name:
        beside = Path(name)
        if chosen.cameras:
            write_views(beside, chosen, recordings, _axes(chosen))
        else:
            for kind, markers in recordings.items():
                write_trc(beside / f"{kind}.trc", markers, decimals=chosen.decimals)
        write_mot(beside / FORCES, plates(stride, chosen), decimals=FORCE_DECIMALS)
        (beside / TRIAL).write_text(trial_text(stride, chosen), encoding="utf-8")
        if chosen.faults:
            beside = plant_all(chosen.faults, beside / TRIAL, beside / "faulty").parent
        contents = {file.name: file.read_bytes() for file in sorted(beside.iterdir()) if file.is_file()}
    if truth:
        contents[TRUTH] = truth_bytes(stride, chosen, times(stride, chosen, chosen.marker_rate_hz))
    return contents


def on_path(stride: Stride, options: RecordingOptions) -> Stride:
    """The stride on the path that the options ask for."""
    if options.heading_deg == 0.0 and options.turn_deg == 0.0:
        return stride
    if type(stride) is not Stride:
        raise InputError(
            f"{stride.about} is given another direction",
            code="conflict",
            where="heading_deg, turn_deg",
            expected="the strides of a walk, which alone are carried along another path",
            remedy="leave out heading_deg and turn_deg",
        )
    curvature = np.deg2rad(options.turn_deg) / (options.strides * stride.length)
    return CurvedStride.of(stride, np.deg2rad(options.heading_deg), curvature)


def check_free(folder: Path, names: Iterable[str]) -> None:
    """Refuse to write over a recording that is not known to be a synthetic one: without its truth beside it."""
    there = [name for name in names if (folder / name).exists()]
    if there and not (folder / TRUTH).is_file():
        raise InputError(
            f"there is another recording: {', '.join(there)}",
            code="occupied_folder",
            file=folder,
            expected=f"a new folder, or one with a synthetic recording and its {TRUTH}",
            remedy="choose another folder with -o",
        )


def _options(given: dict[str, object]) -> RecordingOptions:
    known = tuple(RecordingOptions.__dataclass_fields__)
    for name in given:
        if name not in known:
            raise unknown_name(name, "option", known, where="synthetic_recording")
    return RecordingOptions(**given)  # type: ignore[arg-type]


def _check_gaps(stride: Stride, options: RecordingOptions, places: Places) -> None:
    seen = times(stride, options, options.marker_rate_hz) + options.margin_s
    names = tuple(name for name in places.names if name not in places.removed)
    for marker, first, last in options.gaps:
        if marker not in names:
            raise unknown_name(marker, "marker", names, where="gaps")
        if not inside(seen, first, last).any():
            raise InputError(
                f"no frame lies in the gap of {marker} from {first:g} to {last:g} s",
                code="bad_range",
                where="gaps",
                expected=f"times from 0 to {seen[-1]:.2f} s, with a frame every {1.0 / options.marker_rate_hz:.2g} s",
                remedy="choose other times, or record more strides",
            )


def inside(time: AnyArray, first: float, last: float) -> AnyArray:
    """Which times (T,) lie from first to last, both included whatever their last digit."""
    return np.asarray((time >= first - SAME_TIME) & (time <= last + SAME_TIME))


def times(stride: Stride, options: RecordingOptions, rate_hz: float) -> AnyArray:
    """Times of the frames on the clock of the stride [s]: the files' clock starts at the first of them."""
    count = int((options.strides * stride.period + 2.0 * options.margin_s) * rate_hz + 1e-6) + 1
    return np.asarray(np.arange(count) / rate_hz - options.margin_s)


def walking(stride: Stride, options: RecordingOptions, places: Places) -> Markers:
    """Markers of the strides and their margins, as the files hold them."""
    time = times(stride, options, options.marker_rate_hz)
    true = stride.carried(time, places.standing, places.bodies)
    noise = NOISES[options.noise](np.random.default_rng([options.seed, 1]), true.shape, time / stride.period)
    position = true + options.noise_mm * MILLIMETRE * noise
    seen = time + options.margin_s
    for marker, first, last in options.gaps:
        position[inside(seen, first, last), places.names.index(marker)] = np.nan
    kept = [k for k, name in enumerate(places.names) if name not in places.removed]
    names = tuple(places.names[k] for k in kept)
    return Markers(seen, names, position[:, kept] @ _axes(options), Path(WALK))


def standing(stride: Stride, options: RecordingOptions, places: Places) -> Markers:
    """Markers of the standing subject, soles on the ground."""
    count = options.standing_frames
    position = np.repeat((places.standing + stride.standing_origin)[None], count, axis=0)
    # Standing still: skin does not slide, the cameras alone are left.
    noise = white(np.random.default_rng([options.seed, 2]), position.shape, np.zeros(count))
    position = position + options.noise_mm * MILLIMETRE * noise
    time = np.arange(count) / options.marker_rate_hz
    return Markers(time, places.names, position @ _axes(options), Path(STANDING))


def plates(stride: Stride, options: RecordingOptions) -> Table:
    """Force, center of pressure and free moment of the plates of each foot, zero while unloaded."""
    time = times(stride, options, options.force_rate_hz)
    rng = np.random.default_rng([options.seed, 3])
    names, columns = [], []
    for side, wrench in zip(("right", "left"), stride.wrenches(time), strict=True):
        borne = on_plates(side[0], wrench.force[:, 2], options.steps)[:, None]
        noise, twist = options.force_noise_n * rng.normal(size=(2, *wrench.force.shape))
        middle = plate_middles(wrench.force[:, 2], pressure(wrench.force, wrench.moment, LOADED)[0])
        force = borne * wrench.force + noise
        moment = borne * wrench.moment + MOMENT_NOISE * twist + np.cross(middle, noise)
        point, free = pressure(force, moment, options.unloaded_below)
        loaded = (force[:, 2] >= options.unloaded_below)[:, None]
        for what, values in (("force", np.where(loaded, force, 0.0)), ("point", point), ("moment", free)):
            names += [f"{side}_{what}_{axis}" for axis in "xyz"]
            columns.append(values @ _axes(options))
    return Table(time + options.margin_s, tuple(names), np.concatenate(columns, axis=1), False, Path(FORCES))


def pressure(force: AnyArray, moment: AnyArray, unloaded_below: float) -> tuple[AnyArray, AnyArray]:
    """Center of pressure on the ground and moment about it, (T, 3) each, zero while unloaded."""
    loaded = force[:, 2] >= unloaded_below
    vertical = np.where(loaded, force[:, 2], np.inf)
    point = np.stack([-moment[:, 1] / vertical, moment[:, 0] / vertical, np.zeros(len(force))], axis=1)
    free = np.where(loaded[:, None], moment - np.cross(point, force), 0.0)
    return point, free


def _axes(options: RecordingOptions) -> AnyArray:
    """R (3, 3) with p_global = R p_file: rows of global positions times R are rows of the file's."""
    return global_from_laboratory(options.forward, options.up)

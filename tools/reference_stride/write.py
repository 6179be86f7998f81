"""The stride as an ordinary recording: markers walking and standing, plates, and the trial file that names them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from person import marker_places, marker_positions
from stride import Stride

from musclesolve.dynamics import Wrench
from musclesolve.recording import Markers, Table, write_mot, write_trc

Array = np.ndarray

STANDING_FRAMES = 12
LEAST_LOAD = 1.0
"""Vertical force under which the plate is written as unloaded [N]."""

TRIAL = """# A stride of level walking at natural cadence (111 steps a minute), right heel strike to right heel strike.
# It was not recorded: tools/reference_stride makes it from normative angles and the laws of motion of this very model.

[subject]
name = "{name}"
mass_kg = {mass_kg:g}
stature_m = {stature_m:.2f}
sex = "{sex}"

[laboratory]
forward = "+x"
up = "+z"

[files]
markers = "walk.trc"
static = "static.trc"
forces = "forces.mot"

[time]
start_s = {start:.8f}
end_s = {end:.8f}

# There is no noise to remove; the highest harmonic of the motion lies at 9.2 Hz.
[filter]
cutoff_hz = {cutoff:g}
unloaded_below_n = {load:g}

# The muscles of the database are as strong as 31.4 N/cm2 makes them; Arnold et al. (2010, Ann Biomed Eng 38:269-79)
# take 61 N/cm2 for healthy adults, 1.94 times as much. With 1.0 one frame of ten falls short around push-off.
[muscles]
strength_factor = {strength:g}

[mapping]
{mapping}

[[force]]
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


def write_recording(stride: Stride, folder: Path) -> None:
    """Write walk.trc, static.trc, forces.mot and trial.toml into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_trc(folder / "walk.trc", walking(stride, folder / "walk.trc"), decimals=3)
    write_trc(folder / "static.trc", standing(stride, folder / "static.trc"), decimals=3)
    write_mot(folder / "forces.mot", plates(stride, folder / "forces.mot"), decimals=5)
    (folder / "trial.toml").write_text(trial_text(stride), encoding="utf-8")


def _phases(stride: Stride, rate_hz: float) -> tuple[Array, Array]:
    """Times from the first written frame [s], and phases of the stride."""
    person = stride.plan.person
    timing = person.settings["timing"]
    margin = timing["padding"] / timing["marker_rate_hz"]
    count = round((person.period + 2.0 * margin) * rate_hz) + 1
    time = np.arange(count) / rate_hz
    return time, (time - margin) / person.period


def walking(stride: Stride, path: Path) -> Markers:
    """Markers of the stride and its margins."""
    person = stride.plan.person
    time, phase = _phases(stride, person.settings["timing"]["marker_rate_hz"])
    position = marker_positions(person, stride.plan.coordinate_map(phase) @ stride.unknowns)
    return Markers(time, tuple(marker_places(person)[0]), position, path)


def standing(stride: Stride, path: Path) -> Markers:
    """Markers of the standing person, soles on the ground."""
    person = stride.plan.person
    names, places, _ = marker_places(person)
    places = places - [0.0, 0.0, person.model.standing[person.slot("heel_r"), 2]]
    time = np.arange(STANDING_FRAMES) / person.settings["timing"]["marker_rate_hz"]
    return Markers(time, tuple(names), np.repeat(places[None], STANDING_FRAMES, axis=0), path)


def plates(stride: Stride, path: Path) -> Table:
    """Force, centre of pressure and free moment of both plates."""
    time, phase = _phases(stride, stride.plan.person.settings["timing"]["force_rate_hz"])
    names, columns = [], []
    for side, wrench in zip(("right", "left"), stride.wrenches(phase), strict=True):
        names += [f"{side}_{what}_{axis}" for what in ("force", "point", "moment") for axis in "xyz"]
        columns.append(plate_columns(wrench))
    return Table(time, tuple(names), np.concatenate(columns, axis=1), False, path)


def plate_columns(wrench: Wrench) -> Array:
    """Force [N], centre of pressure on the ground [m] and moment about it [N m], (T, 9), zero while unloaded."""
    loaded = wrench.force[:, 2] >= LEAST_LOAD
    force = np.where(loaded[:, None], wrench.force, 0.0)
    vertical = np.where(loaded, wrench.force[:, 2], 1.0)
    point = (
        np.stack([-wrench.moment[:, 1], wrench.moment[:, 0], np.zeros_like(vertical)], axis=1)
        / vertical[:, None]
    )
    point = np.where(loaded[:, None], point, 0.0)
    moment = np.where(loaded[:, None], wrench.moment, 0.0) - np.cross(point, force)
    return np.concatenate([force, point, moment], axis=1)


def trial_text(stride: Stride) -> str:
    """The trial file."""
    person = stride.plan.person
    timing = person.settings["timing"]
    start = timing["padding"] / timing["marker_rate_hz"]
    return TRIAL.format(
        **person.settings["subject"],
        start=start,
        end=start + person.period,
        cutoff=timing["cutoff_hz"],
        load=LEAST_LOAD,
        strength=person.settings["muscles"]["strength_factor"],
        mapping="\n".join(f'{name} = "{name}"' for name in marker_places(person)[0]),
    )

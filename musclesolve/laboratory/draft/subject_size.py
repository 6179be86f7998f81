"""The subject: values from files, from plates and markers, and open values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve._util.messages import count_of, folded
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.checks.case import Case
from musclesolve.laboratory.checks.newtons_law import carried_mass, law, measured, total_force
from musclesolve.laboratory.checks.recording.units import BAND_OF_ANYBODY, POWERS, USUAL_STATURE, unit_factor
from musclesolve.laboratory.draft.choose_mapping import MarkerChoice
from musclesolve.laboratory.draft.draft_text import DraftTable, Line, draft_text, scratch
from musclesolve.laboratory.draft.folder_contents import ForceFile, MarkerFile, MotionFiles
from musclesolve.laboratory.draft.laboratory_axes import both, middle_path, path_of, seen
from musclesolve.laboratory.files.c3d.c3d_file import C3D
from musclesolve.laboratory.files.c3d.force_platforms import read_plates
from musclesolve.laboratory.files.service_folders import StatedSubject
from musclesolve.laboratory.markers.marker_names import split_label
from musclesolve.laboratory.motion.events.foot_events import FootLoads, force_events
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.laboratory.recording.trial_settings import PLATES, SubjectSettings
from musclesolve.laboratory.results.facts import SHORTEST_CARRIED
from musclesolve.tables.sampled import Markers
from musclesolve.tables.settings import settings_of

MASSES, STATURES = (20.0, 250.0), (0.9, 2.3)
"""Ranges of mass and stature from plates and markers that are accepted [kg], [m]."""
DISAGREE = 0.05
"""Difference of the mass from plates from the stated mass, as a share, above which it is reported."""
SCALE = 0.012
"""Standard deviation of the scale of sound plates, as a share."""
AGREE = 0.03
"""Share within which all measurements of the mass must agree: each is accurate to about 2 %."""
LONGEST_SHIFT = 0.03
"""Largest standard deviation of the force on the plates in quiet standing, as a share."""
LEAST_CARRIED, LEAST_CARRIED_S = 0.3, 3.0
"""Least force of plates that carry the whole body all the time, over its mean, and least duration [s]."""
LEAST_S = 0.4
"""Least duration of a stride [s]."""
UNLIKE_STRIDES = 0.05
"""Standard deviation of the change of vertical velocity over a stride [m/s]."""
LONGEST_STRIDE_S = 2.0
"""Time between two heel strikes of a foot above which a stride without plates lies between them [s]."""
SHOULDERS = 0.818
"""Height of the shoulders as a share of stature (Drillis & Contini 1966, as printed by Winter 1990)."""
STRAIGHT = 0.95
"""Least distance from hip to ankle of a straight leg, as a share of thigh and shank: the knee bends by 36 degrees."""
LOW_FLOOR = 0.15
"""Largest height of the lowest marker above a floor at zero [m]."""
BELOW_FLOOR, USUAL_FOOT = -0.02, 0.03
"""Height of the lowest marker of a foot below which the floor is not at zero [m]: a floor is known to 2 cm; and height
of such a marker over the ground where the floor is elsewhere [m], the radius of a marker on the skin and the sole."""
SHOE_ANKLE = 0.095
"""Height that the lateral malleolus of bare feet never reaches [m]."""
BY_FOLDER = "the name of the folder"
"""Source of a name that no file states."""
_CROWN = ("tophead", "headtop", "head", "vertex", "crown", "tohe", "thead", "htop")
# Key -> names of parameters of C3D files, factors of their units of which the first that fits counts, and limits.
_STATED = {
    "mass_kg": (("BODYMASS", "MASS", "WEIGHT"), (1.0,), MASSES),
    "stature_m": (("HEIGHT", "BODYHEIGHT", "STATURE"), (1.0, 0.01, 0.001), STATURES),
}
# Joint -> key of the width, between what it is, and what Vicon's PROCESSING calls it behind the side.
_WIDTHS = {
    "knee": ("knee_width_m", "epicondyles", "KNEEWIDTH"),
    "ankle": ("ankle_width_m", "malleoli", "ANKLEWIDTH"),
}


@dataclass(frozen=True)
class GivenSubject:
    """Subject data that the user states on the command line, None where nothing is stated."""

    name: str | None = None
    mass_kg: float | None = None
    stature_m: float | None = None
    sex: str | None = None


@dataclass(frozen=True)
class Value:
    """A number and its source, with the standard deviation of its error where that is known."""

    number: float
    source: str
    uncertain: float = np.nan


HEAD_OF_REPORT = {
    "age_years": "below 18 it changes the masses of the segments",
    "recorded_on": 'day of the recording, such as "2026-05-04"',
    "recorded_as": 'condition, such as "barefoot"',
}
"""Keys that a report has in its head, which files do not state, and what they mean."""


def check_given(subject: GivenSubject) -> None:
    """Refuse values of the subject that the schema of trial files refuses."""
    stated = [Line(key, value) for key, value in vars(subject).items() if value is not None]
    text = draft_text(("The subject as stated.",), (DraftTable("subject", tuple(stated)),))
    for error in scratch(text)[2]:
        key = next((line.key for line in stated if (error.where or "").endswith(f" {line.key}")), None)
        if key is not None:
            raise input_error(
                error.code,
                where=f"--{key.replace('_', '-')}",
                problem=error.problem,
                expected=error.expected,
                remedy="correct the option" if key == "sex" else error.remedy,
            )


def subject_table(
    files: MotionFiles,
    about: list[StatedSubject],
    choice: MarkerChoice,
    case: Case | None,
    subject: GivenSubject,
) -> DraftTable:
    """The table [subject] of a trial file."""
    c3d = [x.file for x in (files.motion, files.static) if x is not None and x.file is not None]
    lines = [_name(files, about, choice, subject), *_mass(files, c3d, about, case, subject)]
    lines.append(_stature(c3d, about, case, subject))
    sexes = [(subject.sex, "as stated"), *((stated.facts.get("sex"), stated.path.name) for stated in about)]
    sex, source = next(((sex, source) for sex, source in sexes if sex), (None, ""))
    if sex is not None:
        lines.append(Line("sex", sex, f"{source}; which table of segment masses is used"))
    else:
        todo = f"enter the sex, female or male: {_unstated('sex', about)}; it selects the table of segment masses"
        lines.append(Line("sex", None, "", todo, open=True))
    for joint in choice.widths:
        # No medial marker shows it: the mean of both sides, as Vicon's processing states it [mm].
        key, ends, stated = _WIDTHS[joint]
        values = [file.description.number(f"PROCESSING:{side}{stated}") for file in c3d for side in "RL"]
        widths = [value for value in values if value is not None and 20.0 < value < 250.0]
        if widths:
            source = "PROCESSING of the C3D file, mean of both sides"
            lines.append(Line(key, round(0.001 * float(np.mean(widths)), 4), source))
        else:
            todo = (
                f"measure the distance between the {ends} [m], if you can: no medial marker shows it, and no file "
                "states it; without this line it is taken as usual at the stature"
            )
            lines.append(Line(key, {"knee": 0.1, "ankle": 0.07}[joint], "", todo, open=True))
    standing = None if case is None else case.trial.static
    if case is not None and standing is not None:
        ankles = seen(middle_path(standing, case.trial.mapping, both("ankle_lateral")))[:, 2]
        height = float(np.median(ankles)) - _floor(standing, case.trial.mapping) if ankles.size else 0.0
        # Higher than the malleoli of bare feet.
        if SHOE_ANKLE < height < 0.2:
            todo = (
                f"enter the mass of one shoe [kg], if the subject wears some: the malleoli are {100 * height:.0f} cm "
                "above the floor"
            )
            lines.append(Line("shoe_mass_kg", 0.3, "", todo, open=True))
    lines += [Line(key, None, what, open=True) for key, what in HEAD_OF_REPORT.items()]
    return DraftTable("subject", tuple(lines))


def _name(
    files: MotionFiles, about: list[StatedSubject], choice: MarkerChoice, subject: GivenSubject
) -> Line:
    labels = [split_label(label)[0] for label in files.motion.markers.names]
    stated = files.motion.file.description.texts("SUBJECTS:NAMES") if files.motion.file is not None else []
    ways = [
        (subject.name or "", "as stated"),
        (choice.person or "", "before the labels of the markers"),
        (next((name for name in stated if name), ""), f"{files.motion.path.name}: SUBJECTS:NAMES"),
        (next((name for name in labels if name), ""), "before the labels of the markers"),
        (files.person, "by the names of the files"),
        *((stated.facts.get("name") or "", stated.path.name) for stated in about),
        (files.motion.path.absolute().parent.name, BY_FOLDER),
        ("subject", ""),
    ]
    name, source = next((name.strip(), source) for name, source in ways if name.strip())
    return Line("name", name, source)


def _mass(
    files: MotionFiles, c3d: list[C3D], about: list[StatedSubject], case: Case | None, subject: GivenSubject
) -> list[Line]:
    """The body mass: stated by the user or a file, else the mass on the plates, which the user has to confirm.

    Plates may be wrong, or miss a part of what carries the subject: a handrail, another plate. Left open where no two
    of several ways to measure it agree, or nothing shows it.
    """
    if subject.mass_kg is not None:
        return [Line("mass_kg", subject.mass_kg, "as stated; with shoes")]
    stated = _stated("mass_kg", c3d, about)
    ways = [way for way in _measured_masses(files, case) if MASSES[0] < way.number < MASSES[1]]
    if stated is not None:
        apart = all(abs(way.number / stated.number - 1.0) > DISAGREE for way in ways)
        todo = f"check the mass: {_listed(ways)}" if ways and apart else ""
        return [Line("mass_kg", round(stated.number, 2), f"{stated.source}; with shoes", todo)]
    unstated = _unstated("mass_kg", about)
    todo = f"enter the body mass with shoes [kg]: {unstated}, and"
    if not ways:
        why = "no plate shows it"
        if files.motion.plates or files.forces is not None or files.plates is not None:
            why = "no stride and no rest of the body is known to be on the plates alone"
        return [Line("mass_kg", None, "", f"{todo} {why}", open=True)]
    agreeing = (way for way, other in combinations(ways, 2) if abs(way.number / other.number - 1.0) < AGREE)
    carried = next(agreeing, ways[0] if len(ways) == 1 else None)
    if carried is None:
        todo = f"{todo} the ways to measure it do not agree: {_listed(ways)}"
        return [Line("mass_kg", None, "", todo, open=True)]
    comment = f"{carried.number:.1f} +- {carried.uncertain:.1f}, what the plates carry; weigh the subject"
    todo = f"confirm the body mass with shoes [kg]: {unstated}; {_listed(ways)}"
    return [
        Line("mass_kg", round(carried.number, 1), comment, todo),
        Line("mass_from", PLATES, "leave it out once the subject is weighed"),
    ]


def _listed(ways: list[Value]) -> str:
    return ", ".join(f"{way.source} {way.number:.1f} kg" for way in ways)


def _stature(c3d: list[C3D], about: list[StatedSubject], case: Case | None, subject: GivenSubject) -> Line:
    if subject.stature_m is not None:
        return Line("stature_m", subject.stature_m, "as stated")
    stated = _stated("stature_m", c3d, about)
    if stated is not None:
        return Line("stature_m", round(stated.number, 3), stated.source)
    height, unstated = None if case is None else _height(case), _unstated("stature_m", about)
    if height is None:
        todo = f"enter the stature [m]: {unstated}, and no marker of the head or the shoulders shows it"
        return Line("stature_m", None, "", todo, open=True)
    todo = f"enter the stature [m]: {unstated}. The suggested value is a guess: {height.source}"
    return Line("stature_m", round(height.number, 2), "", todo, open=True)


def _unstated(key: str, about: list[StatedSubject]) -> str:
    """Return the reason why no file gives a value: none states it, or what one states cannot be taken."""
    return next((stated.faults[key] for stated in about if key in stated.faults), "no file states it")


def _stated(key: str, c3d: list[C3D], about: list[StatedSubject]) -> Value | None:
    """Return the value of a key that a C3D file states, else a file on the subject; None without one."""
    names, units, (least, most) = _STATED[key]
    for file in c3d:
        for place in [f"{group}:{name}" for group in ("PROCESSING", "SUBJECTS", "SUBJECT") for name in names]:
            number = file.description.number(place)
            for factor in units:
                if number is not None and least <= number * factor <= most:
                    return Value(number * factor, f"{file.path.name}: {place}")
    values = [Value(x.facts[key], x.path.name) for x in about if x.facts.get(key) is not None]
    rule = settings_of(SubjectSettings)[key]
    return next((value for value in values if rule.contains(value.number)), None)


def _measured_masses(files: MotionFiles, case: Case | None) -> Iterator[Value]:
    """Yield the mass [kg] that the plates show, in every way that the recordings allow, the motion before standing.

    Errors of the calibration, `SCALE` of the mass, are in each of them.
    """
    if case is not None:
        yield from _over_strides(case)
        yield from _by_newtons_law(case)
    yield from carried_all_the_time(*_on_plates(files.motion, files.forces), files.motion.path.name)
    force = np.zeros((0, 3)) if files.static is None else _on_plates(files.static, files.static_forces)[0]
    weight = np.linalg.norm(force, axis=1)
    if files.static is not None and weight.size and weight.std() <= LONGEST_SHIFT * weight.mean():
        name = (files.static_forces or files.static).path.name
        mass = float(np.median(weight)) / STANDARD_GRAVITY
        yield Value(mass, f"by the plates under the standing subject ({name})", SCALE * mass)


def _on_plates(recording: MarkerFile, forces: ForceFile | None) -> tuple[Array, float]:
    """The total force (S, 3) of the plates of a recording [N], in the axes of its files, and its rate; or none."""
    if recording.file is not None and recording.plates:
        try:
            plates = read_plates(recording.file, np.eye(3)).recordings
        except InputError:
            plates = []
        if plates:
            return np.sum([np.nan_to_num(x.force) for x in plates], axis=0), recording.file.analog_rate
    elif forces is not None:
        columns = [plate.columns["force"] for plate in forces.plates]
        parts = [np.stack([forces.table[name] for name in names], axis=1) for names in columns]
        return np.nan_to_num(np.sum(parts, axis=0)), forces.table.rate
    return np.zeros((0, 3)), 1.0


def carried_all_the_time(force: Array, rate: float, name: str) -> Iterator[Value]:
    """Yield the mass by the mean force of plates that carry the whole body all the time, as belts of a treadmill do.

    Over whole steps, from one rise of the force through its mean to the last one; no marker is used.
    """
    along = force.mean(axis=0) if len(force) else np.zeros(3)
    if len(force) < LEAST_CARRIED_S * rate or np.linalg.norm(along) < MASSES[0] * STANDARD_GRAVITY:
        return
    # A tenth of a second is averaged, so that noise makes no step.
    weight = force @ (along / np.linalg.norm(along))
    window = max(1, round(0.1 * rate))
    smooth = np.convolve(weight, np.full(window, 1.0 / window), mode="valid")
    rises = np.flatnonzero((smooth[:-1] < smooth.mean()) & (smooth[1:] >= smooth.mean()))
    if smooth.min() < LEAST_CARRIED * smooth.mean() or len(rises) < 2:
        return
    duration = float(rises[-1] - rises[0]) / rate
    if duration < LEAST_CARRIED_S:
        return
    mass = float(weight[rises[0] + window // 2 : rises[-1] + window // 2].mean()) / STANDARD_GRAVITY
    error = float(np.hypot(SCALE * mass, mass * UNLIKE_STRIDES / (duration * STANDARD_GRAVITY)))
    yield Value(mass, f"by the mean of the plates, which carry the whole body all the time ({name}),", error)


def _by_newtons_law(case: Case) -> Iterator[Value]:
    """Yield the mass by Newton's second law: the force of the plates on the center of mass of the markers."""
    balance = law(case)
    measured_s = 0.0 if balance is None else balance.frames.sum() / case.trial.markers.rate
    if balance is None or measured_s < SHORTEST_CARRIED:
        return
    mass, error = carried_mass(case, balance)
    yield Value(mass, "by Newton's second law in the motion", float(np.hypot(SCALE * mass, error)))


def _over_strides(case: Case) -> Iterator[Value]:
    """Yield the mass by the mean of the plates over whole strides, without any marker: the body rises as much as it
    falls.

    From one heel strike of a foot to the next, both seen by its plates, with all contacts measured.
    """
    if not case.trial.forces:
        return
    time, rate = case.trial.markers.time, case.trial.markers.rate
    strikes = [x for x in force_events(FootLoads.from_trial(case.trial)) if x.kind == "heel_strike"]
    periods = [
        float(period)
        for side in SIDES
        for period in np.diff([event.time for event in strikes if event.side == side])
        if LEAST_S < period < LONGEST_STRIDE_S
    ]
    if not periods:
        return
    period = float(np.median(periods))
    first, stop = max(true_runs(measured(case.trial)), key=lambda run: run[1] - run[0], default=(0, 0))
    count = int((stop - first) / rate / period)
    if count > 0:
        duration = count * period
        grid = time[first] + np.linspace(0.0, duration, max(2, round(duration * 10.0 * rate)))
        impulse = float(np.trapezoid(total_force(case, grid)[:, 2], grid))
        mass = impulse / (duration * STANDARD_GRAVITY)
        error = mass * float(np.hypot(SCALE, UNLIKE_STRIDES / (duration * STANDARD_GRAVITY)))
        yield Value(mass, f"by the mean of the plates over {count_of(count, 'stride')}", error)


def _height(case: Case) -> Value | None:
    """The stature by a marker on top of the head, else by the height of the shoulders, of the standing subject."""
    standing = case.trial.static or case.trial.markers
    floor = _floor(standing, case.trial.mapping)
    for name in [name for name in standing.names if folded(split_label(name)[1]) in _CROWN]:
        points = seen(standing[name])
        height = float(np.median(points[:, 2])) - floor if points.size else 0.0
        if STATURES[0] < height < STATURES[1]:
            return Value(height, f"the marker '{name}' on the head is so high")
    # Raised arms lift the shoulders of a standing subject; a seat or a squat lowers them.
    heights = []
    for markers in (standing, case.trial.markers):
        path = middle_path(markers, case.trial.mapping, both("shoulder", "shoulder_center"))
        if path is not None:
            above = path[:, 2] - ground_under(markers, case.trial.mapping)
            above = above[straight_legs(markers, case.trial.mapping) & np.isfinite(above)]
            heights += [float(np.median(above))] if above.size else []
    if not heights:
        return None
    height = min(heights)
    if unit := unit_factor(height / (SHOULDERS * USUAL_STATURE), POWERS, BAND_OF_ANYBODY):
        fault = f"by the height of the shoulders, if the positions are {POWERS[unit]}: correct the unit in the file"
        return Value(unit * height / SHOULDERS, fault)
    source = f"the shoulders are {height:.2f} m above the floor, usually {SHOULDERS:g} of the stature"
    return Value(height / SHOULDERS, source) if STATURES[0] < height / SHOULDERS < STATURES[1] else None


def straight_legs(markers: Markers, mapping: Mapping[str, Any]) -> Mask:
    """The frames (T,) in which hip, knee and ankle of both legs lie on a line, nearly; none where they are not seen."""
    straight = np.ones(markers.time.size, bool)
    hips = ("hip_center", "asis", "psis")
    for side in SIDES:
        names = [*hips, "knee_lateral", "knee_center", "ankle_lateral", "ankle_center"]
        paths = {name: path_of(markers, mapping, f"{name}_{side}") for name in names}
        joints = [
            next((path for name in names if (path := paths[name]) is not None), None)
            for names in (hips, ("knee_lateral", "knee_center"), ("ankle_lateral", "ankle_center"))
        ]
        hip, knee, ankle = (np.full((1, 3), np.nan) if joint is None else joint for joint in joints)
        parts = np.linalg.norm(hip - knee, axis=1) + np.linalg.norm(knee - ankle, axis=1)
        straight &= np.linalg.norm(hip - ankle, axis=1) > STRAIGHT * parts
    return straight


def ground_under(markers: Markers, mapping: Mapping[str, Any]) -> Array:
    """The height (T,) [m] of the ground under the lower foot, which may stand on stairs; zero without any foot marker.

    A marker of a standing foot is as high over it as the usual lowest place of the feet, where the floor is at zero.
    """
    paths = [path_of(markers, mapping, name) for name in both("heel", "toe")]
    lowest = np.full(markers.time.size, np.nan)
    for path in paths:
        lowest = lowest if path is None else np.fmin(lowest, path[:, 2])
    if not np.isfinite(lowest).any():
        return np.zeros(lowest.size)
    usual = float(np.nanquantile(lowest, 0.05))
    return lowest - (usual if BELOW_FLOOR < usual < LOW_FLOOR else USUAL_FOOT)


def _floor(markers: Markers, mapping: Mapping[str, Any]) -> float:
    """The height of the floor [m]: zero, unless the lowest landmark of the feet is far from it."""
    heights = [seen(path_of(markers, mapping, name))[:, 2] for name in both("heel", "toe")]
    lowest = min((float(np.median(z)) for z in heights if z.size), default=0.0)
    return 0.0 if BELOW_FLOOR < lowest < LOW_FLOOR else lowest - USUAL_FOOT

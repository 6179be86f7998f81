"""The measured forces on the page: their feet, strike and toe-off, and curves over time with instants that are moved.

The trial is read leniently, as by `check`, so that an incomplete file is shown.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from nicegui.element import Element

from musclesolve._util.arrays import Array
from musclesolve.apps.desk.trial_document import Place
from musclesolve.constants import USUAL_MASS
from musclesolve.errors import MuscleSolveError, input_error
from musclesolve.laboratory.checks.case import load
from musclesolve.laboratory.draft.laboratory_axes import path_of
from musclesolve.laboratory.files.c3d.c3d_file import is_c3d, read_c3d
from musclesolve.laboratory.files.c3d.force_platforms import read_plates
from musclesolve.laboratory.files.formats import read_forces_table
from musclesolve.laboratory.motion.events.foot_events import FIRM_WEIGHTS, FootLoads, contacts
from musclesolve.laboratory.motion.events.gait import GaitEvents, gait_events
from musclesolve.laboratory.recording.axes import rotation_of
from musclesolve.laboratory.recording.data import SIDES, Side, Trial
from musclesolve.laboratory.recording.trial_settings import AUTO, RecordedSettings
from musclesolve.laboratory.trial.plates.foot_forces import is_stated, plate_of
from musclesolve.laboratory.trial.time_range import ranged
from musclesolve.tables.document import Document

Steps = tuple[tuple[float, float, Side | None], ...]
SAME_FORCE = 1.0
"""Difference below which forces of a plate and of a foot are equal [N]."""


@dataclass(frozen=True)
class SeenPlate:
    """A recorded plate.

    name: for people. index: of its [[force]] table, None where it has none. number: of the plate of a C3D file. stated:
    what the table says of its foot, "" without one. time (S,) [s], vertical (S,) [N]. corners: (4, 2) on the floor [m],
    None where they are not known. steps: first and last time [s] of each contact, and the foot it is counted for.
    """

    name: str
    index: int | None
    number: int | None
    stated: str
    time: Array
    vertical: Array
    corners: Array | None
    steps: Steps

    def place(self, count: int) -> Place:
        """Return the place of the foot of the plate in the trial file, with a list of `count` tables so far."""
        return ("force", count if self.index is None else self.index, "side")


@dataclass(frozen=True)
class MeasuredForces:
    """The plates and feet of a trial.

    events: None where they cannot be found, for which `trouble` says why. paths: name, foot and points (T, 2) [m] of
    what goes over the floor: heels, toes and centers of pressure.
    """

    trial: Trial
    plates: tuple[SeenPlate, ...]
    events: GaitEvents | None
    paths: tuple[tuple[str, Side, Array], ...]
    trouble: str = ""
    feet: tuple[tuple[Side, Array], ...] = ()

    def vertical(self, side: Side) -> tuple[Array, Array]:
        """Times (S,) [s] and vertical force (S,) [N] on one foot."""
        return FootLoads.from_trial(self.trial).vertical(side)


def measured_forces(path: Path) -> MeasuredForces:
    """Read the forces of a trial file."""
    case, findings = load(path)
    if case is None:
        errors = [finding for finding in findings if finding.severity == "error"]
        first = next(
            (problem for problem in errors if problem.code == "unreadable"), errors[0] if errors else None
        )
        what = first.what if first else "the recording cannot be read"
        raise input_error("unreadable_file", file=path, problem=what, remedy=first.remedy if first else None)
    trial, document, settings = case.trial, case.document, case.settings
    plates = _plates(document, settings, trial)
    events, trouble = None, ""
    try:
        trial = ranged(trial, settings)
        events = gait_events(trial)
    except (MuscleSolveError, ArithmeticError, ValueError, LookupError) as error:
        trouble = f"Heel strikes and toe-offs cannot be found: {error}"
    return MeasuredForces(trial, plates, events, tuple(_paths(trial)), trouble, tuple(_feet(trial, plates)))


def _plates(document: Document, settings: RecordedSettings, trial: Trial) -> tuple[SeenPlate, ...]:
    """The plates of the file, whether they are used or not."""
    files = trial.files
    path = files.get("forces", files.get("markers"))
    if path is None:
        return ()
    rotation, seen = rotation_of(document, settings.laboratory), list[SeenPlate]()
    entries = settings.force
    if is_c3d(path):
        stated = {int(entry.plate): k for k, entry in enumerate(entries) if entry.plate is not None}
        for recording in read_plates(read_c3d(path), rotation, settings.plates.origin).recordings:
            number = recording.plate.number
            index, vertical = stated.get(number), recording.force[:, 2]
            side = "" if index is None else str(entries[index]["side"])
            steps = _steps(recording.time, vertical, trial)
            corners = recording.plate.corners[:, :2]
            seen.append(
                SeenPlate(f"Plate {number}", index, number, side, recording.time, vertical, corners, steps)
            )
    elif "forces" in files:
        table = read_forces_table(path)
        for index, entry in enumerate(entries):
            if not is_stated(entry.changed(side=entry.side or AUTO)):
                continue
            plate = plate_of(document, settings, index, table, rotation)
            names = entry.force if isinstance(entry.force, str) else ", ".join(entry.force or ())
            vertical = plate.force[:, 2]
            steps = _steps(plate.time, vertical, trial)
            side = entry.side or ""
            seen.append(SeenPlate(names, index, None, side, plate.time, vertical, None, steps))
    return tuple(seen)


def _steps(time: Array, vertical: Array, trial: Trial) -> Steps:
    """The contacts with a plate, and the foot of each in the trial."""
    mass = trial.subject.mass if np.isfinite(trial.subject.mass) else USUAL_MASS
    loads = FootLoads(trial.forces, trial.settings.filter.unloaded_below_n, mass)
    spans = contacts(time, vertical, loads.unloaded_below, loads.level(FIRM_WEIGHTS))
    steps = list[tuple[float, float, Side | None]]()
    for first, last in np.clip(spans, time[0], time[-1]):
        middle = (first + last) / 2.0
        force = float(np.interp(middle, time, vertical))
        whose = [
            plate.side
            for plate in trial.forces
            if abs(np.interp(middle, plate.time, plate.force[:, 2]) - force) < SAME_FORCE
        ]
        steps.append((float(first), float(last), whose[0] if whose else None))
    return tuple(steps)


def _feet(trial: Trial, plates: Sequence[SeenPlate]) -> Iterator[tuple[Side, Array]]:
    """The feet on the plates, in the middle of each contact: their inner edge mirrors the outer one about the axis."""
    for plate in plates:
        for first, last, side in plate.steps:
            if side is None:
                continue
            frame = int(np.argmin(np.abs(trial.markers.time - (first + last) / 2.0)))
            landmarks = (f"{name}_{side}" for name in ("heel", "metatarsal_5", "toe"))
            paths = [path_of(trial.markers, trial.mapping, name) for name in landmarks]
            heel, outer, toe = (None if path is None else path[frame, :2] for path in paths)
            if heel is None or toe is None or not np.isfinite(heel + toe).all():
                continue
            along = (toe - heel) / max(float(np.linalg.norm(toe - heel)), 1e-6)
            across = np.array([along[1], -along[0]])
            if outer is None or not np.isfinite(outer).all():
                yield side, np.array([heel, toe])
                continue
            middle = heel + float((outer - heel) @ along) * along
            aside = abs(float((outer - heel) @ across)) * across
            yield side, np.array([heel, middle + aside, toe, middle - aside])


def _paths(trial: Trial) -> list[tuple[str, Side, Array]]:
    """Heels, toes and centers of pressure over the floor."""
    paths = list[tuple[str, Side, Array]]()
    for side in SIDES:
        for landmark in ("heel", "toe"):
            path = path_of(trial.markers, trial.mapping, f"{landmark}_{side}")
            if path is not None:
                paths.append((landmark, side, path[:, :2]))
        for plate in trial.forces:
            if plate.side == side:
                point = np.where(plate.force[:, 2:3] > 50.0, plate.point[:, :2], np.nan)
                paths.append(("center of pressure", side, point[:: max(1, plate.time.size // 400)]))
    return paths


MOST_POINTS = 1500
"""Largest number of points of a curve on the page."""


@dataclass(frozen=True)
class Handle:
    """An instant on the curves.

    time [s]; low, high: between which it may be moved [s], None: the ends of the curves. short: beside its line. row:
    of its text, from 0. turned: whether the text stands on its left.
    """

    id: str
    time: float
    label: str
    short: str
    color: str
    movable: bool = True
    dashed: bool = False
    low: float | None = None
    high: float | None = None
    row: int = 0
    turned: bool = False


class TimeCurves(Element, component="time_curves.js"):
    """Curves, handles, and what lies outside of the analyzed range.

    Args:
        label: what is shown, for those who do not see it.
        unit: of the values.
        curves: name, color, time (S,) [s] and value (S,) of each.
        handles: the instants.
        outside: first and last time of what is shown in gray [s].
        cursor: an instant that is marked [s].
        moved: called with the id of a handle and its new time [s].
        removed: called with the id of a handle on which Delete was pressed.
        picked: called with a time that was clicked [s].
    """

    def __init__(
        self,
        label: str,
        unit: str,
        curves: Sequence[tuple[str, str, Array, Array]],
        handles: Sequence[Handle] = (),
        outside: Sequence[tuple[float, float]] = (),
        cursor: float | None = None,
        moved: Callable[[str, float], Any] = lambda name, time: None,
        removed: Callable[[str], Any] = lambda name: None,
        picked: Callable[[float], Any] = lambda time: None,
    ) -> None:
        super().__init__()
        shown = [_thinned(*curve) for curve in curves]
        times = np.concatenate([time for _, _, time, _ in curves])
        values = np.concatenate([value for *_, value in curves])
        self._props |= {
            "label": label,
            "unit": unit,
            "curves": shown,
            "span": [float(times.min()), float(times.max())],
            "largest": 1.05 * max(float(np.nanmax(values, initial=1.0)), 1.0),
            "handles": [asdict(handle) for handle in handles],
            "outside": [list(span) for span in outside],
        }
        if cursor is not None:
            self._props["cursor"] = cursor
        self.on("moved", lambda event: moved(str(event.args["id"]), float(event.args["time"])))
        self.on("removed", lambda event: removed(str(event.args["id"])))
        self.on("picked", lambda event: picked(float(event.args["time"])))


def _thinned(name: str, color: str, time: Array, value: Array) -> dict[str, Any]:
    """Thin a curve: the largest value of each stretch of time remains, so that no peak is lost."""
    step = -(-time.size // MOST_POINTS)
    value = np.nan_to_num(value, nan=-np.inf)
    peaks = [k + int(np.argmax(value[k : k + step])) for k in range(0, time.size, step)]
    values = [None if value[k] == -np.inf else round(float(value[k]), 1) for k in peaks]
    return {"name": name, "color": color, "time": [round(float(time[k]), 4) for k in peaks], "value": values}

"""Plates: the forces of each plate, the foot on it, and the paths of the feet over the floor."""

from html import escape

import numpy as np
from nicegui import ui

from musclesolve._util.arrays import Array, true_runs
from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.fields import field
from musclesolve.apps.desk.measured_forces import MeasuredForces, SeenPlate, TimeCurves, measured_forces
from musclesolve.apps.desk.steps.work import Loaded, load
from musclesolve.apps.desk.view import SIDE_COLOR, State, Step, StepView, hint
from musclesolve.constants import PREDICTED
from musclesolve.laboratory.recording.data import SIDE_NAMES
from musclesolve.models.settings import PREDICTED_NOTE

FOUND, UNUSED = "found", "unused"
FEET = {FOUND: "found by its contacts", "r": "right foot", "l": "left foot"}
SCALE = 220.0
"""Pixels per meter of the plan, as far as there is room."""
MARGIN = 0.15
PLAIN = "var(--soft)"


class Plates(StepView):
    """The step in one window."""

    def show(self) -> None:
        """Draw it."""
        path = self.desk.opened.path
        self._measured = Loaded(lambda: measured_forces(path), self._plates)
        self._measured.draw()
        load(self._measured)
        with ui.expansion("Thresholds and clock").classes("w-full"):
            field(self.view, "filter", "unloaded_below_n", then=self.view.refresh)
            field(
                self.view,
                "plates",
                "offset_s",
                "Clock of the markers minus clock of the plates [s]",
                then=self.view.refresh,
            )

    def _plates(self, seen: MeasuredForces) -> None:
        if not seen.plates:
            ui.label(
                PREDICTED_NOTE
                if seen.trial.settings.files.predicted
                else "No force plates were found: bring the file of the forces, and draft the trial file anew."
            )
            return
        ui.html(plan(seen), sanitize=False).classes("ms-plan")
        hint(
            "The floor from above, walking to the right. Blue: right foot, orange: left foot; thin: heels and toes; "
            "filled: the feet in the middle of each contact; thick: centers of pressure, on the feet, or before their "
            "toe markers at push-off."
        )
        walk, forces = seen.trial.markers.time, seen.plates[0].time
        hint(
            f"Recorded: markers {walk[0]:.2f} to {walk[-1]:.2f} s, forces {forces[0]:.2f} to {forces[-1]:.2f} s. "
            "Files of one trial cover the same time."
        )
        for plate in seen.plates:
            self._plate(seen, plate)
        if any(plate.number is not None and plate.index is not None for plate in seen.plates):
            ui.button("Find all feet by their contacts", on_click=self._all_found).props("outline")

    def _plate(self, seen: MeasuredForces, plate: SeenPlate) -> None:
        with ui.card().classes("w-full ms-card"):
            with ui.row().classes("items-center"):
                ui.label(plate.name).classes("ms-part")
                choices = dict(FEET)
                value = {"": FOUND, "auto": FOUND}.get(plate.stated, plate.stated)
                if plate.number is None and not plate.stated:
                    choices, value = {"": "not stated: choose"} | choices, ""
                if plate.number is not None:
                    named = any(one.index is not None for one in seen.plates)
                    choices[UNUSED] = "nobody: not used"
                    value = value if plate.index is not None or not named else UNUSED
                    if named:
                        del choices[FOUND]
                ui.select(
                    choices,
                    value=value,
                    label="Foot",
                    on_change=lambda event: self._stated(seen, plate, str(event.value)),
                ).classes("ms-input")
                if not plate.steps:
                    hint("Nobody steps on it.")
                for first, last, side in plate.steps:
                    whose = "no foot" if side is None else f"{SIDE_NAMES[side]} foot"
                    hint(f"{first:.2f} to {last:.2f} s: {whose}")
            sides = {side for *_, side in plate.steps if side is not None}
            color = SIDE_COLOR[sides.pop()] if len(sides) == 1 else PLAIN
            TimeCurves(
                f"Vertical force of {plate.name}",
                "N",
                [("vertical force", color, plate.time, plate.vertical)],
            )

    async def _stated(self, seen: MeasuredForces, plate: SeenPlate, choice: str) -> None:
        if plate.number is None:
            if not choice:
                return
            self.view.state(plate.place(0), {FOUND: "auto"}.get(choice, choice))
        else:
            chosen = {one.number: _usual(one) for one in seen.plates} | {plate.number: choice}
            tables = [
                {"plate": number, "side": side} for number, side in chosen.items() if side in ("r", "l")
            ]
            self.view.state(("force",), tables or None)
        await self._look_again()

    async def _all_found(self) -> None:
        self.view.state(("force",), None)
        await self._look_again()

    async def _look_again(self) -> None:
        self._measured.draw.refresh()
        await self._measured.look()


def _usual(plate: SeenPlate) -> str:
    """The present foot of a plate of a C3D file; UNUSED where no foot or both feet step on it."""
    sides = {side for *_, side in plate.steps if side is not None}
    return plate.stated or (next(iter(sides)) if len(sides) == 1 else UNUSED)


def plan(seen: MeasuredForces) -> str:
    """The floor from above as SVG: plates, heels, toes and centers of pressure; the subject walks to the right."""
    everything = [path for *_, path in seen.paths] + [p.corners for p in seen.plates if p.corners is not None]
    if not everything:
        return ""
    points = np.concatenate(everything)
    points = points[np.isfinite(points).all(axis=1)]
    if not points.size:
        return ""
    low, high = points.min(axis=0) - MARGIN, points.max(axis=0) + MARGIN
    width, height = (high - low) * SCALE

    def line(path: Array, color: str, wide: float) -> str:
        places = [f"{x:.1f} {height - y:.1f}" for x, y in (path - low) * SCALE]
        known = true_runs(np.asarray(np.isfinite(path).all(axis=1)))
        text = "".join(f"M{'L'.join(places[first:stop])}" for first, stop in known)
        return f'<path d="{text}" fill="none" stroke="{color}" stroke-width="{wide}" stroke-linecap="round"/>'

    def polygon(points: Array, look: str) -> str:
        outline = " ".join(f"{x:.1f},{height - y:.1f}" for x, y in (points - low) * SCALE)
        return f'<polygon points="{outline}" {look}/>'

    # plates, feet, what goes over the floor, centers of pressure, and the names of the plates above all of it
    parts, names = list[str](), list[str]()
    for plate in seen.plates:
        if plate.corners is None:
            continue
        parts.append(polygon(plate.corners, 'class="ms-plate"'))
        x, y = (plate.corners.mean(axis=0) - low) * SCALE
        names.append(
            f'<text x="{x:.1f}" y="{height - y:.1f}" text-anchor="middle" class="ms-plate-name">'
            f"{escape(plate.name)}</text>"
        )
    for side, outline in seen.feet:
        color = SIDE_COLOR[side]
        look = f'fill="{color}" fill-opacity="0.22" stroke="{color}" stroke-opacity="0.7" stroke-width="2"'
        parts.append(polygon(outline, f'{look} stroke-linejoin="round"'))
    pressed = "center of pressure"
    for name, side, path in sorted(seen.paths, key=lambda one: one[0] == pressed):
        if name == pressed:
            parts.append(line(path, "var(--paper)", 6.0))
        parts.append(line(path, SIDE_COLOR[side], 3.5 if name == pressed else 0.8))
    parts += names
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" style="max-height: 300px; width: 100%" role="img" '
        f'aria-label="The floor from above" font-size="13">{"".join(parts)}</svg>'
    )


def state(desk: Desk) -> State:
    """Return the state of the step: whether the trial names forces, and the foot of each plate of a text file."""
    if desk.is_model:
        return "done"
    markers, forces = (str(desk.opened.value("files", name) or "").lower() for name in ("markers", "forces"))
    if forces == PREDICTED or (forces or markers).endswith(".c3d"):
        return "done"
    plates = desk.opened.value("force") or []
    return "done" if plates and all("side" in plate for plate in plates) else "open"


PLATES = Step(
    "plates",
    "Plates",
    "What the force plates measured, and whose foot stood on them.",
    lambda view: Plates(view).show(),
    state,
    of_model="An OpenSim model gets its moments or loads from the files that the trial file names, or its loads from "
    "its motion.",
)

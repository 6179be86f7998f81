"""Events: heel strikes, toe-offs and the analyzed range on the curves of the ground force, moved by hand or by keys."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nicegui import ui

from musclesolve.apps.desk.fields import field
from musclesolve.apps.desk.measured_forces import Handle, MeasuredForces, TimeCurves, measured_forces
from musclesolve.apps.desk.steps.work import Loaded, load
from musclesolve.apps.desk.trial_document import Place
from musclesolve.apps.desk.view import SIDE_COLOR, Step, StepView, hint, small_button
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Event, EventKind, Side

KINDS: dict[EventKind, tuple[str, str]] = {"heel_strike": ("heel strike", "HS"), "toe_off": ("toe-off", "TO")}
SOURCES = {
    "stated": "stated",
    "forces": "found by the forces",
    "predicted": "found by the predicted forces",
    "markers": "found by the markers",
    "periodic": "assumed: one stride away",
}
START, END = "start", "end"
RANGE = "var(--ink)"
EVENT_SPACING_S = 0.02
"""Least time between two events of a kind and foot [s]."""


@dataclass(frozen=True)
class Numbered:
    """An event, its name on the page, and the times of all recorded or stated events of its kind and foot [s]."""

    event: Event
    id: str
    alike: tuple[float, ...]

    @property
    def key(self) -> str:
        """Key of the table [events]."""
        return f"{self.event.kind}_{self.event.side}"


def numbered(events: Iterable[Event], first: float, last: float) -> list[Numbered]:
    """The events within the recorded time, without assumed events."""
    shown = [event for event in events if event.source != "periodic" and event.kind in KINDS]
    shown = [event for event in shown if first <= event.time <= last]
    entries = list[Numbered]()
    for event in shown:
        alike = tuple(e.time for e in shown if (e.kind, e.side) == (event.kind, event.side))
        entries.append(Numbered(event, f"{event.kind}_{event.side}_{alike.index(event.time)}", alike))
    return entries


class Events(StepView):
    """The step in one window."""

    seen: MeasuredForces | None = None
    shown: Sequence[Numbered] = ()

    def show(self) -> None:
        """Draw it."""
        if self.desk.is_model:
            ui.label("Steps of an OpenSim model are found in its loads.")
        else:
            path = self.desk.opened.path
            self._measured = Loaded(lambda: measured_forces(path), self._curves)
            self._measured.draw()
            load(self._measured)
        field(self.view, "time", "movement", "What the subject does")

    def _curves(self, seen: MeasuredForces) -> None:
        self.seen = seen
        curves = [
            (f"{SIDE_NAMES[side]} foot", SIDE_COLOR[side], *seen.vertical(side))
            for side in SIDES
            if seen.vertical(side)[0].size
        ]
        if not curves:
            ui.label("No ground force is counted for a foot yet: see the step Plates.")
            return
        first, last = min(t[0] for *_, t, _ in curves), max(t[-1] for *_, t, _ in curves)
        self.shown = numbered(seen.events or (), float(first), float(last))
        start, end = seen.trial.time_range
        hint(
            "Drag a line, or choose it with the Tab key and move it with the arrow keys (10 ms; with Shift 1 ms). "
            "Delete removes an event. Gray is not analyzed."
        )
        if seen.trouble:
            ui.label(seen.trouble).classes("ms-bad")
        TimeCurves(
            "Vertical ground force on both feet, with heel strikes, toe-offs and the analyzed range",
            "vertical force [N]",
            curves,
            self._handles(start, end),
            [(float(first), start), (end, float(last))],
            self.view.focus.time,
            self._moved,
            self._removed,
            self._picked,
        )
        self._range(start, end)
        self._table()

    def _handles(self, start: float, end: float) -> list[Handle]:
        handles = [
            Handle(START, start, "start of the analyzed range", "start", RANGE, high=end - 0.1, row=2),
            Handle(END, end, "end of the analyzed range", "end", RANGE, low=start + 0.1, row=2, turned=True),
        ]
        for event in self.shown:
            name, short = KINDS[event.event.kind]
            before = [time for time in event.alike if time < event.event.time]
            after = [time for time in event.alike if time > event.event.time]
            handles.append(
                Handle(
                    event.id,
                    event.event.time,
                    f"{SIDE_NAMES[event.event.side]} {name}, {SOURCES[event.event.source]}",
                    f"{short} {event.event.side.upper()}",
                    SIDE_COLOR[event.event.side],
                    dashed=event.event.source != "stated",
                    low=max(before) + EVENT_SPACING_S if before else None,
                    high=min(after) - EVENT_SPACING_S if after else None,
                    row=0 if event.event.side == "r" else 1,
                )
            )
        return handles

    def _range(self, start: float, end: float) -> None:
        with ui.row().classes("items-center"):
            for name, label, time in ((START, "Analyzed from [s]", start), (END, "to [s]", end)):
                number = ui.number(label, value=round(time, 3), step=0.01)
                number.on("change", lambda _, n=number, name=name: self._moved(name, n.value))
            if any(self.desk.opened.value("time", key) is not None for key in ("start_s", "end_s")):
                small_button("As found", self._range_found).tooltip("for each leg what was measured of it")
            else:
                hint("As found: for each leg what was measured of it.")

    def _table(self) -> None:
        ui.label("Heel strikes and toe-offs").classes("ms-part")
        for side in SIDES:
            for kind, (name, _) in KINDS.items():
                self._line(side, kind, name)
        with ui.row().classes("items-center"):
            what = {(kind, side): f"{SIDE_NAMES[side]} {KINDS[kind][0]}" for side in SIDES for kind in KINDS}
            names = [f"{kind}_{side}" for kind, side in what]
            chosen = ui.select(dict(zip(names, what.values(), strict=True)), value=names[0], label="Add a")
            chosen.classes("ms-input")
            self._time = ui.number("at [s]: type, or click the curves", step=0.01)
            self._time.classes("ms-input")
            ui.button("Add", on_click=lambda: self._add(str(chosen.value), self._time.value)).props("outline")

    def _line(self, side: Side, kind: EventKind, name: str) -> None:
        """The events of one kind and foot, each as a number."""
        alike = [event for event in self.shown if (event.event.side, event.event.kind) == (side, kind)]
        key = f"{kind}_{side}"
        with ui.row().classes("items-center"):
            ui.label(f"{SIDE_NAMES[side].capitalize()} {name}").classes("ms-kind")
            for item in alike:
                with ui.row().classes("ms-pair"):
                    number = ui.number(value=round(item.event.time, 3), step=0.01, format="%.3f")
                    number.props(f'suffix="s" aria-label="{SIDE_NAMES[side]} {name} [s]"').classes(
                        "ms-time"
                    ).tooltip(SOURCES[item.event.source])
                    number.on("change", lambda _, n=number, id=item.id: self._moved(id, n.value))
                    ui.button(on_click=lambda _, id=item.id: self._removed(id)).props(
                        f'flat dense round size=sm icon=close aria-label="Remove {SIDE_NAMES[side]} {name} at '
                        f'{item.event.time:.2f} s"'
                    )
            if self.desk.opened.value("events", key) is not None:
                small_button("As found", lambda: self._state(("events", key), None))
            elif not alike:
                hint("none")

    async def _moved(self, name: str, time: float | None) -> None:
        if self.seen is None or time is None:
            return
        start, end = self.seen.trial.time_range
        if name in (START, END):
            start, end = (time, end) if name == START else (start, time)
            values: dict[Place, float] = {
                ("time", "start_s"): round(start, 3),
                ("time", "end_s"): round(end, 3),
            }
            self.view.state_all(values)
            await self._measured.look()
            return
        one = next(event for event in self.shown if event.id == name)
        times = [time if before == one.event.time else before for before in one.alike]
        await self._state(("events", one.key), sorted(round(t, 3) for t in times))

    async def _removed(self, name: str) -> None:
        if name in (START, END):
            return
        one = next(event for event in self.shown if event.id == name)
        left = [round(time, 3) for time in one.alike if time != one.event.time]
        if not left:
            self.view.say(
                "One is left of each kind that is stated; As found takes back what was stated.", bad=True
            )
            return
        await self._state(("events", one.key), left)

    async def _add(self, key: str, time: float | None) -> None:
        if time is None:
            self.view.say("Type the time, or click the curves at it.", bad=True)
            return
        there = next((event.alike for event in self.shown if event.key == key), ())
        await self._state(("events", key), sorted(round(t, 3) for t in (*there, time)))

    async def _range_found(self) -> None:
        self.view.state_all({("time", "start_s"): None, ("time", "end_s"): None})
        await self._measured.look()

    async def _state(self, place: tuple[str | int, ...], value: list[float] | None) -> None:
        self.view.state(place, value)
        await self._measured.look()

    def _picked(self, time: float) -> None:
        self._time.value = round(time, 3)


EVENTS = Step(
    "events",
    "Events",
    "When the feet strike and leave, and what is analyzed; found in the recording, changed here where it is wrong.",
    lambda view: Events(view).show(),
    lambda desk: "done",  # nothing is needed: events and range are found
)

"""EMG: the muscle and the leg of each channel, with its signal as a small picture and the faults of the signal."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from nicegui import ui

from musclesolve._util.arrays import Array
from musclesolve._util.messages import capitalized, count_of
from musclesolve._util.sides import has_side
from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.fields import drawn_keys, field
from musclesolve.apps.desk.trial_document import Place, TrialDocument
from musclesolve.apps.desk.view import State, Step, View, hint, show_fault, small_button
from musclesolve.errors import MuscleSolveError
from musclesolve.laboratory.draft.column_names import EmgFile, emg_tables, muscles_by_name, offered_muscles
from musclesolve.laboratory.draft.folder_contents import folder_contents
from musclesolve.laboratory.recording.data import SIDE_NAMES
from musclesolve.laboratory.recording.emg_state import ChannelState, channel_states, saturated
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.laboratory.trial.muscle_signals import are_envelopes
from musclesolve.tables.text_file import name_from

LEGS: dict[str, str] = {"": "leg: choose"} | {side: f"{name} leg" for side, name in SIDE_NAMES.items()}
FURTHER = drawn_keys(RecordedSettings, "emg", "file")
"""Keys of the table beside the channels."""
WIDE, HIGH, BINS = 300, 40, 300
"""Size of a picture [px], and how many stretches of time it shows."""
LITTLE = 0.001
"""Share of samples at the end of the range of the amplifier that is not reported."""


def signals_of(file: EmgFile, names: list[str]) -> dict[str, tuple[str, str, bool]]:
    """Picture of a signal as SVG, its faults in words ("" without any), and whether it is unusable.

    By the names of the channels; a name that the file does not have is left out.
    """
    table = file.table
    there = [name for name in names if name in table.names]
    if not there:
        return {}
    values = np.stack([table[name] for name in there], axis=-1)
    _, states = channel_states(values, table.time, are_envelopes(values, table.rate), [None] * len(there))
    return {
        name: (_picture(name, table.time, values[:, k]), _trouble(states[k]), bool(states[k].unusable))
        for k, name in enumerate(there)
    }


def _trouble(state: ChannelState) -> str:
    """Return the faults of a channel in words."""
    if state.unusable:
        return f"Not used: {state.unusable}."
    said = []
    if state.clipped > LITTLE:
        said.append(
            f"{100.0 * state.clipped:.2g} % of its samples are clipped, from {state.clipped_at:.2f} s"
        )
    if state.spikes:
        said.append(f"{count_of(len(state.spikes), 'spike')} removed")
    if state.no_hum:
        said.append(f"hum of {state.mains:.0f} Hz removed")
    return f"{capitalized('; '.join(said))}." if said else ""


def _picture(name: str, time: Array, signal: Array) -> str:
    """The smallest and largest sample of each stretch of time; red where the amplifier was at its end."""
    known = np.nan_to_num(signal)
    edges = np.unique(np.linspace(0, len(signal), BINS + 1).astype(int))
    low, high = np.minimum.reduceat(known, edges[:-1]), np.maximum.reduceat(known, edges[:-1])
    bottom, top = min(float(low.min()), 0.0), max(float(high.max()), 0.0)
    scale = HIGH / (top - bottom) if top > bottom else 0.0
    x = WIDE * edges[:-1] / len(signal)

    def y(value: Array) -> Array:
        return (top - value) * scale if scale else np.full(value.shape, HIGH / 2.0)

    up = [f"{a:.1f} {b:.1f}" for a, b in zip(x, y(high), strict=True)]
    down = [f"{a:.1f} {b + 0.8:.1f}" for a, b in zip(x[::-1], y(low)[::-1], strict=True)]
    clipped = np.logical_or.reduceat(saturated(signal), edges[:-1])
    marks = "".join(f'<path class="ms-clipped" d="M{a:.1f} 0V{HIGH}"/>' for a in x[clipped])
    said = f"Signal of {name}, {time[0]:.2f} to {time[-1]:.2f} s, {bottom:.3g} to {top:.3g}"
    return (
        f'<svg class="ms-signal" viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(said)}"><title>{escape(said)}</title><path d="M{"L".join([*up, *down])}Z"/>{marks}</svg>'
    )


@dataclass(frozen=True)
class Shown:
    """Muscles of a channel without side, none where the channel is not used, and their leg, "" where open."""

    muscles: tuple[str, ...] = ()
    side: str = ""

    @property
    def value(self) -> str | list[str] | None:
        """Value of the channel as the trial file has it; None while a choice is left."""
        if not self.muscles or not self.side:
            return None
        named = [f"{muscle}_{self.side}" for muscle in self.muscles]
        return named[0] if len(named) == 1 else named


def shown(value: str | list[str]) -> Shown:
    """Return the muscles that the value of a channel in a trial file names."""
    named = [value] if isinstance(value, str) else value
    sides = {name[-1] if has_side(name) else "" for name in named}
    if len(sides) > 1 or "" in sides:
        return Shown(tuple(named))
    return Shown(tuple(name[:-2] for name in named), sides.pop())


def suggested(file: EmgFile) -> dict[str, Shown]:
    """Return the muscles that the names of the channels suggest."""
    channels = file.channels
    known = {name: Shown(channels.muscles[name], channels.sides.get(name, "")) for name in channels.muscles}
    return known | {name: Shown((), offered_muscles(name)[1] or "") for name in channels.unknown}


def in_words(muscles: tuple[str, ...]) -> str:
    """Muscles as a list shows them."""
    return ", ".join(muscles).replace("_", " ")


class EmgChannelsStep:
    """The step in one window."""

    def __init__(self, view: View) -> None:
        self.view, self.desk = view, view.desk
        self.file: EmgFile | None = None
        self.rows = dict[str, Shown]()
        self.chosen = dict[str, Shown]()  # channels without a muscle or a leg, which are not stated yet
        self.signals = dict[str, tuple[str, str, bool]]()

    def show(self) -> None:
        """Draw it."""
        self._channels()
        ui.timer(0.0, self._look, once=True)

    @property
    def _stated(self) -> Mapping[str, str | list[str]]:
        return self.desk.opened.value("emg", "channels") or {}

    async def _look(self) -> None:
        trial = self.desk.opened
        names = [trial.value(*place) for place in (("emg", "file"), ("files", "markers"))]
        try:
            files = (await asyncio.to_thread(folder_contents, self.desk.folder.path)).emg
        except MuscleSolveError as error:
            self._channels.refresh(str(error))
            return
        named = [
            file for name in names if name for file in files if _same(file.path, trial.path.parent / name)
        ]
        self.file = next(iter([*named, *(files if names[0] is None else ())]), None)
        self._channels.refresh()
        if self.file is not None:
            self.signals = await asyncio.to_thread(signals_of, self.file, list(self.rows))
            self._channels.refresh()

    @ui.refreshable_method
    def _channels(self, trouble: str = "") -> None:
        if trouble:
            show_fault(trouble)
        self.rows = {} if self.file is None else suggested(self.file)
        self.rows |= self.chosen | {name: shown(value) for name, value in self._stated.items()}
        if not self.rows:
            hint("No channel of EMG was found in the recordings. None is needed.")
            return
        if self.file is not None:
            about = f"{self.file.path.name}, {self.file.table.rate:g} Hz."
            hint(f"{about} A channel counts once its muscle and its leg are chosen.")
        known = {*muscles_by_name().values(), *(row.muscles for row in self.rows.values() if row.muscles)}
        choices = {(): "not used", **{muscles: in_words(muscles) for muscles in sorted(known)}}
        for name, row in self.rows.items():
            self._row(name, row, choices)
        if any(row.muscles and not row.side for row in self.rows.values()):
            with ui.row().classes("items-center"):
                for side, leg in SIDE_NAMES.items():
                    ui.button(
                        f"All these are of the {leg} leg", on_click=lambda _, side=side: self._all_of(side)
                    ).props("outline")
        if self._stated:
            for key in FURTHER:
                field(self.view, "emg", key)

    def _row(self, name: str, row: Shown, choices: Mapping[tuple[str, ...], str]) -> None:
        # What is chosen travels to the browser and back by its number.
        order = list(choices)
        with ui.row().classes("ms-channel"):
            with ui.column().classes("ms-channel-signal"):
                ui.label(name).classes("ms-what")
                if name in self.signals:
                    picture, trouble, unusable = self.signals[name]
                    ui.html(picture, sanitize=False).classes("w-full")
                    if trouble:
                        ui.label(trouble).classes("ms-bad" if unusable else "ms-suggested")
            ui.select(
                {number: choices[muscles] for number, muscles in enumerate(order)},
                value=order.index(row.muscles),
                label=f"Muscle of {name}",
                with_input=True,
                on_change=lambda event: self._chosen(name, order[event.value or 0], self.rows[name].side),
            ).classes("ms-input").style("width: 340px")
            ui.select(
                LEGS,
                value=row.side,
                label=f"Leg of {name}",
                on_change=lambda event: self._chosen(name, self.rows[name].muscles, event.value),
            ).classes("ms-input")
            if row.value is not None and name not in self._stated:
                small_button("Take it", lambda: self._state({name: row}))
            if not row.muscles and name not in self._stated:
                self._offers(name, row)

    def _offers(self, name: str, row: Shown) -> None:
        """Show a button for each muscle that the name of a channel may mean."""
        muscles, _ = offered_muscles(name)
        for muscle in muscles:
            button = ui.button(
                f"{muscle.replace('_', ' ')}?",
                on_click=lambda _, m=muscle: self._chosen(name, (m,), row.side),
            )
            button.props("outline dense").props["aria-label"] = f"{name} is {muscle.replace('_', ' ')}"

    def _chosen(self, name: str, muscles: tuple[str, ...], side: str) -> None:
        self.rows[name] = self.chosen[name] = Shown(muscles, side)
        if self.rows[name].value is not None or name in self._stated:
            self._state({name: self.rows[name]})
        else:
            self._channels.refresh()

    def _all_of(self, side: str) -> None:
        self._state(
            {name: Shown(row.muscles, row.side or side) for name, row in self.rows.items() if row.muscles}
        )

    def _state(self, rows: Mapping[str, Shown]) -> None:
        self.view.state_all(stating(self.desk.opened, self.file, rows))
        self._channels.refresh()


def stating(trial: TrialDocument, file: EmgFile | None, rows: Mapping[str, Shown]) -> dict[Place, Any]:
    """The changes for some channels: the first adds the file of the table, removal of the last the table."""
    before = trial.value("emg", "channels") or {}
    after = before | {name: row.value for name, row in rows.items()}
    if all(value is None for value in after.values()):
        return {("emg",): None}
    values: dict[Place, Any] = {("emg", "channels", name): row.value for name, row in rows.items()}
    if not before and file is not None:
        inside = _same(file.path, trial.path.parent / (trial.value("files", "markers") or ""))
        first, *_ = emg_tables(file, name_from(file.path, trial.path), inside, None)
        values = {("emg", line.key): line.value for line in first.lines} | values
    return values


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def state(desk: Desk) -> State:
    """Return the state of the step; nothing is needed here, but decisions that a draft left open remain."""
    if any(item.table.partition(".")[0] == "emg" for item in desk.opened.opens):
        return "open"
    return "done" if desk.opened.value("emg") is not None else ""


EMG = Step(
    "emg",
    "EMG",
    "Which muscle each channel shows; the forces are compared with it, or follow it where it has a weight.",
    lambda view: EmgChannelsStep(view).show(),
    state,
    of_model="Channels of an OpenSim model name its own muscles: state them in the trial file.",
)

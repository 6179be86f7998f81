"""Fields for keys of the trial file, drawn from its schema: choices, range, and meaning."""

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from nicegui import ui

from musclesolve._util.messages import capitalized
from musclesolve.apps.desk.trial_document import Open
from musclesolve.apps.desk.view import View, hint, small_button
from musclesolve.apps.desk.words import title_of
from musclesolve.laboratory.recording.trial_settings import ModelSettings, RecordedSettings
from musclesolve.tables.document import value_text
from musclesolve.tables.settings import Setting, Settings, tables_of


def setting_at(view: View, table: str, key: str) -> Setting:
    """The setting at a key of the trial file."""
    return tables_of(ModelSettings if view.desk.is_model else RecordedSettings)[table].settings[key]


DRAWN = ("text", "number", "whole", "truth")
"""Kinds of settings that have a field."""


def drawn_keys(file: type[Settings], table: str, *others: str) -> list[str]:
    """Keys of a table of a trial file whose settings have a field, in their order, without some others."""
    known = tables_of(file)[table].settings.items() if table in tables_of(file) else ()
    return [key for key, setting in known if setting.kind in DRAWN and key not in others]


OTHERS: dict[str, Any] = {"with_input": True, "new_value_mode": "add-unique", "key_generator": str}
"""Options with which a list of `ui.select` takes typed values."""


def choice(
    view: View,
    table: str,
    key: str,
    title: str,
    choices: Mapping[str, str],
    about: Callable[[str], str],
    others: bool = False,
) -> None:
    """A field for a key of the trial file whose values have names: a list to choose from.

    choices: value -> text in the list. about: a sentence on a value. others: whether other values may be typed.
    """
    value = view.desk.opened.value(table, key)
    default = setting_at(view, table, key).default or ""
    shown = value if value is not None else default

    def taken(stated: str) -> None:
        if view.state((table, key), stated or None):
            why.set_text(about(stated))

    with ui.row().classes("ms-field"):
        listed = dict(choices) if shown in choices else {shown: str(shown), **choices}
        typed = OTHERS if others else {}
        select = ui.select(
            listed, value=shown, label=title, on_change=lambda event: taken(event.value), **typed
        )
        select.classes("ms-input")
        why = hint(about(shown))


def field(
    view: View, table: str, key: str, title: str = "", then: Callable[[], object] | None = None
) -> None:
    """A field for a key of the trial file, with its meaning, its default, and the suggestion of a draft.

    then: called once the value was taken, such as `view.refresh` where other fields depend on it.
    """
    trial = view.desk.opened
    setting = setting_at(view, table, key)
    value, default = trial.value(table, key), setting.default
    title = title or title_of(key, setting)

    def taken(stated: Any) -> None:
        if stated == "" or stated is None:
            stated = None
        elif setting.kind == "whole":
            stated = round(stated)
        elif setting.kind == "number" and isinstance(stated, int):
            stated = float(stated)
        if view.state((table, key), stated):
            suggested.set_visibility(stated is None and value is None)
            if then is not None:
                then()

    def confirmed(item: Open) -> None:
        with view.saying():
            with view.desk.changing(view) as open_trial:
                open_trial.decided(item)
            suggested.set_visibility(False)
            if entry is not None:
                entry.run_method("focus")
        view.refresh_frame()

    entry: ui.input | None = None

    def take(guess: Any) -> None:
        if entry is not None:
            entry.set_value(str(guess))
            entry.run_method("focus")
        taken(guess)

    with ui.row().classes("ms-field") as row:
        if view.focus.field == f"[{table}] {key}":
            row.classes("ms-field-here")
            ui.run_javascript("msShowField()")
        if setting.kind == "truth":
            shown = value if value is not None else default
            ui.checkbox(title, value=bool(shown), on_change=lambda event: taken(event.value))
        elif setting.choices:
            choices = {choice: choice.replace("_", " ") for choice in setting.choices}
            if not setting.required:
                choices = {"": f"not stated{f': {default}' if default else ''}".replace("_", " ")} | choices
            ui.select(
                choices,
                value=value if value in choices else ("" if "" in choices else None),
                label=title,
                on_change=lambda event: taken(event.value),
            ).classes("ms-input")
        elif setting.kind == "number" and setting.words:
            _number_or_word(title, setting, value, taken)
        elif setting.kind in ("number", "whole") and not isinstance(value, str):
            entry = number_field(title, setting, value, taken)
            if default is not None:
                entry.props("stack-label").props["placeholder"] = f"{default:g}"
            entry.classes("ms-input")
        else:
            entry = text = ui.input(title, value=str(value or ""), placeholder=str(default or ""))
            text.classes("ms-input").on("change", lambda: taken(text.value))
        with ui.column().classes("ms-beside"):
            hint(f"{capitalized(setting.about)}.")
            with ui.column().classes("ms-beside") as suggested:
                item = trial.asked((table, key))
                if item is not None:
                    ui.label(f"{capitalized(item.why)}.").classes("ms-suggested")
                    if value is not None:
                        small_button(f"Confirm {value_text(value)}", lambda: confirmed(item))
                    elif item.value is not None:
                        with ui.row():
                            small_button(
                                f"Take the guess: {value_text(item.value)}", lambda: take(item.value)
                            )


def heading(text: str) -> None:
    """The heading of a part of a step."""
    ui.label(text).classes("ms-part").props('role="heading" aria-level="2"')


def statements(rows: Iterable[tuple[str, str]], classes: str = "") -> None:
    """Subjects and statements, in two columns."""
    with ui.element("dl").classes(f"ms-facts {classes}"):
        for subject, statement in rows:
            with ui.element("dt"):
                ui.label(subject)
            with ui.element("dd"):
                ui.label(statement)


def same_command(line: str, in_folder: bool = True) -> None:
    """Show the command line that does the same as a button."""
    ui.label(f"The same on the command line{', in the folder' * in_folder}: {line}").classes("ms-command")


def read_number(text: str | None) -> float | None:
    """Read a typed number, with a point or a comma; None for other texts."""
    try:
        number = float((text or "").strip().replace(",", "."))
    except ValueError:
        return None
    return number if isfinite(number) else None


def fault_of(text: str | None, setting: Setting) -> str | None:
    """Return the reason why a number is not taken, with a likely meaning; None for a valid or empty text."""
    if not (text or "").strip():
        return None
    number = read_number(text)
    if number is None:
        return "A number, such as 1.75"
    if setting.contains(number):
        return None
    low, high = max(setting.minimum, setting.above), setting.maximum
    ends = f"{low:g} to {high:g}" if isfinite(high) else f"above {low:g}"
    meant = setting.in_another_unit(number)
    return f"Not taken: {ends}" + (f"; {meant}" if meant else "")


def number_field(title: str, setting: Setting, value: Any, taken: Callable[[Any], None]) -> ui.input:
    """A field for a number; an impossible value is reported at the field and not written."""
    shown = "" if value is None else f"{value:g}" if float(f"{value:g}") == value else str(value)
    entry = ui.input(title or None, value=shown, validation=lambda text: fault_of(text, setting))

    def stated() -> None:
        if fault_of(entry.value, setting) is None:
            taken(read_number(entry.value))

    entry.props('inputmode="decimal"').on("change", stated)
    return entry


NUMBER = "number"


def _number_or_word(title: str, setting: Setting, value: Any, taken: Callable[[Any], None]) -> None:
    """A list with the words that may replace a number, and a field for the number where it is chosen."""
    default = setting.default
    choices = {"": "not stated" if default is None else f"not stated: {default}", NUMBER: "a number:"}
    choices |= {word: word.replace("_", " ") for word in setting.words if word != default}
    is_number = isinstance(value, int | float)

    def chosen(word: str) -> None:
        if word != NUMBER:
            taken(word)
        elif (stated := read_number(number.value)) is not None:
            taken(stated)

    with ui.column().classes("ms-input gap-1"):
        select = ui.select(
            choices,
            value=NUMBER if is_number else value or "",
            label=title,
            on_change=lambda event: chosen(event.value),
        )
        usual = default if isinstance(default, int | float) else None
        number = number_field(title, setting, value if is_number else usual, taken)
        number.bind_visibility_from(select, "value", value=NUMBER)
        for box in (select, number):
            box.classes("w-full")

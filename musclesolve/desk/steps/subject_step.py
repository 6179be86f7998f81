"""Subject: mass, stature, sex and shoes; what the recordings suggest is marked as such."""

from nicegui import ui

from musclesolve.desk.desk import Desk
from musclesolve.desk.fields import drawn_keys, field
from musclesolve.desk.view import State, Step, View
from musclesolve.settings.trial import RecordedSettings

REQUIRED_KEYS = ("mass_kg", "stature_m", "sex")
USUAL = ("name", *REQUIRED_KEYS, "shoe_mass_kg", "age_years")
FURTHER = drawn_keys(RecordedSettings, "subject", *USUAL)


def show(view: View) -> None:
    """Draw it."""
    assert view.desk.trial is not None
    for key in USUAL:
        field(view, "subject", key)
    stated = view.desk.trial.value("subject") or {}
    with ui.expansion("Further measures", value=any(key in stated for key in FURTHER)).classes("w-full"):
        for key in FURTHER:
            field(view, "subject", key)


def state(desk: Desk) -> State:
    """Return the state of the step: whether all required values are stated."""
    assert desk.trial is not None
    if desk.is_model:
        return "done"
    return "done" if all(desk.trial.value("subject", key) is not None for key in REQUIRED_KEYS) else "open"


OF_MODEL = "The subject is the model itself: it is scaled already."
SUBJECT = Step("subject", "Subject", "Who was recorded.", show, state, of_model=OF_MODEL)

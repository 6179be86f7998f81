"""Numbers as people type them."""

from __future__ import annotations

import pytest
from package_tables import trial_tables

from musclesolve.apps.desk.fields import fault_of, read_number
from musclesolve.apps.desk.words import title_of

STATURE = trial_tables()["subject"].settings["stature_m"]


@pytest.mark.parametrize(("text", "number"), [("1.83", 1.83), ("1,83", 1.83), (" 2 ", 2.0)])
def test_points_and_commas_are_read(text, number):
    assert read_number(text) == number
    assert fault_of(text, STATURE) is None


@pytest.mark.parametrize("text", ["", "  ", None])
def test_nothing_is_no_fault(text):
    assert fault_of(text, STATURE) is None and read_number(text) is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("183", "1.83"),
        ("1830", "1.83"),
        ("9", "0.4 to 2.6"),
        ("-1", "0.4 to 2.6"),
        ("tall", "1.75"),
        ("nan", "1.75"),
    ],
)
def test_what_cannot_be_is_said_with_what_may_be_meant(text, part):
    assert part in fault_of(text, STATURE)


def test_keys_are_titled_as_people_say_them():
    assert title_of("stature_m", STATURE) == "Stature [m]"
    assert title_of("toe_r") == "Right toe" and title_of("mapping") == "Markers of landmarks"

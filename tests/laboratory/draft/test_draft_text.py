"""The text of a draft is read with the meaning with which it was written, whatever the names and values."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musclesolve.constants import TODO
from musclesolve.laboratory.draft.draft_text import DraftTable, Line, draft_text, read_back

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
VALUES = st.one_of(
    TEXT,
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.lists(TEXT, max_size=4),
    st.dictionaries(TEXT, st.floats(-10.0, 10.0), max_size=3),
)


@settings(max_examples=60)
@given(key=TEXT, value=VALUES, comment=TEXT, todo=TEXT, title=TEXT)
def test_any_value_comes_back(key: str, value: Any, comment: str, todo: str, title: str) -> None:
    table = DraftTable("mapping", (Line(key, value, comment, todo),), (comment,), todo)
    found = tomllib.loads(draft_text((title,), (table,)))["mapping"][key]
    assert found == value and type(found) is type(value)


@settings(max_examples=40)
@given(key=TEXT, value=VALUES, comment=TEXT, todo=TEXT)
def test_what_is_open_is_not_read(key: str, value: Any, comment: str, todo: str) -> None:
    line = Line(key, value, comment, todo, open=True)
    for tables in ((DraftTable("mapping", (line,)),), (DraftTable("emg", (Line(key, value),), open=True),)):
        assert tomllib.loads(draft_text(("",), tables)).get("mapping", {}) == {}


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("subject", "mass_kg", 9999.0), ("subject", "stature_m", math.nan), ("laboratory", "up", "+w"),
        ("emg", "processed", 3),
    ],
)  # fmt: skip
def test_what_the_schema_refuses_is_left_open(table: str, key: str, value: Any) -> None:
    (found,) = read_back(("A draft.",), (DraftTable(table, (Line(key, value),)),))
    assert found.lines[0].open and found.todos
    assert TODO in draft_text((), (found,))

"""Cells of tables as spreadsheets read them."""

from __future__ import annotations

import pandas as pd
import pytest

from musclesolve.results.tables.lines import csv_text, frame_csv, inert


@pytest.mark.parametrize("text", ["=1+1", "+cmd|'/c calc'!A0", "-2+3", "@SUM(A1)", "\t=1"])
def test_a_text_is_no_formula(text: str) -> None:
    assert inert(text) == f"'{text}"
    assert f"'{text}" in csv_text([["name"], [text]])
    assert f"'{text}" in frame_csv(pd.DataFrame({"name": [text]})).decode().replace('"', "")


@pytest.mark.parametrize("cell", ["-01", "+1.5", "-1e-3", "-", "", "S01", -2.5, None])
def test_numbers_and_names_stay(cell: object) -> None:
    assert inert(cell) is cell

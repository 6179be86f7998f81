"""Cells of tables as spreadsheets read them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import musclesolve
from musclesolve._util.messages import inert
from musclesolve.laboratory.results.tables.lines import csv_text, frame_csv, show


@pytest.mark.parametrize("text", ["=1+1", "+cmd|'/c calc'!A0", "-2+3", "@SUM(A1)", "\t=1"])
def test_a_text_is_no_formula(text: str) -> None:
    assert inert(text) == f"'{text}"
    assert f"'{text}" in csv_text([["name"], [text]])
    assert f"'{text}" in frame_csv(pd.DataFrame({"name": [text]})).decode().replace('"', "")


@pytest.mark.parametrize("cell", ["-01", "+1.5", "-1e-3", "-", "", "S01", -2.5, None])
def test_numbers_and_names_stay(cell: object) -> None:
    assert inert(cell) is cell


def test_tables_are_written_through_the_guard_alone() -> None:
    """A writer of comma-separated values elsewhere would let names of files and muscles through as formulas."""
    writing, root = (
        re.compile(r"csv\.writer\(|csv\.DictWriter\(|\.to_csv\("),
        Path(musclesolve.__file__).parent,
    )
    found = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in root.rglob("*.py")
        if path.name != "lines.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if writing.search(line) and "inert_frame(" not in line
    ]
    assert found == []


def test_zero_has_no_sign() -> None:
    table = show("torques", pd.DataFrame({"least [N m]": [-0.02, -0.2]}), [".1f"])
    assert list(table.columns[0].cells) == ["0.0", "-0.2"]


def test_numbers_of_a_table_are_written_as_pandas_writes_them():
    values = np.concatenate(
        [np.random.default_rng(0).normal(size=50) * 10.0 ** np.arange(-25, 25), [0.0, -0.0]]
    )
    table = pd.DataFrame({"x [m]": [*values, np.nan, np.inf], "count": 1, "word": ["a,b", None] * 27})
    table["single"] = table["x [m]"].astype(np.float32)
    for digits, missing in ((6, "nan"), (8, "")):
        how = {"index": False, "float_format": f"%.{digits}g", "na_rep": missing, "lineterminator": "\n"}
        assert frame_csv(table, missing, digits).decode() == table.to_csv(**how)

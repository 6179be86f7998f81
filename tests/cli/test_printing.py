"""The output of the command line keeps its column on a terminal, and its lines elsewhere."""

from __future__ import annotations

import io

import xarray as xr
from rich.console import Console
from rich.table import Table

from musclesolve.cli import printing
from musclesolve.laboratory.results.facts import STRIDE_MEASURES
from musclesolve.laboratory.results.tables.average_tables import average_table

TEXT = "right leg         51 solved, " + "6 with reserve, " * 8 + "end\nshort             line"


def test_what_does_not_fit_stands_below_its_statement():
    lines = printing.wrapped(TEXT, 80).splitlines()
    assert len(lines) == 4 and max(map(len, lines)) <= 80
    assert all(line.startswith(" " * 18) and line[18] != " " for line in lines[1:3])
    assert " ".join(" ".join(lines).split()) == " ".join(TEXT.split())


def test_words_stay_whole_and_narrow_windows_do_no_harm():
    assert "x" * 100 in printing.wrapped("files             " + "x" * 100, 80)
    assert printing.wrapped(TEXT, 5).split() == TEXT.split()


def test_other_programs_get_whole_lines(capsys, monkeypatch):
    monkeypatch.setattr(printing, "mode", printing.OutputMode())
    printing.print_summary(TEXT)
    assert capsys.readouterr().out == TEXT + "\n"


def test_the_measures_of_both_legs_fit_on_a_terminal():
    names = [measure.variable for measure in STRIDE_MEASURES]
    values = {name: ("side", [1234.5678, 1.0]) for name in names}
    spread = {f"{name}_std": ("side", [100.0, 0.001]) for name in names}
    average = xr.Dataset(values | spread | {"cycles": ("side", [10, 12])}, coords={"side": ["r", "l"]})
    text = printed(average_table(average))
    assert "…" not in text
    assert all(measure.heading in text for measure in STRIDE_MEASURES)
    assert "1234.568 (100.000)" in text and "double support [%]" in text


def printed(found: Table) -> str:
    out = Console(width=80, markup=False, file=io.StringIO())
    out.print(found)
    return out.file.getvalue()

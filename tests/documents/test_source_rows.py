"""The tables of the sources' rows name every equation, table and figure, places and commands that exist, and numbers
that a run gives.
"""

from __future__ import annotations

import importlib
import re
import runpy
import sys
from importlib.util import find_spec

import pytest
from source_rows import ROOT, ROWS, TEXT, THESIS

LAST = {
    THESIS: {
        "eq": {2: 88, 3: 8, 4: 8, 5: 15, 6: 23},
        "table": {2: 1, 3: 10, 4: 8, 5: 1, 6: 1},
        "fig": {2: 10, 3: 14, 4: 40, 5: 46, 6: 20},
    },
    "Blajer & Czaplicki (2005)": {"eq": {2: 11, 3: 3}, "fig": {0: 2}},
    "Blajer, Dziewiecki & Mazur (2006)": {"eq": {0: 16}, "fig": {0: 5}},
    "Hof (1992)": {"eq": {0: 12}, "fig": {0: 2}},
    "Silva & Ambrosio (1998)": {"eq": {0: 9}, "fig": {0: 3}},
}
"""How many equations, tables and figures the chapters have; chapter 0: they are counted through the whole paper."""


def numbers(cell, chapters):
    """Every (kind, chapter, number) that the first cell of a row names, ranges included."""
    kind, last, to = None, None, False
    for word in re.findall(r"[a-z]+|\d+(?:\.\d+)?", cell):
        if word in ("eq", "table", "fig"):
            kind, to = word, False
        elif word == "to":
            to = True
        elif word[0].isdigit() and kind and ("." in word or 0 in chapters):
            chapter, number = (int(part) for part in (word if "." in word else f"0.{word}").split("."))
            first = last + 1 if to else number
            yield from ((kind, chapter, k) for k in range(first, number + 1))
            last, to = number, False


@pytest.mark.parametrize("document", ROWS)
def test_no_number_is_left_out(document):
    kinds = LAST[document]
    found = {
        each
        for row in ROWS[document]
        for each in numbers(row.split("|")[1], {c for k in kinds.values() for c in k})
    }
    wanted = {
        (kind, chapter, k)
        for kind, chapters in kinds.items()
        for chapter, count in chapters.items()
        for k in range(1, count + 1)
    }
    assert sorted(wanted - found) == []
    assert sorted(found - wanted) == []


def test_every_document_has_its_table():
    assert set(LAST) <= set(ROWS)


def test_every_place_exists():
    places = re.findall(r"`((?:\w+\.)+\w+)(?::([\w.]+))?`", TEXT)
    rooms = ("dynamics", "laboratory", "models", "muscles", "sharing", "studies", "tables", "trajectory")
    looked = 0
    for module, name in places:
        room = module.split(".")[0]
        if room not in (*rooms, "benchmarks"):
            continue
        there = importlib.import_module(f"musclesolve.{module}" if room in rooms else module)
        for part in filter(None, name.split(".")):
            there = getattr(there, part)
        looked += 1
    assert looked > 50


COMMANDS = re.findall(r"`python -m (benchmarks(?:\.\w+)+)([^`]*)`", TEXT)


@pytest.mark.parametrize("module", sorted({module for module, _ in COMMANDS}))
def test_every_command_says_how_it_is_used(module, monkeypatch, capsys):
    """It imports, knows the options that the page names, and --help runs nothing."""
    spec = (
        find_spec(f"{module}.__main__") if find_spec(module).submodule_search_locations else find_spec(module)
    )
    monkeypatch.setattr(sys, "argv", [module, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(spec.origin, run_name="__main__")
    assert ended.value.code == 0
    usage = capsys.readouterr().out
    assert usage.startswith("usage:")
    for used in {
        option for each, text in COMMANDS if each == module for option in re.findall(r"--\w+", text)
    }:
        assert used in usage


def test_figures_that_commands_name_exist():
    from benchmarks.thesis_figures.figure_registry import FIGURES

    named = {number for _, text in COMMANDS for number in re.findall(r"--figure ([\w.]+)", text)}
    assert named and named <= set(FIGURES)


def test_files_exist():
    for file in re.findall(r"`((?:benchmarks|muscle_db|tests)/[\w/.]+)`", TEXT):
        assert (ROOT / file).exists()


def test_what_is_out_has_a_reason():
    every = [row for rows in ROWS.values() for row in rows]
    assert all(re.search(r"\*out\*[^|]*: ", row) or ": *out*" in row for row in every if "*out*" in row)

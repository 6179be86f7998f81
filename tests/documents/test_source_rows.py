"""The table of the source's rows names every equation, table and figure, and places that exist."""

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "source_rows.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.splitlines() if line.startswith("| ") and not re.match(r"\| (row|---)", line)]

LAST = {
    "eq": {2: 88, 3: 8, 4: 8, 5: 15, 6: 23},
    "table": {2: 1, 3: 10, 4: 8, 5: 1, 6: 1},
    "fig": {2: 10, 3: 14, 4: 40, 5: 46, 6: 20},
}
"""How many equations, tables and figures the chapters have."""


def numbers(cell):
    """Every (kind, chapter, number) that the first cell of a row names, ranges included."""
    kind, last, to = None, None, False
    for word in re.findall(r"[a-z]+|\d\.\d+", cell):
        if word in LAST:
            kind, to = word, False
        elif word == "to":
            to = True
        elif re.match(r"\d\.", word) and kind:
            chapter, number = (int(part) for part in word.split("."))
            first = last + 1 if to else number
            yield from ((kind, chapter, k) for k in range(first, number + 1))
            last, to = number, False


def test_no_number_is_left_out():
    found = {each for row in ROWS for each in numbers(row.split("|")[1])}
    wanted = {
        (kind, chapter, k)
        for kind, chapters in LAST.items()
        for chapter, count in chapters.items()
        for k in range(1, count + 1)
    }
    assert sorted(wanted - found) == []
    assert sorted(found - wanted) == []


def test_every_place_exists():
    places = re.findall(r"`((?:\w+\.)+\w+)(?::([\w.]+))?`", TEXT)
    rooms = ("dynamics", "motion", "muscles", "recording", "sharing")
    looked = 0
    for module, name in places:
        if module.split(".")[0] not in rooms:
            continue
        there = importlib.import_module(f"musclesolve.{module}")
        for part in filter(None, name.split(".")):
            there = getattr(there, part)
        looked += 1
    assert looked > 50


def test_commands_and_files_exist():
    for module in re.findall(r"python -m (benchmarks\.\w+)", TEXT):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists()
    for file in re.findall(r"`((?:benchmarks|muscle_db)/[\w/.]+)`", TEXT):
        assert (ROOT / file).exists()


def test_what_is_out_has_a_reason():
    assert all(re.search(r"\*out\*[^|]*: ", row) or ": *out*" in row for row in ROWS if "*out*" in row)

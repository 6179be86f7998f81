"""Tables of the tests of a study: every test has a row, every cluster too, with the numbers of the dataset."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from synthetic_study import bump, cycles, smooth

from musclesolve.laboratory.results.fact_table import summary
from musclesolve.laboratory.results.finding import Finding, Where
from musclesolve.laboratory.results.tables.study_tables import (
    Cluster,
    comparisons_csv,
    facts_of_tests,
    findings_table,
    partly_tested,
    stretch,
    table_of_tests,
)
from musclesolve.studies import compare_curves, subject_means


@pytest.fixture(scope="module")
def comparisons():
    """Three curves [rad]: one differs at two places, one by chance at most, one is constant."""
    curves = smooth(np.random.default_rng(5), 10, 2, 3)
    curves[:, 1, 0] += 8.0 * bump(25, 6.0) - 8.0 * bump(75, 6.0)
    curves[:, :, 2] = 1.0
    return compare_curves(subject_means(cycles(curves, conditions=["slow", "fast"], units="rad")))


def test_every_cluster_and_every_test_has_a_row(comparisons):
    comparisons = comparisons.assign_coords(variable=("test", ["joint_angle"] * 3))
    rows = list(csv.DictReader(io.StringIO(comparisons_csv(comparisons))))
    assert [row["name"] for row in rows] == ["dof_0", "dof_0", "dof_1", "dof_2"]
    first, second, none, untested = rows
    assert (first["cluster"], second["cluster"], none["cluster"]) == ("1", "2", "")
    degrees = np.rad2deg(comparisons["mean_difference"].values[0])
    assert float(first["mean_difference"]) == pytest.approx(degrees, rel=1e-5)
    assert first["unit"] == "deg" and float(second["mean_difference"]) < 0.0 < float(first["mean_difference"])
    assert float(first["level_of_test"]) == pytest.approx(0.025)
    assert untested["threshold"] == untested["statistic"] == "" and "not tested" in untested["note"]


def test_the_terminal_has_the_smallest_p_first_and_says_what_is_not_tested(comparisons):
    console = Console(width=100, file=io.StringIO())
    console.print(table_of_tests(comparisons))
    text = console.file.getvalue()
    assert "fast - slow" in text and "<0.001" in text and "deg" in text
    short = table_of_tests(comparisons, most=1)
    assert short.row_count == 1 and str(short.title).endswith("; 1 of 2, all: comparisons.csv")
    said = summary(facts_of_tests(comparisons))
    assert "Bonferroni" in said and "1 of 2 tests" in said and "nothing varies" in said and "dof_2" in said


def test_what_is_tested_in_part_names_its_curves(comparisons):
    assert partly_tested(comparisons) == ""
    found = comparisons.copy(deep=True)
    found["tested_percent"][0] = 93
    assert partly_tested(found) == "1 of 2 tests: elsewhere a value lacks, or nothing varies (dof_0)"


def test_a_stretch_narrower_than_a_percent_is_one_number():
    def cluster(start, end):
        return Cluster(start, end, 0.01, 1.0, 10.0, "")

    assert stretch(cluster(92.8, 93.3), " to ") == "93" and stretch(cluster(12.0, 25.2), "-") == "12-25"
    assert stretch(cluster(float("nan"), float("nan")), "-") == "-"


def test_findings_of_a_study_state_the_place_that_they_speak_of():
    place = Where(Path("walk.trc"), markers=("RASI",), times=((1.5, 1.75),))
    entry = Finding("noise", "warning", "a marker jitters in these frames", "look up these frames", place)
    table = findings_table([(entry, ("p1", "p3"))])
    said = [next(iter(column.cells)) for column in table.columns]
    assert said[2] == "walk.trc, RASI, 1.50 to 1.75 s: a marker jitters in these frames."
    assert "of each kind the one" in str(table.title)

"""A study that is called again: its trials are kept, and its tables follow them."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from command_line import typed

import musclesolve as ms
from musclesolve.studies.pages import written_pages
from musclesolve.studies.pages.written_pages import study_into

MADE = ("study.nc", "study.html", "values.csv", "curves.csv", "subject_values.csv", "comparisons.csv")


ONE_QUANTITY = 'quantities = ["joint_moment"]'
"""Of the study: every quantity has figures on the page, and these take most of its time."""


@pytest.fixture(scope="module")
def computed(tmp_path_factory) -> Path:
    """A folder with the study of six subjects in two conditions and its results; one of the twelve trials is broken."""
    file = Path(__file__).parents[3] / "examples" / "study" / "make_study.py"
    spec = importlib.util.spec_from_file_location("make_study", file)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    made.BROKEN, made.SWAPPED = ("S06_free_1",), ("S02_loaded_1",)
    place = tmp_path_factory.mktemp("unchanged")
    masses = made.write_trials(place, 6, 1, effect=1.5)
    made.write_study(place, masses, f"\n[design]\n{ONE_QUANTITY}\n")
    study_into(place / "results", place / "study.toml", reports=False, jobs=2)
    return place


@pytest.fixture
def place(computed, tmp_path) -> Path:
    """A copy of the folder for one test."""
    return Path(shutil.copytree(computed, tmp_path / "study"))


def again(place: Path, **how):
    return study_into(place / "results", place / "study.toml", reports=False, jobs=1, **how)


def tables(place: Path) -> dict[str, bytes]:
    """Content of each table beside the trials but theirs, which states this call."""
    return {
        path.name: path.read_bytes()
        for path in sorted((place / "results").glob("*.csv"))
        if path.name != "trials.csv"
    }


def names(place: Path) -> set[str]:
    """Names of the files beside the trials."""
    return {path.name for path in (place / "results").iterdir() if path.is_file()} - {"trials.csv"}


def short_report(result: xr.Dataset, path: Path) -> bytes:
    """In the place of the reports of the trials, which have tests of their own."""
    return b"<html>a report</html>"


def test_a_second_call_computes_no_trial_and_says_the_same(place, monkeypatch):
    monkeypatch.setattr(written_pages, "trial_report", short_report)

    def call() -> tuple[int, str]:
        done = typed("study", place / "study.toml", "-o", place / "results")
        lines = [line for line in done.output.splitlines() if not line.startswith("trials")]
        return done.exit_code, "\n".join(lines)

    first, before = call(), tables(place)
    assert "difference" in first[1] and (call(), tables(place)) == (first, before)
    status = pd.read_csv(place / "results" / "trials.csv").set_index("name")["status"]
    assert status["S06_free_1"] == "refused before" and status["S01_free_1"] == "unchanged"


def test_changed_cycles_change_the_tables(place):
    before = tables(place)
    path = place / "results" / "trials" / "S01_free_1" / "cycles.nc"
    with xr.open_dataset(path) as stored:
        changed = stored.load()
    changed["joint_moment"] = changed["joint_moment"] * np.float32(1.5)
    changed.to_netcdf(path)
    again(place)
    after = tables(place)
    assert [name for name in before if after[name] != before[name]] == list(before)


def test_coordinates_of_opposite_signs_are_named(place):
    """A model whose knee is positive in flexion among models whose knee is positive in extension."""

    def said() -> list[str]:
        notes = ms.studies.run_study(place / "study.toml", place / "results", jobs=1).computed.notes
        return [note for note in notes if "positive in extension" in note]

    assert not said()
    path = place / "results" / "trials" / "S01_free_1" / "cycles.nc"
    with xr.open_dataset(path) as stored:
        changed = stored.load()
    del changed.attrs["extension_positive"]
    changed.to_netcdf(path)
    (note,) = said()
    others, _, flexed = note.partition("flexion in")
    assert note.startswith("knee_angle ") and "S01_free_1" in flexed and "S01_free_1" not in others


def test_a_study_that_was_read_is_analyzed_without_its_file(place):
    study = ms.studies.read_study(place / "study.toml")
    (place / "study.toml").unlink()
    assert ms.studies.run_study(study, place / "results", jobs=1).groups is not None


def test_figures_and_formats_are_made_as_they_are_asked_for(place):
    again(place, figures=True)
    figures = names(place) - set(MADE)
    assert figures and all(name.startswith("group_") for name in figures)
    again(place, values_format="parquet")
    assert names(place) - set(MADE) == {"values.parquet"} and "values.csv" not in names(place)

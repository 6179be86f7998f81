"""A study that is called again: nothing is made where nothing has changed, and any change makes it anew."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from command_line import typed

import musclesolve as ms
from musclesolve.studies.pages import written_pages
from musclesolve.studies.pages.written_pages import study_into
from musclesolve.studies.study import analysis

MADE = (
    "study.nc",
    "study.kept",
    "study.html",
    "values.csv",
    "curves.csv",
    "subject_values.csv",
    "comparisons.csv",
)


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
    again(place)
    return place


@pytest.fixture
def place(computed, tmp_path) -> Path:
    """A copy of the folder for one test, whose results a call has kept."""
    return Path(shutil.copytree(computed, tmp_path / "study"))


def again(place: Path, **how):
    return study_into(place / "results", place / "study.toml", reports=False, jobs=1, **how)


def states(place: Path) -> dict[str, tuple[int, bytes]]:
    """Time of change and content of each file beside the trials but their table, which states this call."""
    files = [path for path in (place / "results").iterdir() if path.is_file() and path.name != "trials.csv"]
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def design(place: Path, text: str) -> None:
    """State how the study is analyzed."""
    path = place / "study.toml"
    stated = path.read_text(encoding="utf-8").partition("\n[design]")[0]
    path.write_text(f"{stated}\n[design]\n{text}\n", encoding="utf-8")


def alike(one: object, other: object) -> bool:
    """Whether two values are of one type and equal, NaN included."""
    if isinstance(one, xr.Dataset):
        kinds = [{name: each.dtype for name, each in own.variables.items()} for own in (one, other)]
        return one.identical(other) and kinds[0] == kinds[1]
    if isinstance(one, pd.DataFrame):
        return one.equals(other) and one.dtypes.equals(other.dtypes)
    return type(one) is type(other) and one == other


def short_report(result: xr.Dataset, path: Path) -> bytes:
    """In the place of the reports of the trials, which have tests of their own."""
    return b"<html>a report</html>"


def test_a_second_call_makes_nothing_and_says_the_same(place, monkeypatch):
    monkeypatch.setattr(written_pages, "trial_report", short_report)

    def call(*words: str) -> tuple[int, str]:
        done = typed("study", place / "study.toml", "-o", place / "results", *words)
        lines = [line for line in done.output.splitlines() if not line.startswith("trials")]
        return done.exit_code, "\n".join(lines)

    call()  # writes the reports of the trials, which the page leads to
    (place / "results" / "study.kept").unlink()
    fresh, before = call(), states(place)
    assert before.keys() == set(MADE) and "difference" in fresh[1]

    def made(*_: object, **__: object) -> None:
        raise AssertionError("nothing has changed")

    monkeypatch.setattr(analysis, "_analyzed", made)
    monkeypatch.setattr(written_pages, "study_page", made)
    assert call() == fresh and states(place) == before
    table = pd.read_csv(place / "results" / "trials.csv").set_index("name")
    assert (
        table.loc["S06_free_1", "status"] == "refused before"
        and table.loc["S01_free_1", "status"] == "unchanged"
    )


def test_what_python_returns_is_equal_to_a_fresh_result(place):
    """The shapes, types and attributes of all arrays included, also of a table of tests without differences."""
    path = place / "study.toml"
    for quantity in ("joint_moment", "joint_angle"):
        design(place, f'quantities = ["{quantity}"]\noutcomes = ["{quantity} knee_angle max"]')
        fresh, kept = (ms.studies.run_study(path, place / "results", jobs=1) for _ in range(2))
        assert fresh.groups is not None and fresh.comparisons is not None
        assert bool(fresh.comparisons.sizes["cluster"]) == (quantity == "joint_moment")
        for own in (fresh, kept):
            own.cycles.load().close()
        differing = [
            each.name
            for each in fields(fresh)
            if each.name != "computed" and not alike(getattr(fresh, each.name), getattr(kept, each.name))
        ]
        assert not differing and fresh.computed.notes == kept.computed.notes


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("spoil", "name"),
    [
        *((flip, "study.nc"), (Path.unlink, "study.nc"), (flip, "study.kept"), (flip, "study.html")),
        *((Path.unlink, "study.html"), (flip, "comparisons.csv"), (Path.unlink, "values.csv")),
    ],
)
def test_a_missing_or_damaged_file_is_made_anew(place, name, spoil):
    before = states(place)
    spoil(place / "results" / name)
    again(place)
    after = states(place)
    assert after.keys() == before.keys() and after[name][0] != before[name][0]
    if name not in ("study.nc", "study.kept", "study.html"):  # which state dates and hashes of one another
        assert after[name][1] == before[name][1]
    again(place)
    assert states(place) == after


def title(place: Path, monkeypatch) -> None:
    path = place / "study.toml"
    path.write_text(path.read_text(encoding="utf-8") + "# a remark\n", encoding="utf-8")


def version(place: Path, monkeypatch) -> None:
    monkeypatch.setattr(analysis, "__version__", "another")


def package(place: Path, monkeypatch) -> None:
    """As where the package of the tests is installed between two calls: a kept result would lack the tests."""
    of = analysis.version_of
    monkeypatch.setattr(analysis, "version_of", lambda name: of(name) + " later" * (name == "scipy"))


def cycles(place: Path, monkeypatch) -> None:
    path = place / "results" / "trials" / "S01_free_1" / "cycles.nc"
    with xr.open_dataset(path) as stored:
        changed = stored.load()
    changed["joint_moment"] = changed["joint_moment"] * np.float32(1.5)
    changed.to_netcdf(path)


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


class Pair(NamedTuple):
    """A type that the file of a result does not know."""

    first: int


def test_a_result_with_an_unknown_type_is_not_kept(place):
    found = replace(
        ms.studies.run_study(place / "study.toml", place / "results", jobs=1), left_out={"S01": Pair(1)}
    )
    with pytest.raises(TypeError, match="Pair"):
        analysis.kept_content(found, ())


def trial(place: Path, monkeypatch) -> None:
    path = next((place / "S02" / "free").glob("*_id.sto"))
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")


@pytest.mark.parametrize("change", [title, version, package, cycles, trial])
def test_any_change_makes_the_analysis_and_the_page_anew(place, change, monkeypatch):
    before = states(place)
    change(place, monkeypatch)
    again(place)
    after = states(place)
    assert all(after[name][0] != before[name][0] for name in MADE)
    again(place)
    assert states(place) == after


def test_a_page_is_drawn_anew_with_other_settings_of_matplotlib(place, monkeypatch):
    before = states(place)
    monkeypatch.setitem(mpl.rcParams, "lines.linewidth", 3.0)
    again(place)
    after = states(place)
    assert [name for name in before if after[name] != before[name]] == ["study.html"]
    again(place)
    assert states(place) == after


def test_a_study_that_was_read_is_analyzed_without_its_file(place):
    study = ms.studies.read_study(place / "study.toml")
    (place / "study.toml").unlink()
    assert ms.studies.run_study(study, place / "results", jobs=1).groups is not None


def test_figures_and_formats_are_made_as_they_are_asked_for(place):
    again(place, figures=True)
    drawn = states(place)
    figures = sorted(drawn.keys() - set(MADE))
    assert figures and all(name.startswith("group_") for name in figures)
    again(place, figures=True)
    assert states(place) == drawn
    flip(place / "results" / figures[0])
    again(place, figures=True)
    assert states(place)[figures[0]][1] == drawn[figures[0]][1]
    again(place)
    assert states(place).keys() == set(MADE)
    again(place, values_format="parquet")
    assert {"values.parquet"} == states(place).keys() - set(MADE)

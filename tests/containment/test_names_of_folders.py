"""Results of a trial stay inside of the output, whatever the trial file is called."""

from __future__ import annotations

import sys
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from many_trials import write_stride
from thorough import examples

from musclesolve._util.written_files import MOST_FOLDER_BYTES, safe
from musclesolve.errors import InputError
from musclesolve.studies.many_trials import run_many as run
from musclesolve.studies.many_trials.trial_record import CSV, Outcome

ODD = [
    *(
        "...toml",
        "..toml",
        "....toml",
        ".toml",
        " .toml",
        ". .toml",
        "walk..toml",
        "walk .toml",
        ".hidden.toml",
    ),
    *(
        "a\\b.toml",
        "..\\..\\b.toml",
        "c:d.toml",
        "a\nb.toml",
        "a\tb;c,d.toml",
        'q"*?<>|.toml',
        "nul.toml",
        "COM1.x.toml",
    ),
    *(
        "trials.csv.toml",
        "TRIALS.CSV.toml",
        "average.toml",
        ".musclesolve-lock.toml",
        "ü" * 125,
        "w\udcff.toml",
    ),
]


def well_behaved(name: str) -> bool:
    """Whether a name is that of a visible file in the folder that it is put into, on every system."""
    windows = PureWindowsPath("c:/out", name)
    return (
        Path("/out", name).parent == Path("/out")
        and name not in ("", ".", "..")
        and windows.parent == PureWindowsPath("c:/out")
        and not windows.is_reserved()
        and name == name.strip(". ")
        and name.isprintable()
        and len(name.encode("utf-8")) <= MOST_FOLDER_BYTES + 9
    )


@pytest.mark.parametrize("file", ODD)
def test_the_folder_of_an_oddly_named_trial_is_in_the_output(file):
    (name,) = run.folder_names([Path("/study", file)])
    assert well_behaved(name)
    assert name.casefold() not in run.TAKEN


@settings(max_examples=examples(100))
@given(
    st.lists(
        st.text(min_size=1, max_size=12).filter(lambda text: "/" not in text),
        min_size=1,
        max_size=4,
        unique=True,
    )
)
def test_names_are_well_behaved_and_differ_or_it_is_said(stems):
    try:
        names = run.folder_names([Path("/a/b", f"{stem}.toml") for stem in stems])
    except InputError as refusal:
        assert "name" in str(refusal)
    else:
        assert len({name.casefold() for name in names}) == len(stems)
        assert all("/" not in name and name not in (".", "..") for name in names)


def test_long_names_that_begin_alike_differ():
    names = {safe("s" * 240 + str(k)) for k in range(10)}
    assert len(names) == 10
    assert all(well_behaved(name) for name in names)


def test_ordinary_names_are_kept():
    for name in ("walk", "S01 fast (2)", "müller_3.1", "проба", "歩行", "a-b+c=d"):
        assert safe(name) == name


@pytest.mark.skipif(sys.platform == "win32", reason="such names do not exist there")
def test_nothing_is_written_beside_the_output(tmp_path, monkeypatch):
    """The records of the trials are made up; the files that are left for them are real."""
    trials = [
        write_stride(tmp_path / "study", Path(file).stem)
        for file in ODD
        if file.isascii() and file not in (".toml", "TRIALS.CSV.toml")
    ]

    def refused(todo, workers, report):
        yield from (job.record(Outcome.REFUSED, "no") for job in todo)

    monkeypatch.setattr(run, "_compute_here", refused)
    before = {path.name for path in (tmp_path / "study").iterdir()}
    records = run.run_many(trials, tmp_path / "deep" / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"study", "deep"}
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"out"}
    assert {path.name for path in (tmp_path / "study").iterdir()} == before
    folders = {path.name for path in (tmp_path / "deep" / "out").iterdir()}
    assert folders == {CSV} | {record.name for record in records}
    assert len(records) == len(trials)


def test_a_file_that_is_called_like_the_table_is_not_replaced(tmp_path):
    trial = write_stride(tmp_path)
    (tmp_path / CSV).write_text("time,force_x\n0,1\n")
    with pytest.raises(InputError, match=CSV):
        run.run_many([trial], tmp_path)
    assert (tmp_path / CSV).read_text() == "time,force_x\n0,1\n"

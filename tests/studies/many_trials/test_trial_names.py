"""Names of trials select the meant ones, and no two trials share a folder."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from thorough import examples

from musclesolve.errors import InputError
from musclesolve.studies.many_trials.run_many import find_trials, folder_names

PART = st.text("abAB-", min_size=1, max_size=2)


def test_names_are_stems_and_with_folders_where_stems_repeat():
    paths = [Path("/s/anna/walk.toml"), Path("/s/bob/walk.toml"), Path("/s/bob/run.toml")]
    assert folder_names(paths) == ["anna-walk", "bob-walk", "run"]
    deep = [Path("/x/a/t.toml"), Path("/y/a/t.toml"), Path("/y/T.toml")]
    assert folder_names(deep) == ["x-a-t", "y-a-t", "y-T"]


@settings(max_examples=examples(200))
@given(st.lists(st.lists(PART, min_size=1, max_size=3), unique_by=tuple, min_size=1, max_size=6))
def test_names_differ_whatever_the_paths_or_are_refused(parts):
    paths = [Path("/", *each[:-1], f"{each[-1]}.toml") for each in parts]
    try:
        names = folder_names(paths)
    except InputError as refusal:
        assert "same name" in str(refusal)
        folded = [str(path).replace("-", "").replace("/", "").casefold() for path in paths]
        assert len(set(folded)) < len(folded)
    else:
        assert len({name.casefold() for name in names}) == len(paths)
        assert all("/" not in name for name in names)


def test_a_folder_means_the_trials_in_it(tmp_path):
    (tmp_path / "b.toml").write_text("[files]\n")
    (tmp_path / "a.toml").write_text("[files]\nmarkers = 'x.trc'\n")
    (tmp_path / "cameras.toml").write_text("[recording]\n")
    (tmp_path / "broken.toml").write_text("[files\n")
    (tmp_path / "notes.txt").touch()
    found = find_trials([tmp_path / "b.toml", tmp_path, tmp_path / "absent.toml"])
    assert [path.name for path in found] == ["b.toml", "a.toml", "broken.toml", "absent.toml"]


def test_folders_without_trials_and_folders_that_cannot_be_read_are_refused(tmp_path, monkeypatch):
    with refused("missing_file", str(tmp_path)):
        find_trials([tmp_path])
    with refused("missing_argument"):
        find_trials([])

    def forbidden(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", forbidden)
    with refused("unreadable_file", "Permission denied"):
        find_trials([tmp_path])

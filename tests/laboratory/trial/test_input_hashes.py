"""The hashes of a trial are those of what was read, whatever happens to its files meanwhile."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from pathlib import Path

import pytest
from many_trials import write_stride

import musclesolve as ms
from musclesolve import read_result
from musclesolve.errors import InputError
from musclesolve.laboratory.trial import trial_file
from musclesolve.studies.many_trials import one_trial


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_files_that_change_during_the_run_are_named_and_their_hashes_are_of_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, prepare = write_stride(tmp_path / "in"), one_trial.prepare
    forces = path.with_name("forces.mot")
    before = {each: each.read_bytes() for each in (path, forces)}

    def edited_meanwhile(*arguments, **options):
        for each in before:
            each.write_bytes(before[each] + b"\n")
        return prepare(*arguments, **options)

    monkeypatch.setattr(one_trial, "prepare", edited_meanwhile)
    job = one_trial.Job("trial", path, tmp_path / "out", {"side": "r"}, figures=False)
    assert one_trial.attempt(job).outcome == "computed"
    attrs = read_result(job.folder / "result.nc").attrs
    for each, content in before.items():
        assert any(line.endswith(f" {each.name} sha256:{digest(content)}") for line in attrs["inputs"])
        assert digest(content) in attrs["recipe"]
        assert any(note.startswith(f"{each.name} was changed") for note in attrs["warnings"])
    assert "walk.trc was changed" not in str(attrs["warnings"])
    # what is there now has not been analyzed
    monkeypatch.setattr(one_trial, "prepare", prepare)
    assert one_trial.attempt(job).outcome == "computed"
    again = read_result(job.folder / "result.nc").attrs
    assert "was changed" not in str([again["notes"], again.get("warnings")])
    assert one_trial.attempt(job).outcome == "unchanged"


def test_a_recording_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, checked = write_stride(tmp_path), trial_file.check_trial

    def written_meanwhile(*arguments) -> None:
        with path.with_name("walk.trc").open("ab") as file:
            file.write(b"\n")
        checked(*arguments)

    monkeypatch.setattr(trial_file, "check_trial", written_meanwhile)
    with pytest.raises(InputError, match=r"walk\.trc.*changed while it was read") as refused:
        ms.read_trial(path)
    assert refused.value.code == "file_changed"
    monkeypatch.undo()
    ms.read_trial(path)


def test_the_hash_of_a_trial_file_is_of_its_text_even_where_it_is_edited_before_its_recordings_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, read = write_stride(tmp_path), trial_file.read_markers
    before = path.read_bytes()

    def edited_meanwhile(file: Path):
        path.write_bytes(before + b"# more\n")
        return read(file)

    monkeypatch.setattr(trial_file, "read_markers", edited_meanwhile)
    assert ms.read_trial(path).hashes["trial"] == digest(before)


def test_a_run_opens_every_input_once_and_its_hashes_are_of_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened, at = write_stride(tmp_path), Counter[str](), os.open
    monkeypatch.setattr(os, "open", lambda file, *how: opened.update([Path(file).name]) or at(file, *how))
    inputs = ms.run(path, side="r").attrs["inputs"]
    files = [line.split()[1] for line in inputs]
    assert {name: opened[name] for name in files} == dict.fromkeys(
        ["trial.toml", "walk.trc", "static.trc", "forces.mot"], 1
    )
    for line in inputs:
        _, name, sha = line.split()
        assert sha == f"sha256:{digest((tmp_path / name).read_bytes())}"

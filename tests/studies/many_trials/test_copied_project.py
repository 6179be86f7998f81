"""A project that was copied or moved as a whole has its own trial file, and is computed again where it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from many_trials import write_stride

from musclesolve import read_result
from musclesolve.laboratory.report.inputs import analyzed_trial, recording_state
from musclesolve.studies.many_trials.one_trial import Job, attempt


def job(project: Path) -> Job:
    return Job("trial", project / "trial.toml", project / "out" / "walk", {"side": "r"}, figures=False)


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("projects") / "walk"
    write_stride(project)
    assert attempt(job(project)).outcome == "computed"
    return project


def test_a_copy_is_checked_against_its_own_trial_file_and_computed_again(computed: Path) -> None:
    copy = computed.with_name("copy")
    shutil.copytree(computed, copy)
    trial, result = copy / "trial.toml", copy / "out" / "walk" / "result.nc"
    assert analyzed_trial(read_result(result)) == trial.resolve()
    assert recording_state(read_result(result)) == ""
    assert attempt(job(copy)).outcome == "unchanged"
    trial.write_bytes(trial.read_bytes().replace(b"mass_kg = 70.25", b"mass_kg = 70.30"))
    changed = recording_state(read_result(result))
    assert isinstance(changed, str) and "has changed" in changed and str(trial.resolve()) in changed
    again = attempt(job(copy))
    assert again.outcome == "computed", again.message
    assert recording_state(read_result(result)) == ""
    # the original is as it was
    assert attempt(job(computed)).outcome == "unchanged"


def test_a_project_that_moved_is_at_hand(computed: Path) -> None:
    before, moved = computed.with_name("before"), computed.with_name("moved")
    shutil.copytree(computed, before)
    before.rename(moved)
    assert (
        analyzed_trial(read_result(moved / "out" / "walk" / "result.nc")) == (moved / "trial.toml").resolve()
    )
    assert attempt(job(moved)).outcome == "unchanged"


def test_a_result_that_moved_alone_has_the_trial_file_where_it_was(computed: Path, tmp_path: Path) -> None:
    alone = shutil.copy(computed / "out" / "walk" / "result.nc", tmp_path / "result.nc")
    assert analyzed_trial(read_result(alone)) == (computed / "trial.toml").resolve()
    other = Job("other", write_stride(tmp_path / "other"), tmp_path, {"side": "r"}, figures=False)
    refused = attempt(other)
    assert refused.outcome == "refused" and "another trial" in refused.message

"""The recorded walk: its files alone give what the trial file gives that was written by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from drafted_folders import drafted, table

from musclesolve import read_trial
from musclesolve.dynamics import projected_moments
from musclesolve.laboratory import Trial
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.laboratory.forces import mechanics

MASS = 85.07


@pytest.fixture(scope="module")
def folder(recorded_walk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = tmp_path_factory.mktemp("walk")
    for name in ("walk.trc", "static.trc", "walk_grf.mot", "emg.sto"):
        shutil.copyfile(recorded_walk / name, own / name)
    return own


def test_all_but_stature_and_sex_is_found(folder: Path) -> None:
    draft = draft_folder(folder)
    assert table(draft, "subject")["mass_kg"] == pytest.approx(MASS, rel=0.01)
    assert table(draft, "markers") == {"set": "rajagopal"}
    assert table(draft, "laboratory") == {"forward": "+x", "up": "+y"}
    feet = [table(draft, "force", k)["side"] for k in range(2)]
    assert feet == ["r", "l"]
    assert len(draft.trials[0].todos) == 5  # the mass to confirm, stature, sex, shoes, side of the EMG


def moments(trial: Trial) -> tuple[np.ndarray, np.ndarray]:
    found = mechanics(trial)
    every = projected_moments(found.model, found.motion, found.wrenches)[:, :-6]
    return np.round(found.motion.time, 6), every


def test_moments_and_channels_are_those_of_the_file_written_by_hand(
    folder: Path, default_walk_trial: Trial
) -> None:
    path = drafted(folder, mass_kg=MASS, stature_m=1.83, sex="male")
    path.write_text(path.read_text().replace("# shoe_mass_kg = 0.3", "shoe_mass_kg = 0.35"))
    trial = read_trial(path)
    (time, ours), (other, theirs) = moments(trial), moments(default_walk_trial)
    _, i, j = np.intersect1d(time, other, return_indices=True)
    assert i.size == other.size == 136
    # The range is found, wider than the one by hand, and trunk and arms are measured over it.
    assert np.abs(ours[i] - theirs[j]).max() < 0.5
    assert trial.emg.muscles == default_walk_trial.emg.muscles
    assert trial.emg.names == default_walk_trial.emg.names

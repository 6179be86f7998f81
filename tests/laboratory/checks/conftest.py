"""The recorded walk as most checks need it: without EMG, whose filters take a fifth of an examination."""

from __future__ import annotations

from pathlib import Path

import pytest

from musclesolve import read_trial
from musclesolve.laboratory import Trial


@pytest.fixture(scope="session")
def recorded_walk_trial(recorded_walk_trial: Trial, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """The recorded walk without EMG."""
    text = recorded_walk_trial.path.read_text(encoding="utf-8")
    file = tmp_path_factory.mktemp("without_emg") / "rajagopal_walk.toml"
    file.write_text(text[: text.index("# Surface EMG")], encoding="utf-8")
    return read_trial(file)


@pytest.fixture(scope="session")
def walk_with_emg(recorded_walk_text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trial file of the recorded walk with EMG, with the defaults for muscles and cost."""
    file = tmp_path_factory.mktemp("with_emg") / "rajagopal_walk.toml"
    file.write_text(recorded_walk_text, encoding="utf-8")
    return file

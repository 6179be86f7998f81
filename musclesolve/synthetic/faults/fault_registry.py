"""Faults of measurement, each planted into the files of a copy of a trial."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from musclesolve._util.names import unknown_name
from musclesolve.synthetic.faults import emg_faults, force_faults, marker_faults, trial_faults
from musclesolve.synthetic.faults.trial_copy import Fault, open_copy, registered, write_copy


def faults() -> dict[str, Fault]:
    """Return every fault by its name."""
    return {
        name: fault
        for module in (force_faults, marker_faults, emg_faults, trial_faults)
        for name, fault in registered(module.__name__).items()
    }


def plant(name: str, trial_path: str | Path, folder: str | Path) -> Path:
    """Copy a trial into a folder with one fault planted, as `plant_all`; returns the trial file of the copy."""
    return plant_all([name], trial_path, folder)


def plant_all(names: Iterable[str], trial_path: str | Path, folder: str | Path) -> Path:
    """Copy a trial (TRC and MOT) into a folder with faults planted in order, those of the written text last.

    All go into one copy, so that a fault that makes a file unreadable does not prevent the others. Returns the trial
    file of the copy. An unknown name of a fault and a trial that cannot be read are an InputError.
    """
    known, chosen = faults(), list(names)
    for name in chosen:
        if name not in known:
            raise unknown_name(name, "fault", known)
    copy = open_copy(Path(trial_path))
    for name in chosen:
        known[name].spoil(copy)
    return write_copy(copy, Path(folder))

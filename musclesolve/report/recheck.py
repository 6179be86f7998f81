"""The checks of a recording again, where it is still what a result was computed from."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from musclesolve.checking.check import check
from musclesolve.checking.finding import Report
from musclesolve.errors import InputError
from musclesolve.recording.text.text_file import sha256
from musclesolve.recording.trial.trial_file import read_trial
from musclesolve.results.dataset.attributes import listed, text
from musclesolve.results.dataset.checked import MODEL


def recheck(result: xr.Dataset) -> Report | str:
    """What `check` finds in the recording of a result, or why this is not known, in a sentence."""
    if MODEL in result.attrs:
        return "These forces were shared on an OpenSim model; there is no trial file that could be checked."
    name = text(result, "trial_file")
    if not name:
        return "The result does not name the trial file that it was computed from."
    if not listed(result, "inputs"):
        return (
            "The result holds no hashes of its files: whether the recording is still the same is not known."
        )
    path = Path(name)
    if not path.is_file():
        return (
            f"The recording is not at hand: {path} does not exist here. Run `musclesolve check` where it is."
        )
    try:
        changed = _changed(result, path)
    except (InputError, OSError) as fault:
        first = str(fault).partition("\n")[0]
        return f"The recording is not at hand any more as it was analysed: {first}"
    if changed:
        names = ", ".join(changed)
        return f"The recording has changed since it was analysed ({names}): findings of today are not of this result."
    return check(path)


def _changed(result: xr.Dataset, path: Path) -> list[str]:
    """The files of a trial that are not those of the result."""
    before = {}
    for line in listed(result, "inputs"):
        role, _, rest = line.partition(" ")
        before[role] = rest.rpartition("sha256:")[2]
    if "trial" in before and before["trial"] != sha256(path):
        return [path.name]
    files = read_trial(path).files
    missing = [role for role in before if role not in files]
    return missing + [
        file.name for role, file in files.items() if role in before and before[role] != sha256(file)
    ]

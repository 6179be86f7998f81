"""The recording of a result: its trial file, and whether it has changed since the analysis."""

import tomllib
from pathlib import Path

import xarray as xr

from musclesolve.recording.text.text_file import hash_of
from musclesolve.results.dataset.checked import MODEL
from musclesolve.results.dataset.result_quantities import inputs_of
from musclesolve.results.files.result_netcdf import trial_path


class Changed(str):
    """A sentence: the recording of a result is not the one that was analyzed."""

    __slots__ = ()


def recording_state(result: xr.Dataset) -> str:
    """A sentence if the recording of a result has changed since the analysis (`Changed`) or is missing; else ""."""
    path = analyzed_trial(result)
    if MODEL in result.attrs and (path is None or path.suffix != ".toml"):
        return ""  # the files were given to `share`
    if path is None:
        return "The result does not name the trial file that it was computed from."
    files = inputs_of(result)
    if not files:
        return (
            "The result holds no hashes of its files: whether the recording is still the same is not known."
        )
    if not path.is_file():
        return (
            f"The recording is not at hand to see whether it is still the same: {path} does not exist here."
        )
    folder = path.resolve().parent
    trial = [sha for role, _, sha in files if role == "trial"]
    if trial and hash_of(path) != trial[0] and not _same_settings(result, path):  # it may name other files
        changed = [path.name]
    elif absent := [name for _, name, _ in files if not (folder / name).is_file()]:
        return (
            f"The recording of {path} is not at hand any more as it was analyzed: {absent[0]} does not exist"
        )
    else:
        changed = [name for role, name, sha in files if role != "trial" and hash_of(folder / name) != sha]
    if changed:
        what = f"The recording of {path} has changed since it was analyzed ({', '.join(changed)})"
        return Changed(f"{what}: this result is of what it was before.")
    return ""


def _same_settings(result: xr.Dataset, path: Path) -> bool:
    """Whether a trial file differs from the one of a result in comments or [questions] alone."""
    from musclesolve.studies.many_trials.trial_record import ATTRIBUTE, has_settings

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return has_settings(result.attrs.get(ATTRIBUTE, ""), content)


def analyzed_trial(result: xr.Dataset) -> Path | None:
    """The trial file of a result, looked for from the folder of the file that the result was read from."""
    source = result.encoding.get("source")
    return trial_path(result.attrs, Path(source).parent if source else None)

"""A trial that is refused names the cause that `check` finds, not its first consequence."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from musclesolve.errors import InputError, PoseError
from musclesolve.laboratory.checks.check import all_checks, examined_file
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.recording.trial_settings import is_model_trial
from musclesolve.laboratory.results.finding import sorted_findings
from musclesolve.tables.text_file import is_file, toml_content


@contextmanager
def causes_named(trial: AnyTrial | str | Path) -> Iterator[None]:
    """Replace the refusal of a trial file by the error that `check` reports first, where they differ.

    The code of the refusal stays. Refusals of settings, and of arguments, which name no file, stay as they are.
    """
    try:
        yield
    except (InputError, PoseError) as refusal:
        path = Path(trial) if isinstance(trial, str | Path) else Path()
        if getattr(refusal, "file", path) is None or not is_file(path):
            raise
        findings = [] if is_model_trial(toml_content(path)) else examined_file(path, all_checks())
        first = next(iter(sorted_findings(findings)), None)  # an error if there is one
        reason, code = getattr(refusal, "problem", str(refusal)), getattr(refusal, "code", "bad_input")
        if first is None or first.severity != "error" or first.what.startswith(reason):
            raise
        if first.code == "trial_file" or (isinstance(refusal, PoseError) and first.code == "pose"):
            raise  # a setting; or the refusal holds frames and points
        file, where = first.where.file, str(replace(first.where, file=None)) or None
        raise InputError(first.what, code=code, file=file, where=where, remedy=first.remedy) from refusal

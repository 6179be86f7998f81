"""The faults while reading a trial: the first one is raised, or all are collected with their stage."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ParamSpec, TypeVar

from musclesolve.errors import file_error
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.text.opensim_text import read_repaired

Rows = TypeVar("Rows", Markers, Table)
Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")


@dataclass
class Faults:
    """Faults from every stage of reading.

    collects: whether reading continues with a substitute for a part at fault; otherwise the first fault is raised.

    found: stage, such as "mapping" or "time range", and error of every fault, in the order of reading; without
    `collects` only wrong counts of rows, which never stop reading.
    """

    collects: bool = False
    found: list[tuple[str, Exception]] = field(default_factory=list)

    def add(self, stage: str, *errors: Exception) -> None:
        """Note the errors of a stage; raise the first one unless they are collected."""
        for error in errors:
            if not self.collects:
                raise error
            self.found.append((stage, error))

    def attempt(
        self,
        stage: str,
        instead: Value,
        read: Callable[Arguments, Value],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> Value:
        """Return the result of a reader, or `instead` after an error that is collected."""
        try:
            return read(*arguments, **options)
        except Exception as error:
            self.add(stage, error)
        return instead

    def rows(self, path: Path, reader: Callable[[Path], Rows]) -> Rows | None:
        """Read a recording. If faults are collected, a faulty text is repaired in a copy; None if no repair helps."""
        recorded = read_repaired(path, reader, self.add) if self.collects else reader(path)
        if recorded is None or not recorded.row_warning:
            return recorded
        count = "NumFrames" if isinstance(recorded, Markers) else "nRows"
        warning = file_error(
            "bad_format",
            path,
            recorded.row_warning.rstrip("."),
            remedy=f"export the file again; or correct {count} in its header, if the rows are all there",
        )
        self.found.append(("row count", warning))
        return replace(recorded, row_warning="") if self.collects else recorded

"""Are the ground reactions predicted?"""

from __future__ import annotations

from collections.abc import Iterator

from musclesolve.checking.case import Case
from musclesolve.checking.stages import Stage, check_at
from musclesolve.results.finding import Finding, finding


@check_at(Stage.ANALYSIS)
def predicted_forces(case: Case) -> Iterator[Finding]:
    """Warn of forces that no plate measured."""
    if case.settings.files.predicted:
        yield finding("predicted_forces", "warning", {}, case.key("files", "forces"))

"""Were fascicle lengths measured during the analysed motion?"""

from __future__ import annotations

from collections.abc import Iterator

from musclesolve.checking.case import Case, contained
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.recording.trial.fascicle_lengths import check_fascicle_overlap
from musclesolve.results.finding import Finding


@asked_at(Stage.ANALYSIS)
def fascicle_overlap(case: Case) -> Iterator[Finding]:
    """Find fascicle lengths that were measured at no time of the analysed range."""
    fascicles = case.trial.fascicles
    if fascicles is None:
        return
    refused: list[Finding] = []
    with contained(refused, "check of the fascicle lengths", case, "fascicle"):
        check_fascicle_overlap(case.document, fascicles, *case.trial.time_range)
    yield from refused

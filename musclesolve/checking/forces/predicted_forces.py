"""Are the ground reactions predicted?"""

from collections.abc import Iterator

from musclesolve._util.message_text import count_of
from musclesolve.checking.case import Case
from musclesolve.checking.stages import Stage, check_at
from musclesolve.recording.data import SIDE_NAMES, SIDES
from musclesolve.results.finding import Finding, finding


@check_at(Stage.ANALYSIS)
def predicted_forces(case: Case) -> Iterator[Finding]:
    """Warn of forces that no plate measured."""
    if case.settings.files.predicted:
        yield finding("predicted_forces", "warning", {}, case.key("files", "forces"))
        return
    start, end = case.trial.time_range
    spans = {
        side: [
            (max(first, start), min(last, end))
            for first, last in (case.trial.predicted_spans or {}).get(side, ())
            if first < end and last > start
        ]
        for side in SIDES
    }
    if any(spans.values()):
        steps = " and ".join(
            f"{count_of(len(of_side), 'step')} of the {SIDE_NAMES[side]} foot "
            f"({', '.join(f'{first:.2f} to {last:.2f} s' for first, last in of_side)})"
            for side, of_side in spans.items()
            if of_side
        )
        values = {"steps": steps}
        yield finding("predicted_forces.steps", "warning", values, case.key("plates", "unmeasured_steps"))

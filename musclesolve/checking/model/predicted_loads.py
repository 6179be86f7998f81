"""Can the feet of a model carry what its motion requires, where ground reactions are predicted?"""

from collections.abc import Iterator

from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.results.finding import Finding, Where, finding


def predicted_loads(body: ModelBody) -> Iterator[Finding]:
    """Warn of loads that no plate measured, and of frames in which they do not carry the body."""
    place = Where(body.motion.file)
    if body.trial is not None:
        place = Where(body.trial.path, body.trial.document.line("files", "loads"), "[files] loads")
    yield finding("predicted_forces.model", "warning", {}, place)
    dynamics = body.dynamics
    if dynamics is not None and dynamics.balance_limit is not None:
        for each in dynamics.support.warnings:
            place = Where(body.motion.file, times=each.times)
            yield Finding(each.code, "warning", each.what, each.remedy, place)

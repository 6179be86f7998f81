"""Samples of the errors of an analysis, before they are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from musclesolve.laboratory.bodies.measured_body import MeasuredModel
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.studies.uncertainty.model_replay import ModelReplay
from musclesolve.studies.uncertainty.recorded_replay import RecordedReplay
from musclesolve.studies.uncertainty.replay import sources, standard_deviations

NO_ERRORS = {source.key: 0.0 for source in sources().values()}
"""Every source of error, switched off."""


def replay_of(
    body: RecordedBody | MeasuredModel,
    errors: Mapping[str, float] | None = None,
    stated: Mapping[str, float] | None = None,
) -> RecordedReplay | ModelReplay:
    """The replay of a body with the usual errors, with the errors that a trial file states, or with other errors."""
    kind = ModelReplay if isinstance(body, MeasuredModel) else RecordedReplay
    return kind.from_body(body, standard_deviations(stated or {}, errors))


def keys_of(names: Iterable[str]) -> set[str]:
    """The keys of a trial file that state some sources of error."""
    return {sources()[name].key for name in names}

"""Bodies of the laboratory: the body that shares its moments, its measured EMG and fascicles, and its trial file."""

from dataclasses import dataclass, fields
from typing import Protocol, Self, TypeAlias

from musclesolve.laboratory.bodies.measured_activation import MeasuredActivation, MeasuredFascicles
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.recording.trial_settings import ModelSettings
from musclesolve.laboratory.trial.trial_file import ModelTrial
from musclesolve.models.body import Analysis, Body
from musclesolve.models.opensim.model_body import ModelBody


class MeasuredBody(Body, Protocol):
    """A body with its measurements.

    emg: envelopes, where EMG was recorded; fascicles: their lengths, where they were measured; trial: None of a body
    that no trial file describes.
    """

    @property
    def emg(self) -> MeasuredActivation | None: ...  # noqa: D102
    @property
    def fascicles(self) -> MeasuredFascicles | None: ...  # noqa: D102
    @property
    def trial(self) -> AnyTrial | None: ...  # noqa: D102


MeasuredAnalysis: TypeAlias = Analysis[MeasuredBody]
"""A body with its measurements, and the muscle forces of its parts."""


@dataclass(frozen=True, eq=False)
class MeasuredModel(ModelBody):
    """An OpenSim model along its coordinates with its measurements; see `MeasuredBody`."""

    settings: ModelSettings
    emg: MeasuredActivation | None = None
    fascicles: MeasuredFascicles | None = None
    trial: ModelTrial | None = None

    @classmethod
    def from_body(cls, body: ModelBody, settings: ModelSettings, trial: ModelTrial | None = None) -> Self:
        """The body of a model, with the settings of which it was made, and its trial file."""
        known = {part.name: getattr(body, part.name) for part in fields(body)}
        return cls(**(known | {"settings": settings, "trial": trial}))

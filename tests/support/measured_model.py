"""The moving body of an OpenSim model in the laboratory, before its forces are shared."""

from __future__ import annotations

from typing import Any

from musclesolve.laboratory.bodies.measured_body import MeasuredModel
from musclesolve.laboratory.recording.trial_settings import ModelSettings
from musclesolve.models.opensim.assemble_body import model_body
from musclesolve.models.opensim.model_settings import stated_settings


def measured_model(model: Any, coordinates: Any, moments: Any = None, **choices: Any) -> MeasuredModel:
    """The body that `ms.share_model` assembles from the same arguments; without moments, the body under loads."""
    settings = stated_settings(ModelSettings, **choices)
    return MeasuredModel.from_body(model_body(model, coordinates, moments, settings), settings)

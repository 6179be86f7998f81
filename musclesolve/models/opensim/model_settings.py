"""Settings of an OpenSim model from keywords, and the values that no model can have."""

from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from musclesolve._util.checks import check_choice
from musclesolve._util.messages import check_keywords
from musclesolve.errors import input_error
from musclesolve.models.settings import REDUCED, OpenSimSettings, model_arguments, replaces_file
from musclesolve.muscles.strength import check_tendon
from musclesolve.tables.document import check_value
from musclesolve.tables.settings import tables_of
from musclesolve.tables.text_file import file_path

Stated = TypeVar("Stated", bound=OpenSimSettings)


def model_settings(loads: str | Path | None = None, **choices: Any) -> OpenSimSettings:
    """Return the settings that keywords of `opensim_problem` state; see there, and `stated_settings`."""
    return stated_settings(OpenSimSettings, loads, **choices)


def stated_settings(kind: type[Stated], loads: str | Path | None = None, **choices: Any) -> Stated:
    """Return the settings, of a class that may have further tables and keys, that keywords state.

    Raises:
        TypeError: there is no such keyword.
        InputError: a value that no model can have.
    """
    if loads is not None:
        file_path(loads)
    arguments, tables = model_arguments(kind), dict[str, dict[str, Any]](files={"loads": loads})
    check_keywords(choices, (*arguments, "cost", "solver", "side"), "opensim_problem() or share_model()")
    for name, value in choices.items():
        table, key = arguments[name]
        tables.setdefault(table, {})[key] = value
    settings = kind().changed(**tables)
    check_model_settings(settings)
    return settings


def check_model_settings(settings: OpenSimSettings) -> None:
    """Refuse settings that no model can have."""
    muscles, feet, loads = settings.muscles, settings.plates.feet, settings.files.loads
    tables = tables_of(type(settings))
    for name, (table, key) in model_arguments(type(settings)).items():
        setting, value = tables[table].settings[key], settings[table][key]
        if value is None:
            continue
        if setting.kind == "text" and setting.choices:
            check_choice(value, name, setting.choices)
        elif setting.kind in ("number", "whole", "truth"):
            check_value(value, setting, name)
        elif setting.kind == "ranges" and len(value):
            check_value(np.asarray(value, dtype=object).tolist(), setting, name)
    if settings.consistency.residual == REDUCED and (loads is None or replaces_file(loads)):
        raise input_error("dynamics.residual_of_predicted_forces", where="residual")
    if feet != "stated" and loads is None:
        fault = f"without loads there are no feet to be found: feet = {feet!r}"
        expected = "feet with loads, which are assigned to them"
        remedy = "give loads instead of moments, or leave it out"
        raise input_error("conflict", where="feet", problem=fault, expected=expected, remedy=remedy)
    check_tendon(muscles.tendon, muscles.tendon_strain)

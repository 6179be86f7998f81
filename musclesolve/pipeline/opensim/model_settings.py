"""Settings of a model by keyword, and what no model can have."""

from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.checks import check_choice
from musclesolve.errors import input_error
from musclesolve.muscles.strength import check_tendon
from musclesolve.recording.schema import check_value
from musclesolve.recording.text.text_file import file_path
from musclesolve.settings.schema import settings_of, tables_of
from musclesolve.settings.trial import REDUCED, ModelSettings, TimeSettings, share_arguments


def model_settings(loads: str | Path | None = None, **choices: Any) -> ModelSettings:
    """Return the settings that keywords of `opensim_problem` state; see there.

    Raises:
        TypeError: there is no such keyword.
        InputError: a value that no model can have.
    """
    if loads is not None:
        file_path(loads)
    arguments, tables = share_arguments(), dict[str, dict[str, Any]](files={"loads": loads})
    for name, value in choices.items():
        if name not in arguments:
            raise TypeError(
                f"there is no keyword {name!r} of an OpenSim model; known: {', '.join(arguments)}"
            )
        table, key = arguments[name]
        tables.setdefault(table, {})[key] = value
    settings = ModelSettings().changed(**tables)
    check_model_settings(settings)
    return settings


def check_model_settings(settings: ModelSettings) -> None:
    """Refuse settings that no model can have."""
    time, muscles, feet, loads = settings.time, settings.muscles, settings.plates.feet, settings.files.loads
    for name, (table, key) in share_arguments().items():
        setting, value = tables_of(ModelSettings)[table].settings[key], settings[table][key]
        if setting.kind == "text" and setting.choices and value is not None:
            check_choice(value, name, setting.choices)
        elif setting.kind in ("number", "whole", "truth") and value is not None:
            check_value(value, setting, name)
    if time.cycles_s is not None and len(time.cycles_s):
        cycles = np.asarray(time.cycles_s, dtype=object).tolist()
        check_value(cycles, settings_of(TimeSettings)["cycles_s"], "cycles_s")
    if settings.consistency.residual == REDUCED and (loads is None or settings.files.predicted):
        raise input_error("pipeline.residual_of_predicted_forces", where="residual")
    if feet != "stated" and loads is None:
        raise input_error(
            "conflict",
            where="feet",
            problem=f"without loads there are no feet to be found: feet = {feet!r}",
            expected="feet with loads, which are assigned to them",
            remedy="give loads instead of moments, or leave it out",
        )
    check_tendon(muscles.tendon, muscles.tendon_strain)
    if settings.knee.contact_spacing_m is not None and loads is None:
        raise input_error(
            "conflict",
            where="contact_spacing_m",
            problem="without loads there are no contact forces, so that a spacing of the contacts "
            "has no effect",
            expected="a spacing with loads, from which moments and contact forces are computed",
            remedy="give loads instead of moments, or leave it out",
        )

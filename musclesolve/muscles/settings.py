"""Settings of muscles: the table [muscles], files of strength tests and of one person's muscles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import muscle_db
from muscle_db.model import FIBER_LENGTHS
from musclesolve.constants import RIGID, TENDONS
from musclesolve.tables.settings import Settings, same, setting, table


class MuscleSettings(Settings):
    """[muscles]."""

    database: str = setting(
        "name of a muscle database, or path of a file of one (.toml), of an OpenSim model (.osim) or of one"
        " person's muscles (.toml)",
        default=muscle_db.DEFAULT,
    )
    passive: str = setting(
        "passive forces: strains calibrated to measured joint moments, strains of the muscle database, or no force",
        default="none",
        choices=("calibrated", "table", "none"),
    )
    strength: float | str = setting(
        "maximum isometric forces: of the muscle database, from body mass and stature, or a factor on the forces"
        " of the database",
        default="table",
        words=("table", "handsfield_2014"),
        above=0.0,
        maximum=100.0,
    )
    fiber_lengths: str | None = setting(
        "how optimal fiber and tendon slack lengths are scaled to the subject: by the range of "
        "normalized fiber lengths, or by the length of the muscle in standing; the rule of the muscle "
        "database when absent",
        choices=FIBER_LENGTHS,
    )
    tendon: str = setting(
        "whether tendons stretch with their force; elastic tendons need the whole motion at once",
        default=RIGID,
        choices=TENDONS,
    )
    curves: str | None = setting(
        "name of a family of Hill curves; the family of the muscle database when absent"
    )
    tendon_strain: float | Mapping[str, float] | None = setting(
        'strain of elastic tendons at one maximum isometric force: of all, or by muscle, group, "achilles" '
        'or "all"; the strain of the muscle database when absent',
        kind="number_or_weights",
        above=0.0,
        maximum=0.5,
        example="0.06, or { achilles = 0.08 }",
    )


class StrengthTestSettings(Settings):
    """[test]."""

    dof: str = setting(
        "degree of freedom of the body, or coordinate of the model, whose moment was measured", required=True
    )
    moment_N_m: float = setting(
        "measured maximal voluntary moment of the muscles, positive in the direction of the degree of freedom [N m]",
        required=True,
        within=(-2000.0, 2000.0),
    )
    error_N_m: float = setting(
        "standard deviation of that moment [N m]", required=True, above=0.0, maximum=1000.0
    )
    velocity_deg_s: float = setting(
        "rate of the degree of freedom in the test, 0 if isometric [deg/s]",
        default=0.0,
        within=(-1000.0, 1000.0),
    )
    angles_deg: Mapping[str, float] = setting(
        "angle = its value in the test; the others are zero [deg]",
        default={},
        within=(-180.0, 180.0),
        example="{ ankle_dorsiflexion_l = 0.0, knee_flexion_l = 90.0 }",
    )


class StrengthSettings(Settings):
    """A file of strength tests."""

    test: tuple[StrengthTestSettings, ...] = table(StrengthTestSettings, one_per="test", required=True)


class PersonSettings(Settings):
    """[person]."""

    name: str | None = setting("whose muscles these are")
    parent: str = setting(
        "the muscles that the factors refer to: a muscle set by name, or a file of one (.toml) or of an "
        "OpenSim model (.osim)",
        required=True,
    )
    parent_sha256: str | None = setting(
        "SHA-256 of the parent with which the muscles were calibrated, where it is a file"
    )
    trials: tuple[str, ...] | None = setting("trial files that the muscles were calibrated with")
    tendon: str = same(
        MuscleSettings,
        "tendon",
        about="the tendons that the muscles were calibrated with",
        default=None,
        required=True,
    )
    created: str | None = setting("the program that wrote the file")


class ParameterSettings(Settings):
    """[parameter]."""

    name: str = setting("name of the parameter in results", required=True)
    quantity: str = setting(
        "parameter that the factor multiplies",
        required=True,
        choices=("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "tendon_strain"),
    )
    muscles: tuple[str, ...] = setting("the muscles that share the factor, with side", required=True)
    factor: float = setting("factor on the number of the parent", required=True, above=0.0)
    sd: float = setting(
        "standard deviation of the natural logarithm of the factor", required=True, minimum=0.0
    )
    prior_sd: float = setting("the same before any trial was used", required=True, minimum=0.0)
    determined: bool = setting("whether the trials determine the factor", default=True)
    covariance: tuple[float, ...] = setting(
        "covariances of the logarithm of the factor with the logarithms of all factors, in the order of the file",
        required=True,
    )


class PersonFileSettings(Settings):
    """A file of one person's muscles.

    muscles: every number that differs from the parent's: value, parent and sd by quantity and muscle [SI]; emg: fitted
    parameters of the channels; prediction: accuracy of predicted curves that were not used in the calibration.
    """

    person: PersonSettings = table(PersonSettings, required=True)
    parameter: tuple[ParameterSettings, ...] = table(
        ParameterSettings, one_per="fitted parameter", required=True
    )
    muscles: Mapping[str, Any] = table()
    emg: Mapping[str, Any] = table()
    prediction: tuple[Mapping[str, Any], ...] = table(one_per="prediction")

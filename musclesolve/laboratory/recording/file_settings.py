"""The settings of the other files: cameras, strength tests, the muscles of one person, a study of many trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from musclesolve._util.sides import BOTH, SIDES
from musclesolve.laboratory.recording.trial_settings import FileSettings, TimeSettings
from musclesolve.tables.settings import (
    FileTable,
    Setting,
    Settings,
    schema_text,
    setting,
    settings_class,
    settings_of,
    table,
    tables_of,
)


class CameraRecordingSettings(Settings):
    """[recording]."""

    rate_hz: float = setting(
        "frames a second, the same for all cameras [Hz]", required=True, within=(0.1, 100000.0)
    )
    start_s: float = setting("time of frame 0 [s]", default=0.0, within=(-10000000.0, 10000000.0))
    control_points: str = setting(
        "positions of the control points (CSV: name,x_mm,y_mm,z_mm or in cm or m)", required=True
    )
    largest_residual_px: float | None = setting(
        "a marker farther than this from its reprojection in any camera used is left out of that frame [px]",
        above=0.0,
    )


class CameraSettings(Settings):
    """[camera]."""

    name: str = setting("name of the camera in messages", required=True)
    control_points: str = setting(
        "pixels of the control points in this camera (CSV: name,u,v)", required=True
    )
    markers: str = setting(
        "pixels of the markers in this camera (CSV: frame or time, then NAME_u,NAME_v of every marker)",
        required=True,
    )
    offset_frames: float = setting(
        "whole number added to the frames of this camera to get the frames of the recording",
        default=0.0,
        within=(-10000000.0, 10000000.0),
    )


class CameraFileSettings(Settings):
    """A camera file."""

    recording: CameraRecordingSettings = table(CameraRecordingSettings, required=True)
    camera: tuple[CameraSettings, ...] = table(CameraSettings, one_per="camera", required=True)


class DesignSettings(Settings):
    """[design]."""

    groups: tuple[str, ...] | None = setting(
        "groups of subjects in their order; the others are compared with the first"
    )
    conditions: tuple[str, ...] | None = setting(
        "conditions in their order; the others are compared with the first"
    )
    quantities: tuple[str, ...] | None = setting(
        "variables of the result whose mean curves are drawn and compared; angles, moments, the knee adduction "
        "moment, powers, ground, muscle and contact forces when absent"
    )
    outcomes: tuple[str, ...] | None = setting(
        "primary outcomes: curves (joint_moment knee_flexion), values of them (joint_moment knee_flexion max, "
        "... stance max), measures of the cycles (stride_time); everything else is exploratory"
    )
    drawn: tuple[str, ...] | None = setting(
        "groups and conditions that figures show; all of them when absent"
    )
    legs: str = setting(
        "whether both legs are averaged (together) or compared: left with right, affected with sound "
        "(`affected_side` of the subject), inner with outer leg (`inner_leg` of the trial)",
        default="together",
        choices=("together", "right_left", "affected", "inner"),
    )
    level: float = setting(
        "probability of finding any difference where there is none, among the primary outcomes and among the "
        "rest each",
        default=0.05,
        within=(1e-06, 0.5),
    )
    correction: str = setting(
        "whether the level holds for all curves of a family (primary, exploratory) together (bonferroni) or for each "
        "by itself",
        default="bonferroni",
        choices=("bonferroni", "none"),
    )
    covariate: str | None = setting(
        'number of the subjects, such as "age_years" or one of `numbers`, on which mean curves are regressed'
    )


class SubjectLineSettings(Settings):
    """[subject_line]."""

    group: str | None = setting("the group that the subject belongs to")
    numbers: Mapping[str, float] | None = setting(
        "columns numbers.NAME: further numbers of the subject, which may be the covariate"
    )
    affected_side: str | None = setting(
        'which leg is affected, for [design] legs = "affected" and tables of one\'s own',
        choices=(*SIDES, BOTH, "none"),
    )
    keep_subject: str | None = setting(
        "why the subject counts although its curves, compared with the other subjects, cannot be right"
    )


class TrialLineSettings(Settings):
    """[trial_line]."""

    subject: str = setting("whose trial this is", required=True)
    condition: str = setting("under which condition the subject moves", default="")
    session: str = setting("visit or day of the recording", default="")
    side: str = setting("which leg is computed and counts", default=BOTH, choices=(BOTH, *SIDES))
    inner_leg: str | None = setting("the inner leg of a turn", choices=SIDES)
    exclude: str = setting("why the trial is left out; without this it is computed", default="")
    keep: str = setting("why the trial counts despite an error found in it", default="")
    file: str | None = setting("the trial file, of a recording or of an OpenSim model")
    model: str | None = setting("instead of file: an OpenSim model (.osim)")
    coordinates: str | None = setting("with model: its coordinates over time (MOT, STO)")
    moments: str | None = setting("with model: its joint moments (STO, MOT)")
    loads: str | None = setting(
        "with model, instead of moments or beside them: ground reactions (MOT, STO), an ExternalLoads file (XML), "
        '"predicted" or "none"'
    )
    b3d: str | None = setting("instead of file: a subject of AddBiomechanics (.b3d)")
    trial: str | None = setting("with b3d: name of the trial in it")
    settings: Mapping[str, Any] | None = setting(
        "columns settings.TABLE.KEY, such as settings.laboratory.forward: keys of a trial file for this trial alone, "
        "instead of the keys of [settings]",
        kind="file_tables",
    )


class StudyFileSettings(Settings):
    """A study file, without the units of its quantities, and without `title` and `trials` above all tables.

    [settings.NAME] is the table [NAME] of a trial file.
    """

    design: DesignSettings = table(DesignSettings)
    settings: Mapping[str, Any] = table()


def trial_line_settings() -> dict[str, Setting]:
    """Return the columns of the table of trials on the trial: its own keys, the keys of [files] and of [time]."""
    of_files = {
        key: rule.changed(required=False, needed_with="") for key, rule in settings_of(FileSettings).items()
    }
    of_files["markers"] = of_files["markers"].changed(about=f"instead of file: {of_files['markers'].about}")
    return {**settings_of(TrialLineSettings), **of_files, **settings_of(TimeSettings)}


def study_settings(units: type[Settings]) -> type[Settings]:
    """Return the class of the settings of a study file; units: class of the units of quantities."""
    stated = {**tables_of(StudyFileSettings), "units": FileTable(units)}
    return settings_class("StudySettings", {"__doc__": "A study file.", **stated})


def study_schema(units: type[Settings]) -> str:
    """Return the JSON Schema of a study file; the keys of its settings are as in trial files."""
    return schema_text(study_settings(units), {key: {"type": "string"} for key in ("title", "trials")})

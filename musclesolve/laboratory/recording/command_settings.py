"""The settings of commands: options that no trial file has, with their ranges, defaults and sentences."""

from __future__ import annotations

from musclesolve._util.sides import BOTH, SIDES
from musclesolve.constants import FAST, FLIGHT_CUTOFF_HZ, SEED, WALKING_CUTOFF_HZ
from musclesolve.laboratory.recording.trial_settings import (
    AUTO,
    FilterSettings,
    LaboratorySettings,
    SubjectSettings,
)
from musclesolve.tables.settings import Settings, same, setting, settings_class, settings_of, table, tables_of

LAG_MS, WAIT_MS = 25.0, 10.0
_TRIAL = "; as in the trial file unless given"


class StreamSettings(Settings):
    """Streams in real time; not used for a recording that is read at full speed."""

    rate: float | None = setting(f"samples of the markers a second{_TRIAL}", within=(1.0, 10000.0))
    plate: tuple[str, ...] | None = setting(
        f"the foot on each plate of the streams, in their order, {AUTO}: contact by contact{_TRIAL}",
        choices=(*SIDES, AUTO),
    )
    plate_offset: float | None = setting(
        "time added to the times of plates, to have them on the clock of the markers [s]; zero with a common clock, "
        "else by their arrival, unless given"
    )
    wait_ms: float = setting(
        "longest time that a sample waits for late samples [ms]", default=WAIT_MS, minimum=0.0
    )
    forward: str | None = same(
        LaboratorySettings,
        "forward",
        about=f"axis of the streams that counts as forward{_TRIAL}",
        required=False,
    )
    up: str | None = same(
        LaboratorySettings, "up", about=f"axis of the streams that points up{_TRIAL}", required=False
    )
    seconds: float | None = setting(
        "time after which the session ends [s]; without it Ctrl-C ends it", minimum=0.0
    )


class LiveSettings(StreamSettings):
    """A live session."""

    source: tuple[str, ...] = setting(
        "where samples come from: lsl:NAME, udp:PORT, qualisys:HOST, replay or replay:TRIAL.toml",
        default=(),
        option="--from",
    )
    sink: tuple[str, ...] = setting("where frames go: lsl:NAME, udp:HOST:PORT", default=(), option="--to")
    lag_ms: float = setting("how far results are behind the newest sample [ms]", default=LAG_MS, minimum=0.0)
    cutoff_hz: float | None = same(
        FilterSettings,
        "cutoff_hz",
        about=f"cut-off of the causal filter [Hz]{_TRIAL}",
        words=(),
        default=None,
    )
    stand: float | None = setting(
        "with --record: time over which the subject stands still and is measured before the session [s]; the trial "
        "file belongs to the laboratory, and needs no recording of this subject",
        minimum=1.0,
    )
    walk: float = setting(
        "with --stand: time of the movement that shows the lengths of trunk and arms [s]; 0: the standing shows them, "
        "with hanging arms",
        default=0.0,
        minimum=0.0,
    )
    page_port: int = setting("port of --page on 127.0.0.1; 0: a free one", default=0, within=(0, 65535))


class DeskSettings(Settings):
    """The desk."""

    port: int = setting("port of the page; 0: one that is free", default=0, within=(0, 65535))


CUTOFF_HZ = {"walk": WALKING_CUTOFF_HZ, "run": FLIGHT_CUTOFF_HZ}
"""Possible motion -> default cut-off of its filter [Hz]."""
MOST_UNLOADED, SIGMAS = 200.0, 5.0
"""Largest threshold of vertical force of an unloaded plate [N]; number of standard deviations that noise does not
exceed, except in one of three million samples.
"""


class SyntheticSettings(Settings):
    """A synthetic recording."""

    motion: str = setting(
        "the reference stride, or a stride with flight, straight ahead",
        default="walk",
        choices=tuple(CUTOFF_HZ),
    )
    noise_mm: float = setting(
        "noise of a marker coordinate, root mean square [mm]", default=0.0, within=(0.0, 1000.0)
    )
    noise: str = setting(
        "noise of the cameras, or markers that slide on the skin with the stride",
        default="white",
        choices=("white", "skin"),
    )
    force_noise_n: float = setting(
        "noise of a force component, root mean square [N]; its moments get a hundredth of it in N m",
        default=0.0,
        within=(0.0, MOST_UNLOADED / SIGMAS),
    )
    marker_rate_hz: float = setting(
        "sampling rate of the markers [Hz]", default=100.0, within=(20.0, 10000.0)
    )
    force_rate_hz: float = setting(
        "sampling rate of the force plates [Hz]", default=1000.0, within=(20.0, 100000.0)
    )
    strides: int = setting("number of strides to analyze", default=1, within=(1, 1000))
    margin_s: float = setting(
        "time recorded before and after the strides [s]", default=0.4, within=(0.0, 100.0)
    )
    standing_frames: int = setting("number of frames of the standing trial", default=100, within=(2, 100000))
    cutoff_hz: float | str | None = setting(
        f"cut-off frequency in the trial file [Hz], below half the marker rate; {CUTOFF_HZ['walk']:g} for a walk "
        f"and {CUTOFF_HZ['run']:g} for a run when absent",
        above=0.0,
        words=settings_of(FilterSettings)["cutoff_hz"].words,
    )
    force_cutoff_hz: float | None = setting(
        "cut-off frequency of the forces [Hz], below half the rate of the plates; the cut-off of the markers when "
        "absent",
        above=0.0,
    )
    unloaded_below_n: float | None = setting(
        "vertical force under which a plate counts as unloaded [N]; when absent 10, or five times the noise if that is "
        "more",
        above=0.0,
        maximum=MOST_UNLOADED,
    )
    marker_set: str | None = setting(
        "a marker set (`musclesolve list markers` lists them); a marker on every landmark when absent"
    )
    functional_deg: float = setting(
        "range of a movement of knees and ankles that shows their axes in place of markers [deg]; 0: none",
        default=0.0,
        within=(0.0, 120.0),
    )
    cameras: int = setting(
        "number of cameras that record the markers; 0: marker files", default=0, within=(0, 100)
    )
    noise_px: float = setting(
        "noise of the image points of cameras, standard deviation [px]", default=0.0, within=(0.0, 100.0)
    )
    forward: str = same(LaboratorySettings, "forward", required=False, default="+x")
    up: str = same(LaboratorySettings, "up", required=False, default="+z")
    heading_deg: float = setting(
        "initial walking direction, to the left of forward [deg]", default=0.0, within=(-360.0, 360.0)
    )
    turn_deg: float = setting(
        "change of the walking direction to the left over the strides [deg]; negative: to the right",
        default=0.0,
    )
    steps: tuple[str, ...] | None = setting(
        "a contact that is measured by a force plate, such as r2, the second one of the right foot; all contacts when "
        "absent. With it the trial file has no [time]: the range is for the reader to determine"
    )
    seed: int = setting("seed of the random numbers", default=SEED, minimum=0)
    decimals: int = setting("decimals of a marker coordinate in millimeters", default=4, within=(0, 12))


SYNTHETIC = settings_class("SyntheticFile", {"recording": table(SyntheticSettings)})
"""These settings as the only table of a file."""


class SideSettings(Settings):
    """Legs of a trial."""

    side: str = setting("legs to analyze", default=BOTH, choices=(*SIDES, BOTH))


class ManyTrialsSettings(Settings):
    """Computation of many trials."""

    jobs: int | None = setting("number of trials computed at a time; default: one per core", minimum=1)
    scheduler: str | None = setting("compute on a cluster: address of a dask.distributed scheduler")
    again: bool = setting("recompute trials whose result is up to date", default=False)


class SampleSettings(Settings):
    """Samples of the uncertainty of a result."""

    uncertainty: int | str | None = setting(
        "bands on all forces of a trial, and where they come from: uncertainty.nc. "
        f"{FAST}: by few designed samples; a number: by so many Monte Carlo samples",
        minimum=2,
        words=(FAST,),
        argument="samples",
    )


class RunSettings(SampleSettings):
    """Options of `run`."""

    seed: int = same(SyntheticSettings, "seed", about="seed of the random numbers of the samples")


class FigureSettings(Settings):
    """Figures as files."""

    file_format: str = setting(
        "format of the figures", default="png", choices=("png", "pdf", "svg"), option="--format"
    )
    width_mm: float = setting(
        "width of the figures [mm]; columns of journals have 80 to 90, pages 170 to 190",
        default=210.0,
        within=(60.0, 1000.0),
        option="--width",
    )
    font_pt: float = setting(
        "size of the text in the figures [points]", default=8.0, within=(4.0, 24.0), option="--font"
    )


class PlotSettings(FigureSettings):
    """Options of `plot`."""

    dpi: int | None = setting("resolution of PNG figures [dots per inch]; default: 200", within=(50, 1200))
    titled: bool = setting(
        "print title and trial above the figures; papers have captions",
        default=True,
        option="--titles/--no-titles",
    )
    figures: tuple[str, ...] = setting("name of a figure, such as activations; default: all", default=())
    norms: bool = setting("draw published bands of walking behind the curves", default=True)
    norm_file: str | None = setting("norm file of a laboratory (CSV), drawn before the published norms")
    muscles: tuple[str, ...] = setting(
        "a muscle, or a group of them, on the pages of muscles; default: all, in a column (up to 140 mm) the "
        "strongest of each group",
        default=(),
    )


class CompareSettings(Settings):
    """Options of `compare`."""

    costs: tuple[str, ...] = setting("a cost function, by one option for each of two or more", required=True)
    on_infeasible: str = setting(
        "what becomes of a frame that the muscles cannot solve: report leaves it without a solution, reserve solves it "
        "with reserves that bear what the muscles lack",
        choices=("report", "reserve"),
        default="reserve",
    )


class VerifySettings(Settings):
    """Options of `verify`."""

    cost: str = setting(
        "cost that the solution is measured by; squared activations, as in OpenSim's static optimization, unless given",
        default="activation_power",
    )
    quantity: str | None = setting(
        "what muscle columns are; by their size when absent", choices=("forces", "activations")
    )
    strength: str | None = setting(
        "strength of a muscle, with the cosine of pennation (tendon) or without it (fiber); as the program of the "
        "table when absent",
        choices=("tendon", "fiber"),
    )
    reserve_strength: float | None = setting(
        "moment of a reserve at control 1, where the table has controls of reserves [N m]", above=0.0
    )


class MuscleCalibrationSettings(Settings):
    """Options of `calibrate`."""

    free: tuple[str, ...] | None = setting(
        "what is fitted, such as strength=groups or optimal_fiber_length=soleus,gastrocnemius; by what was measured "
        "unless given",
        metavar="QUANTITY=WORDS",
    )
    fixed: tuple[str, ...] | None = setting("what is not fitted", metavar="QUANTITY[=WORDS]")
    profile: str | None = setting(
        "the fitted parameter over which the least misfit is computed", metavar="PARAMETER"
    )
    name: str | None = setting("name of the person")


BENCHMARK_COSTS = ("force_squared", "stress_cubed", "soft_saturation", "min_max")
"""Costs of a benchmark: three smooth ones, and one that is not."""


class BenchmarkSettings(Settings):
    """Options of `benchmark`."""

    frames: int = setting("maximum number of frames per solver", default=10_000, minimum=1)
    costs: tuple[str, ...] = setting(f"a cost function; default: {', '.join(BENCHMARK_COSTS)}", default=())
    solvers: tuple[str, ...] = setting("a solver; default: all", default=())


class AverageSettings(Settings):
    """Options of `average`."""

    partial: bool = setting("include gait cycles of which the frames cover less than 95 %", default=False)
    units: tuple[str, ...] = setting(
        "unit of a kind of quantity, such as moment='N m/(kg m)', force=N/kg, muscle_force=BW; of several persons "
        "N m/kg, BW, % and W/kg unless given",
        default=(),
        metavar="KIND=UNIT",
    )


class InitSettings(Settings):
    """Options of `init` on the subject."""

    mass_kg: float | None = same(
        SubjectSettings, "mass_kg", about="body mass with shoes [kg], if you know it", required=False
    )
    stature_m: float | None = same(
        SubjectSettings, "stature_m", about="stature [m], if you know it", required=False
    )
    sex: str | None = same(SubjectSettings, "sex", about="sex of the subject, if you know it", required=False)


class ConvertSettings(Settings):
    """Options of `convert`."""

    forward: str | None = same(
        LaboratorySettings,
        "forward",
        about="axis of the source in the walking direction: rotates it to the axes of OpenSim",
        required=False,
    )
    up: str | None = same(
        LaboratorySettings,
        "up",
        about="axis of the source that points up, default +z: with --forward, or alone for the force plates of a C3D "
        "file (to locate the ground)",
        required=False,
        default=None,
    )
    units: str = setting("unit of length of the markers", default="mm", choices=("mm", "cm", "m"))


EXPORT_FORMATS = {
    "sto": "OpenSim, a file for each quantity",
    "mot": "OpenSim, joint angles",
    "csv": "spreadsheets",
    "mat": "MATLAB",
    "parquet": "data frames",
}
"""Use of each format of exported data, which is the suffix of its files."""


class ExportSettings(Settings):
    """Options of `export`."""

    format: str | None = setting(
        f"format of the files: {', '.join(EXPORT_FORMATS)}; default: the suffix of the output"
    )
    variables: tuple[str, ...] | None = setting(
        "a series of the result; default: all; STO: the series of most use"
    )
    names: str | None = setting(
        "names, signs and axes: gait2392, rajagopal or own; default: as in the model of the muscle set in STO and MOT "
        "files, otherwise own"
    )


VALUES_FORMATS = ("csv", "parquet")
"""Formats of the table of values of a study."""


class StudyOptions(SampleSettings):
    """Options of `study`."""

    reports: bool = setting("write a report of every trial, which the page leads to", default=True)
    values_format: str = setting(
        "format of the table of peaks and other values of every cycle",
        default="csv",
        choices=VALUES_FORMATS,
        option="--values",
    )


KEPT = ("activation", "force", "moment", "contact", "angle", "ground")
"""What a data set keeps of a trial by default."""


class DataSetOptions(Settings):
    """Options of `dataset`."""

    keep: tuple[str, ...] = setting(
        f"what is kept of each trial: {', '.join(KEPT)}, or a variable of a result, such as fiber_length; "
        "default: the six words",
        default=KEPT,
    )
    estimate: bool = setting(
        "compute a few trials, print how long the others take and how large they are, and end", default=False
    )


class MarginSettings(Settings):
    """Options of `ask margins`."""

    strength: tuple[str, ...] = setting(
        "margins: a muscle or group that is weak already, such as triceps_surae=0.8",
        default=(),
        metavar="MUSCLE=FACTOR",
    )
    path: str | None = setting(
        "margins: muscle or group whose weakening is followed; default: the most critical", metavar="MUSCLE"
    )
    pairs: bool = setting("margins: also pairs of groups that are weak together", default=False)


class CostFitSettings(Settings):
    """Options of `fit-cost`."""

    family: tuple[str, ...] = setting(
        "a cost whose exponent is fitted, or two costs whose weights are; default: all powers of general_power",
        default=(),
        option="--family",
        metavar="COST",
    )
    delay_s: float | None = setting(
        "delay of activation behind the envelope [s]" + _TRIAL,
        within=(0.0, 0.5),
        argument="delay",
        metavar="S",
    )


class WhatIfSettings(Settings):
    """Options of `ask what-if`."""

    scenarios: tuple[str, ...] = setting(
        "what-if: a scenario: soleus=0.5 or triceps_surae_r=0 is a strength; torque.ankle_dorsiflexion=-30:0: best "
        "torque within limits [N m]; spring.knee_flexion=40@10: N m/rad, at rest at 10 degrees; "
        "sharing.cost=stress_cubed, muscles.passive=calibrated: settings",
        default=(),
        option="--set",
        metavar="[NAME:] KEY=VALUE,...",
    )


class ListSettings(Settings):
    """Options of `list`."""

    database: str | None = setting(
        "with muscles: name of a muscle set, or a file (.toml, .osim, a person's muscles); the default set unless given"
    )


class CommandSettings(Settings):
    """The tables, as of a file: one for a command, or for options that commands share."""

    live: LiveSettings = table(LiveSettings)
    listed: ListSettings = table(ListSettings)
    desk: DeskSettings = table(DeskSettings)
    legs: SideSettings = table(SideSettings)
    many: ManyTrialsSettings = table(ManyTrialsSettings)
    run: RunSettings = table(RunSettings)
    study: StudyOptions = table(StudyOptions)
    dataset: DataSetOptions = table(DataSetOptions)
    figures: FigureSettings = table(FigureSettings)
    plot: PlotSettings = table(PlotSettings)
    compare: CompareSettings = table(CompareSettings)
    verify: VerifySettings = table(VerifySettings)
    calibrate_muscles: MuscleCalibrationSettings = table(MuscleCalibrationSettings)
    benchmark: BenchmarkSettings = table(BenchmarkSettings)
    average: AverageSettings = table(AverageSettings)
    init: InitSettings = table(InitSettings)
    convert: ConvertSettings = table(ConvertSettings)
    export: ExportSettings = table(ExportSettings)
    margins: MarginSettings = table(MarginSettings)
    what_if: WhatIfSettings = table(WhatIfSettings)
    fit_cost: CostFitSettings = table(CostFitSettings)


def command_arguments(*names: str) -> dict[str, tuple[str, str]]:
    """Return keyword -> table and key of the settings in the tables of some names."""
    return {
        setting.argument or key: (name, key)
        for name in names
        for key, setting in tables_of(CommandSettings)[name].settings.items()
    }

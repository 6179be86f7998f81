"""The settings of trial files, of a recording and of an OpenSim model: one class a table, one field a key.

A key that is absent has its default, or None. To add a setting: one field here; see CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from musclesolve.constants import FLIGHT_CUTOFF_HZ, LOADED_FROM_N, PREDICTED, SEXES, WALKING_CUTOFF_HZ
from musclesolve.models.settings import (
    KneeSettings,
    ModelConsistencySettings,
    ModelFileSettings,
    OpenSimSettings,
    SharingSettings,
    TimeRangeSettings,
    is_predicted,
    model_arguments,
)
from musclesolve.muscles.settings import MuscleSettings
from musclesolve.tables.settings import Settings, same, setting, settings_of, table, tables_of

FILE_AXES = ("+x", "-x", "+y", "-y", "+z", "-z")
"""Axes of files, with their sense."""
MILLIMETERS = {"centimeters": 0.01, "millimeters": 0.001}
"""Units that are mistaken for meters -> meters."""


SCALE, PLATES = MASS_FROM = "scale", "plates"
"""Where a body mass is from: the subject was weighed, or plates carried it."""


class SubjectSettings(Settings):
    """[subject]."""

    name: str = setting("name of the subject in the report", default="subject")
    mass_kg: float = setting(
        "body mass, weighed with the shoes on [kg]",
        required=True,
        example="70.0, with the weighed mass in kilograms",
        within=(2.0, 400.0),
        mistaken_units={"newtons": 0.10197, "grams": 0.001},
    )
    mass_from: str = setting("where the mass is from, named in the report", default=SCALE, choices=MASS_FROM)
    stature_m: float = setting(
        "height [m]",
        required=True,
        example="1.75, with the measured height in meters",
        within=(0.4, 2.6),
        mistaken_units=MILLIMETERS,
    )
    sex: str = setting("selects the table of segment masses", required=True, choices=SEXES)
    shoe_mass_kg: float = setting(
        "mass of one shoe, added to each foot; the body is weighed with the shoes on [kg]",
        default=0.0,
        within=(0.0, 5.0),
        mistaken_units={"grams": 0.001},
    )
    leg_length_m: float | None = setting(
        "anterior superior iliac spine to medial malleolus [m]; measured on the standing trial when absent",
        within=(0.2, 1.4),
        mistaken_units=MILLIMETERS,
    )
    knee_width_m: float | None = setting(
        "between the femoral epicondyles [m]; used where no medial knee marker is mapped;"
        " 0.059 of the stature when absent",
        within=(0.03, 0.25),
        mistaken_units=MILLIMETERS,
    )
    ankle_width_m: float | None = setting(
        "between the malleoli [m]; used where no medial ankle marker is mapped; 0.039 of the stature when absent",
        within=(0.02, 0.2),
        mistaken_units=MILLIMETERS,
    )
    marker_diameter_m: float = setting(
        "diameter of the markers [m]; MarkerDiameter of a C3D file when absent; used where"
        " no medial marker is mapped",
        default=0.014,
        within=(0.0, 0.05),
        mistaken_units=MILLIMETERS,
    )
    age_years: float | None = setting(
        "age [years]; below 18 the masses of segments follow children by age (Jensen 1989)",
        within=(0.0, 120.0),
    )
    recorded_on: str | None = setting("day of the recording in the report, such as 2026-05-04")
    recorded_as: str | None = setting("condition in the report, such as barefoot")
    skeleton: str | None = setting(
        "file of another definition of the body's points, bodies and joints than the bundled one of 33 bodies, such "
        "as one with three axes of the knee"
    )
    segments: Mapping[str, Any] | None = setting(
        "known values of single segments ([subject.segments.shank_r], checked by code), instead of the inertia table",
        kind="tables",
    )


SEGMENTS = (
    *("foot_r", "shank_r", "thigh_r", "foot_l", "shank_l", "thigh_l"),
    *("lower_torso", "upper_torso", "head"),
    *("upper_arm_r", "forearm_r", "hand_r", "upper_arm_l", "forearm_l", "hand_l"),
)
"""The segments of the body that [subject.segments.NAME] may describe."""


class SegmentSettings(Settings):
    """[subject.segments.NAME]: known values of a segment, instead of the inertia table."""

    mass_kg: float | None = setting(
        "mass including anything worn on the segment; 0 if the segment is missing [kg]", within=(0.0, 100.0)
    )
    mass_factor: float | None = setting(
        "factor on the mass of the inertia table, instead of mass_kg", above=0.0, maximum=10.0
    )
    center: float | None = setting(
        "position of the center of mass from the first end (0) to the second (1), proximal first; a foot: heel to toe",
        within=(-0.5, 1.5),
    )
    inertia_kg_m2: tuple[float, ...] | None = setting(
        "moments of inertia about its center of mass: about the front-back, the left-right and the long axis [kg m2]",
        kind="triple",
    )


class LaboratorySettings(Settings):
    """[laboratory]."""

    forward: str = setting(
        "axis of the files along which the subject walks", required=True, choices=FILE_AXES
    )
    up: str = setting("axis of the files that points up", required=True, choices=FILE_AXES)
    static_forward: str | None = setting(
        "axis of the file of the standing trial that the subject faces; forward when absent",
        choices=FILE_AXES,
    )
    static_up: str | None = setting(
        "axis of the file of the standing trial that points up; up when absent", choices=FILE_AXES
    )
    tilt_deg: float = setting(
        "angle by which the floor rises along forward in the files, whose axes are tilted against it; they are turned "
        "back by it [degrees]",
        default=0.0,
        within=(-15.0, 15.0),
    )


PARTLY_PREDICTED = "partly predicted"
"""Source of the ground reactions of a result if plates measured some of them."""


def _functional(side: str, joint: str, moves: str = "bends and straightens") -> Any:
    return setting(f'markers of a trial in which the {side} {joint} {moves}, for {joint} = "functional"')


class FileSettings(Settings):
    """[files]."""

    markers: str = setting(
        "marker trajectories of the motion (TRC, C3D, CSV, or a camera file in TOML)", required=True
    )
    static: str | None = setting(
        "marker trajectories of the standing trial (TRC, C3D, CSV, or a camera file in TOML)"
    )
    functional_r: str | None = _functional("right", "hip", "moves in all directions")
    functional_l: str | None = _functional("left", "hip", "moves in all directions")
    functional_knee_r: str | None = _functional("right", "knee")
    functional_knee_l: str | None = _functional("left", "knee")
    functional_ankle_r: str | None = _functional("right", "ankle")
    functional_ankle_l: str | None = _functional("left", "ankle")
    forces: str | None = setting(
        "ground reaction forces (MOT, STO, CSV or C3D); the plates of the markers' C3D file when absent; "
        '"predicted": from the motion, without force plates ([[force]] is then not used; for some steps see '
        "unmeasured_steps in [plates])",
        needed_with="columns",
    )

    @property
    def predicted(self) -> bool:
        """Whether the ground reactions are predicted from the motion."""
        return is_predicted(self.forces)


MOVEMENTS = {
    "walking": "level walking",
    "running": "running",
    "turning": "turning while walking",
    "stairs_up": "going upstairs",
    "stairs_down": "going downstairs",
    "chair": "rising from a chair or sitting down",
    "squat": "a squat",
    "jump": "a jump or landing",
    "standing": "standing",
    "standing_on_one_leg": "standing on one leg",
    "other": "another movement",
}
"""Movements that a trial file may state, each in words."""


class TimeSettings(TimeRangeSettings):
    """[time]."""

    movement: str | None = setting(
        "activity of the subject; selects the measured contact forces that the result is compared with; "
        "recognized by the motion when absent",
        choices=tuple(MOVEMENTS),
    )
    cycles_s: tuple[tuple[float, float], ...] | None = setting(
        "beginning and end of each cycle of the movement [s], for curves over 0 to 100 %; by heel strikes "
        "or, of a recognized jump, squat or rise from a chair, by the motion when absent",
        kind="ranges",
    )


def _events(of: str, example: str) -> Any:
    about = f"times of all {of} foot [s], instead of the events found in forces and markers"
    return setting(about, example=example)


class EventSettings(Settings):
    """[events]."""

    heel_strike_r: tuple[float, ...] | None = _events("heel strikes of the right", "[0.27, 1.41]")
    heel_strike_l: tuple[float, ...] | None = _events("heel strikes of the left", "[0.84, 1.98]")
    toe_off_r: tuple[float, ...] | None = _events("toe-offs of the right", "[1.02, 2.17]")
    toe_off_l: tuple[float, ...] | None = _events("toe-offs of the left", "[0.44, 1.59]")


class FilterSettings(Settings):
    """[filter]."""

    method: str = setting("the low-pass filter", default="butterworth", choices=("butterworth", "spline"))
    order: int = setting(
        "order of one pass of the filter; half order of the spline: 2 cubic, 3 quintic",
        default=2,
        within=(1, 8),
    )
    cutoff_hz: float | str | None = setting(
        "cut-off frequency of the low-pass filter for markers and forces [Hz], or the method that "
        f"determines it from the recording; when absent {WALKING_CUTOFF_HZ:g}, and {FLIGHT_CUTOFF_HZ:g} where the "
        "recording shows flight (running, jumping)",
        above=0.0,
        words=("residual_analysis", "residual_analysis_silva_2003", "cross_validation"),
    )
    force_cutoff_hz: float | None = setting(
        "cut-off frequency of the forces alone [Hz]; the cut-off of the foot markers when absent", above=0.0
    )
    unloaded_below_n: float = setting(
        "vertical force under which a plate counts as unloaded [N]",
        default=LOADED_FROM_N,
        within=(0.0, 200.0),
    )

    @property
    def fixed_cutoff(self) -> float | None:
        """The stated or the usual cut-off [Hz]; None: `choice` determines one for every coordinate from the data.

        For a trial the usual cut-off depends on the motion (`anatomy`).
        """
        stated = WALKING_CUTOFF_HZ if self.cutoff_hz is None else self.cutoff_hz
        return None if isinstance(stated, str) else stated

    @property
    def choice(self) -> str:
        """Method that chooses a cut-off that is not stated."""
        return self.cutoff_hz if isinstance(self.cutoff_hz, str) else "residual_analysis"


class GapSettings(Settings):
    """[gaps]."""

    spline_s: float = setting(
        "longest gap of a marker that a spline fills [s]; 0 for none", default=0.1, within=(0.0, 0.5)
    )
    rigid_s: float = setting(
        "longest gap of a marker that the other markers of its body fill [s]; 0 for none",
        default=0.5,
        within=(0.0, 2.0),
    )


class JointCenterSettings(Settings):
    """[joint_centers]."""

    hip: str = setting(
        'regression for the hip centers in the pelvis, or "functional": computed from the trials '
        "functional_r and functional_l",
        default="harrington_2007",
        choices=(
            "harrington_2007",
            "harrington_2007_leg_length",
            "hara_2016",
            "davis_1991",
            "bell_1990",
            "functional",
        ),
    )
    knee: str = setting(
        'knees by the epicondyles, or "functional": axis and center computed from the trials functional_knee_r '
        "and functional_knee_l",
        default="landmarks",
        choices=("landmarks", "functional"),
    )
    ankle: str = setting(
        'ankles by the malleoli, or "functional": axis and center computed from the trials functional_ankle_r '
        "and functional_ankle_l",
        default="landmarks",
        choices=("landmarks", "functional"),
    )


class ConsistencySettings(Settings):
    """[consistency]."""

    method: str = setting(
        "how positions are made consistent: nearest pose, the model driven by measured joint angles, or not at all",
        default="nearest",
        choices=("nearest", "joint_angles", "none"),
    )
    derivatives: str = setting(
        "velocities and accelerations by the constraint equations, or by splines of every point (always "
        'with method = "none")',
        default="constraints",
        choices=("constraints", "splines"),
    )
    residual: str = same(
        ModelConsistencySettings,
        "residual",
        about='the residual force and moment at the pelvis: "kept", or "reduced" by the smallest change of the '
        "motion (with measured ground forces)",
    )
    largest_change_mm: float = same(
        ModelConsistencySettings,
        "largest_change_mm",
        about='bound of the change of any point of the body in any frame, with residual = "reduced" [mm]',
    )
    weights: Mapping[str, float] = setting(
        "weight of a point or axis of the model in the pose fit; 1 where absent",
        default={},
        within=(0.0001, 10000.0),
    )


QUESTIONS = ("contributions", "margins", "what_if")
"""Questions about a trial, by the names of their commands and of the files of their answers."""


class QuestionSettings(Settings):
    """[questions]."""

    ask: tuple[str, ...] | None = setting(
        "questions that the report and studies answer in addition to the result", choices=QUESTIONS
    )
    scenarios: tuple[str, ...] | None = setting(
        "scenarios of what_if, each in the form of `what-if --set`",
        example='["weak calf: triceps_surae=0.6"]',
    )
    strength: Mapping[str, float] = setting(
        "for margins: weak muscle or group = factor on its strength",
        default={},
        within=(0.0, 10.0),
        example="{ triceps_surae = 0.8 }",
    )


def _clock(first: str, second: str, times: str, most: float) -> Any:
    about = f"clock of the {first} minus clock of the {second}; added to the times of the {times} [s]"
    return setting(about, default=0.0, within=(-most, most))


class EmgSettings(Settings):
    """[emg]."""

    file: str | None = setting(
        "signals of EMG (STO, MOT, CSV or C3D); the channels of the markers' C3D file when absent"
    )
    channels: Mapping[str, str | tuple[str, ...]] = setting(
        "channel of the file -> the muscle it is compared with, or the muscles whose mean activation is; a "
        "group counts as its muscles",
        kind="name_lists",
        required=True,
    )
    processed: bool | None = setting(
        "whether the signals are linear envelopes already; the signals show it when absent"
    )
    highpass_hz: float = setting(
        "lower cut-off frequency of the band-pass filter [Hz]", default=20.0, above=0.0
    )
    lowpass_hz: float = setting(
        "upper cut-off frequency of the band-pass filter [Hz]", default=400.0, above=0.0
    )
    band_order: int = setting("order of one pass of the band-pass filter", default=4, within=(1, 8))
    envelope_hz: float = setting(
        "cut-off frequency of the low-pass filter of the rectified signal [Hz]", default=6.0, above=0.0
    )
    envelope_order: int = setting(
        "order of one pass of the low-pass filter of the rectified signal", default=2, within=(1, 8)
    )
    maximum: Mapping[str, float] | str = setting(
        "envelope of a channel that counts as activation 1, in the unit of the file, from a maximum "
        'voluntary contraction; "trial": the largest of the recording',
        kind="weights",
        default="trial",
        above=0.0,
        words=("trial",),
        example="{ SOL = 0.41 }",
    )
    max_delay_s: float = setting(
        "longest tested delay of activation behind the envelope [s]; the delay with the best agreement is used",
        default=0.08,
        within=(0.0, 0.5),
    )
    delay_s: float = setting(
        "delay of activation behind the envelope where it is followed [s]", default=0.04, within=(0.0, 0.5)
    )
    offset_s: float = _clock("motion", "EMG", "EMG", 60.0)
    weight: float = setting(
        "weight of the misfit to EMG added to the cost: EMG-informed sharing; 0: EMG is compared, not followed",
        default=0.0,
        minimum=0.0,
        of_run=True,
        option="--emg-weight",
        argument="emg_weight",
    )


class FascicleSettings(Settings):
    """[fascicle]."""

    file: str = setting(
        "fascicle lengths over time, measured by ultrasound (CSV, STO, MOT or C3D)", required=True
    )
    unit: str = setting("unit of the lengths in the file", required=True, choices=("m", "cm", "mm"))
    channels: Mapping[str, str] = setting(
        "column of the file -> the muscle whose fascicles it measures, with side", kind="names", required=True
    )
    error_mm: float = setting(
        "standard deviation of a measured length [mm]", default=3.0, above=0.0, maximum=100.0
    )
    offset_s: float = _clock("motion", "ultrasound", "file", 60.0)


def _relative(about: str, *of: str) -> Any:
    return setting(f"standard deviation of {about}", of=of, within=(0.0, 1.0))


def _length(about: str, *of: str) -> Any:
    return setting(f"standard deviation of {about} [mm]", of=of, within=(0.0, 50.0))


class UncertaintySettings(Settings):
    """[uncertainty]."""

    strength: float | None = _relative("all maximum isometric forces of the subject together, relative")
    max_isometric_force: float | None = _relative("maximum isometric force of each muscle, relative")
    optimal_fiber_length: float | None = _relative("optimal fiber length of each muscle, relative")
    tendon_slack_length: float | None = _relative(
        "tendon slack length of each muscle, as a share of its optimal fiber length"
    )
    muscle_path_mm: float | None = _length("each point of each muscle path, along each axis", "recording")
    marker_placement_mm: float | None = _length("each marker on its landmark, along each axis", "recording")
    hip_center_mm: float | None = _length("each hip center in the pelvis, along each axis", "recording")
    soft_tissue_mm: float | None = _length(
        "each marker sliding over the bone with the stride, along each axis, root mean square", "recording"
    )
    center_of_pressure_mm: float | None = _length(
        "center of pressure of each plate, along each axis", "recording", "loads"
    )
    segment_mass: float | None = _relative("mass of each segment, relative; the total stays", "recording")
    pelvis_tilt_deg: float | None = setting(
        "standard deviation of the neutral tilt of the pelvis where no standing trial shows it [degrees]",
        of=("recording",),
        within=(0.0, 30.0),
    )
    joint_angle_deg: float | None = setting(
        "standard deviation of each free angle of an OpenSim model, alike in all frames [degrees]",
        of=("moments", "loads"),
        within=(0.0, 30.0),
    )
    joint_moment: float | None = _relative(
        "the moment of each coordinate of an OpenSim model whose moments are given, relative", "moments"
    )
    cost_exponent: float | None = _relative("the exponent of the cost less 1, of its logarithm")
    multi_joint_weight: float | None = _relative(
        "the weight in the cost of all muscles that cross two joints or more, of its logarithm"
    )
    muscle_weight: float | None = _relative("the weight of each muscle in the cost, of its logarithm")
    co_contraction: float | None = setting(
        "standard deviation of the least activation of all muscles, around [sharing] least_activation",
        within=(0.0, 0.2),
    )
    contact_model_bw: float | None = setting(
        "standard deviation of each joint contact force around the force of the model [body weights]",
        of=("recording", "loads"),
        within=(0.0, 2.0),
    )
    patellar_ligament: float | None = _relative(
        "the arm of the patellar ligament about the knee, of its logarithm", "recording", "loads"
    )
    predicted_force_bw: float | None = setting(
        "standard deviation of each predicted vertical ground force; horizontal ones in proportion [body weights]",
        of=("predicted",),
        within=(0.0, 1.0),
    )
    body_mass: float | None = _relative(
        "mass of the body where ground reactions are predicted, relative", "predicted"
    )
    predicted_pressure_mm: float | None = _length(
        "the center of pressure of each predicted ground force along the foot; half across it", "predicted"
    )
    calibration: float | None = setting(
        "factor on the standard deviations that a calibration of one person's muscles gives",
        of=("person",),
        within=(0.0, 10.0),
    )


class MarkerSettings(Settings):
    """[markers]."""

    set: str | None = setting(
        "name of a marker set, or the path of one; [mapping], [clusters] and [carried] add to it and "
        "override it; landmark = false leaves one out"
    )
    person: str | None = setting(
        'whose markers to use where a file has the markers of several subjects, as "Ann:LASI" and "Bob:LASI"'
    )
    guessed: tuple[str, ...] | None = setting(
        "landmarks whose markers `init` guessed by their positions; `check` names them until they are deleted here"
    )


class ExchangedSettings(Settings):
    """[[exchanged]]: markers that carry each other's label in a file; they are read the other way around."""

    markers: Mapping[str, str] = setting(
        "marker = the marker whose label it carries in the motion, by names of the mapping",
        kind="names",
        default={},
        example='{ RKNE = "LKNE" }',
    )
    static: Mapping[str, str] = setting("the same in the standing trial", kind="names", default={})
    times_s: tuple[tuple[float, float], ...] | None = setting(
        "when the labels are exchanged in the motion [s]; all the time when absent", kind="ranges"
    )


ORIGINS = BY_FEET, STATED, REVERSED = "by_feet", "stated", "reversed"
"""How x and y of ORIGIN of the plates of a C3D file are read, which may point either way."""


class PlateSettings(Settings):
    """[plates]: corrections of measured forces, by the number of a plate in a C3D file or the place of its [[force]].

    Also the treatment of steps beside the plates.
    """

    unmeasured_steps: Literal["left_out", "predicted"] = setting(
        'steps that no plate measures: "left_out", their legs are not analyzed during them; "predicted", their ground '
        "reactions follow from the motion and from the plates under the other foot",
        kind="text",
        default="left_out",
        choices=("left_out", PREDICTED),
    )
    origin: str = setting(
        'x and y of FORCE_PLATFORM:ORIGIN of a C3D file: "by_feet", in the direction in which the center of pressure '
        'is near a foot; "stated", as in the file; "reversed"',
        default=BY_FEET,
        choices=ORIGINS,
    )
    free_moment: str = setting(
        'free moment under the feet: "measured", where the channel of a plate is not found wrong; or "zero"',
        default="measured",
        choices=("measured", "zero"),
    )
    offset_s: float = _clock("markers", "plates", "plates", 1.0)
    shift_mm: Mapping[str, tuple[float, ...]] | None = setting(
        "plate = shift of the point of application of its force, in the axes of the files [mm]",
        within=(-100.0, 100.0),
        example="{ 1 = [4.0, 0.0, -1.5] }",
    )
    vertical_gain: Mapping[str, float] | None = setting(
        "plate = factor on its vertical force", within=(0.8, 1.25), example="{ 1 = 1.01 }"
    )
    vertical_zero_n: Mapping[str, float] | None = setting(
        "plate = force subtracted from its vertical force while it is loaded, before the factor [N]",
        within=(-100.0, 100.0),
        example="{ 1 = 3.0 }",
    )


AUTO: Final = "auto"
"""In the place of the foot on a plate: the contacts determine it."""


METERS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}
"""Unit of length -> its length [m], of columns of [[force]]."""


class ForceSettings(Settings):
    """[[force]]: the foot on a plate, and the columns of its force."""

    side: Literal["r", "l", "auto"] = setting(
        'which foot stands on this plate; "auto", of columns: the contacts determine it',
        kind="text",
        required=True,
        choices=("r", "l", AUTO),
    )
    plate: int | None = setting(
        "number of the plate in a C3D file; without any [[force]] the contacts determine which foot is on "
        "which plate",
        needed_with="plates",
        only_with="plates",
        minimum=1,
    )
    force: str | tuple[str, ...] | None = setting(
        'force on the foot [N]: three column names, "0" for a component that is zero, or their common beginning',
        needed_with="columns",
        only_with="columns",
    )
    point: str | tuple[str, ...] | None = setting(
        "point of the force, and of its moment [m]", needed_with="columns", only_with="columns"
    )
    moment: str | tuple[str, ...] | None = setting(
        "moment about that point [N m]: the free moment alone, or all three", only_with="columns"
    )
    point_unit: str = setting(
        "unit of the columns of the point", default="m", choices=tuple(METERS), only_with="columns"
    )
    moment_unit: str = setting(
        "unit of the columns of the moment",
        default="N m",
        choices=tuple(f"N {length}" for length in METERS),
        only_with="columns",
    )


class RecordedSettings(Settings):
    """The trial file of a recording."""

    subject: SubjectSettings = table(SubjectSettings, required=True)
    laboratory: LaboratorySettings = table(LaboratorySettings, required=True)
    files: FileSettings = table(FileSettings, required=True)
    time: TimeSettings = table(TimeSettings)
    events: EventSettings = table(EventSettings)
    filter: FilterSettings = table(FilterSettings)
    gaps: GapSettings = table(GapSettings)
    joint_centers: JointCenterSettings = table(JointCenterSettings)
    consistency: ConsistencySettings = table(ConsistencySettings)
    muscles: MuscleSettings = table(MuscleSettings)
    sharing: SharingSettings = table(SharingSettings)
    knee: KneeSettings = table(KneeSettings)
    questions: QuestionSettings = table(QuestionSettings)
    emg: EmgSettings = table(EmgSettings)
    fascicle: FascicleSettings = table(FascicleSettings)
    uncertainty: UncertaintySettings = table(UncertaintySettings)
    markers: MarkerSettings = table(MarkerSettings)
    exchanged: tuple[ExchangedSettings, ...] = table(ExchangedSettings, one_per="fault")
    mapping: Mapping[str, Any] = table()
    clusters: Mapping[str, Any] = table()
    carried: Mapping[str, Any] = table()
    plates: PlateSettings = table(PlateSettings)
    force: tuple[ForceSettings, ...] = table(ForceSettings, one_per="plate", needed_with="columns")


class ModelSettings(OpenSimSettings):
    """The trial file of an OpenSim model: a model, its coordinates, and its joint moments or the loads on it."""

    time: TimeSettings = table(TimeSettings)
    questions: QuestionSettings = table(QuestionSettings)
    emg: EmgSettings = table(EmgSettings)
    fascicle: FascicleSettings = table(FascicleSettings)
    uncertainty: UncertaintySettings = table(UncertaintySettings)


TrialSettings = RecordedSettings | ModelSettings
"""The settings of a trial file of either kind."""
_MODEL_FILES = settings_of(ModelFileSettings).keys() - settings_of(FileSettings).keys()


def is_model_trial(content: Mapping[str, Any]) -> bool:
    """Return whether the tables of a trial file name an OpenSim model instead of recorded markers."""
    files = content.get("files")
    return isinstance(files, dict) and "markers" not in files and not _MODEL_FILES.isdisjoint(files)


def share_arguments() -> dict[str, tuple[str, str]]:
    """Return keyword of `share_model` -> table and key of the trial file of a model."""
    return model_arguments(ModelSettings)


def run_arguments() -> dict[str, tuple[str, str]]:
    """Return keyword of `run` -> table and key of the trial file that it replaces."""
    return {
        setting.argument or key: (name, key)
        for name, table in tables_of(RecordedSettings).items()
        for key, setting in table.settings.items()
        if setting.of_run
    }

"""Settings of the sharing of moments, [sharing], and the tables of settings of an OpenSim model."""

from __future__ import annotations

from collections.abc import Mapping

from musclesolve.constants import (
    NO_LOADS,
    PREDICTED,
    USUAL_COST,
    USUAL_LEAST_ACTIVATION,
    USUAL_SOLVER,
    WALKING_CUTOFF_HZ,
)
from musclesolve.muscles.settings import MuscleSettings
from musclesolve.tables.settings import Settings, same, setting, table, tables_of

REDUCED = "reduced"
"""Value of [consistency] for a residual that is reduced by a change of the motion."""
UNLOADED_NOTE = "No external load acts: moments follow from the motion and gravity alone."
PREDICTED_NOTE = "No force plate is used: the ground reactions are predicted from the motion."


def is_predicted(forces: object) -> bool:
    """Return whether the ground reactions are predicted from the motion, by the value that replaces their file."""
    return str(forces) == PREDICTED


def replaces_file(loads: object) -> bool:
    """Return whether a word replaces the file of forces or loads: predicted loads, or none."""
    return str(loads) in (PREDICTED, NO_LOADS)


class SharingSettings(Settings):
    """[sharing]."""

    cost: str = setting(
        "name of the cost function, followed by its options in parentheses", default=USUAL_COST, of_run=True
    )
    solver: str = setting("name of the solver", default=USUAL_SOLVER, of_run=True)
    reserve_weight: float | None = setting(
        "weight of reserve moments; without it joint moments are met exactly", above=0.0
    )
    least_activation: float = setting(
        "least activation of every muscle; the default is the minimum of OpenSim's muscles",
        default=USUAL_LEAST_ACTIVATION,
        within=(0.0, 0.5),
        of_run=True,
    )
    dofs: tuple[str, ...] | None = setting(
        "degrees of freedom whose moments the muscles must produce; hip, knee and ankle dorsiflexion when absent"
    )


class ModelFileSettings(Settings):
    """[files] of an OpenSim model."""

    model: str = setting("the OpenSim model (.osim)", required=True)
    coordinates: str = setting(
        "its coordinates over time (MOT, STO), as of inverse kinematics", required=True
    )
    moments: str | None = setting("its joint moments (STO, MOT), as of inverse dynamics: columns NAME_moment")
    loads: str | None = setting(
        "ground reactions (MOT, STO), or an ExternalLoads file (XML), from which moments are computed unless they are "
        'given, too; "predicted", without moments: from the motion, without force plates; "none": no external load acts'
    )

    @property
    def predicted(self) -> bool:
        """Whether the ground reactions are predicted from the motion."""
        return is_predicted(self.loads)

    @property
    def unloaded(self) -> bool:
        """Whether no external load acts on the model."""
        return str(self.loads) == NO_LOADS


class ModelSubjectSettings(Settings):
    """[subject] of an OpenSim model."""

    mass_kg: float | None = setting(
        "mass of the person [kg], in whose weight joint forces are given, too; the mass of a model with two feet "
        "when absent, else not known",
        above=0.0,
        maximum=1000.0,
    )
    stature_m: float | None = setting(
        "stature of the person [m], by which the volume of leg muscles is estimated; usual when absent",
        above=0.0,
        maximum=3.0,
    )


class ModelPlateSettings(Settings):
    """[plates] of an OpenSim model."""

    feet: str = setting(
        "feet that the loads act on: as stated in an ExternalLoads file, or determined from their contacts whatever it "
        "states",
        default="stated",
        choices=("stated", "nearest"),
    )


class ModelFilterSettings(Settings):
    """[filter] of an OpenSim model."""

    cutoff_hz: float | str = setting(
        "frequency at which the low-pass filter of the coordinates halves the amplitude [Hz]; "
        '"none": not filtered',
        default=WALKING_CUTOFF_HZ,
        above=0.0,
        words=("none",),
    )


class ModelConsistencySettings(Settings):
    """[consistency] of an OpenSim model."""

    residual: str = setting(
        'the residual force and moment at the root: "kept", or "reduced" by the smallest change of '
        "the coordinates (with measured loads)",
        default="kept",
        choices=("kept", REDUCED),
        of_run=True,
    )
    largest_change_mm: float = setting(
        'bound of the change of the center of mass of any body in any frame, with residual = "reduced" [mm]',
        default=20.0,
        above=0.0,
        maximum=100.0,
    )


class ModelMuscleSettings(Settings):
    """[muscles] of an OpenSim model."""

    database: str | None = setting(
        "file of one person's muscles (.toml), whose factors multiply the model's parameters; the model's own "
        "when absent",
        option="--muscles",
        argument="person",
    )
    names: tuple[str, ...] | None = setting(
        "muscles of the model; all that act on the shared coordinates when absent",
        option="--muscle",
        argument="muscles",
    )
    without: tuple[str, ...] | None = setting(
        "muscles of the model that are left out, also ones with parts that are not supported",
        option="--without-muscle",
        argument="without_muscles",
    )
    paths: str | None = setting(
        "file of lengths as functions of coordinates (XML, FunctionBasedPath), which replace the model's; the model's "
        "own when absent"
    )
    passive: str = setting(
        "passive forces: from the curves of the model, or no force", default="none", choices=("table", "none")
    )
    tendon: str = same(MuscleSettings, "tendon")
    tendon_strain: float | Mapping[str, float] | None = same(
        MuscleSettings,
        "tendon_strain",
        about="strain of elastic tendons at one maximum isometric force: of all, or by muscle, "
        '"achilles" or "all"; the strain of the model when absent',
    )


class ModelSharingSettings(SharingSettings):
    """[sharing] of an OpenSim model."""

    dofs: tuple[str, ...] | None = same(
        SharingSettings,
        "dofs",
        about="coordinates whose moments the muscles must produce; all free angles with muscles when absent",
        option="--coordinate",
    )
    without: tuple[str, ...] | None = setting(
        "coordinates whose moments no muscle must produce, for lack of suitable muscles; none when absent, "
        "except the coordinates of the toes"
    )
    actuators: tuple[str, ...] | None = setting(
        "actuators of the model that bear moments beside the muscles: all, or by name (CoordinateActuator, "
        "TorqueActuator, PathActuator); none when absent",
        option="--actuators",
    )


class TimeRangeSettings(Settings):
    """[time] of an OpenSim model: the frames that are shared."""

    start_s: float | None = setting(
        "first time to analyze [s]; the beginning of the recording when absent", option="--start", of_run=True
    )
    end_s: float | None = setting(
        "last time to analyze [s]; the end of the recording when absent", option="--end", of_run=True
    )


class SimulatorSettings(Settings):
    """[simulator] of a model of another program."""

    contacts: tuple[str, ...] | None = setting(
        "contacts of a MuJoCo model that act: all, or of named geoms or bodies; none when absent",
        option="--contacts",
    )


class KneeSettings(Settings):
    """[knee]."""

    contact_spacing_m: float | None = setting(
        "distance of the medial and the lateral contact of a knee [m]; a share of the breadth of the knee "
        "when absent, in an OpenSim model of the length of the shank",
        within=(0.01, 0.1),
    )


class OpenSimSettings(Settings):
    """The settings by which the moments of an OpenSim model are shared: a model, its motion, its moments or loads."""

    files: ModelFileSettings = table(ModelFileSettings, required=True)
    subject: ModelSubjectSettings = table(ModelSubjectSettings)
    plates: ModelPlateSettings = table(ModelPlateSettings)
    filter: ModelFilterSettings = table(ModelFilterSettings)
    consistency: ModelConsistencySettings = table(ModelConsistencySettings)
    muscles: ModelMuscleSettings = table(ModelMuscleSettings)
    sharing: ModelSharingSettings = table(ModelSharingSettings)
    time: TimeRangeSettings = table(TimeRangeSettings)
    knee: KneeSettings = table(KneeSettings)
    simulator: SimulatorSettings = table(SimulatorSettings)


def model_arguments(kind: type[OpenSimSettings] = OpenSimSettings) -> dict[str, tuple[str, str]]:
    """Return keyword of `opensim_problem` -> table and key of the settings of a model; files are no keywords."""
    tables = tables_of(kind)
    return {
        rule.argument or key: (name, key)
        for name in tables_of(OpenSimSettings)
        if name != "files"
        for key, rule in tables[name].settings.items()
    }

"""The settings of a synthetic recording: arguments of `synthetic_recording` and options of `synthesize`."""

from __future__ import annotations

from musclesolve.constants import FLIGHT_CUTOFF_HZ, SEED, WALKING_CUTOFF_HZ
from musclesolve.settings.schema import Settings, same, setting, settings_class, settings_of, table
from musclesolve.settings.trial import FilterSettings, LaboratorySettings

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
        "a marker set (`musclesolve markers` lists them); a marker on every landmark when absent"
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
    forward: str = same(
        LaboratorySettings,
        "forward",
        about="axis of the files along which the subject walks",
        required=False,
        default="+x",
    )
    up: str = same(
        LaboratorySettings, "up", about="axis of the files that points up", required=False, default="+z"
    )
    heading_deg: float = setting(
        "initial walking direction, to the left of forward [deg]", default=0.0, within=(-360.0, 360.0)
    )
    turn_deg: float = setting(
        "change of the walking direction to the left over the strides [deg]; negative: to the right",
        default=0.0,
    )
    steps: tuple[str, ...] | None = setting(
        "a contact that is measured by a force plate, such as r2, the second one of the right foot; all contacts when "
        "absent. With it the trial file has no [time]: the range is for the reader to determine",
        option="--step",
    )
    faults: tuple[str, ...] = setting(
        "a fault to plant (`musclesolve faults` lists them)", default=(), option="--fault"
    )
    seed: int = setting("seed of the random numbers", default=SEED, minimum=0)
    decimals: int = setting("decimals of a marker coordinate in millimeters", default=4, within=(0, 12))


SYNTHETIC = settings_class("SyntheticFile", {"recording": table(SyntheticSettings)})
"""These settings as the only table of a file."""

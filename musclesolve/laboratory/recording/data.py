"""Records of a recording: markers, columns, plates, subject, the whole trial."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve._util.checks import check_type
from musclesolve._util.messages import count_of, with_sizes
from musclesolve._util.sides import SIDE_NAMES as SIDE_NAMES
from musclesolve._util.sides import SIDES as SIDES
from musclesolve._util.sides import Side as Side
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.recording.emg_state import (
    ChannelState,
    channel_states,
    fast_and_negative,
    is_envelope,
    is_flat,
)
from musclesolve.laboratory.recording.trial_settings import (
    EmgSettings,
    JointCenterSettings,
    RecordedSettings,
    SubjectSettings,
    TrialSettings,
)
from musclesolve.tables.document import Document, check_value
from musclesolve.tables.sampled import Markers, Sampled
from musclesolve.tables.settings import settings_of, tables_of

EventKind = Literal["heel_strike", "toe_off", "foot_below_hip"]
# Clusters by these names replace the landmarks that otherwise register the segment from standing to motion.
BODY_CLUSTERS = frozenset({"pelvis", "foot_r", "foot_l"})
_USED_UP = frozenset(
    {"files", "fascicle", *(f"emg.{key}" for key in settings_of(EmgSettings) if key != "weight")}
)
_NUMBERS = frozenset({"number", "whole", "truth", "weights", "number_or_weights"})


@dataclass(frozen=True)
class PlateGap:
    """A stretch of samples in which a plate has no numbers; a straight line fills it."""

    first: float  # time of the first sample without them [s]
    last: float  # time of the last one [s]
    filled: bool  # whether it is so short that the line is taken as measured
    where: str  # the place in the file


BESIDE_GAP = 0.1
"""Time [s] over which the filter spreads the samples in a gap of a plate beyond its ends."""


@dataclass(frozen=True)
class ImpossibleForce:
    """A stretch of samples in which the force of a plate cannot come from its foot; a straight line replaces it."""

    first: float  # time of its first sample [s]
    last: float  # time of its last one [s]
    fault: str  # why the worst of them cannot be, as in "acts 0.6 m away from it"
    vertical: float  # size of the vertical force in that sample [N]
    time: float  # its time [s]
    greatest: float = 0.0  # size of the largest vertical force of any impossible sample [N]


def _within(time: Array, spans: Iterable[PlateGap | ImpossibleForce], reach: float = 0.0) -> Mask:
    """Return a mask of the times (T,) in some stretches of a plate, or within `reach` [s] of one."""
    inside = [(time >= span.first - reach) & (time <= span.last + reach) for span in spans]
    return np.any(inside, axis=0) if inside else np.zeros(time.size, bool)


@dataclass(frozen=True, eq=False)
class PlateForce(Sampled):
    """Force of one plate on one foot, in the global frame, S samples at the plate's own rate."""

    side: Side
    time: Array  # (S,) [s]
    force: Array  # (S, 3) [N], on the foot
    point: Array  # (S, 3) [m], where the force is applied; meaningless while the plate is unloaded
    moment: Array  # (S, 3) [N m], about that point (the free moment when the point is the center of pressure)
    path: Path
    number: int | None = None  # of the plate in that file; None where [[force]] names columns
    gaps: tuple[PlateGap, ...] = ()
    impossible: tuple[ImpossibleForce, ...] = ()
    turned: bool = False  # whether its file has the opposite force
    moment_fault: str = ""  # what is wrong with the channel of its vertical moment
    # (S, 3) [N], what it shows while nobody is on it, else NaN; None where `force` shows it
    unloaded: Array | None = None

    __repr__ = with_sizes

    def possible(self, time: Array) -> Mask:
        """Return a mask of the times (T,) that impossible samples do not affect through the filter."""
        return ~_within(time, self.impossible, BESIDE_GAP)

    @property
    def plate_force(self) -> Array:
        """The force (S, 3) of the plate, also below the threshold of the settings."""
        return self.force if self.unloaded is None else self.unloaded

    @property
    def measured(self) -> Mask:
        """Mask (S,) of the samples with a possible force of the foot, outside gaps that are too long to be filled."""
        return ~(self.in_gap(self.time) | _within(self.time, self.impossible))

    def in_gap(self, time: Array, reach: float = 0.0) -> Mask:
        """Return a mask of the times (T,) [s] in gaps too long to be filled, or within `reach` [s] of one."""
        return _within(time, [gap for gap in self.gaps if not gap.filled], reach)


LIGHT_N = 50.0
"""Size of a vertical force [N] that is no person on a plate."""


def pulls_down(vertical: Array) -> bool:
    """Return whether a plate has the vertical forces (S,) [N] of the foot on it: no plate pulls a foot down."""
    return bool(vertical.min(initial=0.0) < -max(2.0 * vertical.max(initial=0.0), LIGHT_N))


SAME_EVENT_S = 0.3
"""Time [s] within which events of one kind and foot are one event: no foot steps twice in so short a time."""


@dataclass(frozen=True)
class Event:
    """A gait event: a foot meets the ground, leaves it, or passes the point below the opposite hip joint in its swing.

    Examples:
        >>> ms.laboratory.Event("heel_strike", "r", 0.31, "forces").time
        0.31
    """

    kind: EventKind
    side: Side
    time: float  # when, on the clock of the markers and forces [s]
    # "stated" (in a file), "forces", "predicted" (by predicted forces), "markers", or "periodic" (a stride away from
    # another one)
    source: str


@dataclass(frozen=True)
class SegmentValues:
    """Stated inertia of a segment instead of the inertia table; None: as in the table.

    mass [kg], or a factor on the table's mass; center: distance from the first end as a share of the length; inertia
    about the center, about the front-back, left-right and long axis [kg m2], in proportion to the mass unless stated.
    """

    mass: float | None = None
    mass_factor: float | None = None
    center: float | None = None
    inertia: tuple[float, float, float] | None = None

    @property
    def sentence(self) -> str:
        """Stated values, in words."""
        parts = []
        if self.mass is not None:
            parts.append(f"{self.mass:g} kg")
        if self.mass_factor is not None:
            parts.append(f"{self.mass_factor:g} times the mass")
        if self.center is not None:
            parts.append(f"center at {100.0 * self.center:g} %")
        if self.inertia is not None:
            parts.append("inertia " + ", ".join(f"{moment:g}" for moment in self.inertia) + " kg m2")
        return ", ".join(parts)


USUAL_WIDTH = {"knee": 0.059, "ankle": 0.039}
"""Width between epicondyles, and between malleoli, as a share of stature: medians of what clinical C3D files of six
laboratories state (knee 0.057 to 0.070, and 0.084 of a heavy person; ankle 0.037 to 0.041, and 0.052)."""


@dataclass(frozen=True)
class Subject:
    """The subject: mass with shoes [kg], stature [m], leg length [m] from ASIS to medial malleolus if it was measured.

    shoe_mass: one shoe [kg]; the inertia tables are of bare feet. knee_width, ankle_width: between the epicondyles,
    and between the malleoli [m]; they and marker_diameter [m] are used only for joints without a medial marker. None:
    as usual at this stature.
    segments: stated inertia of single segments instead of the table. age [years]: None where it is not stated.
    skeleton: file of the definition of bodies and joints; None: the bundled one of 33 bodies. date, condition: of the
    recording, as the report prints them. mass_from: "scale", or "plates" for a mass that they carried.

    Examples:
        >>> ms.laboratory.Subject("S01", mass=72.5, stature=1.76, sex="female").mass
        72.5
    """

    name: str
    mass: float
    stature: float
    sex: str
    leg_length: float | None = None
    shoe_mass: float = 0.0
    knee_width: float | None = None
    ankle_width: float | None = None
    marker_diameter: float = settings_of(SubjectSettings)["marker_diameter_m"].default
    segments: Mapping[str, SegmentValues] = field(default_factory=dict)
    age: float | None = None
    skeleton: Path | None = None
    date: str = ""
    condition: str = ""
    mass_from: str = settings_of(SubjectSettings)["mass_from"].default

    def width(self, joint: str) -> float:
        """Return the width of a knee or ankle [m]: as stated, else as usual at this stature (`USUAL_WIDTH`)."""
        stated = {"knee": self.knee_width, "ankle": self.ankle_width}[joint]
        return USUAL_WIDTH[joint] * self.stature if stated is None else stated

    def chord_offset(self, joint: str) -> float:
        """Return the distance from the lateral marker of a knee or ankle to the joint center [m]."""
        return 0.5 * (self.width(joint) + self.marker_diameter)


@dataclass(frozen=True, eq=False)
class Emg(Sampled):
    """Signals of k channels of EMG and their muscles by the trial file, S samples at their own rate.

    muscles: names in the trial file, to be looked up in the muscle set. maximum: the envelope that corresponds to
    activation 1, in the unit of the file; None: the largest of the recording.
    """

    time: Array  # (S,) [s], evenly spaced, on the clock of the markers
    names: tuple[str, ...]
    values: Array  # (S, k) in the unit of the file, NaN where a sample is missing
    muscles: tuple[tuple[str, ...], ...]
    maximum: tuple[float | None, ...]
    path: Path
    options: EmgSettings = field(default_factory=EmgSettings)

    @cached_property
    def kinds(self) -> dict[str, tuple[bool, float, float, float]]:
        """Kind of each channel that is not flat: whether it is an envelope, and the numbers of `fast_and_negative`."""
        return {
            name: (is_envelope(signal, self.rate), *fast_and_negative(signal, self.rate))
            for name, signal in zip(self.names, self.cleaned.T, strict=True)
            if not is_flat(signal)
        }

    @cached_property
    def _examined(self) -> tuple[Array, tuple[ChannelState, ...]]:
        return channel_states(self.values, self.time, bool(self.options.processed), self.maximum)

    @property
    def cleaned(self) -> Array:
        """The signals (S, k) without spikes and hum, as far as these can be removed."""
        return self._examined[0]

    @property
    def states(self) -> tuple[ChannelState, ...]:
        """State of every channel, judged by its signal."""
        return self._examined[1]

    @property
    def unusable(self) -> dict[str, str]:
        """Channels that are neither used nor compared, by name, with the reason."""
        pairs = zip(self.names, self.states, strict=True)
        return {name: state.unusable for name, state in pairs if state.unusable}


@dataclass(frozen=True, eq=False)
class Fascicles:
    """Fascicle lengths of k muscles from ultrasound, S samples at their own times.

    muscles: names in the trial file, to be looked up in the muscle set.
    """

    time: Array  # (S,) increasing [s], on the clock of the motion
    names: tuple[str, ...]  # columns of the file
    length: Array  # (S, k) [m], NaN where no fascicle was seen
    muscles: tuple[str, ...]
    error: float  # standard deviation of a length [m]
    path: Path
    offset: float = 0.0  # added to the times of the file [s]


@dataclass(frozen=True)
class Gap:
    """A stretch of frames in which a needed marker was not seen.

    Examples:
        >>> ms.laboratory.Gap("RKNE", first=0.95, last=1.05, frames=11, filled=True, account="a cluster").frames
        11
    """

    marker: str
    first: float  # time of the first missing frame [s]
    last: float  # time of the last one [s]
    frames: int
    filled: bool
    account: str  # the method of filling, or the reason why it was not filled
    # root mean square error of the filled positions that 19 of 20 gaps of the same form stay below, closed
    # elsewhere in the same marker where it moves about as fast [m]; NaN where it is not known
    error: float = float("nan")


@dataclass(frozen=True)
class HingeMovement:
    """A recording in which a knee or an ankle bends and straightens, and the bodies that it joins."""

    joint: str  # "knee" or "ankle"
    side: Side
    markers: Markers  # in the global frame
    proximal: str  # the cluster of the segment above, which carries the axis into the motion
    distal: tuple[str, ...]  # the markers of the body below


@dataclass(frozen=True, kw_only=True)
class Recording:
    """Recorded data: arrays in the global frame (x forward, y left, z up), and their places in the files."""

    document: Document  # the text of the trial file, so that an error of any stage can name its line
    markers: Markers  # the motion, all recorded frames
    # the standing trial; z is up, the heading is arbitrary. None without one
    static: Markers | None
    # side -> a recording in which this hip moves in all directions; empty without one
    functional: Mapping[Side, Markers] = field(default_factory=dict)
    # joint with side, such as "knee_r", ankles first -> its movement, of joints whose axis is found by it
    hinges: Mapping[str, HingeMovement] = field(default_factory=dict)
    forces: tuple[PlateForce, ...]
    mapping: Mapping[str, Mapping[str, float]]  # landmark name -> marker name -> weight
    clusters: Mapping[str, tuple[str, ...]]  # cluster name -> marker names that move as one body
    carried: Mapping[str, str]  # marker that only the standing trial shows -> the cluster that carries it
    time_range: tuple[float, float]  # first and last time to analyze [s]
    # side -> first and last time within the time range in which that leg is measured [s]; empty where the trial
    # file gives the range, and then it holds for both legs
    legs: Mapping[Side, tuple[float, float]] = field(default_factory=dict)
    # side -> spans in which the ground reaction of its foot is predicted from the motion, not measured [s]; None
    # without prediction
    predicted_spans: Mapping[Side, tuple[tuple[float, float], ...]] | None = None
    # stated heel strikes and toe-offs; see ``laboratory.motion.events.gait`` for all events
    events: tuple[Event, ...] = ()
    # kinds of events of which these are all: forces and markers are not used
    all_events_of: frozenset[tuple[EventKind, Side]] = frozenset()
    # gaps of the needed markers, in or near the time range, filled or not
    gaps: tuple[Gap, ...] = ()

    @property
    def used_markers(self) -> tuple[str, ...]:
        """Names of the markers of the motion that the analysis needs, in the order of the file."""
        mapped = {marker for weights in self.mapping.values() for marker in weights}
        clusters = {self.carried[marker] for marker in mapped if marker in self.carried}
        clusters |= self.clusters.keys() & BODY_CLUSTERS
        clusters |= {movement.proximal for movement in self.hinges.values()}
        needed = mapped.difference(self.carried)
        while members := {marker for cluster in clusters for marker in self.clusters[cluster]} - needed:
            needed |= members
            clusters = {self.carried[m] for m in members if m in self.carried and m not in self.markers}
        return tuple(name for name in self.markers.names if name in needed)

    @property
    def axis_ends(self) -> dict[str, str]:
        """Landmark at an end of a functional axis -> the cluster that carries it."""
        return {
            f"{movement.joint}_{end}_{movement.side}": movement.proximal
            for movement in self.hinges.values()
            for end in ("lateral", "medial")
        }

    def sees(self, landmark: str) -> bool:
        """Return whether the markers of the motion show a landmark without a cluster that carries it."""
        markers = self.mapping.get(landmark, ())
        return bool(markers) and all(name in self.markers and name not in self.carried for name in markers)

    def inside(self, time: Array, start: float, end: float) -> Mask:
        """Mask of the times (T,) in a range, to half a frame: the last digit of a printed time has no effect."""
        half = 0.5 / self.markers.rate
        return np.asarray((time > start - half) & (time < end + half))

    def frames(self) -> slice:
        """Return the frames of the motion that lie in the time range."""
        half = 0.5 / self.markers.rate
        ends = self.time_range[0] - half, self.time_range[1] + half
        return slice(*(int(k) for k in np.searchsorted(self.markers.time, ends)))

    @property
    def balanced_range(self) -> tuple[float, float] | None:
        """First and last time [s] of the longest span in which both feet are measured; None without one."""
        start, end = self.time_range
        if self.legs:
            start, end = (pick(self.legs[s][k] for s in self.legs) for k, pick in enumerate((max, min)))
            if len(self.legs) < len(SIDES) or end <= start:
                return None
        if self.predicted_spans is None:
            return start, end
        time = self.markers.time[self.inside(self.markers.time, start, end)]
        runs = true_runs(~np.any([self.predicted(side, time) for side in SIDES], axis=0))
        first, stop = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
        return (float(time[first]), float(time[stop - 1])) if stop - first > 1 else None

    def predicted(self, side: Side, time: Array) -> Mask:
        """Return a mask of the times (T,) at which the force on a foot is predicted from the motion."""
        predicted = np.zeros(time.size, bool)
        if self.predicted_spans is not None:
            for span in self.predicted_spans.get(side, ()):
                predicted |= self.inside(time, *span)
            for plate in self.forces:
                if plate.side == side:
                    predicted |= ~plate.possible(time)
        return predicted

    def measured(self, side: Side, time: Array) -> Mask:
        """Return a mask of the times (T,) of the time range at which the force on a foot was measured, as far as is
        known.

        Then every contact of the foot is on a plate, and the force of its plates is possible for the foot.
        """
        mask = ~self.predicted(side, time)
        if self.legs:
            mask &= self.inside(time, *self.legs.get(side, (np.inf, -np.inf)))
        for plate in self.forces:
            if plate.side == side:
                mask &= plate.possible(time)
        return mask

    def known(self, side: Side, time: Array) -> Mask:
        """Mask of the times (T,) of the time range at which the force on a foot was measured or is predicted."""
        return self.measured(side, time) | self.predicted(side, time)


def _used_up(where: str) -> InputError:
    return input_error(
        "conflict",
        where=where,
        problem="reading the trial has used this setting up: another value would change nothing",
        expected="settings of the computation, such as [sharing], [muscles] or [filter]",
        remedy="change it in the trial file, or in a copy of it, and read that",
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class AnyTrial:
    """Content of a trial file: of a recording (`Trial`) or of an OpenSim model (`ModelTrial`).

    Args:
        document: the text of the trial file, so that an error of any stage can name its line.
        settings: of the trial file; a file of muscles by its path.
        emg: measured signals of muscles; None without [emg].
        fascicles: measured fascicle lengths; None without [fascicle].
        files: role ("trial", "markers", "model", ...) -> path, for provenance.
        hashes: role -> SHA-256 of the content of these files.
        notes: sentences a reader of the results should see.
    """

    used_up: ClassVar[frozenset[str]] = _USED_UP
    """Tables, and keys such as "time.start_s", that only `read_trial` uses."""

    document: Document
    settings: TrialSettings
    emg: Emg | None = None
    fascicles: Fascicles | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict, compare=False)
    notes: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Path of the trial file."""
        return self.document.path

    def with_settings(self, **tables: Any) -> Self:
        """Return the trial with other settings; each argument is a table, or a dict of some of its keys.

        Raises:
            TypeError: there is no such table or key.
            InputError: a value that no trial file can have, or another value of a setting that only reading uses.

        Examples:
            >>> trial = ms.read_trial(ms.data.reference_stride())
            >>> trial.with_settings(sharing={"cost": "min_max"}).settings.sharing.cost
            'min_max'
        """
        changed = self.settings.changed(**tables)
        known = tables_of(type(self.settings))
        for table in tables:
            now, before, holds = changed[table], self.settings[table], known[table].holds
            if table in self.used_up and now != before:
                raise _used_up(f"[{table}]")
            if holds is None or known[table].one_per:
                continue
            check_type(now, holds, f"[{table}]", "a dict of its keys")
            for key, rule in settings_of(holds).items():
                value, place = now[key], f"[{table}] {key}"
                if value is before[key] or (not isinstance(value, np.ndarray) and value == before[key]):
                    continue
                if f"{table}.{key}" in self.used_up:
                    raise _used_up(place)
                if value is not None and (rule.kind in _NUMBERS or rule.choices):
                    check_value(list(value) if isinstance(value, tuple) else value, rule, place)
        return replace(self, settings=changed)


@dataclass(frozen=True)
class FunctionalTrials:
    """Recordings of the hips by side, and movements of knees and ankles by joint and side, ankles first."""

    hips: Mapping[Side, Markers] = field(default_factory=dict)
    hinges: Mapping[str, HingeMovement] = field(default_factory=dict)

    @property
    def recordings(self) -> tuple[Markers, ...]:
        """The markers of all functional trials."""
        return (*self.hips.values(), *(movement.markers for movement in self.hinges.values()))


@dataclass(frozen=True, kw_only=True, repr=False)
class Trial(AnyTrial, Recording):
    """One recorded motion with everything needed to analyze it; made by ``read_trial`` and checked there.

    The first stage of the pipeline splits it: stages take the recording, the subject, or the settings that they need.
    Trials are equal where their samples are the same objects and all other values are equal, whatever their hashes.

    Args:
        subject: of the recording. analyzed: sentences on the analyzed part of the recording, with reasons, if the trial
            file states no range. plate_corrections: sentences on changes of the measured ground forces by [plates].

    Examples:
        >>> trial = ms.read_trial(ms.data.reference_stride())
        >>> trial.subject.name, trial.markers.position.shape[2]
        ('reference stride', 3)
    """

    used_up = _USED_UP | set(
        "subject laboratory events gaps joint_centers markers exchanged mapping clusters carried plates force "
        "time.start_s time.end_s".split()
    )

    subject: Subject
    settings: RecordedSettings = field(default_factory=RecordedSettings)
    analyzed: tuple[str, ...] = ()
    plate_corrections: tuple[str, ...] = ()
    # whether all values are as `read_trial` read them; False for a copy with other values (`dataclasses.replace`)
    as_read: bool = field(default=False, init=False, compare=False)
    # the recording as its files hold it, without any gap filled, for its examination; of a trial as it was read alone
    recorded: "Trial | None" = field(default=None, init=False, compare=False)

    def __repr__(self) -> str:
        """Return a description of the trial in one line, without arrays."""
        start, end = self.time_range
        return (
            f"<Trial {str(self.path)!r}: {self.subject.name}, {len(self.markers.names)} markers, "
            f"{count_of(len(self.forces), 'plate')}, {start:g} to {end:g} s>"
        )

    @property
    def unloaded_below(self) -> float:
        """Vertical force under which a plate counts as unloaded [N]."""
        return self.settings.filter.unloaded_below_n

    @property
    def hip_regression(self) -> str:
        """Name of the hip center regression; with functional hips, of the regression for comparison."""
        hip = self.settings.joint_centers.hip
        return settings_of(JointCenterSettings)["hip"].default if hip == "functional" else hip

    @property
    def hip_method(self) -> str:
        """Method of the hip centers: "functional", "mapped", the name of the regression, or the method of each side."""
        if self.functional:
            return "functional"
        mapped = [side for side in SIDES if f"hip_center_{side}" in self.mapping]
        if len(mapped) == 1:
            return f"{self.hip_regression}, mapped on the {SIDE_NAMES[mapped[0]]}"
        return "mapped" if mapped else self.hip_regression

"""The first seconds of a session as the standing trial of its subject.

The trial file of the session is a template of the laboratory: mapping, plates, muscles, cost, what is known of the
subject. It needs no recording of this subject; the files that the trial file names as markers, standing trial and
forces are not read. The subject stands still for some seconds; what was seen becomes `standing.trc` and `standing.mot`,
and `standing.toml` is the template with these files: the trial that `Live` is made of. Lengths, joint centers and
muscle paths follow from it as from any standing trial, and the mass from the plates where it is requested or not
stated.

What is wrong is said while the person is still there, by the checks of recordings (`musclesolve check`) and by
questions that only a standing subject can answer: whether they stood still, what the plates carry, what they show
without a load.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import few
from musclesolve.apps.live.live import Live, SampleClock
from musclesolve.apps.live.recorder import STANDING_HEAD, plate_columns
from musclesolve.apps.live.stream import WAIT, Arrival, Sample, Source, StreamEnded
from musclesolve.constants import PREDICTED, STANDARD_GRAVITY, USUAL_MASS
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.laboratory.checks.case import finding_of
from musclesolve.laboratory.checks.check import all_checks, examined_file
from musclesolve.laboratory.checks.recording.mass import FAR_MASS, MASS
from musclesolve.laboratory.checks.recording.plate_zero import ZERO
from musclesolve.laboratory.files.formats import read_markers
from musclesolve.laboratory.markers.marker_names import find_marker_set, markers_of
from musclesolve.laboratory.recording.axes import rotation_of
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Side, Trial
from musclesolve.laboratory.recording.trial_document import of_model, trial_document
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.laboratory.results.finding import SEVERITIES, Finding, Severity, Where
from musclesolve.laboratory.trial.dependent_settings import with_paths
from musclesolve.laboratory.trial.trial_file import read_standing
from musclesolve.models.settings import is_predicted
from musclesolve.tables.document import tables_text, validated
from musclesolve.tables.opensim_text import write_mot, write_trc
from musclesolve.tables.sampled import Markers, Table
from musclesolve.tables.text_file import write_text, writing

NAMES = {
    "trial": "standing.toml",
    "markers": "standing.trc",
    "forces": "standing.mot",
    "motion": "motion.trc",
    "motion_forces": "motion.mot",
}
STILL = 0.05
"""Largest motion of a marker relative to the middle of all markers in quiet standing [m]: the body may sway as a
whole, by some centimeters in 5 s. A tenth of the samples may lie outside."""
RAISED_DEG = 45.0
"""Angle to the vertical above which an arm counts as raised [degrees]."""
SEEN = 0.5
"""Least share of the samples in which a marker must be seen."""
LOADED_PLATE_SHARE = 0.05
"""Share of the load of all plates below which a plate carries no foot."""
STANDS = 150.0
"""Load from which a person stands on the plates [N]."""
ATTEMPTS = 3
"""Largest number of attempts to stand."""
PATIENCE = 10.0
"""Time to wait for samples [s]: for the first one, and for any later one before the attempt counts as not measured."""
LONGEST_GAP = 1.0
"""Time without samples after which the standing begins anew [s], as with another clock."""
_AXES = ("forward", "left", "up")
ASKED = frozenset(
    "trial_file unreadable mapping marker_units up_axis sides_swapped pair_swapped labels_exchanged landmark_order "
    "noise markers_merged joint_width subject stature proportions pose strength".split()
)
"""Checks of `musclesolve check` that apply to a standing subject; the others are about motion."""


@dataclass(frozen=True, eq=False)
class Stood:
    """Result of a standing.

    trial: for `Live`, None if it was refused. mass: by the plates [kg], NaN if nobody stood on them. findings: faults
    of the standing, errors first.
    """

    trial: Trial | None
    mass: float
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether the session may go on; else the subject has to stand again."""
        return self.trial is not None and not any(entry.severity == "error" for entry in self.findings)


class Standing:
    """A standing to be measured, and the signals that the streams have to deliver for it.

    Args:
        template: trial file of the laboratory.
        folder: where the standing trial goes; made if missing.
        plates: of each plate of the stream "r", "l", or None where the foot is found contact by contact; the feet of
            the [[force]] tables of the template unless given.
        rate_hz: samples of the markers a second; the rate of the recording that the template names unless given.
        weigh: take the mass from the plates even where the template states one.

    Attributes:
        markers: names of all markers that may be seen, those included that are taken off after the standing.
        plates, channels, rate, bridge: as of `Live`. optional: markers of a set that need not be there.
        document: the template.
    """

    channels: tuple[str, ...] = ()
    bridge = 0.05

    def __init__(
        self,
        template: str | Path,
        folder: str | Path,
        plates: Sequence[Side | None] | None = None,
        rate_hz: float | None = None,
        weigh: bool = False,
    ) -> None:
        self.document, self.folder = trial_document(Path(template)), Path(folder)
        stated = self.document.content
        if of_model(self.document):
            problem, expected = "this is the trial of an OpenSim model", "the trial file of recorded markers"
            raise self.document.fault("unsupported", ("files", "model"), problem, expected)
        self.rate = self._rate() if rate_hz is None else rate_hz
        self._predicts = isinstance(stated.get("files"), dict) and is_predicted(stated["files"].get("forces"))
        weighs = isinstance(stated.get("subject"), dict) and "mass_kg" not in stated["subject"]
        self.weighed = weigh or weighs
        if self._predicts and (plates or self.weighed):
            raise self.document.fault(
                "conflict",
                ("files", "forces"),
                "the ground reactions of this template are predicted: no plates measure the standing subject",
                "mass_kg in [subject], and neither --plate nor --weigh",
                "state the mass, or name the file of the forces in [files] forces",
            )
        if self._predicts:
            plates = ()
        if plates is None:
            plates = [entry.get("side") for entry in stated.get("force", []) if isinstance(entry, dict)]
            if not plates or not set(plates) <= set(SIDES):
                raise self.document.fault(
                    "missing_key",
                    "force",
                    "it is not known which plates the stream has, and which foot stands on each",
                    'a [[force]] with side = "r" or "l" for every plate',
                    "state them, or --plate r --plate l",
                )
        self.plates = tuple(plates)
        # data that the standing will supply are not required of the template
        self._stated = stated
        entries = [] if self._predicts else stated.get("force") or [{}] * len(self.plates)
        self.document.content = self._content(USUAL_MASS) | {
            "force": [
                {"side": SIDES[0]} | plate_columns(k) | {key: entry[key] for key in entry if key != "plate"}
                for k, entry in enumerate(entries)
            ]
        }
        if "plates" in stated:  # corrections of a recording, which a source asks for
            self.document.content["plates"] = stated["plates"]
        self._stood: Stood | None = None
        settings = validated(self.document, RecordedSettings)
        if isinstance(settings.filter.cutoff_hz, str):
            raise self.document.fault(
                "conflict",
                ("filter", "cutoff_hz"),
                f'cutoff_hz = "{settings.filter.cutoff_hz}" with a standing, which shows no motion',
                "a number",
                "write cutoff_hz = 6 for walking (4 for key points of video), 10 to 20 for running",
            )
        if settings.emg.weight or settings.sharing.cost == "emg_tracking":
            raise self.document.fault(
                "unsupported",
                ("emg", "weight"),
                "a cost that follows EMG, after a standing that shows none",
                "another cost",
                "make a trial file with a recording of this subject, or leave out [emg] weight",
            )
        chosen = stated.get("markers", {}).get("set")
        self._set = None if chosen is None else find_marker_set(self.document, chosen)
        mapped = (marker for way in settings.mapping.values() for marker in markers_of(way))
        clustered = (marker for names in settings.clusters.values() for marker in names)
        of_set = () if self._set is None else self._set.markers
        written = [*mapped, *clustered, *settings.carried]
        self.markers = tuple(dict.fromkeys([*written, *of_set]))
        self.optional = frozenset(of_set) - set(written)
        self._axes = rotation_of(self.document, settings.laboratory)

    def _rate(self) -> float:
        """Return the rate of the recording that the template names [Hz]."""
        named = self.document.content.get("files", {}).get("markers")
        try:
            return read_markers(self.document.path.parent / str(named)).rate
        except InputError:
            raise file_error(
                "missing_argument",
                self.document.path,
                "the template names no recording that would show how many samples come a second",
                "the rate of the markers [Hz]",
                "--rate 100",
            ) from None

    def _forces_as(self, role: str) -> str:
        """The entry of `[files] forces` for the recorded forces of a role."""
        return PREDICTED if self._predicts else NAMES[role]

    def _content(self, mass: float, carried: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the tables of the trial file of the standing, with the weighed mass [kg]."""
        content = with_paths(self._stated, self.document.path.parent, self.folder / NAMES["trial"])
        kept = {key: x for key, x in (content.get("files") or {}).items() if key.startswith("functional")}
        markers, forces = NAMES["markers"], self._forces_as("forces")
        content["files"] = {"markers": markers, "forces": forces, "static": markers} | kept
        for name in ("time", "emg", "fascicle", "plates"):
            content.pop(name, None)
        if isinstance(content.get("laboratory"), dict):
            content["laboratory"] = {
                key: axis for key, axis in content["laboratory"].items() if not key.startswith("static")
            }
        if isinstance(content.get("subject"), dict) and self.weighed:
            content["subject"]["mass_kg"] = mass
        content["force"] = [
            {"side": side or SIDES[k % 2]} | plate_columns(k) for k, side in enumerate(self.plates)
        ]
        if carried:
            content["carried"] = {**carried, **content.get("carried", {})}
        return content

    def measure(self, source: Source, seconds: float, stop: Callable[[], bool] = lambda: False) -> Stood:
        """Take samples for some seconds, write the standing trial and say what is wrong with it.

        Args:
            source: of samples in the order of `markers` and `plates`.
            seconds: how long the subject stands [s].
            stop: called at least ten times a second.

        Raises:
            KeyboardInterrupt: `stop` says so.
            InputError: hardly a sample came, or the folder cannot be written.
        """
        time, markers, plates = self._taken(source, seconds, stop)
        seen = np.isfinite(markers).all(axis=2).mean(axis=0)
        mass, of_plates = self._weighed(plates)
        findings = [*of_plates, *self._seen_and_still(markers, seen)]
        self._write_recording("markers", "forces", time, markers, plates)
        path = self._write_trial(mass, {name for name, s in zip(self.markers, seen, strict=True) if s > 0.0})
        faults = examined_file(path, all_checks())
        findings += [entry for entry in faults if entry.code in ASKED and entry.severity != "note"]
        trial = None
        try:
            trial = read_standing(path)
        except InputError as error:
            if not any(entry.severity == "error" for entry in findings):
                findings.append(finding_of("refused", error))
        else:
            findings += _raised_arms(trial)
        ordered = sorted(findings, key=lambda entry: SEVERITIES.index(entry.severity))
        self._stood = Stood(trial, mass, tuple(ordered))
        return self._stood

    def follow(self, source: Source, seconds: float, stop: Callable[[], bool] = lambda: False) -> Trial:
        """Take the first seconds of the movement as the motion of the trial, and return the trial.

        Lengths of trunk and arms, and which body carries which marker, are then taken from the movement. The subject
        was measured before.

        Args:
            source: as of `measure`.
            seconds: how much of the movement [s].
            stop: called at least ten times a second.

        Raises:
            KeyboardInterrupt: `stop` says so.
            InputError: hardly a sample came, or no motion can be read from them.
        """
        assert self._stood is not None and self._stood.trial is not None
        time, markers, plates = self._taken(source, seconds, stop)
        self._write_recording("motion", "motion_forces", time, markers, plates)
        path = self.folder / NAMES["trial"]
        content = trial_document(path).content
        content["files"] |= {"markers": NAMES["motion"], "forces": self._forces_as("motion_forces")}
        write_text(path, STANDING_HEAD + tables_text(content))
        return read_standing(path)

    def _taken(self, source: Source, seconds: float, stop: Callable[[], bool]) -> tuple[Array, Array, Array]:
        """Return times (T,) [s] from 0 on, markers (T, n, 3) and plates (T, P, 9) of some seconds, NaN where none came.

        Only samples that arrive from now on count; where their clock changes, the count restarts.
        """
        samples, slots, clock = list[Sample](), list[int](), SampleClock(self.rate, self.bridge)
        begun = heard = perf_counter()
        silent = False
        while not silent and (not slots or slots[-1] + 1e-6 < seconds * self.rate):
            if stop():
                raise KeyboardInterrupt
            try:
                arrival = source.wait(WAIT)
            except StreamEnded:
                break
            now = perf_counter()
            # what came before the subject was asked to stand shows something else
            if arrival is not None and arrival.received >= begun:
                taken = clock.take(arrival.sample.time)
                if not taken.refusal:
                    heard = now
                    if taken.anew and not 0 < taken.slots <= LONGEST_GAP * self.rate:
                        samples.clear()
                        slots.clear()
                    slots.append(slots[-1] + taken.slots if slots else 0)
                    samples.append(arrival.sample)
            silent = now - heard > PATIENCE or now - begun > 2.0 * seconds + PATIENCE
        if silent or len(samples) < max(0.5 * seconds * self.rate, 2.0):
            since = f", the last one {perf_counter() - heard:.0f} s ago" if samples else ""
            raise input_error(
                "no_stream",
                problem=f"{len(samples)} samples came in {perf_counter() - begun:.1f} s{since}",
                expected=f"{self.rate:g} a second for {seconds:g} s, by one clock",
                remedy="see whether the sender runs all the time, and whether --rate is its rate",
            )
        time = np.arange(slots[-1] + 1) / self.rate
        markers = np.full((len(time), len(self.markers), 3), np.nan)
        plates = np.full((len(time), len(self.plates), 9), np.nan)
        markers[slots], plates[slots] = [s.markers for s in samples], [s.plates for s in samples]
        return time, markers, plates

    def _write_recording(
        self, markers_as: str, forces_as: str, time: Array, markers: Array, plates: Array
    ) -> None:
        """Write the seen markers (T, n, 3) and the plates (T, P, 9), in the axes of the files."""
        with writing(self.folder / NAMES["trial"]):
            self.folder.mkdir(parents=True, exist_ok=True)
        shown = np.flatnonzero(np.isfinite(markers).all(axis=2).any(axis=0))
        names, path = tuple(self.markers[k] for k in shown), self.folder / NAMES[markers_as]
        write_trc(path, Markers(time, names, markers[:, shown] @ self._axes, path))
        if not self.plates:
            return
        # a plate that was not measured stands as unloaded: the trial needs its columns
        vectors = np.nan_to_num(plates.reshape(len(time), -1, 3) @ self._axes)
        columns = [
            f"{name}{axis}"
            for k in range(len(self.plates))
            for name in plate_columns(k).values()
            for axis in "xyz"
        ]
        path = self.folder / NAMES[forces_as]
        write_mot(path, Table(time, tuple(columns), vectors.reshape(len(time), -1), False, path), decimals=8)

    def _write_trial(self, mass: float, seen: set[str]) -> Path:
        """Write the trial file of the standing; markers that a marker set has for the standing alone are carried."""
        carried = dict[str, str]()
        if self._set is not None:
            clusters = {**self._set.clusters, **self._stated.get("clusters", {})}
            whole = [name for name, members in clusters.items() if len(seen.intersection(members)) >= 3]
            carried = {m: to for m, to in self._set.carried.items() if m in seen and to in whole}
        content = self._content(round(mass, 2) if np.isfinite(mass) else USUAL_MASS, carried)
        path = self.folder / NAMES["trial"]
        write_text(path, STANDING_HEAD + tables_text(content))
        return path

    def _weighed(self, plates: Array) -> tuple[float, list[Finding]]:
        """The mass by the plates [kg], NaN where nobody stands on them, and what is wrong with (T, P, 9)."""
        if not self.plates:
            return np.nan, []
        force = plates[:, :, :3]
        measured = np.isfinite(force).all(axis=2).mean(axis=0) > SEEN
        level = np.nanmedian(np.where(measured[:, None], force, 0.0), axis=0)
        total = float(level[measured, 2].sum())
        stands = total > STANDS
        findings = list[Finding]()
        for k in np.flatnonzero(measured):
            off = [f"{level[k, axis]:.0f} N {_AXES[axis]}" for axis in range(3) if abs(level[k, axis]) > ZERO]
            if off and level[k, 2] < LOADED_PLATE_SHARE * max(total, STANDS):
                what = f"plate {k + 1} shows {' and '.join(off)} while no foot is on it, expected less than {ZERO:g} N"
                remedy = "zero the plate, with nobody and nothing on it"
                findings.append(Finding("plate_baseline", "error", what, remedy))
        if not stands:
            severity: Severity = "error" if self.weighed else "note"
            what = f"nobody stands on the plates: they carry {total:.0f} N"
            remedy = "the mass is as stated"
            if self.weighed:
                remedy = "stand with both feet on the plates, or state mass_kg"
            return np.nan, [*findings, Finding("mass", severity, what, remedy)]
        mass = total / STANDARD_GRAVITY
        swing = float(np.ptp(np.nanquantile(force[:, measured, 2].sum(axis=1), [0.05, 0.95])))
        if swing > MASS * total:
            what = f"the load of the plates changes by {swing:.0f} N while the subject stands on them"
            findings.append(
                Finding("mass", "error", what, "stand still, with nothing in contact but the plates")
            )
        if not self.weighed:
            stated = float(self._stated["subject"]["mass_kg"])
            more = mass / stated - 1.0
            if abs(more) > MASS:
                what = f"the plates carry {mass:.1f} kg, mass_kg is {stated:g} ({100 * more:+.0f} %)"
                remedy = (
                    "weigh the subject, stand with both feet on the plates and touch nothing else, or --weigh"
                )
                severity = "error" if abs(more) > FAR_MASS else "warning"
                findings.append(Finding("mass", severity, what, remedy))
        return mass, findings

    def _seen_and_still(self, markers: Array, seen: Array) -> Iterator[Finding]:
        """Yield findings on hidden markers (T, n, 3), and on a subject that moved; seen (n,): share of the samples."""
        hidden = [
            self.markers[k] for k in np.flatnonzero(seen < SEEN) if self.markers[k] not in self.optional
        ]
        if hidden:
            what = f"{few(hidden, 6)} {'was' if len(hidden) == 1 else 'were'} hidden most of the time"
            remedy = "see whether the marker is on, labeled and in the view of the cameras, and stand again"
            yield Finding("gap", "error", what, remedy, Where(markers=tuple(hidden)))
        visible = np.flatnonzero(seen >= SEEN)
        if not len(visible):
            return
        body = markers[:, visible] - np.nanmean(markers[:, visible], axis=1, keepdims=True)
        low, high = np.nanquantile(body, [0.05, 0.95], axis=0)
        way = np.linalg.norm(high - low, axis=1)
        moved = [int(visible[k]) for k in np.argsort(-way) if way[k] > STILL]
        if moved:
            names = few([self.markers[k] for k in moved], 3)
            far = f"{1000 * way.max():.0f} mm, expected at most {1000 * STILL:.0f} mm"
            what = f"the subject moved: {names} by up to {far}"
            yield Finding("leap", "error", what, "stand still, arms at rest, and look ahead")


def _raised_arms(trial: Trial) -> Iterator[Finding]:
    """Yield a finding if the arms are raised: shoulders rise with them, and the trunk seems longer than later."""
    standing = trial.markers
    for side in SIDES:
        names = [f"{part}_{side}" for part in ("shoulder", "elbow_lateral")]
        if not all(trial.sees(name) for name in names):
            continue
        shoulder, elbow = (np.nanmedian(standing.weighted(trial.mapping[name]), axis=0) for name in names)
        arm = elbow - shoulder
        raised = np.degrees(np.arccos(-arm[2] / np.linalg.norm(arm)))
        if raised > RAISED_DEG:
            what = f"the {SIDE_NAMES[side]} arm is raised by {raised:.0f} degrees, expected at most {RAISED_DEG:g}"
            remedy = "let the arms hang, or take the trunk from the first seconds of the movement: --walk 3"
            yield Finding("proportions", "warning", what, remedy)


class Chosen:
    """A source that reduces the samples of a standing to the markers of a `Live`."""

    def __init__(self, source: Source, standing: Standing, markers: Sequence[str]) -> None:
        self._source = source
        self._places = np.array([standing.markers.index(name) for name in markers])

    def wait(self, timeout: float) -> Arrival | None:
        """See Source."""
        arrival = self._source.wait(timeout)
        if arrival is None:
            return None
        sample = arrival.sample
        return arrival._replace(sample=sample._replace(markers=sample.markers[self._places]))

    def skip_waiting_samples(self) -> None:
        """See Source."""
        self._source.skip_waiting_samples()

    @property
    def remarks(self) -> Sequence[str]:
        """See Source."""
        return self._source.remarks

    def close(self) -> None:
        """See Source."""
        self._source.close()


def stand_first(
    standing: Standing,
    source: Source,
    make: Callable[[Trial], Live],
    *,
    seconds: float,
    walk: float = 0.0,
    say: Callable[[str], None] = print,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Live, Chosen]:
    """Measure who stands until it is right, and return what goes on: a `Live` and its source.

    Args:
        standing: to be measured.
        source: of samples for it; closed where the standing fails.
        make: of the trial of the standing, a `Live` that is warmed up.
        seconds: how long the subject stands [s].
        walk: how much of the movement shows lengths of trunk and arms [s]; 0: the standing shows them.
        say: called with what the subject has to do, and with what was found.
        stop: called at least ten times a second.

    Raises:
        KeyboardInterrupt: `stop` says so.
        InputError: what was found `ATTEMPTS` times, hardly a sample came, or a `Live` cannot be made.
    """
    try:
        for attempt in range(1, ATTEMPTS + 1):
            where = ", a foot on each plate" if standing.plates else ", both feet on the floor"
            say(f"Stand still for {seconds:g} s, arms hanging{where}.")
            stood = standing.measure(source, seconds, stop)
            for entry in stood.findings:
                say(str(entry))
            if stood.ok or attempt == ATTEMPTS:
                break
            say("Once more.")
        if not stood.ok:
            raise file_error(
                "bad_standing",
                standing.folder / NAMES["trial"],
                f"the standing cannot be used: {next(entry.what for entry in stood.findings)}",
                "a standing without errors",
                next(entry.remedy for entry in stood.findings),
            )
        assert stood.trial is not None
        weight = f"{stood.mass:.1f} kg by the plates; " if np.isfinite(stood.mass) else ""
        say(f"The standing is measured ({weight}{stood.trial.subject.mass:.1f} kg are used).")
        trial = stood.trial
        if walk > 0.0:
            say(f"Move, for {walk:g} s, as in the session.")
            trial = standing.follow(source, walk, stop)
        live = make(trial)
        if stop():
            raise KeyboardInterrupt
        chosen = Chosen(source, standing, live.markers)
        chosen.skip_waiting_samples()
    except BaseException:
        source.close()
        raise
    say("Go on: forces are computed from now on.")
    return live, chosen

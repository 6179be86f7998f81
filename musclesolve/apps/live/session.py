"""A session of the command: sources and sinks by name, one `Live`, all streams closed at the end.

`ADAPTERS` has the kinds of streams; a module is imported when a stream of its kind is opened. `SessionWatch` reports
faults in the middle of a session: a marker that is hidden or off, forces that drift, a silent stream. Each sentence is
said when it is true for some seconds, and not again before `REPEATED`. The limits are taken from the checks of
recordings where these have one.
"""

import importlib
import importlib.util
import logging
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from muscle_db.similar_names import suggestion
from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import check_type
from musclesolve._util.messages import few
from musclesolve.apps.live.joining import Joined, Stream, Wanted, wait_for
from musclesolve.apps.live.live import Frame, Live
from musclesolve.apps.live.stream import SAMPLES, Arrival, Passed, Sink, run_session
from musclesolve.errors import input_error, not_installed
from musclesolve.laboratory.checks.recording.plate_zero import ZERO
from musclesolve.laboratory.checks.recording.units import FORCE_BAND, FORCES, PEAK, unit_factor
from musclesolve.laboratory.recording.trial_document import trial_kind
from musclesolve.tables.document import Document

ADAPTERS: dict[str, dict[str, Any]] = bundled_toml("musclesolve.apps.live.adapters", "adapters.toml")
"""Word of a kind of stream -> its entry."""


def check_streams(sources: Iterable[str], sinks: Iterable[str]) -> None:
    """Refuse kinds that do not exist or whose package is not installed, and addresses that are none; open nothing."""
    for role, texts in (("source", sources), ("sink", sinks)):
        for text in texts:
            _place(text, role)
            if text.startswith("replay:") and (trial := text.partition(":")[2]):
                Document(Path(trial), trial_kind)


def open_stream(text: str, wanted: Wanted) -> Stream:
    """The stream that `--from` names, such as "udp:5005"."""
    stream: Stream = _place(text, "source")(text.partition(":")[2], wanted)
    return stream


def open_sink(text: str) -> Sink:
    """The sink that `--to` names, such as "udp:127.0.0.1:5006"."""
    sink: Sink = _place(text, "sink")(text.partition(":")[2])
    return sink


def _place(text: str, role: str) -> Any:
    """The class of the source or sink of a kind of stream, whose address is one."""
    (kind, _, address), option = text.partition(":"), "--from" if role == "source" else "--to"
    kinds = {name: adapter for name, adapter in ADAPTERS.items() if role in adapter}
    if kind not in kinds:
        raise input_error(
            "unknown_name",
            where=option,
            problem=f"there is no {role} '{kind}'",
            expected=f"one of {'; '.join(adapter['address'] for adapter in kinds.values())}",
            remedy=suggestion(kind, kinds)
            or f"{option} {kinds['udp']['example']}" + "; --record FOLDER writes files" * (role == "sink"),
        )
    adapter = kinds[kind]
    if missing := [name for name in adapter.get("packages", ()) if importlib.util.find_spec(name) is None]:
        raise not_installed(f"'{text}' needs", missing[0], adapter["extra"], where=option)
    match = re.fullmatch(adapter["form"], address)
    if match is None or int(match.groupdict().get("port") or 0) > 65535:
        problem, remedy = f"'{text}' is no address", f"{option} {adapter['example']}"
        raise input_error(
            "bad_value", where=option, problem=problem, expected=adapter["address"], remedy=remedy
        )
    module, name = adapter[role].split(":")
    return getattr(importlib.import_module(f"musclesolve.apps.live.adapters.{module}"), name)


def stream_session(
    live: Live | Wanted,
    sources: Sequence[str],
    sinks: Sequence[str | Sink] = (),
    *,
    stop: Callable[[], bool] = lambda: False,
    seconds: float | None = None,
    **joining: Any,
) -> Passed:
    """Samples of named streams through a `Live` to named sinks, until they end or `stop` or `seconds` say so.

    Args:
        live: takes the samples, in the axes of the files of its trial.
        sources: as --from has them, such as "lsl:Markers".
        sinks: as --to has them, such as "udp:5006", or Sinks.
        stop: called at least ten times a second.
        seconds: length of the session [s].
        joining: wait_ms and plate_offset, as in `Joined`.

    Raises:
        InputError: a stream that cannot be opened, or carries something else than is needed.
    """
    wanted = live if isinstance(live, Wanted) else Wanted.from_live(check_type(live, Live, "live", "a Live"))
    assert isinstance(wanted.live, Live)
    source, ready = open_session(wanted, sources, sinks, **joining)
    return run_session(wanted.live, source, ready, stop, seconds, fresh=True)


def open_session(
    wanted: Wanted, sources: Sequence[str], sinks: Sequence[str | Sink] = (), **joining: Any
) -> tuple[Joined, list[Sink]]:
    """Source and sinks of `stream_session`, for `run_session`; all are closed where one cannot be opened."""
    with ExitStack() as opened:
        source = open_source(wanted, sources, **joining)
        opened.callback(source.close)
        ready = list[Sink]()
        for sink in sinks:
            ready.append(open_sink(sink) if isinstance(sink, str) else sink)
            opened.callback(ready[-1].close)
        opened.pop_all()
    return source, ready


def open_source(wanted: Wanted, sources: Sequence[str], **joining: Any) -> Joined:
    """Named streams as one source; see `stream_session`."""
    if not all(name.partition(":")[0] == "replay" for name in sources):
        document = wanted.live.document
        for key, correction in document.content.get("plates", {}).items():
            if correction:  # of the recorded forces, not of those of a stream
                raise document.fault(
                    "conflict",
                    ("plates", key),
                    "forces of a stream are taken as they come: [plates] corrects the forces of a recording alone",
                    "no corrections, or --from replay",
                    "let the sender correct them (a clock: --plate-offset), and take [plates] out of the trial file",
                )
    with ExitStack() as opened:
        streams = dict[str, Stream]()
        for name in sources:
            streams[name] = open_stream(name, wanted)
            opened.callback(streams[name].close)
        source = Joined(wanted.live, streams, **joining)
        opened.pop_all()
    return source


LOG = logging.getLogger("musclesolve")
HIDDEN = 1.0
"""Duration from which a hidden marker, a plate without numbers or missing EMG is reported [s]."""
FARTHEST_MARKER = 3.0
"""Largest possible distance of a marker from the middle of all markers [m]."""
WATCH_WINDOW = 10.0
"""Duration over which residuals and the zero of plates are examined [s]: several steps."""
WATCH_INTERVAL = 1.0
"""Interval of the examination [s]."""
REPEATED = 10.0
"""Least time between two equal sentences [s]."""
EMPTY_SHARE = 0.25
"""Share of the samples of an interval from which a plate without a load under a foot is reported."""
LATE_SHARE = 0.05
"""Share of the samples of an interval from which readings that come too late are reported."""
RESIDUAL = 0.1
"""Limit of the median residual force at the pelvis [body weights]; half of it is usual in good
recordings (Hicks et al. 2015, J Biomech Eng 137:020905)."""
UNLOADED_SHARE = 0.1
"""Each foot is in the air for more than this share of any movement in which it leaves the floor at all."""


class SessionWatch:
    """A sink that reports faults during a session.

    Args:
        say: called with each sentence; default: the log of the package.
    """

    def __init__(self, say: Callable[[str], None] = LOG.warning) -> None:
        self._say = say

    def begin(self, live: Live) -> None:
        """See Sink."""
        self._live, self._said = live, dict[str, float]()  # when each sentence was said
        self._weight = live.model.weight
        self._parts = *live.markers, *(f"plate {k + 1}" for k in range(len(live.plates))), "EMG"
        self._missing_since = np.full(len(self._parts), np.nan)
        self._empty = np.zeros(len(live.plates))  # samples since the last look without a load under a foot
        self._samples, self._missing = 0, Counter[str]()  # how many of them lack a marker, a plate, EMG
        self._late = dict[str, list[float]]()  # delays of what came too late since the last look [s]
        self._residual = deque[tuple[float, float]]()  # time [s] and force [N]
        self._vertical = deque[tuple[float, np.ndarray]]()  # of the plates (P,) [N]
        self._looked = -np.inf
        self._far = np.zeros(len(live.markers), bool)  # whether each marker was far off at the last look

    def take(self, arrival: Arrival, frame: Frame) -> None:
        """See Sink."""
        time, markers, plates, emg = arrival.sample
        if frame.taken.refusal:
            return
        if frame.taken.anew:
            self._missing_since[:] = np.nan
        hidden, empty = np.asarray(~np.isfinite(markers).all(axis=1)), self._live.empty_plates
        silent = ~np.isfinite(np.asarray(plates)[:, 2]) | self._live.stuck_plates
        without = bool(self._live.channels) and (emg is None or not np.isfinite(emg).any())
        missing, since = np.concatenate([hidden, silent, [without]]), self._missing_since
        self._missing_since = np.where(missing, np.where(np.isnan(since), time, since), np.nan)
        self._now, self._samples, self._empty = time, self._samples + 1, self._empty + empty
        missing[len(hidden) : -1] |= empty
        self._missing.update(self._parts[k] for k in np.flatnonzero(missing))
        for about, delay in arrival.late:
            self._late.setdefault(about, []).append(delay)
        # in the first samples another unit makes all markers appear off their places: the session is refused for it
        for fault in frame.faults if self._samples > SAMPLES else ():
            self._report(fault, fault)
        # large residuals are the consequence of markers that are off
        if frame.valid.all() and not frame.faults:
            self._residual.append((time, float(np.linalg.norm(frame.pelvis_residual[:3]))))
        self._vertical.append((time, np.asarray(plates)[:, 2]))
        if not WATCH_INTERVAL <= time - self._looked:
            self._looked = time if time < self._looked else self._looked
            return
        self._looked = time
        for past in (self._residual, self._vertical):
            while past and not 0.0 <= time - past[0][0] <= WATCH_WINDOW:
                past.popleft()
        self._look(time, markers)
        self._late.clear()
        self._empty[:] = 0.0

    @property
    def remarks(self) -> list[str]:
        """Sentences for the summary of a session: what was missing for so long that it was reported."""
        return [
            f"{about} was missing in {count} of {self._samples} samples."
            for about, count in self._missing.items()
            if any(about in said.split(", ") for said in self._said)
        ]

    def close(self) -> None:
        """See Sink."""

    def _look(self, time: float, markers: Array) -> None:
        """Report the present faults; markers (n, 3) [m] of the newest sample."""
        lasting, count = time - self._missing_since, len(markers)
        for k in np.flatnonzero(lasting[:count] >= HIDDEN):
            name = self._parts[k]
            self._report(name, f"the marker {name} is hidden for {lasting[k]:.0f} s")
        seldom = LATE_SHARE * WATCH_INTERVAL * self._live.rate
        late = {about: max(delays) for about, delays in self._late.items() if len(delays) > seldom}
        for follows, those in (
            ("forces follow the cost alone", [about for about in late if about == "EMG"]),
            ("the legs on them are not measured", [about for about in late if about != "EMG"]),
        ):
            if those:
                most = max(late[about] for about in those)
                self._report(
                    f"late, {few(those)}",
                    f"the readings of {few(those)} come up to {1e3 * most:.0f} ms after their samples, too late, and "
                    f"then {follows}: end other programs, or begin again with --wait-ms {wait_for(most):.0f}",
                )
        silent = lasting[count:-1] >= HIDDEN
        timely = [f"plate {k + 1}" not in late for k in range(len(silent))]
        silent &= np.array(timely, bool)  # of no plate, too
        stuck = self._live.stuck_plates
        for how, which in (
            ("repeated the same numbers", silent & stuck),
            ("sent no numbers", silent & ~stuck),
            ("shown no load under a foot", self._empty > EMPTY_SHARE * WATCH_INTERVAL * self._live.rate),
        ):
            if which.any():
                since = np.nanmin(np.where(which & silent, time - lasting[count:-1], time - WATCH_INTERVAL))
                names = few([self._parts[count + k] for k in np.flatnonzero(which)])
                self._report(
                    f"{how}, {names}",
                    f"{names} {'has' if which.sum() == 1 else 'have'} {how} for {time - since:.0f} s, and "
                    "the legs there are not measured: see whether amplifiers and streams run",
                )
        if lasting[-1] >= HIDDEN and "EMG" not in late:
            self._report(
                "EMG",
                f"no EMG has come for {lasting[-1]:.0f} s, and forces follow the cost alone: see "
                "whether its stream runs",
            )
        seen = np.isfinite(markers).all(axis=1)
        away = np.zeros(len(markers))
        if seen.any():
            away[seen] = np.linalg.norm(markers[seen] - np.median(markers[seen], axis=0), axis=1)
        before, self._far = self._far, away > FARTHEST_MARKER
        if (still := before & self._far).any():
            names = few([self._live.markers[k] for k in np.flatnonzero(still)], 3)
            self._report(
                "far",
                f"{names}: up to {away[still].max():.3g} m from the middle of the markers, expected at most "
                f"{FARTHEST_MARKER:g} m: see whether they are labeled right, and in the unit and the axes "
                "of the others",
            )
        whole = self._vertical[-1][0] - self._vertical[0][0] >= 0.5 * WATCH_WINDOW
        if len(self._residual) > 0.25 * WATCH_WINDOW * self._live.rate:
            share = float(np.median([force for _, force in self._residual])) / self._weight
            if share > RESIDUAL:
                self._report(
                    "residual",
                    f"{100 * share:.0f} % of the body weight is missing at the pelvis, expected at most "
                    f"{100 * RESIDUAL:.0f} %: see whether a marker moved, "
                    + ("" if self._live.predicts else "plates are zeroed, ")
                    + "the mass is right",
                )
        vertical = np.array([one for _, one in self._vertical])
        usual, peak = PEAK * self._weight, float(np.quantile(np.nansum(vertical, axis=1), 0.98))
        if whole and peak > 0.0 and (factor := unit_factor(peak / usual, FORCES, FORCE_BAND)) is not None:
            partly = factor > 1.0
            self._report(
                "unit of forces",
                f"the plates show at most {peak:.3g} N, in walking about {usual:.0f} N, as if forces were in "
                f"{FORCES[factor]}{' or the plates carried only part of the weight' * partly}: send newtons and newton "
                f"meters{', unless a harness, a seat or the floor carries the rest' * partly}",
            )
        for k in np.flatnonzero(np.isfinite(vertical).all(axis=0) & whole):
            level = float(np.quantile(vertical[:, k], UNLOADED_SHARE))
            if vertical[:, k].max() > RESIDUAL * self._weight and ZERO < abs(level) < 0.1 * self._weight:
                self._report(
                    f"zero of plate {k + 1}",
                    f"plate {k + 1} shows {level:.0f} N while no foot is on it, expected less than {ZERO:g} N: zero it",
                )

    def _report(self, about: str, sentence: str) -> None:
        if not 0.0 <= self._now - self._said.get(about, -np.inf) < REPEATED:
            self._said[about] = self._now
            self._say(sentence)

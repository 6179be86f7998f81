"""The settings of a live session, of a watched folder and of the desk: options of `live`, `watch` and `desk`."""

from __future__ import annotations

from musclesolve._util.sides import SIDES
from musclesolve.constants import FILE_SETTLED
from musclesolve.settings.schema import Settings, same, setting
from musclesolve.settings.trial import AUTO, FilterSettings, LaboratorySettings

LAG_MS, WAIT_MS = 25.0, 10.0
_TRIAL = "; as in the trial file unless given"


class StreamSettings(Settings):
    """Streams in real time; not used for a recording that is read at full speed."""

    rate: float | None = setting(f"samples of the markers a second{_TRIAL}", above=0.0)
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


class WatchSettings(Settings):
    """A watched folder."""

    settled: float = setting(
        "time without change after which a file is complete [s]", default=FILE_SETTLED, within=(0.0, 600.0)
    )


class DeskSettings(Settings):
    """The desk."""

    port: int = setting("port of the page; 0: one that is free", default=0, within=(0, 65535))

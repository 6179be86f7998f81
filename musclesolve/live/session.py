"""A session of the command: sources and sinks by name, one `Live`, all streams closed at the end.

`ADAPTERS` has the kinds of streams; a module is imported when a stream of its kind is opened.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import check_type
from musclesolve._util.names import suggestion
from musclesolve.errors import input_error, not_installed
from musclesolve.live.joining import Joined, Stream, Wanted
from musclesolve.live.live import Live
from musclesolve.live.stream import Passed, Sink, run_session


@dataclass(frozen=True)
class Adapter:
    """A kind of stream, an entry of adapters.toml; source and sink are empty where there is none."""

    name: str
    summary: str
    address: str
    source: str = ""
    sink: str = ""
    packages: tuple[str, ...] = ()
    extra: str = ""


ADAPTERS = {
    name: Adapter(name, **keys)
    for name, keys in bundled_toml("musclesolve.live.adapters", "adapters.toml").items()
}


def check_streams(sources: Iterable[str], sinks: Iterable[str]) -> None:
    """Refuse kinds of sources and sinks that do not exist or whose package is not installed; nothing is opened."""
    for role, texts in (("source", sources), ("sink", sinks)):
        for text in texts:
            _place(text, role)


def open_stream(text: str, wanted: Wanted) -> Stream:
    """The stream that `--from` names, such as "udp:5005"."""
    stream: Stream = _place(text, "source")(text.partition(":")[2], wanted)
    return stream


def open_sink(text: str) -> Sink:
    """The sink that `--to` names, such as "udp:127.0.0.1:5006"."""
    sink: Sink = _place(text, "sink")(text.partition(":")[2])
    return sink


def _place(text: str, role: str) -> Any:
    """The class of the source or sink of a kind of stream."""
    kind, option = text.partition(":")[0], "--from" if role == "source" else "--to"
    kinds = {name: each for name, each in ADAPTERS.items() if getattr(each, role)}
    if kind not in kinds:
        raise input_error(
            "unknown_name",
            where=option,
            problem=f"there is no {role} '{kind}'",
            expected=f"one of {'; '.join(map(str, (each.address for each in kinds.values())))}",
            remedy=suggestion(kind, kinds),
        )
    adapter = kinds[kind]
    if missing := [name for name in adapter.packages if importlib.util.find_spec(name) is None]:
        raise not_installed(f"'{text}' needs", missing[0], adapter.extra, where=option)
    module, name = getattr(adapter, role).split(":")
    return getattr(importlib.import_module(f"musclesolve.live.adapters.{module}"), name)


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

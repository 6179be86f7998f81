"""Kinds of streams; a module is imported when a stream of its kind is opened."""

import importlib
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.names import suggestion
from musclesolve.errors import input_error, not_installed
from musclesolve.live.joining import Stream, Wanted
from musclesolve.live.stream import Sink


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

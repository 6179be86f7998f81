"""Printing of `musclesolve live`: one line that is renewed while samples come, and the summary at the end."""

import logging
import math
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import get_terminal_size
from time import perf_counter
from typing import Any

import numpy as np

from musclesolve._util.messages import capitalized, few, often
from musclesolve._util.processes import cores
from musclesolve.apps.live.live import Frame, Live
from musclesolve.apps.live.stream import STATUS_NAMES, Arrival, Passed
from musclesolve.cli.printing import ERASED, mode
from musclesolve.laboratory.results.judgement import judge_findings
from musclesolve.laboratory.results.tables.lines import line

RENEWED = 0.5
"""Interval at which the line is renewed [s]."""

BEHIND_MS = 100.0
"""Latency above which frames take longer than the time between samples [ms]."""
BEHIND = 1.0
"""Duration of such a latency after which it is reported during the session [s],"""
REPEATED = 10.0
"""and least time between two such reports [s]."""
REMEDY = "end other programs, send fewer samples a second, or analyze one leg (--side)"
WIDEST = 110
"""Width of the line at most [characters]."""
MOST_HIDDEN = 3
"""Number of hidden markers that are named."""
BUSY = 1.5
"""Load per core above which frames are late: at a load of 5 a core 99 % of them come within 2 s."""
LOG = logging.getLogger("musclesolve")


def busy_sentence() -> str | None:
    """Describe the effect of the load of the computer on a session; None at low or unknown load."""
    load, count = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0, cores()
    if load <= BUSY * count:
        return None
    return (
        f"other programs keep the computer busy (load {load:.0f} on {count} cores): forces may come seconds late. "
        f"{capitalized(REMEDY)}"
    )


class StatusLine:
    """A sink that shows on a terminal the rate of the samples, the latency and the status of the newest frame.

    Args:
        say: called with a sentence where the computer is too busy; default: the log of the package.
    """

    def __init__(self, say: Callable[[str], None] = LOG.warning) -> None:
        self._say = say
        self._shown = sys.stderr.isatty() and not mode.quiet
        self._since, self._count, self._slowest = 0.0, 0, 0.0
        # time of the first sample: a stream may count from the start of its computer
        self._first: float | None = None
        self._in_time, self._said = math.inf, -math.inf  # when a frame was in time last, when it was said [s]

    def begin(self, live: Live) -> None:
        """See Sink."""
        self._markers, self._predicts = live.markers, live.predicts
        if (sentence := busy_sentence()) is not None:
            self._say(sentence)
        self._show("waiting for samples; Ctrl-C ends")
        self._since = perf_counter()

    def take(self, arrival: Arrival, frame: Frame) -> None:
        """See Sink."""
        now = perf_counter()
        if self._first is None or frame.time < self._first:
            self._first = frame.time
        behind = 1e3 * (now - arrival.received - arrival.waited)
        if behind <= BEHIND_MS or self._in_time == math.inf:
            self._in_time = now
        elif now - self._in_time > BEHIND and now - self._said > REPEATED:
            self._said = now
            self._say(f"the computer is behind, forces come {behind:.0f} ms after their samples: {REMEDY}")
        self._count, self._slowest = self._count + 1, max(self._slowest, now - arrival.received)
        if now - self._since < RENEWED:
            return
        status = ", ".join(
            dict.fromkeys(STATUS_NAMES[int(code)].lower().replace("_", " ") for code in frame.status)
        )
        since_first = f"{frame.time - self._first:9.2f} s"
        if frame.faults:  # the cause, before what follows from it
            self._show(f"{since_first}  {status}; {frame.faults[0]}", wrong=True)
            self._since, self._count, self._slowest = now, 0, 0.0
            return
        hidden = np.flatnonzero(~np.isfinite(arrival.sample.markers).all(axis=1))
        named = few([self._markers[k] for k in hidden], MOST_HIDDEN)
        notes = [f"hidden: {named}"] if hidden.size else list(frame.notes[:1])
        notes += ["ground reactions predicted"] if self._predicts else []
        self._show(
            f"{since_first}  {self._count / (now - self._since):.0f} a second, "
            f"within {1e3 * self._slowest:.0f} ms  {'; '.join([status, *notes])}"
        )
        self._since, self._count, self._slowest = now, 0, 0.0

    def idle(self, seconds: float) -> None:
        """See Sink."""
        if seconds >= RENEWED:
            self._show(f"no samples for {seconds:.1f} s")
            self._since, self._count, self._slowest = perf_counter(), 0, 0.0
            self._in_time = math.inf

    def close(self) -> None:
        """See Sink."""
        self._show("")

    def _show(self, text: str, wrong: bool = False) -> None:
        if self._shown:
            # a longer one would take a second line
            text = text[: min(WIDEST, get_terminal_size().columns - 1)]
            sys.stderr.write(f"{ERASED}\x1b[31m{text}\x1b[0m" if wrong else f"{ERASED}{text}")
            sys.stderr.flush()
            mode.renewed = bool(text)


def session_lines(passed: Passed) -> Iterator[str]:
    """The summary of a session."""
    if not passed.samples:
        why = "see the remark" if passed.remarks else "does the sender run, to this address?"
        yield line("samples", f"none that can be read came in {passed.elapsed:.1f} s: {why}")
    else:
        yield line(
            "samples",
            f"{passed.samples} in {passed.elapsed:.1f} s, {passed.valid} with a valid frame, "
            + f"{passed.partly} with a valid frame of one leg, " * (passed.partly > 0)
            + f"{passed.lost} lost",
        )
        yield line(
            "latency",
            f"{passed.latency_ms(0.5):.1f} ms from the arrival of a sample to its forces (median), 99 % within "
            f"{passed.latency_ms(0.99):.1f} ms",
        )
        if passed.behind_ms(0.99) > BEHIND_MS:
            yield line("", f"the computer was behind: {REMEDY}")
        elif passed.latency_ms(0.99) > BEHIND_MS:
            yield line("", "samples waited for readings that came late or not at all: see --wait-ms")
        if passed.valid < passed.samples:
            counts = ", ".join(
                f"{count} {name.lower().replace('_', ' ')}" for name, count in passed.statuses.most_common()
            )
            most = f"; most often: {passed.reason}" if passed.reason else ""
            failed = f"{passed.failed} without a valid solution of a measured leg; " if passed.failed else ""
            yield line("frames", f"{failed}{counts}{most}")
    if passed.backward:
        yield line(
            "clock",
            f"the clock of the sender went back, {often(len(passed.backward))}, by up to "
            f"{max(passed.backward):.3g} s: samples were left out until that was clear, and times of findings go on",
        )
    if passed.silences:
        yield line(
            "silence",
            f"no sample came for more than a second, {often(len(passed.silences))}, at most "
            f"{max(passed.silences):.1f} s",
        )
    if not passed.solved:
        yield line("verdict", "Not usable: no muscle forces were found.")
    elif passed.findings:
        yield line("verdict", judge_findings(passed.findings).sentence)
    for entry in passed.findings:
        yield line(entry.severity, entry.line)
    for remark in passed.remarks:
        yield line("remark", remark)


def session_document(passed: Passed, trial: Path, live: Live) -> dict[str, Any]:
    """The JSON document of a session."""
    return {
        "trial": trial,
        "samples": passed.samples,
        "valid": passed.valid,
        "valid_of_one_leg": passed.partly,
        "without_valid_solution": passed.failed,
        "lost": passed.lost,
        "silences_s": passed.silences,
        "clock_backward_s": passed.backward,
        "statuses": dict(passed.statuses.most_common()),
        "most_frequent_note": passed.reason or None,
        "elapsed_s": passed.elapsed,
        "latency_median_ms": passed.latency_ms(0.5),
        "latency_99_percent_ms": passed.latency_ms(0.99),
        "lag_ms": 1e3 * live.lag,
        "findings": [entry.as_dict() for entry in passed.findings],
        "remarks": list(passed.remarks),
    }

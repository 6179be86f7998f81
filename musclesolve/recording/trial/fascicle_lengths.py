"""The table [fascicle] of a trial file: fascicle lengths that ultrasound measured, and whose muscles they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from musclesolve._util.arrays import true_runs
from musclesolve.recording.data import Fascicles
from musclesolve.recording.formats import read_channels
from musclesolve.recording.schema import Document
from musclesolve.recording.trial.recording_checks import check_columns
from musclesolve.recording.units import METRES

FASCICLE_CHANNELS = "fascicle.channels"
SHORTEST, LONGEST = 0.005, 0.4
"""The median length of measured fascicles lies between these [m]; sartorius, the longest, has 0.40 m (Ward et al. 2009,
Clin Orthop Relat Res 467:1074-82)."""


FLAT = 2e-3
"""Lengths that differ by less than this share of their size were not tracked."""


def read_fascicles(document: Document, content: dict[str, Any]) -> tuple[Fascicles | None, list[str]]:
    """Return the fascicle lengths that a trial file names [m] and notes on them; None without [fascicle].

    Raises:
        InputError: a file, column or number that cannot be right, with its place.
    """
    stated = content["fascicle"]
    if None in (stated["file"], stated["channels"], stated["unit"]):
        return None, []
    channels: dict[str, str] = stated["channels"]
    if not channels:
        problem, expected = "no column is named", 'column = "muscle", one line for each'
        remedy = 'add a line such as GM = "gastrocnemius_medial_r", or remove [fascicle]'
        raise document.error(problem, FASCICLE_CHANNELS, None, 0, expected, remedy, code="missing_key")
    path = document.input_file("fascicle", "file", stated["file"])
    table = read_channels(path)
    check_columns(document, channels, FASCICLE_CHANNELS, table, "column")
    length = METRES[stated["unit"]] * np.stack([table[name] for name in channels], axis=-1)
    for name, column in zip(channels, length.T, strict=True):
        known = column[np.isfinite(column)]
        if not known.size or known.min() <= 0.0:
            problem = f"the column '{name}' of {path.name} has "
            problem += f"a length of {known.min() / METRES[stated['unit']]:g}" if known.size else "no number"
            expected, remedy = "lengths above zero", "leave cells empty where no fascicle was seen"
            raise document.error(problem, FASCICLE_CHANNELS, name, 0, expected, remedy, code="bad_signal")
        if known.size > 1 and np.ptp(known) < FLAT * known.max():
            problem, expected = (
                f"the column '{name}' of {path.name} does not change",
                "lengths of a fascicle that works",
            )
            remedy = "name the column that was tracked, or leave the channel out"
            raise document.error(problem, FASCICLE_CHANNELS, name, 0, expected, remedy, code="bad_signal")
        median = float(np.median(known))
        if not SHORTEST <= median <= LONGEST:
            in_file = median / METRES[stated["unit"]]
            fitting = [f'"{unit}"' for unit, size in METRES.items() if SHORTEST <= size * in_file <= LONGEST]
            problem = f"the fascicles of '{name}' would have a median length of {1000.0 * median:.4g} mm"
            expected = f"between {1000.0 * SHORTEST:g} and {1000.0 * LONGEST:g} mm"
            remedy = (
                f"write unit = {' or '.join(fitting)}" if fitting else "name a column of fascicle lengths"
            )
            raise document.error(problem, "fascicle", "unit", 0, expected, remedy, code="bad_units")
    offset = stated["offset_s"]
    error = 0.001 * stated["error_mm"]
    names, muscles = tuple(channels), tuple(channels.values())
    fascicles = Fascicles(table.time + offset, names, length, muscles, error, path, offset)
    return fascicles, [*table.sentences, *_gap_notes(fascicles)]


def check_fascicle_overlap(document: Document, fascicles: Fascicles, start: float, end: float) -> None:
    """Refuse fascicle lengths that were measured at no time of a motion from `start` to `end` [s]."""
    first, last = fascicles.time[[0, -1]]
    if last < start or first > end:
        moved = f" ({fascicles.offset:+g} s of offset_s among it)" if fascicles.offset else ""
        problem = f"fascicle lengths were measured from {first:g} to {last:g} s{moved}"
        expected = f"a part of the analysed {start:g} to {end:g} s"
        remedy = "name the file of this trial, or state offset_s, the clock of the motion minus that of the ultrasound"
        raise document.error(problem, "fascicle", "file", 0, expected, remedy, code="no_overlap")


def _gap_notes(fascicles: Fascicles) -> list[str]:
    """A sentence on each column with gaps."""
    step = float(np.median(np.diff(fascicles.time)))
    notes = []
    for name, column in zip(fascicles.names, fascicles.length.T, strict=True):
        lost = np.isnan(column)
        if gap := max((stop - first for first, stop in true_runs(lost)), default=0):
            notes.append(
                f"Fascicle length {name} lacks {lost.mean():.1%} of its samples, up to {1000.0 * gap * step:.0f} ms at "
                "once: it is compared with nothing there."
            )
    return notes

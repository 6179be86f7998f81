"""The table [fascicle] of a trial file: fascicle lengths from ultrasound, and their muscles."""

import numpy as np

from musclesolve.recording.data import Fascicles
from musclesolve.recording.formats import read_channels
from musclesolve.recording.schema import Document
from musclesolve.recording.trial.recording_checks import check_columns, lacking_samples
from musclesolve.recording.units import METERS
from musclesolve.settings.trial import TrialSettings

FASCICLE_CHANNELS = "fascicle.channels"
SHORTEST_FASCICLE, LONGEST_FASCICLE = 0.005, 0.4
"""Range of the median length of measured fascicles [m]; sartorius, the longest, has 0.40 m (Ward et al. 2009, Clin
Orthop Relat Res 467:1074-82).
"""


UNTRACKED_RANGE = 2e-3
"""Relative change of lengths below which fascicles were not tracked."""


def read_fascicles(document: Document, settings: TrialSettings) -> tuple[Fascicles | None, list[str]]:
    """Return the fascicle lengths [m] in [fascicle] of a trial file and notes on them; None without [fascicle]."""
    stated = settings.fascicle
    if None in (stated.file, stated.channels, stated.unit):
        return None, []
    channels = stated.channels
    path = document.input_file("fascicle", "file", stated.file)
    table = read_channels(path)
    check_columns(document, channels, FASCICLE_CHANNELS, table, "column")
    length = METERS[stated.unit] * np.stack([table[name] for name in channels], axis=-1)
    for name, column in zip(channels, length.T, strict=True):
        known = column[np.isfinite(column)]
        if not known.size or known.min() <= 0.0:
            shown = f"a length of {known.min() / METERS[stated.unit]:g}" if known.size else "no number"
            raise document.fault(
                "bad_signal",
                (FASCICLE_CHANNELS, name),
                f"the column '{name}' of {path.name} has {shown}",
                "lengths above zero",
                "leave cells empty where no fascicle was seen",
            )
        if known.size > 1 and np.ptp(known) < UNTRACKED_RANGE * known.max():
            raise document.fault(
                "bad_signal",
                (FASCICLE_CHANNELS, name),
                f"the column '{name}' of {path.name} does not change",
                "lengths of a fascicle that works",
                "name the column that was tracked, or leave the channel out",
            )
        median = float(np.median(known))
        if not SHORTEST_FASCICLE <= median <= LONGEST_FASCICLE:
            in_file = median / METERS[stated.unit]
            fitting = [
                f'"{unit}"'
                for unit, size in METERS.items()
                if SHORTEST_FASCICLE <= size * in_file <= LONGEST_FASCICLE
            ]
            raise document.fault(
                "bad_units",
                ("fascicle", "unit"),
                f"the fascicles of '{name}' would have a median length of {1000.0 * median:.4g} mm",
                f"between {1000.0 * SHORTEST_FASCICLE:g} and {1000.0 * LONGEST_FASCICLE:g} mm",
                f"write unit = {' or '.join(fitting)}" if fitting else "name a column of fascicle lengths",
            )
    offset = stated.offset_s
    error = 0.001 * stated.error_mm
    names, muscles = tuple(channels), tuple(channels.values())
    fascicles = Fascicles(table.time + offset, names, length, muscles, error, path, offset)
    gaps = {name: lacking_samples(column, table.rate) for name, column in zip(names, length.T, strict=True)}
    notes = [
        f"Fascicle length {name} lacks {lacking}: it is not compared there."
        for name, lacking in gaps.items()
        if lacking
    ]
    return fascicles, [*table.sentences, *notes]

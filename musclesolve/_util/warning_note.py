"""Notes that are warnings: sentences that the command `check` reports as a warning too."""

from __future__ import annotations


class WarningNote(str):
    """A sentence among notes that makes a result less certain; summaries print it before everything else."""

    __slots__ = ()

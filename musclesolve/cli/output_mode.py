"""How much a command prints: its summary, errors only (`--quiet`), or one JSON document (`--json`)."""

from __future__ import annotations

import logging
from dataclasses import dataclass


@dataclass
class OutputMode:
    """What the command that runs was asked to print."""

    quiet: bool = False  # nothing but errors, and what was asked for with --json
    json: bool = False  # one JSON document on standard output, in the place of the summary

    def choose(self, *, quiet: bool = False, json: bool = False) -> None:
        """Print so from now on; without arguments as usual."""
        self.quiet, self.json = quiet, json
        logging.getLogger("musclesolve").setLevel(logging.WARNING if quiet else logging.INFO)

    @property
    def summary(self) -> bool:
        """Whether the summary is printed."""
        return not (self.quiet or self.json)


mode = OutputMode()
"""That of the command which runs in this process."""

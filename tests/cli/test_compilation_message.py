"""The command line reports that a kernel is compiled."""

from __future__ import annotations

import logging

from musclesolve.cli.printing import announce
from musclesolve.sharing.kernel import entry


def test_the_command_line_reports_the_compilation(capsys):
    log = logging.getLogger("musclesolve")
    before, level = list(log.handlers), log.level
    announce()
    try:
        log.info(entry.MESSAGE)
    finally:
        log.handlers[:], log.level = before, level
    assert "compiling the force-sharing kernel" in capsys.readouterr().err

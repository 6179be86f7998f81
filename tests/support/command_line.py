"""The command line, as a user types it."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner, Result

from musclesolve.cli import app


def typed(*words: object, **options: Any) -> Result:
    """What `musclesolve WORDS` prints, and its exit code; options are those of `CliRunner.invoke`."""
    return CliRunner().invoke(app.app, [str(word) for word in words], **options)

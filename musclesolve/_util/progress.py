"""Reports of the progress of a computation."""

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with the name of each stage and the share of the work that is done."""


def no_progress(stage: str, fraction: float) -> None:
    """Report nothing."""

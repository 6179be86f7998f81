"""Frames in blocks: many enough for speed, few enough for what is made on the way to stay in the processor's cache."""

from __future__ import annotations

BLOCK = 500


def blocks(frames: int, size: int = BLOCK) -> list[slice]:
    """Slices that cover all frames, at least one."""
    return [slice(first, first + size) for first in range(0, max(frames, 1), size)]

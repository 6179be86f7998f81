"""Slow computations in a thread, so that the page goes on."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


async def in_thread(function: Callable[..., Value], *arguments: object) -> Value:
    """Run a function in a thread as `nicegui.run.io_bound` does, with the errors of the input."""
    return await asyncio.get_running_loop().run_in_executor(None, lambda: function(*arguments))

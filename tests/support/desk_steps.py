"""Steps and tools of the desk's page, as a user opens them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

TOOLS = ("Questions", "Compare", "Export", "Study")
"""Titles in the menu of tools."""


def to_step(page: Any, title: str, use: Callable[[Any], None] = lambda button: button.click()) -> None:
    """Open a step, or a tool from its menu; use: how a button is pressed."""
    if title in TOOLS:
        use(page.get_by_role("button", name=re.compile("^Tools")))
        use(page.get_by_role("menuitem").filter(has_text=re.compile(f"^{title}")))
    else:
        use(page.get_by_role("button", name=re.compile(rf"^Step \d+, {title}:")))

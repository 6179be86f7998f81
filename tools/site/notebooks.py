"""A stored notebook as a page of the site: its Markdown, its code, and its outputs as they are stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FENCE = "~" * 8


def notebook_markdown(path: Path) -> str:
    """The cells one below the other; nothing is executed."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"{FENCE} {{ .python }}\n{text}\n{FENCE}")
        parts += [output_markdown(output) for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


def output_markdown(output: dict[str, Any]) -> str:
    """HTML where there is some, without empty lines, at which Markdown would end it; otherwise text."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if html := "".join(data.get("text/html", "")):
        return "\n".join(line for line in html.splitlines() if line.strip())
    return f"{FENCE} {{ .text }}\n{''.join(data['text/plain']).rstrip()}\n{FENCE}"

"""Parts of a page that draw its figures in a browser, without a network: D3, the drawing, its style."""

import json
from importlib import resources
from typing import Any


def script() -> str:
    """D3 and the drawing of figures, as the content of one script."""
    return "\n".join(_text(name) for name in ("d3.min.js", "charts.js"))


def style() -> str:
    """The style of figures; it uses the colors --text, --soft, --line, --pale, --paper and --link of the page."""
    return _text("charts.css")


def data(figure: dict[str, Any]) -> str:
    """Return the data of `described` as the content of a script of a page; no character ends the script early."""
    text = json.dumps(figure, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")

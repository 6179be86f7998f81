"""Templates filled: one page that needs nothing but itself."""

from __future__ import annotations

from importlib import resources
from typing import Any

from markupsafe import Markup

HERE = "musclesolve.report"
PLACES = {"style": "style.css", "script": "script.js"}


def render(content: dict[str, Any]) -> str:
    """The page of a content; whatever is not Markup is escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    page = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    own = {name: Markup(_template(file)) for name, file in PLACES.items()}
    return page.get_template("page.html").render(**content, **own)


def _template(name: str) -> str:
    return resources.files(HERE).joinpath("templates", *name.split("/")).read_text(encoding="utf-8")

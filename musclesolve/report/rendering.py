"""Filling of the templates of reports and notebook views."""

from importlib import resources

from markupsafe import Markup

from musclesolve.plotting.browser import page_parts
from musclesolve.report.dark_scheme import dark_rules


def rendered(name: str, /, **values: object) -> str:
    """A template with its values; texts other than Markup are escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    filled = Environment(
        loader=FunctionLoader(template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return filled.get_template(name).render(**values)


def whole_page(name: str, /, **values: object) -> str:
    """A page of the template, with its style and scripts, and the colors of its drawings where the system is dark."""
    page = rendered(
        name,
        style=Markup("\n".join((template("style.css"), page_parts.style()))),
        script=Markup(template("script.js")),
        charts=Markup(page_parts.script()),
        **values,
    )
    return page.replace("</style>", f"{dark_rules(page)}\n</style>", 1)


def template(name: str) -> str:
    """The text of a template, a style or a script."""
    return resources.files(__package__).joinpath("templates", *name.split("/")).read_text(encoding="utf-8")

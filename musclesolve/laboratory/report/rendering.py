"""Filling of the templates of reports."""

import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from muscle_db.parsed_toml import keep, read_kept
from musclesolve.laboratory.plotting.page.dark_colors import dark_rules

if TYPE_CHECKING:
    from jinja2 import Environment


def rendered(name: str, /, **values: object) -> str:
    """A template with its values; texts other than Markup are escaped. Templates of pictures begin with "picture/"."""
    return _environment().get_template(name).render(**values)


def filled(text: str, /, **values: object) -> str:
    """A template given as its text, with its values, as in `rendered`."""
    return _environment().from_string(text).render(**values)


@cache
def _environment() -> "Environment":
    """The templates; their Python code is kept, which takes a tenth of the time of a page to make."""
    from jinja2 import (
        BytecodeCache,
        ChoiceLoader,
        Environment,
        FileSystemLoader,
        PrefixLoader,
        StrictUndefined,
    )
    from jinja2.bccache import Bucket, bc_magic

    folder = Path(__file__).with_name("templates")

    class Kept(BytecodeCache):
        """Code of templates, of this version of jinja2."""

        def load_bytecode(self, bucket: Bucket) -> None:
            """See BytecodeCache."""
            bucket.code = read_kept(folder / bucket.key, f"{bucket.checksum} {bc_magic!r}")

        def dump_bytecode(self, bucket: Bucket) -> None:
            """See BytecodeCache."""
            keep(folder / bucket.key, f"{bucket.checksum} {bc_magic!r}", bucket.code)

    of_picture = {"picture": FileSystemLoader(folder.parent / "picture" / "page")}
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(folder), PrefixLoader(of_picture)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=Kept(),
    )
    environment.filters["unbroken"] = unbroken
    return environment


def unbroken(text: object) -> Markup:
    """A text as Markup in which no line breaks within a number such as 3.9e-29, which browsers break at the hyphen."""
    return Markup(re.sub(r"\d[\d.]*e-\d+", r'<span class="number">\g<0></span>', str(escape(text))))


def css_string(text: str) -> Markup:
    """A text as a string of CSS, in which only letters, digits and blanks stand as they are."""
    return Markup('"{}"').format(Markup(re.sub(r"[^\w ]", lambda sign: f"\\{ord(sign[0]):x} ", text)))


def whole_page(name: str, /, **values: object) -> str:
    """A page of the template, with its style and scripts, and the colors of its drawings where the system is dark."""
    page = rendered(
        name,
        style=Markup(template("style.css")),
        script=Markup("\n".join(map(template, ("script.js", "values.js")))),
        **values,
    )
    return page.replace("</style>", f"{dark_rules(page)}\n</style>", 1)


def template(name: str) -> str:
    """The text of a template, a style or a script."""
    return resources.files(__package__).joinpath("templates", *name.split("/")).read_text(encoding="utf-8")

"""The moving picture as HTML: a page of its own, or a fragment of another page; nothing is fetched from anywhere."""

from __future__ import annotations

from importlib import resources
from typing import Any

import xarray as xr

from musclesolve.errors import InputError
from musclesolve.report.picture.encoded import encoded, subtitle
from musclesolve.report.picture.library import three_js
from musclesolve.report.picture.picture_data import PictureData, check_kind, picture_data
from musclesolve.results.dataset.frame_validity import SIDE_NAMES

SCRIPTS = ("data.js", "tubes.js", "shapes.js", "camera.js", "scene.js", "page.js")
NOTHING = (
    "There is no moving picture: this result holds no points of skeleton and muscle paths, as those of earlier "
    "versions do not. Compute it again: musclesolve run TRIAL.toml -o FOLDER"
)


def picture_page(result: xr.Dataset) -> str:
    """A whole page with the moving picture of a result, or with a sentence where it has no points to draw.

    result: of a run, or the dataset of a simulation (`simulated.simulation_picture`).

    Raises:
        InputError: the dataset is neither of the two, or three.js is not where it should be.
    """
    title = str(result.attrs.get("subject", "")) or "Result"
    return _rendered("page.html", title=title, fragment=_trusted(_fragment(result, "page")))


def picture_fragment(result: xr.Dataset) -> str:
    """The same as a part of another page, once: it starts when it comes into view.

    Its classes begin with ms-picture or msp-, and nothing of its script is seen outside. Where three.js is not found
    a sentence stands in its place, so that the rest of the page is whole.

    Raises:
        InputError: the dataset is not the result of a run.
    """
    try:
        return _fragment(result, "fragment")
    except InputError as error:
        if error.code != "missing_package":
            raise
        return _sentence(f"There is no moving picture: {error.problem}.")


def _fragment(result: xr.Dataset, mode: str) -> str:
    check_kind(result)
    data = picture_data(result)
    if data.empty:
        return _sentence(NOTHING)
    return _rendered("picture.html", mode=mode, **_words(data, result), **_parts(data, result))


def _sentence(sentence: str) -> str:
    return _rendered("nothing.html", sentence=sentence, style=_trusted(_source("style.css")))


def _words(data: PictureData, result: xr.Dataset) -> dict[str, Any]:
    """What the page says before its script runs."""
    return {
        "title": str(result.attrs.get("subject", "")) or "Moving picture",
        "subtitle": subtitle(data, result),
        "missing": data.missing,
        "quantities": [each.about["label"] for each in data.quantities],
        "legs": [(leg.side, SIDE_NAMES.get(leg.side, "neither")) for leg in data.legs],
        "muscles": bool(data.muscles),
        "ground": bool(data.ground.names),
        "contact": bool(data.contact.names),
        "unit": data.unit,
        "simulated": data.simulated,
        "shapes": data.shapes is not None and bool(data.shapes.names),
    }


def _parts(data: PictureData, result: xr.Dataset) -> dict[str, Any]:
    """Style, scripts and data."""
    return {
        "style": _trusted(_source("style.css")),
        "three": _trusted(three_js()),
        "script": _trusted("\n".join(_source(name) for name in SCRIPTS)),
        "data": _trusted(encoded(data, result)),
    }


def _source(name: str) -> str:
    return resources.files(__package__).joinpath("page", name).read_text(encoding="utf-8")


def _trusted(text: str) -> Any:
    """Text that is not escaped: own files, and JSON that ends no element."""
    from markupsafe import Markup

    return Markup(text)


def _rendered(name: str, **values: Any) -> str:
    """A template of the folder page; texts are escaped."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(_source(name)).render(**values)

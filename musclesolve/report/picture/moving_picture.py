"""The moving picture as HTML: a page of its own, or a fragment of another page; nothing is fetched from anywhere.

three.js comes out of the page template that the package trimesh carries, so nothing of it is copied into this project.
A page of meshcat would need ipython, tornado and zmq, and its controls do not play a recording.
"""

import base64
import gzip
import re
import zipfile
from functools import cache
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import xarray as xr
from markupsafe import Markup

from musclesolve._util.sides import SIDE_NAMES
from musclesolve.errors import InputError, input_error
from musclesolve.report.picture.encoded import as_dict, json_text
from musclesolve.report.picture.picture_data import PictureData, check_kind, picture_data
from musclesolve.report.rendering import filled

SCRIPTS = ("data.js", "tubes.js", "bones.js", "shapes.js", "camera.js", "scene.js", "picture.js")
"""Scripts that draw one frame; `playback.js` or another page chooses the frame."""
NOTHING = (
    "There is no moving picture: this result holds no points of skeleton and muscle paths. "
    "Compute it again: musclesolve run TRIAL.toml -o FOLDER"
)


def picture_page(result: xr.Dataset) -> str:
    """A whole page with the moving picture of a result, or with a sentence where it has no points to draw.

    result: of a run, or the dataset of a simulation (`simulated.simulation_picture`).
    """
    title = str(result.attrs.get("subject", "")) or "Result"
    return filled(source("page.html"), title=title, fragment=Markup(_fragment(result, "page")))


def picture_fragment(result: xr.Dataset) -> str:
    """The moving picture as a part of another page, once: it starts when it comes into view.

    Its classes begin with ms-picture or msp-, and nothing of its script is seen outside. Where three.js is not found
    a sentence stands in its place, so that the rest of the page is whole.
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
    return picture_html(data, mode, as_dict(data, result), source("playback.js"))


def picture_html(data: PictureData, mode: str, content: dict[str, Any], script: str) -> str:
    """The element with a picture, its controls and scripts.

    Args:
        data: what is drawn.
        mode: "page", "fragment" (of another page) or "live", which has no time to choose.
        content: `page_data` of it.
        script: JavaScript that starts the picture with `start` and chooses its frames.
    """
    scripts = "\n".join([*map(source, SCRIPTS), script])
    code = filled(source("code.js"), three=Markup(three_js()), script=Markup(scripts))
    return filled(
        source("picture.html"),
        mode=mode,
        title=content["title"],
        subtitle=content["subtitle"],
        missing=data.missing,
        quantities=[quantity.about["label"] for quantity in data.quantities],
        legs=[(leg.side, SIDE_NAMES.get(leg.side, "neither")) for leg in data.legs],
        muscles=bool(data.muscles),
        ground=bool(data.ground.names),
        contact=bool(data.contact.names),
        unit=data.unit,
        simulated=data.simulated,
        shapes=data.shapes is not None and bool(data.shapes.names),
        style=Markup(source("style.css")),
        packed=Markup(packed(code)) if mode == "fragment" else "",
        unpack=Markup(source("unpack.js")),
        code=Markup(code),
        data=Markup(json_text(content)),
    )


@cache
def packed(code: str) -> str:
    """A script as gzip in base 64, which `unpack.js` reads."""
    return base64.b64encode(gzip.compress(code.encode("utf-8"), mtime=0)).decode("ascii")


def _sentence(sentence: str) -> str:
    return filled(source("nothing.html"), sentence=sentence, style=Markup(source("style.css")))


def source(name: str) -> str:
    """A file of the folder page."""
    return resources.files(__package__).joinpath("page", name).read_text(encoding="utf-8")


PLACE = ("resources", "templates", "viewer.zip")
TEMPLATE = "viewer.html.template"
_BEGIN = re.compile(
    r"/\*\*\s*\*\s*@license(?:(?!\*/).)*?three\.js(?:(?!\*/).)*?\*/", re.IGNORECASE | re.DOTALL
)
_END = re.compile(r'Object\.defineProperty\(\w+,"__esModule",\{value:!0\}\)\}+\)+;?')
_REVISION = re.compile(r'\.REVISION=(\w+|"\d+")')


@cache
def three_js() -> str:
    """Source of three.js, as it stands: it fills `exports`, or else sets `THREE`."""
    try:
        # found without an import, which takes longer than the rest of the picture
        place = next(iter(find_spec("trimesh").submodule_search_locations))  # type: ignore[union-attr, arg-type]
        with zipfile.ZipFile(Path(place, *PLACE)) as found:
            page = found.read(TEMPLATE).decode("utf-8")
    except (AttributeError, OSError, KeyError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise _not_there(f"{type(error).__name__}: {error}") from error
    return library_of(page)


def library_of(page: str) -> str:
    """The part of a page that is three.js: from its license to the end of its module."""
    begin = _BEGIN.search(page)
    end = _END.search(page, begin.end()) if begin else None
    if begin is None or end is None:
        raise _not_there("no script with its license and the end of a module")
    source = page[begin.start() : end.end()]
    if not _REVISION.search(source) or "WebGLRenderer" not in source or "</script" in source:
        raise _not_there("the script defines no REVISION and no WebGLRenderer")
    return source


def _not_there(why: str) -> InputError:
    try:
        version = f"trimesh {metadata.version('trimesh')}"
    except metadata.PackageNotFoundError:
        version = "trimesh, which is not installed,"
    return input_error(
        "missing_package",
        problem=f"three.js, which draws the moving picture, is not found in {version} ({why})",
        expected=f"{'/'.join(map(str, PLACE))} with viewer.html.template in the package trimesh, as "
        "in version 4.5 to 5.2",
        remedy="pip install 'trimesh>=4.5,<6'; GIF and MP4 need neither",
    )

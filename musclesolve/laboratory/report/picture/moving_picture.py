"""The moving picture as a page, as a part of another page, and as a still.

Nothing is fetched from anywhere. three.js comes out of the page template that the package trimesh carries, so nothing
of it is copied into this project. A page of meshcat would need ipython, tornado and zmq, and its controls do not play a
recording.
"""

import base64
import gzip
import os
import re
import zipfile
from collections.abc import Sequence
from functools import cache
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr
from markupsafe import Markup

from musclesolve._util.messages import Progress, no_progress
from musclesolve._util.sides import SIDE_NAMES
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.laboratory.report.picture.encoded import as_dict, json_text
from musclesolve.laboratory.report.picture.picture_data import GEOMETRY, PictureData, picture_data
from musclesolve.laboratory.report.picture.still import still
from musclesolve.laboratory.report.rendering import rendered
from musclesolve.laboratory.results.dataset.checked import MODEL
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.laboratory.results.files.result_netcdf import read_result
from musclesolve.tables.text_file import file_path

if TYPE_CHECKING:
    from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
    from musclesolve.dynamics.forward.simulate import Simulation
    from musclesolve.muscles.driving.muscle_forces import MuscleForces


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
    return rendered("picture/page.html", title=title, fragment=Markup(_fragment(result, "page")))


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
    code = rendered("picture/code.js", three=Markup(three_js()), script=Markup(scripts))
    return rendered(
        "picture/picture.html",
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
    return base64.b64encode(gzip.compress(code.encode("utf-8"), 6, mtime=0)).decode("ascii")


def _sentence(sentence: str) -> str:
    return rendered("picture/nothing.html", sentence=sentence, style=Markup(source("style.css")))


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
        with zipfile.ZipFile(Path(place, *PLACE)) as file:
            page = file.read(TEMPLATE).decode("utf-8")
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
        remedy="pip install 'trimesh>=4.5,<6'; a .png needs neither",
    )


PAGES, STILL = ("html", "htm"), "png"


def save_picture(
    shown: "xr.Dataset | str | Path | Simulation | ContactSimulation",
    path: str | Path,
    progress: Progress | None = None,
    *,
    muscles: "MuscleForces | Sequence[MuscleForces]" = (),
    title: str = "",
    geometry: str | Path | None = None,
) -> tuple[str, ...]:
    """Write the moving picture of a result or a simulation; returns sentences on parts that are not shown.

    Args:
        shown: a result or the path of its file, or what `simulate`, `simulate_contact` and `ForwardProblem.simulate`
            return.
        path: a file that ends in .html, or in .png: a still with four poses, four activations beside EMG, and the
            verdict.
        progress: called with what is done, and how much of it.
        muscles: of a simulation: those that drove it (`problem.muscles`), drawn and colored by their activation.
        title: of a simulation's picture; else the names of the models.
        geometry: of the result of an OpenSim model: the folder with its .vtp, .stl or .obj files, where these are not
            in the folder Geometry beside the model.

    Raises:
        InputError: another suffix, no result and no simulation, one without points to draw, muscles of another model,
            a folder or file of geometry that cannot be read, or a program that is missing.

    Examples:
        >>> missing = ms.laboratory.save_picture(ms.run(ms.data.reference_stride()), "walk.html")
    """
    path, report = file_path(path), progress or no_progress
    kind = path.suffix.casefold().removeprefix(".")
    if kind not in (*PAGES, STILL):
        name = path.with_suffix(".html").name or "walk.html"
        suffix = path.suffix or "a file without suffix"
        raise file_error(
            "unknown_name",
            path,
            f"a picture is not written as {suffix!r}",
            "a file that ends in .html or .png",
            f"for instance {name}",
        )
    loaded = with_geometry(picture_dataset(shown, muscles, title), geometry)
    report("reading", 0.0)
    content = still(loaded) if kind == STILL else picture_page(loaded).encode()
    report("writing", 1.0)
    write_files(path.parent, {path.name: content})
    return picture_data(loaded).missing


def picture_dataset(
    shown: "xr.Dataset | str | Path | Simulation | ContactSimulation",
    muscles: "MuscleForces | Sequence[MuscleForces]",
    title: str,
) -> xr.Dataset:
    """A result as it is, or the dataset of a simulation."""
    if not isinstance(shown, str | Path | xr.Dataset):
        from musclesolve.laboratory.report.picture.simulated import simulation_picture

        return simulation_picture(shown, muscles, title)
    if muscles or title:
        raise input_error(
            "conflict",
            problem="muscles or a title for the picture of a result",
            expected="a result alone, which has both itself",
            remedy="leave them out",
        )
    return shown if isinstance(shown, xr.Dataset) else read_result(Path(shown))


def with_geometry(shown: xr.Dataset, folder: str | Path | None) -> xr.Dataset:
    """The result with the folder of the model's geometry where one is named."""
    if folder is None:
        return shown
    if MODEL not in shown.attrs:
        raise input_error(
            "conflict",
            problem="a folder of geometry for what is no result of an OpenSim model",
            expected="a result of `musclesolve share`, or of a trial file of an OpenSim model",
            remedy="leave geometry out: recordings are drawn with bones of their own",
        )
    place = Path(os.path.realpath(folder))
    if not place.is_dir():
        raise file_error(
            "missing_file",
            place,
            "there is no such folder",
            "a folder with the geometry of the model: .vtp, .stl or .obj files",
            "name OpenSim's own, Geometry in its installation, or leave --geometry out",
        )
    return shown.assign_attrs({GEOMETRY: str(place)})

"""three.js, out of the page template that the package trimesh carries; so nothing of it is copied into this project.

A page of meshcat would do as well, but asks for ipython, tornado and zmq, and its controls do not play a recording.
"""

from __future__ import annotations

import re
import zipfile
from functools import cache
from importlib import metadata, resources

from musclesolve.errors import InputError

PLACE = ("resources", "templates", "viewer.zip")
TEMPLATE = "viewer.html.template"
_BEGIN = re.compile(
    r"/\*\*\s*\*\s*@license(?:(?!\*/).)*?three\.js(?:(?!\*/).)*?\*/", re.IGNORECASE | re.DOTALL
)
_END = re.compile(r'Object\.defineProperty\(\w+,"__esModule",\{value:!0\}\)\}+\)+;?')
_REVISION = re.compile(r'\.REVISION=(\w+|"\d+")')


@cache
def three_js() -> str:
    """Source of three.js, as it stands: it fills `exports`, or else sets `THREE`.

    Raises:
        InputError: the package trimesh is missing, or does not hold it as it used to.
    """
    try:
        archive = resources.files("trimesh").joinpath(*PLACE)
        with archive.open("rb") as file, zipfile.ZipFile(file) as found:
            page = found.read(TEMPLATE).decode("utf-8")
    except (ModuleNotFoundError, OSError, KeyError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise _not_there(f"{type(error).__name__}: {error}") from error
    return library_of(page)


def library_of(page: str) -> str:
    """The part of a page that is three.js: from its licence to the end of its module."""
    begin = _BEGIN.search(page)
    end = _END.search(page, begin.end()) if begin else None
    if begin is None or end is None:
        raise _not_there("no script with its licence and the end of a module")
    source = page[begin.start() : end.end()]
    if not _REVISION.search(source) or "WebGLRenderer" not in source or "</script" in source:
        raise _not_there("the script defines no REVISION and no WebGLRenderer")
    return source


def _not_there(why: str) -> InputError:
    try:
        version = f"trimesh {metadata.version('trimesh')}"
    except metadata.PackageNotFoundError:
        version = "trimesh, which is not installed,"
    return InputError(
        f"three.js, which draws the moving picture, is not found in {version} ({why})",
        code="missing_package",
        expected=f"{'/'.join(PLACE)} with {TEMPLATE} in the package trimesh, as in version 4.5 to 5.2",
        remedy="pip install 'trimesh>=4.5,<6'; GIF and MP4 need neither",
    )

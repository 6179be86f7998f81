"""A moving picture as a file, by its suffix, or in a cell of a notebook."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import xarray as xr

from musclesolve._util.checks import check_number
from musclesolve._util.progress import Progress, no_progress
from musclesolve.constants import PICTURE_SPEED
from musclesolve.errors import input_error
from musclesolve.report.picture.film import RATES, film
from musclesolve.report.picture.moving_picture import picture_page
from musclesolve.report.picture.picture_data import GEOMETRY, picture_data
from musclesolve.report.picture.still import still
from musclesolve.results.dataset.checked import MODEL
from musclesolve.results.files.atomic_writing import write_files
from musclesolve.results.files.result_netcdf import read_result

if TYPE_CHECKING:
    from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
    from musclesolve.dynamics.forward.simulate import Simulation
    from musclesolve.muscles.driving.muscle_forces import MuscleForces

PAGES, STILL = ("html", "htm"), "png"
HEIGHT = 640.0
"""Height of a cell [px]: the picture, its time slider and its controls, without scrolling."""
LEAST_HEIGHT = 360.0
NARROW = 828.0
"""Width below which controls need more lines [px]: the frame then gets higher by 92 % of the missing width."""


def save_picture(
    shown: xr.Dataset | str | Path | Simulation | ContactSimulation,
    path: str | Path,
    speed: float = PICTURE_SPEED,
    progress: Progress | None = None,
    *,
    muscles: MuscleForces | Sequence[MuscleForces] = (),
    title: str = "",
    geometry: str | Path | None = None,
) -> tuple[str, ...]:
    """Write the moving picture of a result or a simulation; returns sentences on parts that are not shown.

    Args:
        shown: a result or the path of its file, or what `simulate`, `simulate_contact` and `ForwardProblem.simulate`
            return.
        path: a file that ends in .html, .gif, .mp4, or .png: four poses, four activations beside EMG, and the verdict.
        speed: share of the true speed, of .gif and .mp4.
        progress: called with what is done, and how much of it.
        muscles: of a simulation: those that drove it (`problem.muscles`), drawn and colored by their activation.
        title: of a simulation's picture; else the names of the models.
        geometry: of the result of an OpenSim model: the folder with its .vtp, .stl or .obj files, where these are not
            in the folder Geometry beside the model.

    Raises:
        InputError: another suffix, no result and no simulation, one without points to draw, muscles of another model,
            a folder or file of geometry that cannot be read, or a program that is missing.

    Examples:
        >>> missing = ms.save_picture(ms.run(ms.data.reference_stride()), "walk.html")
    """
    path, report = Path(path), progress or no_progress
    kind = path.suffix.casefold().removeprefix(".")
    if kind not in (*PAGES, *RATES, STILL):
        name = path.with_suffix(".html").name or "walk.html"
        suffix = path.suffix or "a file without suffix"
        raise input_error(
            "unknown_name",
            file=path,
            problem=f"a moving picture is not written as {suffix!r}",
            expected="a file that ends in .html, .gif, .mp4 or .png",
            remedy=f"for instance {name}",
        )
    check_number(speed, "speed", "a positive share of the true speed", above=0.0)
    loaded = with_geometry(picture_dataset(shown, muscles, title), geometry)
    report("reading", 0.0)
    if kind in PAGES:
        content = picture_page(loaded).encode()
    else:
        content = still(loaded) if kind == STILL else film(loaded, kind, speed, report)
    report("writing", 1.0)
    write_files(path.parent, {path.name: content})
    return picture_data(loaded).missing


def picture_dataset(
    shown: xr.Dataset | str | Path | Simulation | ContactSimulation,
    muscles: MuscleForces | Sequence[MuscleForces],
    title: str,
) -> xr.Dataset:
    """A result as it is, or the dataset of a simulation."""
    if not isinstance(shown, str | Path | xr.Dataset):
        from musclesolve.report.picture.simulated import simulation_picture

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
    return shown.assign_attrs({GEOMETRY: os.path.realpath(folder)})


@dataclass(frozen=True)
class MovingPicture:
    """A self-contained page with a moving picture, which a notebook shows in a frame."""

    page: str = field(repr=False)  # HTML that stands alone
    height: float = HEIGHT  # of the frame [px]

    def _repr_html_(self) -> str:
        """The page in a frame as wide as the cell."""
        height = f"max({self.height:.0f}px, {self.height + NARROW:.0f}px - 92vw)"
        style = f"width: 100%; height: {height}; border: 1px solid #d5dae0; border-radius: 6px"
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="Moving picture" loading="lazy" allowfullscreen '
            f'style="{style}"></iframe>'
        )


def moving_picture(
    shown: xr.Dataset | str | Path | Simulation | ContactSimulation,
    height: float = HEIGHT,
    *,
    muscles: MuscleForces | Sequence[MuscleForces] = (),
    title: str = "",
    geometry: str | Path | None = None,
) -> MovingPicture:
    """The moving picture of a result or a simulation, for a cell of a notebook.

    The notebook contains the whole picture, about a megabyte; `save_picture` writes a file instead.

    Args:
        shown: a result or the path of its file, or what `simulate`, `simulate_contact` and `ForwardProblem.simulate`
            return.
        height: of the frame [px], 360 or more.
        muscles: of a simulation: those that drove it (`problem.muscles`), drawn and colored by their activation.
        title: of a simulation's picture; else the names of the models.
        geometry: of the result of an OpenSim model: the folder with its .vtp, .stl or .obj files, where these are not
            in the folder Geometry beside the model.

    Raises:
        InputError: no result and no simulation, muscles of another model, a height that is too small, a folder or
            file of geometry that cannot be read, or a program that is missing.

    Examples:
        >>> picture = ms.moving_picture(ms.run(ms.data.reference_stride()))
        >>> type(picture).__name__
        'MovingPicture'
    """
    check_number(height, "height", f"a height in px, {LEAST_HEIGHT:g} or more", least=LEAST_HEIGHT)
    return MovingPicture(
        picture_page(with_geometry(picture_dataset(shown, muscles, title), geometry)), float(height)
    )

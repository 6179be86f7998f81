"""The moving picture in a cell of a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import xarray as xr

from musclesolve._util.checks import check_number
from musclesolve.report.picture.moving_picture import picture_page
from musclesolve.report.picture.save_picture import picture_dataset, with_geometry

if TYPE_CHECKING:
    from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
    from musclesolve.dynamics.forward.simulate import Simulation
    from musclesolve.muscles.driving.muscle_forces import MuscleForces

HEIGHT = 640.0
"""Height of a cell [px]: the picture, its time slider and its controls, without scrolling."""
LEAST_HEIGHT = 360.0
NARROW = 828.0
"""Width below which controls need more lines [px]: the frame then gets higher by 92 % of the missing width."""


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

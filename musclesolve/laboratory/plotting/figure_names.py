"""The figures that are written as files, by name: drawing function, data, and place in pages.

Reading the names loads no drawing; `drawings` does.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from musclesolve._util.arrays import grouped
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import ALL_SIDES, SIDE_NAMES, side_of
from musclesolve.constants import UNCERTAINTY_FILE
from musclesolve.errors import file_error
from musclesolve.laboratory.plotting.page.page_style import FORMATS
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, in_set

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

CONTACT_TITLE = "Joint contact force, magnitude"
"""Title of pages of contact forces."""
RECORDING, MODEL, UNCERTAINTIES = "recording", "model", "uncertainty"
COMPARISON, RESULTS = "comparison", "results"
OF_LEG = (COMPARISON, RESULTS, "contributions")
"""Kinds of datasets with a page for each leg."""
PLACES = {
    "dof": ("joints", "Joint angles and moments"),
    "muscle": ("muscles", "Muscle forces"),
    "joint": ("contact", "Contact forces"),
}
"""Section of the report and tab of the desk of the figure of a quantity, by its last dimension but axes."""


@dataclass(frozen=True)
class FigureName:
    """A figure; figures.toml describes the fields. quantity: the quantity of which it is the own figure."""

    name: str
    of: tuple[str, ...]
    module: str = ""
    needs: str = ""
    section: str = ""
    tab: str = ""
    quantity: str = ""
    legs: bool = False
    either: tuple[str, ...] = ()

    @property
    def pages(self) -> list[str]:
        """Names of its files without suffix; a comparison has one for each leg."""
        legs = not set(OF_LEG).isdisjoint(self.of)
        return [f"{self.name}_{side}" for side in ALL_SIDES] if legs else [self.name]

    def is_drawable(self, data: "xr.Dataset") -> bool:
        """Whether a dataset has the variable that the figure needs, and a leg for a figure of the legs."""
        return not self._lacking(data)

    def _lacking(self, data: "xr.Dataset") -> str:
        """Return what the figure needs and a dataset does not have; "" where it has all."""
        if self.needs and self.needs not in data.variables:
            return self.needs
        if self.either and not any(_has_values(data, name) for name in self.either):
            return " or ".join(self.either)
        return "a right or left leg" if self.legs and not SIDE_NAMES.keys() & {*data["side"].values} else ""

    def check(self, data: "xr.Dataset") -> None:
        """Refuse a dataset without what the figure needs."""
        if lacking := self._lacking(data):
            raise file_error(
                "bad_result",
                data.encoding.get("source"),
                f"the figure {self.name} is drawn from {lacking}, which this result does not have",
                f"a result with {lacking}",
                "choose another figure, or compute the result with this version and with what "
                "the variable follows from, such as loads for contact forces, elastic tendons "
                "for their strain",
            )


def _has_values(data: "xr.Dataset", name: str) -> bool:
    """Whether a dataset has a variable that is known and not zero somewhere."""
    if name not in data.variables:
        return False
    values = data[name].values
    return bool((np.isfinite(values) & (values != 0.0)).any())


class _Functions(Mapping[str, "Callable[..., Figure]"]):
    """The drawing functions of all figures by name; a function is imported when it is read."""

    def __getitem__(self, name: str) -> "Callable[..., Figure]":
        figure = FIGURE_NAMES[name]
        module: Any = import_module(f"musclesolve.laboratory.plotting.{figure.module}")
        if figure.quantity:
            return partial(module.quantity_curves, name=name)
        function: Callable[..., Figure] = getattr(module, name)
        return function

    def __iter__(self) -> Iterator[str]:
        return iter(FIGURE_NAMES)

    def __len__(self) -> int:
        return len(FIGURE_NAMES)


NAMES = _Functions()


def _figure_names() -> dict[str, FigureName]:
    named = {
        name: FigureName(
            **entry | {"name": name, "of": tuple(entry["of"]), "either": tuple(entry.get("either", ()))}
        )
        for name, entry in bundled_toml(__package__, "figures.toml").items()
    }
    for name in in_set("figure"):
        section, tab = PLACES[next(dim for dim in QUANTITIES[name].dims if dim in PLACES)]
        named[name] = FigureName(
            name, (RECORDING, MODEL), "result.joint_figures", name, section, tab, quantity=name
        )
    return named


FIGURE_NAMES = _figure_names()


def figures_by(field: str) -> dict[str, list[FigureName]]:
    """The figures by section, by tab or by another field, in order."""
    return grouped((value, x) for x in FIGURE_NAMES.values() if (value := getattr(x, field)))


def drawings(kind: str) -> "Mapping[str, Callable[..., Figure]]":
    """Figure -> drawing function, for the figures of a kind of dataset."""
    return {name: NAMES[name] for name, figure in FIGURE_NAMES.items() if kind in figure.of}


def pages_of(data: "xr.Dataset", kind: str) -> "dict[str, Callable[..., Figure]]":
    """The figures of a dataset of a kind by the names of their pages, without figures of missing variables.

    Kinds in `OF_LEG` have a page for each leg, without legs that the coordinate in `needs` has no entry of.
    """
    from musclesolve.laboratory.results.dataset import frame_validity as frames

    pages: dict[str, Callable[..., Figure]] = {}
    for name, draw in drawings(kind).items():
        needed = FIGURE_NAMES[name].needs
        if not FIGURE_NAMES[name].is_drawable(data):
            continue
        if kind not in OF_LEG:
            pages[name] = draw
            continue
        for side in frames.sides(data) if kind == COMPARISON else map(str, data["side"].values):
            if needed not in data.dims or side in map(side_of, map(str, data[needed].values)):
                pages[f"{name}_{side}"] = partial(draw, side=side)
    return pages


def files_of(*kinds: str) -> tuple[str, ...]:
    """The names of the PNG files of all figures of some kinds of datasets."""
    figures = [figure for figure in FIGURE_NAMES.values() if not set(kinds).isdisjoint(figure.of)]
    return tuple(f"{page}.png" for figure in figures for page in figure.pages)


UNCERTAINTY, REPORT, STUDY_PAGE, DATASET_PAGE = UNCERTAINTY_FILE, "report.html", "study.html", "dataset.html"


def in_every_format(files: Iterable[str]) -> tuple[str, ...]:
    """The names of figure files with the suffix of every format, which an earlier result may have."""
    stems = dict.fromkeys(name.rpartition(".")[0] for name in files)
    return tuple(f"{stem}.{file_format}" for stem in stems for file_format in FORMATS)


def group_figures_in(folder: Path) -> list[str]:
    """The names of the files of group figures of a study in a folder, of any variable and format."""
    variables = "|".join(map(re.escape, QUANTITIES))
    name = re.compile(rf"group_({variables})(_\d+)?\.({'|'.join(FORMATS)})")
    return [path.name for path in folder.iterdir() if name.fullmatch(path.name)]

"""Small files of every kind that a report takes, and a page read back."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import xarray as xr
from stored_results import write_result
from synthetic_result import few_muscles, result

from musclesolve.studies.compare import side_by_side

IDENTITY = {
    "subject": "S01",
    "subject_stature_m": 1.75,
    "subject_sex": "female",
    "trial_file": "/somewhere/walk.toml",
    "inputs": ["trial walk.toml sha256:aa", "markers walk.trc sha256:bb"],
    "cost": "activation_volume",
    "solver": "batch",
    "muscle_database": "silva_2003",
    "passive": "none",
    "strength": "table",
}


def small(**attributes: object) -> xr.Dataset:
    """A result of two muscles of each leg with the attributes of a run."""
    return few_muscles(result()).assign_attrs(IDENTITY | attributes)


def with_emg(data: xr.Dataset) -> xr.Dataset:
    """Return a result with two channels of the right leg, of which one disagrees."""
    names = [str(name) for name in data["muscle"].values if str(name).endswith("_r")]
    data = data.assign_coords(channel=["good", "bad"], channel_muscles=("channel", names[:2]))
    envelope = data["activation"].sel(muscle=names[:2]).values
    data["emg_delayed"] = (("time", "channel"), envelope)
    data["emg_correlation"] = ("channel", np.array([0.91, 0.21]))
    data["emg_delay"] = ("channel", np.array([0.04, 0.0]))
    return data


def uncertain(data: xr.Dataset) -> xr.Dataset:
    """Return the uncertainty that `run --uncertainty` would add: 10 % on every force, from one source."""
    weight = np.sqrt((data["joint_reaction"] ** 2).sum("axis"))
    found = data[["status", "valid", "ground_reaction_force", "muscle_force", "activation", "group"]]
    found = found.assign(contact_force=weight).assign_coords(
        quantile=[0.025, 0.25, 0.5, 0.75, 0.975],
        source=["strength"],
        source_label=("source", ["strength of the subject"]),
        source_unit=("source", [""]),
    )
    for name in ("muscle_force", "contact_force"):
        found[f"{name}_mean"], found[f"{name}_sd"] = 1.0 * found[name], 0.1 * found[name]
        spread = xr.DataArray([0.8, 0.95, 1.0, 1.05, 1.2], dims="quantile")
        found[f"{name}_quantile"] = spread * found[name]
        found[f"{name}_contribution"] = xr.ones_like(found[name]).expand_dims("source")
    found["standard_deviation"] = ("source", np.array([0.15]))
    more = {
        "samples": 50,
        "quantile_samples": 50,
        "seed": 3,
        "failed_samples": 0,
        "without_contributions": "",
    }
    return found.assign_attrs(data.attrs | more)


def compared(data: xr.Dataset) -> xr.Dataset:
    """Return a comparison of two costs, of which the second has forces a tenth larger."""
    over = data["muscle_force"].dims
    data = data.assign(passive_force=(over, np.zeros(data["muscle_force"].shape)))
    arm = np.zeros((data.sizes["time"], data.sizes["dof"], data.sizes["muscle"]))
    data = data.assign(moment_arm=(("time", "dof", "muscle"), arm), cost=0.0 * data["gap"])
    other = data.assign(muscle_force=1.1 * data["muscle_force"])
    return side_by_side([data, other], ["activation_volume", "force_squared"])


def written(data: xr.Dataset, folder: Path, name: str) -> Path:
    """The dataset as a file."""
    write_result(data, folder / name)
    return folder / name


@dataclass
class Parsed(HTMLParser):
    """Parts of a page that the tests read."""

    text: str
    ids: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)  # attribute, address
    tags: list[str] = field(default_factory=list)
    numbers: dict[str, list[float]] = field(default_factory=dict)  # of <data>
    printed: dict[str, list[str]] = field(default_factory=dict)
    headings: list[int] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._name: str | None = None
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [(key, given[key]) for key in ("src", "href", "xlink:href", "action") if key in given]
        if tag == "data":
            self._name = given["data-name"]
            self.numbers.setdefault(self._name, []).append(float(given["value"]))
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append(int(tag[1]))
        if tag in ("section", "details", "dt") and "-s-" in given.get("id", ""):
            self.sections.append(given["id"].partition("-s-")[2])

    def handle_endtag(self, tag: str) -> None:
        if tag == "data":
            self._name = None

    def handle_data(self, data: str) -> None:
        if self._name is not None:
            self.printed.setdefault(self._name, []).append(data)

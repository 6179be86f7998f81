"""The quantities of results: the only definition of their dimensions, units, meanings, titles and uses.

quantities.toml lists the quantities that body, muscles and solution give directly; a quantity that follows from others
by a formula is a function at the end of this module. Datasets, figures, tables, exports, studies, uncertainties,
reports, the live page and the page of quantities of the site read both from `QUANTITIES`.

A data set keeps some of the quantities of each trial, with numbers of 32 bits. It has millions of frames, and has room
for what is learned from, not for moment arms and paths of muscles: 7 680 and 5 616 of 18 000 bytes a frame of a model
with 80 muscles. Muscle forces, moments and contact forces of 32 bits have seven digits; measurements have three. Times
keep 64 bits, so that frames can be matched with recordings.
"""

import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from muscle_db.similar_names import suggestion
from musclesolve._util.arrays import AnyArray
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.errors import input_error
from musclesolve.laboratory.results.dataset.frame_validity import MUSCLE_WORDS
from musclesolve.laboratory.results.finding import FINDINGS

if TYPE_CHECKING:
    import xarray as xr

    from musclesolve.models.body import SolvedGroup


# fmt: off
Use = Literal[
    "study", "compared", "values", "judged", "uncertainty", "peak", "live", "page", "figure", "report",
    "result", "export", "sto", "signed", "finite", "uncut", "positive",
]
# fmt: on
"""Sets of quantities; quantities.toml describes their use."""
Basis = Literal["", "state", "forces", "solution", "solver"]
"""Sources of a quantity; of several sources the last one in this order counts."""
ANALYSIS = "analysis"
"""Argument of a formula that needs the whole `Analysis`, which only a new result has."""


@dataclass(frozen=True)
class UnitRule:
    """Rule for the unit of a normalized quantity: the result's unit over the quantities `by`, times the factor."""

    by: tuple[str, ...] = ()  # mass, stature, weight, strength
    factor: float = 1.0
    about: str = ""


@dataclass(frozen=True)
class Kind:
    """Quantities that have the same units and measures."""

    name: str
    units: Mapping[str, UnitRule]  # the first is that of a study
    measures: tuple[str, ...]  # of curves
    page: Mapping[str, Any]  # unit and decimals on the live page

    @property
    def base(self) -> str:
        """The unit of results."""
        return next(unit for unit, rule in self.units.items() if rule == UnitRule())

    @property
    def names(self) -> list[str]:
        """The quantities of this kind."""
        return [entry.name for entry in QUANTITIES.values() if entry.kind == self.name]


@dataclass(frozen=True)
class Quantity:
    """A quantity of results; quantities.toml describes the fields."""

    name: str
    dims: tuple[str, ...]
    units: str
    long_name: str
    title: str = ""
    words: str = ""
    kind: str = ""
    follows: Basis = ""
    part: str = ""
    frame: str = ""
    translation: str = ""
    answer: str = ""
    sto: Mapping[str, str] = field(default_factory=dict)
    sets: frozenset[str] = frozenset()
    function: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        unknown = [use for use in self.sets if use not in get_args(Use)]
        if unknown or self.follows not in get_args(Basis) or self.kind not in ("", *KINDS):
            raise ValueError(f"quantity {self.name}: {unknown or (self.follows, self.kind)} does not exist")

    @property
    def attrs(self) -> dict[str, str]:
        """Attributes of a variable; its long_name fits the axis of a plot."""
        return {"units": self.units, "long_name": self.heading, "description": self.long_name}

    @property
    def heading(self) -> str:
        """Title of a figure or table."""
        return self.title or self.name.replace("_", " ").capitalize()

    @property
    def noun(self) -> str:
        """Words after the name of a joint or muscle: knee flexion "angle"."""
        return self.words or self.name.replace("_", " ")

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the quantities that the formula needs; empty without a formula."""
        return () if self.function is None else tuple(inspect.signature(self.function).parameters)


def _kinds() -> dict[str, Kind]:
    kinds = {}
    for name, entry in bundled_toml(__package__, "quantities.toml")["kinds"].items():
        units = {
            unit: UnitRule(**rule | {"by": tuple(rule.get("by", ()))})
            for unit, rule in entry["units"].items()
        }
        kinds[name] = Kind(name, units, tuple(entry["measures"]), entry["page"])
    return kinds


KINDS = _kinds()
QUANTITIES = {
    name: Quantity(name=name, **row | {"dims": tuple(row["dims"]), "sets": frozenset(row.get("sets", ()))})
    for name, row in bundled_toml(__package__, "quantities.toml")["quantities"].items()
}
"""Every quantity by its name, in the order of tables and figures."""


@cache
def in_set(*uses: Use) -> tuple[str, ...]:
    """Names of the quantities of a set, or of several sets at the same time."""
    return tuple(entry.name for entry in QUANTITIES.values() if entry.sets.issuperset(uses))


def following(*bases: Basis) -> list[str]:
    """Names of the quantities that follow from one of these."""
    return [entry.name for entry in QUANTITIES.values() if entry.follows in bases]


def said_of(name: str) -> str:
    """Return the words after the name of a joint or muscle for a variable: knee flexion "angle"."""
    return QUANTITIES[name].noun if name in QUANTITIES else name.replace("_", " ")


def heading_of(name: str) -> str:
    """Title of figures and tables of a variable."""
    return QUANTITIES[name].heading if name in QUANTITIES else name.replace("_", " ").capitalize()


def shown(units: str) -> tuple[float, str]:
    """Factor and unit in which a quantity is shown: angles in degrees, other quantities unchanged."""
    return (180.0 / math.pi, units.replace("rad", "deg")) if "rad" in units.split("/")[0] else (1.0, units)


def explained(data: "xr.Dataset") -> "xr.Dataset":
    """Add the units and meanings of the quantities to the variables of an answer to a question."""
    for name in data.data_vars:
        if name in QUANTITIES and QUANTITIES[str(name)].answer:
            data[name].attrs |= QUANTITIES[str(name)].attrs
    return data


def of_parts(
    name: str,
    parts: "Sequence[SolvedGroup]",
    over_muscles: Callable[[Sequence[Any]], Any],
    over_joints: Callable[[Sequence[Any]], Any],
) -> AnyArray:
    """Collect a quantity of the shared parts for all muscles (..., N) or joints (T, J, 3).

    over_muscles, over_joints: join the arrays of the parts to one array of all muscles or joints.
    """
    values = [attrgetter(QUANTITIES[name].part)(part) for part in parts]
    if "joint" not in QUANTITIES[name].dims:
        return np.asarray(over_muscles(values))
    stacked = [
        np.stack(list(columns.values()), axis=-1) if columns else np.zeros((len(part.part.time), 3, 0))
        for part, columns in zip(parts, values, strict=True)
    ]
    return np.moveaxis(np.asarray(over_joints(stacked)), -1, 1)


def by_formula(known: Mapping[str, Any], use: Use) -> dict[str, Any]:
    """The other quantities of a set that follow from known ones by a formula: arrays (..., as `dims` after time)."""
    values = dict[str, Any]()
    for quantity in map(QUANTITIES.__getitem__, in_set(use)):
        if quantity.name in known or quantity.function is None:
            continue
        if all(name in known for name in quantity.arguments):
            values[quantity.name] = quantity.function(*(known[name] for name in quantity.arguments))
    return values


def with_formulas(data: "xr.Dataset", use: Use) -> "xr.Dataset":
    """Add the quantities of a set that follow by formulas to a result, an average or a comparison."""
    import xarray as xr  # not for samples, which processes compute

    for quantity in map(QUANTITIES.__getitem__, in_set(use)):
        if quantity.function is None or quantity.name in data or not set(quantity.arguments) <= set(data):
            continue
        # cycles of one leg have no dimension side
        cores = [
            [dim for dim in _after_time(QUANTITIES[name].dims) if dim in data[name].dims]
            for name in quantity.arguments
        ]
        value = xr.apply_ufunc(
            quantity.function,
            *(data[name] for name in quantity.arguments),
            input_core_dims=cores,
            output_core_dims=[
                [dim for dim in _after_time(quantity.dims) if any(dim in core for core in cores)]
            ],
        )
        data = data.assign({quantity.name: value.assign_attrs(quantity.attrs)})
    return data


def _after_time(dims: Iterable[str]) -> list[str]:
    return [dim for dim in dims if dim != "time"]


def quantity(**said: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: a quantity that follows from others by a formula; it has the name of the function.

    The parameters of the function are names of quantities, or `analysis`. Arrays have the dimensions of these
    quantities, with any number of axes, or none, in the place of time. The keywords are fields of `Quantity`; its
    sources are its arguments unless stated.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        of = [
            QUANTITIES[parameter].follows
            for parameter in inspect.signature(function).parameters
            if parameter != ANALYSIS
        ]
        follows = max(of, key=get_args(Basis).index, default="")
        entry = {"follows": follows, **said, "sets": frozenset(said["sets"])}
        QUANTITIES[name] = Quantity(name=name, function=function, **entry)
        return function

    return register


@quantity(
    dims=("time", "joint"),
    units="N",
    long_name="magnitude of the joint reaction, muscle forces included",
    title="Joint contact forces, resultants",
    words="contact force",
    kind="force",
    sets=("study", "compared", "uncertainty", "peak", "positive"),
)
def contact_force(joint_reaction: AnyArray) -> AnyArray:
    """Magnitude |R|, (..., joint) [N], of contact forces R (..., joint, axis) [N]."""
    return np.asarray(np.linalg.norm(joint_reaction, axis=-1))


@quantity(
    dims=("time", "side"),
    units="N",
    long_name="magnitude of the ground reaction force",
    title="Ground reaction force, resultant",
    words="resultant ground force",
    kind="force",
    sets=("study", "compared", "values", "positive"),
)
def ground_reaction_resultant(ground_reaction_force: AnyArray) -> AnyArray:
    """Magnitude |F|, (..., side) [N], of ground forces F (..., side, axis) [N]."""
    return np.asarray(np.linalg.norm(ground_reaction_force, axis=-1))


@quantity(
    dims=("time", "muscle"),
    units="1",
    long_name="fiber length over optimal fiber length",
    sets=("export", "sto"),
    sto={"file": "normalized_fiber_length", "column": "{muscle}"},
)
def normalized_fiber_length(fiber_length: AnyArray, optimal_fiber_length: AnyArray) -> AnyArray:
    """Normalized fiber length L / L0, (..., muscle)."""
    return fiber_length / optimal_fiber_length


GROUPS: Mapping[str, tuple[str, ...]] = {
    "activation": ("activation",),
    "force": ("muscle_force",),
    "moment": ("joint_moment", "reserve_moment"),
    "contact": (
        "contact_force_component",
        "knee_contact_medial",
        "knee_contact_lateral",
        "patellofemoral_force",
    ),
    "angle": ("joint_angle", "pelvis_angle", "trunk_angle"),
    "ground": ("ground_reaction_force", "center_of_pressure", "ground_predicted"),
}
"""What `keep` may name besides the variables of a result -> its variables."""
ALWAYS = ("status", "valid", "gap", "moment_error", "plausible", "max_isometric_force")
"""Variables of every trial: solution, validity and certificate of each frame, verdict of the legs, and strength."""
SIGNS = (
    "Angles, moments and powers are positive as the name of the coordinate says (hip_flexion: flexion). Joint moments "
    "are internal: muscles produce them. Muscle forces pull. Contact forces act on the distal segment. "
    "Ground reactions act on the foot."
)
UNSAID = (
    "Coordinates such as knee_angle do not say it: angle and moment are positive in flexion or dorsiflexion unless "
    "`extension_positive` names the coordinate."
)
"""Sign of the coordinates of models whose names state none."""
_LABORATORY = "laboratory; of an OpenSim model its ground (x forward, y up, z right)"
FRAMES = {
    **dict.fromkeys(("ground_reaction_force", "center_of_pressure", "joint_reaction"), _LABORATORY),
    **dict.fromkeys(("pelvis_angle", "trunk_angle"), "walking direction, and the vertical"),
    "contact_force_component": "thigh (hip), shank (knee, ankle)",
    "knee_contact_medial": "shank",
    "knee_contact_lateral": "shank",
}
"""Variable -> its frame of reference."""


def kept_variables(keep: Sequence[str]) -> tuple[str, ...]:
    """Return the variables of words of `GROUPS` and names of variables, each once, in the order of `QUANTITIES`.

    Raises:
        InputError: a word is neither.
    """
    for word in keep:
        if word not in GROUPS and word not in QUANTITIES:
            raise input_error(
                "unknown_name",
                where="keep",
                problem=f"there is no {word!r}",
                expected=f"{', '.join(GROUPS)}, or a variable of a result, such as fiber_length",
                remedy=suggestion(word, [*GROUPS, *QUANTITIES]) or f"use {' or '.join(GROUPS)}",
            )
    wanted = {*ALWAYS, *(name for word in keep for name in GROUPS.get(word, (word,)))}
    return tuple(name for name in QUANTITIES if name in wanted)


def kept_of(result: "xr.Dataset", keep: Sequence[str]) -> "xr.Dataset":
    """Return some variables of a result with numbers of 32 bits, and the coordinates of these variables.

    Variables of vectors state their frame of reference, the dataset the signs. Paths of the machine that computed the
    result are left out of the attributes; of the model the name of its file remains.

    Args:
        result: of `run` or `share_model`.
        keep: names of variables; names that the result lacks are left out.
    """
    import xarray as xr

    there = [name for name in keep if name in result]
    words = MUSCLE_WORDS if any("muscle" in result[name].dims for name in there) else ()
    kept = result[[*there, *(name for name in words if name in result)]]
    kept = kept.drop_vars([name for name, array in kept.coords.items() if not {*array.dims} <= {*kept.dims}])
    changed = {}
    for name in kept.data_vars:
        variable = kept.variables[name]
        attrs = variable.attrs | ({"frame": FRAMES[str(name)]} if name in FRAMES else {})
        dtype = np.float32 if variable.dtype == np.float64 else variable.dtype
        changed[name] = xr.Variable(variable.dims, variable.values.astype(dtype), attrs)
    attrs = {key: value for key, value in result.attrs.items() if key != "trial_file"}
    if "model_file" in attrs:
        attrs["model_file"] = Path(attrs["model_file"]).name
    if FINDINGS in attrs:
        entries = json.loads(attrs[FINDINGS])
        for where in (one["where"] for one in entries if one["where"]["file"]):
            where["file"] = Path(where["file"]).name
        attrs[FINDINGS] = json.dumps(entries)
    return xr.Dataset(changed, kept.coords, attrs | {"signs": f"{SIGNS} {UNSAID}"})

"""Parameters and Hill curves of muscles of an OpenSim model, from the numbers in its file.

Impossible values are refused while reading: a force-velocity curve that does not rise, a pennation angle in degrees, a
strain of zero. The ranges of ``muscle_properties.toml`` are far wider than the values of any muscle.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.errors import file_error
from musclesolve.muscles.curves.curve_family import CurveFamily, DeGrooteFregly2016, Thelen2003, curve_fault
from musclesolve.muscles.curves.millard_2013 import Millard2013
from musclesolve.muscles.hill_model import PassiveElement
from musclesolve.muscles.muscle_parameters import MuscleParameters, families_of
from musclesolve.muscles.strength import ACHILLES, TendonStrain, achilles_muscles, stated_strains
from musclesolve.opensim.model import OpenSimMuscle
from musclesolve.opensim.read_context import Context
from musclesolve.opensim.xml_tree import Element


def muscle_parameters(
    muscles: Sequence[OpenSimMuscle],
    *,
    with_passive: bool = True,
    tendon_strain: TendonStrain | None = None,
    joints_crossed: ArrayLike = 1.0,
) -> MuscleParameters:
    """The parameters of n muscles with their Hill curves.

    Args:
        muscles: of a model.
        with_passive: False: passive elements without force.
        tendon_strain: instead of the strains of the model. Words are "all", "achilles" (soleus and gastrocnemius),
            names without _r and _l, and names.
        joints_crossed: see `joints_crossed` in kinematics.py; (n,), or one number for all muscles.
    """
    names = [muscle.name for muscle in muscles]
    of_stem: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        of_stem.setdefault(name.removesuffix("_r").removesuffix("_l"), []).append(k)
    of_name = {name: [k] for k, name in enumerate(names)}
    levels = ({ACHILLES: achilles_muscles([(name,) for name in names])}, of_stem, of_name)
    of_model = np.array([muscle.tendon_strain for muscle in muscles])
    strain = np.array([passive_strains(muscle) for muscle in muscles]).reshape(-1, 2)
    force = np.array([muscle.max_isometric_force for muscle in muscles])
    return MuscleParameters(
        names=tuple(names),
        max_isometric_force=force,
        optimal_fiber_length=np.array([muscle.optimal_fiber_length for muscle in muscles]),
        tendon_slack_length=np.array([muscle.tendon_slack_length for muscle in muscles]),
        pennation_angle=np.array([muscle.pennation_angle for muscle in muscles]),
        max_shortening_velocity=np.array([muscle.max_contraction_velocity for muscle in muscles]),
        tendon_strain=stated_strains(of_model, tendon_strain, levels, "this choice of muscles"),
        joints_crossed=np.array(np.broadcast_to(joints_crossed, len(names)), dtype=float),
        families=families_of([curve_family(muscle) for muscle in muscles]),
        passive=PassiveElement(force * float(with_passive), strain[:, 0], strain[:, 1]),
    )


_PARTS = {
    "active": "ActiveForceLengthCurve",
    "velocity": "ForceVelocityCurve",
    "passive": "FiberForceLengthCurve",
}
"""Curves of `Millard2013` and their elements."""
_FULL_DEGREES = 90.0

Range = Mapping[str, float | str]


def muscle_number(context: Context, muscle: Element, tag: str) -> float:
    """A parameter of every muscle, such as optimal_fiber_length, within its range."""
    value = _number(context, muscle, tag, _table()["muscle"][tag])
    assert value is not None  # all these parameters have a default
    return value


def curve_parameters(context: Context, muscle: Element) -> dict[str, float]:
    """The parameters of the curves by their names in the file; for Millard et al. as CURVE.PARAMETER."""
    kind = next((kind for kind in ("Thelen", "DeGroote") if muscle.tag.startswith(kind)), "Millard")
    read = {tag: _number(context, muscle, tag, limits) for tag, limits in _table()[kind].items()}
    stated = {tag: value for tag, value in read.items() if value is not None}
    fault = _curves(tuple(stated.items()))[2]
    if fault is not None:
        part, sentence = fault
        of_part = {tag: value for tag, value in stated.items() if tag.startswith(_PARTS[part])} or stated
        items = [f"{tag} {value:g}" for tag, value in of_part.items()]
        muscle.fail(
            "bad_model",
            f"{sentence} with {', '.join(map(str, items))}",
            "active force that rises to 1 at the optimal fiber length and falls beyond it, "
            "a force-velocity curve that rises from 0 at the maximum shortening velocity "
            "through 1 at rest, a passive force that rises",
            "correct these parameters of the muscle",
        )
    return stated


def curve_family(muscle: OpenSimMuscle) -> CurveFamily:
    """The curves of a muscle."""
    return _curves(tuple(muscle.curve.items()))[0]


def passive_strains(muscle: OpenSimMuscle) -> tuple[float, float]:
    """Fiber strains at zero and at one norm force."""
    return _curves(tuple(muscle.curve.items()))[1]


@lru_cache(maxsize=256)
def _curves(
    parameters: tuple[tuple[str, float], ...],
) -> tuple[CurveFamily, tuple[float, float], tuple[str, str] | None]:
    """Family, strains at zero and at one norm force, and fault (see `curve_fault`) of parameters as in the file."""
    values, tables = dict(parameters), _table()
    kind = next(kind for kind in tables if kind != "muscle" and next(iter(tables[kind])) in values)
    family: CurveFamily
    if kind == "DeGroote":
        strains = 0.0, values["passive_fiber_strain_at_one_norm_force"]
        family = DeGrooteFregly2016(values["active_force_width_scale"])
    elif kind == "Thelen":
        strains = 0.0, values["FmaxMuscleStrain"]
        family = Thelen2003(*(values[tag] for tag in ("KshapeActive", "KshapePassive", "Af", "Flen")))
    else:
        shape = {
            part: {
                str(limits["as"]): values[tag]
                for tag, limits in tables[kind].items()
                if tag.startswith(curve) and "as" in limits and tag in values
            }
            for part, curve in _PARTS.items()
        }
        # With damped fibers or rigid tendons OpenSim ignores the least active force in the file.
        shape["active"]["minimum"] = 0.0
        zero, one = (
            values[f"{_PARTS['passive']}.strain_at_{end}"] for end in ("zero_force", "one_norm_force")
        )
        strains, family = (zero, one), Millard2013("millard_2013_of_model", shape)
    return family, strains, curve_fault(family, strains)


def curve_notes(muscles: Sequence[OpenSimMuscle]) -> list[str]:
    """Return a note on the muscles with Hill curves of another class than in the file."""
    other = [
        muscle for muscle in muscles if not muscle.kind.startswith(("Thelen2003", "Millard2012", "DeGroote"))
    ]
    return [
        f"The curves of {', '.join(dict.fromkeys(muscle.kind for muscle in other))} are not read; "
        f"{', '.join(muscle.name for muscle in other)} have the curves of Millard et al. (2013)."
    ] * bool(other)


_LEAST_CONTROL = 0.01
"""The least control of the muscles of OpenSim, unless a model states another."""


def control_notes(muscles: Sequence[OpenSimMuscle]) -> list[str]:
    """Return a note on the muscles that a model bounds in OpenSim's static optimization, other than by 0 and 1."""
    bounded = [
        f"{muscle.name} ({muscle.controls[0]:g} to {muscle.controls[1]:g})"
        for muscle in muscles
        if muscle.controls[0] > _LEAST_CONTROL or muscle.controls[1] != 1.0
    ]
    return [
        f"The model bounds the controls of {', '.join(bounded)}. OpenSim's static optimization keeps activations "
        "within these bounds, which are not used here."
    ] * bool(bounded)


def _table() -> Mapping[str, Mapping[str, Range]]:
    return bundled_toml(__package__, "muscle_properties.toml")


_WORDS = {"minimum": "of at least", "above": "above", "maximum": "of at most", "below": "below"}


def _number(context: Context, muscle: Element, path: str, limits: Range) -> float | None:
    """A number of a muscle, or of one of its curves ("CURVE.PARAMETER"), within its range; None without default."""
    holder, _, tag = path.rpartition(".")
    owner = context.property(muscle, holder) if holder else muscle
    element = None if owner is None else context.property(owner, tag)
    if element is None:
        return float(limits["default"]) if "default" in limits else None
    values = element.finite_numbers()
    single = values is not None and values.shape == (1,)
    value = float(values[0]) if values is not None and single else math.nan
    low, high = float(limits.get("minimum", "-inf")), float(limits.get("maximum", "inf"))
    above, below = float(limits.get("above", "-inf")), float(limits.get("below", "inf"))
    if low <= value <= high and above < value < below:
        return value
    bounds = [f"{word} {limits[key]:g}" for key, word in _WORDS.items() if key in limits]
    remedy = f"correct <{tag}>"
    if path.startswith("pennation") and 0.0 < value < _FULL_DEGREES:
        remedy = f"if these are degrees, write {math.radians(value):.6g}"
    elif path.endswith("_length") and value > 0.0:
        remedy = f"if these are millimeters, write {0.001 * value:.6g}"
    text = element.text.strip()[:40] or "empty"
    raise file_error(
        "not_numbers" if values is None else "bad_model" if single else "bad_format",
        (element.file, f"line {element.line}, {muscle.label}"),
        f"{path} is {text}",
        f"a number {' and '.join(map(str, bounds))}: {limits['about']}",
        remedy,
    )

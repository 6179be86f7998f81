"""Families of Hill curves by name."""

from __future__ import annotations

from musclesolve._util.names import unknown_name
from musclesolve.muscles.curves.curve_family import CurveFamily
from musclesolve.muscles.curves.de_groote_2016 import DeGroote2016
from musclesolve.muscles.curves.millard_2013 import Millard2013
from musclesolve.muscles.curves.silva_2003 import SILVA_2003
from musclesolve.muscles.curves.thelen_2003 import Thelen2003

CURVES: dict[str, CurveFamily] = {
    family.name: family
    for family in (
        SILVA_2003,
        Millard2013(),
        Millard2013("millard_2013_rajagopal"),
        DeGroote2016(),
        Thelen2003(),
    )
}


def curve_family(name: str) -> CurveFamily:
    """The family of a name; an unknown one is an InputError."""
    if name not in CURVES:
        raise unknown_name(name, "family of Hill curves", CURVES)
    return CURVES[name]

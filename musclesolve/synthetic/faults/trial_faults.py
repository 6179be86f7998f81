"""Faults of the trial file: axes, sides, the subject, the filter."""

from __future__ import annotations

import re

from musclesolve.errors import InputError
from musclesolve.synthetic.faults.trial_copy import Copy, fault


@fault("up_axis")
def up_axis_wrong(copy: Copy) -> None:
    """The trial file states that another axis of the files points up."""
    laboratory = copy.content["laboratory"]
    other = next(axis for axis in "zyx" if axis not in laboratory["up"] + laboratory["forward"])
    copy.set_key("laboratory", "up", f'"+{other}"')


@fault("walking_direction")
def walks_backwards(copy: Copy) -> None:
    """The trial file states that the subject walks against the true direction."""
    forward = copy.content["laboratory"]["forward"]
    other = ("-" if forward[0] == "+" else "+") + forward[1]
    copy.set_key("laboratory", "forward", f'"{other}"')


@fault("sides_swapped")
def sides_swapped(copy: Copy) -> None:
    """Right and left are swapped in the whole mapping."""
    inside = changed = False
    for k, line in enumerate(copy.lines):
        if line.lstrip().startswith("["):
            inside = line.strip().startswith("[mapping]")
        elif inside and (key := re.match(r"(\s*\w+_)([rl])(\s*=.*)", line)):
            copy.lines[k] = key[1] + ("l" if key[2] == "r" else "r") + key[3]
            changed = True
    if not changed:
        raise InputError(
            "the trial file has no [mapping] of its own",
            code="missing_key",
            expected="landmarks that are mapped in the trial file",
            remedy="choose another fault, or write out the mapping",
        )


@fault("mass")
def mass_wrong(copy: Copy) -> None:
    """The body mass is 15 % too large."""
    copy.set_key("subject", "mass_kg", f"{1.15 * copy.content['subject']['mass_kg']:.2f}")


@fault("stature")
def stature_wrong(copy: Copy) -> None:
    """The stature is 20 % too large."""
    copy.set_key("subject", "stature_m", f"{1.2 * copy.content['subject']['stature_m']:.3f}")


@fault("cutoff")
def cutoff_too_low(copy: Copy) -> None:
    """The filter cuts at 1.5 Hz, below what walking consists of."""
    copy.set_key("filter", "cutoff_hz", "1.5")


@fault("strength")
def strength_in_per_cent(copy: Copy) -> None:
    """The strength factor is given in per cent."""
    copy.set_key("muscles", "strength", "100.0")


@fault("trial_file")
def cost_misspelt(copy: Copy) -> None:
    """The trial file names a cost that does not exist."""
    copy.set_key("sharing", "cost", '"stress_cubd"')


@fault("mapping")
def marker_misspelt(copy: Copy) -> None:
    """A marker of the mapping is not in the files."""
    copy.set_key("mapping", "toe_r", f'"{copy.marker("toe_r")}x"')


@fault("trial_file")
def key_misspelt(copy: Copy) -> None:
    """A key of the trial file is misspelt."""
    copy.set_key("subject", "height_m", "1.8")

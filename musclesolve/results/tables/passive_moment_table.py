"""Passive joint moments of a muscle set beside the published ones, as a table and as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table

from musclesolve._util.arrays import Array
from musclesolve.muscles.passive.joint_moments import SAGITTAL, PassiveMoments, riener_edrich_1999
from musclesolve.results.tables.lines import csv_text

FILE = "passive_moments.csv"
Moments = Mapping[str, Sequence[PassiveMoments]]
"""Passive moments along every sweep, by the rule for passive forces."""


def passive_moment_table(name: str, moments: Moments) -> Table:
    """A line for each sweep: moments at its ends, and how far those of the set are from the published ones."""
    table = Table(title=f"passive joint moments of {name} [N m]", title_justify="left")
    table.add_column("joint, the others held at [deg]")
    for title in ("measured", *(text for rule in moments for text in (rule, "rms"))):
        table.add_column(title, justify="right")
    for each in zip(*moments.values(), strict=True):
        sweep = each[0].sweep
        held = ", ".join(f"{_joint(dof)} {angle:g}" for dof, angle in sweep.fixed.items())
        over = f"{_joint(sweep.dof)} {sweep.angle[0]:g} to {sweep.angle[-1]:g}; {held}"
        own = (text for one in each for text in (_ends(one.moment), f"{one.rms:.1f}"))
        table.add_row(over, _ends(sweep.moment), *own)
    studies = dict.fromkeys((_joint(one.sweep.dof), one.sweep.source) for one in next(iter(moments.values())))
    measured = "; ".join(f"{joint}: {source}" for joint, source in studies)
    table.caption = f"rms: root mean square difference. Measured, {measured}"
    return table


def _joint(dof: str) -> str:
    return dof.partition("_")[0]


def _ends(moment: Array) -> str:
    return f"{moment[0]:.1f} to {moment[-1]:.1f}"


def passive_moment_csv(moments: Moments) -> bytes:
    """Every angle of every sweep, in degrees and newton metres."""
    return csv_text(_rows(moments)).encode()


def _rows(moments: Moments) -> Iterator[list[str]]:
    yield [
        *("joint", *(f"{dof}_deg" for dof in SAGITTAL), "source", "published_n_m", "riener_edrich_1999_n_m"),
        *(f"{rule}_n_m" for rule in moments),
    ]
    for each in zip(*moments.values(), strict=True):
        sweep = each[0].sweep
        other = riener_edrich_1999(sweep.dof, sweep.angles())
        for k, angle in enumerate(sweep.angle):
            at = {**sweep.fixed, sweep.dof: angle}
            numbers = (sweep.moment[k], other[k], *(one.moment[k] for one in each))
            angles = (f"{at.get(dof, 0.0):g}" for dof in SAGITTAL)
            yield [sweep.dof, *angles, sweep.source, *(f"{number:.3f}" for number in numbers)]

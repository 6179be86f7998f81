"""The tackle of Silva (2003), 4.1, as a map: what the head feels over all that the text does not say.

    python -m benchmarks.tackle_map [TABLE.csv] [--runs 64] [--speed 3] [--processes 2]

The text has the mass and the speed of the player, and for the offset tackle a peak of 140 g, a severity index of 2170
and a head injury criterion of 873, 0.63 s after the first touch. All else is varied here at once (`RANGES`, points of
Sobol's sequence, so that half the runs are a design as well). Beside the table: which runs reach the printed numbers,
how each number goes with each quantity (Spearman's rank correlation), and what the printed numbers imply by
themselves: closed forms of pulses of half a sine.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress
from rich.table import Table
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar, root
from scipy.special import beta
from scipy.stats import qmc, spearmanr

from benchmarks.chapter_4 import STANDARD, SUBJECTS, subject
from benchmarks.tackle import Tackle, figures, tackle
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.contact.body_surfaces import body_laws, body_surfaces
from musclesolve.dynamics.contact.contact_pairs import HertzContact
from musclesolve.errors import MuscleSolveError
from musclesolve.motion.signals.injury_criteria import EXPONENT, head_injury_criterion

RANGES: dict[str, tuple[float, float]] = {
    "offset": (0.0, 0.3),
    "lean": (50.0, 85.0),
    "crouch": (20.0, 80.0),
    "skin": (0.3, 3.0),
    "head": (0.5, 16.0),
    "friction": (0.2, 1.0),
    "grip": (0.1, 1.0),
    "restitution": (0.0, 0.9),
    "mass": (60.0, 110.0),
}
"""What is varied, from and to; factors on stiffness in logarithmic steps. A head of factor 1 stops within 22 mm from 5
m/s, of 12 within 8 mm (a helmet without padding on stone)."""
LOGARITHMIC = ("skin", "head")
PRINTED = {"peak": 140.0, "severity": 2170.0, "criterion_15": 873.0}
"""Of the offset tackle: [g], and two indices."""
QUANTITIES = {
    "touch": "[s]",
    "speed": "[m/s]",
    "peak": "[g]",
    "severity": "",
    "criterion_15": "",
    "blows": "",
}
FOUND = (*QUANTITIES, "criterion_36", "energy_off", "momentum_off")
HEAD = 4.241
"""Mass of the head [kg] (Table 3.2)."""


def main(arguments: list[str] | None = None) -> None:
    """Run the design, write the table, print what it says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tackle_map",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", nargs="?", type=Path, default=Path("tackle_map.csv"), metavar="TABLE.csv")
    parser.add_argument("--runs", type=int, default=64, help="a power of two")
    parser.add_argument("--speed", type=float, default=3.0, help="of the player [m/s]")
    parser.add_argument("--subject", choices=SUBJECTS, default=STANDARD)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    console.print(implied())
    (speed, stiffness), (ours, fall) = single_blow(), head_skin()
    console.print(
        f"A head alone has the printed peak and HIC if it meets the ground at {speed:.1f} m/s, "
        f"{stiffness / ours:.1f} times as stiff as ours. Falling freely from standing it meets the ground after "
        f"{np.sqrt(2.0 * fall / STANDARD_GRAVITY):.2f} s at {np.sqrt(2.0 * fall * STANDARD_GRAVITY):.1f} m/s."
    )
    rows = []
    with given.table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ("run", *Tackle.__dataclass_fields__, *FOUND, "fault"))
        writer.writeheader()
        for row in computed(design(given.runs, given.speed), given.subject, given.processes):
            rows.append(row)
            writer.writerow(row)
            file.flush()  # a map that is interrupted keeps what it has
    for table in summary(rows):
        console.print(table)
    speed_power, head_power = powers(rows)
    console.print(
        f"The peak goes with speed^{speed_power:.2f} and (stiffness of the head)^{head_power:.2f}; "
        "a head alone: 1.20 and 0.40."
    )
    console.print(f"{len(rows)} runs in {given.table}")


def design(runs: int, speed: float) -> list[Tackle]:
    """Tackles at the points of Sobol's sequence, scrambled with a fixed seed."""
    points = qmc.Sobol(len(RANGES), seed=2003).random(runs)
    tackles = []
    for point in points:
        chosen = {}
        for share, (name, (least, most)) in zip(point, RANGES.items(), strict=True):
            straight = least + share * (most - least)
            chosen[name] = float(least * (most / least) ** share if name in LOGARITHMIC else straight)
        tackles.append(Tackle(player_speed=speed, **chosen))
    return tackles


def one_run(how: Tackle, who: str) -> dict[str, Any]:
    """A row of the table; a simulation that stops has only its reason."""
    try:
        run = tackle(how, who)
    except MuscleSolveError as fault:
        return asdict(how) | dict.fromkeys(FOUND, float("nan")) | {"fault": str(fault)}
    return asdict(how) | figures(run) | {"fault": ""}


def computed(tackles: list[Tackle], who: str, processes: int) -> Iterator[dict[str, Any]]:
    """Rows of all runs as they are finished, from processes of one thread each."""
    os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    with (
        ProcessPoolExecutor(processes, get_context("spawn")) as pool,
        Progress(console=console, transient=True) as bar,
    ):
        task = bar.add_task("tackles", total=len(tackles))
        waiting = {pool.submit(one_run, how, who): k for k, how in enumerate(tackles)}
        for done in as_completed(waiting):
            yield {"run": waiting[done]} | done.result()
            bar.advance(task)


def head_skin() -> tuple[float, float]:
    """Stiffness of the head's contact with a hard ground [N/m^1.5], and how far it falls from standing to lying [m]."""
    model = subject()
    skins = {skin.name: skin for skin in body_surfaces(model)}
    soles = min(
        float(skin.center[2] - skin.extent) for name, skin in skins.items() if name.startswith("foot")
    )
    fall = float(skins["head"].center[2]) - soles - skins["head"].semi_axes[0]
    return body_laws(skins.values())["head"].stiffness, fall


def column(rows: list[dict[str, Any]], name: str) -> Array:
    return np.array([row[name] for row in rows], dtype=float)


def summary(rows: list[dict[str, Any]]) -> list[Table]:
    """What the runs reach, with what it goes, and where the printed numbers lie."""
    hit = [row for row in rows if np.isfinite(row["speed"])]
    reached = Table(
        f"{len(hit)} of {len(rows)} heads meet the floor",
        *("printed", "5 %", "median", "95 %", "largest", "runs that reach the print"),
    )
    for name, unit in QUANTITIES.items():
        values, wanted = column(hit, name), PRINTED.get(name)
        shares = [f"{value:.3g}" for value in (*np.quantile(values, (0.05, 0.5, 0.95)), values.max())]
        count = "" if wanted is None else str(int((values >= wanted).sum()))
        reached.add_row(f"{name} {unit}".strip(), "" if wanted is None else f"{wanted:g}", *shares, count)
    ratio = column(hit, "severity") / column(hit, "criterion_15")
    shares = [f"{value:.2f}" for value in (*np.quantile(ratio, (0.05, 0.5, 0.95)), ratio.max())]
    printed = PRINTED["severity"] / PRINTED["criterion_15"]
    reached.add_row("SI / HIC", f"{printed:.2f}", *shares, str(int((ratio >= printed).sum())))

    goes = Table("rank correlation", *QUANTITIES)
    for factor in RANGES:
        goes.add_row(
            factor, *(f"{spearmanr(column(hit, factor), column(hit, name))[0]:+.2f}" for name in QUANTITIES)
        )

    hardest = sorted(hit, key=lambda row: -row["criterion_15"])[:5]
    top = Table("the hardest, run", *(str(row["run"]) for row in hardest))
    for name in (*QUANTITIES, *RANGES):
        top.add_row(name, *(f"{row[name]:.3g}" for row in hardest))
    return [reached, goes, top]


def powers(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """Powers of the head's speed and of its stiffness with which the peak goes, by least squares of logarithms."""
    hit = [row for row in rows if np.isfinite(row["speed"])]
    known = np.column_stack([np.log(column(hit, name)) for name in ("speed", "head")])
    found = np.linalg.lstsq(
        np.column_stack([known, np.ones(len(hit))]), np.log(column(hit, "peak")), rcond=None
    )
    return float(found[0][0]), float(found[0][1])


@dataclass(frozen=True)
class HalfSine:
    """An acceleration of half a sine: peak [g], duration [s]."""

    peak: float
    duration: float

    @property
    def severity(self) -> float:
        """Severity index: a^2.5 T times the mean of sin^2.5 over half a turn."""
        mean = beta(0.5 * (EXPONENT + 1.0), 0.5) / np.pi
        return float(self.peak**EXPONENT * self.duration * mean)

    @property
    def speed(self) -> float:
        """Change of velocity [m/s]."""
        return 2.0 / np.pi * self.peak * STANDARD_GRAVITY * self.duration

    def criterion(self, window: float = 0.015) -> float:
        """Head injury criterion of windows about the peak, at most so wide [s]."""

        def value(width: float) -> float:
            share = 0.5 * np.pi * width / self.duration
            return float(width * (self.peak * np.sin(share) / share) ** EXPONENT)

        widest = min(window, self.duration)
        best = minimize_scalar(lambda width: -value(width), bounds=(1e-3 * widest, widest), method="bounded")
        return max(-best.fun, value(widest))


def head_alone(speed: float, stiffness: float, restitution: float = 0.5) -> tuple[Array, Array]:
    """Times [s] and accelerations [m/s2] of a head alone that meets a hard ground at a speed, without weight (4.3)."""
    law = HertzContact(stiffness, restitution=restitution)

    def rate(_: float, state: Array) -> Array:
        force = law.normal_force(state[:1], state[1:], np.array([speed]))[0]
        return np.array([state[1], -force / HEAD])

    def parted(_: float, state: Array) -> float:
        return float(state[0] + 1e-9)

    parted.terminal, parted.direction = True, -1.0  # type: ignore[attr-defined]
    run = solve_ivp(rate, (0.0, 1.0), [0.0, speed], events=parted, rtol=1e-9, atol=1e-12, dense_output=True)
    times = np.linspace(0.0, run.t[-1], 401)
    return times, np.array([rate(0.0, state)[1] for state in run.sol(times).T])


def single_blow(restitution: float = 0.5) -> tuple[float, float]:
    """Speed [m/s] and stiffness [N/m^1.5] at which a head alone has the printed peak and criterion."""

    def missing(guess: Array) -> Array:
        time, felt = head_alone(*np.exp(guess), restitution)
        peak = np.abs(felt).max() / STANDARD_GRAVITY
        criterion = head_injury_criterion(time, felt).value
        return np.log([peak / PRINTED["peak"], criterion / PRINTED["criterion_15"]])

    found = root(missing, np.log([4.5, 3e6]), tol=1e-6)
    assert found.success, found.message
    speed, stiffness = np.exp(found.x)
    return float(speed), float(stiffness)


def implied() -> Table:
    """What one blow would have to be for two of the printed numbers at a time, and what it makes of the third."""
    peak, severity, criterion = PRINTED.values()
    shape = HalfSine(peak, 1.0).severity
    table = Table(
        "half-sines of", "peak [g]", "lasts [ms]", "SI", "HIC", "SI / HIC", "changes the speed by [m/s]"
    )
    by_criterion = HalfSine(peak, brentq(lambda t: HalfSine(peak, t).criterion() - criterion, 1e-3, 0.015))
    by_severity = HalfSine(peak, severity / shape)

    def both(duration: float) -> HalfSine:
        """The pulse of the printed criterion that lasts so long."""
        return HalfSine((criterion / HalfSine(1.0, duration).criterion()) ** (1.0 / EXPONENT), duration)

    long = both(brentq(lambda t: both(t).severity - severity, 0.01, 0.5))
    for name, pulse in (
        ("printed peak and HIC", by_criterion),
        ("printed peak and SI", by_severity),
        ("printed SI and HIC", long),
    ):
        ratio = pulse.severity / pulse.criterion()
        numbers = pulse.peak, 1e3 * pulse.duration, pulse.severity, pulse.criterion(), ratio, pulse.speed
        table.add_row(name, *(f"{number:.4g}" for number in numbers))
    two = 2.0 * by_criterion.severity
    table.add_row(
        "two such blows", f"{peak:.0f}", "", f"{two:.4g}", f"{criterion:.4g}", f"{two / criterion:.4g}", ""
    )
    table.add_row(
        "printed", f"{peak:.0f}", "", f"{severity:.4g}", f"{criterion:.4g}", f"{severity / criterion:.4g}", ""
    )
    return table


if __name__ == "__main__":
    main()

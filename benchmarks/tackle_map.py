"""The tackle of Silva (2003), 4.1, as a map: what the head feels over all that the text does not say.

    python -m benchmarks.tackle_map [TABLE.csv] [--runs 64] [--speed 3] [--processes 2] [--resume] [--record]

The text has the mass and the speed of the player, and for the offset tackle a peak of 140 g, a severity index of 2170
and a head injury criterion of 873, 0.63 s after the first touch. All else is varied here at once (`RANGES`, points of
Sobol's sequence, so that half the runs are a design as well). Beside the table: which runs reach the printed numbers,
how each number goes with each quantity (Spearman's rank correlation), and what the printed numbers imply by
themselves: closed forms of pulses of half a sine. Ctrl-C ends the runs under way; `--resume` goes on with the table.
`--record` puts the numbers into the documentation (`benchmarks.recorded_figures`).
"""

from __future__ import annotations

import argparse
import csv
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar, root
from scipy.special import beta
from scipy.stats import qmc, spearmanr

from benchmarks.arguments import command_line
from benchmarks.chapter_4 import STANDARD, SUBJECTS, subject
from benchmarks.recorded_figures import record, recorded
from benchmarks.tackle import Tackle, figures, tackle
from benchmarks.timing import console, processors, side_by_side
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
COLUMNS = ("run", "subject", *Tackle.__dataclass_fields__, *FOUND, "fault")
QUOTED = {3.0: 64, 6.0: 16}
"""Maps that the documentation quotes: speed of the player [m/s] -> runs."""


def main(arguments: list[str] | None = None) -> None:
    """Run the design, write the table, print what it says."""
    parser = command_line(__doc__)
    parser.add_argument("table", nargs="?", type=Path, default=Path("tackle_map.csv"), metavar="TABLE.csv")
    parser.add_argument("--runs", type=at_least_one, default=64, help="a power of two")
    parser.add_argument("--speed", type=speed_of_player, default=3.0, help="of the player [m/s]")
    parser.add_argument("--subject", choices=SUBJECTS, default=STANDARD)
    parser.add_argument("--processes", type=at_least_one, default=processors)
    parser.add_argument(
        "--resume", action="store_true", help="keep the runs of TABLE.csv, compute the others"
    )
    parser.add_argument("--record", action="store_true", help="put the numbers into the documentation")
    given = parser.parse_args(arguments)
    if given.record and (given.subject != STANDARD or QUOTED.get(given.speed) != given.runs):
        quoted = " or ".join(f"--speed {speed:g} --runs {runs}" for speed, runs in QUOTED.items())
        parser.error(f"the documentation quotes the subject {STANDARD!r} and {quoted}")
    tackles = design(given.runs, given.speed)
    try:
        given.table.parent.mkdir(parents=True, exist_ok=True)
        rows = kept(given.table, tackles, given.subject) if given.resume else []
        file = given.table.open("a" if given.resume else "w", newline="", encoding="utf-8")
    except (OSError, ValueError) as fault:
        parser.error(str(fault))
    console.print(implied())
    alone = head_alone_as_printed()
    console.print(
        f"A head alone has the printed peak and HIC if it meets the ground at {alone['speed']:.1f} m/s, "
        f"{alone['stiffer']:.1f} times as stiff as ours. Falling freely from standing it meets the ground after "
        f"{alone['fall_time']:.2f} s at {alone['fall_speed']:.1f} m/s."
    )
    known = {row["run"] for row in rows}
    missing = [(k, how) for k, how in enumerate(tackles) if k not in known]
    with file, closing(side_by_side(one_run, given.subject, missing, given.processes, "tackles")) as finished:
        writer = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            writer.writeheader()
        try:
            for _, row in finished:
                rows.append(row)
                writer.writerow(row)
                file.flush()  # a map that is interrupted keeps what it has
        except KeyboardInterrupt:
            console.print(
                f"stopped: {len(rows)} of {len(tackles)} runs in {given.table}; --resume goes on with it"
            )
            raise SystemExit(130) from None
    console.print(f"{len(rows)} runs in {given.table}")
    if len(head_blows(rows)) < 3:
        console.print("The head meets the floor in less than three of them: no summary.")
        return
    for table in summary(rows):
        console.print(table)
    numbers = said(rows)
    console.print(
        f"The peak goes with speed^{numbers['speed_power']:.2f} and (stiffness of the head)^"
        f"{numbers['head_power']:.2f}; a head alone: 1.20 and 0.40."
    )
    if given.record:
        maps = recorded().get("map", {}) | {f"{given.speed:g} mps": numbers, "a head alone": alone}
        record({"map": maps})


def at_least_one(text: str) -> int:
    """A count of the command line."""
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{value} is less than one")
    return value


def speed_of_player(text: str) -> float:
    """A speed of the command line [m/s]."""
    if not 0.0 < (value := float(text)) <= 20.0:
        raise argparse.ArgumentTypeError(f"{text} m/s: a player runs with more than 0 and at most 20")
    return value


def kept(table: Path, tackles: list[Tackle], who: str) -> list[dict[str, Any]]:
    """Rows of a table of the same design.

    Raises:
        ValueError: a table of something else.
    """
    rows = []
    with table.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            try:
                row: dict[str, Any] = {"run": int(line["run"]), "subject": line["subject"]}
                row |= {name: float(line[name]) for name in (*RANGES, "player_speed", *FOUND)}
                how = tackles[row["run"]]
                same = row["subject"] == who and all(
                    row[name] == getattr(how, name) for name in (*RANGES, "player_speed")
                )
            except (KeyError, IndexError, TypeError, ValueError):
                same = False
            if not same:
                raise ValueError(f"{table} holds runs of another map")
            rows.append(row)
    return rows


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


def one_run(who: str, numbered: tuple[int, Tackle], _: Any) -> dict[str, Any]:
    """A row of the table; a simulation that stops has only its reason."""
    number, how = numbered
    row = {"run": number, "subject": who} | asdict(how)
    try:
        run = tackle(how, who)
    except MuscleSolveError as fault:
        return row | dict.fromkeys(FOUND, float("nan")) | {"fault": str(fault)}
    return row | figures(run) | {"fault": ""}


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


def head_blows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs in which the head meets the floor."""
    return [row for row in rows if np.isfinite(row["speed"])]


def summary(rows: list[dict[str, Any]]) -> list[Table]:
    """Return the ranges that the runs reach, their correlations, and the place of the printed numbers."""
    hit = head_blows(rows)
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


def said(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the documented sentences on a map, and the numbers of the runs of slowest head and largest HIC."""
    hit = head_blows(rows)
    touch, speed = column(hit, "touch"), column(hit, "speed")
    hard = [row for row in hit if row["peak"] >= PRINTED["peak"]]
    over = {name: column(hit, name) for name in ("severity", "criterion_15")}
    speed_power, head_power = powers(rows)
    return {
        "runs": len(rows),
        "hit": len(hit),
        "earliest": float(touch.min()),
        "latest": float(touch.max()),
        "slowest": float(speed.min()),
        "slowest_run": hit[int(speed.argmin())]["run"],
        "middle": float(np.median(speed)),
        "fastest": float(speed.max()),
        "as_hard": len(hard),
        "least_head": min((row["head"] for row in hard), default=float("nan")),
        "severity": float(over["severity"].max()),
        "criterion_15": float(over["criterion_15"].max()),
        "hardest_run": hit[int(over["criterion_15"].argmax())]["run"],
        "severity_reached": int((over["severity"] >= PRINTED["severity"]).sum()),
        "criterion_reached": int((over["criterion_15"] >= PRINTED["criterion_15"]).sum()),
        "speed_power": speed_power,
        "head_power": head_power,
    }


def powers(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """Powers of the head's speed and of its stiffness with which the peak goes, by least squares of logarithms."""
    hit = head_blows(rows)
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


def head_alone_as_printed() -> dict[str, float]:
    """How a head alone has the printed peak and criterion (speed [m/s], times as stiff as ours), and how it falls
    freely from standing ([s], [m/s]); the half-sine of both: duration [ms], change of speed [m/s], severity index.
    """
    (speed, stiffness), (ours, fall) = single_blow(), head_skin()
    pulse = half_sine_of_criterion()
    return {
        "speed": speed,
        "stiffer": stiffness / ours,
        "fall_time": float(np.sqrt(2.0 * fall / STANDARD_GRAVITY)),
        "fall_speed": float(np.sqrt(2.0 * fall * STANDARD_GRAVITY)),
        "lasts": 1e3 * pulse.duration,
        "changes": pulse.speed,
        "severity": pulse.severity,
        "twice": 2.0 * pulse.severity,
        "ratio": pulse.severity / pulse.criterion(),
        "ratio_of_two": 2.0 * pulse.severity / pulse.criterion(),
    }


def half_sine_of_criterion() -> HalfSine:
    """The half-sine of the printed peak and criterion."""
    peak, _, criterion = PRINTED.values()
    return HalfSine(peak, brentq(lambda t: HalfSine(peak, t).criterion() - criterion, 1e-3, 0.015))


def implied() -> Table:
    """Return the blow that gives two of the printed numbers at a time, and the third number that it gives."""
    peak, severity, criterion = PRINTED.values()
    shape = HalfSine(peak, 1.0).severity
    table = Table(
        "half-sines of", "peak [g]", "lasts [ms]", "SI", "HIC", "SI / HIC", "changes the speed by [m/s]"
    )
    by_criterion = half_sine_of_criterion()
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

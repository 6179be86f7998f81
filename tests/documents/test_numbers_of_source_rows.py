"""Figures of docs/source_rows.md are those of a run: computed here, or held by a test that is named here."""

from __future__ import annotations

import re

import numpy as np
import pytest
from package_tables import package_table
from scipy.integrate import solve_ivp
from scipy.signal import butter, freqz
from source_rows import ROOT, ROWS, THESIS
from thorough import THOROUGH

from benchmarks.printed_inertia import printed_human, printed_table
from benchmarks.routes import swinging
from benchmarks.serial_chains import random_chain
from benchmarks.thesis_figures.figure_registry import FIGURES
from benchmarks.thesis_figures.study import Study
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.data import reference_stride
from musclesolve.dynamics import (
    HertzContact,
    RigidSeat,
    body_surfaces,
    forward_human_model,
    human_model,
    joint_moments_by_route,
    low_pass,
)

STUDY = Study(reference_stride())
WORDS = {26: "twenty-six"}


def coordinates():
    return f"{human_model().standing.size} and {forward_human_model().standing.size} coordinates"


def mass_of_the_print():
    bodies = printed_table("table_3_8")["body"]
    scaled = printed_human(81.52, 1.75).mass.total
    assert scaled == pytest.approx(sum(body["mass"] for body in bodies), abs=0.005)
    return f"total {scaled:.2f} kg"


def surfaces():
    return WORDS[len(body_surfaces(forward_human_model()))]


def size(model):
    return f"{len(model.topology.bodies)} bodies, {len(model.topology.dof_names)} degrees of freedom"


def limiting_moments():
    table = package_table("dynamics/model/definitions/forward_resistance.toml")
    moments = sorted({row["moment"] for kind in ("cone", "stop") for row in table[kind]})
    return f"{', '.join(f'{moment:.0f}' for moment in moments)} N m"


def returned_speeds():
    """One kilogram onto a wall at 1 m/s, by the law of the contact alone, until it lets go."""

    def returned(restitution):
        law = HertzContact(1e6, restitution=restitution, least_approach=1e-6)

        def rate(time, state):
            return [state[1], -float(law.normal_force(*(np.array([v]) for v in (*state, 1.0)))[0])]

        def leaves(time, state):
            return state[0]

        leaves.terminal, leaves.direction = True, -1.0
        run = solve_ivp(rate, (0.0, 1.0), [0.0, 1.0], rtol=1e-9, atol=1e-12, max_step=1e-4, events=leaves)
        return -run.y[1, -1]

    return ", ".join(f"{returned(e):.3f}" for e in (0.9, 0.7, 0.5, 0.0))


def cushion():
    law = RigidSeat.printed().cushion
    depth = np.log1p(60.0 * STANDARD_GRAVITY / law.size) / law.growth
    pressed = law.normal_force(np.array([depth]), np.zeros(1), np.ones(1))
    assert pressed[0] == pytest.approx(60.0 * STANDARD_GRAVITY)
    return f"60 kg on one sphere: {1000 * depth:.1f} mm"


def chosen_cutoffs():
    low, high = np.percentile(STUDY.by_method["nearest"].measured.filter.cutoff_hz, [5, 95])
    noise = of_figure("5.14", r"\[mm\]: ([\d., ]+)\.", r"Planted: ([\d., ]+) \(")
    return [f"{low:.1f} to {high:.1f} Hz", f"{noise[0]} mm where {noise[1]} are planted"]


def of_figure(number, *patterns):
    """Numbers that a figure finds, each as the page has it."""
    found = FIGURES[number](STUDY).found
    return [match for pattern in patterns for match in re.findall(pattern, found)]


def hof_terms():
    """By joint: hip, knee, ankle in the figure, the other way around on the page."""
    shares = of_figure(
        "1992.1", r"misses ([\d.]+) %, with the weights ([\d.]+) %; angular momentum is ([\d.]+) %"
    )
    return [f"{', '.join(reversed(each))} %" for each in zip(*shares, strict=True)]


def hof_pressure():
    return of_figure(
        "1992.2", r"plates to ([\d.]+ mm rms)", r"is (\d+ mm) away", r"arms by (\d+ m/s2)", r"it (\d+ mm)"
    )


def knee_of_1998():
    return of_figure("1998.3", r"differ by ([\d.]+ m/s2) rms", r"differ by ([\d.]+ N m) rms")


def optimizers():
    text = of_figure("6.16", r"within ([\d.]+) N of")
    return [
        f"within {float(each):.{4 if float(each) < 1 else 1 if float(each) < 10 else 0}f} N" for each in text
    ]


def saturated():
    patterns = (r"Up to (\d+) muscles are at 1", r"together, at (\d+ %)", r" (\d+) more with a reserve")
    most, when, reserves = of_figure("6.17", *patterns)
    of = len(STUDY.result["muscle"])
    return [f"{most} of {of} muscles at 1 together at {when}", f"{reserves} frames with a reserve"]


def twitches():
    forces = of_figure("6.5", r"/s ([\d.]+),")
    return f"force {', '.join(forces)} twitch peaks"


RUNS = {
    "eq 2.1, fig 2.1 and 2.2": coordinates,
    "table 3.1 and 3.2": mass_of_the_print,
    "table 3.3, fig 3.3": surfaces,
    "table 3.5 and 3.6": lambda: size(forward_human_model()),
    "table 3.7 to 3.9": lambda: size(human_model()),
    "eq 3.2 to 3.8": limiting_moments,
    "eq 4.1 to 4.4": returned_speeds,
    "eq 4.8, table 4.1": cushion,
    "eq 5.6, fig 5.11": chosen_cutoffs,
    "fig 6.5": twitches,
    "fig 6.17 to 6.20": saturated,
    "Hof (1992): eq 7, fig 1": hof_terms,
    "Hof (1992): eq 11 and 12, fig 2": hof_pressure,
    "Silva & Ambrosio (1998): fig 1": lambda: f"{len(human_model().topology.bodies)} bodies",
    "Silva & Ambrosio (1998): fig 3": knee_of_1998,
}
"""How the last cell of a row begins to be computed: beginning of the row -> the words, or several, that it has."""

SLOW = {"fig 6.16": optimizers}
"""The same, in a thorough run."""


def routes_of_chains():
    model = random_chain(10, seed=10)
    return joint_moments_by_route(model, swinging(model), []).disagreement()


def routes_of_the_stride():
    recorded = STUDY.recorded
    return joint_moments_by_route(recorded.model, recorded.motion, recorded.wrenches).disagreement()


def butterworth():
    """(5.3) to (5.5) beside SciPy, whose denominator has the other sign; run twice, they have the gain of our filter on
    every sine of its series.
    """
    worst, frames = {"coefficients": 0.0, "gain": 0.0}, 101
    half_waves = np.arange(1, frames - 1)
    sines = np.sin(np.pi * np.outer(np.arange(frames), half_waves) / (frames - 1))
    for share in (0.02, 0.1, 0.3):
        w = np.tan(np.pi * share)
        k1, k2 = np.sqrt(2.0) * w, w**2
        a0 = k2 / (1.0 + k1 + k2)
        b1 = -2.0 * a0 * (1.0 - 1.0 / k2)
        printed = np.array([a0, 2.0 * a0, a0, 1.0, -b1, -(1.0 - 4.0 * a0 - b1)])
        _, once = freqz(printed[:3], printed[3:], worN=half_waves / (2 * (frames - 1)), fs=1.0)
        ours = low_pass(
            sines, 1.0, np.arctan(w * (np.sqrt(2.0) - 1.0) ** 0.25) / np.pi
        )  # 0.802, exactly (D2)
        for name, error in (
            ("coefficients", printed - np.concatenate(butter(2, 2.0 * share))),
            ("gain", ours - np.abs(once) ** 2 * sines),
        ):
            worst[name] = max(worst[name], np.abs(error).max())
    return worst


BOUNDS = {
    "eq 2.83 to 2.88": routes_of_chains,
    "eq 5.10 to 5.14": routes_of_the_stride,
    "eq 5.2 to 5.5": butterworth,
}
"""Errors that the row says are no larger than its number, to a factor that round-off of another machine may have."""
ROUND_OFF = 8.0

HELD = {
    "eq 2.27 and 2.28": "tests/dynamics/forward/test_simulate.py",
    "eq 6.14": "tests/sharing/test_constrained.py",
    "eq 6.15 to 6.21": "tests/sharing/cost/test_costs.py",
    "section 6.6.3": "tests/benchmarks/test_thesis_methods.py",
    "section 6.7": "tests/benchmarks/test_thesis_methods.py",
}
"""Rows whose figures another test holds."""


def is_row(row, document, key):
    """Whether a row is the one of a key: its beginning, after the document if that is not the thesis."""
    of, colon, beginning = key.rpartition(": ")
    return document == (of if colon else THESIS) and row.startswith(f"| {beginning}")


def cell_of(key):
    """The last cell of the one row of a key."""
    (row,) = [row for document, rows in ROWS.items() for row in rows if is_row(row, document, key)]
    return row.rstrip("| ").split(" | ")[-1]


@pytest.mark.parametrize("beginning", [*RUNS, *(SLOW if THOROUGH else ())])
def test_figures_are_those_of_a_run(beginning):
    found = (RUNS | SLOW)[beginning]()
    cell = cell_of(beginning)
    for says in [found] if isinstance(found, str) else found:
        assert says in cell, f"{says} in {cell}"
    assert found


@pytest.mark.parametrize("beginning", BOUNDS)
def test_errors_are_no_larger_than_the_row_says(beginning):
    (most,) = re.findall(r"to (\de-\d+)", cell_of(beginning))
    for what, error in BOUNDS[beginning]().items():
        assert error <= ROUND_OFF * float(most), what


LABELS = re.compile(r"\(?\b[A-E]\d+\b|`[^`]*`|\[[^]]*\]\([^)]*\)|(?:eq|table|fig) [\d.]+|\(\d\.\d+\)")
"""Numbers of corrections, places, links, equations: no figures."""


def test_every_row_with_figures_is_computed_or_held():
    """Check the rows of the thesis and of the papers of Hof and of Silva and Ambrosio.

    Figures of the cases of chapter 4 were computed once; the rows of Blajer say how exact they are, and the tests of
    the planar body hold them.
    """
    known = (*RUNS, *SLOW, *BOUNDS, *HELD)
    for key in known:
        assert cell_of(key)
    assert all((ROOT / file).is_file() for file in HELD.values())
    for document, rows in ROWS.items():
        for row in rows:
            cells = row.strip("| ").split(" | ")
            figures = re.search(r"\d", LABELS.sub("", cells[3])) if len(cells) > 3 else None
            case = document.startswith("Blajer") or re.search(r"\b4\.\d", cells[0])
            if figures and not case and "*out*" not in row:
                assert any(is_row(row, document, key) for key in known), row

"""Figure 6.14: force over length and rate of length change, as surfaces."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from benchmarks.thesis_figures.drawing import Finding
from benchmarks.thesis_figures.hill_curves import PRINTED
from benchmarks.thesis_figures.study import Study
from musclesolve._util.arrays import Array
from musclesolve.laboratory.plotting.page.page_style import A4, SMALL, TEXT

LENGTH, VELOCITY = np.linspace(0.4, 1.7, 66), np.linspace(-1.1, 0.5, 65)
AT_REST = 1.0  # resting lengths: where the thick force-velocity curve lies
VIEW = {"elev": 24.0, "azim": -128.0}


def surface(activation: float, passive: bool) -> Array:
    """(lengths, velocities) total force over the maximum isometric one."""
    active = activation * np.outer(PRINTED.active(LENGTH), PRINTED.velocity(VELOCITY))
    return active + (PRINTED.passive(LENGTH)[:, None] if passive else 0.0)


def carpets(study: Study) -> Finding:
    """Figure 6.14: (a) contractile, (b) passive, (c) total, (d) total at half activation."""
    shown = {
        "(a) contractile element": surface(1.0, False),
        "(b) passive element": surface(0.0, True),
        "(c) total force": surface(1.0, True),
        "(d) total force, activation 0.5": surface(0.5, True),
    }
    figure = Figure(figsize=(A4[0], 0.66 * A4[1]))
    figure.text(
        0.04,
        0.975,
        "Carpet plots of force over length and rate of length change",
        fontsize=TEXT + 3,
        va="top",
    )
    for place, (name, force) in enumerate(shown.items()):
        _carpet(figure, place, name, force)
    figure.subplots_adjust(left=0.02, right=0.95, bottom=0.04, top=0.93, wspace=0.1, hspace=0.06)
    contractile, total, half = shown["(a) contractile element"], shown["(c) total force"], surface(0.5, True)
    longest = LENGTH[int(contractile.max(axis=1).argmax())]
    halved = np.abs(surface(0.5, False) - 0.5 * contractile).max()
    return Finding(
        figure,
        f"Contractile element: product of both curves, largest {contractile.max():.3f} at {longest:.2f} "
        f"resting lengths while lengthening, 0 beyond the maximum contractile velocity; half of it at activation 0.5 "
        f"(to {halved:.0e}). Passive element: the same at every rate. Total: up to {total.max():.2f} at activation 1 "
        f"and {half.max():.2f} at 0.5.",
    )


def _carpet(figure: Figure, place: int, name: str, force: Array) -> None:
    axes = figure.add_subplot(2, 2, place + 1, projection="3d")
    lengths, velocities = np.meshgrid(LENGTH, VELOCITY, indexing="ij")
    axes.plot_surface(
        lengths, velocities, force, cmap="YlOrBr", vmin=0.0, vmax=3.2, alpha=0.85, rstride=3, cstride=3,
        edgecolor="#8A8A8A", linewidth=0.2,
    )  # fmt: skip
    rest, still = int(np.abs(LENGTH - AT_REST).argmin()), int(np.abs(VELOCITY).argmin())
    axes.plot(LENGTH, np.zeros_like(LENGTH), force[:, still], color="black", linewidth=1.6, zorder=10)
    axes.plot(np.full_like(VELOCITY, AT_REST), VELOCITY, force[rest], color="black", linewidth=1.6, zorder=10)
    axes.set(xlim=(0.4, 1.7), ylim=(-1.1, 0.5), zlim=(0.0, 3.5))
    axes.set_xlabel("length / resting length", fontsize=SMALL, labelpad=-4)
    axes.set_ylabel("rate / maximum velocity", fontsize=SMALL, labelpad=-4)
    axes.set_zlabel("force / maximum isometric", fontsize=SMALL, labelpad=-6)
    axes.tick_params(labelsize=SMALL - 1, pad=-2)
    axes.set_title(name, fontsize=TEXT, y=0.98)
    axes.view_init(**VIEW)

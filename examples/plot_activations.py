"""Activation patterns over the gait cycle: the figure of the package, and one of your own.

One learns that every figure is a function from a result to a matplotlib figure, and that a result is an
xarray.Dataset, which plots itself: choose muscles by name, time on the axis of the gait cycle.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")  # draws into files; leave it out to see the figures on the screen
import matplotlib.pyplot as plt

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory import plotting

MUSCLES = ("soleus", "tibialis_anterior", "vastus_lateralis", "biceps_femoris_long_head", "rectus_femoris")


def main(folder: Path) -> None:
    """A page of the package; five muscles of both legs over the gait cycle."""
    result = ms.run(reference_stride())
    plotting.contact_forces(result).savefig(folder / "contact_forces.png", dpi=100)

    figure, rows = plt.subplots(len(MUSCLES), sharex=True, sharey=True, figsize=(5, 8), layout="constrained")
    for side, name, line in (("r", "right", "C0-"), ("l", "left", "C1--")):
        cycles = ms.laboratory.cycles(
            result, side, partial=True, without_side=True, strides=True
        )  # at 0, 1, ... 100 % of each cycle
        for axes, muscle in zip(rows, MUSCLES, strict=True):
            curves = cycles["activation"].sel(muscle=muscle)
            axes.plot(cycles["percent"], curves.T, line, label=[name] + [""] * (len(curves) - 1))
            axes.set(title=muscle.replace("_", " "), xlim=(0, 100), ylim=(0, 1))
    rows[0].legend()
    rows[-1].set_xlabel("gait cycle [%]")
    figure.savefig(folder / "five_muscles.png", dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())

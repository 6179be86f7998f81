"""Activation beside measured EMG, channel by channel.

One learns what the [emg] table of a trial file gives: the envelope as a share of its maximum, how well activation
agrees with it, and the delay at which it agrees best. The EMG of own_recording/ is synthetic (make_recording.py): it
shows the way, and is evidence of nothing.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")  # draws into files; leave it out to see the figure on the screen
import matplotlib.pyplot as plt

import musclesolve as ms

TRIAL = Path(__file__).with_name("own_recording") / "trial.toml"


def main(folder: Path) -> None:
    """One panel for each channel: envelope, the same at the best delay, mean activation of its muscles."""
    result = ms.run(TRIAL, side="r")
    figure, rows = plt.subplots(result.sizes["channel"], sharex=True, figsize=(6, 8), layout="constrained")
    for axes, channel in zip(rows, result["channel"].values, strict=True):
        own = result.sel(channel=channel)
        muscles = str(own["channel_muscles"].values).split(", ")
        activation = result["activation"].sel(muscle=muscles).mean("muscle")
        r, delay = float(own["emg_correlation"]), 1000 * float(own["emg_delay"])
        axes.fill_between(result["time"], own["emg"], color="0.85", label="EMG envelope")
        axes.plot(result["time"], own["emg_delayed"], "k--", lw=1, label="EMG, delayed")
        axes.plot(result["time"], activation, label="activation")
        axes.set_title(f"{channel}: r = {r:.2f}, activation {delay:.0f} ms later")
        print(f"{channel:<5} r = {r:.2f} at {delay:.0f} ms, {', '.join(muscles)}")
    rows[0].legend()
    rows[-1].set_xlabel("time [s]")
    figure.savefig(folder / "emg.png", dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())

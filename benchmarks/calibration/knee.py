"""Muscles calibrated by EMG on one walk, tried on another one: the force measured inside the knee, and EMG.

python -m benchmarks.calibration.knee

Two walks of a man with an instrumented knee (benchmarks/instrumented_knee.py), rajagopal_2023 with rigid tendons and
sixteen channels of EMG without maximum voluntary contractions. Each walk is shared with weights of its EMG, with the
muscles of the set and with those that `calibrate_muscles` finds on the other walk; the measured knee force is in no
fit. A line for each: rms error of the knee force [body weights] and its mean error at push-off; median correlation of
the channels that are followed, which is no test, and of each channel while it alone is not followed.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.instrumented_knee import WALKS, Agreement, trial_text
from benchmarks.timing import console

WEIGHTS = (0.0, 0.3, 1.0, 2.0, 3.0, 6.0)
SET = "rajagopal_2023"


def table(folder: Path) -> Table:
    """The lines of both walks."""
    files = {}
    for walk in WALKS:
        text = trial_text(walk, folder / f"{walk}.sto")
        for name, database in ((walk, SET), (f"{walk}_person", f"from_{walk}.toml")):
            files[name] = folder / f"{name}.toml"
            files[name].write_text(f'{text}\n[muscles]\ndatabase = "{database}"\n', encoding="utf-8")
    shown = Table("walk", "muscles", "weight", "knee rms", "push-off", "r followed", "r left out", "reserves")
    for walk, other in zip(WALKS, reversed(WALKS), strict=True):
        done = ms.calibrate_muscles([files[other]], side="l")
        ms.files.write_person(done.person, folder / f"from_{walk}.toml")
        for muscles, file in (("set", files[walk]), (f"from {other}", files[f"{walk}_person"])):
            for weight in WEIGHTS:
                result = ms.run(file, side="l", emg_weight=weight)
                found = Agreement.from_result(result, walk)
                left_out = result["emg_correlation"].values
                followed = result.get("emg_correlation_followed", result["emg_correlation"]).values
                r = [f"{np.nanmedian(each):.2f}" for each in (followed, left_out)]
                cells = (f"{found.rms:.2f}", f"{found.push_off:+.2f}", *r, str(found.reserves))
                shown.add_row(walk, muscles, f"{weight:g}", *cells)
    return shown


def main() -> None:
    """Print the table."""
    with TemporaryDirectory() as folder:
        console.print(table(Path(folder)))


if __name__ == "__main__":
    main()

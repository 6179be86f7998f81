"""How the files of this folder were made: nobody was recorded, everything follows from the bundled stride.

    python examples/own_recording/make_recording.py FOLDER

Markers and forces come from `musclesolve synthesize` with 0.3 mm and 1 N of noise, under the marker names of an
imagined laboratory and with a gap. The EMG is noise whose size follows the activations of another cost than
the trial file's, 40 ms earlier: it shows how EMG is compared, and is evidence of nothing.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import musclesolve as ms

NAMES = {  # marker of the set "rajagopal" -> marker of the imagined laboratory, without its side
    "ASIS": "ASI", "PSIS": "PSI", "Knee": "KNE", "MKnee": "KNM", "Ankle": "ANK", "MAnkle": "ANM", "Heel": "HEE",
    "Toe": "TOE", "MT5": "MT5", "Shoulder": "SHO", "Elbow": "ELB", "Wrist": "WRI", "SH1": "TB1", "SH2": "TB2",
    "SH3": "TB3",
}  # fmt: skip
CHANNELS = {
    "SOL": "soleus_r",
    "TA": "tibialis_anterior_r",
    "VL": "vastus_lateralis_r",
    "GMED": "gluteus_medius",
}
EMG_HZ, EARLIER_S, VOLTS = 1000.0, 0.04, 2e-4


def main(folder: Path) -> None:
    """Write walk.trc, standing.trc, forces.mot and emg.sto."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        trial = ms.studies.synthetic_recording(
            made, truth=False, marker_set="rajagopal", noise_mm=0.3, force_noise_n=1.0, up="+y",
            marker_rate_hz=100.0, force_rate_hz=200.0, standing_frames=20, gaps=(("R.Knee", 0.95, 1.05),),
        )  # fmt: skip
        result = ms.run(trial, cost="stress_cubed", side="r", least_activation=0.0)
        for name, new in (("walk.trc", "walk.trc"), ("static.trc", "standing.trc")):
            found = ms.tables.read_trc(Path(made, name))
            kept = [k for k, marker in enumerate(found.names) if renamed(marker)]
            names = tuple(renamed(found.names[k]) for k in kept)
            markers = replace(found, names=names, position=found.position[:, kept])
            ms.tables.write_trc(folder / new, markers, decimals=2)
        ms.tables.write_mot(folder / "forces.mot", ms.tables.read_mot(Path(made, "forces.mot")), decimals=4)
    ms.tables.write_mot(folder / "emg.sto", emg(result), decimals=7)


def renamed(marker: str) -> str:
    """R.MKnee is RKNM, S2 is SACR; empty for the hip centers, which no laboratory sees, and spare markers."""
    side, _, place = marker.partition(".")
    return "SACR" if marker == "S2" else f"{side}{NAMES[place]}" if place in NAMES else ""


def emg(result) -> ms.tables.Table:
    """Raw EMG: white noise times the activation of the muscle a little later."""
    time = np.arange(0.0, 1.9, 1.0 / EMG_HZ)
    noise = np.random.default_rng(15).standard_normal((time.size, len(CHANNELS)))
    columns = []
    for muscle in CHANNELS.values():
        parts = [name for name in result["muscle"].values if name.startswith(muscle) and name.endswith("_r")]
        activation = result["activation"].sel(muscle=parts).mean("muscle").values
        columns.append(np.interp(time + EARLIER_S, result["time"].values, activation) + 0.01)
    return ms.tables.Table(
        time, tuple(CHANNELS), VOLTS * noise * np.stack(columns, axis=1), False, Path("emg.sto")
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))

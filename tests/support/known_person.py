"""Trials of a person whose muscles are known: EMG and fascicle lengths are those of a sharing with these muscles."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import Emg, Fascicles
from musclesolve.laboratory.recording.trial_settings import EmgSettings
from musclesolve.muscles.muscle_parameters import QUANTITIES
from musclesolve.studies.calibration.inner_optimum import PartMuscles

CHANNELS = {"SOL": "soleus_r", "VL": "vastus_lateralis_r", "BF": "biceps_femoris_long_head_r"}
SEEN = {"medial": "gastrocnemius_medial_r"}
GAIN = 0.9
WINDOWS = (0.35, 0.70), (0.65, 1.0)
"""Two parts of the bundled stride, as two trials [s]."""
HEADS = ("gastrocnemius_medial_r", "gastrocnemius_lateral_r")


@cache
def known_trials(
    tendon: str, factors: tuple[tuple[str, tuple[str, ...], float], ...], noise: float = 0.0
) -> tuple[Trial, ...]:
    """The trials of a person; factors: quantity, muscles and factor on the muscles of the set.

    noise: standard deviation of envelopes, as shares of their largest, and of fascicle lengths [cm].
    """
    random = np.random.default_rng(7)
    trials = []
    for window in WINDOWS:
        trial = ms.read_trial(reference_stride())
        assert isinstance(trial, Trial)
        trial = replace(
            trial, settings=trial.settings.changed(muscles=dict(tendon=tendon)), time_range=window
        )
        body = prepare(trial, side="r")
        part = PartMuscles(body.parts[0], body.sharing)
        logarithm = np.zeros((len(QUANTITIES), len(part.names)))
        for quantity, muscles, factor in factors:
            logarithm[QUANTITIES.index(quantity), np.isin(part.names, muscles)] = np.log(factor)
        optimum = part.solve(logarithm)
        assert optimum is not None
        active = optimum.activation[:, [part.names.index(muscle) for muscle in CHANNELS.values()]]
        length = optimum.fiber_length[:, [part.names.index(muscle) for muscle in SEEN.values()]]
        known = np.isfinite(active).all(axis=1)
        envelope = active[known] / GAIN + noise * random.standard_normal((known.sum(), len(CHANNELS)))
        emg = Emg(
            time=body.time[known],
            names=tuple(CHANNELS),
            values=np.maximum(envelope, 0.0),
            muscles=tuple((muscle,) for muscle in CHANNELS.values()),
            maximum=(1.0,) * len(CHANNELS),
            path=Path("emg.sto"),
            options=EmgSettings(processed=True, delay_s=0.0),
        )
        seen = length[known] + 0.01 * noise * random.standard_normal((known.sum(), len(SEEN)))
        fascicles = Fascicles(
            body.time[known], tuple(SEEN), seen, tuple(SEEN.values()), max(0.01 * noise, 5e-4), Path("us.csv")
        )
        trials.append(replace(trial, emg=emg, fascicles=fascicles))
    return tuple(trials)


def write_known_trial(folder: Path, trial: Trial, name: str = "trial.toml") -> Path:
    """The trial file of the bundled stride with the fascicle lengths of a trial beside it."""
    assert trial.fascicles is not None
    rows = np.column_stack([trial.fascicles.time, 1e3 * trial.fascicles.length])
    measured = Path(name).with_suffix(".csv")
    np.savetxt(folder / measured, rows, delimiter=",", header="time,medial", comments="")
    text = reference_stride().read_text(encoding="utf-8")
    for file in ("walk.trc", "static.trc", "forces.mot"):
        text = text.replace(f'"{file}"', f'"{(reference_stride().parent / file).as_posix()}"')
    text += f'\n[fascicle]\nfile = "{measured}"\nunit = "mm"\nerror_mm = 1\n'
    text += '[fascicle.channels]\nmedial = "gastrocnemius_medial_r"\n'
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name

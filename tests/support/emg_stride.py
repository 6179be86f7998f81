"""The bundled stride with EMG of muscles that contract against each other: activations that no cost of effort finds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import prepare_recording
from musclesolve.laboratory.recording.data import Emg
from musclesolve.laboratory.recording.trial_settings import EmgSettings
from musclesolve.models.body_sharing import sharing_problem

FLOOR = 0.15
"""No muscle is less active: all contract against each other."""
DELAY = 0.04
CHANNELS = {
    **{"SOL": ("soleus_r",), "GAS": ("gastrocnemius_medial_r", "gastrocnemius_lateral_r")},
    **{"TA": ("tibialis_anterior_r",), "VL": ("vastus_lateralis_r",), "RF": ("rectus_femoris_r",)},
    **{"BF": ("biceps_femoris_long_head_r",), "ST": ("semitendinosus_r",), "GRA": ("gracilis_r",)},
}


@dataclass(frozen=True)
class EmgStride:
    """A trial, its right leg's names, and the true activations (T, n), which produce the moments of the stride."""

    trial: Trial
    muscles: tuple[str, ...]
    time: np.ndarray
    truth: np.ndarray

    def numbers(self, names: tuple[str, ...]) -> list[int]:
        """Columns of muscles."""
        return [self.muscles.index(name) for name in names]


@cache
def emg_stride(floor: float = FLOOR, shift: float = 0.0) -> EmgStride:
    """The stride of the right leg; its EMG is that of the true activations, and its clock runs `shift` [s] ahead."""
    trial = ms.read_trial(reference_stride())
    body = prepare_recording(trial, side="r")
    problem = sharing_problem(body.parts[0], body.sharing)
    solution = ms.solve(replace(problem, lower=np.full_like(problem.lower, floor)), body.sharing.cost)
    assert (solution.status == ms.Status.SOLVED).all()
    muscles = body.parts[0].state.parameters.names
    columns = [[muscles.index(name) for name in own] for own in CHANNELS.values()]
    emg = Emg(
        time=body.time - DELAY + shift,
        names=tuple(CHANNELS),
        values=np.stack([solution.activation[:, own].mean(axis=1) for own in columns], axis=1),
        muscles=tuple(CHANNELS.values()),
        maximum=(1.0,) * len(CHANNELS),
        path=Path("emg.sto"),
        options=EmgSettings(processed=True, delay_s=DELAY),
    )
    return EmgStride(replace(trial, emg=emg), muscles, body.time, solution.activation)


def without(trial: Trial, channel: str) -> Trial:
    """The trial without one channel of its EMG."""
    emg = trial.emg
    assert emg is not None
    kept = [k for k, name in enumerate(emg.names) if name != channel]
    return replace(
        trial,
        emg=replace(
            emg,
            names=tuple(emg.names[k] for k in kept),
            values=emg.values[:, kept],
            muscles=tuple(emg.muscles[k] for k in kept),
            maximum=tuple(emg.maximum[k] for k in kept),
        ),
    )

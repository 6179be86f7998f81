"""EMG-informed sharing: activations follow measured EMG where it exists, effort decides elsewhere.

    minimize   sum_i f_i(a_i) + w sum_followed (a_i - e_i)^2   subject to the joint moments, met exactly

with the effort f of any cost, the measured activation e_i of each followed muscle (measured_activation.py) and one
weight w, in units of the cost: a muscle that differs from its envelope by an activation of 1 adds w. This is the hybrid
mode of CEINMS (Sartori et al. 2014, J Biomech 47:3613-21; Pizzolato et al. 2015, J Biomech 48:3929-36), in which
moments are also met exactly instead of weighted. As w tends to 0 only the effort counts; the larger w, the nearer
activations are to the envelopes.

A channel that is followed does not test the result. The test is to predict each channel from a sharing that follows all
other channels.
"""

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.sides import SIDE_NAMES, side_of, split_side
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.models.body import SharingGroup
from musclesolve.models.body_sharing import share_part
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.named.muscle_sums import EmgTracking

MISFIT = EmgTracking(unmeasured_weight=0.0)
"""The misfit: the sum over followed muscles of (a_i - e_i)^2, without unit."""


def informed_cost(trial: AnyTrial, cost: Cost) -> Cost:
    """Add the weighted misfit to the EMG of a trial to a cost; the cost itself where the weight is zero."""
    weight = trial.settings.emg.weight
    if weight == 0.0:
        return cost
    if trial.emg is None:
        raise trial.document.error(
            "missing_key",
            "emg",
            problem=f"EMG shall be followed with a weight of {weight:g}, but this trial file names none",
            expected="[emg] with a file, and [emg.channels] with the muscles of its channels",
            remedy="add [emg] to the trial file, or leave the weight out",
        )
    if "emg" in cost.data:
        raise trial.document.fault(
            "conflict",
            ("emg", "weight"),
            f"the cost {cost.label} follows EMG by itself, and a weight of {weight:g} asks for it again",
            "a cost of effort with a weight, or emg_tracking without one",
            "write weight = 0, or choose another cost",
        )
    return cost + weight * MISFIT


def follows_emg(cost: Cost) -> bool:
    """Return whether activations under a cost depend on measured EMG."""
    return "emg" in cost.data


def predicted_channels(analysis: MeasuredAnalysis) -> Array:
    """Predict the mean activation (T, k) of each channel while only this channel is not followed; NaN if unsolved.

    A muscle of two channels follows the other channel. Each channel needs a separate sharing of its leg, unless the
    cost follows no EMG.
    """
    measured = analysis.body.emg
    assert measured is not None
    if not follows_emg(analysis.sharing.cost):
        return measured.mean_activation(analysis.activation, analysis.body.muscles)
    columns = []
    for number, muscles in enumerate(measured.muscles):
        rest, solved = measured.without(number), list(analysis.parts)
        for place, part in enumerate(analysis.body.parts):
            if set(muscles) & set(part.state.parameters.names):
                expected = rest.expected(part.time, part.state.parameters.names)
                solved[place] = share_part(replace(part, emg=expected), analysis.sharing)
        activation = replace(analysis, parts=tuple(solved)).activation
        columns.append(measured.mean_activation(activation, analysis.body.muscles)[:, number])
    return np.stack(columns, axis=-1) if columns else np.empty((len(analysis.body.time), 0))


def followed_muscles(part: SharingGroup) -> list[str]:
    """Names of the muscles of a part that have a measured activation in some frame."""
    if part.emg is None:
        return []
    return [part.state.parameters.names[k] for k in np.flatnonzero(np.isfinite(part.emg).any(axis=0))]


def followed_notes(analysis: MeasuredAnalysis) -> list[str]:
    """Sentences that name the muscles that follow EMG, the others, and the channels without a stated maximum."""
    measured = analysis.body.emg
    if measured is None or not follows_emg(analysis.sharing.cost):
        return []
    notes = []
    for part in analysis.body.parts:
        followed, names = followed_muscles(part), part.state.parameters.names
        where = " and ".join(SIDE_NAMES.get(side, side) for side in part.sides)  # type: ignore[call-overload]
        if not followed:
            notes.append(f"EMG: no muscle ({where}) is followed: the cost alone shares their moments.")
            continue
        several = len({side_of(name) for name in names}) > 1
        others = [
            name if several else split_side(name)[0].replace("_", " ")
            for name in names
            if name not in followed
        ]
        without = f" Not measured, by the cost alone: {', '.join(others)}." if others else ""
        notes.append(f"EMG: {len(followed)} of {len(names)} muscles ({where}) are followed.{without}")
    if measured.largest_counts:
        notes.append(
            f"EMG channel {', '.join(measured.largest_counts)}: the largest envelope of the recording counts as "
            "activation 1, which followed muscles take for their size; [emg] maximum states the envelope of a maximum "
            "voluntary contraction."
        )
    return notes

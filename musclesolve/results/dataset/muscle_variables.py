"""Variables of muscles beyond their state: ranges of the fibers, elastic tendons, agreement with EMG and with measured
fascicle lengths.

Variables are named as in quantities.toml; rigid tendons and missing measurements have none.
"""

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.long_arrays import in_turn
from musclesolve.muscles.person import PersonMuscles
from musclesolve.muscles.scaling.fiber_lengths import USABLE, operating_range
from musclesolve.pipeline.body import Analysis
from musclesolve.pipeline.emg_informed import follows_emg, predicted_channels
from musclesolve.pipeline.run_options import Options
from musclesolve.recording.data import Emg, Fascicles
from musclesolve.results.dataset.skeleton import Variable, VariablesAndAttributes


def fiber_range(analysis: Analysis) -> tuple[Array, Array]:
    """Least and greatest fiber length over optimal fiber length (n,) in the frames that are solved; NaN without any."""
    ends = []
    for part in in_turn(analysis.parts):
        length, solved = part.state.fiber_length, part.solution.solved
        limits = np.full((2, length.shape[1]), np.nan)
        if solved.any():
            limits[0] = length.min(axis=0, initial=np.inf, where=solved[:, None])
            limits[1] = length.max(axis=0, initial=-np.inf, where=solved[:, None])
        ends.append(limits / part.state.parameters.optimal_fiber_length)
    least, greatest = (analysis.over_muscles(parts) for parts in zip(*ends, strict=True))
    return least, greatest


def beyond_plausible(names: Sequence[str], least: Array, greatest: Array) -> list[str]:
    """A sentence on the muscles whose normalized fiber lengths, least and greatest (n,), leave the plausible range."""
    low, high = USABLE
    ranges = zip(names, least.tolist(), greatest.tolist(), strict=True)
    beyond = [f"{name} {a:.2f} to {b:.2f}" for name, a, b in ranges if a < low or b > high]
    return [f"Fibers work beyond {low:g} to {high:g} optimal fiber lengths: {', '.join(beyond)}."] * bool(
        beyond
    )


def fiber_notes(analysis: Analysis, options: Options) -> list[str]:
    """A sentence on the muscles whose fibers leave the plausible range; empty where all stay within.

    A second sentence names the muscles that also leave the range in the reference model, if the rule of fiber lengths
    keeps the operating ranges of this model.
    """
    names, (least, greatest) = analysis.body.muscles, fiber_range(analysis)
    notes = beyond_plausible(names, least, greatest)
    if not notes or options.fiber_length_rule != "operating_range":
        return notes
    model = operating_range(options.database)
    ends = np.nanmin(model.normalized_length, axis=0), np.nanmax(model.normalized_length, axis=0)
    ranges = {name: (low, high) for name, low, high in zip(model.names, *ends, strict=True)}
    too = dict[str, str]()
    for name, a, b in zip(names, least.tolist(), greatest.tolist(), strict=True):
        low, high = ranges.get(name[:-2], (np.inf, -np.inf))
        if (a < USABLE[0] or b > USABLE[1]) and low <= a and b <= high:
            too[name[:-2]] = f"{name[:-2]} {low:.2f} to {high:.2f}"
    if not too:
        return notes
    source = options.database.operating_range_of or options.database.name
    over = f"The model of {source} has them there too, over its range of motion: {', '.join(too.values())}."
    return [f"{notes[0]} {over}"]


def balance_error(analysis: Analysis) -> dict[str, Variable]:
    """The largest defect of the elastic tendons of each side."""
    states = [part.tendons for part in analysis.parts if part.tendons is not None]
    if not states:
        return {}
    defect = np.abs(analysis.over_muscles([state.defect for state in states]))
    known, sides = np.where(np.isnan(defect), -np.inf, defect), np.array(analysis.muscle_sides)
    largest = [known[:, sides == side].max(axis=1, initial=-np.inf) for side in analysis.sides]
    error = np.stack([np.where(np.isfinite(size), size, np.nan) for size in largest], axis=1)
    return {"tendon_balance_error": (("time", "side"), error)}


def emg_labels(analysis: Analysis) -> VariablesAndAttributes:
    """Envelopes, the activation expected from them, and the agreement of activation with the envelopes, by channel.

    Where the cost follows EMG, agreement is computed for each channel predicted while it alone is not followed. The
    coordinates hold the name of every channel, and its muscles between commas.
    """
    measured, time, names = analysis.body.emg, analysis.body.time, analysis.body.muscles
    if measured is None:
        return {}, {}
    correlation, delay = measured.agreement(time, analysis.activation, names)
    predicted: dict[str, Variable] = {}
    if follows_emg(analysis.sharing.cost):
        curves = predicted_channels(analysis)
        predicted = {
            "emg_predicted": (("time", "channel"), curves),
            "emg_correlation_followed": (("channel",), correlation),
        }
        correlation, delay = measured.agreement_of_channels(time, curves)
    variables: dict[str, Variable] = {
        "emg": (("time", "channel"), measured.at(time)),
        "emg_delayed": (("time", "channel"), measured.delayed(time, delay)),
        "measured_activation": (("time", "muscle"), measured.expected(time, names)),
        "emg_correlation": (("channel",), correlation),
        "emg_delay": (("channel",), delay),
        **predicted,
    }
    muscles = np.array([", ".join(own) for own in measured.muscles], np.str_)
    return variables, {"channel": list(measured.channels), "channel_muscles": ("channel", muscles)}


def fascicle_labels(analysis: Analysis) -> VariablesAndAttributes:
    """Measured fascicle lengths in every frame, and the differences of the fiber lengths from them."""
    measured, time, names = analysis.body.fascicles, analysis.body.time, analysis.body.muscles
    if measured is None or not measured.channels:
        return {}, {}
    fiber = analysis.over_muscles(
        [np.where(part.solution.solved[:, None], part.state.fiber_length, np.nan) for part in analysis.parts]
    )
    rms, mean, r = measured.agreement(time, fiber, names)
    length = np.full((len(time), len(names)), np.nan)
    channels, own = measured.columns(names)
    length[:, own] = measured.at(time)[:, channels]
    variables: dict[str, Variable] = {
        "measured_fascicle_length": (("time", "muscle"), length),
        "fascicle_rms_error": (("fascicle",), rms),
        "fascicle_mean_error": (("fascicle",), mean),
        "fascicle_correlation": (("fascicle",), r),
    }
    muscles = np.array(measured.muscles, np.str_)
    return variables, {"fascicle": list(measured.channels), "fascicle_muscle": ("fascicle", muscles)}


def fascicle_attributes(fascicles: Fascicles | None) -> dict[str, object]:
    """Return the attributes of measured fascicle lengths: their error, and the offset added to their times."""
    if fascicles is None:
        return {}
    moved = {"fascicle_offset_s": fascicles.offset} if fascicles.offset else {}
    return {"fascicle_error_m": fascicles.error, **moved}


def person_attributes(person: PersonMuscles | None) -> dict[str, object]:
    """Return the attributes of one person's muscles: the file and the factors."""
    if person is None:
        return {}
    return {
        "muscle_parameters": "calibrated",
        **({} if person.path is None else {"muscle_person": person.path.name}),
        "muscle_factors": [
            f"{parameter.name} {parameter.factor:.6g} (sd {parameter.sd:.3g})"
            for parameter in person.parameters
        ],
    }


def emg_attributes(emg: Emg | None, weight: float) -> dict[str, object]:
    """Return the attributes of EMG: the processing of the envelopes, and the weight of tracking."""
    if emg is None:
        return {}
    options = emg.options
    made = (
        "as recorded"
        if options.processed
        else f"band-pass {options.highpass_hz:g}-{options.lowpass_hz:g} Hz (order {options.band_order}), rectified, "
        f"low-pass {options.envelope_hz:g} Hz (order {options.envelope_order}), zero-lag"
    )
    return {
        "emg_envelope": made,
        "emg_max_delay_s": options.max_delay_s,
        "emg_tracking_delay_s": options.delay_s,
        **({"emg_offset_s": options.offset_s} if options.offset_s else {}),
        **({"emg_weight": weight} if weight else {}),
    }

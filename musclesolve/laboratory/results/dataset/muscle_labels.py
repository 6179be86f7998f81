"""Labels of muscles beyond their state: ranges of the fibers, elastic tendons, agreement with EMG and with measured
fascicle lengths, and why they need reserves: the missing moment, the remedy, whether the reserves are small enough.

Variables are named as in quantities.toml; rigid tendons and missing measurements have none.

With elastic tendons activation and fibers depend on the frames before and after, so that a frame may need a reserve
although the muscles are strong enough for this frame alone. The sentences then name the limit of the muscles that
could help: the upper bound of activation, or the rate at which activation rises or falls.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from muscle_db import MuscleDatabase
from musclesolve._util.arrays import Array
from musclesolve._util.messages import enumerated
from musclesolve.laboratory.bodies.emg_informed import follows_emg, predicted_channels
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.bodies.run_options import Options
from musclesolve.laboratory.recording.data import Emg, Fascicles
from musclesolve.laboratory.results.dataset.labels import Variable, VariablesAndAttributes
from musclesolve.laboratory.results.dataset.result_quantities import directions
from musclesolve.models.body import SolvedGroup
from musclesolve.models.simulated_body import SimulatedBody
from musclesolve.muscles.person import PersonMuscles
from musclesolve.muscles.scaling.fiber_lengths import USABLE, operating_range
from musclesolve.muscles.scaling.scale_muscles import PassiveRule, passive_element
from musclesolve.muscles.strength import LARGEST_FACTOR
from musclesolve.sharing.analysis.diagnosis import (
    Diagnosis,
    Directions,
    at_limit,
    diagnose,
    first_names,
    moment_text,
)
from musclesolve.sharing.analysis.reserve_check import Verdict, check_reserves, reserve_check, worst_frames
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.rate_limits import RateLimits
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solving import solve_part
from musclesolve.sharing.status import Status


def fiber_range(analysis: MeasuredAnalysis) -> tuple[Array, Array]:
    """Least and greatest fiber length over optimal fiber length (n,) in the frames that are solved; NaN without any."""
    ends = [part.fiber_ends / part.state.parameters.optimal_fiber_length for part in analysis.parts]
    least, greatest = (analysis.over_muscles(parts) for parts in zip(*ends, strict=True))
    return least, greatest


def fiber_notes(analysis: MeasuredAnalysis, options: Options) -> list[str]:
    """A sentence on the muscles whose fibers leave the plausible range here and in the reference model, whose operating
    ranges the rule of fiber lengths keeps; the warning on these fibers is a finding of the result.
    """
    if options.fiber_length_rule != "operating_range":
        return []
    model = operating_range(options.database)
    ends = np.nanmin(model.normalized_length, axis=0), np.nanmax(model.normalized_length, axis=0)
    ranges = {name: (low, high) for name, low, high in zip(model.names, *ends, strict=True)}
    too = dict[str, str]()
    for name, a, b in zip(analysis.body.muscles, *map(np.ndarray.tolist, fiber_range(analysis)), strict=True):
        low, high = ranges.get(name[:-2], (np.inf, -np.inf))
        if (a < USABLE[0] or b > USABLE[1]) and low <= a and b <= high:
            too[name[:-2]] = f"{name[:-2]} {low:.2f} to {high:.2f}"
    source = options.database.operating_range_of or options.database.name
    said = f"The model of {source} has fibers beyond {USABLE[0]:g} to {USABLE[1]:g} optimal lengths, too"
    return [f"{said}, over its range of motion: {', '.join(too.values())}."] * bool(too)


def balance_error(analysis: MeasuredAnalysis) -> dict[str, Variable]:
    """The largest defect of the elastic tendons of each side."""
    states = [part.tendons for part in analysis.parts if part.tendons is not None]
    if not states:
        return {}
    defect = np.abs(analysis.over_muscles([state.defect for state in states]))
    sides = np.array(analysis.muscle_sides)
    error = [np.fmax.reduce(defect[:, sides == side], axis=1, initial=np.nan) for side in analysis.sides]
    return {"tendon_balance_error": (("time", "side"), np.stack(error, axis=1))}


def emg_labels(analysis: MeasuredAnalysis) -> VariablesAndAttributes:
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
    muscles = np.array([", ".join(group) for group in measured.muscles], np.str_)
    return variables, {"channel": list(measured.channels), "channel_muscles": ("channel", muscles)}


def fascicle_labels(analysis: MeasuredAnalysis) -> VariablesAndAttributes:
    """Measured fascicle lengths in every frame, and the differences of the fiber lengths from them."""
    measured, time, names = analysis.body.fascicles, analysis.body.time, analysis.body.muscles
    if measured is None or not measured.channels:
        return {}, {}
    fiber = analysis.over_muscles(
        [np.where(part.solution.solved[:, None], part.state.fiber_length, np.nan) for part in analysis.parts]
    )
    rms, mean, r = measured.agreement(time, fiber, names)
    length = np.full((len(time), len(names)), np.nan)
    channels, at = measured.columns(names)
    length[:, at] = measured.at(time)[:, channels]
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


UNKNOWN = Status.INVALID_INPUT, Status.INVALID_MOTION, Status.NOT_MEASURED
"""Status of frames whose problem does not consist of finite numbers."""
_UNIT = 1e-4  # of a factor on the strength
CHECK_FIRST = (
    "first: musclesolve check TRIAL.toml; a wrong mass, forces and markers that are not synchronous, a plate or the "
    "filter may ask too much of the muscles"
)
"""Advice before every remedy: stronger muscles do not correct a fault of the recording."""
LAST_RESORT = "; only where check finds no fault, for it would hide one"


def reasons_of_sides(analysis: MeasuredAnalysis) -> dict[str, list[str]]:
    """The attributes reasons_r, reasons_l and reasons_other: sentences on the parts of each side that lack moments.

    For an OpenSim model also a sentence on each coordinate that is beyond its range in such frames.
    """
    body, reasons = analysis.body, dict[str, list[str]]()
    options = body.options if isinstance(body, RecordedBody) else None
    of_model = options is None and not isinstance(body, SimulatedBody)
    for side in analysis.sides:
        lines = list[str]()
        for part in analysis.of_side(side):
            lines += reserve_reasons(
                part, options, ": --passive none" if of_model else "", analysis.sharing.cost
            )
            lines += _beyond_ranges(body, part) if of_model else []
        if lines:
            reasons[f"reasons_{side}"] = lines if options is None or reasons else [CHECK_FIRST, *lines]
    return reasons


def reserve_reasons(
    part: SolvedGroup, options: Options | None = None, without: str = "", cost: Cost | None = None
) -> list[str]:
    """Return the reasons why frames of a part need reserves or have no solution.

    One sentence describes the worst frame of each stretch that is too strong for the muscles, the last sentence the
    largest reserves. With the options of a trial a remedy names the key of the trial file, otherwise it is `without`,
    the option of the command `share` that leaves out passive forces.
    """
    solution, time, moment = part.solution, part.part.time, part.part.shared_moment
    helped = np.isin(solution.status, (Status.SOLVED_WITH_RESERVE, Status.INFEASIBLE))
    if not helped.any():
        return []
    names = None if options is None else {dof: directions(dof) for dof in part.part.shared}
    if part.tendons is not None:
        return elastic_reasons(part.problem, solution, moment, time, names)
    worst = worst_frames(helped, solution.reserve)
    why = diagnose(part.problem_at(worst), cost=cost)
    why = replace(why, frame=worst[why.frame])
    sentences = []
    for k in np.argsort(-why.total, kind="stable"):
        if options is not None:
            remedy = _key(part, options, why, k)
        else:
            remedy = without if why.passive_cause(k) is not None and why.without_passive(k) else ""
        sentences.append(why.sentence(k, time, names) + remedy)
    check = reserve_check(part.part.shared, solution, moment, ~np.isin(solution.status, UNKNOWN))
    if check.verdict[check.worst] is not Verdict.NONE:
        sentences.append(check.sentence(check.dof[check.worst]))
    return sentences


def _beyond_ranges(body: Any, part: SolvedGroup) -> list[str]:
    lacking = ~np.isin(part.solution.status, (Status.SOLVED, Status.NOT_MEASURED))
    crossed = frozenset().union(*(body.choice.crossing[name] for name in part.state.parameters.names))
    sentences = []
    for beyond in body.beyond:
        together = int((beyond.frames & lacking).sum())
        if beyond.coordinate.name in crossed and together:
            frames = f"{together} of the {int(lacking.sum())} that are not simply solved"
            sentences.append(f"{beyond.sentence}, {frames}: this may be the cause")
    return sentences


def _key(part: SolvedGroup, options: Options, why: Diagnosis, number: int) -> str:
    """The line of the trial file that is the remedy of one frame."""
    if why.passive_cause(number) is not None and why.without_passive(number):
        rule = passive_remedy(part, options.database, int(why.frame[number]))
        return "" if rule is None else f': write passive = "{rule}" in [muscles]'
    remedy, strength = why.remedy(number), 1.0 if options.strength == "table" else options.strength
    if remedy is None or not remedy.also_of_all or isinstance(strength, str):
        return ""
    factor = np.ceil(remedy.factor * strength / _UNIT - 1e-6) * _UNIT
    return f"{LAST_RESORT}: write strength = {factor:.6g} in [muscles]" if factor <= LARGEST_FACTOR else ""


def passive_remedy(part: SolvedGroup, database: MuscleDatabase, frame: int) -> str | None:
    """Return the rule for passive forces, "calibrated" or else "none", that makes a frame feasible; None if neither."""
    at = np.array([frame])
    state, parameters = part.part.frames(at).state, part.state.parameters
    one, ((family, _),) = part.problem_at(at), parameters.families
    rules: list[PassiveRule] = ["none"] if database.calibrated_passive is None else ["calibrated", "none"]
    for rule in rules:
        changed = replace(parameters, passive=passive_element(database, family, rule))
        fiber = changed.fibers(state.musculotendon_length, state.musculotendon_velocity)
        passive = changed.forces(fiber).passive
        less = np.einsum("tkm,tm->tk", one.moment_arm, state.passive_force - passive)
        problem = replace(one, moment=one.moment + less, passive_force=passive, reserve_weight=None)
        if (solve_part(problem, find_cost("force_squared")).status == Status.SOLVED).all():
            return rule
    return None


_NEAR = 1e-3
"""Distance from a limit within which an activation is at the limit."""
_PULLS = 1e-3
"""Share of the largest pull along the multipliers below which a muscle does not count."""
_REPORTED = 0.05
"""Share of the largest reserve below which a reserve is not named; soft reserves are never exactly zero."""
_FULL = "full"
_UP = "{} cannot be activated faster or relaxed sooner"
_DOWN = "{} cannot be relaxed faster or activated sooner"


def elastic_reasons(
    problem: Problem, solution: Solution, moment: Array, time: Array, directions: Directions | None = None
) -> list[str]:
    """A sentence on the worst frame of each stretch that needs reserves, then one on the largest reserves.

    Args:
        problem: in the solved state of fibers and tendons, T frames.
        solution: of the motion.
        moment: (T, m) [N m], the net joint moments.
        time: (T,) [s].
        directions: what the positive and the negative moment of a degree of freedom are called.
    """
    helped = np.asarray(solution.status == Status.SOLVED_WITH_RESERVE)
    if not helped.any():
        return []
    sizes = np.abs(np.nan_to_num(solution.reserve)).sum(axis=1)
    worst = worst_frames(helped, solution.reserve)
    worst = worst[sizes[worst] > _REPORTED * sizes.max()]
    limits, muscles, sentences = _limits(problem, solution, time), problem.muscle or (), []
    for frame in worst[np.argsort(-sizes[worst], kind="stable")].tolist():
        missing = _lacking(problem, solution, moment, frame, directions or {})
        names = {  # of the muscles that pull, the strongest first
            limit: [muscles[i] for i in np.argsort(-pull[frame], kind="stable") if pull[frame, i] > 0.0]
            for limit, pull in limits.items()
        }
        why = [
            at_limit(names.pop(_FULL)),
            *(limit.format(first_names(of)) for limit, of in names.items() if of),
        ]
        sentences.append("; ".join(part for part in (f"{missing} at {time[frame]:.3f} s", *why) if part))
    check = check_reserves(problem, solution, moment)
    if check.verdict[check.worst] is not Verdict.NONE:
        sentences.append(check.sentence(check.dof[check.worst]))
    return sentences


def _lacking(problem: Problem, solution: Solution, moment: Array, frame: int, directions: Directions) -> str:
    """List the lacking moments: "ankle_dorsiflexion_r lacks 12.3 N m of plantarflexion, ..."; the largest first."""
    reserve, dofs = solution.reserve[frame], problem.dof or ()
    needed = needs_reserve(reserve[None], moment[frame][None])[0]
    needed &= np.abs(reserve) > _REPORTED * np.abs(reserve).max()
    order = [k for k in np.argsort(-np.abs(reserve), kind="stable") if needed[k]]
    return enumerated([f"{dofs[k]} lacks {moment_text(reserve[k], dofs[k], directions)}" for k in order])


def _limits(problem: Problem, solution: Solution, time: Array) -> dict[str, Array]:
    """Return by limit the pull of the moments on each activation at the limit, (T, n); zero elsewhere.

    The pull is A^T lambda with the multipliers lambda: positive where more activation would help. An activation is at
    the limit of rising or falling where it changes at the largest rate from the frame before or to the next one.
    """
    a = solution.activation
    with np.errstate(invalid="ignore"):
        pull = np.nan_to_num(np.einsum("tkn,tk->tn", problem.moment_matrix, solution.multiplier))
        low, high = RateLimits().reach(a[:-1], np.diff(time)[:, None])
        full = a >= problem.upper - _NEAR
        fastest_rise = a[1:] >= high - _NEAR
        fastest_fall = (a[1:] <= low + _NEAR) & (a[:-1] > _NEAR)
    none = np.zeros_like(full[:1])
    # more activation: it cannot have risen so soon, or cannot fall until the next frame; less: the reverse
    held_down = np.concatenate([none, fastest_rise]) | np.concatenate([fastest_fall, none])
    held_up = np.concatenate([none, fastest_fall]) | np.concatenate([fastest_rise, none])
    least = _PULLS * np.abs(pull).max(axis=1, keepdims=True)
    return {
        _FULL: np.where(full & (pull > least), pull, 0.0),
        _UP: np.where(held_down & ~full & (pull > least), pull, 0.0),
        _DOWN: np.where(held_up & (pull < -least), -pull, 0.0),
    }

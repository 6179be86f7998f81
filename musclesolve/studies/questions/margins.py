"""Margins: the least strength of each muscle and group for a motion, and the sharing at smaller strengths.

The motion and its joint moments are fixed. The margin of some muscles is the least strength s, a factor on their
maximum isometric forces, with which the moments of every frame are still possible without a reserve: the greatest of
the least strengths of the frames (`sharing.strength_margin`: found, and proved up to a gap). People adapt their motion
long before, so that a margin is a bound and no prediction.

The path is the sharing at strengths between 1 and the margin: it shows the muscles that take over and the growth of
contact forces.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Mask, greatest
from musclesolve._util.messages import Progress, no_progress
from musclesolve._util.sides import side_of
from musclesolve.errors import input_error
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.bodies.run_options import check_consistent
from musclesolve.laboratory.checks.check import findings_of
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.results.dataset.assemble import assemble
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, explained
from musclesolve.laboratory.results.dataset.result_quantities import force_unit
from musclesolve.laboratory.trial.trial_file import read_trial
from musclesolve.models.body import Analysis, SharingGroup, SolvedGroup
from musclesolve.models.body_sharing import share, share_part
from musclesolve.sharing.analysis.diagnosis import diagnose
from musclesolve.sharing.analysis.strength_margin import (
    StrengthMargin,
    least_assistance,
    strength_margin,
    with_strength,
)
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.status import Status, is_solved
from musclesolve.studies.known_names import factors_of, muscle_groups, muscles_named, strength_factors
from musclesolve.studies.written_answer import judgement_of

Variables = dict[str, tuple[tuple[str, ...], Any]]
"""Name -> dimensions and values."""
PATH_STRENGTHS = 8
"""Number of strengths of a path, both ends included."""
BELOW = 0.01
"""Distance below the margin at which the missing moment is determined, as a share of the full strength."""


def margins(
    trial: AnyTrial | str | Path,
    strength: Mapping[str, float] | None = None,
    path: str | None = None,
    cost: str | Cost | None = None,
    side: str = "both",
    progress: Progress | None = None,
    *,
    pairs: bool = False,
) -> xr.Dataset:
    """Find the least strength of every muscle and function group with which the motion of a trial is possible.

    Args:
        trial: a checked trial, from `read_trial`, or the path of a trial file, with rigid tendons.
        strength: muscles or groups that are weak already -> factor on their maximum isometric force.
        path: the group or muscle whose path is computed; that with the greatest margin unless given.
        cost: of the path; the trial file's unless given. Margins do not depend on a cost, and muscles may relax
            wholly, whatever `least_activation` the trial has.
        side: "r", "l" or "both".
        progress: called with the name of each stage and the share of the work that is done.
        pairs: also the margins of pairs of groups of a leg that are weak together.

    Returns:
        Dataset over `of` (names of muscles and, with their side, of groups), time, side, strength, muscle and joint:
        margin (of) [1], the least strength of all frames, 0 where the motion is possible without these muscles;
        margin_gap (of) [1], how far below it the least strength may lie, since less is proved to be impossible;
        least_strength (time, of) of each frame; margin_time (of) [s], margin_dof (of) and margin_sign (of), where, at
        which degree of freedom and in which direction (1: positive) moments lack first; kind (of), "muscle" or
        "group"; possible (time, side), frames that are possible with all muscles, which alone count. With `strength`
        margins are shares of the strength that it leaves; the attribute frames_impossible counts the analyzed frames
        that are not possible with it. For the path: activation (strength, time, muscle),
        peak_activation (strength, muscle) and contact_peak (strength, joint) [attribute force_unit], the attribute
        path_of.
        activation_limit (of) [1]: the least upper bound of the activation, as pain would set it, with which the motion
        is possible. assistance (time, dof) [N m]: the least torque about a degree of freedom with which an impossible
        frame is possible, 0 where it is possible, NaN where no such torque helps. With `pairs` pair_margin (pair) [1].

    Raises:
        InputError: elastic tendons, an unknown muscle or group, a motion of which no frame is possible, or whatever
            `run` refuses.
    """
    report = progress or no_progress
    trial = read_trial(trial)
    # a margin concerns the ability of muscles: they may relax fully, so that a weaker muscle never helps
    body = prepare(trial.with_settings(sharing={"least_activation": 0.0}), cost, None, side, report)
    if body.sharing.elastic:
        raise trial.document.fault(
            "conflict",
            ("muscles", "tendon"),
            "margins of strength are not known with elastic tendons, whose state depends on the strength",
            "rigid tendons",
            'write tendon = "rigid" for this question',
        )
    check_consistent(body.trial, "margins of strength")
    findings = findings_of(body, trial)
    strong = share(body)
    base = assemble(strong, findings)
    if path is not None:
        muscles_named(path, base)
    weak = strength_factors(strength or {}, base)
    now, full = strong, base
    if weak:
        parts = [weakened(part, factors_of(part, weak)) for part in body.parts]
        now = Analysis(body, body.sharing, tuple(share_part(part, body.sharing) for part in parts))
        full = assemble(now, findings)
    counted = [part.solution.status == Status.SOLVED for part in now.parts]
    tests = _margins_of(now.parts, counted, muscle_groups(base), report)
    of = list(tests)
    if not of or not any(there.any() for there in counted):
        raise input_error(
            "no_overlap",
            where="margins",
            problem=f"no frame of {trial.path!s} is possible at this strength",
            expected="a trial with frames that are solved without a reserve",
            remedy="run the trial first: its summary names the joint and the missing moment",
        )
    margin = {name: greatest(at.strength) for name, (_, at) in tests.items()}
    groups = [name for name in of if name not in body.muscles]
    chosen = path or max(groups or of, key=lambda name: np.nan_to_num(margin[name], nan=-1.0))
    followed = [name for name in muscles_named(chosen, base) if name in body.muscles]
    strengths_of = [
        strength_margin(part.whole_problem, there, possible).strength
        for part, possible in zip(now.parts, counted, strict=True)
        if (there := [name for name in followed if name in part.state.parameters.names])
    ]
    lowest = greatest(np.concatenate(strengths_of))
    if np.isnan(lowest):
        raise input_error(
            "no_overlap",
            where="margins",
            problem=f"no frame of {trial.path!s} is possible at full strength for the leg of "
            f"{chosen}, so there is no path",
            expected="a muscle or group of a leg with frames that are solved without a reserve",
            remedy="choose another --path, or run the trial first: its summary names the joint and the missing moment",
        )
    report("path", 0.9)
    strengths = np.linspace(1.0, min(lowest, 1.0), PATH_STRENGTHS)
    arrays = _path(now, counted, followed, strengths, force_unit(base)[0])
    tightest = {name: (part, at.tightest) for name, (part, at) in tests.items() if margin[name] > 0}
    missing = {
        name: _missing(part.whole_problem, tests[name][1], frame, muscles_named(name, base))
        for name, (part, frame) in tightest.items()
    }
    time = body.time
    status = full["status"].transpose("time", "side").values
    possible = status == Status.SOLVED
    report("assistance", 0.95)
    arrays |= _activation_limits(tests, margin, muscles_of=lambda name: muscles_named(name, base))
    arrays |= _assistance(body.dofs, now.parts, counted)
    if pairs:
        groups_of = {name: there for name, there in muscle_groups(base).items() if len(there) > 1}
        arrays |= _pairs(now.parts, counted, groups_of, report)
    times = [time[tightest[name][1]] if name in tightest else np.nan for name in of]
    arrays |= {
        "possible": (("time", "side"), possible),
        "margin": (("of",), np.array(list(margin.values()))),
        "margin_gap": (
            ("of",),
            np.array([margin[of] - greatest(at.proved) for of, (_, at) in tests.items()]),
        ),
        "least_strength": (("time", "of"), np.stack([at.strength for _, at in tests.values()], axis=1)),
        "margin_time": (("of",), np.array(times)),
    }
    coords = {
        "of": of,
        "kind": ("of", ["muscle" if name in body.muscles else "group" for name in of]),
        "margin_dof": ("of", [missing.get(name, ("", 0))[0] for name in of]),
        "margin_sign": ("of", [missing.get(name, ("", 0))[1] for name in of]),
        "of_side": ("of", [side_of(name) for name in of]),
        "time": ("time", time, {"units": "s"}),
        "side": base["side"].values,
        "dof": list(body.dofs),
    }
    result = explained(xr.Dataset(arrays, coords))
    result["activation"].attrs |= QUANTITIES["activation"].attrs
    result.attrs |= {
        "subject": base.attrs.get("subject", ""),
        "cost": body.sharing.cost.label,
        "path_of": chosen,
        "force_unit": force_unit(base)[1],
        "weak": ", ".join(f"{name} {value:g}" for name, value in (strength or {}).items()) or "none",
        "frames": int(result["possible"].size),
        "frames_possible": int(possible.sum()),
        "frames_impossible": int((~possible & (is_solved(status) | (status == Status.INFEASIBLE))).sum()),
        **judgement_of(base),
        "notes": "The motion is held. People adapt their motion before the margin is reached.",
    }
    return result


def _activation_limits(
    margin_of: Mapping[str, tuple[SolvedGroup, StrengthMargin]],
    margin: Mapping[str, float],
    muscles_of: Callable[[str], Sequence[str]],
) -> Variables:
    """Least upper bounds of activation; without passive forces they are the margins of strength."""
    limits = dict(margin)
    for name, (part, _) in margin_of.items():
        if part.state.passive_force.any():
            muscles = [muscle for muscle in muscles_of(name) if muscle in part.state.parameters.names]
            limits[name] = greatest(strength_margin(part.whole_problem, muscles, of="activation").strength)
    return {"activation_limit": (("of",), np.array(list(limits.values())))}


def _assistance(dofs: Sequence[str], parts: Sequence[SolvedGroup], counted: Sequence[Mask]) -> Variables:
    """The least torque about each degree of freedom with which the impossible frames of its part are possible."""
    torque = np.full((len(counted[0]), len(dofs)), np.nan)
    for part, possible in zip(parts, counted, strict=True):
        lacking = np.flatnonzero(~possible & part.part.usable & part.part.measured)
        for dof in part.part.shared:
            torque[possible, dofs.index(dof)] = 0.0
            if lacking.size:
                torque[lacking, dofs.index(dof)] = least_assistance(part.whole_problem.frames(lacking), dof)
    return {"assistance": (("time", "dof"), torque)}


def _pairs(
    parts: Sequence[SolvedGroup],
    counted: Sequence[Mask],
    groups: Mapping[str, Sequence[str]],
    report: Progress,
) -> Variables:
    """Margins of pairs of groups that are weak together, for pairs within one part."""
    pairs = dict[str, float]()
    for number, (part, possible) in enumerate(zip(parts, counted, strict=True)):
        report("pairs", 0.95 + 0.04 * number / len(parts))
        named = [name for name, muscles in groups.items() if set(muscles) <= set(part.state.parameters.names)]
        for one, other in combinations(named, 2):
            both = [*groups[one], *groups[other]]
            pairs[f"{one} + {other}"] = greatest(strength_margin(part.whole_problem, both, possible).strength)
    return {"pair": (("pair",), list(pairs)), "pair_margin": (("pair",), np.array(list(pairs.values())))}


def weakened(part: SharingGroup, factor: Array) -> SharingGroup:
    """The part with factors (n,) on the maximum isometric forces of its muscles, contractile and passive."""
    if (factor == 1.0).all():
        return part
    state = part.state
    # kept positive for a missing muscle
    strong = np.maximum(factor, 1e-6) * state.parameters.max_isometric_force
    return replace(
        part,
        state=replace(
            state,
            parameters=replace(state.parameters, max_isometric_force=strong),
            force_capacity=state.force_capacity * factor,
            passive_force=state.passive_force * factor,
        ),
    )


def _margins_of(
    parts: Sequence[SolvedGroup],
    counted: Sequence[Mask],
    groups: Mapping[str, tuple[str, ...]],
    report: Progress,
) -> dict[str, tuple[SolvedGroup, StrengthMargin]]:
    """The margin of every group, then of every muscle, with its part."""
    tested: dict[str, tuple[SolvedGroup, StrengthMargin]] = {}
    for number, (part, possible) in enumerate(zip(parts, counted, strict=True)):
        report("margins", 0.7 + 0.2 * number / len(parts))
        of_part = part.state.parameters.names
        present = {
            name: [muscle for muscle in muscles if muscle in of_part] for name, muscles in groups.items()
        }
        several = {name: muscles for name, muscles in present.items() if len(set(muscles)) > 1}
        for name, muscles in (several | {name: [name] for name in of_part}).items():
            margin = strength_margin(part.whole_problem, muscles, possible)
            # the part with the greatest need decides for a group of several parts
            if name not in tested or greatest(margin.strength) > greatest(tested[name][1].strength):
                tested[name] = part, margin
    return dict(sorted(tested.items(), key=lambda item: item[0] not in groups))


def _missing(problem: Problem, margin: StrengthMargin, frame: int, muscles: Sequence[str]) -> tuple[str, int]:
    """The degree of freedom with the first missing moment, just below the margin, and the sign of this moment."""
    weak = np.isin(problem.muscle or (), list(muscles))
    below = max(float(margin.strength[frame]) - BELOW, 0.0)
    one = with_strength(problem.frames(np.array([frame])), np.where(weak, below, 1.0))
    diagnosis = diagnose(one)
    if not len(diagnosis.frame):
        return "", 0
    row = int(np.abs(diagnosis.shortage[0]).argmax())
    return diagnosis.dof[row], int(np.sign(diagnosis.shortage[0, row]))


def _path(
    now: MeasuredAnalysis, counted: Sequence[Mask], muscles: Sequence[str], strengths: Array, weight: float
) -> Variables:
    """The sharing at strengths of some muscles; frames that do not count are NaN. weight: unit of joint forces [N]."""
    body, activations, peaks = now.body, [], []
    kept = [np.where(possible[:, None], 1.0, np.nan) for possible in counted]
    for strength in strengths:
        weaker = dict.fromkeys(muscles, float(strength))
        shared = [
            share_part(weakened(leg.part, factors_of(leg.part, weaker)), body.sharing) for leg in now.parts
        ]
        activations.append(
            now.over_muscles([leg.solution.activation * mask for leg, mask in zip(shared, kept, strict=True)])
        )
        force = {
            joint: np.linalg.norm(vectors, axis=1) * mask[:, 0]
            for leg, mask in zip(shared, kept, strict=True)
            for joint, vectors in leg.contact_force.items()
        }
        peaks.append([greatest(force[joint]) / weight if joint in force else np.nan for joint in body.joints])
    activation = np.stack(activations)
    peak = np.nanmax(np.where(np.isnan(activation), -np.inf, activation), axis=1)
    arrays: Variables = {
        "strength": (("strength",), strengths),
        "muscle": (("muscle",), np.array(body.muscles)),
        "activation": (("strength", "time", "muscle"), activation),
        "peak_activation": (("strength", "muscle"), peak),
    }
    if body.joints:
        arrays["joint"] = ("joint",), np.array(body.joints)
        arrays["contact_peak"] = ("strength", "joint"), np.array(peaks)
    return arrays

"""Scenarios: one motion under other conditions, compared with the present ones.

The motion and its ground reactions are fixed in every scenario, although people would change them. A scenario has
muscles that are weaker, stronger or missing, springs and torques at joints (an orthosis, an exoskeleton), and settings
of the trial file on muscles and sharing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.names import unknown_name
from musclesolve._util.progress import Progress, no_progress
from musclesolve._util.sides import split_side
from musclesolve.checking.check import findings_of
from musclesolve.constants import ELASTIC, LOADED_FROM_N
from musclesolve.errors import input_error
from musclesolve.forces import prepare
from musclesolve.pipeline.body import Analysis, SharingGroup, SolvedGroup
from musclesolve.pipeline.linked_bodies import linked
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.pipeline.run_options import check_consistent
from musclesolve.pipeline.share import share_part
from musclesolve.recording.data import AnyTrial
from musclesolve.recording.trial.trial_file import read_trial
from musclesolve.results.dataset.assemble import assemble, segment_axes
from musclesolve.results.dataset.quantities import explained
from musclesolve.results.dataset.result_quantities import body_weight, magnitude
from musclesolve.settings.schema import settings_of
from musclesolve.studies.questions import assistance, muscles_named
from musclesolve.studies.questions.judged import judgement_of
from musclesolve.studies.questions.margins import weakened
from musclesolve.studies.questions.scenario import NOW, TABLES, Scenario, stated_scenarios
from musclesolve.studies.side_by_side import stacked

MINIMIZED = ("minimized_before", "minimized", "minimized_together")
"""Variables of scenarios with `minimize`; NaN in others."""
OF_SCENARIO = (
    *("activation", "muscle_force", "reserve_moment", "device_torque", "knee_contact_medial"),
    *("knee_contact_lateral", "status", "valid", "kkt_residual", "cost"),
    *MINIMIZED,
)
"""Variables with different values in each scenario."""

AnyBody = RecordedBody | ModelBody


def what_if(
    trial: AnyTrial | str | Path,
    scenarios: str | Scenario | Iterable[str | Scenario],
    side: str = "both",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Share the moments of a trial among its muscles under other conditions, with a fixed motion.

    Args:
        trial: a checked trial, from `read_trial`, or the path of a trial file.
        scenarios: one or more, or texts of them (`Scenario.from_text`).
        side: "r", "l" or "both".
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        Dataset over scenario (the first one is "now"), time, muscle, dof, joint and side: activation, muscle_force [N],
        reserve_moment [N m], device_torque [N m] (NaN where nothing acts), contact_force [body weights],
        knee_contact_medial and knee_contact_lateral [N], status, valid, kkt_residual and least_cost of each, with the
        meaning that they have in a result.

    Raises:
        InputError: no scenario, two of one name, an unknown muscle, group, degree of freedom or setting, or whatever
            `run` refuses.
    """
    report = progress or no_progress
    wanted = stated_scenarios(scenarios)
    if not wanted:
        problem, expected = "there is no scenario", "one or more, such as 'weak calf: triceps_surae=0.6'"
        raise input_error("missing_argument", where="what_if", problem=problem, expected=expected)
    trial = read_trial(trial)
    for scenario in wanted:
        if (
            scenario.torque
            and scenario.settings.get("muscles.tendon", trial.settings.muscles.tendon) == ELASTIC
        ):
            raise trial.document.fault(
                "conflict",
                ("muscles", "tendon"),
                "the best torque is not known with elastic tendons",
                "rigid tendons, or a spring",
                "add muscles.tendon=rigid to the scenario",
            )
    body = prepare(trial, None, None, side, report)
    check_consistent(body.trial, "scenarios")
    findings = findings_of(body, trial)
    results: list[xr.Dataset] = []
    scenarios_of, references = _with_references(trial, wanted)
    names = [each.name for each in scenarios_of]
    now: Analysis | None = None
    for number, scenario in enumerate(scenarios_of):
        report(f"scenario {scenario.name}", 0.7 + 0.25 * number / len(names))
        own = _with_settings(trial, body, scenario, side)
        # the first scenario, the unchanged trial, names no muscle
        factors = muscles_named.strength_factors(scenario.strength, results[0]) if results else {}
        analysis, torque, minimized = _shared(own, scenario, factors, now, results)
        now = now or analysis
        result = assemble(analysis, findings).assign(device_torque=(("time", "dof"), torque))
        unknown = np.full((len(MINIMIZED), len(body.time)), np.nan)
        by_side = [minimized.get(str(name), unknown) for name in result["side"].values]
        for name, values in zip(MINIMIZED, np.stack(by_side, axis=-1), strict=True):
            result[name] = ("time", "side"), values
        if results and not result["muscle"].equals(results[0]["muscle"]):
            raise input_error(
                "conflict",
                where="what_if",
                problem=f"the scenario {scenario.name!r} has other muscles than the trial",
                expected="a muscle set with the same muscles in the same order",
                remedy="run the trial with the other set, and compare the results",
            )
        results.append(result)
    return _side_by_side(results, names).assign_attrs(references=references)


def _side_by_side(results: Sequence[xr.Dataset], names: Sequence[str]) -> xr.Dataset:
    """The variables of each scenario along a dimension `scenario`, with names, units and attributes of the first."""
    first = results[0]
    weight = float(body_weight(first))
    variables = stacked(results, OF_SCENARIO, "scenario")
    if "joint_reaction" in first:
        contact = np.stack([magnitude(result["joint_reaction"]).values for result in results]) / weight
        about = {"units": "body weights", "long_name": "magnitude of the joint contact force"}
        variables["contact_force"] = (("scenario", "time", "joint"), contact, about)
    axes = ("time", "dof", "muscle", "side", "joint")
    coords = {name: first[name] for name in axes if name in first.coords}
    coords["group"] = first["group"]
    found = xr.Dataset(
        variables,
        {"scenario": list(names), **coords},
        {
            "costs": [str(result.attrs["cost"]) for result in results],
            **{key: first.attrs[key] for key in ("tendon", "subject") if key in first.attrs},
            **judgement_of(first),
            "notes": "Motion and ground reactions are held in every scenario. People would change them.",
        },
    )
    return explained(found)


def _with_references(trial: AnyTrial, wanted: Sequence[Scenario]) -> tuple[list[Scenario], list[int]]:
    """The further scenarios, and the reference of each; other tendons are compared with now on such tendons.

    Efforts with elastic and with rigid tendons are not comparable: such a reference becomes a scenario.
    """
    usual = trial.settings.muscles.tendon
    scenarios, references = [Scenario(NOW)], [0]
    place = {usual: 0}
    for scenario in wanted:
        tendon = str(scenario.settings.get("muscles.tendon", usual))
        plain = scenario == Scenario(scenario.name, settings={"muscles.tendon": tendon})
        if tendon not in place:
            place[tendon] = len(scenarios)
            if not plain:
                scenarios.append(Scenario(f"{NOW}, {tendon} tendons", settings={"muscles.tendon": tendon}))
                references.append(place[tendon])
        references.append(place[tendon])
        scenarios.append(scenario)
    return scenarios, references


def _with_settings(trial: AnyTrial, body: AnyBody, scenario: Scenario, side: str) -> AnyBody:
    tables: dict[str, dict[str, Any]] = {}
    for key, value in scenario.settings.items():
        table, _, name = key.partition(".")
        if table not in TABLES or not name:
            raise unknown_name(key, "setting", [f"{each}.NAME" for each in TABLES], " of a scenario")
        known = settings_of(type(getattr(trial.settings, table)))
        if name not in known:
            raise unknown_name(key, "setting", [f"{table}.{each}" for each in known], " of a scenario")
        tables.setdefault(table, {})[name] = value
    if not tables:
        return body
    return prepare(trial.with_settings(**tables), None, None, side)


def _shared(
    body: AnyBody,
    scenario: Scenario,
    factors: Mapping[str, float],
    now: Analysis | None,
    results: Sequence[xr.Dataset],
) -> tuple[Analysis, Array, dict[str, Array]]:
    """Share the body under the conditions of a scenario; torques (T, dof) of devices, NaN without any.

    Also returns, by side, the target of a device, the rows of MINIMIZED (3, T) [N].

    factors: on the maximum isometric forces of muscles. now, results: of the unchanged trial, where it is shared.
    """
    shared = [dof for part in body.parts for dof in part.shared]
    limits = muscles_named.of_sides(scenario.torque, shared, *OF_DOFS)
    springs = muscles_named.of_sides(scenario.spring, shared, *OF_DOFS)
    row = {dof: k for k, dof in enumerate(body.dofs)}
    torque = np.full((len(body.time), len(row)), np.nan)
    for dof, (stiffness, rest) in springs.items():
        torque[:, row[dof]] = -stiffness * (body.angle[:, row[dof]] - np.radians(rest))
    solved: list[SolvedGroup] = []
    parts, minimized = _heavier(body, scenario, now), dict[str, Array]()
    for number, part in enumerate(parts):
        weak = weakened(part, muscles_named.factors_of(part, factors))
        own = _without_torque(weak, torque, row)
        if chosen := {dof: pair for dof, pair in limits.items() if dof in own.shared}:
            target = None
            if scenario.minimize and now is not None:
                target = _target(scenario.minimize, now, number, own, results[0])
            if target is None:
                best = np.nan_to_num(assistance.optimal_torque(own, body.sharing, chosen)[0])
            else:
                best, together = assistance.torque_against(own, body.sharing, chosen, target)
                before = target.value(share_part(own, body.sharing).solution.force)
            for dof in chosen:
                held = torque[:, row[dof]]
                found = best[:, own.shared.index(dof)]
                torque[:, row[dof]] = np.where(np.isnan(held), 0.0, held) + found
            own = _without_torque(weak, torque, row)
        solved.append(share_part(own, body.sharing))
        if chosen and target is not None:
            after = target.value(solved[-1].solution.force)
            minimized |= {side: np.stack([before, after, together]) for side in part.sides}
    return Analysis(body, body.sharing, tuple(solved)), torque, minimized


def _heavier(body: AnyBody, scenario: Scenario, now: Analysis | None) -> Sequence[SharingGroup]:
    """The parts of a heavier or lighter body, or of one that carries a load, along the same motion.

    Inverse dynamics is linear in masses and ground reactions: with both times k, moments and net joint forces are.
    A load m that moves with the trunk, acceleration a, presses the feet with m (a - g), shared like their vertical
    forces; each joint of the leg bears what the foot beyond it does not lose.
    """
    parts = list(body.parts)
    if scenario.mass != 1.0:
        for k, part in enumerate(parts):
            if (loads := part.loads) is not None:
                net, net_moment = scenario.mass * loads.net, scenario.mass * loads.net_moment
                loads = replace(loads, net=net, net_moment=net_moment)
            parts[k] = replace(part, moment=scenario.mass * part.moment, loads=loads)
    if scenario.load == 0.0:
        return parts
    assert now is not None
    joined = linked(now)
    trunk = int(joined.bodies.mass.argmax())
    push = scenario.load * (joined.bodies.center_acceleration[:, trunk] - joined.bodies.gravity)
    upward = np.stack([np.maximum(foot.force[:, 2], 0.0) for foot in joined.feet], axis=1)
    stands = upward > LOADED_FROM_N
    share = np.where(stands, upward, 0.0)
    share = share / np.maximum(share.sum(axis=1, keepdims=True), 1e-9)
    force, moment = np.zeros((2, len(push), len(joined.joints), 3))
    generalized = np.zeros_like(joined.bodies.rates)
    for k, foot in enumerate(joined.feet):
        point = np.where(stands[:, k, None], foot.center_of_pressure, 0.0)
        own = share[:, k, None] * push
        reach = joined.bodies.reach[:, foot.body] + np.cross(
            joined.bodies.spin[:, foot.body], (point - joined.bodies.center[:, foot.body])[:, None]
        )
        generalized -= np.einsum("tkx,tx->tk", reach, own)
        for j, joint in enumerate(joined.joints):
            if joint.beyond[foot.body]:
                force[:, j] -= own
                moment[:, j] -= np.cross(point - joint.center, own)
    loaded = []
    for part in parts:
        added = np.stack([generalized[:, joined.speeds.index(dof)] for dof in part.dofs], axis=1)
        loads = part.loads
        if loads is not None:
            rows = [joined.joint_names.index(joint) for joint in loads.joints]
            sense = joined.sense[rows, None]
            net, net_moment = loads.net + sense * force[:, rows], loads.net_moment + sense * moment[:, rows]
            loads = replace(loads, net=net, net_moment=net_moment)
        loaded.append(replace(part, moment=part.moment + added, loads=loads))
    return loaded


def _target(
    name: str, now: Analysis, number: int, part: SharingGroup, result: xr.Dataset
) -> assistance.Target | None:
    """Return the target that torques of a part minimize; None where the name has no meaning for this part."""
    places = ("", "_medial", "_lateral")
    for place, joint in product(places, now.parts[number].contact_force):
        stem, side = split_side(joint)
        axes, spacing = segment_axes(now.body).get(joint), now.body.contact_spacing.get(joint)
        if name in (f"{stem}{place}", f"{stem}{place}_{side}") and (spacing is not None or not place):
            apart = None if spacing is None else spacing.distance
            return assistance.contact_target(now.parts[number], joint, axes, apart, place[1:])
    joints = [joint for part in now.parts for joint in part.contact_force]
    known = {f"{split_side(joint)[0]}{place}" for joint in joints for place in places}
    if name in known or split_side(name)[0] in known:
        return None
    of_muscles = muscles_named.names_of_muscles(result)
    if name not in of_muscles:
        raise unknown_name(name, "joint, side of the knee, muscle or group", [*sorted(known), *of_muscles])
    muscles = [muscle for muscle in of_muscles[name] if muscle in part.state.parameters.names]
    return assistance.muscle_target(part, muscles) if muscles else None


def _without_torque(part: SharingGroup, torque: Array, row: Mapping[str, int]) -> SharingGroup:
    """The part whose muscles do not have to produce torques (T, dof) [N m], NaN where there is none."""
    borne = np.nan_to_num(torque[:, [row[dof] for dof in part.dofs]])
    return replace(part, moment=part.moment - borne) if borne.any() else part


OF_DOFS = "degree of freedom", " whose moment muscles share"
"""Words for a degree of freedom of a device."""

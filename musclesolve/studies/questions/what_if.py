"""Scenarios: one motion under other conditions, compared with the present ones.

The motion and its ground reactions are fixed in every scenario, although people would change them. A scenario has
muscles that are weaker, stronger or missing, springs and torques at joints (an orthosis, an exoskeleton), and settings
of the trial file on muscles and sharing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number, check_type
from musclesolve._util.messages import Progress, as_text, no_progress, unknown_name
from musclesolve._util.sides import split_side
from musclesolve.constants import ELASTIC, LOADED_FROM_N
from musclesolve.errors import input_error
from musclesolve.laboratory.bodies.linked_bodies import linked
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis, MeasuredModel
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.bodies.run_options import check_consistent
from musclesolve.laboratory.checks.check import findings_of
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.results.dataset.assemble import assemble, segment_axes
from musclesolve.laboratory.results.dataset.quantities import explained
from musclesolve.laboratory.results.dataset.result_quantities import force_unit, magnitude
from musclesolve.laboratory.trial.trial_file import read_trial
from musclesolve.models.body import Analysis, SharingGroup, SolvedGroup
from musclesolve.models.body_sharing import share_part
from musclesolve.studies.compare import stacked
from musclesolve.studies.known_names import (
    check_factor,
    factors_of,
    names_of_muscles,
    of_sides,
    strength_factors,
)
from musclesolve.studies.questions import assistance
from musclesolve.studies.questions.margins import weakened
from musclesolve.studies.written_answer import judgement_of
from musclesolve.tables.settings import settings_of

NOW = "now"
"""Name of the first scenario, the unchanged trial."""
TABLES = ("muscles", "sharing")
"""Tables of the trial file whose settings a scenario may change: the motion stays."""


@dataclass(frozen=True)
class Scenario:
    """Conditions under which a trial is shared.

    Args:
        name: in tables and figures.
        strength: muscle or function group, of a side or of both -> factor on the maximum isometric force; 0: missing.
        torque: degree of freedom, of a side or of both -> least and greatest torque [N m] of an ideal device, which
            chooses the torque of least cost in every frame. Positive as the joint moment.
        spring: degree of freedom, of a side or of both -> stiffness [N m/rad] and angle without torque [deg].
        minimize: target of the torques instead of the cost of the muscles, which the muscles still minimize: a muscle
            or group, the contact force of a joint ("knee", "hip_r"), or the force on a side of the knee
            ("knee_medial", "knee_lateral_r").
        mass: factor on the masses of all segments and on the ground reactions.
        load: [kg] carried on the trunk, the heaviest segment: the feet bear it in proportion to their forces, at their
            centers of pressure.
        settings: "muscles.passive", "sharing.cost", ... -> value, as in the trial file.
    """

    name: str
    strength: Mapping[str, float] = field(default_factory=dict)
    torque: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    spring: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    minimize: str = ""
    mass: float = 1.0
    load: float = 0.0

    def __post_init__(self) -> None:
        for key in ("name", "minimize"):
            check_type(getattr(self, key), str, f"what_if {key}", "text")
        for key in ("strength", "torque", "spring", "settings"):
            check_type(getattr(self, key), Mapping, f"what_if {key}", "a dict")
        for key, (least, most, unit) in AMOUNTS.items():
            value = getattr(self, key)
            if not (isinstance(value, int | float | np.number) and least <= value <= most):
                raise input_error(
                    "bad_value",
                    where="what_if",
                    problem=f"{f'{key}={as_text(value)}'!r} of the scenario {self.name!r} is out of range",
                    expected=f"{key} from {least:g} to {most:g} {unit}",
                    remedy=f"write such a number behind {key}=",
                )
        for name, factor in self.strength.items():
            check_factor(name, factor)
        for kind in ("torque", "spring"):
            for dof, pair in getattr(self, kind).items():
                two = isinstance(pair, tuple | list | np.ndarray) and len(pair) == 2
                for value in pair if two else [as_text(pair)]:
                    check_number(value, f"{kind}.{dof}", "two finite numbers", where="what_if")
        for dof, (low, high) in self.torque.items():
            if max(-low, high) > MOST_TORQUE:
                raise input_error(
                    "bad_value",
                    where="what_if",
                    problem=f"a torque of {max(-low, high):g} N m about {dof} is no torque of a device",
                    expected=f"{MOST_TORQUE:g} N m at most",
                    remedy="state the torque in N m, such as 30, not 30000, for 30 N m",
                )
            if not low <= high or low == high == 0.0:
                raise input_error(
                    "bad_range",
                    where="what_if",
                    problem=f"the torque about {dof} lies between {low:g} and {high:g} N m",
                    expected="the smaller limit first, and not zero twice",
                    remedy=f"write torque.{dof}=-30:0 for a torque that only pushes off",
                )
        if self.minimize and not self.torque:
            raise input_error(
                "missing_argument",
                where="what_if",
                problem=f"scenario {self.name} minimizes a force, but no device may act",
                expected="limits of a torque beside minimize",
                remedy="add such as torque.ankle_dorsiflexion=-30:0",
            )

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read "[NAME:] KEY=VALUE, ...", as on the command line.

        soleus=0.5 and triceps_surae_r=0 are strengths, torque.ankle_dorsiflexion=-30:0 limits of a torque [N m],
        spring.knee_flexion=40@10 a spring of 40 N m/rad at rest at 10 degrees, sharing.cost=stress_cubed a setting,
        minimize=knee_medial what torques minimize, mass=1.1 a factor on the body mass, load=10 kilograms carried.

        Raises:
            InputError: what is not of this form, with the part at fault.
        """
        name, colon, rest = text.partition(":")
        if "=" in name:  # the colon of a torque
            name, colon, rest = text.partition(": ")
        words, label = (rest, name.strip()) if colon else (text, text.strip())
        entries: dict[str, Any] = {"strength": {}, "torque": {}, "spring": {}, "settings": {}}
        keys: set[str] = set()
        for word in _entries(words):
            key, equals, value = (piece.strip() for piece in word.partition("="))
            kind, dot, of = key.partition(".")
            if not (equals and key and value):
                raise _unreadable(text, word)
            if key in keys:
                raise input_error(
                    "duplicate_name",
                    where="--set",
                    problem=f"{key!r} stands twice in the scenario {text!r}",
                    expected="every muscle, torque, spring and setting once",
                )
            keys.add(key)
            if key == "minimize":
                entries["minimize"] = value
            elif key in AMOUNTS:
                number = _number(value)
                entries[key] = np.nan if number is None else number
            elif dot and kind in ("torque", "spring"):
                first, mark, second = value.partition(":" if kind == "torque" else "@")
                numbers = _number(first), _number(second or "0")
                if None in numbers or (kind == "torque" and not mark):
                    raise _unreadable(text, word)
                entries[kind][of] = numbers
            elif dot and kind in TABLES:
                number = _number(value)
                entries["settings"][key] = value if number is None else number
            elif not dot and (number := _number(value)) is not None:
                entries["strength"][key] = number
            else:
                raise _unreadable(text, word)
        return cls(label, **entries)


def stated_scenarios(stated: str | Scenario | Iterable[str | Scenario]) -> list[Scenario]:
    """Read one or many scenarios, as texts or objects; refuse two with the same name."""
    every = stated if isinstance(stated, Iterable) and not isinstance(stated, str) else [stated]
    read = [Scenario.from_text(scenario) if isinstance(scenario, str) else scenario for scenario in every]
    names = [NOW]
    for scenario in read:
        if check_type(scenario, Scenario, "what_if", _SCENARIOS).name in names:
            raise input_error(
                "duplicate_name",
                where="what_if",
                problem=f"two scenarios are called {scenario.name!r}",
                expected="different names; the first scenario, the trial as it is, is called now",
                remedy="write another name before the colon",
            )
        names.append(scenario.name)
    return read


_SCENARIOS = "scenarios, each as a text such as 'weak calf: triceps_surae=0.6' or as a Scenario"
MOST_TORQUE = 1000.0
"""Largest torque of a device [N m]; a greater number has a mistaken unit, such as N mm."""
AMOUNTS = {"mass": (0.2, 5.0, "times the masses"), "load": (0.0, 200.0, "kg")}
"""Numbers of a scenario -> least, most and unit."""


def strengths_from_texts(texts: Sequence[str]) -> dict[str, float]:
    """Muscle or group -> factor on its strength, read from "MUSCLE=FACTOR" each."""
    problem, expected = "is not a strength", "a muscle or group with a factor, such as triceps_surae=0.8"
    remedy = "use what-if for torques, springs and settings"
    return _named_numbers(
        texts, -np.inf, where="--strength", problem=problem, expected=expected, remedy=remedy
    )


def _named_numbers(texts: Sequence[str], above: float, problem: str, **said: str) -> dict[str, float]:
    """Name -> number above a limit, read from "NAME=NUMBER" each."""
    numbers = {}
    for text in texts:
        name, _, value = (piece.strip() for piece in text.rpartition("="))
        number = _number(value)
        if not name or number is None or number <= above:
            raise input_error("bad_value", problem=f"{text!r} {problem}", **said)
        numbers[name] = number
    return numbers


def _entries(text: str) -> list[str]:
    """The entries KEY=VALUE between commas; a comma within brackets or within a key divides nothing."""
    entries, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0 and "=" in entries[-1]:
            entries.append("")
        else:
            entries[-1] += letter
    return entries


def _number(text: str) -> float | None:
    """Read a number; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _unreadable(text: str, word: str) -> Exception:
    return input_error(
        "bad_value",
        where="--set",
        problem=f"{word.strip()!r} of the scenario {text!r} cannot be read",
        expected="soleus=0.5, torque.ankle_dorsiflexion=-30:0 [N m] (a fixed torque: -10:-10), "
        "spring.knee_flexion=40@10 [N m/rad, degrees], mass=1.1 or sharing.cost=NAME, between commas",
        remedy="write one of these; a name for the scenario stands before a colon and a blank",
    )


MINIMIZED = ("minimized_before", "minimized", "minimized_together")
"""Variables of scenarios with `minimize`; NaN in others."""
OF_SCENARIO = (
    *("activation", "muscle_force", "reserve_moment", "device_torque", "knee_contact_medial"),
    *("knee_contact_lateral", "status", "valid", "gap", "moment_error", "cost", "cost_bound"),
    *MINIMIZED,
)
"""Variables with different values in each scenario."""

AnyBody = RecordedBody | MeasuredModel


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
        reserve_moment [N m], device_torque [N m] (NaN where nothing acts), contact_force [body weights, or N],
        knee_contact_medial and knee_contact_lateral [N], status, valid, gap, moment_error, cost_bound and
        least_cost of each, with the
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
    names = [scenario_of.name for scenario_of in scenarios_of]
    now: MeasuredAnalysis | None = None
    for number, scenario in enumerate(scenarios_of):
        report(f"scenario {scenario.name}", 0.7 + 0.25 * number / len(names))
        changed = _with_settings(trial, body, scenario, side)
        # the first scenario, the unchanged trial, names no muscle
        factors = strength_factors(scenario.strength, results[0]) if results else {}
        analysis, torque, minimized = _shared(changed, scenario, factors, now, results)
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
    weight, unit = force_unit(first)
    variables = stacked(results, OF_SCENARIO, "scenario")
    if "joint_reaction" in first:
        contact = np.stack([magnitude(result["joint_reaction"]).values for result in results]) / weight
        about = {"units": unit, "long_name": "magnitude of the joint contact force"}
        variables["contact_force"] = (("scenario", "time", "joint"), contact, about)
    axes = ("time", "dof", "muscle", "side", "joint")
    coords = {name: first[name] for name in axes if name in first.coords}
    coords["group"] = first["group"]
    beside = xr.Dataset(
        variables,
        {"scenario": list(names), **coords},
        {
            "costs": [str(result.attrs["cost"]) for result in results],
            **{key: first.attrs[key] for key in ("tendon", "subject") if key in first.attrs},
            **judgement_of(first),
            "notes": "Motion and ground reactions are held in every scenario. People would change them.",
        },
    )
    return explained(beside)


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
            raise unknown_name(key, "setting", [f"{one}.NAME" for one in TABLES], " of a scenario")
        known = settings_of(type(getattr(trial.settings, table)))
        if name not in known:
            raise unknown_name(key, "setting", [f"{table}.{one}" for one in known], " of a scenario")
        tables.setdefault(table, {})[name] = value
    if not tables:
        return body
    return prepare(trial.with_settings(**tables), None, None, side)


def _shared(
    body: AnyBody,
    scenario: Scenario,
    factors: Mapping[str, float],
    now: MeasuredAnalysis | None,
    results: Sequence[xr.Dataset],
) -> tuple[Analysis, Array, dict[str, Array]]:
    """Share the body under the conditions of a scenario; torques (T, dof) of devices, NaN without any.

    Also returns, by side, the target of a device, the rows of MINIMIZED (3, T) [N].

    factors: on the maximum isometric forces of muscles. now, results: of the unchanged trial, where it is shared.
    """
    shared = [dof for part in body.parts for dof in part.shared]
    limits = of_sides(scenario.torque, shared, *OF_DOFS)
    springs = of_sides(scenario.spring, shared, *OF_DOFS)
    row = {dof: k for k, dof in enumerate(body.dofs)}
    torque = np.full((len(body.time), len(row)), np.nan)
    for dof, (stiffness, rest) in springs.items():
        torque[:, row[dof]] = -stiffness * (body.angle[:, row[dof]] - np.radians(rest))
    solved: list[SolvedGroup] = []
    parts, minimized = _heavier(body, scenario, now), dict[str, Array]()
    for number, part in enumerate(parts):
        weak = weakened(part, factors_of(part, factors))
        alone = _without_torque(weak, torque, row)
        if chosen := {dof: pair for dof, pair in limits.items() if dof in alone.shared}:
            target = None
            if scenario.minimize and now is not None:
                target = _target(scenario.minimize, now, number, alone, results[0])
            if target is None:
                best = np.nan_to_num(assistance.optimal_torque(alone, body.sharing, chosen)[0])
            else:
                best, together = assistance.torque_against(alone, body.sharing, chosen, target)
                before = target.value(share_part(alone, body.sharing).solution.force)
            for dof in chosen:
                held = torque[:, row[dof]]
                best_torque = best[:, alone.shared.index(dof)]
                torque[:, row[dof]] = np.where(np.isnan(held), 0.0, held) + best_torque
            alone = _without_torque(weak, torque, row)
        solved.append(share_part(alone, body.sharing))
        if chosen and target is not None:
            after = target.value(solved[-1].solution.force)
            minimized |= {side: np.stack([before, after, together]) for side in part.sides}
    return Analysis(body, body.sharing, tuple(solved)), torque, minimized


def _heavier(body: AnyBody, scenario: Scenario, now: MeasuredAnalysis | None) -> Sequence[SharingGroup]:
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
        load = share[:, k, None] * push
        reach = joined.bodies.reach[:, foot.body] + np.cross(
            joined.bodies.spin[:, foot.body], (point - joined.bodies.center[:, foot.body])[:, None]
        )
        generalized -= np.einsum("tkx,tx->tk", reach, load)
        for j, joint in enumerate(joined.joints):
            if joint.beyond[foot.body]:
                force[:, j] -= load
                moment[:, j] -= np.cross(point - joint.center, load)
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
    name: str, now: MeasuredAnalysis, number: int, part: SharingGroup, result: xr.Dataset
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
    of_muscles = names_of_muscles(result)
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

"""Answers to questions about a trial as text: margins of strength, scenarios, contributions."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from rich.table import Table

from musclesolve._util.arrays import true_runs
from musclesolve._util.sides import SIDE_NAMES, joint_kind, side_of, sided, sides_of, split_side
from musclesolve.laboratory.results.dataset.result_quantities import BODY_WEIGHTS, along_heading, short_unit
from musclesolve.laboratory.results.fact_table import SHORT, Fact, plain_fact, silent
from musclesolve.laboratory.results.finding import FINDINGS, stored_findings
from musclesolve.laboratory.results.tables.lines import frame_csv, show
from musclesolve.sharing.status import Status, is_solved

MOST_MUSCLES = 12
"""Number of muscles in the printed table of margins."""
JOINT_EFFECT = 0.005
"""Additional strength that two groups need together above which the pair is named."""
TAKES_OVER = 0.05
"""Rise of the peak activation from which a muscle takes over."""
QUESTION, NO_ANSWER = "question", "no_answer"
"""Attributes of an answer beside a result: its question, and the reason of a missing answer."""
MOST_SAID = 3
"""Groups, joints and muscles that a sentence names."""
MOTION_HELD = "The motion is held in every answer: people would change it."


Rows = Iterator[Fact]


def _judgement(answer: xr.Dataset) -> Rows:
    """The verdict on the trial, its errors and warnings, which hold for every answer."""
    stored = stored_findings(str(answer.attrs[FINDINGS]))
    faults = [entry for entry in stored if entry.severity in ("error", "warning")]
    verdict = str(answer.attrs["verdict"])
    yield plain_fact("verdict", f"{verdict} (the trial without this question)", verdict, "verdict")
    yield silent([fault.sentence for fault in faults], "warnings")
    yield from (plain_fact(fault.severity, fault.line, severity=fault.severity) for fault in faults)


MARGINS = {
    "of": "of",
    "kind": "kind",
    "margin": "least_strength",
    "margin_gap": "gap",
    "margin_time": "time_s",
    "margin_dof": "dof",
    "margin_sign": "sign",
}
"""Variables of the margins, and their names in tables and documents."""


def ordered_margins(answer: xr.Dataset) -> pd.DataFrame:
    """The margins of the groups, then the margins of single muscles, the greatest first."""
    table = pd.DataFrame({column: answer[name].values for name, column in MARGINS.items()})
    return table.sort_values(
        ["kind", "least_strength"], ascending=[True, False], kind="stable", ignore_index=True
    )


def margin_tables(answer: xr.Dataset) -> list[Table]:
    """Groups, and the muscles with the greatest margins; pairs of groups where computed."""
    tables, margins = [], ordered_margins(answer)
    kinds = ("group", "groups of muscles", None), ("muscle", "single muscles", MOST_MUSCLES)
    for kind, whose, most in kinds:
        rows = margins[(margins["kind"] == kind) & (margins["least_strength"] > 0.0)][:most]
        sign = np.where(rows["sign"] > 0, "+ ", "- ")
        columns = {
            kind: rows["of"],
            "least [%]": 100.0 * rows["least_strength"],
            "at [s]": rows["time_s"],
            "lacks first": np.where(rows["dof"] == "", "", sign + rows["dof"]),
        }
        if len(rows):
            title = f"least strength with which {_what(answer)} possible: {whose}"
            tables.append(show(title, pd.DataFrame(columns), ("", ".1f", ".3f", "")))
    if "pair_margin" in answer:
        tables.append(_pair_table(answer))
    return tables


def _what(answer: xr.Dataset) -> str:
    """The motion is, or some of its frames are."""
    if not answer.attrs.get("frames_impossible", 0):
        return "the motion is"
    return f"{answer.attrs['frames_possible']} frames of a leg (not {answer.attrs['frames_impossible']} others) are"


def _pair_table(answer: xr.Dataset) -> Table:
    """The pairs of groups with the greatest margins, beside the margins of each group alone."""
    alone = answer["margin"].to_series()
    rows = []
    for pair, value in sorted(_pair_margins(answer).items(), key=lambda entry: -entry[1]):
        single = [alone.get(name, 0.0) for name in pair.split(" + ")]
        if value > max(single) + JOINT_EFFECT:
            rows.append((pair, 100.0 * value, " / ".join(f"{100.0 * part:.1f}" for part in single)))
    title = "least strength of two groups together: those that need more than each alone"
    columns = ["groups that are weak together", "least [%]", "alone [%]"]
    return show(title, pd.DataFrame(rows[:MOST_MUSCLES], columns=columns), ("", ".1f", ".1f"))


def _pair_margins(answer: xr.Dataset) -> dict[str, float]:
    """Margins of pairs of groups; none where they were not computed."""
    if "pair_margin" not in answer:
        return {}
    return dict(zip(map(str, answer["pair"].values), answer["pair_margin"].values.tolist(), strict=True))


def assistance_records(answer: xr.Dataset) -> list[dict[str, Any]]:
    """Degrees of freedom about which a device alone makes every impossible frame possible, and its torques [N m].

    None where every frame is possible, or no single degree of freedom is enough.
    """
    torque = answer["assistance"]
    facts = []
    for side in map(str, answer["side"].values):
        part = torque.isel(dof=[k for k, dof in enumerate(answer["dof"].values) if side_of(str(dof)) == side])
        helped = part.isel(time=np.flatnonzero((~answer["possible"].sel(side=side)).values))
        for dof in map(str, helped["dof"].values):
            values = helped.sel(dof=dof).values
            if len(values) and np.isfinite(values).all():
                ends = {
                    "least_nm": min(float(values.min()), 0.0),
                    "greatest_nm": max(float(values.max()), 0.0),
                }
                at = float(helped["time"].values[int(np.abs(values).argmax())])
                facts.append({"dof": dof, "frames": len(values), **ends, "time_s": at})
    return facts


def margin_facts(answer: xr.Dataset) -> Rows:
    """The least strengths, the frames that count, and the muscles that take over along the path."""
    margins, possible = ordered_margins(answer), answer["possible"]
    groups = margins[margins["kind"] == "group"]
    needed, free = groups[groups["least_strength"] > 0.0], list(groups["of"][groups["least_strength"] == 0.0])
    strengths = [
        f"{100.0 * strength:.0f} % of the {sided(name)}"
        for name, strength in zip(needed["of"], needed["least_strength"], strict=True)
    ]
    if strengths:
        left = len(strengths) - MOST_SAID
        more = f", and less of {left} others" if left > 0 else ""
        least = f"The motion needs at least {', '.join(strengths[:MOST_SAID])}{more}"
        yield plain_fact(SHORT, f"{least}, each with all others at full strength.")
    if free:
        which = "without one group" if len(free) == 1 else f"without any one of {len(free)} groups"
        yield plain_fact(SHORT, f"It is possible {which}.")
    yield from _judgement(answer)
    records = margins.to_dict("records")
    yield silent(
        [row | {"dof": row["dof"] or None, "sign": row["sign"] or None} for row in records], "margins"
    )
    for name in ("frames", "frames_possible", "frames_impossible"):
        yield silent(int(answer.attrs.get(name, 0)), name)
    frames = possible.sizes["time"]
    counts = {str(side): int(possible.sel(side=side).sum()) for side in possible["side"].values}
    counted = ", ".join(
        f"{SIDE_NAMES.get(side, side)} {count} of {frames}" if len(counts) > 1 else f"{count} of {frames}"
        for side, count in counts.items()
    )
    yield plain_fact("frames", f"{counted} are possible, and count")
    yield plain_fact(
        "least activation", "0 in this answer, whatever the trial states, so that muscles may relax fully"
    )
    if impossible := int(answer.attrs.get("frames_impossible", 0)):
        yield plain_fact("impossible", f"{impossible} frames of a leg: all muscles together lack moments")
    weak = str(answer.attrs["weak"])
    yield silent(weak, "weak")
    if weak != "none":
        yield plain_fact("weak already", f"{weak}; percent are of the strength that this leaves")
    yield plain_fact("lacks first", "+: moment in the direction of the name; -: in the opposite one")
    gap = 100.0 * margins["gap"].max()
    yield plain_fact(
        "gap", f"less strength is proved to be impossible, up to {gap:.1g} % of the full strength"
    )
    helps = assistance_records(answer)
    yield silent(helps, "assistance")
    if not bool(possible.all()):
        torques = "; ".join(
            f"{each['dof']} {each['least_nm']:.1f} to {each['greatest_nm']:.1f} N m ({each['frames']} frames)"
            for each in helps
        )
        none = "no torque about a single degree of freedom makes all frames possible"
        yield plain_fact("assistance", torques or none)
    yield silent(_pair_margins(answer), "pairs")
    if free:
        yield plain_fact("dispensable", f"{_what(answer)} possible without any one of: {'; '.join(free)}")
    yield from _path(answer)
    yield plain_fact("note", MOTION_HELD)


def _path(answer: xr.Dataset) -> Rows:
    """Activations and contact forces that change while one group becomes weaker."""
    of, least, peak = (
        str(answer.attrs["path_of"]),
        float(answer["strength"].values[-1]),
        answer["peak_activation"],
    )
    rise = peak.isel(strength=-1) - peak.isel(strength=0)
    taking = [
        f"{answer['muscle'].values[k]} ({float(peak[0, k]):.2f} to {float(peak[-1, k]):.2f})"
        for k in np.argsort(-np.nan_to_num(rise.values, neginf=0.0, posinf=0.0))[:5]
        if rise.values[k] > TAKES_OVER
    ]
    what = ", ".join(taking) or "no muscle rise by more than 0.05"
    yield plain_fact("path", f"{of} at {100.0 * least:.1f} % of its strength: peak activations of {what}")
    if "contact_peak" in answer:
        ends = answer["contact_peak"].isel(strength=[0, -1])
        digits = _digits(_unit(answer))
        moved = [
            f"{joint} {ends.values[0, k]:.{digits}f} to {ends.values[1, k]:.{digits}f}"
            for k, joint in enumerate(map(str, answer["joint"].values))
            if abs(ends.values[1, k] - ends.values[0, k]) >= 0.5 * 10.0**-digits
        ]
        yield plain_fact(f"contact [{short_unit(_unit(answer))}]", ", ".join(moved) or "does not change")


def margins_csv(answer: xr.Dataset) -> bytes:
    """All margins as comma-separated values."""
    margins = ordered_margins(answer)
    return frame_csv(margins.assign(sign=margins["sign"].replace(0, "")))


def _unit(answer: xr.Dataset) -> str:
    """Unit of joint forces of an answer: body weights, or newtons where the weight is not known."""
    if "contact_force" in answer and "units" in answer["contact_force"].attrs:
        return str(answer["contact_force"].attrs["units"])
    return str(answer.attrs.get("force_unit", BODY_WEIGHTS))


def _digits(unit: str) -> int:
    return 2 if unit == BODY_WEIGHTS else 0


def _peaks_in(unit: str) -> str:
    """Key of the peaks of joint forces in a record, with their unit."""
    return f"contact_peaks_{short_unit(unit).lower()}"


def _peaks_of(answer: xr.Dataset) -> str:
    return _peaks_in(_unit(answer))


def scenario_records(answer: xr.Dataset) -> list[dict[str, Any]]:
    """The facts of each scenario: frames, reserves, effort, contact peaks, torques of devices."""
    facts: list[dict[str, Any]] = []
    costs = np.atleast_1d(answer.attrs["costs"])
    solved = is_solved(answer["status"].values)
    references = np.atleast_1d(answer.attrs.get("references", np.zeros(answer.sizes["scenario"], int)))
    for number, name in enumerate(map(str, answer["scenario"].values)):
        here = answer.isel(scenario=number)
        status, reserve = here["status"].values, np.abs(here["reserve_moment"].values)
        largest = np.unravel_index(np.nanargmax(reserve), reserve.shape)
        # efforts of the frames that have a solution now and under the scenario
        first = int(references[number])
        both = solved[first] & solved[number]
        base, effort = (float(answer["least_cost"].values[case][both].sum()) for case in (first, number))
        torque = here["device_torque"]
        facts.append(
            {
                "scenario": name,
                "cost": str(costs[number]),
                "frames": int(status.size),
                "solved": int((status == Status.SOLVED).sum()),
                "with_reserve": int((status == Status.SOLVED_WITH_RESERVE).sum()),
                "without_solution": int((~is_solved(status) & (status != Status.NOT_MEASURED)).sum()),
                "not_analyzed": int((status == Status.NOT_MEASURED).sum()),
                "largest_reserve_nm": float(reserve[largest]),
                "reserve_dof": str(here["dof"].values[largest[1]]) if reserve[largest] > 0 else None,
                # efforts of different costs have different units
                "effort_ratio": effort / base if base > 0 and costs[number] == costs[first] else None,
                "reference": str(answer["scenario"].values[first]),
                _peaks_of(answer): {
                    str(joint): _peak(here["contact_force"].sel(joint=joint).values)
                    for joint in answer.get("joint", xr.DataArray([])).values
                },
                "medial_knee_peaks_n": {
                    str(side): _peak(here["knee_contact_medial"].sel(side=side).values)
                    for side in answer["side"].values
                    if "knee_contact_medial" in answer
                },
                "torque_range_nm": {
                    str(dof): [float(torque.sel(dof=dof).min()), float(torque.sel(dof=dof).max())]
                    for dof in torque["dof"].values[torque.notnull().any("time").values]
                },
            }
        )
    return facts


def _peak(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else None


def scenario_tables(answer: xr.Dataset) -> list[Table]:
    """A line for each scenario: frames, effort, peaks of contact; then the torques of devices, if there are any."""
    facts, unit = scenario_records(answer), _unit(answer)
    peaks, digits = _peaks_in(unit), _digits(unit)
    joints = list(dict.fromkeys(split_side(joint)[0] for joint in facts[0][peaks]))
    counts = {"solved": "solved", "with_reserve": "reserve"}
    if any(fact["without_solution"] for fact in facts):
        counts["without_solution"] = "no solution"
    if any(fact["not_analyzed"] for fact in facts):
        counts["not_analyzed"] = "not analyzed"
    table = pd.DataFrame(facts).set_index("scenario")[[*counts, "effort_ratio"]]
    table.columns = [*counts.values(), "effort"]
    for stem in joints:
        table[stem] = [
            "/".join(
                "-" if peak is None else f"{peak:.{digits}f}"
                for joint, peak in fact[peaks].items()
                if split_side(joint)[0] == stem
            )
            for fact in facts
        ]
    sides = [SIDE_NAMES[side] for side in sides_of(facts[0][peaks]) if side in SIDE_NAMES]
    title = (
        "one motion under each scenario: frames; effort as a share of now; peaks of joint contact force "
        f"[{unit}]{', ' * bool(sides)}{'/'.join(sides)}"
    )
    torques = [
        (fact["scenario"], dof, low, high)
        for fact in facts
        for dof, (low, high) in fact["torque_range_nm"].items()
    ]
    devices = pd.DataFrame(torques, columns=["scenario", "joint", "least [N m]", "greatest [N m]"])
    return [
        show(title, table.reset_index(), ("", *["d"] * len(counts), *[".2f"] * (1 + len(joints)))),
        *([show("torques of devices", devices, ("", "", ".1f", ".1f"))] if torques else []),
    ]


def _scenario_in_short(now: dict[str, Any], scenario: dict[str, Any], unit: str) -> str:
    """Effort, the contact force that changes most, frames with a reserve, and frames without solution beside now's."""
    peaks, digits = _peaks_in(unit), _digits(unit)
    parts = [] if scenario["effort_ratio"] is None else [f"effort {scenario['effort_ratio']:.2f} times"]
    moved = {
        joint: (peak, now[peaks][joint])
        for joint, peak in scenario[peaks].items()
        if peak is not None and now[peaks][joint] is not None
    }
    if moved:
        joint = max(moved, key=lambda name: abs(moved[name][0] - moved[name][1]))
        after, before = (f"{peak:.{digits}f}" for peak in moved[joint])
        if after == before:
            parts.append(f"peak contact forces as now, within {10.0**-digits:.{digits}f} {unit}")
        else:
            parts.append(f"peak contact force of the {sided(joint)} {after} instead of {before} {unit}")
    lacking, lost = scenario["with_reserve"], scenario["without_solution"]
    if lacking:
        parts.append(f"{lacking} of {lacking + scenario['solved']} frames are not possible without a reserve")
    if lost != now["without_solution"]:
        parts.append(f"{lost} frames have no valid solution instead of {now['without_solution']}")
    return f"{scenario['scenario']}: {'; '.join(parts) or 'no change'}."


def scenario_facts(answer: xr.Dataset) -> Rows:
    """Changes under each scenario: effort and contact force, muscle groups, and the largest reserve."""
    now, *others = scenarios = scenario_records(answer)
    yield from (plain_fact(SHORT, _scenario_in_short(now, scenario, _unit(answer))) for scenario in others)
    yield from _judgement(answer)
    yield silent(scenarios, "scenarios")
    force = np.nan_to_num(answer["muscle_force"].transpose("scenario", "time", "muscle").values)
    groups = [
        " ".join((SIDE_NAMES.get(side_of(muscle), ""), group.replace("_", " "))).strip()
        for group, muscle in zip(
            map(str, answer["group"].values), map(str, answer["muscle"].values), strict=True
        )
    ]
    at = {group: [k for k, other in enumerate(groups) if other == group] for group in dict.fromkeys(groups)}
    peaks = {group: force[:, :, columns].sum(axis=2).max(axis=1) for group, columns in at.items()}
    for number, facts in enumerate(others, 1):
        change = {group: values[number] - values[0] for group, values in peaks.items()}
        order = sorted(change, key=lambda group: -abs(change[group]))[:3]
        said = [f"{group} {change[group]:+.0f} N" for group in order if abs(change[group]) >= 1.0]
        least = ""
        if "minimized" in answer and bool(answer["minimized"].isel(scenario=number).notnull().any()):
            alone = answer.isel(scenario=number)
            # A force of one leg is NaN for the other.
            sides = [
                str(side)
                for side in alone["side"].values
                if alone["minimized"].sel(side=side).notnull().any()
            ]
            before, after, together = (
                "/".join(f"{float(alone[name].sel(side=side).mean()):.0f}" for side in sides)
                for name in ("minimized_before", "minimized", "minimized_together")
            )
            of = ", ".join(sides)
            least = (
                f"; the minimized force has the mean {after} N ({of}), without the device {before} N, and {together} N "
                "if muscles served it, too"
            )
        lacks = f"{least}; lacks {facts['largest_reserve_nm']:.1f} N m at {facts['reserve_dof']}"
        changes = f"peak force {', '.join(said) or 'of no group changes by 1 N'}"
        yield plain_fact(
            "changes", f"{facts['scenario']}: {changes}{lacks if facts['with_reserve'] else least}"
        )
    yield plain_fact("note", MOTION_HELD)


OTHER_LEG, ALL = "other_leg", "all_parts"
"""Names of the muscles of the other leg together, and of the sum of all parts, which is the recorded acceleration."""


def grouped(answer: xr.Dataset) -> xr.Dataset:
    """The contributions of function groups of a side, and of the other parts, along a dimension `group`."""
    names = answer["group"].values.astype(str)
    groups = list(dict.fromkeys(names.tolist()))

    def summed(variable: xr.DataArray) -> xr.Variable:
        of_parts = variable.transpose("part", ...)
        values = [of_parts.values[names == name].sum(axis=0) for name in groups]
        return xr.Variable(("group", *of_parts.dims[1:]), values, variable.attrs)

    sums = {name: summed(values) for name, values in answer.data_vars.items() if "part" in values.dims}
    more = {name: answer[name] for name in ("touching", "heading") if name in answer}
    return xr.Dataset(sums | more, {"group": groups} | dict(answer.drop_dims("part").coords), answer.attrs)


def in_stance(answer: xr.Dataset, side: str) -> xr.Dataset:
    """The frames in which the foot of a side touches the ground and all forces are known."""
    known = answer["center_acceleration"].notnull().all(["contact", "group", "axis"])
    return answer.isel(time=np.flatnonzero((answer["touching"].sel(side=side) & known).values))


def _stances(answer: xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Each side whose foot touches the ground in some known frame, with its stance, of function groups."""
    together = grouped(answer)
    for side in map(str, answer["side"].values):
        if (stance := in_stance(together, side)).sizes["time"]:
            yield side, stance


def _by_group(of: xr.DataArray, side: str) -> dict[str, xr.DataArray]:
    """The contributions of the groups of a leg, the other leg's muscles together, the other parts, and their sum."""
    # pages without answers need none
    from musclesolve.dynamics.inverse.induced_accelerations import OTHER_PARTS

    names = [str(name) for name in of["group"].values if name not in OTHER_PARTS]
    shown = {name: of.sel(group=name) for name in names if side_of(name) == side}
    shown[OTHER_LEG] = of.sel(group=[name for name in names if side_of(name) != side]).sum("group")
    shown |= {name: of.sel(group=name) for name in OTHER_PARTS}
    shown[ALL] = of.sum("group")
    return shown


def contribution_records(answer: xr.Dataset) -> list[dict[str, Any]]:
    """Mean contributions of groups and other parts to the acceleration of the center of mass over a stance [m/s2].

    support: upward; braking and propulsion: the part against and along the walking direction, each a mean over the
    whole stance. Three numbers by the contact models of `contact`. Support of the groups, of the muscles of the other
    leg and of the other parts adds up to the support of all parts.
    """
    facts = []
    for side, stance in _stances(answer):
        for group, at in _by_group(along_heading(stance, stance["center_acceleration"]), side).items():
            forward, up = at.sel(axis="x"), at.sel(axis="z")
            parts = {"support": up, "braking": forward.clip(max=0.0), "propulsion": forward.clip(min=0.0)}
            means = {f"{name}_m_s2": part.mean("time").values.tolist() for name, part in parts.items()}
            facts.append({"leg": side, "group": group} | means)
    return facts


def contact_shares(together: xr.Dataset, side: str) -> dict[str, tuple[xr.DataArray, xr.DataArray]]:
    """Shares of groups, as of `grouped`, in each contact force of a leg, own and through dynamics, by its place [N].

    For a joint the component along its contact force, for a knee contact the compression; NaN without a solution.
    """
    places = {}
    for joint in [str(name) for name in together["joint"].values if side_of(str(name)) == side]:
        direct, dynamics = (together[f"contact_{way}"].sel(joint=joint) for way in ("own", "dynamics"))
        whole = direct.sum("group", skipna=False) + dynamics.isel(contact=0).sum("group", skipna=False)
        direction = whole / np.sqrt((whole**2).sum("axis", skipna=False))
        along, through = ((part * direction).sum("axis", skipna=False) for part in (direct, dynamics))
        places[joint] = along, through
        if joint_kind(joint) == "knee" and "knee_own" in together:
            for name in map(str, together["compartment"].values):
                chosen = {"side": side, "compartment": name}
                across, dynamic = (together[f"knee_{way}"].sel(chosen) for way in ("own", "dynamics"))
                places[f"{joint}_{name}"] = across, dynamic
    return places


def contact_records(answer: xr.Dataset) -> list[dict[str, Any]]:
    """Mean contributions of groups and other parts to the contact forces of the joints of a leg over its stance.

    In body weights (`own_bw`), or in newtons (`own_n`) where the weight is not known.

    For a joint the component along its contact force, for a knee contact the compression. own: by tension across the
    joint; dynamics: through accelerations and ground reactions, three numbers by the contact models of `contact`.
    Groups, muscles of the other leg and other parts add up to the contact force, in the knee together with the force of
    ligaments where a contact lifts off.
    """
    weight, unit = float(answer.attrs.get("body_weight_n", 1.0)), short_unit(_unit(answer)).lower()
    facts = []
    for side, stance in _stances(answer):
        for place, (direct, dynamics) in contact_shares(stance, side).items():
            through = _by_group(dynamics, side)
            for group, across in _by_group(direct, side).items():
                shares = {
                    f"own_{unit}": float(across.mean("time")) / weight,
                    f"dynamics_{unit}": (through[group].mean("time").values / weight).tolist(),
                }
                facts.append({"leg": side, "joint": place, "group": group} | shares)
    return facts


def work_records(answer: xr.Dataset) -> list[dict[str, Any]]:
    """Positive and negative work of the function groups of both legs for a stride [J/kg]; none without a whole stride.

    The work of a group is the sum over its muscles.
    """
    mass = float(answer.attrs["subject_mass_kg"])
    work = grouped(answer)[["positive_work", "negative_work"]] / mass
    return [
        {"group": str(name), "positive_j_kg": float(positive), "negative_j_kg": float(negative)}
        for name, positive, negative in zip(
            work["group"].values, work["positive_work"].values, work["negative_work"].values, strict=True
        )
        if np.isfinite(positive)
    ]


def contribution_tables(answer: xr.Dataset) -> list[Table]:
    """Tables for each leg: contributions of groups to the center of mass and contact forces; work of all groups."""
    facts, tables = contribution_records(answer), []
    contacts = " / ".join(map(str, answer["contact"].values))
    for side in dict.fromkeys(fact["leg"] for fact in facts):
        of_leg = [fact for fact in facts if fact["leg"] == side]
        muscles = [fact for fact in of_leg if side_of(fact["group"]) == side]
        muscles.sort(key=lambda muscle: -abs(muscle["support_m_s2"][0]))
        ordered = [*muscles, *(other for other in of_leg if other not in muscles)]
        what = ("support", "braking", "propulsion")
        groups = [fact["group"] for fact in ordered]
        columns = {"group": groups} | {
            name: [" / ".join(f"{value:+z.2f}" for value in fact[f"{name}_m_s2"]) for fact in ordered]
            for name in what
        }
        leg = f"{SIDE_NAMES.get(side, side)} leg in stance"
        title = f"{leg}: mean acceleration of the center of mass (m/s2), contact {contacts}"
        tables.append(show(title, pd.DataFrame(columns), ("", *[".2f"] * len(what))))
        unit, digits = short_unit(_unit(answer)).lower(), _digits(_unit(answer))
        share = {
            (fact["joint"], fact["group"]): f"{fact[f'own_{unit}']:+z.{digits}f} "
            f"{fact[f'dynamics_{unit}'][0]:+z.{digits}f}"
            for fact in contact_records(answer)
            if fact["leg"] == side
        }
        if joints := dict.fromkeys(joint for joint, _ in share):
            columns = {"group": groups} | {
                joint.replace(f"_{side}_", " ").removesuffix(f"_{side}").replace("_", " "): [
                    share[joint, group] for group in groups
                ]
                for joint in joints
            }
            first = answer["contact"].values[0]
            title = f"{leg}: mean contact force ({_unit(answer)}), own and through dynamics ({first})"
            tables.append(show(title, pd.DataFrame(columns), ("", *[".2f"] * len(joints))))
    if work := work_records(answer):
        from musclesolve.dynamics.inverse.induced_accelerations import OTHER_PARTS

        of_leg = pd.DataFrame(work).set_axis(["group", "positive", "negative"], axis=1)
        of_leg["net"] = of_leg["positive"] + of_leg["negative"]
        title = "mechanical work of the muscles in a stride (J/kg)"
        tables.append(show(title, of_leg[~of_leg["group"].isin(OTHER_PARTS)], ("", "+.3f", "+.3f", "+.3f")))
    return tables


def contribution_facts(answer: xr.Dataset) -> Rows:
    """The main contributions, the frames that count, the stances of each leg, the influence of the contact model."""
    contributions = contribution_records(answer)
    for leg in dict.fromkeys(each["leg"] for each in contributions):
        if parts := _most_of_leg(contributions, leg):
            name = SIDE_NAMES.get(leg, leg).capitalize()
            yield plain_fact(SHORT, f"{name} leg, mean over stance: most {', most '.join(parts)}.")
    if not contributions:
        yield plain_fact(SHORT, "No frame in which a foot touches the ground has forces of both legs.")
    yield from _judgement(answer)
    for name, value in {
        "contacts": [str(name) for name in answer["contact"].values],
        "contributions": contributions,
        "contact_forces": contact_records(answer),
        "work": work_records(answer),
    }.items():
        yield silent(value, name)
    frames, solved = int(answer.attrs["frames"]), int(answer.attrs["frames_solved"])
    yield silent(solved, "frames_solved")
    yield plain_fact(
        "frames", f"{solved} of {frames} frames have forces of both legs and count", frames, "frames"
    )
    time = answer["time"].values
    known = answer["center_acceleration"].notnull().all(["contact", "part", "axis"])
    stances = []
    for side in map(str, answer["side"].values):
        runs = true_runs((answer["touching"].sel(side=side) & known).values)
        spans = ", ".join(f"{time[first]:.3f} to {time[stop - 1]:.3f} s" for first, stop in runs)
        stances.append(f"{SIDE_NAMES.get(side, side)} {spans or 'none'}")
    every = "All of it counts, also of stances that the analyzed time cuts"
    yield plain_fact("stance", f"{'; '.join(stances)}. {every}")
    yield plain_fact(
        "contact",
        "rocker: the foot turns forward and backward about the center of pressure; point: it turns freely about "
        "it; foot: it is held flat. Where all agree, the answer does not depend on the contact model",
    )


def _most_of_leg(contributions: list[dict[str, Any]], leg: str) -> list[str]:
    """The groups of a leg that contribute most to support, propulsion and braking."""
    of_leg, parts = (
        [each for each in contributions if each["leg"] == leg and side_of(each["group"]) == leg],
        [],
    )
    for what, sign in (("support", 1.0), ("propulsion", 1.0), ("braking", -1.0)):
        values = {item["group"]: sign * item[f"{what}_m_s2"][0] for item in of_leg}
        named = [
            f"{split_side(group)[0].replace('_', ' ')} ({sign * values[group]:.1f} m/s2)"
            for group in sorted(values, key=lambda group: -values[group])[: MOST_SAID - 1]
            if values[group] >= 0.05
        ]
        if named:
            parts.append(f"{what} by {' and '.join(named)}")
    return parts


STANCE_PERCENT = np.arange(101.0)
"""Where curves over the stance are sampled [%]."""


def over_stance(answer: xr.Dataset) -> xr.Dataset:
    """Contributions of function groups over the stance of each leg, the mean of its complete stances.

    Returns:
        center_acceleration (leg, contact, group, percent, axis) [m/s2], x along the walking direction, with percent of
        the time from the first to the last frame in which the foot touches the ground; stances (leg), how many are
        complete; NaN where none is.
    """
    together = grouped(answer)
    center = along_heading(together, together["center_acceleration"])
    center = center.transpose("contact", "group", "time", "axis")
    time, known = answer["time"].values, center.notnull().all(["contact", "group", "axis"]).values
    curves, counts = [], []
    for side in map(str, answer["side"].values):
        runs = [
            (first, stop)
            for first, stop in true_runs(answer["touching"].sel(side=side).values)
            if first > 0 and stop < len(time) and known[first:stop].all() and stop - first > 3
        ]
        sampled = []
        for first, stop in runs:
            from scipy.interpolate import CubicSpline

            at = time[first] + 0.01 * STANCE_PERCENT * (time[stop - 1] - time[first])
            sampled.append(CubicSpline(time[first:stop], center.values[:, :, first:stop], axis=2)(at))
        empty = np.full((*center.shape[:2], len(STANCE_PERCENT), 3), np.nan)
        curves.append(np.mean(sampled, axis=0) if sampled else empty)
        counts.append(len(runs))
    about = {"units": "m/s2", "long_name": "share in the acceleration of the center of mass, mean of stances"}
    dims = ("leg", "contact", "group", "percent", "axis")
    return xr.Dataset(
        {"center_acceleration": (dims, np.stack(curves), about), "stances": (("leg",), counts)},
        {
            "leg": answer["side"].values,
            "contact": answer["contact"].values,
            "group": together["group"].values,
            "percent": ("percent", STANCE_PERCENT, {"units": "% of stance"}),
            "axis": answer["axis"].values,
        },
        answer.attrs,
    )


def stance_csv(answer: xr.Dataset) -> bytes:
    """The curves of `over_stance` as comma-separated values, a row for leg, contact, group and percent."""
    of = over_stance(answer)
    curves = of["center_acceleration"].isel(leg=np.flatnonzero(of["stances"])).to_dataset("axis")
    table = curves.to_dataframe(["leg", "contact", "group", "percent"]).add_suffix("_m_s2")
    return frame_csv(table.reset_index())


OF_QUESTION: dict[str, tuple[Callable[[xr.Dataset], Rows], Callable[[xr.Dataset], list[Table]]]] = {
    "contributions": (contribution_facts, contribution_tables),
    "margins": (margin_facts, margin_tables),
    "what_if": (scenario_facts, scenario_tables),
}
"""Question -> the functions that make the facts and the tables of its answer."""


def answer_facts(answer: xr.Dataset, question: str) -> list[Fact]:
    """The facts of the answer to a question, those for each leg or scenario in short first."""
    return list(OF_QUESTION[question][0](answer))


def answer_tables(answer: xr.Dataset, question: str) -> list[Table]:
    """The tables of the answer to a question."""
    return OF_QUESTION[question][1](answer)


def in_short(facts: Iterable[Fact]) -> str:
    """The answer to a question in a few sentences."""
    return " ".join(each.sentence for each in facts if each.subject == SHORT)

"""Figure 6.20: forces of eight function groups, and what the text says of when they act."""

from __future__ import annotations

import numpy as np

from benchmarks.thesis_figures import drawing
from benchmarks.thesis_figures.comparison import Finding
from benchmarks.thesis_figures.drawing import COLORS, panels, when
from benchmarks.thesis_figures.muscle_names import ACTIVE, groups_of_source, over_cycle, total
from benchmarks.thesis_figures.study import Study
from musclesolve._util.arrays import Array
from musclesolve.plotting.page.page_style import SMALL
from musclesolve.plotting.page.sheet import heading


def function_groups(study: Study) -> Finding:
    """Figure 6.20: eight groups, their sum and their members."""
    series, groups = over_cycle(study, "muscle_force"), groups_of_source()["group"]
    figure, axes = panels(study, "Muscle forces by function group; hatched: with a reserve", 4, 2, 0.98)
    for number, (panel, group) in enumerate(zip(axes.flat, groups.values(), strict=True)):
        panel.plot(study.percent, total(series, group["muscles"]), color="black", linewidth=1.5, label="sum")
        for color, name in zip(COLORS, group["muscles"], strict=False):
            panel.plot(
                study.percent, total(series, [name]), color=color, linewidth=0.9, label=name.replace("_", " ")
            )
        panel.set_ylim(bottom=0.0, top=1.45 * panel.get_ylim()[1])
        drawing.mark_gaps(panel, study, study.reserved)
        heading(panel, group["panel"])
        drawing.over_cycle(panel, study, "[N]", labeled=number >= 6)
        panel.legend(fontsize=SMALL - 1, framealpha=0.85, edgecolor="none", ncols=2, loc="upper right")
    peaks = ", ".join(
        f"{group['panel'].partition(' ')[2]} {when(total(series, group['muscles']), study.percent)}"
        for group in groups.values()
    )
    every = np.nansum(list(series.values()), axis=0)
    held, missing = claims(study.percent, over_cycle(study, "activation"))
    return Finding(
        figure,
        f"Mean force of all muscles {every[study.stance].mean():.0f} N in stance, {every[~study.stance].mean():.0f} N "
        f"in swing. Peaks [N]: {peaks}. Of {held + len(missing)} statements of the text on when a group acts "
        f"{held} hold (above a fifth of its own peak in that window)"
        + (f"; not: {'; '.join(missing)}." if missing else "."),
    )


def claims(percent: Array, series: dict[str, Array]) -> tuple[int, list[str]]:
    """How many statements of the text hold of activations (K,) over the cycle [%], and those that do not."""
    held, missing = 0, []
    for claim in groups_of_source()["claim"]:
        found = total(series, claim["muscles"])
        inside = (percent >= claim["window"][0]) & (percent <= claim["window"][1])
        if not np.isfinite(found[inside]).any():  # a part of the cycle that was not recorded
            continue
        share = float(np.nanmax(found[inside]) / np.nanmax(found))
        if (share > ACTIVE) == claim["active"]:
            held += 1
        else:
            missing.append(f"{claim['what']} ({100 * share:.0f} % of their peak)")
    return held, missing

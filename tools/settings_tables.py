"""Write tables of settings and registries into docs/, between `<!-- settings: NAME -->` and `<!-- end -->`.

    python tools/settings_tables.py            writes them
    python tools/settings_tables.py --check    ends with 1 where one is not as the settings are

NAME is a class of settings, of `musclesolve.settings`, or a name of `REGISTRIES`. It writes every table of
a file, and the keys of a table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import musclesolve as ms
from musclesolve.constants import USUAL_COST
from musclesolve.laboratory.recording import file_settings as other_files
from musclesolve.laboratory.recording import trial_settings as trial
from musclesolve.laboratory.recording.trial_settings import MOVEMENTS
from musclesolve.laboratory.results.movement import Movement
from musclesolve.laboratory.results.plausibility import in_vivo, measured
from musclesolve.tables.settings import Setting, settings_of, tables_of

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"(<!-- settings: ([\w ]+) -->\n).*?(<!-- end -->)", re.S)
HEAD = "| key | default | meaning |\n| --- | --- | --- |\n"
ELSEWHERE = {
    "uncertainty": "standard deviations, a key for each of the [sources of error](uncertainty.md#sources-of-error)"
}
"""Tables of a trial file whose keys another page explains, and what its own page says instead."""


def row(name: str, setting: Setting) -> str:
    """One line of a table: key or option, default, sentence with choices, words and range."""
    default = (
        "required"
        if setting.required
        else ""
        if setting.default in (None, "", {}, ())
        else f"`{shown(setting.default)}`"
    )
    text = setting.about
    if setting.choices:
        text += ": " + ", ".join(f"`{choice}`" for choice in setting.choices)
    if setting.words:
        text += "; a number or " + ", ".join(f"`{word}`" for word in setting.words)
    if setting.limits:
        limits = re.sub(r"at least (\S+) and at most (\S+)", r"\1 to \2", setting.limits)
        text += f" ({limits})"
    return f"| `{name}` | {default} | {text.replace('|', chr(92) + '|')} |\n"


def shown(value: object) -> str:
    """A default as a file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return " ".join(map(shown, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def of_both_sides(key: str, settings: Mapping[str, Setting]) -> bool:
    """Whether a key of the right side has a key of the left side with the same meaning."""
    left = settings.get(f"{key[:-2]}_l") if key.endswith("_r") else None
    return left is not None and left.about == settings[key].about.replace("right", "left")


def table(settings: Mapping[str, Setting]) -> str:
    """The table of some settings; keys that differ by the side alone share a line."""
    lines = ""
    for key, setting in settings.items():
        if key.endswith("_l") and of_both_sides(f"{key[:-2]}_r", settings):
            continue
        line = row(key, setting)
        if of_both_sides(key, settings):
            line = line.replace(f"`{key}`", f"`{key}`, `{key[:-2]}_l`", 1).replace("right", "right or left")
        lines += line
    return HEAD + lines


def costs() -> str:
    """Return the table of the costs by name."""
    lines = "".join(
        f"| `{name}` | {cost.formula.replace('|', chr(92) + '|')} | {', '.join(f'`{field}`' for field in cost.data)} |"
        f" {', '.join(f'`{option}`' for option in cost.options)} | {cost.source} |\n"
        for name, cost in ms.costs().items()
    )
    return f"| name | minimizes | fields of the problem that it needs | options | source |\n{'| --- ' * 5}|\n{lines}"


def uses_of_costs() -> str:
    """Return the table of the costs that are for something, the usual one first."""
    usable = {name: cost.use for name, cost in ms.costs().items() if cost.use}
    lines = "".join(f"| {usable[name]} | `{name}` |\n" for name in sorted(usable, key=USUAL_COST.__ne__))
    return f"| you want | take |\n{'| --- ' * 2}|\n{lines}"


def solvers() -> str:
    """Return the table of the solvers by name."""
    lines = "".join(
        f"| `{name}` | {solver.summary} | `{solver.install}` |\n" for name, solver in ms.solvers().items()
    )
    return f"| name | method | installed by |\n{'| --- ' * 3}|\n{lines}"


def statuses() -> str:
    """Return the table of the statuses of a frame."""
    lines = "".join(f"| `{status.name}` | {status.sentence} | {status.remedy} |\n" for status in ms.Status)
    return f"| status | meaning | what to do |\n{'| --- ' * 3}|\n{lines}"


def sets_of_markers() -> str:
    """Return the table of the marker sets by name."""
    lines = "".join(
        f"| `{name}` | {len(one.markers)} | {one.description} |\n"
        for name, one in ms.laboratory.marker_sets().items()
    )
    return f"| set | markers | description |\n{'| --- ' * 3}|\n{lines}"


def contact_forces() -> str:
    """Return the table of the peaks of contact forces that were measured, by movement and joint."""
    lines, ranges = "", in_vivo()
    for movement in filter(ranges.__contains__, MOVEMENTS):
        for joint, entries in ranges[movement].items():
            for entry in entries:
                fastest = entry.get("up_to_m_s", 99.0)
                peaks = measured(joint, Movement(movement, speed=fastest))
                speed = f"{fastest:g} m/s" if "up_to_m_s" in entry else ""
                speed = "by speed, see below" if "people" in entry else speed
                sources = ", ".join(ranges["sources"][key] for key in entry["sources"])
                lines += f"| {MOVEMENTS[movement]} | {joint} | {peaks.words} | {speed} | {sources} |\n"
    return f"| movement | joint | measured | up to | sources |\n{'| --- ' * 5}|\n{lines}"


REGISTRIES = {
    "costs": costs,
    "uses of costs": uses_of_costs,
    "solvers": solvers,
    "statuses": statuses,
    "marker sets": sets_of_markers,
    "measured contact forces": contact_forces,
}


def tables(name: str) -> str:
    """Return the table that stands in docs for a name."""
    if name in REGISTRIES:
        return REGISTRIES[name]()
    kind = getattr(trial, name, None) or getattr(other_files, name)
    if settings_of(kind):
        return table(settings_of(kind))
    parts = [
        f"`[{at}]`: {ELSEWHERE[at]}.\n"
        if at in ELSEWHERE
        else f"`{'[[' if each.one_per else '['}{at}{']]' if each.one_per else ']'}`:\n\n{table(each.settings)}"
        for at, each in tables_of(kind).items()
        if each.settings
    ]
    return "\n".join(parts)


def written(text: str) -> str:
    """A page of docs with its tables as the settings are."""
    return BLOCK.sub(lambda block: f"{block[1]}\n{tables(block[2])}\n{block[3]}", text)


def main(words: list[str]) -> int:
    """Write the tables, or check them."""
    wrong = []
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (new := written(text)) != text:
            wrong.append(page.name)
            if "--check" not in words:
                page.write_text(new, encoding="utf-8")
    print(f"{'differs' if '--check' in words else 'written'}: {', '.join(wrong) or 'none'}")
    return 1 if wrong and "--check" in words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

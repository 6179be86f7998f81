"""Keys of the trial file in the words of the page."""

import re

from musclesolve._util.messages import capitalized
from musclesolve._util.sides import sided
from musclesolve.laboratory.recording.trial_settings import ModelSettings, RecordedSettings
from musclesolve.tables.settings import Setting, tables_of

NAMES = {"emg": "EMG", "mapping": "Markers of landmarks"}


def title_of(key: str, setting: Setting | None = None) -> str:
    """A key in words, with the unit of its setting: "stature_m" is "Stature [m]", "toe_r" is "Right toe"."""
    if setting is None or not setting.unit:
        return NAMES.get(key, capitalized(sided(key)))
    words = key.split("_")
    return f"{' '.join(words[:-1] if len(words) > 1 else words).capitalize()} [{setting.unit}]"


OF_KEY = re.compile(r"\b(\w+) (?:in|of) \[{1,2}(\w+)[\w.]*\]{1,2}|\[{1,2}(\w+)[\w.]*\]{1,2}(?: (\w+))?")
"""A key of a trial file with its table, or a table: "strength in [muscles]", "[muscles] strength", "[emg.channels]"."""


def by_click(text: str) -> str:
    """Say an error or a remedy for a page, where values are entered at their fields and not as lines of a file."""
    known = {**tables_of(ModelSettings), **tables_of(RecordedSettings)}

    def words(match: re.Match[str]) -> str:
        key, table = (match[1], match[2]) if match[2] else (match[4], match[3])
        if table not in known:  # a unit in brackets
            return match[0]
        rule = known[table].settings.get(key or "")
        if rule is not None:
            return f"“{title_of(table)}: {title_of(key, rule)}”"
        before, after = (f"{key} in ", "") if match[2] else ("", f" {key}" if key else "")
        return f"{before}“{title_of(table)}”{after}"

    return OF_KEY.sub(words, re.sub("add a line .*", "enter it at its field", text))

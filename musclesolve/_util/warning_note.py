"""Notes that are warnings: sentences among the findings of a trial."""

from __future__ import annotations

REMARK = "remark"


class WarningNote(str):
    """A note on a reason why a result is less certain; code and remedy of its finding, "" for the usual remedy."""

    code: str
    remedy: str

    def __new__(cls, text: str, code: str = REMARK, remedy: str = "") -> WarningNote:
        """Make the note of a sentence."""
        note = super().__new__(cls, text)
        note.code, note.remedy = code, remedy
        return note

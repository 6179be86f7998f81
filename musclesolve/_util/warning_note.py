"""Notes that are warnings: sentences that stand among the findings of a trial."""

from __future__ import annotations

REMARK = "remark"


class WarningNote(str):
    """A sentence among notes that makes a result less certain; code: the code of its finding."""

    code: str

    def __new__(cls, text: str, code: str = REMARK) -> WarningNote:
        """Make the note of a sentence."""
        note = super().__new__(cls, text)
        note.code = code
        return note

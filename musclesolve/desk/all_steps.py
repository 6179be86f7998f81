"""The steps of the desk, in their order."""

from __future__ import annotations

from musclesolve.desk.steps.files_step import FILES
from musclesolve.desk.steps.subject_step import SUBJECT

STEPS = (FILES, SUBJECT)

"""The steps of the desk, in their order."""

from __future__ import annotations

from musclesolve.desk.steps.check_step import CHECK
from musclesolve.desk.steps.events_step import EVENTS
from musclesolve.desk.steps.files_step import FILES
from musclesolve.desk.steps.markers_step import MARKERS
from musclesolve.desk.steps.plates_step import PLATES
from musclesolve.desk.steps.run_step import RUN
from musclesolve.desk.steps.subject_step import SUBJECT

STEPS = (FILES, SUBJECT, MARKERS, PLATES, EVENTS, CHECK, RUN)

"""The steps of the desk, in their order."""

from musclesolve.desk.steps.check_step import CHECK
from musclesolve.desk.steps.compare_step import COMPARE
from musclesolve.desk.steps.emg_step import EMG
from musclesolve.desk.steps.events_step import EVENTS
from musclesolve.desk.steps.export_step import EXPORT
from musclesolve.desk.steps.files_step import FILES
from musclesolve.desk.steps.markers_step import MARKERS
from musclesolve.desk.steps.plates_step import PLATES
from musclesolve.desk.steps.questions_step import QUESTIONS
from musclesolve.desk.steps.result_step import RESULT
from musclesolve.desk.steps.study_step import STUDY
from musclesolve.desk.steps.subject_step import SUBJECT
from musclesolve.desk.steps.watch_step import WATCH

STEPS = (
    FILES,
    SUBJECT,
    MARKERS,
    PLATES,
    EVENTS,
    EMG,
    CHECK,
    RESULT,
    QUESTIONS,
    COMPARE,
    EXPORT,
    WATCH,
    STUDY,
)

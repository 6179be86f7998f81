"""View of a result or an answer in a notebook: summary, main curves and numbers, variables."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr
from markupsafe import Markup
from matplotlib.figure import Figure

from musclesolve._util.sides import split_side
from musclesolve.errors import InputError
from musclesolve.laboratory.plotting.page.page_style import PageStyle, file_content, page_style
from musclesolve.laboratory.plotting.result.joint_figures import joint_moments
from musclesolve.laboratory.plotting.study.comparison_figures import (
    average_angles_and_moments,
    compare_group_forces,
)
from musclesolve.laboratory.report.content import trial_sections
from musclesolve.laboratory.report.content.pieces import Absent, PageTable, caption, figures_of, from_rich
from musclesolve.laboratory.report.inputs import (
    ANSWERS,
    AVERAGE,
    COMPARISON,
    DAMAGE,
    KIND_NAMES,
    RESULT,
    UNCERTAINTY,
    TrialFiles,
    kind_of,
    question_of,
    reason,
)
from musclesolve.laboratory.report.rendering import rendered, template
from musclesolve.laboratory.report.sections import Headline, headline
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.result_quantities import identity
from musclesolve.laboratory.results.statements import Statement, chosen
from musclesolve.laboratory.results.tables.average_tables import average_table
from musclesolve.laboratory.results.tables.comparison_tables import cost_tables
from musclesolve.laboratory.results.tables.question_tables import judgement_document

STYLE = PageStyle(width_mm=100.0, font_pt=7.0, titled=False, file_format="svg")
"""Style of figures: two side by side in a cell of a wide window, one on a telephone."""
WIDE = PageStyle(width_mm=160.0, font_pt=7.5, titled=False, file_format="svg")
"""Style of the figures of answers, one below the other."""
WANTED = {
    RESULT: ("function_groups", "joint_moments"),
    UNCERTAINTY: ("uncertainty_contact_forces", "joint_moments"),
}
"""Names of the figures of a result in a view."""
Draw = Callable[[], Figure]


@dataclass(frozen=True)
class View:
    """Content of a view."""

    title: str
    headline: Headline | None
    figures: Sequence[tuple[str, Draw]]  # caption and drawing function
    tables: Callable[[], list[PageTable]]
    said: Sequence[Statement] = ()
    answer: Mapping[str, Any] = field(default_factory=dict)  # its sentences, remarks and judgement


def result_view(result: xr.Dataset, table: str) -> str | None:
    """The view of a result, an uncertainty, a comparison, an average or an answer as HTML; None of any other dataset.

    Args:
        result: a Dataset, also after any operation on it.
        table: HTML view of xarray.
    """
    try:
        kind = question_of(result) or kind_of(result)
    except InputError:
        return None
    if not kind or not all(index.is_unique for index in result.indexes.values()):
        return None
    make = {AVERAGE: _average, COMPARISON: _comparison}.get(kind, partial(_result, kind=kind))
    if kind in ANSWERS:
        make = partial(_answer, question=kind)
    try:
        view = make(result)
    except DAMAGE:  # a part of a result, without variables or names that every view needs
        return None
    absent, figures, tables = list[str](), list[tuple[str, Markup]](), list[PageTable]()
    for label, draw in view.figures:
        try:
            figures.append((label, drawn(draw, label, WIDE if view.answer else STYLE)))
        except DAMAGE as error:
            absent.append(f"{label} {reason(error)}")
    try:
        tables = view.tables()
    except DAMAGE as error:
        absent.append(reason(error))
    return rendered(
        "notebook.html",
        kind=KIND_NAMES[kind],
        title=view.title,
        headline=view.headline,
        said=view.said,
        answer=view.answer,
        figures=figures,
        tables=tables,
        absent=absent,
        count=len(result.data_vars),
        xarray=Markup(table),
        style=Markup(template("notebook.css")),
    )


def _result(result: xr.Dataset, kind: str) -> View:
    """The view of a result: verdicts, forces of function groups or their uncertainty, moments, contact peaks."""
    if "cost" in result.coords:  # one cost of a comparison
        result = result.assign_attrs(cost=str(result["cost"].values))
    trial = TrialFiles(result, kind, Path(), uncertainty=result if kind == UNCERTAINTY else None)
    top = headline(trial.facts, trial.said)
    known = figures_of(result, kind) | {"joint_moments": joint_moments}
    wanted = [name for name in WANTED[kind] if name in known] if result.sizes["time"] > 1 else []
    figures = [(caption(name, known[name]), partial(known[name], result)) for name in wanted]
    if kind == UNCERTAINTY:
        return View(identity(result), top, figures, lambda: _tables(trial, trial_sections.uncertainty))
    said = chosen(trial.said, "")
    return View(identity(result), top, figures, lambda: _tables(trial, trial_sections.contact), said)


def _tables(trial: TrialFiles, section: Callable[[TrialFiles], dict[str, Any]]) -> list[PageTable]:
    """The first table of a section without its note, and the others folded; none where the section is absent."""
    try:
        first, *others = section(trial)["tables"]
    except Absent:
        return []
    return [replace(first, note=""), *(replace(view, compact=True) for view in others)]


def _comparison(result: xr.Dataset) -> View:
    """Forces of the function groups under every cost, and the tables of frames and joints."""
    figures = [
        (caption("", draw), partial(draw, result))
        for draw in (partial(compare_group_forces, side=side) for side in frames.sides(result))
    ]
    return View(
        identity(result), None, figures, lambda: [from_rich(table) for table in cost_tables(result)[:3]]
    )


def _average(result: xr.Dataset) -> View:
    """Mean angles and moments of the legs, and the measures of the strides."""
    if "side" not in result.dims:  # cycles of one leg
        side = str(result.attrs["side"])
        dims = [dim for dim in ("dof", "muscle", "joint") if dim in result.dims]
        stems = {dim: [split_side(str(name))[0] for name in result[dim].values] for dim in dims}
        result = result.assign_coords(stems).expand_dims(side=[side])
    draw = average_angles_and_moments
    figures = [(caption("", draw), partial(draw, result))]
    return View(identity(result), None, figures, lambda: [from_rich(average_table(result))])


def _answer(data: xr.Dataset, question: str) -> View:
    """The answer in sentences with the verdict on the trial, then the figures and tables of its command."""
    try:
        content: dict[str, Any] = trial_sections.answer(data, question)
    except Absent as why:
        return View(identity(data), None, [], list, answer={"answer": str(why), "verdict": "", "notes": []})
    figures = [
        (caption(name, draw), partial(draw, data)) for name, draw in figures_of(data, question).items()
    ]
    content |= judgement_document(data)
    return View(identity(data), None, figures, lambda: content["tables"], answer=content)


def drawn(draw: Draw, label: str, style: PageStyle) -> Markup:
    """A figure as an image in the page."""
    with page_style(style):
        content = base64.b64encode(file_content(draw())).decode("ascii")
    return Markup('<img alt="{}" src="data:image/svg+xml;base64,{}">').format(label, content)

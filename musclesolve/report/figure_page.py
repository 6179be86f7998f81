"""Pages for the desk: the figures of a result or a comparison by kind, the answer to a question."""

from pathlib import Path

from musclesolve.plotting.figure_names import COMPARISON, FIGURE_NAMES, RESULTS, UNCERTAINTY
from musclesolve.report.content import trial_sections
from musclesolve.report.content.pieces import Absent
from musclesolve.report.figures.figure_choice import Picture, drawn, figures_of
from musclesolve.report.inputs import read_inputs
from musclesolve.report.rendering import whole_page
from musclesolve.report.sections import pictures_of
from musclesolve.results.files.result_netcdf import read_result


def figure_page(result: Path) -> str:
    """The figures of a result and of its uncertainty, where that lies beside it, as one page for a browser."""
    beside = result.with_name(UNCERTAINTY)
    (trial, *_) = read_inputs([result, *([beside] if beside.is_file() else [])]).trials
    kinds: dict[str, list[Picture]] = {figure.tab: [] for figure in FIGURE_NAMES.values() if figure.tab}
    for shown in pictures_of(trial, "t1"):
        kinds[FIGURE_NAMES[shown.name].tab].append(shown)
    full = {kind: own for kind, own in kinds.items() if own}
    return whole_page("figures.html", heading="Figures of the result", kinds=full)


def answer_page(path: Path, question: str) -> str:
    """The answer to a question about a trial: sentences, figures and tables, as in the section of a report."""
    data, pictures = read_result(path), list[Picture]()
    try:
        content = dict(trial_sections.answer(data, question))
    except Absent as absent:
        content = {"answer": str(absent)}
    else:
        for name, draw in figures_of(data, question).items():
            pictures.append(drawn(name, name, draw, data))
    kinds = {"Figures": pictures} if pictures else {}
    return whole_page("figures.html", heading="Answer", kinds=kinds, **content)


def comparison_page(path: Path) -> str:
    """Figures of a comparison of costs (comparison.nc) or of results (compared.nc), a page for each leg and figure."""
    data, kinds = read_result(path), dict[str, list[Picture]]()
    for name, draw in figures_of(data, COMPARISON if "cost" in data.dims else RESULTS).items():
        tab = FIGURE_NAMES[name.rpartition("_")[0]].tab
        kinds.setdefault(tab, []).append(drawn(name, name, draw, data))
    return whole_page("figures.html", heading="Figures of the comparison", kinds=kinds)

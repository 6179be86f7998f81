"""Pages of any width: text of the size that was asked for, within the page, and never on other text."""

from __future__ import annotations

import gc
import weakref

import pytest
from drawn_texts import drawn_texts, outside, overprinted
from refusals import refused
from report_inputs import with_emg
from synthetic_result import result as every_muscle
from synthetic_result import set_status, with_cutoffs, with_fascicles, with_tendons, with_troubles
from thorough import some

import musclesolve as ms
from musclesolve.laboratory.plotting import page_style
from musclesolve.laboratory.plotting.figure_sets import FIGURES
from musclesolve.laboratory.plotting.page.page_style import PageStyle, broken, current_style, text_width
from musclesolve.laboratory.plotting.page.sheet import page

COLUMN, PAGE = PageStyle(width_mm=85.0, font_pt=7.0), PageStyle(width_mm=180.0, font_pt=9.0)


@pytest.fixture(scope="module")
def troubled():
    """Reserves, frames without a solution and further cycles at once, cut-offs, and a long name."""
    data = with_emg(with_fascicles(with_tendons(with_cutoffs(with_troubles(every_muscle(n_frames=251))))))
    data.attrs |= {"heel_strike_times_r": [0.2, 1.2, 2.2], "heel_strike_times_l": [-0.3, 0.7, 1.7]}
    data.attrs |= {"subject": "S01 of the second study", "trial_file": "walk.toml", "cost": "stress_cubed"}
    set_status(data, ms.Status.SOLVED_WITH_RESERVE, slice(100, 126), 0)
    set_status(data, ms.Status.INFEASIBLE, slice(150, 160))
    return data.sel(time=slice(0.4, 1.6))


@pytest.mark.in_part(3)
@pytest.mark.parametrize(
    ("name", "style"), some([(name, style) for style in (COLUMN, PageStyle()) for name in FIGURES], 5)
)
def test_text_has_its_size_and_its_place(troubled, name, style):
    with page_style(style):
        figure = FIGURES[name](troubled)
    assert 25.4 * figure.get_figwidth() == pytest.approx(style.width_mm)
    drawn = drawn_texts(figure)
    assert {each.points for each in drawn} <= {style.font_pt, style.note_pt, style.title_pt}
    assert not outside(figure, drawn)
    assert not overprinted(drawn)


def test_the_legend_of_the_worst_case_has_rows_that_fit(troubled):
    with page_style(COLUMN):
        (legend,) = FIGURES["contact_forces"](troubled).legends
    entries = [text.get_text() for text in legend.get_texts()]
    assert {"with reserve", "further cycle", "no valid solution", "foot on the ground"} < set(entries)


@pytest.mark.thorough
def test_a_column_shows_the_strongest_muscle_of_each_group_unless_others_are_chosen():
    data = every_muscle()
    groups = dict(zip(data["muscle"].values.tolist(), data["group"].values.tolist(), strict=True))
    data["muscle_force"].loc[{"muscle": "gastrocnemius_medial_l"}] = 9e3

    def shown(*names: str, width: float = 85.0) -> tuple[list[str], list[str]]:
        with page_style(width_mm=width, font_pt=7.0, muscles=names):
            figure = FIGURES["muscle_forces"](data)
        panels = [axes for axes in figure.axes if axes.get_visible()]
        titles = [axes.get_title(loc="left").replace("\n", " ") for axes in panels]
        return titles, [text.get_text().replace("\n", " ") for text in figure.texts]

    titles, texts = shown()
    assert (
        len(titles) == len(set(groups.values()))
        and "gastrocnemius medial" in titles
        and "soleus" not in titles
    )
    assert any("of 43 muscles: of each group the one with the greatest force" in text for text in texts)
    assert len(shown(width=210.0)[0]) == 43
    assert set(shown("soleus_r", "hamstrings", width=210.0)[0]) == {"soleus"} | {
        name[:-2].replace("_", " ") for name, group in groups.items() if group == "hamstrings"
    }
    with refused("unknown_name", "soleos"):
        shown("soleos")


@pytest.mark.thorough
def test_panels_below_each_other_instead_of_too_narrow(troubled):
    def columns(style):
        with page_style(style):
            panels = FIGURES["activations"](troubled).axes
        return len({round(float(panel.get_position().x0), 3) for panel in panels})

    assert [columns(style) for style in (PageStyle(120.0, 9.0), COLUMN)] == [3, 2]


def test_the_style_is_in_force_only_within_its_context():
    with page_style(COLUMN):
        assert current_style() is COLUMN
    assert current_style() == PageStyle()


def test_a_page_that_nothing_refers_to_takes_no_memory():
    figure, panels = page(every_muscle(), "released", 2, 2)
    lines = panels[0, 0].plot([0.0, 1.0], [0.0, 1.0])
    figure.add_legend({"a": lines[0]})
    drawn_texts(figure)
    known = weakref.ref(figure)
    del figure, panels, lines
    gc.collect()
    assert known() is None


def test_no_title_where_the_paper_has_a_caption_and_no_note_on_the_legend(troubled):
    with page_style(PageStyle(85.0, 7.0, titled=False)):
        texts = [each.text for each in drawn_texts(FIGURES["contact_forces"](troubled))]
    assert not any("S01" in text or text == "Joint contact force, magnitude" for text in texts)
    with page_style(PageStyle(titled=False)):
        assert not overprinted(drawn_texts(FIGURES["clinical_sheet"](troubled)))


@pytest.mark.parametrize("wrong", [{"width_mm": 8.0}, {"width_mm": float("nan")}, {"font_pt": 100.0}])
def test_a_width_or_size_that_no_page_has_is_refused(wrong):
    with refused("bad_number"):
        PageStyle(**wrong)


def test_an_unknown_format_is_refused():
    with refused("unknown_name", "gif"):
        PageStyle(file_format="gif")


def test_lines_are_broken_between_words_and_before_no_bracket():
    assert broken("hip flexion (+)   extension (-)", 8.0, 9.0) == "hip flexion (+)   extension (-)"
    width = text_width("hip flexion (+)", 8.0)
    assert broken("hip flexion (+)   extension (-)", 8.0, 1.01 * width) == "hip flexion (+)\nextension (-)"
    assert broken("gluteus maximus", 8.0, 0.1) == "gluteus\nmaximus"


def test_numbers_and_grid_of_a_panel_are_where_the_ticks_are():
    figure, panels = page(every_muscle(), "numbers", 1, 1)
    panels[0, 0].set(xlim=(0.0, 4.0), ylim=(10.0, 20.0))
    drawn = {each.text: each.box for each in drawn_texts(figure)}
    (left, bottom), (right, _) = panels[0, 0].bbox.get_points()
    assert (drawn["2.0"].x0 + drawn["2.0"].x1) / 2 == pytest.approx((left + right) / 2, abs=2.0)
    assert drawn["2.0"].y1 < bottom and drawn["12"].x1 < left


@pytest.mark.parametrize("style", [COLUMN, PAGE, PageStyle()], ids=["column", "page", "A4"])
def test_the_label_of_a_low_page_is_on_it(style):
    one_group = every_muscle(n_frames=31)
    one_group["group"] = one_group["group"].copy(data=["knee_flexors"] * one_group.sizes["muscle"])
    with page_style(style):
        figure = FIGURES["function_groups"](one_group)
    drawn = drawn_texts(figure)
    assert not outside(figure, drawn)
    assert not overprinted(drawn)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("width", [85.0, 119.0, 121.0, 150.0, 210.0])
def test_numbers_and_notes_of_the_knee_stay_at_their_panel(troubled, width):
    """Peaks within the panel, numbers of the axes of neighbors apart; below each other on a narrow page."""
    with page_style(PageStyle(width, 7.0 if width < 100.0 else 9.0)):
        figure = FIGURES["knee_contact_forces"](troubled)
    drawn = drawn_texts(figure)
    boxes = [panel.get_window_extent() for panel in figure.axes]
    assert len({round(box.x0) for box in boxes}) == (1 if width < 120.0 else 3)
    peaks = [each.box for each in drawn if each.text.startswith("peak")]
    assert len(peaks) == 3
    for peak in peaks:
        assert any(box.x0 - 1.0 <= peak.x0 and peak.x1 <= box.x1 + 1.0 for box in boxes), width
    assert not overprinted(drawn, slack=0.0)

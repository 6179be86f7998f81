"""Figures: one function each, which takes a result and returns a matplotlib figure.

    from musclesolve.laboratory.plotting import muscle_forces, page_style

    with page_style(width_mm=85, font_pt=7):      # a column of a journal; A4 without it
        figure = muscle_forces(result.sel(muscle=["soleus_r", "soleus_l"]))
        figure.savefig("soleus.pdf")

`save_figures` draws all figures of a result into a folder. Muscle pages of a column show a muscle of each group, all
others every muscle; `page_style(muscles=("soleus", "hamstrings"))` chooses. Every figure of figures.toml is a function
by its name.
"""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__, "figure_names")

from . import plotting as plotting

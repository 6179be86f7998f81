"""Everything built on a finished run: comparison, averages, sensitivity, uncertainty, many trials, benchmark."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

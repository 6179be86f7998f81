"""Muscle and joint forces while the subject moves: frame by frame, from past samples alone."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

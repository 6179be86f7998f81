"""Muscles as CasADi functions: from a pose to lengths, moment arms, forces and moments, with exact derivatives."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Recordings with known truth: strides that satisfy the equations of motion, and files made from them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

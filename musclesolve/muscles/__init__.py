"""Muscles on a skeleton: lengths, rates, moment arms, Hill capacity and passive force."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

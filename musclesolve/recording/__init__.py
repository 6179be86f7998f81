"""From files to a checked trial: readers and writers, the trial file, marker mapping, checks on incoming data."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

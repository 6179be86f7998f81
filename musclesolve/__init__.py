"""musclesolve: from recorded motion and ground forces to the force of every muscle of the legs.

Names are imported when they are first used, so that `import musclesolve` and the command line start at once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

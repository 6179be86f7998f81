"""musclesolve: from recorded motion and ground forces to the force of every muscle of the legs.

Names are imported when they are first used, so that `import musclesolve` and the command line start at once. Beside the
names of a whole analysis there are `sharing`, `dynamics`, `muscles`, `trajectory`, `symbolic`, `models`, `tables`,
`laboratory`, `studies`, `apps`, `plotting` and `data`, listed in docs/api.md.
"""

from musclesolve._util import lazy_names

__getattr__, __dir__, __all__ = lazy_names.attach_stub(__name__, __file__)

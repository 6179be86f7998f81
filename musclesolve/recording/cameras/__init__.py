"""From pixels to points: the direct linear transformation, calibrated on known points, solved for unknown ones.

Stands alone on arrays. The camera is a pinhole with eleven coefficients; lenses that bend straight lines are not
modelled, so their images have to be undistorted first.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Points from the pixels of cameras: the direct linear transformation.

Stands alone on arrays; see `musclesolve.laboratory`.
"""

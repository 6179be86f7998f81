from .bundled import reference_stride as reference_stride

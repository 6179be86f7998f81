from .reference_stride import reference_stride as reference_stride
from .running_stride import running_stride as running_stride

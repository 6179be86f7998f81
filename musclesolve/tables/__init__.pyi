from .opensim_text import read_mot as read_mot
from .opensim_text import read_trc as read_trc
from .opensim_text import write_mot as write_mot
from .opensim_text import write_trc as write_trc
from .sampled import Markers as Markers
from .sampled import Table as Table

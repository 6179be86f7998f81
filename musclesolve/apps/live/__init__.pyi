from .live import Live as Live
from .recorder import Recorder as Recorder
from .recorder import read_frames as read_frames
from .replay import replay as replay
from .replay import samples as samples
from .session import stream_session as stream_session

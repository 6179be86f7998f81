from .recorder import Recorder as Recorder
from .recorder import read_frames as read_frames
from .replay import samples as samples
from .session import stream_session as stream_session

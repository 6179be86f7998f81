from . import live as live

"""The figures of Silva (2003), chapters 5 and 6, and of four papers beside it, made again: see __main__.py."""

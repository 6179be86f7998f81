"""Parts of every page: axes, curves, legend, style, PNG."""

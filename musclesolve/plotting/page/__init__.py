"""What every page shares: axes, curves, legend, style, PNG."""

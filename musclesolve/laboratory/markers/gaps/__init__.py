"""Gap filling: spline interpolants, rigid bodies, marker jumps."""

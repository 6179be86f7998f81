"""Sources of samples and sinks of frames: one module for each kind of stream, listed in adapters.toml."""

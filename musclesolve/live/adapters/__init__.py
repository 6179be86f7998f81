"""Where samples come from and where frames go: one module for each kind of stream, listed in adapters.toml."""

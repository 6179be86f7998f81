"""The trial file: schema, reading, filter options, functional trials, analyzed range."""

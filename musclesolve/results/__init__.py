"""The labelled result: dataset, gait cycles, tables, files."""

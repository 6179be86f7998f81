"""The labeled result: dataset, gait cycles, tables, files."""

"""The costs that have a name: every subclass of Cost that a module in here defines is registered under its `name`.

To add one, write a frozen dataclass with `name`, `formula`, `source` and, where it needs optional fields of Problem,
`data`: a sum of powers in `power_costs.py`, as its coefficients; any other in a module of its own. The registry reads
this folder, so that no other file changes.
"""

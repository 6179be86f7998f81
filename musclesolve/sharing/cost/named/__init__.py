"""The costs that have a name: every subclass of Cost that a module in here defines can be asked for by its `name`.

To add one, write a module (or a class in `power_costs.py` if it is a sum of powers) with `name`, `formula`, `source`
and, where it needs optional fields of Problem, `data`. Nothing else has to know: the registry reads this folder.
"""

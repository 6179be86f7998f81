"""The costs that have a name: every subclass of Cost that a module of this folder defines is registered under its
`name`.

To add one, write a frozen dataclass that states its terms (sum_of_terms.py), with `name`, `formula`, `source` and,
where it needs optional fields of Problem, `data`. The registry reads this folder, so that no other file changes.
"""

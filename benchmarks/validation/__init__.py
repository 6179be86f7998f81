"""The validation page, docs/validation.md: tables and figures computed by one command."""
